//! Who keeps standby copies: objectives 5, 6 and 7 for the actives chosen, as one cheapest flow.
//!
//! Every stateful task sends as many units as it is to have standbys. A unit reaches the sink by way of the
//! member that keeps the copy, and by an arc that carries one unit, so the members are distinct (I4):
//!
//! ```text
//! task --1--> (task, rack) --1--> (active, member) --> member --> sink
//!   \          0 then 1 a unit     ^    spread²         standby load²
//!    \--------------1-------------'|
//!     `--> hub of (group, active) -'    (only tasks with one standby: two units could reach one member)
//! ```
//!
//! `(active, member)` are the standbys that `member` keeps for tasks of `active`: should `active` die, these are
//! the tasks that `member` can take over at once, so they are spread over many members. For instance
//!
//! ```text
//! orders, table counts     task 0    1    2    3    4    5        one standby each
//!           active         m1   m1   m2   m2   m3   m3
//!           standby        m2   m3   m1   m3   m1   m2           two copies on each, one from each other member
//! ```
//!
//! Guarantees: min(replicas, eligible members but the active) standbys of every stateful task; of those plans
//! the one with the fewest missing tables (a standby holds the tables of the group that its member declares),
//! then the fewest copies that share a rack with another, then the most even standby load, then the fewest
//! copies to be built; ties keep partial copies, leave copies where they are, and spread them. Arcs: with one
//! standby each, one for every (group, active, eligible member) and for everybody who had a copy; with more, one
//! for every (stateful task, eligible member).
mod demand;
mod wiring;

use index_vec::IndexVec;

use crate::actives::Actives;
use crate::door::{History, Roster};
use crate::flow::Cost;
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx};
use demand::Demand;
use wiring::Wiring;

/// The standbys of every task, by group and partition, sorted; no partitions where a group has no standbys.
pub(crate) type Standbys = IndexVec<GroupIx, Vec<Vec<MemberIx>>>;

/// Ranks of the costs, the most important first.
mod rank {
    pub(super) const MISSING: usize = 0;
    pub(super) const APART: usize = 1;
    pub(super) const LOAD: usize = 2;
    pub(super) const COLD: usize = 3;
    pub(super) const PARTIAL: usize = 4;
    /// Copies that their member was not given before: where local state decides, what is there stays (I12).
    pub(super) const MOVED: usize = 5;
    pub(super) const SPREAD: usize = 6;
    pub(super) const COUNT: usize = 7;
}

type Costs = Cost<{ rank::COUNT }>;

/// Places the standbys of every stateful task.
pub(crate) fn place(
    roster: &Roster<'_>,
    groups: &IndexVec<GroupIx, Group>,
    history: &History,
    actives: &Actives,
) -> Standbys {
    let demand = Demand::of(roster, groups, actives);
    let mut wiring = Wiring::new(roster, history, &demand);
    let eligible = demand.eligible.iter().zip(actives);
    let wired: Vec<_> = eligible
        .map(|(eligible, actives)| wiring.group(eligible, actives))
        .collect();
    let flow = wiring.solve();
    wired
        .into_iter()
        .map(|group| group.standbys(&flow))
        .collect()
}
