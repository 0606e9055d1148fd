//! What a hostile member may send: every field of every layout, cut, flipped, overstated.
use rdkafka_assignor_protocol::{
    AssignmentUserData, MAX_COMPRESSED, MAX_INFLATED, MAX_ROUTES_INFLATED, ReadUserDataError,
    Routes, SubscriptionUserData,
};

use crate::support::{
    ASSIGNMENT, ASSIGNMENT_FIELDS, ROUTES_FIELDS, SUBSCRIPTION, SUBSCRIPTION_FIELDS, assignment,
    body_at, envelope, example_subscription, part, replace, routes, stream, subscription,
};

type Fields = [(&'static str, &'static [u8])];

/// What reading user data with this body says.
fn read(fields: &Fields, body: &[u8]) -> Result<(), ReadUserDataError> {
    match fields.len() {
        15 => SubscriptionUserData::decode(&subscription(body)).map(|_| ()),
        4 => AssignmentUserData::decode(&assignment(body)).map(|_| ()),
        _ => Routes::decode(&routes(body)).map(|_| ()),
    }
}

const LAYOUTS: [&Fields; 3] = [&SUBSCRIPTION_FIELDS, &ASSIGNMENT_FIELDS, &ROUTES_FIELDS];

fn malformed(result: Result<(), ReadUserDataError>) -> (&'static str, String) {
    match result {
        Err(ReadUserDataError::Malformed { field, reason }) => (field, reason),
        other => panic!("expected a malformed field, got {other:?}"),
    }
}

/// Field, bytes of it, and a word of the reason.
const SUBSCRIPTION_FAULTS: &[(&str, &[u8], &str)] = &[
    ("app_id", b"\x02\xff\xff", "utf-8"),
    ("host", &[2], "tag"),
    ("host", b"\x01\x01\xff", "utf-8"),
    ("rack", &[9], "tag"),
    ("capacity", &[0], "nonzero"),
    ("capacity", &[253, 0, 0, 0, 0, 1, 0, 0, 0], "Invalid u"),
    (
        "active.generation",
        &[1, 252, 0, 0, 0, 0x80],
        "out of range",
    ),
    ("standby.generation", &[3], "tag"),
    // Keys twice, keys descending.
    (
        "active.partitions",
        b"\x02\x01t\x00\x00\x01t\x00\x00",
        "ascend",
    ),
    (
        "standby.partitions",
        b"\x02\x01u\x00\x00\x01t\x00\x00",
        "ascend",
    ),
    // A run or a bit above the last partition; a form of set that does not exist.
    (
        "local_state",
        b"\x01\x01t\x00\x01\xfc\x00\x00\x00\x80\x00",
        "above 2147483647",
    ),
    (
        "local_state",
        b"\x01\x01t\x00\x01\x00\xfc\xff\xff\xff\xff",
        "above 2147483647",
    ),
    (
        "local_state",
        b"\x01\x01t\x01\xfc\xff\xff\xff\x7f\x01\x02",
        "above 2147483647",
    ),
    ("local_state", b"\x01\x01t\x02", "variant"),
    ("tables", b"\x02\x01a\x01s\x01c\x01a\x01s\x01c", "ascend"),
    ("tables", b"\x02\x01b\x01s\x01c\x01a\x01s\x01c", "ascend"),
    ("global_tables", b"\x02\x01a\x01\x01a\x01", "ascend"),
    ("global_tables", b"\x01\x01a\xfc\x41\x42\x0f\x00", "1000000"),
    (
        "standby_replicas",
        &[253, 0, 0, 0, 0, 1, 0, 0, 0],
        "Invalid u",
    ),
    ("copartition", b"\x01\x02\x01\x01b\x01\x01a", "ascend"),
    ("copartition", b"\x01\x01\x02\x01a\x01a", "ascend"),
    ("lag", b"\x02\x01t\x00\x01t\x00", "ascend"),
    ("lag", b"\x01\x01t\x02\x01\x00\x01\x00", "ascend"),
    ("nonce", &[254], "range"),
];

const ASSIGNMENT_FAULTS: &[(&str, &[u8], &str)] = &[
    ("epoch", &[255], "255"),
    ("standby", b"\x02\x01t\x00\x00\x01t\x00\x00", "ascend"),
    (
        "standby",
        b"\x01\x01t\x00\x01\xfc\x00\x00\x00\x80\x00",
        "above 2147483647",
    ),
    ("global", b"\x02\x01b\x01\x01a\x01", "ascend"),
    ("global", b"\x01\x01a\xfc\x41\x42\x0f\x00", "1000000"),
    ("errors", &[1, 252, 0, 0, 1, 0, 0], "Invalid u"),
    ("errors", b"\x01\x01\x01\xff", "utf-8"),
];

