//! Kafka's consumer protocol: the same bytes as other clients, and nothing believed.
use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicName,
    consumer_protocol_assignment as theirs_assigned,
    consumer_protocol_subscription as theirs_owned,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rdkafka_assignor_protocol::consumer::{
    Assignment, DecodeError, EncodeError, Subscription, TopicPartitions, Version,
};

const VERSIONS: [Version; 4] = [Version::V0, Version::V1, Version::V2, Version::V3];

fn topic_partitions() -> impl Strategy<Value = Vec<TopicPartitions>> {
    let one = (".{0,9}", vec(any::<i32>(), 0..5))
        .prop_map(|(topic, partitions)| TopicPartitions { topic, partitions });
    vec(one, 0..4)
}

prop_compose! {
    fn subscriptions()(
        topics in vec(".{0,9}", 0..4),
        user_data in option::of(vec(any::<u8>(), 0..9)),
        owned in topic_partitions(),
        generation in option::of(0..=i32::MAX),
        rack in option::of(".{0,9}"),
    ) -> Subscription {
        Subscription { topics, user_data, owned, generation, rack }
    }
}

prop_compose! {
    fn assignments()(
        partitions in topic_partitions(),
        user_data in option::of(vec(any::<u8>(), 0..9)),
    ) -> Assignment {
        Assignment { partitions, user_data }
    }
}

/// What is left of a subscription in this version.
fn as_of(version: Version, mut subscription: Subscription) -> Subscription {
    if version < Version::V1 {
        subscription.owned.clear();
    }
    if version < Version::V2 {
        subscription.generation = None;
    }
    if version < Version::V3 {
        subscription.rack = None;
    }
    subscription
}

fn their_bytes(version: Version, message: &impl Encodable) -> Vec<u8> {
    let mut out = BytesMut::new();
    out.put_i16(version.number());
    message.encode(&mut out, version.number()).unwrap();
    out.to_vec()
}

fn theirs_of_subscription(ours: &Subscription) -> ConsumerProtocolSubscription {
    let owned = ours.owned.iter().map(|owned| {
        theirs_owned::TopicPartition::default()
            .with_topic(TopicName(StrBytes::from_string(owned.topic.clone())))
            .with_partitions(owned.partitions.clone())
    });
    let topics = ours.topics.iter().cloned().map(StrBytes::from_string);
    ConsumerProtocolSubscription::default()
        .with_topics(topics.collect())
        .with_user_data(ours.user_data.clone().map(Bytes::from))
        .with_owned_partitions(owned.collect())
        .with_generation_id(ours.generation.unwrap_or(-1))
        .with_rack_id(ours.rack.clone().map(StrBytes::from_string))
}

fn theirs_of_assignment(ours: &Assignment) -> ConsumerProtocolAssignment {
    let partitions = ours.partitions.iter().map(|assigned| {
        theirs_assigned::TopicPartition::default()
            .with_topic(TopicName(StrBytes::from_string(assigned.topic.clone())))
            .with_partitions(assigned.partitions.clone())
    });
    ConsumerProtocolAssignment::default()
        .with_assigned_partitions(partitions.collect())
        .with_user_data(ours.user_data.clone().map(Bytes::from))
}

proptest! {
    #[test]
    fn a_subscription_comes_back_as_its_version_keeps_it(subscription in subscriptions()) {
        for version in VERSIONS {
            let bytes = subscription.encode(version).unwrap();
            let read = Subscription::decode(&bytes).unwrap();
            prop_assert_eq!(read, as_of(version, subscription.clone()));
        }
    }

    #[test]
    fn an_assignment_comes_back(assignment in assignments()) {
        for version in VERSIONS {
            let bytes = assignment.encode(version).unwrap();
            prop_assert_eq!(&Assignment::decode(&bytes).unwrap(), &assignment);
        }
    }

    #[test]
    fn bytes_equal_those_of_the_kafka_protocol_crate(
        subscription in subscriptions(),
        assignment in assignments(),
    ) {
        for version in VERSIONS {
            let theirs = their_bytes(version, &theirs_of_subscription(&subscription));
            prop_assert_eq!(subscription.encode(version).unwrap(), theirs);
            let theirs = their_bytes(version, &theirs_of_assignment(&assignment));
            prop_assert_eq!(assignment.encode(version).unwrap(), theirs);
        }
    }

    #[test]
    fn every_prefix_is_an_error_and_every_suffix_is_ignored(
        subscription in subscriptions(),
        assignment in assignments(),
        suffix in vec(any::<u8>(), 1..9),
    ) {
        for version in VERSIONS {
            let bytes = subscription.encode(version).unwrap();
            for end in 0..bytes.len() {
                prop_assert!(Subscription::decode(&bytes[..end]).is_err());
            }
            let longer = [&bytes[..], &suffix].concat();
            prop_assert_eq!(Subscription::decode(&longer), Subscription::decode(&bytes));

            let bytes = assignment.encode(version).unwrap();
            for end in 0..bytes.len() {
                prop_assert!(Assignment::decode(&bytes[..end]).is_err());
            }
            let longer = [&bytes[..], &suffix].concat();
            prop_assert_eq!(Assignment::decode(&longer), Assignment::decode(&bytes));
        }
    }

    #[test]
    fn what_is_read_from_any_bytes_can_be_written_and_read_again(bytes in vec(any::<u8>(), 0..64)) {
        let bytes = [&[0, 3], &bytes[..]].concat();
        if let Ok(subscription) = Subscription::decode(&bytes) {
            let again = subscription.encode(Version::LATEST).unwrap();
            prop_assert_eq!(Subscription::decode(&again), Ok(subscription));
        }
        if let Ok(assignment) = Assignment::decode(&bytes) {
            let again = assignment.encode(Version::LATEST).unwrap();
            prop_assert_eq!(Assignment::decode(&again), Ok(assignment));
        }
    }
}

