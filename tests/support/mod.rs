//! A group in a box: a mock cluster, an assignor that records what it is called with, and members that poll.
#![expect(dead_code, reason = "every test binary uses a part of it")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_assignor::assignor::{
    Assigned, Assignment, Assignor, AssignorError, Group, Join, RebalanceProtocol, Revoked,
    TopicPartitions,
};
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor::{Assignors, Client};

/// Smallest that leaves room for heartbeats; a rebalance of the mock cluster takes a second less.
pub const SESSION_TIMEOUT: Duration = Duration::from_millis(3000);

/// How long anything that has to happen may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster with topic `t` of four partitions and `u` of two, and a group that forms fast.
pub fn cluster() -> MockCluster {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("t", 4).unwrap();
    cluster.create_topic("u", 2).unwrap();
    cluster.set_initial_rebalance_delay(Duration::from_millis(200));
    cluster
}

/// A member's settings for that cluster.
pub fn config(cluster: &MockCluster) -> ClientConfig {
    config_for(&cluster.bootstrap_servers())
}

/// A member's settings for a cluster at `servers`.
pub fn config_for(servers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", servers)
        .set("group.id", "group")
        .set(
            "session.timeout.ms",
            SESSION_TIMEOUT.as_millis().to_string(),
        )
        .set("heartbeat.interval.ms", "100")
        .set("enable.auto.commit", "false");
    config
}

/// Waits until it is so; fails the test if it does not come to be.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < PATIENCE,
            "it did not come to be that {what}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// One call of the assignor.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Attach,
    Join {
        owned: TopicPartitions,
        generation: Option<i32>,
        topics: Vec<String>,
    },
    Assign(Group),
    Assigned {
        member: String,
        generation: i32,
        partitions: TopicPartitions,
        user_data: Vec<u8>,
    },
    Revoked {
        partitions: TopicPartitions,
        lost: bool,
    },
    Detach,
}

type Before = dyn Fn(&str) + Send + Sync;
type Decide = dyn Fn(&Group) -> Result<BTreeMap<String, Assignment>, AssignorError> + Send + Sync;

/// An assignor that records every call and deals partitions out in the order of member ids.
pub struct Probe {
    name: String,
    protocol: RebalanceProtocol,
    decide: Box<Decide>,
    user_data: Vec<u8>,
    events: Mutex<Vec<(u64, Event)>>,
    /// Called first thing in every callback, with its name.
    before: Box<Before>,
    /// The clients that were attached.
    pub clients: Mutex<Vec<Arc<Client>>>,
}

impl Probe {
    pub fn new(name: &str, protocol: RebalanceProtocol) -> Self {
        Probe {
            name: name.to_owned(),
            protocol,
            decide: Box::new(|group| Ok(deal(group))),
            user_data: b"subscription".to_vec(),
            events: Mutex::default(),
            before: Box::new(|_| {}),
            clients: Mutex::default(),
        }
    }

    pub fn deciding(
        mut self,
        decide: impl Fn(&Group) -> Result<BTreeMap<String, Assignment>, AssignorError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.decide = Box::new(decide);
        self
    }

    pub fn with_user_data(mut self, user_data: &[u8]) -> Self {
        self.user_data = user_data.to_vec();
        self
    }

    pub fn before(mut self, before: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.before = Box::new(before);
        self
    }

    pub fn events(&self) -> Vec<Event> {
        lock(&self.events)
            .iter()
            .map(|(_, event)| event.clone())
            .collect()
    }

    /// Every call in order, with its client's id.
    pub fn told(&self) -> Vec<(u64, Event)> {
        lock(&self.events).clone()
    }

    pub fn events_of(&self, client: u64) -> Vec<Event> {
        lock(&self.events)
            .iter()
            .filter(|(id, _)| *id == client)
            .map(|(_, event)| event.clone())
            .collect()
    }

    /// Groups that were decided, oldest first.
    pub fn groups(&self) -> Vec<Group> {
        let assigned = |event| {
            if let Event::Assign(group) = event {
                Some(group)
            } else {
                None
            }
        };
        self.events().into_iter().filter_map(assigned).collect()
    }

    fn record(&self, client: u64, callback: &str, event: Event) {
        lock(&self.events).push((client, event));
        (self.before)(callback);
    }
}

