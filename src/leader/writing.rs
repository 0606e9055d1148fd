//! This round to members' bytes.
//!
//! A broker keeps a group's subscriptions and assignments in one record of about 1 MB, and readers accept only so much. When it gets
//! too large, routes of topics without tables are left out first, then all routes; a member's part that is too large by itself is left out too, with a
//! warning, and the member keeps its actives.
use std::collections::BTreeMap;

use rdkafka_assignor_protocol::{
    AssignmentUserData, Delivered, EncodedRoutes, GlobalTable, Routes, WriteUserDataError,
};

use super::routes::of_tables;
use crate::assignor::{Assignment, Group, Member, TopicPartitions};
use crate::delivered::DeliveredError;
use crate::led::{LeaderWarning, Led, Share};
use crate::partitions::to_lists;

/// With more than this in a group's record, routes are left out; brokers take 1,048,588 bytes unless told otherwise.
const MOST_BYTES: usize = 900_000;

/// Bytes for every member. Adds to the report what had to be left out, and how much there is.
pub(super) fn assignments(
    group: &Group,
    led: &mut Led,
    routes: &Routes,
) -> BTreeMap<String, Assignment> {
    let room = MOST_BYTES.saturating_sub(subscriptions(group));
    let with_routes = with_routes(led, routes, room);
    let (assignments, left_out) = with_routes.unwrap_or_else(|| write(led, None));
    led.warnings.extend(left_out.into_iter().map(unwritable));
    led.bytes = size(&assignments);
    assignments
}

/// Assignments, and the members whose own part is left out of theirs.
type Written = (
    BTreeMap<String, Assignment>,
    Vec<(String, WriteUserDataError)>,
);

/// With as many routes as there is room for; `None` if there are none, or room for none.
fn with_routes(led: &mut Led, routes: &Routes, room: usize) -> Option<Written> {
    let of_tables = of_tables(routes);
    let fewer = of_tables.groups.len() < routes.groups.len();
    let attempts = [
        (routes, "routes of topics without tables"),
        (&of_tables, "routes"),
    ];
    for (routes, what) in attempts.into_iter().skip(usize::from(!fewer)) {
        if routes.groups.is_empty() {
            return None;
        }
        match fitting(led, routes, room) {
            Ok(written) => return Some(written),
            Err(why) => led
                .warnings
                .push(too_large(None, format!("{what} are left out: {why}"))),
        }
    }
    None
}

/// With these routes, or why that is too much.
fn fitting(led: &Led, routes: &Routes, room: usize) -> Result<Written, String> {
    let encoded = routes.encode().map_err(|error| error.to_string())?;
    let bytes = encoded.as_bytes().len().saturating_mul(led.members.len());
    if bytes > room {
        return Err(format!("they alone are {bytes} bytes in all"));
    }
    let written = write(led, Some(&encoded));
    match size(&written.0) {
        bytes if bytes > room => Err(format!("{bytes} bytes in all")),
        _ => Ok(written),
    }
}

fn write(led: &Led, routes: Option<&EncodedRoutes>) -> Written {
    let errors: Vec<_> = led.errors.iter().map(DeliveredError::to_wire).collect();
    let mut assignments = BTreeMap::new();
    let mut left_out = Vec::new();
    for (id, share) in &led.members {
        let own = own_part(led, share, &errors);
        let user_data = own.encode(routes).unwrap_or_else(|error| {
            left_out.push((id.clone(), error));
            Vec::new()
        });
        let partitions = to_lists(&share.active);
        assignments.insert(
            id.clone(),
            Assignment {
                partitions,
                user_data,
            },
        );
    }
    (assignments, left_out)
}

fn own_part(led: &Led, share: &Share, errors: &[Delivered]) -> AssignmentUserData {
    let global = share.global.iter();
    AssignmentUserData {
        generation: Some(led.generation),
        epoch: led.epoch,
        standby: share.standby.clone(),
        global: global
            .map(|(name, partitions)| GlobalTable {
                name: name.clone(),
                partitions: *partitions,
            })
            .collect(),
        errors: errors.to_vec(),
    }
}

fn unwritable((member, error): (String, WriteUserDataError)) -> LeaderWarning {
    too_large(Some(member), format!("its user data is left out: {error}"))
}

fn too_large(member: Option<String>, detail: String) -> LeaderWarning {
    LeaderWarning {
        member,
        kind: "too-large",
        detail,
    }
}

/// What the members' subscriptions take of the record.
fn subscriptions(group: &Group) -> usize {
    let topics = |member: &Member| {
        member
            .topics
            .iter()
            .map(|topic| 2 + topic.len())
            .sum::<usize>()
    };
    let owned = |member: &Member| member.owned.as_ref().map_or(0, lists);
    let said = |member: &Member| member.user_data.as_ref().map_or(0, Vec::len);
    let member = |member: &Member| 20 + topics(member) + owned(member) + said(member);
    group.members.iter().map(member).sum()
}

/// What the assignments take of it.
fn size(assignments: &BTreeMap<String, Assignment>) -> usize {
    let member = |member: &Assignment| 10 + lists(&member.partitions) + member.user_data.len();
    assignments.values().map(member).sum()
}

/// As the consumer protocol writes it: 4 bytes per partition, 6 and its name per topic.
fn lists(partitions: &TopicPartitions) -> usize {
    partitions
        .iter()
        .map(|(name, list)| 6 + name.len() + 4 * list.len())
        .sum()
}
