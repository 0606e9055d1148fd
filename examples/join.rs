//! Joins orders with the users who made them: both topics are keyed by user and go together, partition by partition.
//!
//! Offsets are committed when partitions are revoked, so that the next owner goes on where this one stopped. When they
//! are lost, somebody else has them already: what was done since the last commit will be done again, and
//! committing would only fail. State goes in either case.
//!
//! `cargo run --example join` runs on a cluster inside the process; give `host:port` of another one that has the
//! topics `orders` and `users`, with equal partition counts.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaResult;
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, ClientContext};
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor::{Assignors, Copartitioned};

const USERS: [&str; 5] = ["ada", "grace", "edsger", "barbara", "tony"];

/// What is known of one partition number of both topics.
#[derive(Default)]
struct Task {
    /// User names by key.
    users: HashMap<String, String>,
    /// Orders whose user has not come yet, by key.
    waiting: HashMap<String, Vec<String>>,
}

/// Tasks by partition number.
#[derive(Default)]
struct Shop {
    tasks: Mutex<HashMap<i32, Task>>,
}

impl Shop {
    /// Pairs of order and user that a record completes.
    fn take(&self, message: &BorrowedMessage<'_>) -> Vec<(String, String)> {
        let text =
            |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let (key, value) = (text(message.key()), text(message.payload()));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let task = tasks.entry(message.partition()).or_default();
        match message.topic() {
            "users" => task.users.insert(key.clone(), value).map_or((), drop),
            _ => task.waiting.entry(key.clone()).or_default().push(value),
        }
        let Some(user) = task.users.get(&key) else {
            return Vec::new();
        };
        let orders = task.waiting.remove(&key).unwrap_or_default();
        orders
            .into_iter()
            .map(|order| (order, user.clone()))
            .collect()
    }
}

impl ClientContext for Shop {}

impl ConsumerContext for Shop {
    /// Runs within `poll`: whatever `poll` gave out before has been dealt with.
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Revoke(revoked) = rebalance else {
            return;
        };
        if consumer.assignment_lost() {
            println!("lost {} partitions", revoked.count());
        } else if let Err(error) = consumer.commit_consumer_state(CommitMode::Sync) {
            // Nothing was done since the last commit, or the group is gone: the next owner starts there.
            println!("nothing committed: {error}");
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for element in revoked.elements() {
            tasks.remove(&element.partition());
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mock = MockCluster::new(1)?;
    mock.create_topic("orders", 4)?;
    mock.create_topic("users", 4)?;
    let servers = std::env::args().nth(1).unwrap_or(mock.bootstrap_servers());
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", servers);
    produce(&config)?;

    let assignor = Copartitioned::builder("shop")
        .copartition(["orders", "users"])
        .leader_topic(false) // nobody has to lead here, so a plain subscription does
        .build()?;
    config
        .set("group.id", "join")
        .set("auto.offset.reset", "earliest")
        .set("partition.assignment.strategy", "copartitioned");
    let assignors = Assignors::new().with(assignor);
    let consumer: BaseConsumer<Shop> = assignors.create_with_context(&config, Shop::default())?;
    consumer.subscribe(&["orders", "users"])?;

    let mut joined = 0;
    while joined < USERS.len() {
        match consumer.poll(Duration::from_secs(1)) {
            Some(Ok(message)) => {
                for (order, user) in consumer.context().take(&message) {
                    println!("{user} ordered {order}");
                    joined += 1;
                }
            }
            Some(Err(error)) => eprintln!("{error}"),
            None => {}
        }
    }
    leave(&consumer)?;
    Ok(())
}

/// Gives everything up before the consumer is dropped: closing one in the middle of a rebalance can hang or abort in
/// librdkafka. Committed first, while nothing is under way.
fn leave(consumer: &BaseConsumer<Shop>) -> KafkaResult<()> {
    if let Err(error) = consumer.commit_consumer_state(CommitMode::Sync) {
        println!("nothing committed: {error}");
    }
    consumer.unsubscribe();
    let deadline = Instant::now() + Duration::from_secs(10);
    while consumer.assignment()?.count() > 0 && Instant::now() < deadline {
        if let Some(Err(error)) = consumer.poll(Duration::from_millis(100)) {
            eprintln!("{error}");
        }
    }
    Ok(())
}

/// One order of every user, and the users. Java's partitioner, on both topics.
fn produce(config: &ClientConfig) -> Result<(), Box<dyn std::error::Error>> {
    let producer: BaseProducer = config
        .clone()
        .set("partitioner", "murmur2_random")
        .create()?;
    for key in USERS {
        let (order, user) = (format!("a book for {key}"), key.to_uppercase());
        for (topic, value) in [("orders", &order), ("users", &user)] {
            let record = BaseRecord::to(topic).key(key).payload(value);
            producer.send(record).map_err(|(error, _)| error)?;
        }
    }
    producer.flush(Duration::from_secs(10))?;
    Ok(())
}
