//! Custom partition assignors for [rdkafka](https://docs.rs/rdkafka) consumers, and one for stateful stream processing.
//!
//! * [`Assignors`] creates consumers that know assignors of one's own: implement [`Assignor`](assignor::Assignor),
//!   name it in `partition.assignment.strategy`, also next to librdkafka's own.
//! * [`Copartitioned`] is the assignor that comes along: equal partition numbers of topics that are joined go to
//!   one member, partitions stay where they are if they can, and tables have standby copies on other members that
//!   take over warm when one dies. Its [`Handle`] tells the application what is its own at every moment, and its
//!   [`Router`] which member serves a key.
//!
//! ```
//! use rdkafka::ClientConfig;
//! use rdkafka::consumer::BaseConsumer;
//! use rdkafka_assignor::{Assignors, Copartitioned};
//!
//! let assignor = Copartitioned::builder("shop")
//!     .host("10.0.0.1:8080")
//!     .table("counts", "orders")
//!     .build()?;
//! let handle = assignor.handle();
//!
//! let mut config = ClientConfig::new();
//! config.set("group.id", "shop").set("partition.assignment.strategy", "copartitioned");
//! let consumer: BaseConsumer = Assignors::new().with(assignor).create(&config)?;
//! handle.subscribe(&consumer, ["orders", "users"])?;
//!
//! assert!(!handle.is_active("orders", 0)); // not before the group has given it
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Logs
//!
//! Everything is told by `tracing`, to the subscriber of the thread that creates the consumer:
//!
//! | level | what |
//! |---|---|
//! | span `rebalance` (info) | on the leader: group, generation, members, topics, and once decided duration, moves, bytes |
//! | info | on the leader what every member got, on a member what it got itself: `orders 0-3,7; users 0-3` |
//! | warn | what a member sent that was not understood or not believed, with its id |
//! | error | what the group cannot mend, and the member is told |
//! | debug | moves with their reasons |
//!
//! All of it is of bounded length, whatever the size of the group; what members wrote is stripped of control characters.
//!
//! # What it is not
//!
//! It is no stream processor: it consumes no changelog, stores no table and serves no query; it says which
//! partitions and copies a member is to keep. It is not for `group.protocol=consumer`, where brokers assign, and it
//! works with the one librdkafka that it was compiled for.
//!
//! [`engine`] makes the plans, without Kafka: for tools that ask what would happen.
pub mod assignor;
mod claims;
mod config;
pub mod cooperative;
mod copartitioned;
mod delivered;
#[cfg(test)]
mod fixtures;
mod handle;
mod held;
mod leader;
mod leader_topic;
mod led;
mod partitioner;
mod partitions;
mod plugin;
mod register;
mod round;
mod router;
mod strategy;
mod target;
mod telemetry;

pub use config::{Builder, ConfigError};
pub use copartitioned::Copartitioned;
pub use delivered::{DeliveredError, DeliveredKind};
pub use handle::Handle;
pub use held::Held;
pub use led::{LeaderWarning, Led, Share};
pub use partitioner::{OwnPartitioner, Partitioner};
pub use partitions::PartitionSets;
pub use plugin::{Client, mock};
pub use rdkafka_assignor_engine as engine;
pub use rdkafka_assignor_protocol::PartitionSet;
pub use register::{Assignors, CreateError};
pub use router::{Epoch, Here, Route, RouteError, Router, Routes, Served};

/// The snippets of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
