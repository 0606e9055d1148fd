//! What members of other make say and are told, to the byte.
#[path = "support/log.rs"]
mod log;
#[path = "support/raw.rs"]
mod raw;
mod support;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use log::Log;
use raw::{Body, RawMember, broker_of_version_0};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::RebalanceProtocol::{self, Cooperative, Eager};
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor_protocol::consumer::{Assignment, Subscription, TopicPartitions, Version};
use support::{Event, Member, Probe, cluster, config, config_for, deal, eventually, partitions};

/// How long a leader takes to answer: the mock cluster ends the round then, and refuses members that ask later.
const ANSWER: Duration = Duration::from_secs(1);

/// Metadata of a subscription, version 3; librdkafka says that it has no rack by an empty one.
fn subscription(
    topics: &[&str],
    user_data: &[u8],
    owned: &[(&str, &[i32])],
    generation: i32,
) -> Vec<u8> {
    let subscription = Subscription {
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
        user_data: Some(user_data.to_vec()),
        owned: by_topic(owned),
        generation: Some(generation),
        rack: Some(String::new()),
    };
    subscription.encode(Version::V3).unwrap()
}

/// Metadata of a subscription, version 0, with user data null.
fn ancient_subscription(topics: &[&str]) -> Vec<u8> {
    let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
    Subscription {
        topics,
        ..Subscription::default()
    }
    .encode(Version::V0)
    .unwrap()
}

fn assignment(partitions: &[(&str, &[i32])], user_data: Option<&[u8]>) -> Vec<u8> {
    let user_data = user_data.map(<[u8]>::to_vec);
    Assignment {
        partitions: by_topic(partitions),
        user_data,
    }
    .encode(Version::V0)
    .unwrap()
}

fn by_topic(partitions: &[(&str, &[i32])]) -> Vec<TopicPartitions> {
    let topic = |(topic, partitions): &(&str, &[i32])| TopicPartitions {
        topic: (*topic).to_owned(),
        partitions: partitions.to_vec(),
    };
    partitions.iter().map(topic).collect()
}

/// A consumer that leads, with a raw member in the same round.
fn with_raw_member(
    protocol: RebalanceProtocol,
    probe: Probe,
    metadata: &[u8],
) -> (MockCluster, Arc<Probe>, Member, RawMember) {
    let cluster = cluster();
    cluster.set_initial_rebalance_delay(Duration::from_millis(2500));
    let slow = |callback: &str| {
        if callback == "assign" {
            thread::sleep(ANSWER);
        }
    };
    let probe = Arc::new(probe.before(slow));
    assert_eq!(
        rdkafka_assignor::assignor::Assignor::protocol(&probe),
        protocol
    );
    let member = Member::join(
        &config(&cluster),
        &Assignors::new().with(Arc::clone(&probe)),
        &["t"],
    );
    eventually("the consumer has joined", || {
        probe
            .events()
            .iter()
            .any(|event| matches!(event, Event::Join { .. }))
    });
    // The first to be heard leads.
    thread::sleep(Duration::from_millis(700));
    let mut raw = RawMember::new(&cluster.bootstrap_servers());
    raw.send_join("probe", metadata);
    assert!(!raw.joined().leader);
    (cluster, probe, member, raw)
}

#[test]
fn member_of_version_0_with_null_user_data_gets_its_share() {
    for protocol in [Eager, Cooperative] {
        let (_cluster, probe, member, mut raw) = with_raw_member(
            protocol,
            Probe::new("probe", protocol),
            &ancient_subscription(&["t", "t"]),
        );
        let bytes = raw.sync(&[]);
        let group = probe.groups().pop().unwrap();
        let old = group
            .members
            .iter()
            .find(|member| member.id == raw.id())
            .unwrap();
        assert_eq!(
            (&old.owned, old.generation, &old.user_data),
            (&None, None, &None)
        );
        assert_eq!(old.topics, ["t"]);
        let theirs: &[i32] = if group.members[0].id == raw.id() {
            &[0, 2]
        } else {
            &[1, 3]
        };
        assert_eq!(bytes, assignment(&[("t", theirs)], Some(&[2])));
        eventually("the consumer has the rest", || member.load() == 2);
    }
}