/// A version 3 subscription of topic "t" with user data "ud", owning t-1, of generation 7, in rack "r".
fn full() -> Subscription {
    Subscription {
        topics: vec!["t".into()],
        user_data: Some(b"ud".to_vec()),
        owned: vec![TopicPartitions {
            topic: "t".into(),
            partitions: vec![1],
        }],
        generation: Some(7),
        rack: Some("r".into()),
    }
}

const FULL: &[u8] = b"\0\x03\
    \0\0\0\x01\0\x01t\
    \0\0\0\x02ud\
    \0\0\0\x01\0\x01t\0\0\0\x01\0\0\0\x01\
    \0\0\0\x07\
    \0\x01r";

#[test]
fn the_layout_of_each_version_is_a_prefix_of_the_next() {
    let bytes = full().encode(Version::V3).unwrap();
    assert_eq!(bytes, FULL);
    for (version, end) in VERSIONS.into_iter().zip([15, 30, 34, 37]) {
        let older = full().encode(version).unwrap();
        assert_eq!(older[..2], version.number().to_be_bytes());
        assert_eq!(older[2..], FULL[2..end]);
    }
}

/// librdkafka 2.12.1 always writes version 3, null user data as empty, owned partitions as an empty list when it
/// has none, and a null rack when `client.rack` is empty (rd_kafka_consumer_protocol_member_metadata_new).
#[test]
fn a_newcomer_is_written_as_librdkafka_writes_it() {
    let newcomer = Subscription {
        topics: vec!["orders".into(), "users".into()],
        user_data: Some(Vec::new()),
        ..Subscription::default()
    };
    let golden = b"\0\x03\0\0\0\x02\0\x06orders\0\x05users\
        \0\0\0\0\
        \0\0\0\0\
        \xff\xff\xff\xff\
        \xff\xff";
    assert_eq!(newcomer.encode(Version::LATEST).unwrap(), golden);
    assert_eq!(Subscription::decode(golden), Ok(newcomer));
}

/// librdkafka 2.12.1 writes assignments in version 0 (rd_kafka_group_MemberState_consumer_write).
#[test]
fn an_assignment_is_written_as_librdkafka_writes_it() {
    let mut assignment = Assignment {
        partitions: vec![TopicPartitions {
            topic: "orders".into(),
            partitions: vec![0, 2],
        }],
        user_data: None,
    };
    let golden = b"\0\0\0\0\0\x01\0\x06orders\0\0\0\x02\0\0\0\0\0\0\0\x02";
    let null = [&golden[..], b"\xff\xff\xff\xff"].concat();
    assert_eq!(assignment.encode(Version::V0).unwrap(), null);
    assignment.user_data = Some(Vec::new());
    let empty = [&golden[..], b"\0\0\0\0"].concat();
    assert_eq!(assignment.encode(Version::V0).unwrap(), empty);
}

#[test]
fn a_higher_version_is_read_as_the_highest_known_one() {
    for version in [4_i16, 5, i16::MAX] {
        let newer = [&version.to_be_bytes(), &FULL[2..], b"more fields"].concat();
        assert_eq!(Subscription::decode(&newer), Ok(full()));
        let newer = [&version.to_be_bytes()[..], b"\0\0\0\0\xff\xff\xff\xffmore"].concat();
        assert_eq!(Assignment::decode(&newer), Ok(Assignment::default()));
    }
}

#[test]
fn null_user_data_is_not_empty_user_data() {
    let null = Subscription::decode(b"\0\0\0\0\0\0\xff\xff\xff\xff").unwrap();
    let empty = Subscription::decode(b"\0\0\0\0\0\0\0\0\0\0").unwrap();
    assert_eq!(null.user_data, None);
    assert_eq!(empty.user_data, Some(Vec::new()));
}

