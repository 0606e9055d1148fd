//! Member to leader: who it is, what it had, what it declares.
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::body::{Body, Fields, fields};
use super::envelope::{Envelope, Kind, open};
use super::lists::Ascending;
use super::part::{MAX_INFLATED, Part};
use super::{GlobalTable, ReadUserDataError, WriteUserDataError};
use crate::PartitionSet;

const PART: Part = Part {
    name: "subscription",
    max_inflated: MAX_INFLATED,
};

/// What a member had, as of one generation; partitions by topic (actives) or table (standbys).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The group generation of the assignment that gave them; `None` when unknown.
    pub generation: Option<i32>,
    /// Partitions by topic or table name.
    pub partitions: BTreeMap<String, PartitionSet>,
}

/// A table and the topic it is co-partitioned with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Table {
    /// Name, unique in the application.
    pub name: String,
    /// Source topic: partition `p` of the table belongs to partition `p` of this topic.
    pub source: String,
    /// Changelog topic; not subscribed to.
    pub changelog: String,
}

/// User data of a subscription: member to leader.
///
/// Lists come back sorted and without duplicates. Negative generations are Kafka's way to say none and come back as
/// `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionUserData {
    /// Generation of the member's last assignment (in the envelope); `None` before the first.
    pub generation: Option<i32>,
    /// Application id.
    pub app_id: String,
    /// `host:port` at which other members' queries reach this one; `None` is not routable.
    pub host: Option<String>,
    /// Rack or zone.
    pub rack: Option<String>,
    /// Relative capacity.
    pub capacity: NonZeroU32,
    /// Actives it had, by topic.
    pub active: Claims,
    /// Standbys it had, by table.
    pub standby: Claims,
    /// Table partitions whose state is on its disk, whoever owned them.
    pub local_state: BTreeMap<String, PartitionSet>,
    /// Tables it declares.
    pub tables: Vec<Table>,
    /// Global tables it declares.
    pub global_tables: Vec<GlobalTable>,
    /// Standby copies per stateful task.
    pub standby_replicas: u32,
    /// Declared co-partition sets; `None` is automatic grouping.
    pub copartition: Option<Vec<Vec<String>>>,
    /// Records a copy is behind its changelog, by table and partition.
    pub lag: BTreeMap<String, BTreeMap<u32, u64>>,
    /// Changes when a rebalance is wanted although nothing else did.
    pub nonce: u64,
}

impl SubscriptionUserData {
    /// A newcomer with capacity 1 that claims and declares nothing.
    pub fn new(app_id: impl Into<String>) -> Self {
        SubscriptionUserData {
            generation: None,
            app_id: app_id.into(),
            host: None,
            rack: None,
            capacity: NonZeroU32::MIN,
            active: Claims::default(),
            standby: Claims::default(),
            local_state: BTreeMap::new(),
            tables: Vec::new(),
            global_tables: Vec::new(),
            standby_replicas: 0,
            copartition: None,
            lag: BTreeMap::new(),
            nonce: 0,
        }
    }

    /// The bytes; equal for equal values and for any order of the lists.
    ///
    /// # Errors
    /// When readers would refuse it: too large, or more than
    /// [`MAX_PARTITION_COUNT`](crate::MAX_PARTITION_COUNT) partitions of a global table.
    pub fn encode(&self) -> Result<Vec<u8>, WriteUserDataError> {
        let mut bytes = Vec::new();
        Envelope::new(Kind::Subscription, self.generation).write(&mut bytes);
        bytes.extend(PART.pack(&self.body()?)?);
        Ok(bytes)
    }

    /// Reads user data of a subscription, of this version or of a newer one that allows it.
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(user_data: &[u8]) -> Result<Self, ReadUserDataError> {
        let (envelope, parts) = open(user_data, Kind::Subscription)?;
        let (stream, rest) = PART.split(parts)?;
        if !rest.is_empty() && !envelope.is_newer() {
            return Err(ReadUserDataError::Trailing { part: PART.name });
        }
        Self::from_body(&PART.inflate(stream)?, envelope)
    }

    fn body(&self) -> Result<Vec<u8>, WriteUserDataError> {
        let mut body = Body::default();
        body.put("app_id", &self.app_id)?;
        body.put("host", &self.host)?;
        body.put("rack", &self.rack)?;
        body.put("capacity", &self.capacity)?;
        body.put("active.generation", &known(self.active.generation))?;
        body.put("active.partitions", &self.active.partitions)?;
        body.put("standby.generation", &known(self.standby.generation))?;
        body.put("standby.partitions", &self.standby.partitions)?;
        body.put("local_state", &self.local_state)?;
        body.put("tables", &self.tables.iter().collect::<BTreeSet<_>>())?;
        body.put_global_tables("global_tables", &self.global_tables)?;
        body.put("standby_replicas", &self.standby_replicas)?;
        body.put("copartition", &self.copartition.as_deref().map(sets))?;
        body.put("lag", &self.lag)?;
        body.put("nonce", &self.nonce)?;
        Ok(body.into_bytes())
    }

    fn from_body(body: &[u8], envelope: Envelope) -> Result<Self, ReadUserDataError> {
        let mut fields = fields(body);
        let member = SubscriptionUserData {
            generation: envelope.generation,
            app_id: fields.next("app_id")?,
            host: fields.next("host")?,
            rack: fields.next("rack")?,
            capacity: fields.next("capacity")?,
            active: Claims {
                generation: fields.next_generation("active.generation")?,
                partitions: fields.next_ascending("active.partitions")?,
            },
            standby: Claims {
                generation: fields.next_generation("standby.generation")?,
                partitions: fields.next_ascending("standby.partitions")?,
            },
            local_state: fields.next_ascending("local_state")?,
            tables: fields.next_ascending("tables")?,
            global_tables: fields.next_global_tables("global_tables")?,
            standby_replicas: fields.next("standby_replicas")?,
            copartition: next_sets(&mut fields)?,
            lag: next_lag(&mut fields)?,
            nonce: fields.next("nonce")?,
        };
        fields.finish(PART.name, envelope.is_newer())?;
        Ok(member)
    }
}

/// A generation on the wire: never negative.
fn known(generation: Option<i32>) -> Option<u32> {
    generation.and_then(|generation| u32::try_from(generation).ok())
}

fn sets(declared: &[Vec<String>]) -> BTreeSet<BTreeSet<&String>> {
    declared.iter().map(|set| set.iter().collect()).collect()
}

fn next_sets(fields: &mut Fields<'_>) -> Result<Option<Vec<Vec<String>>>, ReadUserDataError> {
    let declared: Option<Ascending<Vec<Ascending<Vec<String>>>>> = fields.next("copartition")?;
    Ok(declared.map(|Ascending(sets)| sets.into_iter().map(|Ascending(set)| set).collect()))
}

fn next_lag(
    fields: &mut Fields<'_>,
) -> Result<BTreeMap<String, BTreeMap<u32, u64>>, ReadUserDataError> {
    let tables: BTreeMap<String, Ascending<BTreeMap<u32, u64>>> = fields.next_ascending("lag")?;
    let lags = tables
        .into_iter()
        .map(|(table, Ascending(lag))| (table, lag));
    Ok(lags.collect())
}
