//! Which topics there are to place, and with how many partitions.
//!
//! A topic for which the broker reports an error for the moment comes with no partitions. It is not gone: it is placed
//! with the partition count that this leader saw last or, if it never saw one, with the one that its owners' claims
//! show. With neither it is left alone in this round, as if nobody had subscribed to it or declared it.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine as engine;

use crate::assignor::Group;

/// No count above this one is believed from claims alone: they are somebody's word.
const MOST_CLAIMED: i64 = 10_000;

/// Topics with their partition counts. Topics about which nothing is known are taken out of what members say.
pub(super) fn placeable(
    group: &Group,
    members: &mut [engine::Member],
    known: &BTreeMap<String, u32>,
) -> BTreeMap<String, engine::Topic> {
    let mut topics = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for (name, topic) in &group.topics {
        let seen = u32::try_from(topic.partitions)
            .ok()
            .filter(|count| *count > 0);
        let last = || known.get(name).copied();
        match seen.or_else(last).or_else(|| claimed(name, members)) {
            Some(partitions) => {
                let replica_racks = topic.replica_racks.clone();
                topics.insert(
                    name.clone(),
                    engine::Topic {
                        partitions,
                        replica_racks,
                    },
                );
            }
            None => {
                unknown.insert(name.as_str());
            }
        }
    }
    members
        .iter_mut()
        .for_each(|member| leave_alone(member, &unknown));
    topics
}

fn claimed(topic: &str, members: &[engine::Member]) -> Option<u32> {
    let subscribers = members
        .iter()
        .filter(|member| member.topics.iter().any(|t| t == topic));
    let claims = subscribers.filter_map(|member| member.active.partitions.get(topic));
    let ends = claims.flatten().map(|range| range.end);
    let end = ends.filter(|end| (1..=MOST_CLAIMED).contains(end)).max()?;
    u32::try_from(end).ok()
}

fn leave_alone(member: &mut engine::Member, topics: &BTreeSet<&str>) {
    member
        .topics
        .retain(|topic| !topics.contains(topic.as_str()));
    member
        .tables
        .retain(|table| !topics.contains(table.source.as_str()));
    if let engine::Copartition::Declared(sets) = &mut member.copartition {
        for set in sets.iter_mut() {
            set.retain(|topic| !topics.contains(topic.as_str()));
        }
        sets.retain(|set| !set.is_empty());
    }
}
