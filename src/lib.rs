//! Custom partition assignors for rdkafka.
pub mod assignor;
mod claims;
mod config;
mod copartitioned;
mod delivered;
mod handle;
mod held;
mod leader;
mod leader_topic;
mod led;
mod partitions;
mod plugin;
mod telemetry;

pub use config::{Builder, ConfigError};
pub use copartitioned::Copartitioned;
pub use delivered::{DeliveredError, DeliveredKind};
pub use handle::Handle;
pub use held::Held;
pub use led::{LeaderWarning, Led, Share};
pub use partitions::PartitionSets;
pub use plugin::Client;
pub use rdkafka_assignor_engine as engine;
pub use rdkafka_assignor_protocol::PartitionSet;
