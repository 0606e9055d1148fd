//! Problems that make no sense: whatever members say, the plan comes, is bounded, valid and the same in every order.
//!
//! Which of two contradicting words counts is not asked here; only what must hold of every plan.
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rdkafka_assignor_engine::{
    Claims, Copartition, GlobalTable, Member, Partitions, Plan, Problem, Topic, plan,
};

use crate::common::cluster::{claims, declared, keeper, keepers, problem, table, with_capacity};
use crate::common::invariants::plan_checked;
use crate::common::random::Random;

/// Names of topics, tables and the leader topic alike, so that they meet.
const NAMES: [&str; 6] = ["a", "b", "c", "leader", "nowhere", ""];

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(name(), 0..6)
}

fn edge() -> impl Strategy<Value = i64> {
    let edges = [
        i64::MIN,
        -1,
        0,
        1,
        2,
        5,
        6,
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        i64::MAX,
    ];
    prop_oneof![4 => -1..8_i64, 1 => proptest::sample::select(edges.to_vec())]
}

fn partitions() -> impl Strategy<Value = BTreeMap<String, Partitions>> {
    let ranges =
        proptest::collection::vec((edge(), edge()).prop_map(|(start, end)| start..end), 0..4);
    proptest::collection::btree_map(name(), ranges, 0..4)
}

fn generation() -> impl Strategy<Value = Option<i32>> {
    let edges = [i32::MIN, -1, 0, 3, 4, i32::MAX];
    proptest::option::of(proptest::sample::select(edges.to_vec()))
}

fn claimed() -> impl Strategy<Value = Claims> {
    (generation(), partitions()).prop_map(|(generation, partitions)| Claims {
        generation,
        partitions,
    })
}

fn copartition() -> impl Strategy<Value = Copartition> {
    let sets = proptest::collection::vec(names(), 0..3);
    prop_oneof![
        Just(Copartition::Automatic),
        sets.prop_map(Copartition::Declared)
    ]
}

fn member() -> impl Strategy<Value = Member> {
    let size = prop_oneof![Just(1), Just(2), Just(u32::MAX)];
    let tables = proptest::collection::vec((name(), name()), 0..4);
    let globals = proptest::collection::vec((name(), size.clone()), 0..3);
    let said = (names(), tables, globals, copartition());
    let had = (claimed(), claimed(), partitions());
    let is = (0..5_u8, proptest::option::of(name()), size.clone(), size);
    (is, said, had).prop_map(|(is, (topics, tables, globals, copartition), had)| Member {
        rack: is.1,
        capacity: NonZeroU32::new(is.2).expect("at least 1"),
        standby_replicas: is.3,
        tables: tables
            .iter()
            .map(|(name, source)| table(name, source))
            .collect(),
        global_tables: globals
            .into_iter()
            .map(|(name, partitions)| GlobalTable { name, partitions })
            .collect(),
        copartition,
        active: had.0,
        standby: had.1,
        local_state: had.2,
        ..Member::new(format!("m{}", is.0), topics)
    })
}

fn nonsense() -> impl Strategy<Value = Problem> {
    let racks = proptest::collection::vec(proptest::collection::vec(name(), 0..3), 0..4);
    let topic = (0..7_u32, racks).prop_map(|(partitions, replica_racks)| Topic {
        partitions,
        replica_racks,
    });
    let topics = proptest::collection::btree_map(name(), topic, 0..5);
    (
        topics,
        proptest::collection::vec(member(), 0..6),
        proptest::option::of(name()),
        generation(),
    )
        .prop_map(|(topics, members, leader_topic, generation)| Problem {
            topics,
            members,
            leader_topic,
            generation,
        })
}

/// What must hold whoever is believed: with two members of one id, each may be the one.
fn check(problem: &Problem, plan: &Plan) {
    let ids: BTreeSet<&String> = problem.members.iter().map(|m| &m.id).collect();
    assert!(plan.members.keys().eq(ids), "every member has a share");
    let in_error: BTreeSet<&String> = plan.errors.iter().flat_map(|e| &e.topics).collect();
    let mut seen = BTreeSet::new();
    for (id, share) in &plan.members {
        let said =
            |has: &dyn Fn(&Member) -> bool| problem.members.iter().any(|m| &m.id == id && has(m));
        for (topic, partitions) in &share.active {
            assert!(
                said(&|m| m.topics.contains(topic)),
                "I2: {id} never subscribed to {topic}"
            );
            assert!(!in_error.contains(topic), "{topic} is in error");
            for p in partitions {
                assert!(*p < problem.topics[topic].partitions, "I2: {topic}-{p}");
                assert!(seen.insert((topic, *p)), "I1: {topic}-{p} is active twice");
            }
        }
        for (table, partitions) in &share.standby {
            assert!(
                said(&|m| m.tables.iter().any(|t| &t.name == table)),
                "I2: {id} never declared {table}"
            );
            assert!(partitions.is_sorted_by(|a, b| a < b), "{id} {table}");
        }
        assert!(
            share
                .global
                .keys()
                .all(|t| said(&|m| m.global_tables.iter().any(|g| &g.name == t)))
        );
    }
    let placed = plan
        .groups
        .iter()
        .flat_map(|g| &g.topics)
        .chain(&problem.leader_topic);
    for topic in placed.filter(|t| plan.members.values().any(|m| m.active.contains_key(*t))) {
        let count = seen.iter().filter(|(t, _)| *t == topic).count();
        assert_eq!(
            count, problem.topics[topic].partitions as usize,
            "I1: {topic} is active whole"
        );
    }
    assert!(
        plan.warnings.len() < 400 && plan.report.moves.len() < 2_000,
        "I10"
    );
}

