//! A leader's answers to groups with all kinds of members in them.
mod routes;

use std::num::NonZeroU32;

use rdkafka_assignor_protocol::{AssignmentUserData, Claims, SubscriptionUserData, Table};

use super::*;
use crate::assignor::{Member, RebalanceProtocol, Topic, TopicPartitions};
use crate::copartitioned::Copartitioned;

fn settings(protocol: RebalanceProtocol) -> Settings {
    Copartitioned::builder("shop")
        .protocol(protocol)
        .settings()
        .expect("valid settings")
}

fn eager() -> Settings {
    settings(RebalanceProtocol::Eager)
}

fn cooperative() -> Settings {
    settings(RebalanceProtocol::Cooperative)
}

fn lists(topic: &str, numbers: &[i32]) -> TopicPartitions {
    TopicPartitions::from([(topic.to_owned(), numbers.to_vec())])
}

fn sets(name: &str, numbers: &[u32]) -> PartitionSets {
    PartitionSets::from([(name.to_owned(), numbers.iter().copied().collect())])
}

/// User data of a member that declares the table `counts` on `orders`.
fn said(id: &str, active: &[u32]) -> SubscriptionUserData {
    SubscriptionUserData {
        generation: Some(4),
        host: Some(format!("{id}:80")),
        active: Claims {
            generation: Some(4),
            partitions: sets("orders", active),
        },
        tables: vec![table("counts", "orders")],
        standby_replicas: 1,
        ..SubscriptionUserData::new("shop")
    }
}

fn table(name: &str, source: &str) -> Table {
    Table {
        name: name.to_owned(),
        source: source.to_owned(),
        changelog: format!("shop-{name}-changelog"),
    }
}

fn member(id: &str, said: &SubscriptionUserData) -> Member {
    with_bytes(id, Some(said.encode().expect("it fits")))
}

fn with_bytes(id: &str, user_data: Option<Vec<u8>>) -> Member {
    Member {
        id: id.to_owned(),
        topics: vec!["orders".to_owned()],
        owned: Some(TopicPartitions::new()),
        generation: Some(4),
        user_data,
        ..Member::default()
    }
}

fn newer(id: &str) -> Member {
    let mut bytes = said(id, &[0]).encode().expect("it fits");
    bytes[4] = 99;
    bytes[5] = 99;
    with_bytes(id, Some(bytes))
}

fn group(members: Vec<Member>) -> Group {
    Group {
        id: "group".to_owned(),
        generation: 5,
        leader: "a".to_owned(),
        topics: BTreeMap::from([("orders".to_owned(), topic(4))]),
        members,
    }
}

fn topic(partitions: i32) -> Topic {
    Topic {
        partitions,
        replica_racks: Vec::new(),
    }
}

fn led(settings: &Settings, group: &Group) -> Led {
    lead(settings, &mut Memory::default(), group).1
}

fn kinds(led: &Led) -> Vec<(&str, &str)> {
    led.warnings
        .iter()
        .map(|w| (w.member.as_deref().unwrap_or("group"), w.kind))
        .collect()
}

/// How many partitions of `orders` every member has.
fn loads(led: &Led) -> Vec<(&str, u64)> {
    let load = |share: &Share| share.active.get("orders").map_or(0, |set| set.len());
    led.members
        .iter()
        .map(|(id, share)| (id.as_str(), load(share)))
        .collect()
}

#[test]
fn a_member_that_cannot_be_understood_is_a_newcomer() {
    let garbage = [
        (None, "no-user-data"),
        (Some(vec![]), "unreadable-user-data"),
        (
            Some(b"garbage that is not ours".to_vec()),
            "unreadable-user-data",
        ),
        (
            Some(said("b", &[]).encode().expect("it fits")[..20].to_vec()),
            "unreadable-user-data",
        ),
        (
            SubscriptionUserData::new("bakery").encode().ok(),
            "other-application",
        ),
    ];
    for (bytes, kind) in garbage {
        let group = group(vec![
            member("a", &said("a", &[0, 1])),
            with_bytes("b", bytes),
        ]);
        for settings in [eager(), cooperative()] {
            let led = led(&settings, &group);
            assert_eq!(kinds(&led), [("b", kind)]);
            assert_eq!(loads(&led), [("a", 2), ("b", 2)]);
        }
    }
}

