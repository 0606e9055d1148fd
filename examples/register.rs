//! Registers the shipped assignor with a consumer and shows what its handle says.
//!
//! `cargo run --example register` runs on a cluster inside the process; give `host:port` of another one that has
//! the topics `orders` and `users`, and run it several times at once.
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::consumer::BaseConsumer;
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor::{Assignors, Copartitioned};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mock = MockCluster::new(1)?;
    mock.create_topic("orders", 4)?;
    mock.create_topic("users", 4)?;
    mock.create_topic("shop-__assignor-__leader", 1)?;
    let servers = std::env::args().nth(1).unwrap_or(mock.bootstrap_servers());

    let assignor = Copartitioned::builder("shop")
        .host("10.0.0.1:8080")
        .table("counts", "orders")
        .build()?;
    let handle = assignor.handle();

    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", servers)
        .set("group.id", "register")
        .set("partition.assignment.strategy", "copartitioned");
    let consumer: BaseConsumer = Assignors::new().with(assignor).create(&config)?;
    handle.subscribe(&consumer, ["orders", "users"])?;

    while handle.current().generation.is_none() {
        if let Some(Err(error)) = consumer.poll(Duration::from_millis(100)) {
            eprintln!("{error}");
        }
    }
    let held = handle.current();
    for (topic, partitions) in &held.active {
        println!("active in {topic}: {partitions}");
    }
    for (table, partitions) in &held.standby {
        println!("standby of {table}: {partitions}");
    }
    println!("leads the application: {}", handle.is_leader());
    Ok(())
}
