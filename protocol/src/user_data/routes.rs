//! Who serves which partition: one block, the same bytes for every member, compressed once.
use serde::{Deserialize, Serialize};

use super::body::{Body, fields};
use super::envelope::{Envelope, Kind, open};
use super::lists::{ascending, listed};
use super::part::{MAX_ROUTES_INFLATED, Part};
use super::{Fault, ReadUserDataError, WriteUserDataError, assignment, check_count};
use crate::PartitionSet;

const PART: Part = Part {
    name: "routes",
    max_inflated: MAX_ROUTES_INFLATED,
};

/// Who serves which partition; the same bytes for every member.
///
/// There is one way to say it: `hosts`, the `topics` and `tables` of a group and the `active` hosts of a group
/// ascend strictly, and no partition of a group has two actives. Neither writer nor reader accepts anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Hosts, sorted; the other fields index into it.
    pub hosts: Vec<String>,
    /// One entry per co-partition group, sorted by topics.
    pub groups: Vec<GroupRoutes>,
}

/// Routes of one co-partition group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRoutes {
    /// Topics of the group, sorted.
    #[serde(deserialize_with = "ascending")]
    pub topics: Vec<String>,
    /// Tables of the group, sorted.
    #[serde(deserialize_with = "ascending")]
    pub tables: Vec<String>,
    /// Partition count that the topics share.
    pub partitions: u32,
    /// Active hosts with their partitions, sorted by host.
    #[serde(deserialize_with = "listed")]
    pub active: Vec<Served>,
    /// Standby copies; those of one partition are in order of preference.
    #[serde(deserialize_with = "listed")]
    pub standby: Vec<ServedCopy>,
}

/// Partitions that a host serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Index into [`Routes::hosts`].
    pub host: u32,
    /// Partition numbers.
    pub partitions: PartitionSet,
}

/// Standby copies that a host keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedCopy {
    /// Index into [`Routes::hosts`].
    pub host: u32,
    /// Indices into [`GroupRoutes::tables`] of the tables it keeps copies of, ascending.
    #[serde(deserialize_with = "ascending")]
    pub tables: Vec<u32>,
    /// Partition numbers.
    pub partitions: PartitionSet,
}

/// A route block, ready to be put into any number of assignments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EncodedRoutes(Vec<u8>);

impl EncodedRoutes {
    /// The block of an assignment that has no routes.
    pub(super) const NONE: &[u8] = &[0; 4];

    /// The bytes that every assignment grows by.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Routes {
    /// The block to put into assignments.
    ///
    /// # Errors
    /// When readers would refuse it: too large, or not in the one order described above.
    pub fn encode(&self) -> Result<EncodedRoutes, WriteUserDataError> {
        self.check()?;
        let mut body = Body::default();
        body.put("hosts", &self.hosts)?;
        body.put("groups", &self.groups)?;
        PART.pack(&body.into_bytes()).map(EncodedRoutes)
    }

    /// Reads the route block of an assignment's user data, if there is one; the member's own part is skipped
    /// unread.
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(user_data: &[u8]) -> Result<Option<Self>, ReadUserDataError> {
        let (envelope, parts) = open(user_data, Kind::Assignment)?;
        let (_, parts) = assignment::PART.split(parts)?;
        let (stream, rest) = PART.split(parts)?;
        if !rest.is_empty() && !envelope.is_newer() {
            return Err(ReadUserDataError::Trailing { part: PART.name });
        }
        match stream {
            [] => Ok(None),
            _ => Self::from_body(&PART.inflate(stream)?, envelope).map(Some),
        }
    }

    fn from_body(body: &[u8], envelope: Envelope) -> Result<Self, ReadUserDataError> {
        let mut fields = fields(body);
        let routes = Routes {
            hosts: fields.next_ascending("hosts")?,
            groups: fields.next_listed("groups")?,
        };
        fields.finish(PART.name, envelope.is_newer())?;
        routes.check()?;
        Ok(routes)
    }

    fn check(&self) -> Result<(), Fault> {
        Fault::unless(
            self.hosts.is_sorted_by(|a, b| a < b),
            "hosts",
            "do not ascend",
        )?;
        let groups_ascend = self.groups.is_sorted_by(|a, b| a.topics < b.topics);
        Fault::unless(groups_ascend, "groups", "do not ascend")?;
        self.groups
            .iter()
            .try_for_each(|group| group.check(self.hosts.len()))
    }
}

impl GroupRoutes {
    fn check(&self, hosts: usize) -> Result<(), Fault> {
        check_count("groups.partitions", self.partitions)?;
        let ascend = |names: &[String]| names.is_sorted_by(|a, b| a < b);
        Fault::unless(ascend(&self.topics), "groups.topics", "do not ascend")?;
        Fault::unless(ascend(&self.tables), "groups.tables", "do not ascend")?;
        self.check_active(hosts)?;
        self.standby
            .iter()
            .try_for_each(|copy| self.check_copy(copy, hosts))
    }

    fn check_active(&self, hosts: usize) -> Result<(), Fault> {
        const FIELD: &str = "groups.active";
        let ascend = self.active.is_sorted_by(|a, b| a.host < b.host);
        Fault::unless(ascend, FIELD, "hosts do not ascend")?;
        for served in &self.active {
            Fault::unless(within(served.host, hosts), FIELD, "no such host")?;
            Fault::unless(self.has(&served.partitions), FIELD, "no such partition")?;
        }
        let ranges = self
            .active
            .iter()
            .flat_map(|served| served.partitions.ranges());
        let all: PartitionSet = ranges.cloned().collect();
        let sum: u64 = self
            .active
            .iter()
            .map(|served| served.partitions.len())
            .sum();
        Fault::unless(all.len() == sum, FIELD, "a partition with two actives")
    }

    fn check_copy(&self, copy: &ServedCopy, hosts: usize) -> Result<(), Fault> {
        const FIELD: &str = "groups.standby";
        let tables = self.tables.len();
        let ascend = copy.tables.is_sorted_by(|a, b| a < b);
        let exist = copy.tables.iter().all(|&table| within(table, tables));
        Fault::unless(within(copy.host, hosts), FIELD, "no such host")?;
        Fault::unless(ascend, FIELD, "tables do not ascend")?;
        Fault::unless(exist, FIELD, "no such table")?;
        Fault::unless(self.has(&copy.partitions), FIELD, "no such partition")
    }

    fn has(&self, partitions: &PartitionSet) -> bool {
        partitions.last().is_none_or(|last| last < self.partitions)
    }
}

fn within(index: u32, length: usize) -> bool {
    usize::try_from(index).is_ok_and(|index| index < length)
}
