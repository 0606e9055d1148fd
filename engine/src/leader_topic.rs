//! Who gets the leader topic: whoever had it, else whoever has least to do. It weighs nothing.
//!
//! ```text
//! tasks m1 4, m2 3, m3 3      claimed by m1: stays with m1      claimed by nobody: m2
//! ```
use std::cmp::Ordering;

use index_vec::IndexVec;

use crate::door::{History, Roster};
use crate::index::{MemberIx, TopicIx};

/// The leader topic and its owners, by partition; `None` when it does not exist or nobody subscribes to it.
pub(crate) fn place(
    roster: &Roster<'_>,
    history: &History,
    loads: &IndexVec<MemberIx, u64>,
) -> Option<(TopicIx, Vec<MemberIx>)> {
    let topic = roster.leader_topic?;
    let entry = &roster.topics[topic];
    let mut held: IndexVec<MemberIx, u64> = roster.members.iter().map(|_| 0).collect();
    let owner = |p| {
        let owners = history.owners[topic].at(p);
        let candidates = if owners.is_empty() {
            &entry.subscribers
        } else {
            owners
        };
        let order = |&a: &MemberIx, &b: &MemberIx| {
            let by_load = || relative_load(roster, loads, a, b);
            held[a].cmp(&held[b]).then_with(by_load).then(a.cmp(&b))
        };
        let chosen = candidates.iter().copied().min_by(order)?;
        held[chosen] += 1;
        Some(chosen)
    };
    Some((topic, (0..entry.partitions).map_while(owner).collect()))
}

/// Compares load per capacity without fractions.
fn relative_load(
    roster: &Roster<'_>,
    loads: &IndexVec<MemberIx, u64>,
    a: MemberIx,
    b: MemberIx,
) -> Ordering {
    let capacity = |m: MemberIx| u128::from(roster.members[m].said.capacity.get());
    let scaled = |m: MemberIx, other| u128::from(loads[m]) * capacity(other);
    scaled(a, b).cmp(&scaled(b, a))
}
