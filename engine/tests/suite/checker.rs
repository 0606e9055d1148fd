//! The checker itself: plans that are wrong in one place are refused, so that the other tests can fail.
use std::panic::{AssertUnwindSafe, catch_unwind};

use rdkafka_assignor_engine::{MemberPlan, MoveKind, Plan, Problem, Role};

use crate::common::cluster::{adopt, claims, keeper, keepers};
use crate::common::invariants::{check, plan_checked};

/// A group with moves of every kind: one died, one came, one tells lies.
fn group() -> (Problem, Plan) {
    let mut group = keepers(14, 4, 1);
    let (plan, _) = plan_checked(&group);
    adopt(&mut group, &plan, 5);
    group.members.remove(0);
    group.members.push(keeper("newcomer", 1));
    group.members[0].active.generation = Some(6);
    let mut liar = keeper("liar", 1);
    liar.active = claims(2, &[("orders", &[-1, 3])]);
    group.members.push(liar);
    let (plan, _) = plan_checked(&group);
    (group, plan)
}

fn share<'a>(plan: &'a mut Plan, member: &str) -> &'a mut MemberPlan {
    plan.members.get_mut(member).expect("a member")
}

fn orders<'a>(plan: &'a mut Plan, member: &str) -> &'a mut Vec<u32> {
    share(plan, member)
        .active
        .get_mut("orders")
        .expect("an active")
}

/// Exchanges the first actives of two members.
fn swap(plan: &mut Plan, one: &str, other: &str) {
    let [first, second] = [one, other].map(|m| orders(plan, m)[0]);
    orders(plan, one)[0] = second;
    orders(plan, other)[0] = first;
    [one, other]
        .iter()
        .for_each(|m| orders(plan, m).sort_unstable());
}

type Fault = (&'static str, fn(&mut Plan));

const FAULTS: [Fault; 19] = [
    ("a partition is active nowhere", |plan| {
        orders(plan, "m001").truncate(1)
    }),
    ("a partition is active twice", |plan| {
        let p = orders(plan, "m001")[0];
        orders(plan, "m002").push(p);
        orders(plan, "m002").sort_unstable();
    }),
    ("a partition does not exist", |plan| {
        orders(plan, "m001").push(14)
    }),
    ("partitions stand unsorted", |plan| {
        orders(plan, "m001").reverse()
    }),
    ("a topic is not subscribed to", |plan| {
        share(plan, "m001")
            .active
            .insert("payments".to_owned(), vec![0]);
    }),
    ("a member is missing", |plan| {
        drop(plan.members.remove("newcomer"))
    }),
    ("a stranger has a share", |plan| {
        drop(
            plan.members
                .insert("stranger".to_owned(), MemberPlan::default()),
        )
    }),
    ("a standby is missing", |plan| {
        share(plan, "m001")
            .standby
            .entry("counts".to_owned())
            .or_default()
            .truncate(1)
    }),
    ("a standby is on its active's member", |plan| {
        let p = orders(plan, "m001")[0];
        let standbys = share(plan, "m001")
            .standby
            .get_mut("counts")
            .expect("standbys");
        standbys[0] = p;
        standbys.sort_unstable();
    }),
    ("one has too many", |plan| {
        let p = orders(plan, "m001").pop().expect("an active");
        orders(plan, "m002").push(p);
        orders(plan, "m002").sort_unstable();
    }),
    ("a needless exchange", |plan| swap(plan, "m001", "m002")),
    ("moved is miscounted", |plan| plan.report.active_moved += 1),
    ("cold is miscounted", |plan| plan.report.active_cold -= 1),
    ("moved standbys are miscounted", |plan| {
        plan.report.standby_moved += 1
    }),
    ("a spread is wrong", |plan| plan.report.active_spread += 1),
    ("a move is not told", |plan| {
        let place = plan
            .report
            .moves
            .iter()
            .position(|m| m.role == Role::Active);
        plan.report.moves.remove(place.expect("a move"));
    }),
    ("a move has the wrong kind", |plan| {
        let cold = plan
            .report
            .moves
            .iter_mut()
            .find(|m| m.kind == MoveKind::Cold && m.role == Role::Active);
        cold.expect("a cold one").kind = MoveKind::New;
    }),
    ("nobody is warned of the lie", |plan| plan.warnings.clear()),
    ("a group is forgotten", |plan| plan.groups.clear()),
];

#[test]
fn every_planted_fault_is_refused() {
    let (group, plan) = group();
    for (name, fault) in FAULTS {
        let mut faulty = plan.clone();
        fault(&mut faulty);
        assert_ne!(faulty, plan, "{name}: nothing was planted");
        let verdict = catch_unwind(AssertUnwindSafe(|| check(&group, &faulty)));
        assert!(verdict.is_err(), "the checker does not see that {name}");
    }
}
