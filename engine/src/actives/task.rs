//! What it costs to place one task, by what its new active had of it and where that is.
//!
//! ```text
//! task 3 of {orders users} with table counts on orders; m1 owned both topics, m2 has a standby
//!            cold  moved  partial
//! m1            0      0        0
//! m2            0      2        0
//! stranger      1      2        1
//! ```
use std::collections::{BTreeMap, BTreeSet};

use super::{Costs, amount, rank};
use crate::door::{History, Roster};
use crate::groups::Group;
use crate::index::MemberIx;
use crate::past::{Past, TaskPast};

/// One task.
pub(super) struct Task<'a> {
    roster: &'a Roster<'a>,
    group: &'a Group,
    past: TaskPast,
    racks: ReplicaRacks<'a>,
}

impl<'a> Task<'a> {
    pub(super) fn new(group: &'a Group, p: u32, roster: &'a Roster<'a>, history: &History) -> Self {
        Task {
            past: TaskPast::of(group, p, roster, history),
            racks: ReplicaRacks::of(group, p, roster),
            roster,
            group,
        }
    }

    /// Everybody who had something of the task, with the cost of placing it there.
    pub(super) fn known_members(&self) -> impl Iterator<Item = (MemberIx, Costs)> + '_ {
        let cost = |(m, had): (MemberIx, Past)| (m, self.cost(had, self.roster.members[m].rack()));
        self.past.iter().map(cost)
    }

    /// Racks with a replica, with the cost of placing the task at a stranger there.
    pub(super) fn near_racks(&self) -> impl Iterator<Item = (&'a str, Costs)> + '_ {
        let racks = self.racks.near.keys();
        racks.map(|&rack| (rack, self.cost(Past::default(), Some(rack))))
    }

    /// The cost of placing it at any other stranger.
    pub(super) fn stranger(&self) -> Costs {
        self.cost(Past::default(), None)
    }

    fn cost(&self, had: Past, rack: Option<&str>) -> Costs {
        amount(rank::COLD, usize::from(!had.has_copy(self.group)))
            + amount(rank::MOVED, self.past.claimed - had.owned)
            + amount(rank::REMOTE, self.racks.remote(rack))
            + amount(rank::PARTIAL, self.group.tables.len() - had.copies)
    }
}

/// Racks of a task's replicas.
struct ReplicaRacks<'a> {
    /// Topics of the group whose partition has known racks.
    known: usize,
    /// Topics of the group with a replica in the rack.
    near: BTreeMap<&'a str, usize>,
}

impl<'a> ReplicaRacks<'a> {
    fn of(group: &Group, p: u32, roster: &'a Roster<'a>) -> Self {
        let mut racks = ReplicaRacks {
            known: 0,
            near: BTreeMap::new(),
        };
        for &topic in &group.topics {
            racks.add(roster.topics[topic].racks_of(p));
        }
        racks
    }

    fn add(&mut self, replicas: &'a [String]) {
        let names: BTreeSet<&str> = replicas.iter().map(String::as_str).collect();
        self.known += usize::from(!names.is_empty());
        for rack in names {
            *self.near.entry(rack).or_default() += 1;
        }
    }

    /// Topic-partitions without a replica in `rack`.
    fn remote(&self, rack: Option<&str>) -> usize {
        let near = rack.and_then(|rack| self.near.get(rack));
        self.known - near.copied().unwrap_or(0)
    }
}
