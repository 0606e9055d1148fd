//! Which claims are to be believed: existing partitions of subscribed topics, each once, the newest generation of each.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Claims, Member, Partitions, Problem};

/// Topic (a table counts as its source) and partition, with those who claim it.
pub type Survivors<'a> = BTreeMap<(&'a str, u32), Vec<Claim<'a>>>;

#[derive(Clone, Copy)]
pub struct Claim<'a> {
    generation: Option<i32>,
    member: usize,
    table: Option<&'a str>,
}

pub fn claimants(s: &Survivors, topic: &str, p: u32, table: Option<&str>) -> BTreeSet<usize> {
    let claims = s.get(&(topic, p)).into_iter().flatten();
    claims
        .filter(|c| c.table == table)
        .map(|c| c.member)
        .collect()
}

/// Believable claims that no newer one outdates.
pub fn survivors<'a>(
    problem: &'a Problem,
    members: &[&'a Member],
    doubtful: &mut BTreeSet<usize>,
) -> Survivors<'a> {
    let mut claims = Survivors::new();
    for (index, member) in members.iter().enumerate() {
        let sane = actives(problem, member, index, &mut claims)
            & standbys(problem, member, index, &mut claims)
            & member.local_state.iter().all(|(table, partitions)| {
                source_count(problem, member, table)
                    .is_some_and(|(_, count)| believable(partitions, count).1)
            });
        if !sane {
            doubtful.insert(index);
        }
    }
    for claimed in claims.values_mut() {
        let newest = claimed.iter().map(|c| c.generation).max().flatten();
        doubtful.extend(
            claimed
                .iter()
                .filter(|c| c.generation < newest)
                .map(|c| c.member),
        );
        claimed.retain(|c| c.generation == newest);
    }
    claims
}

fn actives<'a>(
    problem: &'a Problem,
    member: &'a Member,
    index: usize,
    out: &mut Survivors<'a>,
) -> bool {
    let generation = generation(problem, &member.active);
    let mut sane = true;
    for (topic, partitions) in &member.active.partitions {
        let known = problem
            .topics
            .get(topic)
            .filter(|_| member.topics.contains(topic));
        let Some(known) = known else {
            sane = false;
            continue;
        };
        let (numbers, all) = believable(partitions, known.partitions);
        sane &= all;
        for p in numbers {
            let claim = Claim {
                generation,
                member: index,
                table: None,
            };
            out.entry((topic, p)).or_default().push(claim);
        }
    }
    sane
}

fn standbys<'a>(
    problem: &'a Problem,
    member: &'a Member,
    index: usize,
    out: &mut Survivors<'a>,
) -> bool {
    let generation = generation(problem, &member.standby);
    let mut sane = true;
    for (table, partitions) in &member.standby.partitions {
        let Some((source, count)) = source_count(problem, member, table) else {
            sane = false;
            continue;
        };
        let (numbers, all) = believable(partitions, count);
        sane &= all;
        for p in numbers {
            let claim = Claim {
                generation,
                member: index,
                table: Some(table),
            };
            out.entry((source, p)).or_default().push(claim);
        }
    }
    sane
}

/// A claim that is not below the group's own generation counts as unknown.
fn generation(problem: &Problem, claims: &Claims) -> Option<i32> {
    claims
        .generation
        .filter(|own| problem.generation.is_none_or(|group| *own < group))
}

/// Source and partition count of a table that `member` declares on a topic that it subscribes to.
fn source_count<'a>(problem: &Problem, member: &'a Member, table: &str) -> Option<(&'a str, u32)> {
    let declared = member.tables.iter().find(|t| t.name == table)?;
    let source = member.topics.iter().find(|t| **t == declared.source)?;
    Some((source, problem.topics.get(source)?.partitions))
}

/// The existing partitions of a claim, and whether that was all of it, each once.
fn believable(claim: &Partitions, count: u32) -> (BTreeSet<u32>, bool) {
    let mut numbers = BTreeSet::new();
    let mut sane = true;
    for range in claim.iter().filter(|range| !range.is_empty()) {
        sane &= range.start >= 0 && range.end <= i64::from(count);
        for p in range.start.clamp(0, count.into())..range.end.clamp(0, count.into()) {
            sane &= numbers.insert(u32::try_from(p).expect("clamped"));
        }
    }
    (numbers, sane)
}
