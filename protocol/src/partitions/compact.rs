//! The wire form of a partition set: runs or a bitmap, whichever takes fewer bytes.
//!
//! | set | runs (skip, extra) | bitmap from | bits |
//! |---|---|---|---|
//! | `0-3,7` | (0, 3) (2, 0) | 0 | `8f` |
//! | `5` | (5, 0) | 5 | `01` |
//! | `0,2,4,6` | (0, 0) (0, 0) (0, 0) (0, 0) | 0 | `55` |
//!
//! `skip` counts the absent numbers before a run, beyond the one that ends the run before it; `extra` the numbers of
//! a run after its first. Bit `i % 8` of byte `i / 8` stands for number `from + i`. The writer's choice is fixed, so
//! equal sets are equal bytes; the reader takes either form and any bitmap.
use std::borrow::Cow;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use super::{MAX_PARTITION, PartitionSet};
use crate::user_data::listed;

#[derive(serde::Serialize, serde::Deserialize)]
enum Compact<'a> {
    Runs(#[serde(deserialize_with = "listed")] Vec<(u32, u32)>),
    Bitmap(u32, #[serde(borrow)] Cow<'a, [u8]>),
}

/// As specified in DESIGN.md, "Wire format".
impl Serialize for PartitionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        compact(self).serialize(serializer)
    }
}

/// As specified in DESIGN.md, "Wire format".
impl<'de> Deserialize<'de> for PartitionSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = match Compact::deserialize(deserializer)? {
            Compact::Runs(runs) => from_runs(&runs),
            Compact::Bitmap(from, bits) => from_bitmap(from, &bits),
        };
        set.ok_or_else(|| Error::custom(format_args!("partition number above {MAX_PARTITION}")))
    }
}

fn compact(set: &PartitionSet) -> Compact<'_> {
    let runs = to_runs(set);
    match (set.ranges.first(), set.last()) {
        (Some(first), Some(last)) if bitmap_size(first.start, last) < runs_size(&runs) => {
            Compact::Bitmap(first.start, to_bitmap(set, first.start, last).into())
        }
        _ => Compact::Runs(runs),
    }
}

fn to_runs(set: &PartitionSet) -> Vec<(u32, u32)> {
    let mut next = 0;
    let run = |range: &Range<u32>| {
        let skip = range.start - next;
        next = range.end + 1;
        (skip, range.end - range.start - 1)
    };
    set.ranges.iter().map(run).collect()
}

fn from_runs(runs: &[(u32, u32)]) -> Option<PartitionSet> {
    let mut ranges = Vec::with_capacity(runs.len());
    let mut next = 0_u32;
    for &(skip, extra) in runs {
        let start = next.checked_add(skip)?;
        let last = start.checked_add(extra).filter(|&p| p <= MAX_PARTITION)?;
        ranges.push(start..last + 1);
        next = last + 2;
    }
    Some(PartitionSet { ranges })
}

fn to_bitmap(set: &PartitionSet, from: u32, last: u32) -> Vec<u8> {
    let mut bits = vec![0_u8; bitmap_bytes(from, last) as usize];
    for partition in set.iter() {
        let index = partition - from;
        if let Some(byte) = bits.get_mut((index / 8) as usize) {
            *byte |= 1 << (index % 8);
        }
    }
    bits
}

fn from_bitmap(from: u32, bits: &[u8]) -> Option<PartitionSet> {
    let ranges = Vec::with_capacity(count_runs(bits));
    let mut set = PartitionSet { ranges };
    for (first, byte) in (u64::from(from)..).step_by(8).zip(bits) {
        for partition in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            let partition = u32::try_from(first + partition).ok()?;
            if partition > MAX_PARTITION {
                return None;
            }
            set.append(partition..partition + 1);
        }
    }
    Some(set)
}

/// How many runs of ones there are.
fn count_runs(bits: &[u8]) -> usize {
    let mut before = 0;
    let starts = |byte: &u8| {
        let starts = byte & !(byte << 1 | before);
        before = byte >> 7;
        starts.count_ones() as usize
    };
    bits.iter().map(starts).sum()
}