/// Groups of the two hosts of [`ROUTES_FIELDS`]; the layout is topics, tables, partitions, active, standby.
const ROUTES_FAULTS: &[(&str, &[u8], &str)] = &[
    ("hosts", b"\x02\x01b\x01a", "ascend"),
    ("hosts", b"\x02\x01a\x01a", "ascend"),
    ("groups", b"\x02\0\0\0\0\0\0\0\0\0\0", "ascend"),
    ("groups", b"\x01\x02\x01t\x01t\0\0\0\0", "ascend"),
    ("groups", b"\x01\0\x02\x01t\x01s\0\0\0", "ascend"),
    (
        "groups.partitions",
        b"\x01\0\0\xfc\x41\x42\x0f\x00\0\0",
        "1000000",
    ),
    (
        "groups.active",
        b"\x01\0\0\x04\x01\x02\x00\x00\0",
        "no such host",
    ),
    (
        "groups.active",
        b"\x01\0\0\x04\x01\x00\x00\x01\x00\x04\0",
        "no such partition",
    ),
    (
        "groups.active",
        b"\x01\0\0\x04\x02\x01\x00\x00\x00\x00\x00\0",
        "ascend",
    ),
    (
        "groups.active",
        b"\x01\0\0\x04\x02\x00\x00\x01\x00\x01\x01\x00\x01\x01\x00\0",
        "two actives",
    ),
    (
        "groups.standby",
        b"\x01\0\0\x04\0\x01\x02\x00\x00\x00",
        "no such host",
    ),
    (
        "groups.standby",
        b"\x01\0\0\x04\0\x01\x00\x01\x00\x00\x00",
        "no such table",
    ),
    (
        "groups.standby",
        b"\x01\0\0\x04\0\x01\x00\x00\x00\x01\x00\x04",
        "no such partition",
    ),
    (
        "groups",
        b"\x01\0\x01\x01a\x04\0\x01\x00\x02\x00\x00\x00\x00",
        "ascend",
    ),
];

#[test]
fn every_fault_names_its_field() {
    let tables = [SUBSCRIPTION_FAULTS, ASSIGNMENT_FAULTS, ROUTES_FAULTS];
    for (fields, faults) in LAYOUTS.into_iter().zip(tables) {
        for &(field, bytes, word) in faults {
            let name = field
                .split('.')
                .next()
                .filter(|_| fields.len() == 2)
                .unwrap_or(field);
            let (named, reason) = malformed(read(fields, &replace(fields, name, bytes)));
            assert_eq!(named, field, "{bytes:?}");
            assert!(
                reason.contains(word),
                "{field}: {reason:?} does not say {word:?}"
            );
        }
    }
}

#[test]
fn minimal_bodies_are_fine() {
    for fields in LAYOUTS {
        let (name, bytes) = fields[0];
        assert_eq!(read(fields, &replace(fields, name, bytes)), Ok(()));
    }
}

#[test]
fn a_body_that_ends_early_names_the_field_it_ends_in() {
    for fields in LAYOUTS {
        let body = replace(fields, fields[0].0, fields[0].1);
        let mut named = Vec::new();
        for end in 0..body.len() {
            let (field, reason) = malformed(read(fields, &body[..end]));
            assert_eq!(reason, "truncated", "{field}");
            named.push(field);
        }
        named.dedup();
        let names: Vec<_> = fields.iter().map(|&(name, _)| name).collect();
        assert_eq!(named, names);
    }
}

