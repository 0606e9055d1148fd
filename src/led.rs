//! A rebalance as its leader saw it: for logs, and for whoever wants to watch the group.
use std::collections::BTreeMap;

use rdkafka_assignor_engine::Report;

use crate::delivered::DeliveredError;
use crate::partitions::PartitionSets;

/// A rebalance that this member decided as the group's leader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Led {
    /// Group id.
    pub group: String,
    /// The generation that it formed.
    pub generation: i32,
    /// Counter of this leader's rebalances; never goes back.
    pub epoch: u64,
    /// What every member got, by member id.
    pub members: BTreeMap<String, Share>,
    /// Moves with reasons, and the values of the objectives, of the target. What is withheld in this round has not
    /// moved yet.
    pub report: Report,
    /// What was not believed or not understood.
    pub warnings: Vec<LeaderWarning>,
    /// What every member was told.
    pub errors: Vec<DeliveredError>,
    /// Bytes of all assignments together, user data included.
    pub bytes: usize,
}

/// One member's share of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Share {
    /// `host:port` at which other members reach this one, if it told one.
    pub host: Option<String>,
    /// Active partitions, by topic.
    pub active: PartitionSets,
    /// Active partitions that are to come once their owners have given them up, by topic.
    pub withheld: PartitionSets,
    /// Standby copies, by table.
    pub standby: PartitionSets,
    /// Global tables kept whole, with their partition counts.
    pub global: BTreeMap<String, u32>,
}

/// Something a member sent that was not believed or not understood; nothing of it fails a rebalance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LeaderWarning {
    /// Member it is about; `None` when it is about the group.
    pub member: Option<String>,
    /// What kind, in kebab case.
    pub kind: &'static str,
    /// A sentence for a person.
    pub detail: String,
}

impl LeaderWarning {
    pub(crate) fn of(member: &str, kind: &'static str, detail: impl Into<String>) -> Self {
        LeaderWarning {
            member: Some(member.to_owned()),
            kind,
            detail: detail.into(),
        }
    }
}