#[test]
fn negative_versions_are_unsupported() {
    for version in [-1, i16::MIN] {
        let bytes = [&version.to_be_bytes()[..], &FULL[2..]].concat();
        let unsupported = DecodeError::UnsupportedVersion { version };
        assert_eq!(Subscription::decode(&bytes), Err(unsupported.clone()));
        assert_eq!(Assignment::decode(&bytes), Err(unsupported));
    }
}

/// Faust writes version 4 and stops after the user data.
#[test]
fn a_version_without_its_fields_is_truncated_and_can_still_be_inspected() {
    let faust = b"\0\x04\0\0\0\x01\0\x06orders\0\0\0\x02{}";
    let field = "owned_partitions";
    let truncated = DecodeError::Truncated { field };
    assert_eq!(Subscription::decode(faust), Err(truncated.clone()));
    let inspected = Subscription::inspect(faust);
    assert_eq!(inspected.version, 4);
    assert_eq!(inspected.fault, Some(truncated));
    assert_eq!(inspected.subscription.topics, ["orders"]);
    assert_eq!(inspected.subscription.user_data, Some(b"{}".to_vec()));
}

#[test]
fn inspecting_what_can_be_read_finds_no_fault() {
    let inspected = Subscription::inspect(FULL);
    assert_eq!((inspected.version, inspected.fault), (3, None));
    assert_eq!(inspected.subscription, full());
}

/// Offsets of the length fields in [`FULL`], their width, and whether -1 is null.
const LENGTHS: [(usize, usize, &str, bool); 7] = [
    (2, 4, "topics", false),
    (6, 2, "topics", false),
    (9, 4, "user_data", true),
    (15, 4, "owned_partitions", false),
    (19, 2, "owned_partitions", false),
    (22, 4, "owned_partitions", false),
    (34, 2, "rack_id", true),
];

fn with_length(offset: usize, width: usize, length: i32) -> Vec<u8> {
    let mut bytes = FULL.to_vec();
    bytes[offset..offset + width].copy_from_slice(&length.to_be_bytes()[4 - width..]);
    bytes
}

#[test]
fn negative_lengths_are_errors_that_name_the_field() {
    for (offset, width, field, nullable) in LENGTHS {
        for length in [-1, -2, -128] {
            let read = Subscription::decode(&with_length(offset, width, length));
            if nullable && length == -1 {
                assert_ne!(read, Ok(full()), "{field}");
                continue;
            }
            let negative = DecodeError::NegativeLength { field, length };
            assert_eq!(read, Err(negative), "at {offset}");
        }
    }
}

#[test]
fn lengths_beyond_the_end_are_errors_that_name_the_field() {
    for (offset, width, field, _) in LENGTHS {
        let largest = if width == 2 {
            i16::MAX.into()
        } else {
            i32::MAX
        };
        for length in [largest, 100] {
            let read = Subscription::decode(&with_length(offset, width, length));
            assert_eq!(read, Err(DecodeError::Truncated { field }), "at {offset}");
        }
    }
}

#[test]
fn the_field_that_is_cut_is_the_field_that_is_named() {
    let named = |end: usize| match Subscription::decode(&FULL[..end]) {
        Err(DecodeError::Truncated { field }) => field,
        other => panic!("{end} bytes were read as {other:?}"),
    };
    let ends = [
        (0, "version"),
        (2, "topics"),
        (9, "user_data"),
        (15, "owned_partitions"),
    ];
    for (end, field) in [&ends[..], &[(30, "generation_id"), (34, "rack_id")]].concat() {
        assert_eq!(named(end), field);
        assert_eq!(named(end + 1), field);
    }
}

#[test]
fn names_must_be_utf8() {
    for (offset, _, field, _) in LENGTHS.into_iter().filter(|&(_, width, ..)| width == 2) {
        let mut bytes = FULL.to_vec();
        bytes[offset + 2] = 0xff;
        assert_eq!(
            Subscription::decode(&bytes),
            Err(DecodeError::NotUtf8 { field })
        );
    }
}

#[test]
fn a_generation_below_zero_is_none() {
    let mut bytes = FULL.to_vec();
    bytes[30..34].fill(0);
    assert_eq!(Subscription::decode(&bytes).unwrap().generation, Some(0));
    bytes[30..34].copy_from_slice(&(-5_i32).to_be_bytes());
    assert_eq!(Subscription::decode(&bytes).unwrap().generation, None);
}

#[test]
fn a_name_too_long_for_its_length_is_refused() {
    let long = Subscription {
        topics: vec!["x".repeat(32_768)],
        ..Subscription::default()
    };
    let (field, length) = ("topics", 32_768);
    assert_eq!(
        long.encode(Version::V0),
        Err(EncodeError::TooLong { field, length })
    );
}
