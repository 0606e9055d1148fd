//! Which topics there are to place, and with how many partitions.
//!
//! A topic for which the broker reports an error for the moment comes with no partitions. It is not gone: it is placed
//! with the partition count that this leader saw last or, if it never saw one, with the one that its owners' claims
//! show. With neither it is left alone in this round, as if nobody had subscribed to it or declared it.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine as engine;

use crate::assignor::{Group, Topic};

/// No count above this one is believed from claims alone: they are somebody's word.
const MOST_CLAIMED: u32 = 10_000;

/// Nor more partitions than these of all such topics together: one member can name thousands of topics in error.
const MOST_CLAIMED_IN_ALL: u32 = 100_000;

/// Topics with their partition counts. Topics about which nothing is known are taken out of what members say.
pub(super) fn placeable(
    group: &Group,
    members: &mut [engine::Member],
    known: &BTreeMap<String, u32>,
) -> BTreeMap<String, engine::Topic> {
    let mut topics = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    let mut claimed = Claimed::by(members, group);
    for (name, topic) in &group.topics {
        let last = || known.get(name).copied();
        match seen(topic).or_else(last).or_else(|| claimed.believe(name)) {
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

fn seen(topic: &Topic) -> Option<u32> {
    u32::try_from(topic.partitions)
        .ok()
        .filter(|count| *count > 0)
}

/// Where topics in error end, by the claims of their subscribers.
struct Claimed {
    ends: BTreeMap<String, u32>,
    room: u32,
}

impl Claimed {
    fn by(members: &[engine::Member], group: &Group) -> Self {
        let mut ends = BTreeMap::new();
        let in_error = |name: &String| group.topics.get(name).is_some_and(|t| seen(t).is_none());
        for member in members {
            for name in member.topics.iter().filter(|name| in_error(name)) {
                let claims = member.active.partitions.get(name).into_iter().flatten();
                let counts = claims.filter_map(|range| u32::try_from(range.end).ok());
                if let Some(count) = counts.filter(|n| (1..=MOST_CLAIMED).contains(n)).max() {
                    let end = ends.entry(name.clone()).or_insert(count);
                    *end = count.max(*end);
                }
            }
        }
        Claimed {
            ends,
            room: MOST_CLAIMED_IN_ALL,
        }
    }

    fn believe(&mut self, topic: &str) -> Option<u32> {
        let end = *self.ends.get(topic)?;
        self.room = self.room.checked_sub(end)?;
        Some(end)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One member that subscribes to as many topics in error as it likes, and claims the last partition of each.
    #[test]
    fn claims_alone_make_a_bounded_number_of_partitions() {
        let names: Vec<String> = (0..10_000).map(|n| format!("t{n}")).collect();
        let group = Group {
            topics: names
                .iter()
                .map(|name| (name.clone(), Topic::default()))
                .collect(),
            ..Group::default()
        };
        let mut liar = engine::Member::new("liar", &names);
        let last = i64::from(MOST_CLAIMED) - 1..i64::from(MOST_CLAIMED);
        let claim = |name: &String| (name.clone(), vec![last.clone()]);
        liar.active.partitions = names.iter().map(claim).collect();
        let topics = placeable(&group, &mut [liar], &BTreeMap::new());
        let counts = topics.values().map(|topic| topic.partitions);
        assert_eq!(counts.sum::<u32>(), MOST_CLAIMED_IN_ALL);
    }
}