#[test]
fn empty_user_data_is_delivered_as_one_byte_and_subscriptions_are_not_echoed() {
    let probe = Probe::new("probe", Eager).deciding(|group| {
        let mut target = deal(group);
        target
            .values_mut()
            .for_each(|assignment| assignment.user_data.clear());
        Ok(target)
    });
    let metadata = subscription(&["u"], b"do not echo this", &[], -1);
    let (_cluster, probe, member, mut raw) = with_raw_member(Eager, probe, &metadata);
    assert_eq!(raw.sync(&[]), assignment(&[("u", &[0, 1])], Some(&[0])));
    eventually("the consumer has its own", || member.load() == 4);
    let assigned = probe.events().into_iter().find_map(|event| match event {
        Event::Assigned { user_data, .. } => Some(user_data),
        _ => None,
    });
    assert_eq!(assigned, Some(vec![0]));
}

#[test]
fn hostile_claims_reach_the_assignor_without_negative_numbers_and_hold_up_their_own_alone() {
    let claims: &[(&str, &[i32])] = &[("t", &[3, -5, 3, 2_000_000_000]), ("gone", &[0])];
    let metadata = subscription(&["t"], b"", claims, 1);
    let (_cluster, probe, member, mut raw) = with_raw_member(
        Cooperative,
        Probe::new("probe", Cooperative).deciding(|group| {
            let mut target = deal(group);
            let all = target[&group.leader]
                .partitions
                .keys()
                .map(|topic| (topic.clone(), vec![0, 1, 2, 3]))
                .collect();
            target
                .values_mut()
                .for_each(|assignment| assignment.partitions.clear());
            target.get_mut(&group.leader).unwrap().partitions = all;
            Ok(target)
        }),
        &metadata,
    );
    assert_eq!(raw.sync(&[]), assignment(&[], Some(&[2])));
    let group = probe.groups().pop().unwrap();
    let hostile = group
        .members
        .iter()
        .find(|member| member.id == raw.id())
        .unwrap();
    assert_eq!(
        hostile.owned,
        Some(partitions(&[("gone", &[0]), ("t", &[3, 2_000_000_000])]))
    );
    assert_eq!(hostile.generation, Some(1));
    eventually("the consumer has what nobody claims", || {
        member.partitions() == partitions(&[("t", &[0, 1, 2])])
    });
}

#[test]
fn names_that_are_no_text_are_left_out_with_one_warning_each_list() {
    let names: [&[u8]; 4] = [b"t", b"\xff\xfe", b"t\0hidden", b"u\xc3"];
    let metadata = Body::default()
        .i16(3)
        .array(&names, |body, name| body.name(name))
        .bytes(None)
        .array(&names, |body, name| {
            body.name(name).array(&[2], |body, p| body.i32(*p))
        })
        .i32(1)
        .name(b"\xf0rack")
        .0;
    let log = Log::default();
    let (_cluster, probe, _member, mut raw) =
        log.during(|| with_raw_member(Cooperative, Probe::new("probe", Cooperative), &metadata));
    raw.sync(&[]);
    let group = probe.groups().pop().unwrap();
    let odd = group
        .members
        .iter()
        .find(|member| member.id == raw.id())
        .unwrap();
    assert_eq!(odd.topics, ["t"], "librdkafka reads up to the NUL");
    assert_eq!(odd.owned, Some(partitions(&[("t", &[2])])));
    assert_eq!(odd.rack.as_deref(), Some("\u{fffd}rack"));
    let text = log.text();
    let warnings = text
        .lines()
        .filter(|line| line.contains("left out"))
        .count();
    assert_eq!(warnings, 2, "{text}");
}

#[test]
fn member_whose_metadata_cannot_be_parsed_is_not_in_the_group() {
    // Version 1 without the owned partitions: librdkafka leaves it out, so that it gets nothing.
    let metadata = Body::default()
        .i16(1)
        .array(&["t"], |body, topic| body.string(topic))
        .bytes(None)
        .0;
    let (_cluster, probe, _member, raw) =
        with_raw_member(Eager, Probe::new("probe", Eager), &metadata);
    eventually("the leader decides", || !probe.groups().is_empty());
    let group = probe.groups().pop().unwrap();
    assert_eq!(group.members.len(), 1);
    assert_ne!(group.members[0].id, raw.id());
}

