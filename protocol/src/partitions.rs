//! A set of partition numbers, kept as sorted ranges so that a few hostile bytes cannot grow.
//!
//! ```
//! use rdkafka_assignor_protocol::PartitionSet;
//!
//! let set: PartitionSet = [7, 2, 0, 1, 3].into_iter().collect();
//! assert_eq!(set.ranges(), [0..4, 7..8]);
//! assert_eq!(set.to_string(), "0-3,7");
//! ```
mod compact;

use std::fmt;
use std::ops::Range;

/// Largest partition number that Kafka can express.
pub const MAX_PARTITION: u32 = i32::MAX as u32;

/// Partition numbers as sorted, disjoint, non-adjacent half-open ranges.
///
/// Memory is bounded by the bytes it was read from: `0..1_000_000` is one range, never a million numbers.
/// Numbers above [`MAX_PARTITION`] do not exist in Kafka: constructors leave them out, readers refuse them.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct PartitionSet {
    ranges: Vec<Range<u32>>,
}

impl PartitionSet {
    /// The empty set.
    pub const fn new() -> Self {
        PartitionSet { ranges: Vec::new() }
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }

    /// Whether there is no partition in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many partitions there are.
    pub fn len(&self) -> u64 {
        let length = |range: &Range<u32>| u64::from(range.end - range.start);
        self.ranges.iter().map(length).sum()
    }

    /// Whether `partition` is in it.
    pub fn contains(&self, partition: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.end <= partition);
        self.ranges
            .get(after)
            .is_some_and(|range| range.contains(&partition))
    }

    /// The numbers, ascending. There may be two billion of them, whoever sent the set.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().cloned().flatten()
    }

    /// The largest number.
    pub fn last(&self) -> Option<u32> {
        self.ranges.last().map(|range| range.end - 1)
    }

    /// Partitions of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.ranges.iter().chain(&other.ranges).cloned().collect()
    }

    /// Appends a range that starts no earlier than any before it.
    fn append(&mut self, range: Range<u32>) {
        let range = range.start..range.end.min(MAX_PARTITION + 1);
        if range.is_empty() {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => self.ranges.push(range),
        }
    }
}

/// From ranges in any order, overlapping or empty.
impl FromIterator<Range<u32>> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = Range<u32>>>(ranges: I) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut set = PartitionSet::new();
        for range in ranges {
            set.append(range);
        }
        set
    }
}

/// From numbers in any order, duplicates allowed.
impl FromIterator<u32> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let single = |number: u32| number..number.saturating_add(1);
        numbers.into_iter().map(single).collect()
    }
}

/// `0-3,7`; the empty set is the empty string.
impl fmt::Display for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let last = range.end - 1;
            match range.start == last {
                true => write!(f, "{comma}{last}")?,
                false => write!(f, "{comma}{}-{last}", range.start)?,
            }
        }
        Ok(())
    }
}

/// `[0-3,7]`.
impl fmt::Debug for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> PartitionSet {
        numbers.iter().copied().collect()
    }

    #[test]
    fn numbers_in_any_order_become_ranges() {
        assert_eq!(set(&[5, 1, 0, 1, 3, 4]).ranges(), [0..2, 3..6]);
        assert!(set(&[]).is_empty());
    }

    #[test]
    fn ranges_are_merged_when_they_touch_or_overlap() {
        let merged = PartitionSet::from_iter([8..9, 0..2, 2..4, 3..3, 1..6, 2..3]);
        assert_eq!(merged.ranges(), [0..6, 8..9]);
        assert_eq!(merged.len(), 7);
    }

    #[test]
    fn text_is_short_in_tests_and_logs() {
        let some = set(&[0, 1, 2, 3, 7]);
        assert_eq!(format!("{some} {some:?}"), "0-3,7 [0-3,7]");
        assert_eq!(format!("{:?}", PartitionSet::new()), "[]");
    }

    #[test]
    fn numbers_that_kafka_does_not_have_are_left_out() {
        assert!(set(&[MAX_PARTITION + 1, u32::MAX]).is_empty());
        let clipped = PartitionSet::from_iter([MAX_PARTITION - 1..u32::MAX, 0..0]);
        assert_eq!(clipped.last(), Some(MAX_PARTITION));
        assert_eq!(clipped.len(), 2);
    }

    #[test]
    fn contains_what_iter_yields() {
        let some = set(&[0, 2, 3, 9]);
        let found: Vec<u32> = (0..12).filter(|&number| some.contains(number)).collect();
        assert_eq!(found, some.iter().collect::<Vec<_>>());
        assert_eq!(found, [0, 2, 3, 9]);
    }

    #[test]
    fn union_holds_both_and_is_normal() {
        let both = set(&[0, 1, 6]).union(&set(&[2, 4]));
        assert_eq!(both.ranges(), [0..3, 4..5, 6..7]);
    }

    #[test]
    fn displays_as_people_write_it() {
        assert_eq!(set(&[0, 1, 2, 3, 7]).to_string(), "0-3,7");
        assert_eq!(set(&[4, 6, 7]).to_string(), "4,6-7");
        assert_eq!(set(&[]).to_string(), "");
    }
}
