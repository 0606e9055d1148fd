//! Who is active for what: objectives 2, 3, 4 and 8 as one cheapest flow.
//!
//! A task is one partition number of one group. Every task sends one unit to the sink, by way of the member that
//! becomes its active. What a member's loads cost grows on the way, so evenness is the flow's own doing:
//!
//! ```text
//! task ----------------------> (member, group) --> (member, stateful) --> member --> sink
//!   \                           ^      in-group load²     stateful load²     total load²
//!    `-> hub of the group ------'      (a stateless group goes straight to its member)
//!    `-> hub of (group, rack) --'
//! ```
//!
//! Most tasks are all the same to most members: they go by the hub at the dearest price (cold, moved). Only
//! members that had something of the task have an arc of their own, which is cheaper. With one member leaving:
//!
//! ```text
//! orders, table counts     task 0    1    2    3    4    5
//! before    active         m1   m1   m2   m2   m3   m3
//!           standby        m2   m3   m3   m1   m1   m2
//! m3 leaves active         m1   m1   m2   m2   m1   m2     both of m3's are promoted, nothing else moves
//! ```
//!
//! Guarantees: every task of every group has one active, a subscriber (I1, I2, I3); loads are as even as they
//! can be, in total, then stateful, then per group (I5); of those plans it is the one with the fewest cold
//! tasks, then the fewest moves, then the most rack-local ones; ties keep partial copies and avoid members that
//! could never hold the whole state. Arcs: one for every task, one for every (member, group), one for everybody
//! who had something of a task.
mod prices;
mod spread;
mod task;
mod wiring;

use index_vec::IndexVec;

use crate::door::{History, Roster};
use crate::flow::Cost;
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx};
use wiring::Wiring;

/// The active of every task, by group and partition.
pub(crate) type Actives = IndexVec<GroupIx, Vec<MemberIx>>;

/// Ranks of the costs, the most important first.
mod rank {
    pub(super) const TOTAL: usize = 0;
    pub(super) const STATEFUL: usize = 1;
    pub(super) const IN_GROUP: usize = 2;
    pub(super) const COLD: usize = 3;
    pub(super) const MOVED: usize = 4;
    pub(super) const REMOTE: usize = 5;
    pub(super) const PARTIAL: usize = 6;
    /// Whether there is a table of the group that the member can never hold, which keeps its tasks cold for ever:
    /// a tie-break, so that a plan stays as it is once its copies are built (I12).
    pub(super) const UNABLE: usize = 7;
    pub(super) const COUNT: usize = 8;
}

type Costs = Cost<{ rank::COUNT }>;

/// Places the active of every task.
pub(crate) fn place(
    roster: &Roster<'_>,
    groups: &IndexVec<GroupIx, Group>,
    history: &History,
) -> Actives {
    let mut wiring = Wiring::new(roster, groups, history);
    let wired: Vec<_> = groups.iter().map(|group| wiring.group(group)).collect();
    let flow = wiring.solve();
    wired.iter().map(|group| group.actives(&flow)).collect()
}

fn amount(rank: usize, count: usize) -> Costs {
    Cost::at(rank, i128::try_from(count).unwrap_or(i128::MAX))
}
