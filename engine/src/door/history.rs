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

use super::ledger::{Entry, Ledger, UNKNOWN};
use super::roster::{Roster, TopicEntry};
use crate::index::{MemberIx, PartitionIx, TableIx, TopicIx};
use crate::plan::WarningKind;
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

impl Ledger<'_, '_> {
    /// Holds the claims against each other.
    fn judge(self, warnings: &mut Warnings) -> History {
        let roster = self.roster;
        let mut history = History::nobody(roster);
        for (t, topic) in roster.topics.iter_enumerated() {
            let newest = self.newest(t);
            let owners = self.survivors(&self.active[t], &newest, topic.name, warnings);
            for &table in &topic.tables {
                let (entries, name) = (&self.standby[table], roster.tables[table].name);
                let name = format!("table {name}");
                let standbys = self.survivors(entries, &newest, &name, warnings);
                let copies = self.copies(table, &owners, &standbys);
                history.copies[table] = Holders::new(topic.partitions, copies);
                history.standbys[table] = Holders::new(topic.partitions, standbys);
            }
            history.owners[t] = Holders::new(topic.partitions, owners);
        }
        history
    }

    /// The newest generation that claims each partition of a topic, or of the tables on it.
    fn newest(&self, topic: TopicIx) -> IndexVec<PartitionIx, i64> {
        let TopicEntry {
            partitions, tables, ..
        } = &self.roster.topics[topic];
        let mut newest: IndexVec<_, _> = (0..*partitions).map(|_| UNKNOWN).collect();
        let standby = tables.iter().flat_map(|&table| &self.standby[table]);
        for entry in self.active[topic].iter().chain(standby) {
            for p in entry.partitions.inside(*partitions) {
                let newest = &mut newest[PartitionIx::from_raw(p)];
                *newest = entry.generation.max(*newest);
            }
        }
        newest
    }

    /// The claims that are not older than the newest.
    fn survivors(
        &self,
        entries: &[Entry],
        newest: &IndexVec<PartitionIx, i64>,
        name: &str,
        warnings: &mut Warnings,
    ) -> Vec<(u32, MemberIx)> {
        let mut survivors = Vec::new();
        for entry in entries {
            let claimed = entry.partitions.inside(newest.len_idx().raw());
            let (kept, stale): (Vec<u32>, Vec<u32>) =
                claimed.partition(|&p| newest[PartitionIx::from_raw(p)] == entry.generation);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::samples::{claims, stateful_group};

    /// Owners of orders 0 and keepers of a copy of counts 0, by member id.
    fn judged(problem: &Problem) -> (Vec<&str>, Vec<&str>) {
        let mut warnings = Warnings::default();
        let roster = Roster::admit(problem, &mut warnings);
        let history = History::read(&roster, problem.generation, &mut warnings);
        let ids = |members: &[MemberIx]| members.iter().map(|&m| roster.members[m].id()).collect();
        let (orders, counts) = (roster.topic("orders"), roster.table("counts"));
        let (orders, counts) = (orders.expect("exists"), counts.expect("is declared"));
        (
            ids(history.owners[orders].at(0)),
            ids(history.copies[counts].at(0)),
        )
    }

    #[test]
    fn a_stale_owner_loses_to_a_newer_generation() {
        let mut problem = stateful_group(2, 2);
        problem.members[0].active = claims(7, &[("orders", &[0])]);
        problem.members[1].active = claims(9, &[("orders", &[0])]);
        assert_eq!(judged(&problem), (vec!["m2"], vec!["m2"]));
    }

    #[test]
    fn a_newer_standby_outdates_an_older_active() {
        let mut problem = stateful_group(2, 2);
        problem.members[0].active = claims(7, &[("orders", &[0])]);
        problem.members[1].standby = claims(9, &[("counts", &[0])]);
        assert_eq!(judged(&problem), (vec![], vec!["m2"]));
    }

    #[test]
    fn everybody_of_the_newest_generation_is_an_owner() {
        let mut problem = stateful_group(2, 3);
        for member in &mut problem.members[1..] {
            member.active = claims(9, &[("orders", &[0])]);
        }
        assert_eq!(judged(&problem), (vec!["m2", "m3"], vec!["m2", "m3"]));
    }

    #[test]
    fn a_generation_that_is_not_over_yet_is_the_oldest() {
        let mut problem = stateful_group(2, 2);
        problem.generation = Some(9);
        problem.members[0].active = claims(9, &[("orders", &[0])]);
        problem.members[1].active = claims(2, &[("orders", &[0])]);
        assert_eq!(judged(&problem), (vec!["m2"], vec!["m2"]));
    }

    #[test]
    fn local_state_is_a_copy_of_any_age_but_no_ownership() {
        let mut problem = stateful_group(2, 2);
        problem.members[0].active = claims(9, &[("orders", &[0])]);
        problem.members[1].local_state = claims(0, &[("counts", &[0])]).partitions;
        assert_eq!(judged(&problem), (vec!["m1"], vec!["m1", "m2"]));
    }

    #[test]
    fn an_owner_that_does_not_declare_the_table_has_no_copy() {
        let mut problem = stateful_group(2, 2);
        problem.members[0].active = claims(9, &[("orders", &[0])]);
        problem.members[0].tables.clear();
        assert_eq!(judged(&problem), (vec!["m1"], vec![]));
    }
}
