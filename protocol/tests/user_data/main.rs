//! User data: what is written is read, in one way only, by this version and by its neighbours.
mod hostile;
mod strategies;
mod support;
mod wire_format;

use proptest::prelude::*;
use rdkafka_assignor_protocol::{
    AssignmentUserData, Envelope, GlobalTable, Kind, MAX_INFLATED, MAX_PARTITION_COUNT,
    PartitionSet, ReadUserDataError, Routes, Served, SubscriptionUserData, VERSION,
    WriteUserDataError,
};
use strategies::{assignments, route_blocks, subscriptions};
use support::{
    ASSIGNMENT, ASSIGNMENT_FIELDS, ROUTES_FIELDS, SUBSCRIPTION, SUBSCRIPTION_FIELDS, body_at,
    envelope, part, replace, stream,
};

const PARTS: usize = 11;

proptest! {
    #[test]
    fn a_subscription_comes_back(member in subscriptions()) {
        let bytes = member.encode().unwrap();
        prop_assert_eq!(SubscriptionUserData::decode(&bytes).unwrap(), member);
    }

    #[test]
    fn an_assignment_comes_back_with_and_without_routes(
        assignment in assignments(),
        routes in route_blocks(),
    ) {
        let alone = assignment.encode(None).unwrap();
        prop_assert_eq!(&AssignmentUserData::decode(&alone).unwrap(), &assignment);
        prop_assert_eq!(Routes::decode(&alone).unwrap(), None);

        let block = routes.encode().unwrap();
        let bytes = assignment.encode(Some(&block)).unwrap();
        prop_assert_eq!(AssignmentUserData::decode(&bytes).unwrap(), assignment);
        prop_assert_eq!(Routes::decode(&bytes).unwrap(), Some(routes));
        prop_assert!(bytes.ends_with(block.as_bytes()));
    }

    #[test]
    fn equal_state_is_equal_bytes_in_any_order(
        member in subscriptions(),
        (mut tables, mut globals) in subscriptions().prop_flat_map(|other| (
            Just(other.tables).prop_shuffle(), Just(other.global_tables).prop_shuffle(),
        )),
        sets in proptest::collection::vec(proptest::collection::vec("[a-c]", 0..4), 0..4),
    ) {
        let mut said = member;
        said.tables = tables.clone();
        said.global_tables = globals.clone();
        said.copartition = Some(sets.clone());
        let mut said_otherwise = said.clone();
        tables.reverse();
        globals.extend(globals.clone());
        said_otherwise.tables = tables;
        said_otherwise.global_tables = globals;
        let turned = sets.iter().rev().map(|set| set.iter().rev().cloned().collect());
        said_otherwise.copartition = Some(turned.chain(sets.clone()).collect());
        prop_assert_eq!(said.encode(), said_otherwise.encode());
    }

    #[test]
    fn what_is_read_from_any_body_can_be_written_and_read_again(
        member in subscriptions(),
        at: proptest::sample::Index,
        byte: u8,
    ) {
        let mut body = body_at(&member.encode().unwrap(), PARTS);
        *at.get_mut(&mut body) = byte;
        if let Ok(read) = SubscriptionUserData::decode(&support::subscription(&body)) {
            let again = read.encode().unwrap();
            prop_assert_eq!(SubscriptionUserData::decode(&again), Ok(read));
        }
    }

    #[test]
    fn what_is_read_from_any_route_block_can_be_written_and_read_again(
        routes in route_blocks(),
        at: proptest::sample::Index,
        byte: u8,
    ) {
        let block = routes.encode().unwrap();
        let mut body = body_at(block.as_bytes(), 0);
        *at.get_mut(&mut body) = byte;
        if let Ok(Some(read)) = Routes::decode(&support::routes(&body)) {
            let again = AssignmentUserData::default().encode(Some(&read.encode().unwrap())).unwrap();
            prop_assert_eq!(Routes::decode(&again), Ok(Some(read)));
        }
    }

    #[test]
    fn any_bytes_are_ours_only_by_their_magic(bytes in proptest::collection::vec(any::<u8>(), 0..99)) {
        let ours = bytes.starts_with(b"RKAS");
        let not_ours = Err(ReadUserDataError::NotOurs);
        prop_assert_eq!(Envelope::decode(&bytes).map(|_| ()) == not_ours, !ours);
        let marked = [b"RKAS", &bytes[..]].concat();
        prop_assert_ne!(SubscriptionUserData::decode(&marked), Err(ReadUserDataError::NotOurs));
        prop_assert_ne!(AssignmentUserData::decode(&marked), Err(ReadUserDataError::NotOurs));
        prop_assert_ne!(Routes::decode(&marked), Err(ReadUserDataError::NotOurs));
    }
}

