//! User data: whose it is, and what it says.
use anyhow::{Context, bail};
use data_encoding::HEXLOWER;
use rdkafka_assignor_protocol::consumer::{CooperativeStickyUserData, StickyUserData};
use rdkafka_assignor_protocol::{
    Envelope, FaustDistribution, FaustPartitions, FaustUserData, Kind, ReadUserDataError,
};

use super::copartitioned as ours;
use super::node::Node;

/// Whether bytes begin like user data of this assignor or of Faust's, as nothing else does.
pub fn is_unmistakable(bytes: &[u8]) -> bool {
    is_ours(bytes) || FaustUserData::is_likely(bytes)
}

fn is_ours(bytes: &[u8]) -> bool {
    Envelope::decode(bytes) != Err(ReadUserDataError::NotOurs)
}

/// User data of any assignor.
///
/// # Errors
/// When it is nobody's, or broken.
pub fn read(bytes: &[u8]) -> anyhow::Result<Node> {
    if is_ours(bytes) {
        return copartitioned(bytes);
    }
    if FaustUserData::is_likely(bytes) {
        return faust(bytes);
    }
    match cooperative_sticky(bytes).or_else(|_| sticky(bytes)) {
        Ok(read) => Ok(read),
        Err(_) => bail!(
            "user data that is neither this assignor's, Faust's, sticky's nor cooperative-sticky's"
        ),
    }
}

/// User data within a subscription or an assignment: what cannot be read is shown as it is.
pub fn within(user_data: Option<Vec<u8>>) -> Node {
    let Some(bytes) = user_data else {
        return Node::Absent;
    };
    if bytes.is_empty() {
        return Node::Fields(vec![("kind", "empty".into())]);
    }
    read(&bytes).unwrap_or_else(|error| {
        Node::Fields(vec![
            ("kind", "unreadable".into()),
            ("reason", format!("{error:#}").into()),
            ("bytes", HEXLOWER.encode(&bytes).into()),
        ])
    })
}

/// User data of this assignor.
///
/// # Errors
/// Says which field is at fault.
pub fn copartitioned(bytes: &[u8]) -> anyhow::Result<Node> {
    let envelope = Envelope::decode(bytes).context("not this assignor's user data")?;
    match envelope.kind {
        Kind::Subscription => ours::subscription(bytes, envelope),
        Kind::Assignment => ours::assignment(bytes, envelope),
    }
    .context("this assignor's user data")
}

/// User data of Faust's assignor.
///
/// # Errors
/// Says where the fault is.
pub fn faust(bytes: &[u8]) -> anyhow::Result<Node> {
    let read = FaustUserData::decode(bytes).context("Faust's user data")?;
    let (actives, standbys) = read
        .assignment
        .map(|assignment| (assignment.actives, assignment.standbys))
        .unzip();
    let groups = read
        .topic_groups
        .map(|groups| Node::map(groups, Node::from));
    Ok(Node::Fields(vec![
        ("kind", "faust".into()),
        ("compressed", read.compressed.into()),
        ("url", read.url.into()),
        ("actives", actives.map(partitions).into()),
        ("standbys", standbys.map(partitions).into()),
        (
            "changelog_distribution",
            read.changelog_distribution.map(distribution).into(),
        ),
        (
            "external_topic_distribution",
            read.external_topic_distribution.map(distribution).into(),
        ),
        ("topic_groups", groups.into()),
    ]))
}

fn partitions(partitions: FaustPartitions) -> Node {
    Node::map(partitions, Node::from)
}

fn distribution(distribution: FaustDistribution) -> Node {
    Node::map(distribution, partitions)
}

/// User data of `sticky`.
///
/// # Errors
/// Says which field is at fault.
pub fn sticky(bytes: &[u8]) -> anyhow::Result<Node> {
    let read = StickyUserData::decode(bytes).context("not sticky's user data")?;
    Ok(Node::Fields(vec![
        ("kind", "sticky".into()),
        ("generation", read.generation.into()),
        ("previous", read.previous.into()),
    ]))
}

/// User data of the Java client's `cooperative-sticky`.
///
/// # Errors
/// When it is not just a generation.
pub fn cooperative_sticky(bytes: &[u8]) -> anyhow::Result<Node> {
    let read =
        CooperativeStickyUserData::decode(bytes).context("not cooperative-sticky's user data")?;
    Ok(Node::Fields(vec![
        ("kind", "cooperative-sticky".into()),
        ("generation", read.generation.into()),
    ]))
}
