//! Placement: values to plan.
//!
//! [`plan`] takes what a leader knows about its group and says who is active for which partition, who keeps
//! standby copies of which table, and why anything moves. [`routes`] turns members' lists into who serves what.
//!
//! ```
//! use rdkafka_assignor_engine::{Member, MoveKind, Problem, Table, Topic, plan};
//!
//! let member = |id| Member {
//!     tables: vec![Table { name: "counts".into(), source: "orders".into() }],
//!     standby_replicas: 1,
//!     ..Member::new(id, ["orders", "users"])
//! };
//! let topic = Topic { partitions: 4, ..Topic::default() };
//! let problem = Problem {
//!     topics: [("orders".into(), topic.clone()), ("users".into(), topic)].into(),
//!     members: vec![member("m1"), member("m2")],
//!     ..Problem::default()
//! };
//! let plan = plan(&problem);
//! assert_eq!(plan.members["m1"].active["orders"], [0, 1]);
//! assert_eq!(plan.members["m1"].active["users"], [0, 1]);
//! assert_eq!(plan.members["m1"].standby["counts"], [2, 3]);
//! assert!(plan.report.moves.iter().all(|m| m.kind == MoveKind::Cold));
//! ```
//!
//! Pure, total and deterministic: no clock, no I/O, no randomness; the same answer for any order of members.
//! Nothing that a member says makes it fail: what is not believed becomes a [`Warning`]. The way of a plan:
//!
//! ```text
//! Problem -> door (names to indices, claims judged) -> groups -> actives -> standbys -> report -> Plan
//! ```
//!
//! Not here: Kafka's protocol, what a round of a cooperative rebalance may already hand out, and lag.
#![forbid(unsafe_code)]

mod actives;
mod door;
mod flow;
mod groups;
mod hub;
mod index;
mod leader_topic;
mod past;
mod placement;
mod plan;
mod problem;
mod ranges;
mod report;
mod routes;
#[cfg(test)]
mod samples;
mod standbys;
#[cfg(test)]
mod tests;
mod warnings;
mod weights;

pub use plan::{
    CopartitionGroup, GroupError, GroupErrorKind, MemberPlan, Move, MoveKind, Plan, Report, Role,
    Warning, WarningKind,
};
pub use problem::{Claims, Copartition, GlobalTable, Member, Partitions, Problem, Table, Topic};
pub use routes::{GroupRoutes, PartitionRoute, StandbyRoute, routes};

use door::{History, Roster};
use placement::Placement;
use warnings::Warnings;

/// Places a group.
///
/// Total: whatever members say, there is a plan, with warnings for what was not believed and errors for what
/// keeps a co-partition set from being placed.
pub fn plan(problem: &Problem) -> Plan {
    let mut warnings = Warnings::default();
    let roster = Roster::admit(problem, &mut warnings);
    let history = History::read(&roster, problem.generation, &mut warnings);
    let (groups, errors) = groups::form(&roster);
    let placement = Placement::find(&roster, &history, &groups);
    Plan {
        members: placement.shares(),
        groups: groups.iter().map(|group| group.named(&roster)).collect(),
        report: report::write(&placement),
        warnings: warnings.into_sorted(),
        errors,
    }
}
