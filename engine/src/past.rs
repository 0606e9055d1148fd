//! What members had of one task: the view of the history that placement and report share.
//!
//! ```text
//! task 3 of {orders users} with table counts on orders
//!   m1 owned orders 3 and users 3                 owned 2, processed 1, kept 1, copies 1
//!   m2 kept a standby of counts 3                 owned 0, processed 0, kept 1, copies 1
//!   m3 has local state of counts 3                owned 0, processed 0, kept 0, copies 1
//! ```
use std::ops::AddAssign;

use crate::door::{History, Roster};
use crate::groups::Group;
use crate::index::{MemberIx, TableIx};

/// What one member had of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// Topics of the group that it owned.
    pub(crate) owned: usize,
    /// Tables of the group that it has a copy of.
    pub(crate) copies: usize,
    /// Of those, the ones it was given in the last assignment, as active or standby.
    pub(crate) kept: usize,
    /// Of those, the ones it was the active of.
    pub(crate) processed: usize,
}

impl Past {
    /// Whether it has a copy of the task: of all of the group's tables.
    pub(crate) fn has_copy(&self, group: &Group) -> bool {
        self.copies == group.tables.len()
    }

    fn of_table(
        history: &History,
        roster: &Roster<'_>,
        table: TableIx,
        p: u32,
        m: MemberIx,
    ) -> Self {
        let processed = history.owners[roster.tables[table].source].contains(p, m);
        let kept = processed || history.standbys[table].contains(p, m);
        Past {
            owned: 0,
            copies: 1,
            kept: usize::from(kept),
            processed: usize::from(processed),
        }
    }
}

impl AddAssign for Past {
    fn add_assign(&mut self, other: Self) {
        self.owned += other.owned;
        self.copies += other.copies;
        self.kept += other.kept;
        self.processed += other.processed;
    }
}

/// Everybody who had something of one task, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskPast {
    members: Vec<(MemberIx, Past)>,
    /// Topics of the group that somebody owned.
    pub(crate) claimed: usize,
}

impl TaskPast {
    /// Of partition `p` of `group`.
    pub(crate) fn of(group: &Group, p: u32, roster: &Roster<'_>, history: &History) -> Self {
        let mut found = Vec::new();
        let mut claimed = 0;
        for &topic in &group.topics {
            let owners = history.owners[topic].at(p);
            claimed += usize::from(!owners.is_empty());
            found.extend(owners.iter().map(|&m| {
                (
                    m,
                    Past {
                        owned: 1,
                        ..Past::default()
                    },
                )
            }));
        }
        for &table in &group.tables {
            let copies = history.copies[table].at(p).iter();
            found.extend(copies.map(|&m| (m, Past::of_table(history, roster, table, p, m))));
        }
        TaskPast {
            members: summed(found),
            claimed,
        }
    }

    /// What `member` had.
    pub(crate) fn at(&self, member: MemberIx) -> Past {
        let found = self.members.binary_search_by_key(&member, |entry| entry.0);
        found.map_or_else(|_| Past::default(), |i| self.members[i].1)
    }

    /// Everybody who had something, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (MemberIx, Past)> + '_ {
        self.members.iter().copied()
    }
}

/// One entry per member, in order.
fn summed(mut found: Vec<(MemberIx, Past)>) -> Vec<(MemberIx, Past)> {
    found.sort_by_key(|entry| entry.0);
    found.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    found
}
