//! Subscriptions and assignments of any client, with their user data.
use anyhow::Context;
use rdkafka_assignor_protocol::consumer::{
    Assignment, DecodeError, EncodeError, Inspected, Subscription, Version,
};

use super::node::Node;
use super::user_data;

/// What Kafka makes of a subscription that says a version and stops after the fields of version 0.
const STOPS_EARLY: &str =
    "stops after the fields of version 0, as Faust's does; Kafka's clients drop such a member";

/// A subscription of any version, or one that stops early.
///
/// # Errors
/// Says which field is at fault.
pub fn subscription(bytes: &[u8]) -> anyhow::Result<Node> {
    let inspected = Subscription::inspect(bytes);
    match &inspected.fault {
        Some(fault) if !stops_early(&inspected, bytes) => {
            Err(fault.clone()).context("not a subscription")
        }
        _ => Ok(subscription_node(inspected)),
    }
}

/// A subscription that takes all of the bytes.
pub fn whole_subscription(bytes: &[u8]) -> Option<Node> {
    let inspected = Subscription::inspect(bytes);
    let fits = match inspected.fault {
        None => fits(bytes, inspected.version, |version| {
            inspected.subscription.encode(version)
        }),
        Some(_) => stops_early(&inspected, bytes),
    };
    fits.then(|| subscription_node(inspected))
}

/// A subscription of a version that is not known, with more fields than are known.
pub fn later_subscription(bytes: &[u8]) -> Option<Node> {
    let read = || subscription(bytes).ok();
    is_later(version(bytes)).then(read)?
}

/// An assignment of any version.
///
/// # Errors
/// Says which field is at fault.
pub fn assignment(bytes: &[u8]) -> anyhow::Result<Node> {
    let assignment = Assignment::decode(bytes).context("not an assignment")?;
    Ok(assignment_node(version(bytes), assignment))
}

/// An assignment that takes all of the bytes.
pub fn whole_assignment(bytes: &[u8]) -> Option<Node> {
    let assignment = Assignment::decode(bytes).ok()?;
    let version = version(bytes);
    fits(bytes, version, |version| assignment.encode(version))
        .then(|| assignment_node(version, assignment))
}

/// An assignment of a version that is not known, with more fields than are known.
pub fn later_assignment(bytes: &[u8]) -> Option<Node> {
    let read = || assignment(bytes).ok();
    is_later(version(bytes)).then(read)?
}

/// Kafka raises the version by one every few years.
fn is_later(version: i16) -> bool {
    (4..100).contains(&version)
}

/// Whether the known fields that were read take all of the bytes.
fn fits(
    bytes: &[u8],
    version: i16,
    encode: impl Fn(Version) -> Result<Vec<u8>, EncodeError>,
) -> bool {
    let known = match version {
        0 => Version::V0,
        1 => Version::V1,
        2 => Version::V2,
        3 => Version::V3,
        _ => Version::LATEST,
    };
    encode(known).is_ok_and(|encoded| encoded.len() == bytes.len())
}

/// Whether the bytes end with the user data although the version has more fields.
fn stops_early(inspected: &Inspected, bytes: &[u8]) -> bool {
    let field = "owned_partitions";
    inspected.fault == Some(DecodeError::Truncated { field })
        && fits(bytes, 0, |version| inspected.subscription.encode(version))
}

fn version(bytes: &[u8]) -> i16 {
    bytes
        .first_chunk()
        .map_or(0, |version| i16::from_be_bytes(*version))
}

fn subscription_node(inspected: Inspected) -> Node {
    let note = inspected
        .fault
        .is_some()
        .then_some(("note", STOPS_EARLY.into()));
    let Inspected {
        version,
        subscription,
        ..
    } = inspected;
    let mut fields = vec![
        ("kind", "subscription".into()),
        ("version", version.into()),
        ("topics", subscription.topics.into()),
        ("owned", subscription.owned.into()),
        ("generation", subscription.generation.into()),
        ("rack", subscription.rack.into()),
        ("user_data", user_data::within(subscription.user_data)),
    ];
    fields.extend(note);
    Node::Fields(fields)
}

fn assignment_node(version: i16, assignment: Assignment) -> Node {
    Node::Fields(vec![
        ("kind", "assignment".into()),
        ("version", version.into()),
        ("partitions", assignment.partitions.into()),
        ("user_data", user_data::within(assignment.user_data)),
    ])
}
