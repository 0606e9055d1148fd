//! A second reading of the rules: from a problem to groups, surviving claims and copies.
//!
//! Relies on nothing of the engine but the contract types. Small and slow on purpose: sets and maps by name.
//!
//! Of two members with one id the first counts here; [`View::has_twins`] tells the checker to ask less.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Member, Problem, Table};

use super::claims::{Survivors, claimants, survivors};
use super::sets::{subscribers, topic_sets};

/// A problem as the rules read it.
pub struct View<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// One member per id, sorted by id; everything else names members by their place here.
    pub members: Vec<&'a Member>,
    /// Groups to be placed, in order of their first topic.
    pub groups: Vec<Group>,
    /// Subscribed topics that must stay unassigned.
    pub in_error: BTreeSet<String>,
    /// Surviving claimants of the leader topic, by partition.
    pub leader_owners: Vec<BTreeSet<usize>>,
    /// Members that claimed what cannot be believed or is outdated.
    pub doubtful: BTreeSet<usize>,
    /// Whether two members share an id.
    pub has_twins: bool,
}

/// Topics that go together.
pub struct Group {
    /// Topics, sorted.
    pub topics: Vec<String>,
    /// Tables on these topics, sorted.
    pub tables: Vec<Table>,
    /// Partition count of each topic.
    pub partitions: u32,
    /// Members that subscribe.
    pub subscribers: BTreeSet<usize>,
    /// By partition, then by topic: surviving claimants.
    pub owners: Vec<Vec<BTreeSet<usize>>>,
    /// By partition, then by table: surviving claimants of a standby.
    pub standbys: Vec<Vec<BTreeSet<usize>>>,
    /// By partition: members with a copy of every table.
    pub copies: Vec<BTreeSet<usize>>,
    /// Tables that a member does not declare, for each that declares some: who may hold a standby.
    pub missing: BTreeMap<usize, i64>,
}

impl Group {
    /// Whether a table belongs to the group.
    pub fn is_stateful(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Whether `member` becoming the active of partition `p` is cold.
    pub fn is_cold(&self, p: usize, member: usize) -> bool {
        self.is_stateful() && !self.copies[p].contains(&member)
    }

    /// Claimed topic-partitions that move when `member` becomes the active of partition `p`.
    pub fn moved(&self, p: usize, member: usize) -> i64 {
        let left = |owners: &&BTreeSet<usize>| !owners.is_empty() && !owners.contains(&member);
        self.owners[p].iter().filter(left).count() as i64
    }
}

impl<'a> View<'a> {
    /// Reads `problem`.
    pub fn new(problem: &'a Problem) -> Self {
        let mut unique = BTreeMap::new();
        for member in &problem.members {
            unique.entry(member.id.as_str()).or_insert(member);
        }
        let members: Vec<&Member> = unique.into_values().collect();
        let mut doubtful = BTreeSet::new();
        let survivors = survivors(problem, &members, &mut doubtful);
        let (sets, in_error) = topic_sets(problem, &members);
        let groups = sets
            .iter()
            .map(|set| group(problem, &members, set, &survivors));
        View {
            problem,
            groups: groups.collect(),
            in_error,
            leader_owners: leader_owners(problem, &survivors),
            doubtful,
            has_twins: members.len() < problem.members.len(),
            members,
        }
    }
}

fn leader_owners(problem: &Problem, survivors: &Survivors) -> Vec<BTreeSet<usize>> {
    let Some(topic) = &problem.leader_topic else {
        return Vec::new();
    };
    let partitions = problem.topics.get(topic).map_or(0, |t| t.partitions);
    (0..partitions)
        .map(|p| claimants(survivors, topic, p, None))
        .collect()
}

fn group(problem: &Problem, members: &[&Member], set: &[&str], survivors: &Survivors) -> Group {
    let on_set = |t: &&Table| set.contains(&t.source.as_str());
    let declared = members.iter().flat_map(|m| m.tables.iter()).filter(on_set);
    let tables: BTreeSet<Table> = declared.cloned().collect();
    let partitions = problem.topics[set[0]].partitions;
    let each = 0..partitions;
    let owners = |p| {
        set.iter()
            .map(|t| claimants(survivors, t, p, None))
            .collect()
    };
    let standby = |p, t: &Table| claimants(survivors, &t.source, p, Some(&t.name));
    let standbys = |p| tables.iter().map(|t| standby(p, t)).collect();
    let subscribers = subscribers(members, set[0]);
    let missing = missing(members, &subscribers, &tables);
    let copies = |p| {
        let has = |m: &usize| {
            tables
                .iter()
                .all(|t| has_copy(members, *m, t, p, survivors))
        };
        subscribers.iter().copied().filter(has).collect()
    };
    Group {
        owners: each.clone().map(owners).collect(),
        standbys: each.clone().map(standbys).collect(),
        copies: each.map(copies).collect(),
        topics: set.iter().map(|t| (*t).to_owned()).collect(),
        tables: tables.into_iter().collect(),
        partitions,
        subscribers,
        missing,
    }
}

fn missing(
    members: &[&Member],
    subscribers: &BTreeSet<usize>,
    tables: &BTreeSet<Table>,
) -> BTreeMap<usize, i64> {
    let count = |m: usize| {
        tables
            .iter()
            .filter(|t| !members[m].tables.contains(t))
            .count()
    };
    let counted = subscribers.iter().map(|m| (*m, count(*m)));
    counted
        .filter(|(_, missing)| *missing < tables.len())
        .map(|(m, missing)| (m, missing as i64))
        .collect()
}

fn has_copy(members: &[&Member], m: usize, table: &Table, p: u32, survivors: &Survivors) -> bool {
    let member = members[m];
    let on_disk = || {
        let ranges = member.local_state.get(&table.name).into_iter().flatten();
        ranges
            .into_iter()
            .any(|range| range.contains(&i64::from(p)))
    };
    member.tables.contains(table)
        && (claimants(survivors, &table.source, p, None).contains(&m)
            || claimants(survivors, &table.source, p, Some(&table.name)).contains(&m)
            || on_disk())
}