#[test]
fn nonsense_gets_a_valid_plan_in_every_order() {
    let config = Config {
        cases: 600,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng).run(
        &(nonsense(), any::<u64>()),
        |(mut problem, seed)| {
            let first = plan(&problem);
            check(&problem, &first);
            let mut random = Random::new(seed);
            random.shuffle(&mut problem.members);
            prop_assert_eq!(plan(&problem), first, "I9");
            Ok(())
        },
    );
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A weight is a word of a member too.
#[test]
fn absurd_capacities_do_not_overflow() {
    for capacities in [
        [u32::MAX, 1, 1],
        [u32::MAX, u32::MAX - 1, u32::MAX - 2],
        [4_294_967_291, 4_294_967_279, 3],
    ] {
        let mut group = keepers(30, 0, 1);
        for (n, capacity) in capacities.into_iter().enumerate() {
            group
                .members
                .push(with_capacity(keeper(format!("m{n}"), 1), capacity));
        }
        let plan = plan(&group);
        check(&group, &plan);
        assert_eq!(
            plan.members
                .values()
                .filter_map(|m| m.active.get("orders"))
                .map(Vec::len)
                .sum::<usize>(),
            30
        );
    }
}

#[test]
fn absurd_number_of_standbys_means_everywhere() {
    let mut group = keepers(6, 4, 0);
    group.members[2].standby_replicas = u32::MAX;
    let (plan, _) = plan_checked(&group);
    let held = plan.members.values().map(|m| m.standby["counts"].len());
    assert_eq!(held.sum::<usize>(), 6 * 3);
}

/// A global table's size is the word of a member: four bytes must not cost four thousand million.
#[test]
fn absurd_global_table_costs_nothing() {
    let mut group = keepers(2, 2, 0);
    group.members[0].global_tables = vec![GlobalTable {
        name: "huge".to_owned(),
        partitions: u32::MAX,
    }];
    let (plan, _) = plan_checked(&group);
    assert_eq!(plan.members["m000"].global["huge"], u32::MAX);
}

/// Whoever declares it largest is right, and everybody is told.
#[test]
fn global_table_of_two_sizes_has_the_larger_one() {
    let mut group = keepers(2, 3, 0);
    for (member, partitions) in group.members.iter_mut().zip([3, 5]) {
        member.global_tables = vec![GlobalTable {
            name: "countries".to_owned(),
            partitions,
        }];
    }
    let (plan, _) = plan_checked(&group);
    assert!(!plan.warnings.is_empty());
    assert!(
        plan.members["m002"].global.is_empty(),
        "it never declared the table"
    );
}

/// The leader topic is never grouped, whatever is declared.
#[test]
fn leader_topic_in_a_declared_set_is_not_grouped() {
    let member = |n| Member {
        copartition: declared(&[&["orders", "leader"]]),
        ..Member::new(format!("m{n}"), ["orders", "leader"])
    };
    let mut group = problem(
        &[("orders", 4), ("leader", 1)],
        (0..2).map(member).collect(),
    );
    group.leader_topic = Some("leader".to_owned());
    let (plan, _) = plan_checked(&group);
    assert!(plan.errors.is_empty(), "{:?}", plan.errors);
    assert_eq!(plan.report.active_spread, 0);
}

/// A claim on the whole number line is one range; a hundred thousand of them are a hundred thousand, not their product.
#[test]
fn wide_and_many_claims_cost_what_they_take_to_say() {
    let mut wide = keeper("wide", 1);
    let ranges = (0..20_000).map(|n| i64::MIN + n..i64::MAX - n).collect();
    wide.active = Claims {
        generation: Some(1),
        partitions: BTreeMap::from([("orders".to_owned(), ranges)]),
    };
    wide.standby = claims(1, &[("counts", &[-5, 3, i64::MAX])]);
    let mut scattered = keeper("scattered", 1);
    let everything: Partitions = std::iter::once(0..i64::MAX).collect();
    let names = (0..20_000).map(|n| (format!("nowhere-{n}"), everything.clone()));
    scattered.active = Claims {
        generation: Some(1),
        partitions: names.collect(),
    };
    let (plan, _) = plan_checked(&problem(&[("orders", 8)], vec![wide, scattered]));
    assert!(
        plan.warnings.iter().all(|w| w.detail.len() < 2_000),
        "a sentence, not a book"
    );
}
