//! Partitions by name, in the three shapes that meet here: Kafka's lists, the wire's sets, the engine's ranges.
//!
//! Sets and ranges are as small as the bytes they came from; only lists of partitions that somebody was really
//! assigned are ever written out number by number.
use std::collections::BTreeMap;
use std::ops::Range;

use rdkafka_assignor_engine as engine;
use rdkafka_assignor_protocol::PartitionSet;

use crate::assignor::TopicPartitions;

/// Sets of partitions by topic or table.
pub type PartitionSets = BTreeMap<String, PartitionSet>;

/// Kafka's lists as sets; numbers that no partition has are left out.
pub(crate) fn to_sets(lists: &TopicPartitions) -> PartitionSets {
    let to_set = |list: &Vec<i32>| list.iter().filter_map(|p| u32::try_from(*p).ok()).collect();
    let sets = lists
        .iter()
        .map(|(name, list)| (name.clone(), to_set(list)));
    sets.filter(|(_, set): &(_, PartitionSet)| !set.is_empty())
        .collect()
}

/// Sets as Kafka's lists, written out.
pub(crate) fn to_lists(sets: &PartitionSets) -> TopicPartitions {
    let to_list = |set: &PartitionSet| set.iter().filter_map(|p| i32::try_from(p).ok()).collect();
    sets.iter()
        .map(|(name, set)| (name.clone(), to_list(set)))
        .collect()
}

/// Sets as the engine's numbers, written out.
pub(crate) fn sets_to_numbers(sets: &PartitionSets) -> BTreeMap<String, Vec<u32>> {
    sets.iter()
        .map(|(name, set)| (name.clone(), set.iter().collect()))
        .collect()
}

/// The engine's numbers as sets.
pub(crate) fn numbers_to_sets(numbers: &BTreeMap<String, Vec<u32>>) -> PartitionSets {
    let sets = numbers
        .iter()
        .map(|(name, list)| (name.clone(), list.iter().copied().collect()));
    sets.filter(|(_, set): &(_, PartitionSet)| !set.is_empty())
        .collect()
}

/// The engine's numbers as Kafka's lists; numbers that Kafka cannot express are left out.
pub(crate) fn numbers_to_lists(numbers: &BTreeMap<String, Vec<u32>>) -> TopicPartitions {
    let to_list = |list: &Vec<u32>| list.iter().filter_map(|p| i32::try_from(*p).ok()).collect();
    let lists = numbers
        .iter()
        .map(|(name, list)| (name.clone(), to_list(list)));
    lists
        .filter(|(_, list): &(_, Vec<i32>)| !list.is_empty())
        .collect()
}

/// What a member claims with sets, as the engine takes it.
pub(crate) fn sets_to_ranges(sets: &PartitionSets) -> BTreeMap<String, engine::Partitions> {
    let wide = |range: &Range<u32>| i64::from(range.start)..i64::from(range.end);
    let to_ranges = |set: &PartitionSet| set.ranges().iter().map(wide).collect();
    sets.iter()
        .map(|(name, set)| (name.clone(), to_ranges(set)))
        .collect()
}

/// What a member claims with lists, as the engine takes it; negative numbers too, the engine warns of them.
pub(crate) fn lists_to_ranges(lists: &TopicPartitions) -> BTreeMap<String, engine::Partitions> {
    let single = |p: &i32| i64::from(*p)..i64::from(*p) + 1;
    let to_ranges = |list: &Vec<i32>| list.iter().map(single).collect();
    lists
        .iter()
        .map(|(name, list)| (name.clone(), to_ranges(list)))
        .collect()
}

/// Whether a partition is in the set of that name.
pub(crate) fn contains(sets: &PartitionSets, name: &str, partition: i32) -> bool {
    let set = sets.get(name).zip(u32::try_from(partition).ok());
    set.is_some_and(|(set, partition)| set.contains(partition))
}

/// What of `from` is in `with` too.
pub(crate) fn intersection(from: &PartitionSets, with: &PartitionSets) -> PartitionSets {
    retain(from, |name, partition| {
        with.get(name).is_some_and(|set| set.contains(partition))
    })
}

/// What of `from` is not in `without`.
pub(crate) fn difference(from: &PartitionSets, without: &PartitionSets) -> PartitionSets {
    retain(from, |name, partition| {
        !without.get(name).is_some_and(|set| set.contains(partition))
    })
}

fn retain(from: &PartitionSets, keep: impl Fn(&str, u32) -> bool) -> PartitionSets {
    let kept = |name: &str, set: &PartitionSet| set.iter().filter(|p| keep(name, *p)).collect();
    let sets = from
        .iter()
        .map(|(name, set)| (name.clone(), kept(name, set)));
    sets.filter(|(_, set): &(_, PartitionSet)| !set.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(topic: &str, numbers: &[u32]) -> PartitionSets {
        PartitionSets::from([(topic.to_owned(), numbers.iter().copied().collect())])
    }

    #[test]
    fn negative_numbers_are_in_no_set_but_stay_in_claims() {
        let lists = TopicPartitions::from([("orders".to_owned(), vec![-1, 0, 2])]);
        assert_eq!(to_sets(&lists), sets("orders", &[0, 2]));
        assert_eq!(lists_to_ranges(&lists)["orders"], [-1..0, 0..1, 2..3]);
    }

    #[test]
    fn a_difference_leaves_no_empty_sets() {
        let from = sets("orders", &[0, 1]);
        assert_eq!(
            difference(&from, &sets("orders", &[1, 5])),
            sets("orders", &[0])
        );
        assert_eq!(difference(&from, &from), PartitionSets::new());
        assert_eq!(
            intersection(&from, &sets("users", &[0])),
            PartitionSets::new()
        );
    }

    #[test]
    fn a_huge_set_stays_one_range() {
        let huge: PartitionSet = std::iter::once(0..u32::MAX).collect();
        let claims = sets_to_ranges(&PartitionSets::from([("orders".to_owned(), huge)]));
        assert_eq!(claims["orders"].len(), 1);
    }
}
