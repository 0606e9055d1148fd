//! Kafka's consumer protocol and the assignor's user data: bytes to values and back.
//!
//! Nothing here knows what a plan is; nothing here trusts a length it reads.
#![forbid(unsafe_code)]

mod partitions;
mod user_data;

pub use partitions::PartitionSet;
pub use user_data::{
    AssignmentUserData, Claims, Delivered, GlobalTable, GroupRoutes, Routes, Served, ServedCopy,
    SubscriptionUserData, Table,
};
