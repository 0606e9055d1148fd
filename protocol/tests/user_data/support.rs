//! User data as a hostile member may write it, and values that have something in every field.
use std::num::NonZeroU32;

use rdkafka_assignor_protocol::{Claims, GlobalTable, PartitionSet, SubscriptionUserData, Table};

pub const SUBSCRIPTION: u8 = 0;
pub const ASSIGNMENT: u8 = 1;

/// An envelope with any version and flags, generation 7.
pub fn envelope(version: u8, min_reader: u8, flags: u8) -> Vec<u8> {
    [b"RKAS", &[version, min_reader, flags][..], &[0, 0, 0, 7]].concat()
}

/// A length and the zlib stream of `body`.
pub fn part(body: &[u8]) -> Vec<u8> {
    stream(&miniz_oxide::deflate::compress_to_vec_zlib(body, 1))
}

/// A length and a stream that need not be one.
pub fn stream(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes(), bytes].concat()
}

/// User data of version 1 with this subscription body.
pub fn subscription(body: &[u8]) -> Vec<u8> {
    [envelope(1, 1, SUBSCRIPTION), part(body)].concat()
}

/// User data of version 1 with this body of the member's part, without routes.
pub fn assignment(body: &[u8]) -> Vec<u8> {
    [envelope(1, 1, ASSIGNMENT), part(body), stream(&[])].concat()
}

/// User data of version 1 with this body of the route block.
pub fn routes(body: &[u8]) -> Vec<u8> {
    let own = [0, 0, 0, 0];
    [envelope(1, 1, ASSIGNMENT), part(&own), part(body)].concat()
}

/// The body of the part at `offset` of user data.
pub fn body_at(user_data: &[u8], offset: usize) -> Vec<u8> {
    let (length, rest) = user_data[offset..].split_first_chunk().unwrap();
    let length = u32::from_be_bytes(*length) as usize;
    miniz_oxide::inflate::decompress_to_vec_zlib(&rest[..length]).unwrap()
}

/// Fields of a subscription body that says as little as possible.
pub const SUBSCRIPTION_FIELDS: [(&str, &[u8]); 15] = [
    ("app_id", b"\x04shop"),
    ("host", &[0]),
    ("rack", &[0]),
    ("capacity", &[1]),
    ("active.generation", &[0]),
    ("active.partitions", &[0]),
    ("standby.generation", &[0]),
    ("standby.partitions", &[0]),
    ("local_state", &[0]),
    ("tables", &[0]),
    ("global_tables", &[0]),
    ("standby_replicas", &[0]),
    ("copartition", &[0]),
    ("lag", &[0]),
    ("nonce", &[0]),
];

/// Fields of an assignment body that says nothing.
pub const ASSIGNMENT_FIELDS: [(&str, &[u8]); 4] = [
    ("epoch", &[0]),
    ("standby", &[0]),
    ("global", &[0]),
    ("errors", &[0]),
];

/// Fields of a route block that has two hosts and no groups.
pub const ROUTES_FIELDS: [(&str, &[u8]); 2] = [("hosts", b"\x02\x01a\x01b"), ("groups", &[0])];

/// The body of these fields, one of them replaced.
pub fn replace(fields: &[(&str, &[u8])], field: &str, bytes: &[u8]) -> Vec<u8> {
    assert!(fields.iter().any(|(name, _)| *name == field), "{field}");
    let choose = |&(name, minimal)| if name == field { bytes } else { minimal };
    fields.iter().map(choose).collect::<Vec<_>>().concat()
}

/// A set of these partitions.
pub fn set(numbers: &[u32]) -> PartitionSet {
    numbers.iter().copied().collect()
}

/// The subscription that DESIGN.md shows.
pub fn example_subscription() -> SubscriptionUserData {
    SubscriptionUserData {
        generation: Some(7),
        app_id: "shop".into(),
        host: Some("10.0.0.1:8080".into()),
        rack: Some("a".into()),
        capacity: NonZeroU32::MIN,
        active: Claims {
            generation: Some(7),
            partitions: [("orders".into(), set(&[0, 1, 2, 3, 7]))].into(),
        },
        standby: Claims {
            generation: Some(300),
            partitions: [("counts".into(), set(&[8, 10, 12, 14, 16, 18]))].into(),
        },
        local_state: [("counts".into(), set(&[5]))].into(),
        tables: vec![Table {
            name: "counts".into(),
            source: "orders".into(),
            changelog: "shop-counts-changelog".into(),
        }],
        global_tables: vec![GlobalTable {
            name: "countries".into(),
            partitions: 4,
        }],
        standby_replicas: 1,
        copartition: Some(vec![vec!["orders".into(), "users".into()]]),
        lag: [("counts".into(), [(5, 70_000)].into())].into(),
        nonce: 0,
    }
}
