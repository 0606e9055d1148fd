//! Who had what: claims, reduced to the newest generation of every partition.
//!
//! Active claims on a topic and standby claims on its tables are judged together, partition by partition: what
//! is older than the newest is a zombie's and is dropped (I8); everybody of the newest generation counts.
//!
//! ```text
//! orders 0     m1 active of gen 9, m2 active of gen 7, m3 standby of gen 9    owner m1, copy m3; m2 is stale
//! orders 1     m1 active of gen 9, m2 active of gen 9                         two owners
//! orders 2     m2 active of gen 7                                             owner m2: nobody is newer
//! ```
//!
//! A generation that is unknown, or not below the group's own, is the oldest. Local state has no generation. A
//! *copy* of a table's partition is where the state is: a surviving active claim on the source, a surviving
//! standby claim, or local state, at a member that may hold the table.
use index_vec::IndexVec;

use super::roster::{MemberEntry, Roster, TopicEntry};
use crate::index::{MemberIx, TableIx, TopicIx};
use crate::plan::WarningKind;
use crate::problem::{Claims, Partitions};
use crate::ranges::Ranges;
use crate::warnings::Warnings;

/// Who had what, as far as it is believed.
#[derive(Debug)]
pub(crate) struct History {
    /// Owners of every topic-partition.
    pub(crate) owners: IndexVec<TopicIx, Holders>,
    /// Members that kept a standby of every table partition.
    pub(crate) standbys: IndexVec<TableIx, Holders>,
    /// Members with a copy of every table partition.
    pub(crate) copies: IndexVec<TableIx, Holders>,
}

/// Members by partition number, sorted.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    starts: Vec<usize>,
    members: Vec<MemberIx>,
}

impl Holders {
    /// Who holds partition `p`; nobody when there is no such partition.
    pub(crate) fn at(&self, p: u32) -> &[MemberIx] {
        let bounds = || {
            let p = usize::try_from(p).ok()?;
            Some(*self.starts.get(p)?..*self.starts.get(p + 1)?)
        };
        bounds()
            .and_then(|range| self.members.get(range))
            .unwrap_or(&[])
    }

    pub(crate) fn contains(&self, p: u32, member: MemberIx) -> bool {
        self.at(p).binary_search(&member).is_ok()
    }

    fn new(partitions: u32, mut pairs: Vec<(u32, MemberIx)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = Vec::new();
        let mut next = 0;
        for p in 0..partitions {
            starts.push(next);
            next += pairs[next..].iter().take_while(|pair| pair.0 == p).count();
        }
        starts.push(next);
        let members = pairs.into_iter().map(|pair| pair.1).collect();
        Holders { starts, members }
    }
}

impl History {
    /// Reads the claims of all members.
    pub(crate) fn read(
        roster: &Roster<'_>,
        generation: Option<i32>,
        warnings: &mut Warnings,
    ) -> Self {
        let mut ledger = Ledger::new(roster);
        for m in roster.members.indices() {
            ledger.enter(m, generation, warnings);
        }
        ledger.judge(warnings)
    }

    fn nobody(roster: &Roster<'_>) -> Self {
        History {
            owners: roster.topics.iter().map(|_| Holders::default()).collect(),
            standbys: roster.tables.iter().map(|_| Holders::default()).collect(),
            copies: roster.tables.iter().map(|_| Holders::default()).collect(),
        }
    }
}

/// One member's word on one topic or table.
struct Entry {
    member: MemberIx,
    /// A generation, or `UNKNOWN`.
    generation: i64,
    partitions: Ranges,
}

/// Older than every generation.
const UNKNOWN: i64 = -1;

/// All claims on what exists, before they are held against each other.
struct Ledger<'r, 'p> {
    roster: &'r Roster<'p>,
    active: IndexVec<TopicIx, Vec<Entry>>,
    standby: IndexVec<TableIx, Vec<Entry>>,
    local: IndexVec<TableIx, Vec<Entry>>,
}

impl<'r, 'p> Ledger<'r, 'p> {
    fn new(roster: &'r Roster<'p>) -> Self {
        Ledger {
            roster,
            active: roster.topics.iter().map(|_| Vec::new()).collect(),
            standby: roster.tables.iter().map(|_| Vec::new()).collect(),
            local: roster.tables.iter().map(|_| Vec::new()).collect(),
        }
    }

