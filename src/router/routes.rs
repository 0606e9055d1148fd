//! Everybody's routes of one round, ready to be asked.
//!
//! Relies on [`protocol::Routes`](rdkafka_assignor_protocol::Routes) to have refused what points nowhere. Memory is bounded
//! by what was read: partitions stay in ranges, and views of tables and topics borrow.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rdkafka_assignor_protocol::{self as protocol, PartitionSet};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::epoch::Epoch;
use crate::held::Held;

/// Who serves what, as of one rebalance; empty before the first.
///
/// Serialises to `{"epoch": .., "tables": {name: ..}, "topics": {name: ..}}`, with a [`Served`] for each.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    epoch: Option<Epoch>,
    hosts: Vec<String>,
    groups: Vec<Group>,
    /// Group, and index among its tables.
    tables: BTreeMap<String, (usize, u32)>,
    topics: BTreeMap<String, usize>,
    /// What this member was given in the same round.
    given: Held,
}

/// One co-partition group.
#[derive(Clone, Debug, Default)]
struct Group {
    topics: Vec<String>,
    tables: Vec<String>,
    partitions: u32,
    /// Ascending, with the index of the host; without overlaps.
    active: Vec<(Range<u32>, u32)>,
    copies: Vec<protocol::ServedCopy>,
}

/// A name that two groups have: nobody can tell what its routes are.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is in two groups")]
pub(crate) struct InTwoGroups(String);

impl Routes {
    /// Nothing but an epoch.
    pub(super) fn empty(epoch: Epoch) -> Self {
        Routes {
            epoch: Some(epoch),
            ..Routes::default()
        }
    }

    /// What the leader sent in the round in which this member was given `given`.
    pub(super) fn of(
        read: protocol::Routes,
        epoch: Epoch,
        given: Held,
    ) -> Result<Self, InTwoGroups> {
        let mut routes = Routes {
            hosts: read.hosts,
            given,
            ..Routes::empty(epoch)
        };
        for (group, read) in read.groups.into_iter().enumerate() {
            for (table, name) in (0..).zip(&read.tables) {
                unique(&mut routes.tables, name, (group, table))?;
            }
            for name in &read.topics {
                unique(&mut routes.topics, name, group)?;
            }
            routes.groups.push(Group::of(read));
        }
        Ok(routes)
    }

    /// As of when; `None` before the first assignment.
    pub fn epoch(&self) -> Option<Epoch> {
        self.epoch
    }

    /// Whether nobody serves anything, as far as this member knows.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Who serves the table.
    pub fn table(&self, name: &str) -> Option<Served<'_>> {
        let (name, (group, table)) = self.tables.get_key_value(name)?;
        self.served(name, *group, Some(*table))
    }

    /// Who serves the topic.
    pub fn topic(&self, name: &str) -> Option<Served<'_>> {
        let (name, group) = self.topics.get_key_value(name)?;
        self.served(name, *group, None)
    }

    /// All tables, in order of names. Global tables are everywhere and have no routes.
    pub fn tables(&self) -> impl Iterator<Item = Served<'_>> {
        let tables = self.tables.iter();
        tables.filter_map(|(name, (group, table))| self.served(name, *group, Some(*table)))
    }

    /// All topics, in order of names. The leader topic has no routes.
    pub fn topics(&self) -> impl Iterator<Item = Served<'_>> {
        let topics = self.topics.iter();
        topics.filter_map(|(name, group)| self.served(name, *group, None))
    }

    fn served<'a>(&'a self, name: &'a str, group: usize, table: Option<u32>) -> Option<Served<'a>> {
        Some(Served {
            name,
            hosts: &self.hosts,
            group: self.groups.get(group)?,
            table,
            given: &self.given,
        })
    }
}

fn unique<T>(names: &mut BTreeMap<String, T>, name: &str, place: T) -> Result<(), InTwoGroups> {
    match names.insert(name.to_owned(), place) {
        None => Ok(()),
        Some(_) => Err(InTwoGroups(name.to_owned())),
    }
}

impl Group {
    fn of(read: protocol::GroupRoutes) -> Self {
        let ranges = |served: &protocol::Served| {
            let host = served.host;
            let ranges = served.partitions.ranges().to_vec();
            ranges.into_iter().map(move |range| (range, host))
        };
        let mut active: Vec<_> = read.active.iter().flat_map(ranges).collect();
        active.sort_unstable_by_key(|(range, _)| range.start);
        Group {
            topics: read.topics,
            tables: read.tables,
            partitions: read.partitions,
            active,
            copies: read.standby,
        }
    }

    fn active(&self, partition: u32) -> Option<u32> {
        let after = self
            .active
            .partition_point(|(range, _)| range.start <= partition);
        let (range, host) = self.active.get(after.checked_sub(1)?)?;
        range.contains(&partition).then_some(*host)
    }
}