#[test]
fn subscriptions_are_kafkas_bytes_and_a_foreign_leaders_assignment_is_understood() {
    let cluster = cluster();
    cluster.set_initial_rebalance_delay(Duration::from_millis(1500));
    let mut leader = RawMember::new(&cluster.bootstrap_servers());
    leader.send_join("probe", &ancient_subscription(&["t"]));
    let probe = Arc::new(Probe::new("probe", Cooperative));
    // The raw leader sends no heartbeats: everything up to its second join has to happen within this time.
    let mut config = config(&cluster);
    config.set("session.timeout.ms", "6000");
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let member = Member::join(&config, &assignors, &["t", "u"]);
    let joined = leader.joined();
    assert!(joined.leader);
    let (id, metadata) = joined
        .members
        .into_iter()
        .find(|(id, _)| id != leader.id())
        .unwrap();
    assert_eq!(
        metadata,
        subscription(&["t", "u"], b"subscription", &[], -1)
    );

    // Without user data, as librdkafka's own assignors answer, and in no order.
    let theirs = assignment(&[("u", &[1]), ("t", &[3, 0])], None);
    let ours = assignment(&[], None);
    thread::sleep(ANSWER);
    leader.sync(&[(id.clone(), theirs), (leader.id().to_owned(), ours)]);
    eventually("the consumer has its share", || member.load() == 3);
    let first = leader.generation();
    let expected = Event::Assigned {
        member: id,
        generation: first,
        partitions: partitions(&[("t", &[0, 3]), ("u", &[1])]),
        user_data: Vec::new(),
    };
    let events = probe.events();
    let assigned = |event: &&Event| matches!(event, Event::Assigned { .. });
    assert_eq!(events.iter().find(assigned), Some(&expected));

    // The next join says what is owned, and since when.
    leader.send_join("probe", &ancient_subscription(&["t"]));
    let (_, metadata) = leader
        .joined()
        .members
        .into_iter()
        .find(|(id, _)| id != leader.id())
        .unwrap();
    let owned: &[(&str, &[i32])] = &[("t", &[0, 3]), ("u", &[1])];
    assert_eq!(
        metadata,
        subscription(&["t", "u"], b"subscription", owned, first)
    );
    leader.leave();
}

/// Settings for a broker that knows version 0 of everything.
fn old_config(servers: &str) -> ClientConfig {
    let mut config = config_for(servers);
    config
        .set("api.version.request", "false")
        .set("broker.version.fallback", "0.9.0.0");
    config
}

#[test]
fn strategies_go_over_the_wire_in_the_users_order() {
    let (servers, joins) = broker_of_version_0(b"unreadable");
    let mut config = config_for(&servers);
    config
        .set("api.version.request", "false")
        .set("broker.version.fallback", "0.9.0.0");
    config.set(
        "partition.assignment.strategy",
        "roundrobin, second,range,first",
    );
    let assignors = Assignors::new()
        .with(Probe::new("first", Eager))
        .with(Probe::new("second", Eager).with_user_data(b""));
    let consumer: BaseConsumer = assignors.create(&config).unwrap();
    consumer.subscribe(&["t"]).unwrap();
    let join = joins.recv_timeout(Duration::from_secs(60)).unwrap();
    let names: Vec<&str> = join.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["roundrobin", "second", "range", "first"]);
    assert_eq!(join[1].1, subscription(&["t"], b"", &[], -1));
    assert_eq!(join[3].1, subscription(&["t"], b"subscription", &[], -1));
}

#[test]
fn leader_without_a_readable_member_survives_and_tries_again() {
    let (servers, joins) = broker_of_version_0(b"not even its own subscription");
    let probe = Arc::new(Probe::new("probe", Cooperative));
    let member = Member::join(
        &old_config(&servers),
        &Assignors::new().with(Arc::clone(&probe)),
        &["t"],
    );
    for _ in 0..3 {
        joins.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    assert!(probe.groups().is_empty(), "the assignor is not bothered");
    member.leave();
}
