//! Kafka's consumer protocol and the assignor's user data: bytes to values and back.
//!
//! * [`consumer`]: what every Kafka consumer writes into JoinGroup and SyncGroup, versions 0 to 3.
//! * [`consumer::StickyUserData`], [`FaustUserData`]: what other assignors add to it, for people to look at.
//! * [`SubscriptionUserData`], [`AssignmentUserData`], [`Routes`]: what our members and our leader add to it,
//!   version 1. The layout is specified byte by byte in the chapter "Wire format" of DESIGN.md.
//!
//! Everything read here was written by somebody else: a length is a claim, memory is bounded by the bytes at
//! hand, and every fault is a typed error that names the field. Nothing here knows what a plan is.
//!
//! ```
//! use rdkafka_assignor_protocol::{PartitionSet, SubscriptionUserData};
//!
//! let mut member = SubscriptionUserData::new("shop");
//! member.active.partitions.insert("orders".into(), PartitionSet::from_iter([0, 1, 2, 7]));
//! let bytes = member.encode()?;
//! let read = SubscriptionUserData::decode(&bytes)?;
//! assert_eq!(read, member);
//! assert_eq!(read.active.partitions["orders"].to_string(), "0-2,7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

pub mod consumer;
mod faust;
mod partitions;
mod user_data;

pub use faust::{
    FaustAssignment, FaustDistribution, FaustPartitions, FaustUserData, MAX_FAUST_JSON,
    ReadFaustError,
};
pub use partitions::{MAX_PARTITION, PartitionSet};
pub use user_data::{
    AssignmentUserData, Claims, Delivered, EncodedRoutes, Envelope, GlobalTable, GroupRoutes, Kind,
    MAX_COMPRESSED, MAX_INFLATED, MAX_PARTITION_COUNT, MAX_ROUTES_INFLATED, ReadUserDataError,
    Routes, Served, ServedCopy, SubscriptionUserData, Table, VERSION, WriteUserDataError,
};