#[test]
fn a_cooperative_member_keeps_what_it_owns_whatever_its_user_data() {
    for mut b in [
        with_bytes("b", None),
        with_bytes("b", Some(vec![1])),
        newer("b"),
    ] {
        b.owned = Some(lists("orders", &[2, 3]));
        let led = led(
            &cooperative(),
            &group(vec![member("a", &said("a", &[])), b]),
        );
        assert_eq!(led.members["b"].active, sets("orders", &[2, 3]));
        assert_eq!(led.members["a"].active, sets("orders", &[0, 1]));
    }
}

#[test]
fn an_eager_member_that_is_too_new_keeps_what_this_leader_gave_it() {
    let mut memory = Memory::default();
    let mut group = group(vec![newer("b"), newer("c")]);
    let (_, first) = lead(&eager(), &mut memory, &group);
    group.generation = 6;
    group.members.insert(0, newer("a"));
    group.topics.insert("orders".to_owned(), topic(6));
    let (_, second) = lead(&eager(), &mut memory, &group);
    for id in ["b", "c"] {
        assert_eq!(second.members[id].active, first.members[id].active);
    }
    assert!(kinds(&second).contains(&("b", "newer-user-data")));
}

#[test]
fn an_owned_list_without_a_generation_is_dated_by_the_user_data() {
    let mut a = member("a", &said("a", &[0, 1, 2, 3]));
    a.owned = Some(lists("orders", &[0, 1, 2, 3]));
    a.generation = None;
    let mut zombie = member("z", &said("z", &[]));
    zombie.owned = Some(lists("orders", &[0, 1]));
    zombie.generation = Some(3);
    let led = led(&cooperative(), &group(vec![a, zombie]));
    let owners = &led.members["a"].active["orders"];
    assert_eq!(owners.len(), 2);
    assert_eq!(
        led.members["z"].withheld["orders"].len(),
        2,
        "a still owns them"
    );
}

#[test]
fn every_member_is_told_what_the_group_cannot_mend() {
    let mut declares = said("a", &[]);
    declares.copartition = Some(vec![vec!["orders".to_owned(), "users".to_owned()]]);
    let mut group = group(vec![member("a", &declares), member("b", &declares)]);
    group.topics.insert("users".to_owned(), topic(3));
    for member in &mut group.members {
        member.topics.push("users".to_owned());
    }
    let (assignments, led) = lead(&eager(), &mut Memory::default(), &group);
    assert_eq!(led.errors.len(), 1);
    assert_eq!(led.errors[0].kind, DeliveredKind::CopartitionMismatch);
    for id in ["a", "b"] {
        let told = AssignmentUserData::decode(&assignments[id].user_data).expect("readable");
        assert_eq!(told.errors, [led.errors[0].to_wire()]);
        assert!(assignments[id].partitions.is_empty());
    }
}

#[test]
fn a_panic_while_planning_gives_a_plain_plan_and_an_error() {
    let group = group(vec![
        member("a", &said("a", &[0])),
        member("b", &said("b", &[])),
    ]);
    let panics = |_: &Problem| panic!("planned by the test");
    let (assignments, led) = lead_with(panics, &eager(), &mut Memory::default(), &group);
    assert_eq!(assignments["a"].partitions, lists("orders", &[0, 2]));
    assert_eq!(assignments["b"].partitions, lists("orders", &[1, 3]));
    for assignment in assignments.values() {
        let told = AssignmentUserData::decode(&assignment.user_data).expect("readable");
        assert_eq!(told.errors[0].code, 3);
        assert_eq!(told.standby, PartitionSets::new());
    }
    assert_eq!(led.errors[0].kind, DeliveredKind::PlanningFailed);
    assert_eq!(led.warnings[0].detail, "planned by the test");
}

