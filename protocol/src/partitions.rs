//! A set of partition numbers, kept as sorted ranges so that a few hostile bytes cannot grow.
use std::ops::Range;

/// Partition numbers as sorted, disjoint, non-adjacent half-open ranges.
///
/// Memory is bounded by the bytes it was read from: `0..1_000_000` is one range, never a million numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartitionSet {
    ranges: Vec<Range<u32>>,
}

impl PartitionSet {
    /// The ranges, ascending.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }
}
