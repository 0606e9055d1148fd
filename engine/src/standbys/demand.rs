//! How many standbys are wanted, and who may keep them.
//!
//! ```text
//! two replicas, subscribers m1 m2 m3, of which m1 and m2 declare the table:
//! a task of m1 wants min(2, {m2}) = 1, a task of m3 wants min(2, {m1 m2}) = 2
//! ```
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use super::{Costs, rank};
use crate::actives::Actives;
use crate::door::Roster;
use crate::flow::Cost;
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx, RackIx};
use crate::past::Past;

/// The standbys of all groups that are wanted.
pub(super) struct Demand<'a> {
    pub(super) eligible: IndexVec<GroupIx, Eligible<'a>>,
    /// Everybody who may keep a standby of anything.
    pub(super) keepers: BTreeSet<MemberIx>,
    /// All standbys.
    pub(super) total: i64,
    /// Those of the tasks of one active.
    pub(super) of_active: IndexVec<MemberIx, i64>,
    racks: IndexVec<MemberIx, Option<RackIx>>,
}

/// A group, and the members that may keep its standbys; nobody may for a stateless one.
pub(super) struct Eligible<'a> {
    pub(super) group: &'a Group,
    replicas: i64,
    /// In order, with the number of tables that each cannot hold.
    members: Vec<(MemberIx, usize)>,
    in_rack: BTreeMap<RackIx, usize>,
}

impl<'a> Demand<'a> {
    pub(super) fn of(
        roster: &Roster<'_>,
        groups: &'a IndexVec<GroupIx, Group>,
        actives: &Actives,
    ) -> Self {
        let racks = racks(roster);
        let eligible = groups
            .iter()
            .map(|group| Eligible::of(group, roster, &racks));
        let eligible: IndexVec<GroupIx, _> = eligible.collect();
        let keepers = eligible.iter().flat_map(|eligible| &eligible.members);
        let mut demand = Demand {
            keepers: keepers.map(|&(m, _)| m).collect(),
            eligible,
            total: 0,
            of_active: roster.members.iter().map(|_| 0).collect(),
            racks,
        };
        for (eligible, actives) in demand.eligible.iter().zip(actives) {
            for &active in actives {
                let wanted = eligible.wanted(active);
                demand.total += wanted;
                demand.of_active[active] += wanted;
            }
        }
        demand
    }

    /// How many copies of a task at `m` share a rack with its active, for certain: one or none.
    pub(super) fn beside_active(&self, active: MemberIx, m: MemberIx) -> usize {
        usize::from(self.racks[m].is_some() && self.racks[m] == self.racks[active])
    }

    /// The rack of `m` if two standbys of one task of `active` could meet there.
    pub(super) fn shared_rack(
        &self,
        eligible: &Eligible<'_>,
        active: MemberIx,
        m: MemberIx,
    ) -> Option<RackIx> {
        let rack = self.racks[m].filter(|_| self.beside_active(active, m) == 0)?;
        (eligible.in_rack.get(&rack) > Some(&1)).then_some(rack)
    }
}

impl<'a> Eligible<'a> {
    fn of(
        group: &'a Group,
        roster: &Roster<'_>,
        racks: &IndexVec<MemberIx, Option<RackIx>>,
    ) -> Self {
        let missing = |&m: &MemberIx| (m, group.tables_missing(&roster.members[m].tables));
        let subscribers = group.subscribers.iter().map(missing);
        let members: Vec<_> = subscribers
            .filter(|&(_, n)| n < group.tables.len())
            .collect();
        let mut in_rack = BTreeMap::new();
        for rack in members.iter().filter_map(|&(m, _)| racks[m]) {
            *in_rack.entry(rack).or_default() += 1;
        }
        Eligible {
            group,
            replicas: i64::from(roster.replicas),
            members,
            in_rack,
        }
    }

    /// Standbys of a task with this active.
    pub(super) fn wanted(&self, active: MemberIx) -> i64 {
        let is_eligible = self.missing(active).is_some();
        let others = self.members.len() - usize::from(is_eligible);
        i64::try_from(others).unwrap_or(i64::MAX).min(self.replicas)
    }

    /// Whether the group has no standbys at all.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() || self.replicas == 0
    }

    /// Everybody but the active, with the number of tables that each cannot hold.
    pub(super) fn others(&self, active: MemberIx) -> impl Iterator<Item = (MemberIx, usize)> + '_ {
        self.members
            .iter()
            .copied()
            .filter(move |&(m, _)| m != active)
    }

    /// Tables that an eligible member cannot hold.
    pub(super) fn missing(&self, m: MemberIx) -> Option<usize> {
        let found = self.members.binary_search_by_key(&m, |entry| entry.0);
        found.ok().map(|i| self.members[i].1)
    }

    /// What a copy costs at a member that had `had` of the task and cannot hold `missing` tables.
    pub(super) fn copy_cost(&self, had: Past, missing: usize) -> Costs {
        let tables = self.group.tables.len();
        amount(rank::MISSING, missing)
            + amount(rank::COLD, usize::from(!had.has_copy(self.group)))
            + amount(rank::PARTIAL, tables - had.copies)
            + amount(rank::MOVED, usize::from(had.kept < tables - missing))
    }
}

/// Racks as indices, in order of names.
fn racks(roster: &Roster<'_>) -> IndexVec<MemberIx, Option<RackIx>> {
    let names: BTreeSet<&str> = roster.members.iter().filter_map(|m| m.rack()).collect();
    let numbered = names.into_iter().zip((0..).map(RackIx::from_usize));
    let numbered: BTreeMap<&str, RackIx> = numbered.collect();
    let rack = |name: &str| numbered.get(name).copied();
    roster
        .members
        .iter()
        .map(|m| m.rack().and_then(rack))
        .collect()
}

pub(super) fn amount(rank: usize, count: usize) -> Costs {
    Cost::at(rank, i128::try_from(count).unwrap_or(i128::MAX))
}