/// Who serves one table or one topic.
///
/// Serialises to `{"partitions": 8, "active": {host: "0-3,7"}, "standby": {host: "4-6"}}`.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    name: &'a str,
    hosts: &'a [String],
    group: &'a Group,
    /// A table's index; a topic has none.
    table: Option<u32>,
    given: &'a Held,
}

impl<'a> Served<'a> {
    /// The table or topic.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// How many partitions it has.
    pub fn partitions(&self) -> u32 {
        self.group.partitions
    }

    /// Where the partition is active; `None` while it is at nobody, as between two owners, or at a member without host.
    pub fn active(&self, partition: u32) -> Option<&'a str> {
        self.host(self.group.active(partition)?)
    }

    /// Where standby copies of the partition are, best first, each host once. A topic's are those of the tables that go
    /// together with it.
    pub fn standbys(&self, partition: u32) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        let copies = self.copies().filter(|c| c.partitions.contains(partition));
        let hosts = copies.filter_map(|copy| self.host(copy.host));
        hosts.filter(|host| seen.insert(*host)).collect()
    }

    /// Whether the member that has these holdings is active for the partition.
    pub(super) fn active_in(&self, held: &Held, partition: i32) -> bool {
        let mut topics = self.group.topics.iter();
        topics.all(|topic| held.is_active(topic, partition)) && !self.group.topics.is_empty()
    }

    /// Whether the member that has these holdings keeps a copy of the partition.
    pub(super) fn standby_in(&self, held: &Held, partition: i32) -> bool {
        let mut tables = self.group.tables.iter();
        match self.table {
            Some(_) => held.is_standby(self.name, partition),
            None => tables.any(|table| held.is_standby(table, partition)),
        }
    }

    /// What this member was given in the round that these routes are of.
    pub(super) fn given(&self) -> &'a Held {
        self.given
    }

    fn copies(&self) -> impl Iterator<Item = &'a protocol::ServedCopy> {
        let table = self.table;
        let kept = move |copy: &&protocol::ServedCopy| {
            table.is_none_or(|table| copy.tables.binary_search(&table).is_ok())
        };
        self.group.copies.iter().filter(kept)
    }

    fn host(&self, index: u32) -> Option<&'a str> {
        let index = usize::try_from(index).ok()?;
        self.hosts.get(index).map(String::as_str)
    }

    /// Active partitions by host.
    fn active_by_host(&self) -> BTreeMap<&'a str, PartitionSet> {
        let active = self.group.active.iter();
        self.by_host(active.map(|(range, host)| (*host, range)))
    }

    /// Copies by host.
    fn standby_by_host(&self) -> BTreeMap<&'a str, PartitionSet> {
        self.by_host(self.copies().flat_map(|copy| {
            let ranges = copy.partitions.ranges().iter();
            ranges.map(move |range| (copy.host, range))
        }))
    }

    fn by_host<'r>(
        &self,
        served: impl Iterator<Item = (u32, &'r Range<u32>)>,
    ) -> BTreeMap<&'a str, PartitionSet> {
        let mut ranges = BTreeMap::<&str, Vec<Range<u32>>>::new();
        for (host, range) in served {
            if let Some(host) = self.host(host) {
                ranges.entry(host).or_default().push(range.clone());
            }
        }
        let hosts = ranges.into_iter();
        hosts
            .map(|(host, ranges)| (host, ranges.into_iter().collect()))
            .collect()
    }
}

impl Serialize for Routes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut routes = serializer.serialize_struct("Routes", 3)?;
        routes.serialize_field("epoch", &self.epoch)?;
        routes.serialize_field("tables", &ByName(|| self.tables()))?;
        routes.serialize_field("topics", &ByName(|| self.topics()))?;
        routes.end()
    }
}

impl Serialize for Served<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut served = serializer.serialize_struct("Served", 3)?;
        served.serialize_field("partitions", &self.partitions())?;
        served.serialize_field("active", &Ranges(&self.active_by_host()))?;
        served.serialize_field("standby", &Ranges(&self.standby_by_host()))?;
        served.end()
    }
}

/// One view after the other, so that no more than one is written out at a time.
struct ByName<F>(F);

impl<'a, F: Fn() -> I, I: Iterator<Item = Served<'a>>> Serialize for ByName<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)().map(|served| (served.name, served)))
    }
}

/// Partitions as people write them: `0-3,7`.
struct Ranges<'a>(&'a BTreeMap<&'a str, PartitionSet>);

impl Serialize for Ranges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (host, set) in self.0 {
            map.serialize_entry(host, &set.to_string())?;
        }
        map.end()
    }
}
