//! What our members tell the leader, and what the leader tells them.
use std::collections::BTreeMap;

use crate::PartitionSet;

/// What a member had, as of one generation; partitions by topic (actives) or table (standbys).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The group generation of the assignment that gave them; `None` when unknown.
    pub generation: Option<i32>,
    /// Partitions by topic or table name.
    pub partitions: BTreeMap<String, PartitionSet>,
}

/// A table and the topic it is co-partitioned with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table {
    /// Name, unique in the application.
    pub name: String,
    /// Source topic: partition `p` of the table belongs to partition `p` of this topic.
    pub source: String,
    /// Changelog topic; not subscribed to.
    pub changelog: String,
}

/// A table that every member holds whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalTable {
    /// Name, unique in the application.
    pub name: String,
    /// Partitions of its changelog; the leader has no metadata for it.
    pub partitions: u32,
}

/// User data of a subscription: member to leader.
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
    /// Relative capacity, at least 1.
    pub capacity: u32,
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

/// An error that every member of the group is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Stable code, see DESIGN.md.
    pub code: u16,
    /// A sentence for a person.
    pub text: String,
}

/// User data of an assignment, the member's own part: leader to member.
///
/// Actives are in the consumer protocol's own partition list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignmentUserData {
    /// Generation this assignment belongs to (in the envelope).
    pub generation: Option<i32>,
    /// Counter of the leader that made it, for ordering within a generation.
    pub epoch: u64,
    /// Standbys, by table.
    pub standby: BTreeMap<String, PartitionSet>,
    /// Global tables the member keeps whole.
    pub global: Vec<GlobalTable>,
    /// What the group cannot mend by retrying.
    pub errors: Vec<Delivered>,
}

/// Who serves which partition; the same bytes for every member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Hosts, sorted; the other fields index into it.
    pub hosts: Vec<String>,
    /// One entry per co-partition group.
    pub groups: Vec<GroupRoutes>,
}

/// Routes of one co-partition group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRoutes {
    /// Topics of the group, sorted.
    pub topics: Vec<String>,
    /// Tables of the group, sorted.
    pub tables: Vec<String>,
    /// Partition count that the topics share.
    pub partitions: u32,
    /// Active hosts with their partitions.
    pub active: Vec<Served>,
    /// Standby copies; those of one partition are in order of preference.
    pub standby: Vec<ServedCopy>,
}

/// Partitions that a host serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Index into [`Routes::hosts`].
    pub host: u32,
    /// Partition numbers.
    pub partitions: PartitionSet,
}

/// Standby copies that a host keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedCopy {
    /// Index into [`Routes::hosts`].
    pub host: u32,
    /// Indices into [`GroupRoutes::tables`] of the tables it keeps copies of.
    pub tables: Vec<u32>,
    /// Partition numbers.
    pub partitions: PartitionSet,
}
