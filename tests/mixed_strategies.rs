//! Strategy lists that name ours and one of librdkafka's own, on a real broker: the group votes, as for any list.
//!
//! Needs `KAFKA_BOOTSTRAP`, such as `tests/kafka/cluster up` prints.
use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write as _};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_assignor::assignor::RebalanceProtocol;
use rdkafka_assignor::{Assignors, Copartitioned, Handle, Held};
use tokio::runtime::Runtime;

/// No rebalance takes this long on a broker that answers.
const PATIENCE: Duration = Duration::from_secs(60);
const TOPICS: [&str; 2] = ["orders", "users"];
const PARTITIONS: i32 = 4;
/// Those of both topics, and the leader topic's one.
const EVERYTHING: usize = 9;

#[test]
fn eager_group_falls_back_to_range_and_returns() {
    falls_back_and_returns(RebalanceProtocol::Eager, "range");
}

#[test]
fn cooperative_group_falls_back_to_cooperative_sticky_and_returns() {
    falls_back_and_returns(RebalanceProtocol::Cooperative, "cooperative-sticky");
}

#[test]
fn first_name_of_the_list_decides_where_all_members_know_all_names() {
    let Some(group) = Group::create(RebalanceProtocol::Eager) else {
        return;
    };
    let members = [(); 2].map(|()| group.member("range,copartitioned"));
    let consumers = [&members[0].consumer, &members[1].consumer];
    wait_until("range assigns", &consumers, || {
        members.iter().all(Member::knows_nothing) && group.is_assigned_by("range", &consumers)
    });
}

fn falls_back_and_returns(protocol: RebalanceProtocol, builtin: &str) {
    let Some(group) = Group::create(protocol) else {
        return;
    };
    let members = [(); 2].map(|()| group.member(&format!("copartitioned,{builtin}")));
    let ours = [&members[0].consumer, &members[1].consumer];
    let ours_assigns =
        || members.iter().all(Member::knows_all) && group.is_assigned_by("copartitioned", &ours);
    wait_until("ours assigns", &ours, ours_assigns);

    let plain: BaseConsumer = group.config(builtin).create().expect("a consumer");
    Group::subscribe(&plain, TOPICS.map(|topic| group.topic(topic)));
    let all = [ours[0], ours[1], &plain];
    wait_until("the one that all know assigns", &all, || {
        members.iter().all(Member::knows_nothing) && group.is_assigned_by(builtin, &all)
    });

    drop(plain);
    wait_until("ours assigns again", &ours, ours_assigns);
    for member in &members {
        let (orders, users) = (member.numbers("orders"), member.numbers("users"));
        assert_eq!(orders, users, "topics of one group are together");
        assert_eq!(orders.len(), 2, "the group is balanced");
    }
}

/// A consumer group of its own, with topics of its own.
struct Group {
    bootstrap: String,
    name: String,
    protocol: RebalanceProtocol,
}

/// A consumer with our assignor in its list.
struct Member {
    consumer: BaseConsumer,
    handle: Handle,
    group: String,
}

impl Group {
    /// `None`, and a word about it, without a broker.
    fn create(protocol: RebalanceProtocol) -> Option<Self> {
        let Ok(bootstrap) = env::var("KAFKA_BOOTSTRAP") else {
            // Past the test runner, which keeps what a passing test prints.
            let _ = writeln!(
                io::stderr(),
                "SKIPPED: needs a broker, KAFKA_BOOTSTRAP is not set"
            );
            return None;
        };
        let group = Group {
            bootstrap,
            name: unique_name(),
            protocol,
        };
        group.create_topics();
        Some(group)
    }

    fn create_topics(&self) {
        let names = TOPICS.map(|topic| self.topic(topic));
        let leader = format!("{}-__assignor-__leader", self.name);
        let topics = names.iter().map(|name| new_topic(name, PARTITIONS));
        let topics: Vec<_> = topics.chain([new_topic(&leader, 1)]).collect();
        let admin: AdminClient<DefaultClientContext> =
            self.client().create().expect("an admin client");
        let created = Runtime::new()
            .expect("a runtime")
            .block_on(admin.create_topics(&topics, &AdminOptions::new()));
        for topic in created.expect("an answer") {
            topic.expect("a new topic");
        }
    }

    fn topic(&self, topic: &str) -> String {
        format!("{}-{topic}", self.name)
    }

    fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.bootstrap);
        config
    }

    fn config(&self, strategies: &str) -> ClientConfig {
        let mut config = self.client();
        config
            .set("group.id", &self.name)
            .set("partition.assignment.strategy", strategies)
            .set("heartbeat.interval.ms", "200");
        config
    }

    fn member(&self, strategies: &str) -> Member {
        let assignor = Copartitioned::builder(&self.name)
            .table("counts", self.topic("orders"))
            .protocol(self.protocol)
            .build()
            .expect("valid settings");
        let handle = assignor.handle();
        let consumer = Assignors::new()
            .with(assignor)
            .create(&self.config(strategies))
            .expect("a consumer");
        let topics = TOPICS.map(|topic| self.topic(topic));
        Self::subscribe(
            &consumer,
            handle.subscription(topics.each_ref().map(String::as_str)),
        );
        Member {
            consumer,
            handle,
            group: self.name.clone(),
        }
    }

    fn subscribe(consumer: &BaseConsumer, topics: impl IntoIterator<Item = String>) {
        let topics: Vec<String> = topics.into_iter().collect();
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        consumer.subscribe(&topics).expect("a subscription");
    }

    /// Whether these members, all of the group, hold every partition once, and the group voted for the strategy.
    fn is_assigned_by(&self, strategy: &str, consumers: &[&BaseConsumer]) -> bool {
        let shares: Vec<_> = consumers
            .iter()
            .map(|consumer| partitions(consumer))
            .collect();
        let sum: usize = shares.iter().map(BTreeSet::len).sum();
        let union: BTreeSet<_> = shares.iter().flatten().collect();
        let nobody_is_idle = shares.iter().all(|share| !share.is_empty());
        nobody_is_idle
            && sum == EVERYTHING
            && union.len() == EVERYTHING
            && self.strategy(consumers[0]) == strategy
    }

    /// What the broker says that the group voted for; empty during a rebalance.
    fn strategy(&self, consumer: &BaseConsumer) -> String {
        let groups = consumer.fetch_group_list(Some(&self.name), PATIENCE);
        let groups = groups.expect("an answer");
        let group = groups
            .groups()
            .iter()
            .find(|group| group.name() == self.name);
        group.map_or_else(String::new, |group| group.protocol().to_owned())
    }
}

impl Member {
    /// Its handle says what the consumer has.
    fn knows_all(&self) -> bool {
        let held = self.handle.current();
        let known = held.active.iter().flat_map(|(topic, partitions)| {
            let numbers = partitions.iter().flat_map(i32::try_from);
            numbers.map(|number| (topic.clone(), number))
        });
        let known: BTreeSet<_> = known.collect();
        held.generation.is_some()
            && known == partitions(&self.consumer)
            && held.leader == known.contains(&(self.leader_topic(), 0))
    }

    /// Its handle says nothing, although the consumer has partitions.
    fn knows_nothing(&self) -> bool {
        let mut partitions = partitions(&self.consumer).into_iter();
        *self.handle.current() == Held::default()
            && !self.handle.is_leader()
            && (0..PARTITIONS).all(|partition| !self.handle.is_standby("counts", partition))
            && partitions.all(|(topic, partition)| !self.handle.is_active(&topic, partition))
    }

    fn leader_topic(&self) -> String {
        self.handle.leader_topic().expect("it is on").to_owned()
    }

    /// The numbers of the topic's partitions that it has.
    fn numbers(&self, topic: &str) -> Vec<i32> {
        let topic = format!("{}-{topic}", self.group);
        let mine = partitions(&self.consumer).into_iter();
        mine.filter(|(name, _)| *name == topic)
            .map(|(_, number)| number)
            .collect()
    }
}

/// What librdkafka has as the consumer's assignment.
fn partitions(consumer: &BaseConsumer) -> BTreeSet<(String, i32)> {
    let assignment = consumer.assignment().expect("an open consumer");
    let elements = assignment.elements();
    elements
        .iter()
        .map(|element| (element.topic().to_owned(), element.partition()))
        .collect()
}

fn wait_until(what: &str, polled: &[&BaseConsumer], condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        for consumer in polled {
            if let Some(Err(error)) = consumer.poll(Duration::from_millis(20)) {
                eprintln!("{error}");
            }
        }
        let shares: Vec<_> = polled.iter().map(|consumer| partitions(consumer)).collect();
        assert!(
            Instant::now() < deadline,
            "{what}: not within {PATIENCE:?}, but {shares:?}"
        );
    }
}

fn new_topic(name: &str, partitions: i32) -> NewTopic<'_> {
    NewTopic::new(name, partitions, TopicReplication::Fixed(1))
}

/// Unlike those of other tests and of earlier runs on the same broker.
fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::UNIX_EPOCH
        .elapsed()
        .expect("a clock after 1970");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mixed-{}-{}-{number}", since.as_millis(), process::id())
}
