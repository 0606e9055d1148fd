//! Placement bugs of the field, by the thread that told of them: claims that are old, double, absurd, or on what is gone.
use rdkafka_assignor_engine::{Member, Problem};

use super::member_with;
use crate::common::cluster::{active, claims, keepers, problem, settled, shares};
use crate::common::invariants::plan_checked;

/// KAFKA-14639: after missed syncs a partition went to two members.
#[test]
fn overlapping_claims_of_three_generations_go_to_the_newest_in_every_order() {
    let members = [
        member_with("new", &["t"], 10, &[("t", &[0, 1])]),
        member_with("old", &["t"], 9, &[("t", &[1, 2, 3])]),
        member_with("older", &["t"], 8, &[("t", &[3, 4, 5, 0])]),
    ];
    let mut plans = Vec::new();
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let members = order.map(|n: usize| members[n].clone()).to_vec();
        let (plan, numbers) = plan_checked(&problem(&[("t", 6)], members));
        assert_eq!(active(&plan, "new", "t"), [0, 1]);
        assert_eq!(active(&plan, "old", "t"), [2, 3]);
        assert_eq!(active(&plan, "older", "t"), [4, 5]);
        assert_eq!(numbers.moved, 0, "what an outdated claim loses is no move");
        plans.push(plan);
    }
    assert!(plans.iter().all(|p| p == &plans[0]));
}

/// KAFKA-13406, KAFKA-7026: the same partition owned twice.
#[test]
fn zombie_keeps_nothing_that_a_newer_generation_owns() {
    let everything: &[i64] = &[0, 1, 2, 3, 4, 5];
    let zombie = member_with("zombie", &["t"], 3, &[("t", everything)]);
    let living = [
        member_with("a", &["t"], 5, &[("t", &[0, 1])]),
        member_with("b", &["t"], 5, &[("t", &[2, 3])]),
    ];
    let with = |count| {
        problem(
            &[("t", count)],
            [vec![zombie.clone()], living.to_vec()].concat(),
        )
    };
    let (plan, numbers) = plan_checked(&with(6));
    assert_eq!(
        active(&plan, "zombie", "t"),
        [4, 5],
        "what nobody newer owns is still its own"
    );
    assert_eq!(numbers.moved, 0);
    let (plan, numbers) = plan_checked(&with(4));
    assert_eq!(shares(&plan, "t").iter().sum::<usize>(), 4);
    assert_eq!(
        numbers.moved, 1,
        "its balanced share moves to it, as to any newcomer"
    );
}

/// KAFKA-13406 with tables: a zombie's outdated state is no copy.
#[test]
fn outdated_state_of_a_zombie_is_cold() {
    let mut group = keepers(4, 2, 0);
    group.members[0].active = claims(5, &[("orders", &[0, 1, 2, 3])]);
    group.members[1].active = claims(3, &[("orders", &[0, 1, 2, 3])]);
    let (_, numbers) = plan_checked(&group);
    assert_eq!((numbers.cold, numbers.moved), (2, 2));
    group.members[1].active.generation = Some(5);
    let (_, numbers) = plan_checked(&group);
    assert_eq!(
        (numbers.cold, numbers.moved),
        (0, 0),
        "of one generation both are owners"
    );
}

/// A made-up epoch: a claim that is not below the group's own generation counts as the oldest.
#[test]
fn generation_from_the_future_wins_nothing() {
    for made_up in [8, 9, i32::MAX] {
        let members = vec![
            member_with("honest", &["t"], 7, &[("t", &[0, 1])]),
            member_with("liar", &["t"], made_up, &[("t", &[0, 1, 2, 3])]),
        ];
        let group = Problem {
            generation: Some(8),
            ..problem(&[("t", 4)], members)
        };
        let (plan, numbers) = plan_checked(&group);
        assert_eq!(active(&plan, "honest", "t"), [0, 1], "{made_up}");
        assert_eq!(numbers.moved, 0);
    }
}

/// KAFKA-7962: a crash when the metadata lacks a topic that is owned.
#[test]
fn topic_missing_from_the_metadata_takes_nothing_else_along() {
    let own: &[(&str, &[i64])] = &[("t1", &[0, 1]), ("t2", &[0]), ("t3", &[0, 1, 2])];
    let member = member_with("m", &["t1", "t2", "t3"], 1, own);
    let (plan, numbers) = plan_checked(&problem(&[("t1", 2), ("t3", 3)], vec![member]));
    assert_eq!(active(&plan, "m", "t1"), [0, 1]);
    assert_eq!(active(&plan, "m", "t3"), [0, 1, 2]);
    assert!(!plan.members["m"].active.contains_key("t2"));
    assert_eq!(numbers.moved, 0);
}

