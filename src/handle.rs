//! What the application sees of its assignment, and only while it is true: fed by the plug, so that nobody forgets it.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rdkafka::consumer::{Consumer as KafkaConsumer, ConsumerContext};
use rdkafka::error::KafkaResult;
use tokio::sync::watch;

use crate::assignor::RebalanceProtocol;
use crate::config::Settings;
use crate::delivered::DeliveredError;
use crate::held::Held;
use crate::leader_topic;
use crate::led::Led;
use crate::partitions::PartitionSets;
use crate::plugin::Client;
use crate::router::{Router, Routes};

/// What this member holds, told by its assignor; clones tell the same.
///
/// It is fed by librdkafka's own callbacks, not by the application, which therefore cannot forget it. It is in one of
/// three states:
///
/// | state | entered by | says |
/// |---|---|---|
/// | silent | creation, an eager join, lost partitions, another assignor's win, leaving, close | nothing is held |
/// | joining (cooperative) | a join | what is still owned, and its standbys; never leader |
/// | holding | an assignment of this assignor | everything in it |
///
/// * An *assignment* replaces everything at once, as soon as librdkafka has it. The consumer has its partitions when the
///   application polls next, so the handle is early, with taking and with giving: it names partitions of which no message
///   was read yet, and what a cooperative rebalance is about to revoke is missing before the application is asked to
///   give it up.
/// * A *revocation* removes what it names. A cooperative one that takes something the last assignment did grant was not
///   announced by a leader: the application unsubscribes or closes. If nothing active remains then, the standbys go too.
/// * *Lost* partitions, as after a missed session, silence the handle. As an application may not poll and thus never
///   hear of it, every question also asks librdkafka whether the assignment is lost at this moment. A value of
///   [`watch`](Handle::watch) does not.
/// * A *join* ends leadership: nobody leads during a rebalance, [`is_leader`](Handle::is_leader) is `false` from the
///   join to the assignment. Under the eager protocol nothing is owned from there on; under the cooperative one what is
///   not owned any more is dropped, so that only a new assignment adds anything.
/// * When *another assignor* of the strategy list decides a rebalance, this one does not learn what it decided: silence.
/// * Errors stay until the next assignment or the close: they are news, not a holding.
///
/// ```
/// # use rdkafka_assignor::Copartitioned;
/// let assignor = Copartitioned::builder("shop").table("counts", "orders").build()?;
/// let handle = assignor.handle();
/// assert!(!handle.is_active("orders", 0)); // no consumer has joined with it yet
/// assert_eq!(handle.subscription(["orders"]), ["^(orders|shop-__assignor-__leader)$"]);
/// # Ok::<(), rdkafka_assignor::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    host: Option<String>,
    leader_topic: Option<String>,
    changelogs: BTreeMap<String, String>,
    protocol: RebalanceProtocol,
    client: Mutex<Option<Arc<dyn Consumer>>>,
    held: watch::Sender<Arc<Held>>,
    led: watch::Sender<Option<Arc<Led>>>,
    routes: watch::Sender<Arc<Routes>>,
    nonce: AtomicU64,
}

/// What a handle asks its consumer.
pub(crate) trait Consumer: Send + Sync {
    /// Whether the assignment is lost at this moment.
    fn assignment_lost(&self) -> bool;
    /// Rejoins; partitions stay as they are until that is done.
    fn request_rebalance(&self);
}

impl Consumer for Client {
    fn assignment_lost(&self) -> bool {
        Client::assignment_lost(self)
    }

    fn request_rebalance(&self) {
        Client::request_rebalance(self);
    }
}

impl Handle {
    pub(crate) fn new(settings: &Settings) -> Self {
        let shared = Shared {
            host: settings.host.clone(),
            leader_topic: settings.leader_topic.clone(),
            changelogs: settings.changelogs.clone(),
            protocol: settings.protocol,
            client: Mutex::new(None),
            held: watch::Sender::new(Arc::default()),
            led: watch::Sender::new(None),
            routes: watch::Sender::new(Arc::default()),
            nonce: AtomicU64::new(0),
        };
        Handle {
            shared: Arc::new(shared),
        }
    }

