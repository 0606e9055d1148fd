//! Members that say anything at all: the leader answers, and every partition has its place.
use proptest::prelude::*;
use rdkafka_assignor_protocol::{Claims, GlobalTable, PartitionSet, SubscriptionUserData, Table};

use super::*;
use crate::assignor::{Member, RebalanceProtocol, Topic, TopicPartitions};
use crate::copartitioned::Copartitioned;

fn claims() -> impl Strategy<Value = Claims> {
    let sets = prop::collection::btree_map(name(), set(), 0..3);
    (prop::option::of(-2..9_i32), sets).prop_map(|(generation, partitions)| Claims {
        generation: generation.filter(|generation| *generation >= 0),
        partitions,
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("orders"),
        Just("users"),
        Just("counts"),
        Just("nothing")
    ]
    .prop_map(str::to_owned)
}

fn set() -> impl Strategy<Value = PartitionSet> {
    let range = prop_oneof![0..10_u32, Just(u32::MAX)].prop_flat_map(|end| (0..=end, Just(end)));
    prop::collection::vec(range.prop_map(|(start, end)| start..end), 0..3)
        .prop_map(|ranges| ranges.into_iter().collect())
}

/// Readable, and bent in one byte or cut short every third time.
fn user_data() -> impl Strategy<Value = Option<Vec<u8>>> {
    let declared = (name(), name(), 0..5_u32, any::<bool>(), any::<bool>());
    let bent = (any::<prop::sample::Index>(), any::<u8>(), 0..6_u8);
    (claims(), claims(), declared, bent).prop_map(|(active, standby, declared, (at, byte, how))| {
        let (table, source, standby_replicas, declares, together) = declared;
        let changelog = "changelog".to_owned();
        let set = vec!["orders".to_owned(), "users".to_owned()];
        let said = SubscriptionUserData {
            generation: active.generation,
            active,
            standby,
            global_tables: vec![GlobalTable {
                name: "all".to_owned(),
                partitions: standby_replicas,
            }],
            tables: vec![Table {
                name: table,
                source,
                changelog,
            }],
            standby_replicas,
            copartition: declares.then(|| if together { vec![set] } else { Vec::new() }),
            ..SubscriptionUserData::new("shop")
        };
        let mut bytes = said.encode().ok()?;
        let index = at.index(bytes.len());
        match how {
            0 => bytes[index] = byte,
            1 => bytes.truncate(index),
            _ => {}
        }
        Some(bytes)
    })
}

fn owned() -> impl Strategy<Value = Option<TopicPartitions>> {
    let list = prop::collection::btree_set(prop_oneof![-2..8_i32, Just(i32::MAX)], 0..5);
    let lists =
        prop::collection::btree_map(name(), list.prop_map(|set| set.into_iter().collect()), 0..3);
    prop::option::weighted(0.9, lists)
}

fn member() -> impl Strategy<Value = Member> {
    let topics = prop_oneof![
        Just(vec!["orders"]),
        Just(vec!["users"]),
        Just(vec!["orders", "users"])
    ];
    (topics, owned(), prop::option::of(-1..9_i32), user_data()).prop_map(
        |(topics, owned, generation, user_data)| Member {
            topics: topics.into_iter().map(str::to_owned).collect(),
            owned,
            generation,
            user_data,
            ..Member::default()
        },
    )
}

fn group() -> impl Strategy<Value = Group> {
    let counts = (0..7_i32, 0..7_i32);
    (prop::collection::vec(member(), 1..6), counts).prop_map(|(mut members, (orders, users))| {
        for (number, member) in members.iter_mut().enumerate() {
            member.id = format!("m{number}");
        }
        let topic = |partitions| Topic {
            partitions,
            replica_racks: Vec::new(),
        };
        Group {
            generation: 7,
            topics: [("orders", orders), ("users", users)]
                .map(|(name, count)| (name.to_owned(), topic(count)))
                .into(),
            members,
            ..Group::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_members_say_every_partition_has_one_place(group in group(), cooperative in any::<bool>()) {
        let protocol = if cooperative { RebalanceProtocol::Cooperative } else { RebalanceProtocol::Eager };
        let settings = Copartitioned::builder("shop").protocol(protocol).settings().expect("valid settings");
        let (assignments, led) = lead(&settings, &mut Memory::default(), &group);
        prop_assert_eq!(assignments.len(), group.members.len());
        let failed = led.errors.iter().any(|error| error.kind == DeliveredKind::PlanningFailed);
        prop_assert!(!failed, "{:?}", led.warnings);
        for (name, topic) in &group.topics {
            for p in 0..topic.partitions {
                let places: Vec<_> = led.members.iter().filter(|(_, share)| has(share, name, p)).collect();
                let subscribed = group.members.iter().any(|member| member.topics.contains(name));
                let wanted = usize::from(subscribed);
                prop_assert!(places.len() == wanted || (places.is_empty() && !led.errors.is_empty()));
                for (id, _) in places {
                    let subscribes = |m: &Member| m.id == *id && m.topics.contains(name);
                    prop_assert!(group.members.iter().any(subscribes), "{id} does not want {name}");
                }
            }
        }
    }
}

fn has(share: &Share, topic: &str, partition: i32) -> bool {
    [&share.active, &share.withheld]
        .iter()
        .any(|sets| crate::partitions::contains(sets, topic, partition))
}