/// Bytes of the runs as bincode writes them, without the tag that both forms have.
fn runs_size(runs: &[(u32, u32)]) -> usize {
    let pair = |&(skip, extra): &(u32, u32)| varint_size(skip) + varint_size(extra);
    let count = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    varint_size(count) + runs.iter().map(pair).sum::<usize>()
}

/// Bytes of the bitmap as bincode writes it, without the tag.
fn bitmap_size(from: u32, last: u32) -> usize {
    let bytes = bitmap_bytes(from, last);
    varint_size(from) + varint_size(bytes) + bytes as usize
}

fn bitmap_bytes(from: u32, last: u32) -> u32 {
    (last - from) / 8 + 1
}

/// Bytes that bincode's variable-length encoding takes.
fn varint_size(number: u32) -> usize {
    match number {
        0..=250 => 1,
        251..=0xffff => 3,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(from: u32, bits: &[u8]) -> Option<String> {
        from_bitmap(from, bits).map(|set| set.to_string())
    }

    #[test]
    fn sparse_sets_are_runs_and_dense_ones_bitmaps() {
        let alternating: PartitionSet = (0..100).step_by(2).collect();
        let far_apart: PartitionSet = (0..10_000).step_by(100).collect();
        let one_run = PartitionSet::from_iter([0..1_000_000, 0..0]);
        assert!(matches!(compact(&alternating), Compact::Bitmap(0, bits) if bits.len() == 13));
        assert!(matches!(compact(&far_apart), Compact::Runs(runs) if runs.len() == 100));
        assert!(matches!(compact(&one_run), Compact::Runs(runs) if runs == [(0, 999_999)]));
        assert!(matches!(compact(&PartitionSet::new()), Compact::Runs(runs) if runs.is_empty()));
    }

    #[test]
    fn sizes_are_those_of_bincode() {
        let sizes = [0, 250, 251, 0xffff, 0x1_0000, u32::MAX].map(varint_size);
        assert_eq!(sizes, [1, 1, 3, 3, 5, 5]);
        assert_eq!(runs_size(&[(0, 0); 251]), 3 + 251 * 2);
        assert_eq!(bitmap_size(251, 251 + 8 * 251), 3 + 3 + 252);
    }

    #[test]
    fn runs_reach_the_last_partition_and_not_beyond() {
        let last = from_runs(&[(MAX_PARTITION, 0)]).and_then(|set| set.last());
        assert_eq!(last, Some(MAX_PARTITION));
        assert_eq!(from_runs(&[(MAX_PARTITION, 1)]), None);
        assert_eq!(from_runs(&[(MAX_PARTITION, 0), (0, 0)]), None);
        assert_eq!(from_runs(&[(u32::MAX, u32::MAX)]), None);
    }

    #[test]
    fn bitmaps_reach_the_last_partition_and_not_beyond() {
        let last = from_bitmap(MAX_PARTITION, &[1]).and_then(|set| set.last());
        assert_eq!(last, Some(MAX_PARTITION));
        assert_eq!(bitmap(MAX_PARTITION, &[2]), None);
        assert_eq!(bitmap(u32::MAX, &[0, 1]), None);
    }

    #[test]
    fn any_bitmap_is_read_as_the_set_it_stands_for() {
        assert_eq!(
            bitmap(5, &[0b0000_0110, 0b1000_0001, 1]).as_deref(),
            Some("6-7,13,20-21")
        );
        assert_eq!(bitmap(u32::MAX, &[0, 0]).as_deref(), Some(""));
    }

    #[test]
    fn room_is_made_for_exactly_the_runs_of_a_bitmap() {
        for bits in [
            &[0b0101_0101, 0b1010_1010][..],
            &[0x80, 0x01],
            &[0xff, 0xff],
            &[],
        ] {
            let ranges = from_bitmap(0, bits).map(|set| set.ranges.len());
            assert_eq!(ranges, Some(count_runs(bits)));
        }
    }
}