    /// All that is held at this moment; nothing once librdkafka considers the assignment lost.
    pub fn current(&self) -> Arc<Held> {
        let held = self.told();
        if held.generation.is_some() && self.assignment_lost() {
            return Arc::new(held.silent());
        }
        held
    }

    /// Whether the partition of the topic is active here.
    pub fn is_active(&self, topic: &str, partition: i32) -> bool {
        self.told().is_active(topic, partition) && !self.assignment_lost()
    }

    /// Whether a standby copy of the table's partition is kept here.
    pub fn is_standby(&self, table: &str, partition: i32) -> bool {
        self.told().is_standby(table, partition) && !self.assignment_lost()
    }

    /// Whether this member leads the application: partition 0 of the leader topic is active here, and no rebalance is
    /// under way.
    pub fn is_leader(&self) -> bool {
        self.told().leader && !self.assignment_lost()
    }

    /// What the group's leader could not mend, as of the last assignment.
    pub fn errors(&self) -> Vec<DeliveredError> {
        self.told().errors.clone()
    }

    /// What librdkafka told last; no lock is held afterwards.
    fn told(&self) -> Arc<Held> {
        Arc::clone(&self.shared.held.borrow())
    }

    /// Wakes a task when something changes.
    ///
    /// Ask [`current`](Handle::current) for the answer: a watched value keeps naming lost partitions until the
    /// application polls. It never ends while a handle lives; a closed consumer shows as `generation: None`.
    ///
    /// Do not keep a borrow of it while polling: the poll may have news for it, and waits.
    pub fn watch(&self) -> watch::Receiver<Arc<Held>> {
        self.shared.held.subscribe()
    }

    /// Follows the rebalances that this member leads for the group, with their moves and the reasons; `None` until
    /// the first. Leading the group's rebalances is Kafka's business and not [`is_leader`](Handle::is_leader).
    pub fn watch_led(&self) -> watch::Receiver<Option<Arc<Led>>> {
        self.shared.led.subscribe()
    }

    /// Tells which member serves a key; for producers that choose partitions as Java's do, unless told otherwise.
    pub fn router(&self) -> Router {
        Router::new(self.clone())
    }

    /// The application's leader topic, unless it is switched off.
    pub fn leader_topic(&self) -> Option<&str> {
        self.shared.leader_topic.as_deref()
    }

    /// The changelog topic of a table that was declared, which standbys read; `None` for any other name.
    ///
    /// It is `{app}-{table}-changelog` unless [declared](crate::Builder::table_with_changelog) otherwise, and always for
    /// global tables, for which there is nothing to declare.
    ///
    /// ```
    /// # use rdkafka_assignor::Copartitioned;
    /// let assignor = Copartitioned::builder("shop").table("counts", "orders").build()?;
    /// assert_eq!(assignor.handle().changelog("counts"), Some("shop-counts-changelog"));
    /// # Ok::<(), rdkafka_assignor::ConfigError>(())
    /// ```
    pub fn changelog(&self, table: &str) -> Option<&str> {
        self.shared.changelogs.get(table).map(String::as_str)
    }

