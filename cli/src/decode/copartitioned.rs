//! User data of this assignor.
use std::collections::BTreeMap;

use rdkafka_assignor_protocol::{
    AssignmentUserData, Claims, Delivered, Envelope, GlobalTable, PartitionSet,
    SubscriptionUserData, Table,
};

use super::node::Node;
use super::routes;

/// User data of a subscription.
///
/// # Errors
/// Says which field is at fault.
pub fn subscription(bytes: &[u8], envelope: Envelope) -> anyhow::Result<Node> {
    let read = SubscriptionUserData::decode(bytes)?;
    let lag = |partitions: BTreeMap<u32, u64>| {
        let named = partitions.into_iter().map(|(p, lag)| (p.to_string(), lag));
        Node::map(named.collect(), Node::from)
    };
    let sets = read.copartition.map(|sets| Node::list(sets, Node::from));
    let mut fields = head("copartitioned-subscription", envelope);
    fields.extend([
        ("app", read.app_id.into()),
        ("host", read.host.into()),
        ("rack", read.rack.into()),
        ("capacity", read.capacity.get().into()),
        ("active", claims(read.active)),
        ("standby", claims(read.standby)),
        ("local_state", sets_by_name(read.local_state)),
        ("tables", Node::list(read.tables, table)),
        ("global_tables", Node::list(read.global_tables, global)),
        ("standby_replicas", read.standby_replicas.into()),
        ("copartition", sets.into()),
        ("lag", Node::map(read.lag, lag)),
        ("nonce", read.nonce.into()),
    ]);
    Ok(Node::Fields(fields))
}

/// User data of an assignment; routes that are broken do not hide the member's own part.
///
/// # Errors
/// Says which field of the member's own part is at fault.
pub fn assignment(bytes: &[u8], envelope: Envelope) -> anyhow::Result<Node> {
    let read = AssignmentUserData::decode(bytes)?;
    let mut fields = head("copartitioned-assignment", envelope);
    fields.extend([
        ("epoch", read.epoch.into()),
        ("standby", sets_by_name(read.standby)),
        ("global_tables", Node::list(read.global, global)),
        ("errors", Node::list(read.errors, delivered)),
        ("routes", routes::read(bytes)),
    ]);
    Ok(Node::Fields(fields))
}

fn head(kind: &'static str, envelope: Envelope) -> Vec<(&'static str, Node)> {
    vec![
        ("kind", kind.into()),
        ("version", envelope.version.into()),
        ("min_reader", envelope.min_reader.into()),
        ("generation", envelope.generation.into()),
    ]
}

fn claims(claims: Claims) -> Node {
    Node::Fields(vec![
        ("generation", claims.generation.into()),
        ("partitions", sets_by_name(claims.partitions)),
    ])
}

fn sets_by_name(partitions: BTreeMap<String, PartitionSet>) -> Node {
    Node::map(partitions, Node::from)
}

fn table(table: Table) -> Node {
    Node::Fields(vec![
        ("name", table.name.into()),
        ("source", table.source.into()),
        ("changelog", table.changelog.into()),
    ])
}

fn global(table: GlobalTable) -> Node {
    Node::Fields(vec![
        ("name", table.name.into()),
        ("partitions", table.partitions.into()),
    ])
}

fn delivered(error: Delivered) -> Node {
    Node::Fields(vec![
        ("code", u32::from(error.code).into()),
        ("text", error.text.into()),
    ])
}