    fn enter(&mut self, member: MemberIx, group: Option<i32>, warnings: &mut Warnings) {
        let said = self.roster.members[member].said;
        let generation = self.generation(member, &said.active, group, warnings);
        for (name, claimed) in &said.active.partitions {
            if let Some((topic, partitions)) = self.topic_claim(member, name, claimed, warnings) {
                self.active[topic].push(Entry {
                    member,
                    generation,
                    partitions,
                });
            }
        }
        let generation = self.generation(member, &said.standby, group, warnings);
        for (name, claimed) in &said.standby.partitions {
            if let Some((table, partitions)) = self.table_claim(member, name, claimed, warnings) {
                self.standby[table].push(Entry {
                    member,
                    generation,
                    partitions,
                });
            }
        }
        for (name, claimed) in &said.local_state {
            if let Some((table, partitions)) = self.table_claim(member, name, claimed, warnings) {
                self.local[table].push(Entry {
                    member,
                    generation: UNKNOWN,
                    partitions,
                });
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
        match self
            .roster
            .topic(name)
            .filter(|topic| member.topics.contains(topic))
        {
            Some(topic) => {
                let count = self.roster.topics[topic].partitions;
                warn_of_outside(member, name, &partitions, count, warnings);
                Some((topic, partitions))
            }
            None if self.roster.partitions_of(name).is_some() => {
                member.warn(warnings, WarningKind::NotSubscribed, name, |n| {
                    format!("claims {n} {partitions} without subscribing to it")
                });
                None
            }
            None => {
                member.warn(warnings, WarningKind::UnknownTopic, name, |n| {
                    format!("claims {n} {partitions}, but there is no such topic")
                });
                None
            }
        }
    }

    fn table_claim(
        &self,
        member: MemberIx,
        name: &str,
        claimed: &Partitions,
        warnings: &mut Warnings,
    ) -> Option<(TableIx, Ranges)> {
        let partitions = named(claimed)?;
        let member = &self.roster.members[member];
        match self.roster.table(name) {
            Some(table) if member.tables.contains(&table) => {
                let count = self.roster.table_partitions(table);
                warn_of_outside(member, name, &partitions, count, warnings);
                Some((table, partitions))
            }
            Some(_) => {
                member.warn(warnings, WarningKind::UndeclaredTable, name, |n| {
                    format!("claims table {n} {partitions} without declaring it as the group does")
                });
                None
            }
            None if member.globals.contains(name) => None,
            None => {
                member.warn(warnings, WarningKind::UnknownTable, name, |n| {
                    format!("claims table {n} {partitions}, but there is no such table")
                });
                None
            }
        }
    }

    /// Holds the claims against each other.
    fn judge(self, warnings: &mut Warnings) -> History {
        let roster = self.roster;
        let mut history = History::nobody(roster);
        for (t, topic) in roster.topics.iter_enumerated() {
            let newest = self.newest(t);
            let owners = self.survivors(&self.active[t], &newest, topic.name, warnings);
            for &table in &topic.tables {
                let (entries, name) = (&self.standby[table], roster.tables[table].name);
                let standbys = self.survivors(entries, &newest, name, warnings);
                let copies = self.copies(table, &owners, &standbys);
                history.copies[table] = Holders::new(topic.partitions, copies);
                history.standbys[table] = Holders::new(topic.partitions, standbys);
            }
            history.owners[t] = Holders::new(topic.partitions, owners);
        }
        history
    }

    /// The newest generation that claims each partition of a topic, or of the tables on it.
    fn newest(&self, topic: TopicIx) -> Vec<i64> {
        let TopicEntry {
            partitions, tables, ..
        } = &self.roster.topics[topic];
        let mut newest: Vec<i64> = (0..*partitions).map(|_| UNKNOWN).collect();
        let standby = tables.iter().flat_map(|&table| &self.standby[table]);
        for entry in self.active[topic].iter().chain(standby) {
            for p in entry.partitions.inside(*partitions) {
                let newest = &mut newest[p as usize];
                *newest = entry.generation.max(*newest);
            }
        }
        newest
    }

    /// The claims that are not older than the newest.
    fn survivors(
        &self,
        entries: &[Entry],
        newest: &[i64],
        name: &str,
        warnings: &mut Warnings,
    ) -> Vec<(u32, MemberIx)> {
        let mut survivors = Vec::new();
        for entry in entries {
            let claimed = entry.partitions.inside(newest.len() as u32);
            let (kept, stale): (Vec<u32>, Vec<u32>) =
                claimed.partition(|&p| newest[p as usize] == entry.generation);
            survivors.extend(kept.into_iter().map(|p| (p, entry.member)));
            if !stale.is_empty() {
                let stale = Ranges::of_sorted(stale);
                let member = &self.roster.members[entry.member];
                member.warn(warnings, WarningKind::StaleClaim, name, |n| {
                    format!("claims {n} {stale}, which somebody claims with a newer generation")
                });
            }
        }
        survivors
    }

    fn copies(
        &self,
        table: TableIx,
        owners: &[(u32, MemberIx)],
        standbys: &[(u32, MemberIx)],
    ) -> Vec<(u32, MemberIx)> {
        let members = &self.roster.members;
        let owners = owners
            .iter()
            .filter(|(_, m)| members[*m].tables.contains(&table));
        let mut copies: Vec<(u32, MemberIx)> = owners.chain(standbys).copied().collect();
        let count = self.roster.table_partitions(table);
        for entry in &self.local[table] {
            copies.extend(entry.partitions.inside(count).map(|p| (p, entry.member)));
        }
        copies
    }
}

/// The partitions that a claim names, if any.
fn named(claimed: &Partitions) -> Option<Ranges> {
    let ranges = Ranges::normalised(claimed);
    (!ranges.is_empty()).then_some(ranges)
}

fn warn_of_outside(
    member: &MemberEntry<'_>,
    name: &str,
    claimed: &Ranges,
    count: u32,
    warnings: &mut Warnings,
) {
    let outside = claimed.outside(count);
    if !outside.is_empty() {
        member.warn(warnings, WarningKind::NoSuchPartition, name, |n| {
            format!("claims {n} {outside}, which has {count} partitions")
        });
    }
}
