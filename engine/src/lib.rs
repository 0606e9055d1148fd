//! Placement: values to plan.
//!
//! Pure, total and deterministic: no clock, no I/O, no randomness; the same answer for any order of members.
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
