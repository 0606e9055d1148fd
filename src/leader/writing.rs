//! This round to members' bytes.
//!
//! A broker keeps a group's subscriptions and assignments in one record of about 1 MB, and readers accept only so much. When it gets
//! too large, routes are left out first; a member's part that is too large by itself is left out too, with a
//! warning, and the member keeps its actives.
use std::collections::BTreeMap;

use rdkafka_assignor_protocol::{
    AssignmentUserData, Delivered, EncodedRoutes, GlobalTable, Routes, WriteUserDataError,
};

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
    let encoded = encode_routes(led, routes, room);
    let mut assignments = write(led, encoded.as_ref());
    if encoded.is_some() && size(&assignments) > room {
        led.warnings.push(without_routes(format!(
            "{} bytes in all",
            size(&assignments)
        )));
        assignments = write(led, None);
    }
    led.bytes = size(&assignments);
    assignments
}

fn encode_routes(led: &mut Led, routes: &Routes, room: usize) -> Option<EncodedRoutes> {
    if routes.groups.is_empty() {
        return None;
    }
    let left_out = match routes.encode() {
        Ok(encoded) => {
            let bytes = encoded.as_bytes().len().saturating_mul(led.members.len());
            if bytes <= room {
                return Some(encoded);
            }
            format!("they alone are {bytes} bytes in all")
        }
        Err(error) => error.to_string(),
    };
    led.warnings.push(without_routes(left_out));
    None
}

fn without_routes(why: String) -> LeaderWarning {
    too_large(None, format!("routes are left out: {why}"))
}

fn write(led: &mut Led, routes: Option<&EncodedRoutes>) -> BTreeMap<String, Assignment> {
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
    led.warnings.extend(left_out.into_iter().map(unwritable));
    assignments
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
