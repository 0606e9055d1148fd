//! What the application sees of its assignment, and only while it is true.
//!
//! A [`Handle`] is fed by the plug, not by the application, which therefore cannot forget it. It is in one of three
//! states:
//!
//! | state | entered by | says |
//! |---|---|---|
//! | silent | creation, an eager join, lost partitions, another assignor's win, leaving, close | nothing is held |
//! | joining (cooperative) | a join | what is still owned, and its standbys; never leader |
//! | holding | an assignment of this assignor | everything in it |
//!
//! * An *assignment* replaces everything at once. What a cooperative rebalance is about to revoke is missing in it
//!   already, so the handle stops naming it before the application is asked to give it up.
//! * A *revocation* removes what it names. A cooperative one that takes something the last assignment did grant was not
//!   announced by a leader: the application unsubscribes or closes. If nothing active remains then, the standbys go too.
//! * *Lost* partitions, as after a missed session, silence the handle. As an application may not poll and thus never
//!   hear of it, every question also asks librdkafka whether the assignment is lost at this moment.
//!   A [`watch`](Handle::watch) cannot: it is told when the application polls.
//! * A *join* ends leadership. Under the eager protocol nothing is owned from there on; under the cooperative one what is
//!   not owned any more is dropped, so that only a new assignment adds anything.
//! * When *another assignor* of the strategy list decides a rebalance, this one does not learn what it decided: silence.
//! * Errors stay until the next assignment or the close: they are news, not a holding.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// Whether this member leads the application: partition 0 of the leader topic is active here.
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

    /// Follows what is held. Lost partitions are told when the application polls its consumer, unlike in
    /// [`current`](Handle::current). Do not keep a borrow of it while polling: the poll may have news for it, and waits.
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

    /// What to subscribe to: the topics, and the leader topic as soon as it exists.
    ///
    /// One of the topics becomes a regular expression that matches the leader topic too: a topic that is missing would
    /// be reported by `poll`.
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
mod tests {
    use super::*;
    use crate::copartitioned::Copartitioned;
    use std::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct FakeConsumer {
        lost: AtomicBool,
        requests: AtomicU64,
    }

    impl Consumer for FakeConsumer {
        fn assignment_lost(&self) -> bool {
            self.lost.load(Ordering::Relaxed)
        }

        fn request_rebalance(&self) {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn attached() -> (Handle, Arc<FakeConsumer>) {
        let assignor = Copartitioned::builder("shop")
            .build()
            .expect("valid settings");
        let consumer = Arc::new(FakeConsumer::default());
        let handle = assignor.handle();
        assert!(handle.attach(Arc::clone(&consumer) as _));
        (handle, consumer)
    }

    fn sets(names: &[&str]) -> PartitionSets {
        let zero = |name: &&str| ((*name).to_owned(), std::iter::once(0_u32).collect());
        names.iter().map(zero).collect()
    }

    fn leading() -> Held {
        Held {
            generation: Some(1),
            active: sets(&["orders", "shop-__assignor-__leader"]),
            standby: sets(&["counts"]),
            ..Held::default()
        }
    }

    fn says(handle: &Handle) -> (bool, bool, bool) {
        (
            handle.is_active("orders", 0),
            handle.is_standby("counts", 0),
            handle.is_leader(),
        )
    }

    #[test]
    fn a_handle_goes_to_any_thread() {
        fn goes<T: Clone + Send + Sync + 'static>(_: &T) {}
        goes(&attached().0);
    }

    #[test]
    fn who_holds_the_leader_topic_leads() {
        let (handle, _consumer) = attached();
        handle.assigned(leading());
        assert_eq!(says(&handle), (true, true, true));
        handle.revoked(&sets(&["shop-__assignor-__leader"]), false);
        assert_eq!(says(&handle), (true, true, false));
    }

    #[test]
    fn an_application_that_does_not_poll_still_hears_that_all_is_lost() {
        let (handle, consumer) = attached();
        handle.assigned(leading());
        consumer.lost.store(true, Ordering::Relaxed);
        assert_eq!(says(&handle), (false, false, false));
        assert_eq!(*handle.current(), Held::default());
    }

    #[test]
    fn a_closed_consumer_holds_nothing_and_makes_room_for_the_next() {
        let (handle, _consumer) = attached();
        assert!(!handle.attach(Arc::new(FakeConsumer::default())));
        handle.assigned(leading());
        handle.detached();
        assert_eq!(says(&handle), (false, false, false));
        assert!(handle.attach(Arc::new(FakeConsumer::default())));
        assert_eq!(*handle.current(), Held::default());
    }

    #[test]
    fn another_assignors_win_silences() {
        let (handle, _consumer) = attached();
        handle.assigned(leading());
        handle.superseded();
        assert_eq!(says(&handle), (false, false, false));
    }

    #[test]
    fn a_watcher_is_told_of_changes_only() {
        let (handle, _consumer) = attached();
        let mut watch = handle.watch();
        handle.assigned(leading());
        assert!(watch.has_changed().expect("the handle lives"));
        assert_eq!(watch.borrow_and_update().generation, Some(1));
        handle.revoked(&sets(&["users"]), false);
        assert!(!watch.has_changed().expect("the handle lives"));
    }

    #[test]
    fn a_requested_rebalance_changes_the_nonce() {
        let (handle, consumer) = attached();
        handle.request_rebalance();
        assert_eq!(handle.nonce(), 1);
        assert_eq!(consumer.requests.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_application_without_a_leader_topic_subscribes_to_its_own_topics_only() {
        let assignor = Copartitioned::builder("shop")
            .leader_topic(false)
            .build()
            .expect("valid");
        let handle = assignor.handle();
        assert_eq!(handle.leader_topic(), None);
        assert_eq!(handle.subscription(["orders"]), ["orders"]);
    }
}