fn shop() -> SubscriptionUserData {
    let generation = Some(7);
    SubscriptionUserData {
        generation,
        ..SubscriptionUserData::new("shop")
    }
}

/// A subscription as some version may write it.
fn subscription_of(version: u8, min_reader: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    [envelope(version, min_reader, flags), part(body)].concat()
}

#[test]
fn nothing_and_other_assignors_user_data_is_not_ours() {
    for theirs in [&b""[..], b"RKA", b"{\"assignment\": {}}", &[0]] {
        let not_ours = ReadUserDataError::NotOurs;
        assert_eq!(SubscriptionUserData::decode(theirs), Err(not_ours.clone()));
        assert_eq!(AssignmentUserData::decode(theirs), Err(not_ours.clone()));
        assert_eq!(Routes::decode(theirs), Err(not_ours));
    }
}

#[test]
fn fields_of_a_newer_version_are_ignored_where_it_allows_us_to_read() {
    let mut body = body_at(&shop().encode().unwrap(), PARTS);
    body.extend(b"a newer field");
    let mut newer = subscription_of(VERSION + 1, VERSION, 0x80, &body);
    newer.extend(b"a newer part");
    assert_eq!(SubscriptionUserData::decode(&newer), Ok(shop()));
}

#[test]
fn parts_and_fields_of_a_newer_assignment_are_ignored() {
    let own = [&replace(&ASSIGNMENT_FIELDS, "epoch", &[9])[..], b"newer"].concat();
    let block = [&replace(&ROUTES_FIELDS, "hosts", &[0])[..], b"newer"].concat();
    let newer = [
        envelope(9, 1, 0x03),
        part(&own),
        part(&block),
        b"newer".to_vec(),
    ]
    .concat();
    let read = AssignmentUserData::decode(&newer).unwrap();
    assert_eq!((read.epoch, read.generation), (9, Some(7)));
    assert_eq!(Routes::decode(&newer), Ok(Some(Routes::default())));
}

#[test]
fn a_newer_version_that_we_cannot_read_still_tells_its_generation() {
    for kind in [SUBSCRIPTION, ASSIGNMENT] {
        let newer = subscription_of(3, 2, kind, b"something else entirely");
        let unsupported = ReadUserDataError::Unsupported {
            version: 3,
            min_reader: 2,
            generation: Some(7),
        };
        let read = match kind {
            SUBSCRIPTION => SubscriptionUserData::decode(&newer).map(|_| ()),
            _ => AssignmentUserData::decode(&newer).map(|_| ()),
        };
        assert_eq!(read, Err(unsupported));
        let envelope = Envelope::decode(&newer).unwrap();
        assert_eq!((envelope.version, envelope.min_reader), (3, 2));
        assert_eq!(envelope.generation, Some(7));
    }
}

#[test]
fn trailing_bytes_of_our_version_are_an_error() {
    let trailing = |part| ReadUserDataError::Trailing { part };
    let body = replace(&SUBSCRIPTION_FIELDS, "nonce", &[0, 0]);
    let after_body = support::subscription(&body);
    assert_eq!(
        SubscriptionUserData::decode(&after_body),
        Err(trailing("subscription"))
    );

    let after_part = [shop().encode().unwrap(), vec![0]].concat();
    assert_eq!(
        SubscriptionUserData::decode(&after_part),
        Err(trailing("subscription"))
    );

    let zlib = &part(&body[..body.len() - 1])[4..];
    let after_stream = [&envelope(1, 1, 0)[..], &stream(&[zlib, b"x"].concat())].concat();
    assert_eq!(
        SubscriptionUserData::decode(&after_stream),
        Err(trailing("subscription"))
    );

    let own = [0; 5];
    assert_eq!(
        AssignmentUserData::decode(&support::assignment(&own)),
        Err(trailing("assignment"))
    );
    let block = replace(&ROUTES_FIELDS, "groups", &[0, 0]);
    assert_eq!(
        Routes::decode(&support::routes(&block)),
        Err(trailing("routes"))
    );
    let after_routes = [AssignmentUserData::default().encode(None).unwrap(), vec![0]].concat();
    assert_eq!(Routes::decode(&after_routes), Err(trailing("routes")));
}

