//! What an operator reads: `tracing` spans and events, as the page of the crate lists them, of bounded length.
use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka_assignor_engine::{Move, MoveKind, Report, Role};
use rdkafka_assignor_protocol::{PartitionSet, ReadUserDataError, WriteUserDataError};
use tracing::field::Empty;
use tracing::{Span, debug, error, info, info_span, warn};

use crate::assignor::{Assigned, Group, Join};
use crate::held::Held;
use crate::led::{Led, Share};
use crate::partitions::PartitionSets;
use crate::router::UnusableRoutes;

/// Members, warnings and errors that are written one by one; the rest is counted.
const MOST_LINES: usize = 100;

/// Longest text of one field, in characters.
const LONGEST: usize = 1_000;

/// The span of a rebalance that this member leads.
pub(crate) fn rebalance(group: &Group) -> Span {
    info_span!(
        "rebalance",
        group = group.id,
        generation = group.generation,
        leader = group.leader,
        members = group.members.len(),
        topics = group.topics.len(),
        duration_us = Empty,
        moved = Empty,
        promoted = Empty,
        cold = Empty,
        standbys = Empty,
        bytes = Empty,
    )
}

/// The outcome of a rebalance on its leader, within its span.
pub(crate) fn led(span: &Span, led: &Led, leader: &str, duration: Duration) {
    let promoted = |m: &&Move| m.role == Role::Active && m.kind == MoveKind::Promoted;
    span.record(
        "duration_us",
        u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
    );
    span.record("moved", led.report.active_moved);
    span.record("promoted", led.report.moves.iter().filter(promoted).count());
    span.record("cold", led.report.active_cold);
    span.record(
        "standbys",
        led.members
            .values()
            .map(|share| len(&share.standby))
            .sum::<u64>(),
    );
    span.record("bytes", led.bytes);
    warnings(led);
    errors(led, leader);
    shares(led);
    moves(&led.report);
    info!(
        warnings = led.warnings.len(),
        errors = led.errors.len(),
        active_spread = led.report.active_spread,
        "rebalanced"
    );
}

fn warnings(led: &Led) {
    for warning in led.warnings.iter().take(MOST_LINES) {
        let member = warning.member.as_deref().map(bounded);
        warn!(
            group = led.group,
            generation = led.generation,
            member,
            kind = warning.kind,
            "{}",
            bounded(&warning.detail)
        );
    }
    if let Some(more) = beyond(led.warnings.len()) {
        warn!(group = led.group, more, "more warnings");
    }
}

fn errors(led: &Led, leader: &str) {
    for delivered in led.errors.iter().take(MOST_LINES) {
        error!(
            group = led.group,
            member = bounded(leader),
            generation = led.generation,
            code = delivered.kind.code(),
            "{}",
            bounded(&delivered.text)
        );
    }
}

fn shares(led: &Led) {
    for (member, share) in led.members.iter().take(MOST_LINES) {
        let Share {
            host,
            active,
            withheld,
            standby,
            global,
        } = share;
        info!(
            member = bounded(member),
            host = host.as_deref().map(bounded),
            active = listed(active),
            withheld = listed(withheld),
            standby = listed(standby),
            global = named(global),
            "assigns"
        );
    }
    if let Some(more) = beyond(led.members.len()) {
        info!(more, "assigns to more members");
    }
}

fn moves(report: &Report) {
    for m in report.moves.iter().take(MOST_LINES) {
        debug!(
            role = ?m.role,
            kind = ?m.kind,
            names = bounded(&m.names.join(",")),
            partition = m.partition,
            from = m.from.as_deref().map(bounded),
            to = m.to.as_deref().map(bounded),
            "{}", bounded(&m.reason)
        );
    }
    if let Some(more) = beyond(report.moves.len()) {
        debug!(more, "more moves");
    }
}

/// A member's own assignment.
pub(crate) fn assigned(assigned: &Assigned<'_>, held: &Held) {
    info!(
        group = assigned.client.group_id(),
        client = assigned.client.name(),
        member = bounded(assigned.member),
        generation = assigned.generation,
        active = listed(&held.active),
        standby = listed(&held.standby),
        global = named(&held.global),
        "assigned"
    );
    for delivered in held.errors.iter().take(MOST_LINES) {
        error!(
            group = assigned.client.group_id(),
            client = assigned.client.name(),
            member = bounded(assigned.member),
            generation = assigned.generation,
            code = delivered.kind.code(),
            "{}",
            bounded(&delivered.text)
        );
    }
}

/// The leader's user data could not be read.
pub(crate) fn unreadable_assignment(assigned: &Assigned<'_>, error: &ReadUserDataError) {
    warn!(
        group = assigned.client.group_id(),
        member = bounded(assigned.member),
        generation = assigned.generation,
        "user data of the assignment, and the standbys in it, could not be read: {error}"
    );
}

/// The routes of the assignment are not used; everything else in it is.
pub(crate) fn unusable_routes(assigned: &Assigned<'_>, error: &UnusableRoutes) {
    warn!(
        group = assigned.client.group_id(),
        member = bounded(assigned.member),
        generation = assigned.generation,
        "routes are unknown until the next assignment: {}",
        bounded(&error.to_string())
    );
}

/// This member's user data could not be written: it joins as a newcomer.
pub(crate) fn unwritable_subscription(join: &Join<'_>, error: &WriteUserDataError) {
    warn!(
        group = join.client.group_id(),
        "joins without user data, it could not be written: {error}"
    );
}

fn beyond(count: usize) -> Option<usize> {
    count.checked_sub(MOST_LINES).filter(|more| *more > 0)
}

fn len(sets: &PartitionSets) -> u64 {
    sets.values().map(|set| set.len()).sum()
}

/// `orders 0-3,7; users 0-3`, and `-` for nothing.
fn listed(sets: &PartitionSets) -> String {
    let part = |(name, set): (&String, &PartitionSet)| {
        format!("{} {}", bounded(name), bounded(&set.to_string()))
    };
    joined(sets.iter().map(part))
}

/// `rates; regions`, and `-` for nothing.
fn named(global: &BTreeMap<String, u32>) -> String {
    joined(global.keys().map(|name| bounded(name)))
}

fn joined(mut parts: impl ExactSizeIterator<Item = String>) -> String {
    let Some(mut text) = parts.next() else {
        return "-".to_owned();
    };
    while text.len() <= LONGEST
        && let Some(part) = parts.next()
    {
        text.push_str("; ");
        text.push_str(&part);
    }
    match parts.len() {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

/// The text without control characters, cut where it gets too long.
fn bounded(text: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut rest = text.chars();
    let mut bounded: String = rest.by_ref().take(LONGEST).map(printable).collect();
    if rest.next().is_some() {
        bounded.push('…');
    }
    bounded
}

#[cfg(test)]
mod tests;