/// Lengths as bincode writes them, far above what is there.
const HUGE: [&[u8]; 3] = [
    &[251, 0xff, 0xff],
    &[252, 0xff, 0xff, 0xff, 0x7f],
    &[253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];

#[test]
fn a_length_beyond_the_end_is_an_error_of_its_field() {
    let scalars = ["capacity", "standby_replicas", "nonce", "epoch", "hosts"];
    for fields in LAYOUTS {
        for (field, _) in fields.iter().filter(|(field, _)| !scalars.contains(field)) {
            for huge in HUGE {
                let optional = ["host", "rack", "copartition"].contains(field);
                let tagged = [&[1][..optional.into()], huge].concat();
                let generation = field.ends_with("generation");
                let bytes = if generation { HUGE[2] } else { &tagged };
                let (named, _) = malformed(read(fields, &replace(fields, field, bytes)));
                assert_eq!(named, *field);
            }
        }
    }
}

#[test]
fn every_prefix_of_user_data_is_an_error() {
    let bytes = example_subscription().encode().unwrap();
    for end in 0..bytes.len() {
        let read = SubscriptionUserData::decode(&bytes[..end]);
        match end {
            0..4 => assert_eq!(read, Err(ReadUserDataError::NotOurs)),
            _ => assert!(
                matches!(read, Err(ReadUserDataError::Truncated { .. })),
                "{end}"
            ),
        }
    }
}

#[test]
fn no_flipped_bit_is_a_panic() {
    let bytes = example_subscription().encode().unwrap();
    let body = body_at(&bytes, 11);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read = SubscriptionUserData::decode(&flipped);
        assert!(bit >= 4 * 8 || read == Err(ReadUserDataError::NotOurs));
    }
    for bit in 0..body.len() * 8 {
        let mut flipped = body.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = SubscriptionUserData::decode(&subscription(&flipped)) {
            let again = read.encode().unwrap();
            assert_eq!(SubscriptionUserData::decode(&again), Ok(read), "bit {bit}");
        }
    }
}

#[test]
fn an_impossible_envelope_is_malformed() {
    let read = |bytes: Vec<u8>| malformed(SubscriptionUserData::decode(&bytes).map(|_| ())).0;
    assert_eq!(read(envelope(0, 0, SUBSCRIPTION)), "min_reader");
    assert_eq!(read(envelope(1, 0, SUBSCRIPTION)), "min_reader");
    assert_eq!(read(envelope(1, 2, SUBSCRIPTION)), "min_reader");
    assert_eq!(read(envelope(1, 1, 0x02)), "flags");
    let mut negative = envelope(1, 1, SUBSCRIPTION);
    negative[7..].copy_from_slice(&(-2_i32).to_be_bytes());
    assert_eq!(read(negative), "generation");
}

#[test]
fn a_part_that_inflates_beyond_its_cap_is_refused() {
    let too_large = |part, limit| ReadUserDataError::TooLarge { part, limit };
    let bomb = vec![0; MAX_INFLATED + 1];
    let refused = too_large("subscription", MAX_INFLATED);
    assert_eq!(
        SubscriptionUserData::decode(&subscription(&bomb)),
        Err(refused)
    );
    let refused = too_large("assignment", MAX_INFLATED);
    assert_eq!(AssignmentUserData::decode(&assignment(&bomb)), Err(refused));
    let bomb = vec![0; MAX_ROUTES_INFLATED + 1];
    assert!(part(&bomb).len() < MAX_ROUTES_INFLATED / 100);
    let refused = too_large("routes", MAX_ROUTES_INFLATED);
    assert_eq!(Routes::decode(&routes(&bomb)), Err(refused));
}

#[test]
fn a_compressed_part_beyond_its_cap_is_refused() {
    let huge = [
        &envelope(1, 1, ASSIGNMENT)[..],
        &stream(&vec![0; MAX_COMPRESSED + 1]),
    ]
    .concat();
    let (part, limit) = ("assignment", MAX_COMPRESSED);
    let refused = ReadUserDataError::TooLarge { part, limit };
    assert_eq!(AssignmentUserData::decode(&huge), Err(refused.clone()));
    let claimed = [&envelope(1, 1, ASSIGNMENT)[..], &u32::MAX.to_be_bytes()].concat();
    assert_eq!(AssignmentUserData::decode(&claimed), Err(refused));
}

#[test]
fn a_stream_that_is_cut_or_damaged_is_an_error_of_its_part() {
    let body = replace(&SUBSCRIPTION_FIELDS, "nonce", &[0]);
    let zlib = part(&body).split_off(4);
    let read = |zlib: &[u8]| {
        let bytes = [envelope(1, 1, SUBSCRIPTION), stream(zlib)].concat();
        SubscriptionUserData::decode(&bytes).map(|_| ())
    };
    assert_eq!(read(&zlib), Ok(()));
    for end in 0..zlib.len() {
        let field = "subscription";
        assert_eq!(
            read(&zlib[..end]),
            Err(ReadUserDataError::Truncated { field })
        );
    }
    let mut damaged = zlib.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let part = "subscription";
    assert_eq!(read(&damaged), Err(ReadUserDataError::Zlib { part }));
}