#[test]
fn a_broken_route_block_does_not_cost_the_member_its_own_part() {
    let own = AssignmentUserData {
        epoch: 5,
        ..AssignmentUserData::default()
    };
    let whole = own
        .encode(Some(&Routes::default().encode().unwrap()))
        .unwrap();
    let block = Routes::default().encode().unwrap().as_bytes().len();
    for kept in 0..block {
        let cut = &whole[..whole.len() - block + kept];
        assert_eq!(AssignmentUserData::decode(cut), Ok(own.clone()));
        let field = "routes";
        assert_eq!(
            Routes::decode(cut),
            Err(ReadUserDataError::Truncated { field })
        );
    }
}

#[test]
fn a_broken_own_part_does_not_cost_the_member_its_routes() {
    let bytes = [envelope(1, 1, ASSIGNMENT), stream(b"junk"), part(&[0, 0])].concat();
    let part = "assignment";
    assert_eq!(
        AssignmentUserData::decode(&bytes),
        Err(ReadUserDataError::Zlib { part })
    );
    assert_eq!(Routes::decode(&bytes), Ok(Some(Routes::default())));
}

#[test]
fn an_echoed_subscription_is_not_taken_for_an_assignment() {
    let echoed = shop().encode().unwrap();
    let (expected, found) = (Kind::Assignment, Kind::Subscription);
    let wrong = ReadUserDataError::WrongKind { expected, found };
    assert_eq!(AssignmentUserData::decode(&echoed), Err(wrong.clone()));
    assert_eq!(Routes::decode(&echoed), Err(wrong));
}

#[test]
fn no_generation_is_none_in_both_directions() {
    let mut member = shop();
    for none in [None, Some(-1), Some(i32::MIN)] {
        member.generation = none;
        member.active.generation = none;
        let read = SubscriptionUserData::decode(&member.encode().unwrap()).unwrap();
        assert_eq!((read.generation, read.active.generation), (None, None));
    }
}

#[test]
fn what_readers_would_refuse_is_not_written() {
    let field = "global_tables";
    let mut member = shop();
    let partitions = MAX_PARTITION_COUNT + 1;
    member.global_tables = vec![GlobalTable {
        name: "g".into(),
        partitions,
    }];
    let refused = member.encode();
    assert!(matches!(refused, Err(WriteUserDataError::Invalid { field: f, .. }) if f == field));

    let mut member = shop();
    member.host = Some("x".repeat(MAX_INFLATED));
    let (part, limit) = ("subscription", MAX_INFLATED);
    assert_eq!(
        member.encode(),
        Err(WriteUserDataError::TooLarge { part, limit })
    );
}

#[test]
fn routes_out_of_order_are_not_written() {
    let served = |host, partitions: &[u32]| Served {
        host,
        partitions: partitions.iter().copied().collect::<PartitionSet>(),
    };
    let mut routes = Routes {
        hosts: vec!["a".into(), "b".into()],
        ..Routes::default()
    };
    routes.groups.resize_with(1, Default::default);
    routes.groups[0].partitions = 2;
    routes.groups[0].active = vec![served(0, &[0]), served(1, &[1])];
    assert!(routes.encode().is_ok());

    let refused = |change: fn(&mut Routes)| {
        let mut changed = routes.clone();
        change(&mut changed);
        match changed.encode() {
            Err(WriteUserDataError::Invalid { field, .. }) => field,
            other => panic!("{changed:?} was written: {other:?}"),
        }
    };
    assert_eq!(refused(|routes| routes.hosts.reverse()), "hosts");
    assert_eq!(
        refused(|routes| routes.groups.push(routes.groups[0].clone())),
        "groups"
    );
    assert_eq!(
        refused(|routes| routes.groups[0].active.reverse()),
        "groups.active"
    );
    assert_eq!(
        refused(|routes| routes.groups[0].partitions = 1),
        "groups.active"
    );
    assert_eq!(
        refused(|routes| routes.groups[0].active[1].host = 2),
        "groups.active"
    );
    let twice = |routes: &mut Routes| {
        let both = routes.groups[0].active[0].partitions.clone();
        routes.groups[0].active[1].partitions = both;
    };
    assert_eq!(refused(twice), "groups.active");
}
