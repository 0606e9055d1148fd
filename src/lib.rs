//! Custom partition assignors for rdkafka.
pub mod assignor;
mod plugin;
pub use plugin::Client;
