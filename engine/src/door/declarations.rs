//! What members declare: tables, global tables, standby replicas, co-partition sets. Where they differ, one
//! rule decides for all, and a warning says so.
//!
//! ```text
//! said by m1         said by m2         counts for the group
//! replicas 1         replicas 2         2, the largest
//! t <- orders        t <- users         t <- orders: as many declarations, the smaller name; m2 has no t
//! global g of 4      global g of 6      g of 6, the largest
//! {a, b}             {b, c}             {a, b, c}, united
//! (automatic)        {}                 declared mode without a set: the silent do not vote
//! ```
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use super::roster::{MemberEntry, Roster};
use crate::index::{MemberIx, TopicIx};
use crate::plan::WarningKind;
use crate::problem::{Copartition, Table};
use crate::warnings::{Warnings, quoted};

/// The largest number of standby replicas.
pub(super) fn replicas(roster: &Roster<'_>, warnings: &mut Warnings) -> u32 {
    let counts: BTreeSet<u32> = roster
        .members
        .iter()
        .map(|m| m.said.standby_replicas)
        .collect();
    if let (Some(least), Some(most)) = (counts.first(), counts.last())
        && least != most
    {
        let detail = format!("members want {least} to {most} standby replicas; {most} counts");
        warnings.note(None, WarningKind::ReplicasMismatch, "", detail);
    }
    counts.last().copied().unwrap_or(0)
}

/// The largest partition count of every global table; tells every member which of them it holds.
pub(super) fn global_tables<'p>(
    members: &mut IndexVec<MemberIx, MemberEntry<'p>>,
    warnings: &mut Warnings,
) -> BTreeMap<&'p str, u32> {
    let mut counts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for member in members {
        for global in &member.said.global_tables {
            member.globals.insert(&global.name);
            counts
                .entry(&global.name)
                .or_default()
                .insert(global.partitions);
        }
    }
    let mut largest = BTreeMap::new();
    for (name, counts) in counts {
        let (Some(&least), Some(&most)) = (counts.first(), counts.last()) else {
            continue;
        };
        if least != most {
            let detail = format!(
                "members give global table {} {least} to {most} partitions; {most} counts",
                quoted(name)
            );
            warnings.note(None, WarningKind::GlobalMismatch, name, detail);
        }
        largest.insert(name, most);
    }
    largest
}

/// The source of every table that somebody can declare, after telling every member which of them it may hold.
///
/// Most declarations win, then the smaller source name; who says otherwise counts as not declaring the table.
pub(super) fn table_sources<'p>(
    roster: &mut Roster<'p>,
    warnings: &mut Warnings,
) -> BTreeMap<&'p str, TopicIx> {
    let mut votes: BTreeMap<&str, BTreeMap<TopicIx, usize>> = BTreeMap::new();
    for m in roster.members.indices() {
        let declared = declared_tables(roster, m, warnings);
        for (&name, &source) in &declared {
            *votes.entry(name).or_default().entry(source).or_default() += 1;
        }
        roster.members[m].declared = declared;
    }
    let winner = |(name, votes): (&'p str, BTreeMap<TopicIx, usize>)| {
        let best = votes.into_iter().min_by_key(|&(t, n)| (Reverse(n), t));
        best.map(|(source, _)| (name, source))
    };
    let sources: BTreeMap<&str, TopicIx> = votes.into_iter().filter_map(winner).collect();
    warn_of_losers(roster, &sources, warnings);
    sources
}

