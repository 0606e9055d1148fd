//! Builds problems, and lets members claim what a plan gave them.
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use rdkafka_assignor_engine::{
    Claims, Copartition, Member, MemberPlan, Partitions, Plan, Problem, Table, Topic,
};

use super::invariants::plan_checked;

/// Topics with their partition counts.
pub fn topics(counts: &[(&str, u32)]) -> BTreeMap<String, Topic> {
    let topic = |partitions| Topic {
        partitions,
        ..Topic::default()
    };
    counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), topic(*count)))
        .collect()
}

/// A problem without history.
pub fn problem(counts: &[(&str, u32)], members: Vec<Member>) -> Problem {
    Problem {
        topics: topics(counts),
        members,
        ..Problem::default()
    }
}

/// A table on a topic.
pub fn table(name: &str, source: &str) -> Table {
    Table {
        name: name.to_owned(),
        source: source.to_owned(),
    }
}

/// A newcomer that subscribes to `orders` and keeps the table `counts` on it.
pub fn keeper(id: impl Into<String>, standby_replicas: u32) -> Member {
    Member {
        tables: vec![table("counts", "orders")],
        standby_replicas,
        ..Member::new(id, ["orders"])
    }
}

/// Keepers `m000`, `m001`, .. of `orders` with that many partitions.
pub fn keepers(partitions: u32, count: usize, replicas: u32) -> Problem {
    let members = (0..count)
        .map(|n| keeper(format!("m{n:03}"), replicas))
        .collect();
    problem(&[("orders", partitions)], members)
}

/// The same member with another capacity.
pub fn with_capacity(member: Member, capacity: u32) -> Member {
    Member {
        capacity: NonZeroU32::new(capacity).expect("at least 1"),
        ..member
    }
}

/// Exactly these sets go together.
pub fn declared(sets: &[&[&str]]) -> Copartition {
    let set = |set: &&[&str]| set.iter().map(|t| (*t).to_owned()).collect();
    Copartition::Declared(sets.iter().map(set).collect())
}

/// Claims of one generation.
pub fn claims(generation: i32, partitions: &[(&str, &[i64])]) -> Claims {
    let ranges = |numbers: &[i64]| numbers.iter().map(|p| *p..p.saturating_add(1)).collect();
    let partitions = partitions
        .iter()
        .map(|(name, p)| ((*name).to_owned(), ranges(p)));
    Claims {
        generation: Some(generation),
        partitions: partitions.collect(),
    }
}

/// Each partition as a range.
pub fn ranges(partitions: &[u32]) -> Partitions {
    partitions
        .iter()
        .map(|p| i64::from(*p)..i64::from(*p) + 1)
        .collect()
}

/// The member claims, as of `generation`, what it was given.
pub fn adopt_share(member: &mut Member, share: &MemberPlan, generation: i32) {
    let claims = |held: &BTreeMap<String, Vec<u32>>| Claims {
        generation: Some(generation),
        partitions: held
            .iter()
            .map(|(name, p)| (name.clone(), ranges(p)))
            .collect(),
    };
    member.active = claims(&share.active);
    member.standby = claims(&share.standby);
}

/// Every member claims, as of `generation`, what the plan gave it.
pub fn adopt(problem: &mut Problem, plan: &Plan, generation: i32) {
    for member in &mut problem.members {
        adopt_share(member, &plan.members[&member.id], generation);
    }
}

/// The group after its first rebalance, with the generation it had then.
pub fn settled(mut problem: Problem) -> Problem {
    let (plan, _) = plan_checked(&problem);
    adopt(&mut problem, &plan, 1);
    problem
}

/// Total active partitions of `topic` by member, in the order of ids.
pub fn shares(plan: &Plan, topic: &str) -> Vec<usize> {
    let share = |m: &MemberPlan| m.active.get(topic).map_or(0, Vec::len);
    plan.members.values().map(share).collect()
}

/// Active partitions of `topic` at `member`.
pub fn active<'a>(plan: &'a Plan, member: &str, topic: &str) -> &'a [u32] {
    plan.members[member]
        .active
        .get(topic)
        .map_or(&[], Vec::as_slice)
}
