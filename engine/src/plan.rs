//! What the engine answers: who gets what, and why.
use std::collections::BTreeMap;

/// The answer: every member's share, and the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every member's share by member id, also one that gets nothing.
    pub members: BTreeMap<String, MemberPlan>,
    /// The co-partition groups that were placed, in order of their first topic; the leader topic is none of them.
    pub groups: Vec<CopartitionGroup>,
    /// What was wrong with what members said; nothing of it fails the plan.
    pub warnings: Vec<Warning>,
    /// What the group cannot mend by retrying; the affected groups stay unassigned.
    pub errors: Vec<GroupError>,
    /// Moves with reasons, and the values of the objectives.
    pub report: Report,
}

/// One member's share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberPlan {
    /// Active partitions by topic, sorted.
    pub active: BTreeMap<String, Vec<u32>>,
    /// Standby partitions by table, sorted.
    pub standby: BTreeMap<String, Vec<u32>>,
    /// Partition counts of the global tables that it holds whole. A count and not a list, because it is a
    /// member's word and may be huge.
    pub global: BTreeMap<String, u32>,
}

/// Topics whose equal partition numbers go together, with the tables that hang on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopartitionGroup {
    /// Topics, sorted.
    pub topics: Vec<String>,
    /// Tables whose source is one of the topics, sorted; none makes the group stateless.
    pub tables: Vec<String>,
    /// Partition count that the topics share.
    pub partitions: u32,
}

/// Something a member said that was not believed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Member it is about; `None` when it is about the group.
    pub member: Option<String>,
    /// What kind.
    pub kind: WarningKind,
    /// A sentence for a person.
    pub detail: String,
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// Two members with one id; the one with the newest claims is kept.
    DuplicateMember,
    /// A topic or table that one member names twice.
    DuplicateName,
    /// A subscription to, or a claim on, a topic that does not exist.
    UnknownTopic,
    /// A claim on a topic that the member does not subscribe to.
    NotSubscribed,
    /// A claim on a table that nobody declares.
    UnknownTable,
    /// A claim on a table that the member does not declare.
    UndeclaredTable,
    /// A claim on a partition that does not exist.
    NoSuchPartition,
    /// A claim that is older than another one on the same partition.
    StaleClaim,
    /// Claims of a generation that the group has not completed yet; they count as the oldest.
    FutureGeneration,
    /// A table whose source topic is unknown, or not subscribed to by the member.
    SourceNotSubscribed,
    /// Members disagree on the source topic of a table.
    SourceMismatch,
    /// Members disagree on the number of standby replicas; the largest counts.
    ReplicasMismatch,
    /// Members disagree on the partition count of a global table; the largest counts.
    GlobalMismatch,
    /// Members declare different co-partition sets; they are united.
    CopartitionMismatch,
    /// The leader topic cannot be grouped or be the source of a table.
    LeaderTopic,
}

impl WarningKind {
    /// A stable name in kebab case, for logs and for the command's output.
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::DuplicateMember => "duplicate-member",
            WarningKind::DuplicateName => "duplicate-name",
            WarningKind::UnknownTopic => "unknown-topic",
            WarningKind::NotSubscribed => "not-subscribed",
            WarningKind::UnknownTable => "unknown-table",
            WarningKind::UndeclaredTable => "undeclared-table",
            WarningKind::NoSuchPartition => "no-such-partition",
            WarningKind::StaleClaim => "stale-claim",
            WarningKind::FutureGeneration => "future-generation",
            WarningKind::SourceNotSubscribed => "source-not-subscribed",
            WarningKind::SourceMismatch => "source-mismatch",
            WarningKind::ReplicasMismatch => "replicas-mismatch",
            WarningKind::GlobalMismatch => "global-mismatch",
            WarningKind::CopartitionMismatch => "copartition-mismatch",
            WarningKind::LeaderTopic => "leader-topic",
        }
    }
}

/// Something that retrying does not mend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupError {
    /// What kind.
    pub kind: GroupErrorKind,
    /// A sentence for a person.
    pub detail: String,
    /// The topics that stay unassigned, sorted.
    pub topics: Vec<String>,
}

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupErrorKind {
    /// Topics of a declared set differ in partition count: the whole set stays unassigned.
    CopartitionMismatch,
    /// A topic of a declared set does not exist: the whole set stays unassigned.
    NoSuchTopic,
    /// Not all subscribers of a declared set subscribe to a topic of it: that topic stays unassigned.
    IncompleteSubscription,
}

impl GroupErrorKind {
    /// A stable name in kebab case, for logs and for the command's output.
    pub fn name(self) -> &'static str {
        match self {
            GroupErrorKind::CopartitionMismatch => "copartition-mismatch",
            GroupErrorKind::NoSuchTopic => "no-such-topic",
            GroupErrorKind::IncompleteSubscription => "incomplete-subscription",
        }
    }
}

/// Moves, and the values of the ranked objectives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What changes against the claims; what stays is not listed, nor are global copies.
    pub moves: Vec<Move>,
    /// Objective 4: topic-partitions claimed, but not by their new owner.
    pub active_moved: u64,
    /// Objective 3: stateful tasks whose active has no copy.
    pub active_cold: u64,
    /// Objective 7: standbys on members without a copy.
    pub standby_moved: u64,
    /// Largest minus smallest load in tasks over members with subscriptions; the leader topic weighs nothing.
    pub active_spread: u64,
    /// The same of standby load.
    pub standby_spread: u64,
}

/// One task or standby that changes hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Active or standby.
    pub role: Role,
    /// Topics that come from `from` (actives), or the one table (standbys).
    pub names: Vec<String>,
    /// Partition number.
    pub partition: u32,
    /// Member it leaves; `None` is nobody.
    pub from: Option<String>,
    /// Member it goes to; `None` is nobody.
    pub to: Option<String>,
    /// What happens to its state.
    pub kind: MoveKind,
    /// A sentence for a person.
    pub reason: String,
}

/// What a move is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The task's active.
    Active,
    /// A standby copy.
    Standby,
}

/// What a move means for the task's state; of several the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveKind {
    /// The new owner had a copy but was not the active.
    Promoted,
    /// A stateful task goes to a member without a copy.
    Cold,
    /// Nobody claimed it.
    New,
    /// It had another owner.
    Moved,
}
