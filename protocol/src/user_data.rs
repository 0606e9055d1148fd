//! What our members tell the leader, and what the leader tells them: user data, version 1.
//!
//! ```text
//! subscription:  envelope | member's part
//! assignment:    envelope | member's part | route block (a length of 0 when there is none)
//! ```
//!
//! Equal values are equal bytes, whatever order their lists are in: brokers take changed metadata as a reason to
//! rebalance. A part that is broken does not take the others with it.
mod assignment;
mod body;
mod envelope;
mod error;
mod lists;
mod part;
mod routes;
mod subscription;

use serde::{Deserialize, Serialize};

pub use assignment::{AssignmentUserData, Delivered};
pub use envelope::{Envelope, Kind, VERSION};
pub use error::{ReadUserDataError, WriteUserDataError};
pub(crate) use lists::listed;
pub(crate) use part::Part;
pub use part::{MAX_COMPRESSED, MAX_INFLATED, MAX_ROUTES_INFLATED};
pub use routes::{EncodedRoutes, GroupRoutes, Routes, Served, ServedCopy};
pub use subscription::{Claims, SubscriptionUserData, Table};

/// Largest partition *count* that readers believe, as somebody may want to count to it.
pub const MAX_PARTITION_COUNT: u32 = 1_000_000;

/// A table that every member holds whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GlobalTable {
    /// Name, unique in the application.
    pub name: String,
    /// Partitions of its changelog, at most [`MAX_PARTITION_COUNT`]; the leader has no metadata for it.
    pub partitions: u32,
}

/// Why a field is refused, in both directions.
struct Fault {
    field: &'static str,
    reason: String,
}

impl Fault {
    /// A fault unless `holds`.
    fn unless(holds: bool, field: &'static str, reason: &str) -> Result<(), Self> {
        let reason = reason.to_owned();
        holds.then_some(()).ok_or(Fault { field, reason })
    }
}

impl From<Fault> for ReadUserDataError {
    fn from(Fault { field, reason }: Fault) -> Self {
        ReadUserDataError::Malformed { field, reason }
    }
}

impl From<Fault> for WriteUserDataError {
    fn from(Fault { field, reason }: Fault) -> Self {
        WriteUserDataError::Invalid { field, reason }
    }
}

/// Partition counts are believed up to a limit.
fn check_count(field: &'static str, partitions: u32) -> Result<(), Fault> {
    let believed = partitions <= MAX_PARTITION_COUNT;
    Fault::unless(believed, field, "more than 1000000 partitions")
}
