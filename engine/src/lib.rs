//! Placement: values to plan.
//!
//! Pure, total and deterministic: no clock, no I/O, no randomness; the same answer for any order of members.
#![forbid(unsafe_code)]

mod flow;
mod plan;
mod problem;

pub use plan::{
    CopartitionGroup, GroupError, GroupErrorKind, MemberPlan, Move, MoveKind, Plan, Report, Role,
    Warning, WarningKind,
};
pub use problem::{Claims, Copartition, GlobalTable, Member, Partitions, Problem, Table, Topic};
