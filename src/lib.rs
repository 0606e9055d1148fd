//! Custom partition assignors for rdkafka.
pub mod assignor;
pub mod cooperative;
mod plugin;
mod register;
mod round;
mod strategy;
mod target;

pub use plugin::Client;
pub use plugin::mock;
pub use register::{Assignors, CreateError};
