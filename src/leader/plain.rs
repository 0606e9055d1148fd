//! The plan for when planning failed: every partition once, to subscribers in turn, without tables.
//!
//! Partition `p` goes to the subscriber with number `p` modulo their count, so that topics with the same subscribers are
//! co-partitioned all the same.
use std::collections::BTreeMap;

use rdkafka_assignor_engine::{MemberPlan, Plan, Problem};

/// A valid plan that asks for nothing but subscriptions and partition counts.
pub(super) fn plan(problem: &Problem) -> Plan {
    let mut members: BTreeMap<String, MemberPlan> = BTreeMap::new();
    let mut subscribers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for member in &problem.members {
        members.entry(member.id.clone()).or_default();
        for topic in &member.topics {
            subscribers.entry(topic).or_default().push(&member.id);
        }
    }
    for (topic, ids) in &mut subscribers {
        ids.sort_unstable();
        ids.dedup();
        let partitions = problem
            .topics
            .get(*topic)
            .map_or(0, |topic| topic.partitions);
        for (partition, id) in (0..partitions).zip(ids.iter().cycle()) {
            if let Some(member) = members.get_mut(*id) {
                member
                    .active
                    .entry((*topic).to_owned())
                    .or_default()
                    .push(partition);
            }
        }
    }
    Plan {
        members,
        ..Plan::default()
    }
}