#[test]
fn a_topic_in_trouble_keeps_its_owners() {
    let mut a = member("a", &said("a", &[]));
    a.owned = Some(lists("orders", &[0, 1]));
    let mut b = member("b", &said("b", &[]));
    b.owned = Some(lists("orders", &[2, 3]));
    let mut group = group(vec![a, b]);
    group.topics.insert("orders".to_owned(), topic(0));
    let led = led(&cooperative(), &group);
    assert_eq!(led.members["a"].active, sets("orders", &[0, 1]));
    assert_eq!(led.members["b"].active, sets("orders", &[2, 3]));
    assert_eq!(led.members["a"].standby, sets("counts", &[2, 3]));
}

#[test]
fn a_topic_in_trouble_has_the_partitions_that_were_seen_last() {
    let mut memory = Memory::default();
    let mut group = group(vec![member("a", &said("a", &[]))]);
    lead(&eager(), &mut memory, &group);
    group.topics.insert("orders".to_owned(), topic(0));
    let (_, led) = lead(&eager(), &mut memory, &group);
    assert_eq!(loads(&led), [("a", 4)]);
}

#[test]
fn a_topic_in_trouble_that_nobody_knows_spoils_no_declared_set() {
    let mut declares = said("a", &[0]);
    declares.copartition = Some(vec![vec!["orders".to_owned(), "users".to_owned()]]);
    let mut group = group(vec![member("a", &declares)]);
    group.topics.insert("users".to_owned(), topic(0));
    group.members[0].topics.push("users".to_owned());
    let led = led(&eager(), &group);
    assert_eq!(led.errors, []);
    assert_eq!(loads(&led), [("a", 4)]);
}

#[test]
fn a_claim_as_large_as_can_be_makes_no_partitions() {
    let mut liar = said("a", &[]);
    let all = std::iter::once(0..u32::MAX).collect();
    liar.active.partitions = PartitionSets::from([("orders".to_owned(), all)]);
    let mut group = group(vec![member("a", &liar)]);
    group.topics.insert("orders".to_owned(), topic(0));
    assert_eq!(loads(&led(&eager(), &group)), [("a", 0)]);
}

#[test]
fn capacity_and_rack_are_believed() {
    let strong = SubscriptionUserData {
        capacity: NonZeroU32::new(3).expect("not zero"),
        ..said("a", &[])
    };
    let group = group(vec![member("a", &strong), member("b", &said("b", &[]))]);
    assert_eq!(loads(&led(&eager(), &group)), [("a", 3), ("b", 1)]);
}

#[test]
fn a_leaders_epoch_never_goes_back() {
    let mut memory = Memory::default();
    let group = group(vec![member("a", &said("a", &[]))]);
    let epochs: Vec<_> = (0..3)
        .map(|_| lead(&eager(), &mut memory, &group).1.epoch)
        .collect();
    assert_eq!(epochs, [1, 2, 3]);
}

#[test]
fn a_flood_of_errors_is_delivered_in_few_words() {
    let error = |n: usize| engine::GroupError {
        kind: GroupErrorKind::CopartitionMismatch,
        detail: format!("{n}: {}", "long ".repeat(1_000)),
        topics: Vec::new(),
    };
    let errors: Vec<_> = (0..1_000).map(error).collect();
    let delivered = delivered(&errors);
    assert_eq!(delivered.len(), MOST_ERRORS + 1);
    assert_eq!(delivered[MOST_ERRORS].text, "and 984 more errors");
    assert!(
        delivered
            .iter()
            .all(|error| error.text.chars().count() <= LONGEST_TEXT)
    );
}

#[test]
fn the_order_of_members_does_not_matter() {
    let ids = ["a", "b", "c"];
    let members: Vec<_> = ids.iter().map(|id| member(id, &said(id, &[]))).collect();
    let forward = lead(&eager(), &mut Memory::default(), &group(members.clone())).0;
    let backward = members.into_iter().rev().collect();
    assert_eq!(
        lead(&eager(), &mut Memory::default(), &group(backward)).0,
        forward
    );
}
