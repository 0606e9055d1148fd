//! Who serves which partition, by group.
//!
//! Made from whatever lists of actives and standbys the members have: those of a [`Plan`](crate::Plan), or those
//! of one round of a cooperative rebalance, in which a withheld partition has no active.
//!
//! ```text
//! group {orders users}, tables counts, sums     m1 active orders 0 users 0    m2 standby counts 0
//! partition 0    active m1    standbys m2 (counts)
//! ```
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{CopartitionGroup, MemberPlan};

/// Routes of one group: entry `p` is partition `p`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRoutes<'a> {
    /// One entry per partition.
    pub partitions: Vec<PartitionRoute<'a>>,
}

/// Who serves one partition of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionRoute<'a> {
    /// The member that is active for this partition of every topic of the group; `None` when there is none, as
    /// while a part of it is withheld.
    pub active: Option<&'a str>,
    /// Standbys in order of preference: who keeps more tables first, then by member id.
    pub standbys: Vec<StandbyRoute<'a>>,
}

/// A standby of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandbyRoute<'a> {
    /// Member id.
    pub member: &'a str,
    /// Indices into [`CopartitionGroup::tables`] of the tables it keeps copies of; not all when it declares fewer.
    pub tables: Vec<usize>,
}

impl<'a> PartitionRoute<'a> {
    /// Standbys that keep a copy of the table at this index of [`CopartitionGroup::tables`], in order.
    pub fn standbys_of(&self, table: usize) -> impl Iterator<Item = &'a str> + '_ {
        let keeping = self
            .standbys
            .iter()
            .filter(move |s| s.tables.contains(&table));
        keeping.map(|standby| standby.member)
    }
}

/// Routes of all groups, in their order. Partitions that a group does not have are ignored.
pub fn routes<'a>(
    groups: &[CopartitionGroup],
    members: &'a BTreeMap<String, MemberPlan>,
) -> Vec<GroupRoutes<'a>> {
    groups
        .iter()
        .map(|group| group_routes(group, members))
        .collect()
}

fn group_routes<'a>(
    group: &CopartitionGroup,
    members: &'a BTreeMap<String, MemberPlan>,
) -> GroupRoutes<'a> {
    let mut partitions: Vec<PartitionRoute<'a>> = (0..group.partitions)
        .map(|_| PartitionRoute::default())
        .collect();
    for (id, member) in members {
        for p in actives_of_all(&group.topics, member) {
            if let Some(route) = at(&mut partitions, p) {
                route.active = Some(id);
            }
        }
        for (table, name) in group.tables.iter().enumerate() {
            for &p in member.standby.get(name).into_iter().flatten() {
                if let Some(route) = at(&mut partitions, p) {
                    route.add_standby(id, table);
                }
            }
        }
    }
    for route in &mut partitions {
        route
            .standbys
            .sort_by_key(|standby| Reverse(standby.tables.len()));
    }
    GroupRoutes { partitions }
}

impl<'a> PartitionRoute<'a> {
    /// Members come in order, and the tables of each in order.
    fn add_standby(&mut self, member: &'a str, table: usize) {
        match self.standbys.last_mut() {
            Some(last) if last.member == member => last.tables.push(table),
            _ => self.standbys.push(StandbyRoute {
                member,
                tables: vec![table],
            }),
        }
    }
}

fn at<'r, 'a>(
    partitions: &'r mut [PartitionRoute<'a>],
    p: u32,
) -> Option<&'r mut PartitionRoute<'a>> {
    usize::try_from(p).ok().and_then(|p| partitions.get_mut(p))
}

/// Partition numbers that a member has of every one of `topics`.
fn actives_of_all(topics: &[String], member: &MemberPlan) -> BTreeSet<u32> {
    let list = |topic: &String| {
        let list = member.active.get(topic).into_iter().flatten();
        list.copied().collect::<BTreeSet<u32>>()
    };
    let both = |a: BTreeSet<u32>, b: BTreeSet<u32>| a.intersection(&b).copied().collect();
    topics.iter().map(list).reduce(both).unwrap_or_default()
}
