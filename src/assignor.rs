//! The plug: what a partition assignor of one's own has to say.
//!
//! An [`Assignor`] sees the group as the leader sees it and answers with a target for every member. Everything
//! that keeps a group alive is done around it: claims of zombies are fenced by generation, partitions that
//! another member still owns are held back in cooperative mode, invalid targets are refused piece by piece.
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rdkafka::ClientConfig;

use crate::plugin::Client;

/// Partitions by topic.
///
/// What an assignor is handed is sorted and without duplicates; what it returns may come in any order.
pub type TopicPartitions = BTreeMap<String, Vec<i32>>;

/// A partition assignment strategy.
///
/// Methods run on librdkafka's main thread, [`on_revoked`](Assignor::on_revoked) on the one that polls the consumer,
/// [`attach`](Assignor::attach) and [`detach`](Assignor::detach) where it is created and dropped. They must not call
/// the consumer (that deadlocks), and they must not assume a tokio runtime. The subscriber of `tracing` is that of
/// the thread that created the consumer. A panic is caught and logged; what it means is said with each method, and
/// where nothing is said it means nothing.
pub trait Assignor: Send + Sync + 'static {
    /// The name users write into `partition.assignment.strategy`; all members of a group must know it.
    fn name(&self) -> &str;

    /// Whether members give up everything before a rebalance, or only what moves.
    fn protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    /// Settings that the assignor needs in the consumer's configuration, such as `client.rack`; applied to a copy of it
    /// before the consumer is created.
    fn configure(&self, config: &mut ClientConfig) {
        let _ = config;
    }

    /// A consumer is being created with this assignor; an error refuses the creation.
    ///
    /// One assignor may serve several consumers; [`Client::id`] tells them apart in the other methods.
    ///
    /// # Errors
    /// Whatever the assignor cannot live with, such as a second consumer. A panic refuses as well.
    fn attach(&self, client: &Arc<Client>) -> Result<(), AssignorError> {
        let _ = client;
        Ok(())
    }

    /// User data for the leader, asked for before every join. After a panic it is empty.
    ///
    /// If another assignor of the strategy list wins the rebalance, [`on_superseded`](Assignor::on_superseded) is all
    /// that is heard of it afterwards.
    fn subscription_user_data(&self, join: &Join<'_>) -> Vec<u8> {
        let _ = join;
        Vec::new()
    }

    /// Leader only: the target for every member. Members left out get nothing.
    ///
    /// While this runs the leader sends no heartbeats. Pieces that cannot be delivered (unknown members, topics that
    /// do not exist or are not subscribed to, partitions out of range or given twice) are left out and logged as
    /// errors. In cooperative mode [`hold_back`](crate::cooperative::hold_back) is applied to the rest.
    ///
    /// # Errors
    /// An error, or a panic, makes librdkafka rejoin about once a second for as long as it lasts. What retrying does
    /// not mend belongs into the members' user data instead.
    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError>;

    /// Every member, after every rebalance that this assignor decided; done before the next
    /// [`subscription_user_data`](Assignor::subscription_user_data).
    fn on_assignment(&self, assigned: &Assigned<'_>) {
        let _ = assigned;
    }

    /// Partitions are being given up, before the application's own rebalance callback sees it.
    ///
    /// Told when the application polls or drops the consumer; [`Client::assignment_lost`] is live. All assignors of
    /// the strategy list are told, whichever gave the partitions.
    fn on_revoked(&self, revoked: &Revoked<'_>) {
        let _ = revoked;
    }

    /// What this assignor gave last does not hold any more: another assignor of the strategy list decided a
    /// rebalance, and what it decided is not told; or the member left the group or was thrown out of it.
    fn on_superseded(&self, client: &Arc<Client>) {
        let _ = client;
    }

    /// The consumer is gone; nothing more is called for it.
    fn detach(&self, client: &Arc<Client>) {
        let _ = client;
    }
}

