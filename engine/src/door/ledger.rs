//! All claims, written down member by member; what cannot be true is left out here.
//!
//! ```text
//! m2 subscribes to orders (8 partitions) and declares counts on it; the group is forming generation 12
//! active of gen 11   orders 7-9   ghosts 0     entered orders 7-9, of which 8-9 will count for nothing
//! standby of gen 12  counts 3                  entered, as of unknown generation
//! ```
use index_vec::IndexVec;

use super::roster::{MemberEntry, Roster};
use crate::index::{MemberIx, TableIx, TopicIx};
use crate::plan::WarningKind;
use crate::problem::{Claims, Partitions};
use crate::ranges::Ranges;
use crate::warnings::Warnings;

/// One member's word on one topic or table.
pub(super) struct Entry {
    pub(super) member: MemberIx,
    /// A generation, or `UNKNOWN`.
    pub(super) generation: i64,
    pub(super) partitions: Ranges,
}

/// Older than every generation.
pub(super) const UNKNOWN: i64 = -1;

/// All claims on what exists, before they are held against each other.
pub(super) struct Ledger<'r, 'p> {
    pub(super) roster: &'r Roster<'p>,
    pub(super) active: IndexVec<TopicIx, Vec<Entry>>,
    pub(super) standby: IndexVec<TableIx, Vec<Entry>>,
    pub(super) local: IndexVec<TableIx, Vec<Entry>>,
}

impl<'r, 'p> Ledger<'r, 'p> {
    pub(super) fn new(roster: &'r Roster<'p>) -> Self {
        Ledger {
            roster,
            active: roster.topics.iter().map(|_| Vec::new()).collect(),
            standby: roster.tables.iter().map(|_| Vec::new()).collect(),
            local: roster.tables.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Writes down all that one member claims.
    pub(super) fn enter(&mut self, member: MemberIx, group: Option<i32>, warnings: &mut Warnings) {
        let said = self.roster.members[member].said;
        let generation = self.generation(member, &said.active, group, warnings);
        for (name, claimed) in &said.active.partitions {
            if let Some((topic, partitions)) = self.topic_claim(member, name, claimed, warnings) {
                self.active[topic].push(Entry::new(member, generation, partitions));
            }
        }
        let generation = self.generation(member, &said.standby, group, warnings);
        for (name, claimed) in &said.standby.partitions {
            let claim = self.table_claim(member, name, "table", claimed, warnings);
            if let Some((table, partitions)) = claim {
                self.standby[table].push(Entry::new(member, generation, partitions));
            }
        }
        for (name, claimed) in &said.local_state {
            let claim = self.table_claim(member, name, "local state of", claimed, warnings);
            if let Some((table, partitions)) = claim {
                self.local[table].push(Entry::new(member, UNKNOWN, partitions));
            }
        }
    }

    /// How old claims are: a generation that the group has not completed yet cannot be theirs.
    fn generation(
        &self,
        member: MemberIx,
        claims: &Claims,
        group: Option<i32>,
        warnings: &mut Warnings,
    ) -> i64 {
        match (claims.generation, group) {
            (Some(claimed), Some(group)) if claimed >= group => {
                let kind = WarningKind::FutureGeneration;
                self.roster.members[member].warn(warnings, kind, "", |_| {
                    format!("claims generation {claimed} of a group that is forming {group}; counts as unknown")
                });
                UNKNOWN
            }
            (Some(claimed), _) => i64::from(claimed).max(UNKNOWN),
            (None, _) => UNKNOWN,
        }
    }

    fn topic_claim(
        &self,
        member: MemberIx,
        name: &str,
        claimed: &Partitions,
        warnings: &mut Warnings,
    ) -> Option<(TopicIx, Ranges)> {
        let partitions = named(claimed)?;
        let member = &self.roster.members[member];
        let (kind, why) = match self.roster.topic(name) {
            Some(topic) if member.topics.contains(&topic) => {
                let count = self.roster.topics[topic].partitions;
                warn_of_excess(member, name, claimed, count, warnings);
                return Some((topic, partitions));
            }
            _ if self.roster.partitions_of(name).is_some() => {
                (WarningKind::NotSubscribed, "to which it does not subscribe")
            }
            _ => (WarningKind::UnknownTopic, "which does not exist"),
        };
        member.warn(warnings, kind, name, |n| {
            format!("claims {n} {partitions}, {why}")
        });
        None
    }

    fn table_claim(
        &self,
        member: MemberIx,
        name: &str,
        what: &str,
        claimed: &Partitions,
        warnings: &mut Warnings,
    ) -> Option<(TableIx, Ranges)> {
        let partitions = named(claimed)?;
        let member = &self.roster.members[member];
        let what = format!("{what} {name}");
        let (kind, why) = match self.roster.table(name) {
            Some(table) if member.tables.contains(&table) => {
                let count = self.roster.table_partitions(table);
                warn_of_excess(member, &what, claimed, count, warnings);
                return Some((table, partitions));
            }
            Some(_) => (
                WarningKind::UndeclaredTable,
                "which it does not declare as the group does",
            ),
            None if member.globals.contains(name) => return None,
            None => (WarningKind::UnknownTable, "which nobody declares"),
        };
        member.warn(warnings, kind, &what, |n| {
            format!("claims {n} {partitions}, {why}")
        });
        None
    }
}

impl Entry {
    fn new(member: MemberIx, generation: i64, partitions: Ranges) -> Self {
        Entry {
            member,
            generation,
            partitions,
        }
    }
}

/// The partitions that a claim names, if any.
fn named(claimed: &Partitions) -> Option<Ranges> {
    let ranges = Ranges::normalised(claimed);
    (!ranges.is_empty()).then_some(ranges)
}

/// Warns of partitions that do not exist, and of those that are claimed more than once.
fn warn_of_excess(
    member: &MemberEntry<'_>,
    name: &str,
    claimed: &Partitions,
    count: u32,
    warnings: &mut Warnings,
) {
    let outside = Ranges::normalised(claimed).outside(count);
    if !outside.is_empty() {
        member.warn(warnings, WarningKind::NoSuchPartition, name, |n| {
            format!("claims {n} {outside}, which has {count} partitions")
        });
    }
    let repeated = Ranges::repeated(claimed);
    if !repeated.is_empty() {
        member.warn(warnings, WarningKind::DuplicateClaim, name, |n| {
            format!("claims {n} {repeated} more than once")
        });
    }
}
