//! Any value that can be written, its lists sorted.
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use rdkafka_assignor_protocol::{
    AssignmentUserData, Claims, Delivered, GlobalTable, GroupRoutes, MAX_PARTITION,
    MAX_PARTITION_COUNT, PartitionSet, Routes, Served, ServedCopy, SubscriptionUserData, Table,
};

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-d]{1,2}", "[a-zA-Z0-9._-]{1,20}", ".{0,6}"]
}

fn partition_sets() -> impl Strategy<Value = PartitionSet> {
    let some = vec(0_u32..40, 0..20).prop_map(PartitionSet::from_iter);
    let range =
        (0..=MAX_PARTITION, 1_u32..100_000).prop_map(|(start, length)| start..start + length);
    let ranges = vec(range, 0..6).prop_map(PartitionSet::from_iter);
    let spread = (0_u32..300, 1_u32..700, 0_usize..90)
        .prop_map(|(start, step, count)| (start..).step_by(step as usize).take(count).collect());
    prop_oneof![some, ranges, spread]
}

fn set_maps() -> impl Strategy<Value = BTreeMap<String, PartitionSet>> {
    btree_map(names(), partition_sets(), 0..4)
}

fn generations() -> impl Strategy<Value = Option<i32>> {
    option::of(0..=i32::MAX)
}

fn claims() -> impl Strategy<Value = Claims> {
    (generations(), set_maps()).prop_map(|(generation, partitions)| Claims {
        generation,
        partitions,
    })
}

fn tables() -> impl Strategy<Value = Vec<Table>> {
    let table = (names(), names(), names()).prop_map(|(name, source, changelog)| Table {
        name,
        source,
        changelog,
    });
    btree_set(table, 0..4).prop_map(Vec::from_iter)
}

fn global_tables() -> impl Strategy<Value = Vec<GlobalTable>> {
    let table = (names(), 0..=MAX_PARTITION_COUNT)
        .prop_map(|(name, partitions)| GlobalTable { name, partitions });
    btree_set(table, 0..4).prop_map(Vec::from_iter)
}

fn copartition() -> impl Strategy<Value = Option<Vec<Vec<String>>>> {
    let set = btree_set(names(), 0..4).prop_map(Vec::from_iter);
    option::of(btree_set(set, 0..4).prop_map(Vec::from_iter))
}

prop_compose! {
    /// Subscriptions with their lists sorted.
    pub fn subscriptions()(
        (generation, app_id, host, rack) in
            (generations(), names(), option::of(names()), option::of(names())),
        capacity in 1..=u32::MAX,
        (active, standby, local_state) in (claims(), claims(), set_maps()),
        (tables, global_tables, copartition) in (tables(), global_tables(), copartition()),
        standby_replicas: u32,
        lag in btree_map(names(), btree_map(any::<u32>(), any::<u64>(), 0..4), 0..3),
        nonce: u64,
    ) -> SubscriptionUserData {
        SubscriptionUserData {
            generation, app_id, host, rack, capacity: NonZeroU32::new(capacity).unwrap(), active,
            standby, local_state, tables, global_tables, standby_replicas, copartition, lag, nonce,
        }
    }
}

prop_compose! {
    /// Assignments with their global tables sorted.
    pub fn assignments()(
        generation in generations(),
        epoch: u64,
        standby in set_maps(),
        global in global_tables(),
        errors in vec((any::<u16>(), ".{0,9}").prop_map(|(code, text)| Delivered { code, text }), 0..3),
    ) -> AssignmentUserData {
        AssignmentUserData { generation, epoch, standby, global, errors }
    }
}

/// Partition `p` of a group of `owners.len()` partitions is served by host `owners[p]`.
fn group(
    topics: Vec<String>,
    tables: Vec<String>,
    owners: &[usize],
    copies: &[usize],
) -> GroupRoutes {
    let all_tables = (0..).take(tables.len()).collect::<Vec<u32>>();
    let index = |host: usize| u32::try_from(host).unwrap();
    let owned_by = |host| {
        let owned = (0..).zip(owners).filter(|&(_, &owner)| owner == host);
        PartitionSet::from_iter(owned.map(|(partition, _)| partition))
    };
    let active = (0..4).map(|host| Served {
        host: index(host),
        partitions: owned_by(host),
    });
    let standby = copies.iter().map(|&host| ServedCopy {
        host: index(host),
        tables: all_tables.clone(),
        partitions: owned_by((host + 1) % 4),
    });
    GroupRoutes {
        topics,
        tables,
        partitions: u32::try_from(owners.len()).unwrap(),
        active: active
            .filter(|served| !served.partitions.is_empty())
            .collect(),
        standby: standby.collect(),
    }
}

prop_compose! {
    fn groups()(
        topics in btree_set(names(), 0..3),
        tables in btree_set(names(), 0..3),
        owners in vec(0_usize..4, 0..40),
        copies in vec(0_usize..4, 0..4),
    ) -> GroupRoutes {
        group(topics.into_iter().collect(), tables.into_iter().collect(), &owners, &copies)
    }
}

prop_compose! {
    /// Routes of four hosts.
    pub fn route_blocks()(
        hosts in btree_set(names(), 4),
        groups in vec(groups(), 0..4),
    ) -> Routes {
        let by_topics: BTreeMap<_, _> = groups.into_iter().map(|g| (g.topics.clone(), g)).collect();
        Routes { hosts: hosts.into_iter().collect(), groups: by_topics.into_values().collect() }
    }
}