/// Shared between consumers, or between a consumer and the application.
impl<A: Assignor + ?Sized> Assignor for Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn protocol(&self) -> RebalanceProtocol {
        (**self).protocol()
    }

    fn configure(&self, config: &mut ClientConfig) {
        (**self).configure(config);
    }

    fn attach(&self, client: &Arc<Client>) -> Result<(), AssignorError> {
        (**self).attach(client)
    }

    fn subscription_user_data(&self, join: &Join<'_>) -> Vec<u8> {
        (**self).subscription_user_data(join)
    }

    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        (**self).assign(group)
    }

    fn on_assignment(&self, assigned: &Assigned<'_>) {
        (**self).on_assignment(assigned);
    }

    fn on_revoked(&self, revoked: &Revoked<'_>) {
        (**self).on_revoked(revoked);
    }

    fn on_superseded(&self, client: &Arc<Client>) {
        (**self).on_superseded(client);
    }

    fn detach(&self, client: &Arc<Client>) {
        (**self).detach(client);
    }
}

/// How members give up partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RebalanceProtocol {
    /// Everything is revoked before members join.
    Eager,
    /// Only partitions that move are revoked, in a round of their own.
    Cooperative,
}

/// What a member is asked about when it joins.
#[derive(Debug)]
pub struct Join<'a> {
    /// The consumer that joins.
    pub client: &'a Arc<Client>,
    /// Topics it subscribes to.
    pub topics: &'a [String],
    /// What it owns at this moment (nothing under the eager protocol).
    pub owned: &'a TopicPartitions,
    /// The generation it was last a member of; `None` before the first.
    pub generation: Option<i32>,
}

/// A group as its leader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Group id.
    pub id: String,
    /// The generation that is being formed.
    pub generation: i32,
    /// The leader's member id.
    pub leader: String,
    /// Subscribed topics that exist, by name.
    pub topics: BTreeMap<String, Topic>,
    /// Members, sorted by id.
    pub members: Vec<Member>,
}

/// A topic that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// Number of partitions; 0 while the broker reports an error for the topic.
    pub partitions: i32,
    /// Racks of each partition's replicas; known only when some member sets `client.rack`.
    pub replica_racks: Vec<Vec<String>>,
}

/// A member of the group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Member id.
    pub id: String,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `client.rack`.
    pub rack: Option<String>,
    /// Subscribed topics, sorted.
    pub topics: Vec<String>,
    /// What it says it owns; `None` when its metadata is too old to say.
    pub owned: Option<TopicPartitions>,
    /// The generation it owned that in; `None` when its metadata is too old to say.
    pub generation: Option<i32>,
    /// User data of its subscription; `None` is Kafka's null.
    pub user_data: Option<Vec<u8>>,
}

/// A member's share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Partitions by topic.
    pub partitions: TopicPartitions,
    /// User data for the member. Empty user data is replaced by one byte: brokers refuse to convert a group
    /// with user data to KIP-848 behind its back.
    pub user_data: Vec<u8>,
}

/// What a member was given.
#[derive(Debug)]
pub struct Assigned<'a> {
    /// The consumer that was given it.
    pub client: &'a Arc<Client>,
    /// Its member id.
    pub member: &'a str,
    /// The group's generation.
    pub generation: i32,
    /// All it owns from now on.
    pub partitions: &'a TopicPartitions,
    /// The leader's user data for it.
    pub user_data: &'a [u8],
}

/// What a member gives up.
#[derive(Debug)]
pub struct Revoked<'a> {
    /// The consumer that gives it up.
    pub client: &'a Arc<Client>,
    /// The partitions.
    pub partitions: &'a TopicPartitions,
    /// Others may own them already: the member was thrown out of the group.
    pub lost: bool,
}

/// Why an assignor refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignorError(pub String);

impl fmt::Display for AssignorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AssignorError {}

impl From<&str> for AssignorError {
    fn from(reason: &str) -> Self {
        AssignorError(reason.to_owned())
    }
}

impl From<String> for AssignorError {
    fn from(reason: String) -> Self {
        AssignorError(reason)
    }
}
