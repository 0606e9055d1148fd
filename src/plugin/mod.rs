//! The way into librdkafka: the only unsafe code.
//!
//! `shim.c` and its siblings are compiled against librdkafka's private headers and hand out flat arrays ([`ffi`]); [`flat`] turns
//! them into the values of [`crate::assignor`]; [`callbacks`] are what librdkafka calls; [`register`] is how they
//! get there; [`Client`] is the one way back.
//!
//! What is called on which thread: `assign`, `subscription_user_data` and `on_assignment` on librdkafka's main
//! thread; `on_revoked` on the thread that polls, before the application's own rebalance callback; `detach` on the
//! thread that drops the consumer. No unwind crosses into C.
mod callbacks;
mod client;
mod ffi;
mod flat;
pub mod mock;
mod register;

pub use client::Client;
pub(crate) use register::{Failure, Registered, check_version, register};
