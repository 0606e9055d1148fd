//! Placement bugs of the field, by the thread that told of them: standbys, promotion, and members that return.
use rdkafka_assignor_engine::{Member, MemberPlan, Move, MoveKind, Plan, Role};

use crate::common::cluster::{
    active, adopt, claims, declared, keeper, keepers, problem, settled, table,
};
use crate::common::invariants::{plan_checked, spread};
use crate::common::random::Random;

/// KAFKA-18688: a static member got somebody else's partitions.
#[test]
fn returning_static_member_gets_its_own_back() {
    let mut group = settled(keepers(12, 4, 1));
    group
        .members
        .iter_mut()
        .for_each(|m| m.instance = Some(format!("instance-{}", m.id)));
    let (before, _) = plan_checked(&group);
    let mut back = group.members.remove(2);
    back.id = "a-new-id".to_owned();
    group.members.insert(0, back);
    let (plan, numbers) = plan_checked(&group);
    assert_eq!(plan.members["a-new-id"], before.members["m002"]);
    assert_eq!(
        (numbers.moved, numbers.cold, numbers.standby_moved),
        (0, 0, 0)
    );
}

/// KAFKA-13600: nobody is caught up; the member with a part of the state goes before the one with nothing.
#[test]
fn partial_copy_breaks_a_tie() {
    for holder in 0..2 {
        let mut group = keepers(1, 2, 0);
        group
            .members
            .iter_mut()
            .for_each(|m| m.tables.push(table("sums", "orders")));
        group.members[holder].standby = claims(1, &[("sums", &[0])]);
        let (plan, numbers) = plan_checked(&group);
        assert_eq!(numbers.cold, 1, "a part is no copy");
        assert_eq!(active(&plan, &group.members[holder].id, "orders"), [0]);
    }
}

/// KAFKA-10263: standbys for topics without state.
#[test]
fn stateless_group_has_no_standby() {
    let member = |n| Member {
        standby_replicas: 2,
        ..Member::new(format!("m{n}"), ["t"])
    };
    let (plan, _) = plan_checked(&problem(&[("t", 6)], (0..3).map(member).collect()));
    assert!(plan.members.values().all(|m| m.standby.is_empty()));
    assert_eq!(plan.report.standby_spread, 0);
}

/// KAFKA-12959: standbys piled on few members.
#[test]
fn standbys_spread_as_evenly_as_actives() {
    for (partitions, members, replicas) in [
        (12, 4, 1),
        (17, 5, 1),
        (17, 5, 2),
        (6, 3, 2),
        (9, 7, 3),
        (3, 8, 1),
    ] {
        let mut group = keepers(partitions, members, replicas);
        for generation in 1..4 {
            let (plan, _) = plan_checked(&group);
            assert!(
                plan.report.standby_spread <= 1,
                "{partitions}x{members} R={replicas}"
            );
            adopt(&mut group, &plan, generation);
            group
                .members
                .push(keeper(format!("late-{generation}"), replicas));
        }
    }
}

/// KAFKA-21060: stateless groups unbalanced stateful ones.
#[test]
fn stateful_load_is_even_among_stateless_groups() {
    let mut random = Random::new(3);
    let member = |n: usize| {
        let tables = vec![table("counts", "orders"), table("sums", "payments")];
        let member = Member::new(format!("m{n}"), ["orders", "payments", "log", "audit"]);
        Member {
            tables,
            standby_replicas: 1,
            copartition: declared(&[]),
            ..member
        }
    };
    let mut group = problem(
        &[("orders", 7), ("payments", 5), ("log", 11), ("audit", 2)],
        (0..4).map(member).collect(),
    );
    for generation in 1..12 {
        let (plan, _) = plan_checked(&group);
        let stateful = |m: &MemberPlan| {
            ["orders", "payments"]
                .iter()
                .map(|t| m.active.get(*t).map_or(0, Vec::len) as i64)
                .sum()
        };
        assert!(spread(&plan.members.values().map(stateful).collect::<Vec<i64>>()) <= 1);
        assert!(plan.report.active_spread <= 1);
        adopt(&mut group, &plan, generation);
        let victim = random.below(4) as usize;
        group.members.remove(victim);
        group
            .members
            .push(member(10 * victim + 9 + generation as usize * 100));
    }
}

fn promoted(plan: &Plan) -> usize {
    let promoted = |m: &&Move| m.role == Role::Active && m.kind == MoveKind::Promoted;
    plan.report.moves.iter().filter(promoted).count()
}

/// Kafka Streams' and Faust's promise alike.
#[test]
fn death_of_one_promotes_its_standbys() {
    let mut group = settled(keepers(4, 2, 1));
    group.members.remove(0);
    let (plan, _) = plan_checked(&group);
    assert_eq!(promoted(&plan), 2);
    assert_eq!(plan.report.active_cold, 0);
    assert_eq!(active(&plan, "m001", "orders"), [0, 1, 2, 3]);
}

/// faust #93: uneven after one of forty left and returned.
#[test]
fn leaving_and_returning_stays_even_and_costs_one_share_each_way() {
    for (partitions, workers, replicas) in [(100, 40, 0), (100, 40, 1), (12, 5, 2)] {
        let mut group = settled(keepers(partitions, workers, replicas));
        let gone = group.members.remove(workers / 2);
        let (plan, leave) = plan_checked(&group);
        adopt(&mut group, &plan, 2);
        group.members.push(keeper(&gone.id, replicas));
        let (_, back) = plan_checked(&group);
        let share = u64::from(partitions) / workers as u64;
        assert_eq!(back.active[&gone.id].unsigned_abs(), share);
        assert_eq!(back.moved, share, "{partitions}x{workers} R={replicas}");
        assert!(
            replicas == 0 || leave.cold == 0,
            "{partitions}x{workers} R={replicas}: every orphan has a standby"
        );
    }
}