/// A member's tables whose source it subscribes to; of two with one name the first.
fn declared_tables<'p>(
    roster: &Roster<'p>,
    m: MemberIx,
    warnings: &mut Warnings,
) -> BTreeMap<&'p str, TopicIx> {
    let member = &roster.members[m];
    let mut declared = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for Table { name, source } in &member.said.tables {
        if !seen.insert(name) {
            member.warn(warnings, WarningKind::DuplicateName, name, |n| {
                format!("declares table {n} more than once; the first counts")
            });
            continue;
        }
        match roster.topic(source) {
            Some(topic) if Some(topic) == roster.leader_topic => {
                member.warn(warnings, WarningKind::LeaderTopic, name, |n| {
                    format!("declares table {n} on the leader topic, which has no tables")
                });
            }
            Some(topic) if member.topics.contains(&topic) => {
                declared.insert(name.as_str(), topic);
            }
            _ => member.warn(warnings, WarningKind::SourceNotSubscribed, name, |n| {
                let source = quoted(source);
                format!("declares table {n} on {source}, which it does not subscribe to or which does not exist")
            }),
        }
    }
    declared
}

fn warn_of_losers(roster: &Roster<'_>, sources: &BTreeMap<&str, TopicIx>, warnings: &mut Warnings) {
    for member in &roster.members {
        for (name, said) in &member.declared {
            let Some(source) = sources.get(name).filter(|&source| source != said) else {
                continue;
            };
            let (said, source) = (roster.topics[*said].name, roster.topics[*source].name);
            member.warn(warnings, WarningKind::SourceMismatch, name, |n| {
                format!("declares table {n} on {said} where others say {source}; it gets no copies of it")
            });
        }
    }
}

/// The declared sets, united as long as they share a topic and without the leader topic; `None` when nobody
/// declares any.
pub(super) fn copartition_sets<'p>(
    roster: &Roster<'p>,
    warnings: &mut Warnings,
) -> Option<Vec<BTreeSet<&'p str>>> {
    let mut united = United::default();
    let mut opinions = BTreeSet::new();
    for member in &roster.members {
        let Copartition::Declared(sets) = &member.said.copartition else {
            continue;
        };
        let mut opinion = BTreeSet::new();
        for set in sets {
            let mut names: BTreeSet<&str> = set.iter().map(String::as_str).collect();
            if roster
                .leader_name
                .is_some_and(|leader| names.remove(leader))
            {
                member.warn(warnings, WarningKind::LeaderTopic, "", |_| {
                    "declares a co-partition set with the leader topic, which is never grouped"
                        .to_owned()
                });
            }
            united.add(&names);
            opinion.insert(names);
        }
        opinions.insert(opinion);
    }
    if opinions.len() > 1 {
        let detail = format!(
            "members declare {} different lists of co-partition sets; they are united",
            opinions.len()
        );
        warnings.note(None, WarningKind::CopartitionMismatch, "", detail);
    }
    (!opinions.is_empty()).then(|| united.into_sets())
}

/// Sets under union: two that share a name become one.
#[derive(Default)]
struct United<'p> {
    sets: Vec<BTreeSet<&'p str>>,
    set_of: BTreeMap<&'p str, usize>,
}

impl<'p> United<'p> {
    fn add(&mut self, names: &BTreeSet<&'p str>) {
        let mut home = self.sets.len();
        self.sets.push(BTreeSet::new());
        for &name in names {
            match self.set_of.get(name) {
                Some(&other) => home = self.merge(home, other),
                None => {
                    self.set_of.insert(name, home);
                    self.sets[home].insert(name);
                }
            }
        }
    }

    /// Moves the smaller set into the larger, so that a name moves no more than log n times.
    fn merge(&mut self, a: usize, b: usize) -> usize {
        let (small, large) = match self.sets[a].len() < self.sets[b].len() {
            true => (a, b),
            false => (b, a),
        };
        if small != large {
            for name in std::mem::take(&mut self.sets[small]) {
                self.set_of.insert(name, large);
                self.sets[large].insert(name);
            }
        }
        large
    }

    /// In order of their first names.
    fn into_sets(mut self) -> Vec<BTreeSet<&'p str>> {
        self.sets.retain(|set| !set.is_empty());
        self.sets.sort_unstable();
        self.sets
    }
}