    /// Subscribes the consumer to the topics, and to the leader topic as soon as it exists: to
    /// [`subscription`](Handle::subscription) of the topics.
    ///
    /// # Errors
    /// Those of [`Consumer::subscribe`](KafkaConsumer::subscribe).
    pub fn subscribe<'a, C: ConsumerContext>(
        &self,
        consumer: &impl KafkaConsumer<C>,
        topics: impl IntoIterator<Item = &'a str>,
    ) -> KafkaResult<()> {
        let subscription = self.subscription(topics);
        let topics: Vec<&str> = subscription.iter().map(String::as_str).collect();
        consumer.subscribe(&topics)
    }

    /// What to subscribe to: the topics, and the leader topic as soon as it exists.
    ///
    /// A missing topic in a subscription is a poll error, and so is a regular expression that matches nothing. So the
    /// leader topic joins as the alternative in an expression that stands for one of the application's own topics, and
    /// librdkafka adds it when it first sees it in its metadata (`topic.metadata.refresh.interval.ms`), and rejoins:
    ///
    /// | application | topics | subscription |
    /// |---|---|---|
    /// | `shop` | `orders`, `users` | `^(orders\|shop-__assignor-__leader)$`, `users` |
    /// | `eu.shop` | `orders` | `^(orders\|eu[.]shop-__assignor-__leader)$` |
    /// | `shop` | `^orders.*` | `^orders.*`, `^shop-__assignor-__leader$` |
    ///
    /// The price is that of every regular expression: librdkafka asks for the metadata of all topics that it may see.
    /// Where the application has nothing but expressions of its own, the leader topic is an entry by itself, and its
    /// absence is reported once. What is a subscription already comes back as it is.
    pub fn subscription<'a>(&self, topics: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        leader_topic::subscription(topics, self.leader_topic())
    }

    /// Asks for a rebalance although nothing changed; partitions stay as they are until it is done.
    pub fn request_rebalance(&self) {
        self.shared.nonce.fetch_add(1, Ordering::Relaxed);
        if let Some(client) = self.client().as_ref() {
            client.request_rebalance();
        }
    }

    /// Whether librdkafka takes the assignment for lost, or there is no consumer at all.
    fn assignment_lost(&self) -> bool {
        let client = self.client().clone();
        client.is_none_or(|client| client.assignment_lost())
    }

    fn client(&self) -> MutexGuard<'_, Option<Arc<dyn Consumer>>> {
        self.shared
            .client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the assignor reports.
impl Handle {
    /// Speaks for this consumer from now on; `false` if it speaks for one already.
    pub(crate) fn attach(&self, client: Arc<dyn Consumer>) -> bool {
        let mut attached = self.client();
        if attached.is_some() {
            return false;
        }
        *attached = Some(client);
        true
    }

    pub(crate) fn nonce(&self) -> u64 {
        self.shared.nonce.load(Ordering::Relaxed)
    }

    pub(crate) fn joining(&self, owned: &PartitionSets, generation: Option<i32>) {
        let protocol = self.shared.protocol;
        self.update(|held| held.joining(protocol, owned, generation));
    }

    pub(crate) fn assigned(&self, held: Held) {
        let leads = |topic| held.is_active(topic, 0);
        let leader = self.leader_topic().is_some_and(leads);
        self.update(|_| Held { leader, ..held });
    }

    pub(crate) fn revoked(&self, revoked: &PartitionSets, lost: bool) {
        let protocol = self.shared.protocol;
        self.update(|held| {
            let mut held = held.revoked(protocol, revoked, lost);
            held.leader &= self
                .leader_topic()
                .is_some_and(|topic| held.is_active(topic, 0));
            held
        });
    }

    pub(crate) fn superseded(&self) {
        self.update(Held::silent);
    }

    pub(crate) fn detached(&self) {
        *self.client() = None;
        self.update(|_| Held::default());
    }

    /// Where this member says that it can be reached.
    pub(crate) fn host(&self) -> Option<&str> {
        self.shared.host.as_deref()
    }

    /// The routes of the last assignment, whatever became of it.
    pub(crate) fn routes(&self) -> &watch::Sender<Arc<Routes>> {
        &self.shared.routes
    }

    pub(crate) fn led(&self, led: Led) {
        self.shared.led.send_replace(Some(Arc::new(led)));
    }

    fn update(&self, next: impl FnOnce(&Held) -> Held) {
        self.shared.held.send_if_modified(|held| {
            let new = next(held);
            let modified = new != **held;
            *held = Arc::new(new);
            modified
        });
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle")
            .field("held", &self.current())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
