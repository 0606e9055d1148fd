//! The engine's tests, written from the rules alone: nothing here knows how the engine searches.
//!
//! One binary, so that the shared checker is built once: `cargo test -p rdkafka-assignor-engine --test suite oracle::`
//! runs one part.

mod checker;
mod common;
mod faust;
mod faust_group;
mod faust_table;
mod field;
mod groups;
mod histories;
mod hostile;
mod oracle;
mod shapes;
