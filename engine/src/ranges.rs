//! Sets of partition numbers as sorted, disjoint ranges, so that a hostile claim costs what its bytes cost.
//!
//! ```text
//! claimed    5..9  -2..1  7..12  4..4       in any order, overlapping, out of range
//! normalised -2..1  5..12
//! of 8 partitions: inside 0..1 5..8, outside "-2--1,8-11"
//! ```
use std::fmt;
use std::ops::Range;

use crate::problem::Partitions;

/// Ranges that a sentence lists before it counts the rest.
const LISTED: usize = 10;

/// Partition numbers that a claim names, in and out of range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<i64>>);

impl Ranges {
    /// Sorted and merged; empty ranges vanish.
    pub(crate) fn normalised(claimed: &Partitions) -> Self {
        let mut sorted: Vec<Range<i64>> =
            claimed.iter().filter(|r| !r.is_empty()).cloned().collect();
        sorted.sort_unstable_by_key(|r| (r.start, r.end));
        let mut ranges = Ranges::default();
        sorted.into_iter().for_each(|range| ranges.append(range));
        ranges
    }

    /// Single numbers in ascending order.
    pub(crate) fn of_sorted(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut ranges = Ranges::default();
        for number in numbers.into_iter().map(i64::from) {
            ranges.append(number..number + 1);
        }
        ranges
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers below `count`, ascending.
    pub(crate) fn inside(&self, count: u32) -> impl Iterator<Item = u32> + '_ {
        self.clipped(0, i64::from(count))
            .flatten()
            .filter_map(|number| u32::try_from(number).ok())
    }

    /// What is negative, or not below `count`.
    pub(crate) fn outside(&self, count: u32) -> Self {
        let below = self.clipped(i64::MIN, 0);
        Ranges(
            below
                .chain(self.clipped(i64::from(count), i64::MAX))
                .collect(),
        )
    }

    fn clipped(&self, low: i64, high: i64) -> impl Iterator<Item = Range<i64>> + '_ {
        self.0
            .iter()
            .map(move |r| r.start.max(low)..r.end.min(high))
            .filter(|r| !r.is_empty())
    }

    /// Adds a range that starts no earlier than the last one.
    fn append(&mut self, range: Range<i64>) {
        match self.0.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => self.0.push(range),
        }
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.0.iter().take(LISTED).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match range.end - 1 {
                last if last == range.start => write!(f, "{comma}{last}")?,
                last => write!(f, "{comma}{}-{last}", range.start)?,
            }
        }
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more ranges"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_claims_are_merged_and_clipped() {
        let ranges = Ranges::normalised(&vec![5..9, -2..1, 7..12, 4..4]);
        assert_eq!(ranges.inside(8).collect::<Vec<_>>(), [0, 5, 6, 7]);
        assert_eq!(ranges.outside(8).to_string(), "-2--1,8-11");
    }

    #[test]
    fn the_whole_number_line_costs_one_range() {
        let ranges = Ranges::normalised(&vec![i64::MIN..i64::MAX; 3]);
        assert_eq!(ranges.inside(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(ranges.outside(2).0, [i64::MIN..0, 2..i64::MAX]);
    }

    #[test]
    fn a_long_list_is_cut_in_a_sentence() {
        let ranges = Ranges::of_sorted((0..40).step_by(2));
        assert!(ranges.to_string().ends_with(",18 and 10 more ranges"));
    }
}