impl Assignor for Probe {
    fn name(&self) -> &str {
        &self.name
    }

    fn protocol(&self) -> RebalanceProtocol {
        self.protocol
    }

    fn attach(&self, client: &Arc<Client>) -> Result<(), AssignorError> {
        lock(&self.clients).push(Arc::clone(client));
        self.record(client.id(), "attach", Event::Attach);
        Ok(())
    }

    fn subscription_user_data(&self, join: &Join<'_>) -> Vec<u8> {
        let event = Event::Join {
            owned: join.owned.clone(),
            generation: join.generation,
            topics: join.topics.to_vec(),
        };
        self.record(join.client.id(), "subscription_user_data", event);
        self.user_data.clone()
    }

    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        self.record(0, "assign", Event::Assign(group.clone()));
        (self.decide)(group)
    }

    fn on_assignment(&self, assigned: &Assigned<'_>) {
        let event = Event::Assigned {
            member: assigned.member.to_owned(),
            generation: assigned.generation,
            partitions: assigned.partitions.clone(),
            user_data: assigned.user_data.to_vec(),
        };
        self.record(assigned.client.id(), "on_assignment", event);
    }

    fn on_revoked(&self, revoked: &Revoked<'_>) {
        let event = Event::Revoked {
            partitions: revoked.partitions.clone(),
            lost: revoked.lost,
        };
        self.record(revoked.client.id(), "on_revoked", event);
    }

    fn detach(&self, client: &Arc<Client>) {
        self.record(client.id(), "detach", Event::Detach);
    }
}

/// Partition after partition to member after member, whoever had it; user data says how many members there are.
pub fn deal(group: &Group) -> BTreeMap<String, Assignment> {
    let mut dealt: BTreeMap<String, Assignment> = BTreeMap::new();
    for (name, topic) in &group.topics {
        let subscribers: Vec<&str> = group
            .members
            .iter()
            .filter(|member| member.topics.contains(name))
            .map(|member| member.id.as_str())
            .collect();
        for (partition, member) in (0..topic.partitions).zip(subscribers.iter().cycle()) {
            let assignment = dealt.entry((*member).to_owned()).or_default();
            assignment.user_data = vec![u8::try_from(group.members.len()).unwrap()];
            assignment
                .partitions
                .entry(name.clone())
                .or_default()
                .push(partition);
        }
    }
    dealt
}

/// A consumer whose queue is polled in a thread of its own.
pub struct Member {
    consumer: Arc<BaseConsumer>,
    stop: Arc<AtomicBool>,
    poller: Option<JoinHandle<()>>,
}

impl Member {
    pub fn join(config: &ClientConfig, assignors: &Assignors, topics: &[&str]) -> Self {
        let consumer: BaseConsumer = assignors.create(config).unwrap();
        consumer.subscribe(topics).unwrap();
        let consumer = Arc::new(consumer);
        let stop = Arc::new(AtomicBool::new(false));
        let poller = thread::spawn({
            let (consumer, stop) = (Arc::clone(&consumer), Arc::clone(&stop));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    drop(consumer.poll(Duration::from_millis(20)));
                }
            }
        });
        Member {
            consumer,
            stop,
            poller: Some(poller),
        }
    }

    pub fn consumer(&self) -> &BaseConsumer {
        &self.consumer
    }

    /// What the consumer is assigned now.
    pub fn partitions(&self) -> TopicPartitions {
        let mut partitions = TopicPartitions::new();
        for element in self.consumer.assignment().unwrap().elements() {
            partitions
                .entry(element.topic().to_owned())
                .or_default()
                .push(element.partition());
        }
        partitions
            .values_mut()
            .for_each(|partitions| partitions.sort_unstable());
        partitions
    }

    /// Number of partitions assigned now.
    pub fn load(&self) -> usize {
        self.partitions().values().map(Vec::len).sum()
    }

    pub fn leave(self) {}
}

impl Drop for Member {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(poller) = self.poller.take() {
            drop(poller.join());
        }
    }
}

/// A name that no other test uses.
pub fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub fn partitions(of: &[(&str, &[i32])]) -> TopicPartitions {
    of.iter()
        .map(|(topic, numbers)| ((*topic).to_owned(), numbers.to_vec()))
        .collect()
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
