//! Flat arrays of the shim to values of [`crate::assignor`].
//!
//! What other members sent is taken as it is, except for what has no form here: names that are not UTF-8 and
//! negative partition numbers are left out, with a warning.
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};

use tracing::warn;

use super::ffi;
use crate::assignor::{Group, Member, Topic, TopicPartitions};

/// The group, and for each of its members (sorted by id) the shim's index.
///
/// # Safety
/// `flat` is what the shim passes to `assign`.
pub(super) unsafe fn group(flat: &ffi::Group) -> (Group, Vec<usize>) {
    // SAFETY: passed on from the caller, as for the other pointers of `flat` below.
    let members = unsafe { flat.members.get() }.unwrap_or_default();
    let mut order: Vec<(Member, usize)> = members
        .iter()
        .enumerate()
        // SAFETY: see above.
        .map(|(index, flat)| (unsafe { member(flat) }, index))
        .collect();
    order.sort_by(|(a, i), (b, j)| (&a.id, i).cmp(&(&b.id, j)));
    let (members, order) = order.into_iter().unzip();
    // SAFETY: see above.
    let topics = unsafe { flat.topics.get() }.unwrap_or_default();
    let group = Group {
        // SAFETY: see above.
        id: unsafe { text(flat.id) }.to_string_lossy().into_owned(),
        generation: flat.generation,
        // SAFETY: see above.
        leader: unsafe { text(flat.leader) }.to_string_lossy().into_owned(),
        // SAFETY: see above.
        topics: topics
            .iter()
            .filter_map(|flat| unsafe { topic(flat) })
            .collect(),
        members,
    };
    (group, order)
}

/// Partitions by topic.
///
/// # Safety
/// `list` is an array of the shim.
pub(super) unsafe fn partitions(
    list: &ffi::Partitions,
    of: &dyn std::fmt::Display,
) -> TopicPartitions {
    // SAFETY: passed on from the caller.
    let items = unsafe { list.get() }.unwrap_or_default();
    let mut by_topic: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    let mut dropped = 0_usize;
    for item in items {
        // SAFETY: passed on from the caller.
        match unsafe { text(item.topic) }.to_str() {
            Ok(topic) if item.partition >= 0 => {
                by_topic.entry(topic).or_default().push(item.partition)
            }
            _ => dropped += 1,
        }
    }
    if dropped > 0 {
        warn!(member = %of, dropped, "negative partitions or unreadable topic names left out");
    }
    by_topic
        .into_iter()
        .map(|(topic, partitions)| (topic.to_owned(), sorted(partitions)))
        .collect()
}

/// Names.
///
/// # Safety
/// `names` is an array of the shim.
pub(super) unsafe fn names(names: &ffi::Names) -> Vec<String> {
    // SAFETY: passed on from the caller.
    let names = unsafe { names.get() }.unwrap_or_default();
    // SAFETY: passed on from the caller.
    names
        .iter()
        .map(|name| unsafe { text(*name) }.to_string_lossy().into_owned())
        .collect()
}

/// A C string that is never null.
///
/// # Safety
/// `text` is a string of the shim.
pub(super) unsafe fn text<'a>(text: *const c_char) -> &'a CStr {
    // SAFETY: passed on from the caller.
    unsafe { CStr::from_ptr(text) }
}

/// # Safety
/// `flat` is what the shim passes to `assign`.
unsafe fn member(flat: &ffi::Member) -> Member {
    let string = |bytes: &ffi::Bytes| {
        // SAFETY: passed on from the caller, as for the other pointers of `flat` below.
        let bytes = unsafe { bytes.get() };
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let id = string(&flat.id).unwrap_or_default();
    // SAFETY: see above.
    let topics = unsafe { subscription(&flat.subscription, &id) };
    let owned = (!flat.owned.items.is_null())
        // SAFETY: see above.
        .then(|| unsafe { partitions(&flat.owned, &id) });
    Member {
        instance: string(&flat.instance),
        rack: string(&flat.rack).filter(|rack| !rack.is_empty()),
        topics,
        owned,
        generation: (flat.generation >= 0).then_some(flat.generation),
        // SAFETY: see above.
        user_data: unsafe { flat.user_data.get() }.map(<[u8]>::to_vec),
        id,
    }
}

/// # Safety
/// `list` is an array of the shim.
unsafe fn subscription(list: &ffi::Partitions, of: &str) -> Vec<String> {
    // SAFETY: passed on from the caller.
    let items = unsafe { list.get() }.unwrap_or_default();
    // SAFETY: passed on from the caller.
    let readable = |item: &ffi::Partition| unsafe { text(item.topic) }.to_str();
    let mut topics: Vec<String> = items
        .iter()
        .filter_map(|item| readable(item).ok().map(str::to_owned))
        .collect();
    let dropped = items.len() - topics.len();
    if dropped > 0 {
        warn!(
            member = of,
            dropped, "unreadable topic names left out of the subscription"
        );
    }
    topics.sort();
    topics.dedup();
    topics
}

/// # Safety
/// `flat` is what the shim passes to `assign`.
unsafe fn topic(flat: &ffi::Topic) -> Option<(String, Topic)> {
    // SAFETY: passed on from the caller.
    let name = unsafe { text(flat.name) }.to_str().ok()?.to_owned();
    let partitions = flat.partition_cnt.max(0);
    let racks = ffi::Array {
        items: flat.racks,
        len: usize::try_from(partitions).unwrap_or_default(),
    };
    // SAFETY: if there are racks, there is one set for every partition.
    let racks = unsafe { racks.get() }.unwrap_or_default();
    // SAFETY: passed on from the caller.
    let replica_racks = racks.iter().map(|racks| unsafe { names(racks) }).collect();
    Some((
        name,
        Topic {
            partitions,
            replica_racks,
        },
    ))
}

fn sorted(mut partitions: Vec<i32>) -> Vec<i32> {
    partitions.sort_unstable();
    partitions.dedup();
    partitions
}
