//! What a leader knows about its group. Claims are taken as they come; nothing here is trusted.
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;

/// Partition numbers as a member claims them: any ranges, in any order, out of range too.
pub type Partitions = Vec<Range<i64>>;

/// A group to be placed.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// Topics that exist, by name.
    pub topics: BTreeMap<String, Topic>,
    /// Members, in any order.
    pub members: Vec<Member>,
    /// The application's leader topic: never grouped, weighs nothing.
    pub leader_topic: Option<String>,
    /// The group's own generation; claims that are not below it count as unknown.
    pub generation: Option<i32>,
}

/// A topic that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// Number of partitions.
    pub partitions: u32,
    /// Racks of each partition's replicas; empty when unknown.
    pub replica_racks: Vec<Vec<String>>,
}

/// A member of the group and what it says of itself.
#[derive(Clone, Debug)]
pub struct Member {
    /// Member id, unique in the group.
    pub id: String,
    /// Static membership id.
    pub instance: Option<String>,
    /// Rack or zone; an unknown rack is its own.
    pub rack: Option<String>,
    /// Relative capacity.
    pub capacity: NonZeroU32,
    /// Subscribed topics.
    pub topics: Vec<String>,
    /// Tables it declares.
    pub tables: Vec<Table>,
    /// Global tables it declares.
    pub global_tables: Vec<GlobalTable>,
    /// Standby copies it wants per stateful task; the largest in the group counts.
    pub standby_replicas: u32,
    /// Its co-partition sets, if it declares any.
    pub copartition: Copartition,
    /// Actives it had, by topic.
    pub active: Claims,
    /// Standbys it had, by table.
    pub standby: Claims,
    /// Table partitions whose state is on its disk; knows no generation.
    pub local_state: BTreeMap<String, Partitions>,
}

impl Member {
    /// A newcomer with capacity 1, no tables, no claims and automatic grouping.
    pub fn new(id: impl Into<String>, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Member {
            id: id.into(),
            instance: None,
            rack: None,
            capacity: NonZeroU32::MIN,
            topics: topics.into_iter().map(Into::into).collect(),
            tables: Vec::new(),
            global_tables: Vec::new(),
            standby_replicas: 0,
            copartition: Copartition::Automatic,
            active: Claims::default(),
            standby: Claims::default(),
            local_state: BTreeMap::new(),
        }
    }
}

/// What a member had, as of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Generation of the assignment that gave them; `None` is unknown, the oldest.
    pub generation: Option<i32>,
    /// Partitions by topic (actives) or table (standbys).
    pub partitions: BTreeMap<String, Partitions>,
}

/// A table: partition `p` belongs with partition `p` of its source topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table {
    /// Name, unique in the application.
    pub name: String,
    /// Source topic.
    pub source: String,
}

/// A table that every member that declares it holds whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalTable {
    /// Name, unique in the application.
    pub name: String,
    /// Partitions of its changelog.
    pub partitions: u32,
}

/// How a member wants topics to be co-partitioned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Copartition {
    /// Nothing declared: topics of equal partition count and equal subscribers go together.
    #[default]
    Automatic,
    /// Exactly these sets go together; every other topic is on its own.
    Declared(Vec<Vec<String>>),
}
