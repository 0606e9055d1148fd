//! The door: what members say is checked here, once, and everything behind it trusts the dense result.
//!
//! Three steps, each of which drops what it cannot believe and notes a warning:
//! [`Roster`] (who is there, what exists, who subscribes), then its declarations (tables, global tables,
//! replicas, co-partition sets), then the [`History`] (who had what, newest generation first).
//!
//! ```text
//! said by m2                       believed                       warning
//! topics   orders orders ghosts    orders                         duplicate-name, unknown-topic
//! tables   counts <- users         (not subscribed to users)      source-not-subscribed
//! active   orders -1,0,7-9 of 8    orders 0,7                     no-such-partition "-1,8-9"
//! standby  lost 3                  (nobody declares lost)         unknown-table
//! ```
//!
//! Guarantees: indices are in range and lists sorted without duplicates; the result does not depend on the
//! order of members (I9); it costs no more than the input and the partitions it names (I10).
mod declarations;
mod history;
mod roster;

pub(crate) use history::{History, Holders};
pub(crate) use roster::Roster;
