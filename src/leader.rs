//! What a leader does: members' bytes to an engine problem, its plan to this round, this round to members' bytes.
//!
//! Pure but for its [`Memory`], which is passed in: no clock, no I/O, no librdkafka. It always answers. One member's
//! damage costs that member its history (`reading`); a topic in trouble keeps its owners (`topics`); a plan
//! that cannot be made is replaced by a plain one (`plain`); what is too large to be written is left out, in the
//! order routes of topics without tables, all routes, own part. What the group cannot mend is told to every member (see
//! [`DeliveredKind`](crate::DeliveredKind)).
#[cfg(test)]
mod hostile;
mod plain;
mod reading;
mod round;
mod routes;
#[cfg(test)]
mod tests;
mod topics;
mod writing;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rdkafka_assignor_engine::{self as engine, GroupErrorKind, Plan, Problem};
use rdkafka_assignor_protocol::Routes;

use crate::assignor::{Assignment, Group};
use crate::config::Settings;
use crate::delivered::{DeliveredError, DeliveredKind};
use crate::led::{LeaderWarning, Led, Share};
use crate::partitions::{PartitionSets, sets_to_ranges};
use reading::Reading;

/// Errors that are delivered in full; the rest is counted in one more.
const MOST_ERRORS: usize = 16;

/// Longest text of a delivered error, in characters.
const LONGEST_TEXT: usize = 500;

/// What a leader keeps from one rebalance to the next.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Rebalances led so far.
    epoch: u64,
    /// Partition counts as they were seen last.
    counts: BTreeMap<String, u32>,
    /// Generation of the last rebalance, and the actives that each member was given.
    last: Option<(i32, BTreeMap<String, PartitionSets>)>,
}

impl Memory {
    /// What this leader gave a member last.
    fn claims_of(&self, member: &str) -> engine::Claims {
        let Some((generation, members)) = &self.last else {
            return engine::Claims::default();
        };
        let given = members.get(member).map(sets_to_ranges);
        engine::Claims {
            generation: Some(*generation),
            partitions: given.unwrap_or_default(),
        }
    }

    fn remember(&mut self, problem: &Problem, led: &Led) {
        let counts = problem.topics.iter();
        self.counts = counts
            .map(|(name, topic)| (name.clone(), topic.partitions))
            .collect();
        let given = led
            .members
            .iter()
            .map(|(id, share)| (id.clone(), share.active.clone()));
        self.last = Some((led.generation, given.collect()));
    }
}

/// Decides a rebalance.
pub(crate) fn lead(
    settings: &Settings,
    memory: &mut Memory,
    group: &Group,
) -> (BTreeMap<String, Assignment>, Led) {
    lead_with(engine::plan, settings, memory, group)
}

fn lead_with(
    planner: impl Fn(&Problem) -> Plan,
    settings: &Settings,
    memory: &mut Memory,
    group: &Group,
) -> (BTreeMap<String, Assignment>, Led) {
    memory.epoch += 1;
    let mut reading = Reading::of(group, settings, memory);
    let problem = Problem {
        topics: topics::placeable(group, &mut reading.members, &memory.counts),
        members: reading.members,
        leader_topic: settings.leader_topic.clone(),
        generation: Some(group.generation),
    };
    let decide = |plan: Plan| Decision::of(plan, group, settings, &problem, &reading.hosts);
    // Planning only reads; whatever it left half done is gone with it.
    let planned = catch_unwind(AssertUnwindSafe(|| decide(planner(&problem))));
    let (decision, panicked) = match planned {
        Ok(decision) => (decision, None),
        Err(payload) => (decide(plain::plan(&problem)), Some(panic_message(payload))),
    };
    let routes = decision.routes;
    let mut led = report(group, decision.plan, decision.shares);
    for (id, share) in &mut led.members {
        share.host = reading.hosts.get(id).cloned();
    }
    led.epoch = memory.epoch;
    led.warnings.extend(reading.warnings);
    led.warnings.extend(routes::shared_hosts(&reading.hosts));
    if let Some(message) = panicked {
        led.errors.push(planning_failed());
        led.warnings.push(planning_panicked(message));
    }
    memory.remember(&problem, &led);
    (writing::assignments(group, &mut led, &routes), led)
}

fn report(group: &Group, plan: Plan, members: BTreeMap<String, Share>) -> Led {
    Led {
        group: group.id.clone(),
        generation: group.generation,
        members,
        report: plan.report,
        warnings: plan.warnings.into_iter().map(to_warning).collect(),
        errors: delivered(&plan.errors),
        ..Led::default()
    }
}

/// A plan with what follows from it.
struct Decision {
    plan: Plan,
    shares: BTreeMap<String, Share>,
    routes: Routes,
}

impl Decision {
    fn of(
        plan: Plan,
        group: &Group,
        settings: &Settings,
        problem: &Problem,
        hosts: &BTreeMap<String, String>,
    ) -> Self {
        let shares = round::shares(group, settings.protocol, &problem.members, &plan);
        let routes = routes::routes(&plan.groups, &shares, hosts);
        Decision {
            plan,
            shares,
            routes,
        }
    }
}

fn planning_failed() -> DeliveredError {
    DeliveredError {
        kind: DeliveredKind::PlanningFailed,
        text: "the leader could not plan: partitions are spread plainly, tables have no copies"
            .to_owned(),
    }
}

fn planning_panicked(message: String) -> LeaderWarning {
    LeaderWarning {
        member: None,
        kind: "planning-panicked",
        detail: message,
    }
}

fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let string = || payload.downcast_ref::<String>().cloned();
    text.or_else(string)
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// The plan's errors as they go over the wire: not too many, and not too long.
fn delivered(errors: &[engine::GroupError]) -> Vec<DeliveredError> {
    let mut delivered: Vec<_> = errors.iter().take(MOST_ERRORS).map(deliver).collect();
    if let Some(next) = errors.get(MOST_ERRORS) {
        delivered.push(DeliveredError {
            kind: kind(next.kind),
            text: format!("and {} more errors", errors.len() - MOST_ERRORS),
        });
    }
    delivered
}

fn deliver(error: &engine::GroupError) -> DeliveredError {
    DeliveredError {
        kind: kind(error.kind),
        text: error.detail.chars().take(LONGEST_TEXT).collect(),
    }
}

fn kind(kind: GroupErrorKind) -> DeliveredKind {
    match kind {
        GroupErrorKind::CopartitionMismatch => DeliveredKind::CopartitionMismatch,
        GroupErrorKind::NoSuchTopic => DeliveredKind::NoSuchTopic,
        GroupErrorKind::IncompleteSubscription => DeliveredKind::IncompleteSubscription,
        // The engine is a crate of its own and may learn new kinds.
        _ => DeliveredKind::PlanningFailed,
    }
}

fn to_warning(warning: engine::Warning) -> LeaderWarning {
    LeaderWarning {
        member: warning.member,
        kind: warning.kind.name(),
        detail: warning.detail,
    }
}