/// KAFKA-7962: the only topic was deleted.
#[test]
fn members_of_a_deleted_topic_get_nothing_and_live() {
    let mut group = settled(keepers(6, 3, 1));
    group.topics.clear();
    let (plan, _) = plan_checked(&group);
    assert_eq!(plan.members.len(), 3);
    assert!(
        plan.members
            .values()
            .all(|m| m.active.is_empty() && m.standby.is_empty())
    );
    assert!(
        plan_checked(&Problem::default()).0.members.is_empty(),
        "nor does an empty group matter"
    );
}

/// franz-go 2f6d70e2: a claim on partition -1 crashed the leader.
#[test]
fn absurd_claims_are_warnings() {
    let odd = member_with(
        "odd",
        &["t"],
        1,
        &[
            ("t", &[-1, 4, 1_000_000, i64::MIN, i64::MAX - 1, 0]),
            ("u", &[0]),
        ],
    );
    let reversed = std::ops::Range { start: 3, end: 1 };
    let mut wide = member_with("wide", &["t"], 1, &[]);
    wide.active.partitions = [("t".to_owned(), vec![i64::MIN..i64::MAX, reversed, -9..9])].into();
    let (plan, _) = plan_checked(&problem(&[("t", 4), ("u", 1)], vec![odd, wide]));
    assert!(
        plan.warnings.len() < 40,
        "told, but not one by one: {}",
        plan.warnings.len()
    );
    assert!(active(&plan, "odd", "t").contains(&0) || active(&plan, "wide", "t").contains(&0));
}

/// A member that claims a partition twice is told so, as of every other claim that cannot be.
#[test]
fn partition_claimed_twice_by_one_member_is_a_warning() {
    let group = problem(
        &[("t", 4)],
        vec![member_with("m", &["t"], 1, &[("t", &[0, 1, 1])])],
    );
    let (plan, numbers) = plan_checked(&group);
    assert_eq!(plan.warnings.len(), 1, "{:?}", plan.warnings);
    assert_eq!(numbers.moved, 0);
}

/// franz-go 2d65fcb4: two members with one id.
#[test]
fn members_of_one_id_are_one_member_in_every_order() {
    let twin = |had: &[i64]| member_with("twin", &["t"], 1, &[("t", had)]);
    let mut group = problem(
        &[("t", 4)],
        vec![twin(&[0, 1]), Member::new("other", ["t"]), twin(&[2, 3])],
    );
    let (first, _) = plan_checked(&group);
    let without = |n: usize| {
        let mut alone = group.clone();
        alone.members.remove(n);
        plan_checked(&alone).0.members
    };
    assert!(
        [without(0), without(2)].contains(&first.members),
        "one of them counts, the other does not"
    );
    group.members.reverse();
    assert_eq!(plan_checked(&group).0, first);
}

/// franz-go 14a56dc2: a topic subscribed to twice was counted twice.
#[test]
fn topic_subscribed_twice_counts_once() {
    let members = vec![Member::new("a", ["t", "t"]), Member::new("b", ["t"])];
    let (plan, numbers) = plan_checked(&problem(&[("t", 4)], members));
    assert_eq!(shares(&plan, "t"), [2, 2]);
    assert_eq!(numbers.moved, 0);
}

/// franz-go d7ae9db9: the target may name the older claimant, and then says from whom.
#[test]
fn plan_towards_an_outdated_claimant_names_the_true_owner() {
    let members = vec![
        member_with("A", &["t"], 3, &[("t", &[0, 1])]),
        member_with("B", &["t"], 2, &[("t", &[0, 1])]),
    ];
    let (plan, numbers) = plan_checked(&problem(&[("t", 2)], members));
    assert_eq!(numbers.moved, 1);
    let [only] = &plan.report.moves[..] else {
        panic!("one move: {:?}", plan.report.moves);
    };
    assert_eq!(
        (only.from.as_deref(), only.to.as_deref()),
        (Some("A"), Some("B"))
    );
}

/// franz-go 4deed686: the winner of a double claim no longer subscribes.
#[test]
fn partition_of_a_winner_that_unsubscribed_goes_to_a_subscriber() {
    for generation in [1, 2, 3] {
        let winner = member_with("winner", &["other"], 2, &[("t", &[0, 1])]);
        let loser = member_with("loser", &["t"], generation, &[("t", &[0])]);
        let (plan, _) = plan_checked(&problem(&[("t", 2), ("other", 1)], vec![winner, loser]));
        assert_eq!(active(&plan, "loser", "t"), [0, 1]);
    }
}
