//! Who serves which partition of which tables, after this round.
//!
//! Only groups with tables have routes, and only members with a host are in them. A partition has an active route only if
//! all of its group's topics are with one member in this round; a partition that is withheld has none, and its
//! copies are standbys.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::CopartitionGroup;
use rdkafka_assignor_protocol::{GroupRoutes, PartitionSet, Routes, Served, ServedCopy};

use crate::led::Share;
use crate::partitions::PartitionSets;

/// Routes of all groups.
pub(super) fn routes(
    groups: &[CopartitionGroup],
    shares: &BTreeMap<String, Share>,
    hosts: &BTreeMap<String, String>,
) -> Routes {
    let names: BTreeSet<&String> = hosts.values().collect();
    let numbers: BTreeMap<&String, u32> = names.iter().copied().zip(0..).collect();
    let reachable = |(id, share)| Some((*numbers.get(hosts.get(id)?)?, share));
    let shares: Vec<(u32, &Share)> = shares.iter().filter_map(reachable).collect();
    let stateful = groups.iter().filter(|group| !group.tables.is_empty());
    let mut groups: Vec<_> = stateful.map(|group| group_routes(group, &shares)).collect();
    groups.sort_by(|a, b| a.topics.cmp(&b.topics));
    let hosts = names.into_iter().cloned().collect();
    Routes { hosts, groups }
}

fn group_routes(group: &CopartitionGroup, shares: &[(u32, &Share)]) -> GroupRoutes {
    let mut active = BTreeMap::<u32, PartitionSet>::new();
    let mut standby = BTreeMap::<(u32, Vec<u32>), PartitionSet>::new();
    for (host, share) in shares {
        let served = active.entry(*host).or_default();
        *served = served.union(&whole(group, &share.active));
        for (tables, partitions) in copies(group, &share.standby) {
            let kept = standby.entry((*host, tables)).or_default();
            *kept = kept.union(&partitions);
        }
    }
    active.retain(|_, partitions| !partitions.is_empty());
    GroupRoutes {
        topics: group.topics.clone(),
        tables: group.tables.clone(),
        partitions: group.partitions,
        active: active
            .into_iter()
            .map(|(host, partitions)| Served { host, partitions })
            .collect(),
        standby: by_preference(standby),
    }
}

/// Partitions of which the member has all topics of the group.
fn whole(group: &CopartitionGroup, active: &PartitionSets) -> PartitionSet {
    let Some((first, others)) = group.topics.split_first() else {
        return PartitionSet::default();
    };
    let Some(partitions) = active.get(first) else {
        return PartitionSet::default();
    };
    let has = |topic: &String, p| active.get(topic).is_some_and(|set| set.contains(p));
    partitions
        .iter()
        .filter(|p| others.iter().all(|topic| has(topic, *p)))
        .collect()
}

/// The member's copies, by the tables of the group that a copy has.
fn copies(group: &CopartitionGroup, standby: &PartitionSets) -> BTreeMap<Vec<u32>, PartitionSet> {
    let mut tables = BTreeMap::<u32, Vec<u32>>::new();
    for (number, table) in (0..).zip(&group.tables) {
        for partition in standby.get(table).into_iter().flat_map(PartitionSet::iter) {
            tables.entry(partition).or_default().push(number);
        }
    }
    let mut copies = BTreeMap::<Vec<u32>, Vec<u32>>::new();
    for (partition, tables) in tables {
        copies.entry(tables).or_default().push(partition);
    }
    copies
        .into_iter()
        .map(|(tables, list)| (tables, list.into_iter().collect()))
        .collect()
}

/// Copies of more tables come first.
fn by_preference(standby: BTreeMap<(u32, Vec<u32>), PartitionSet>) -> Vec<ServedCopy> {
    let mut copies: Vec<_> = standby
        .into_iter()
        .map(|((host, tables), partitions)| ServedCopy {
            host,
            tables,
            partitions,
        })
        .collect();
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.tables.len()));
    copies
}
