//! The whole engine on groups small enough to reason about.
use std::collections::BTreeMap;

use crate::{Claims, Member, MemberPlan, MoveKind, Plan, Problem, Table, Topic, plan};

/// Topics by name and partition count.
fn topics(counts: &[(&str, u32)]) -> BTreeMap<String, Topic> {
    let topic = |&(name, partitions): &(&str, u32)| {
        let topic = Topic {
            partitions,
            ..Topic::default()
        };
        (name.to_owned(), topic)
    };
    counts.iter().map(topic).collect()
}

/// Members `m1`, `m2`, .. with the table `counts` on `orders` and one standby.
fn stateful_group(partitions: u32, members: usize) -> Problem {
    let member = |i| Member {
        tables: vec![Table {
            name: "counts".to_owned(),
            source: "orders".to_owned(),
        }],
        standby_replicas: 1,
        ..Member::new(format!("m{i}"), ["orders", "users"])
    };
    Problem {
        topics: topics(&[("orders", partitions), ("users", partitions)]),
        members: (1..=members).map(member).collect(),
        ..Problem::default()
    }
}

fn claims(generation: i32, lists: &BTreeMap<String, Vec<u32>>) -> Claims {
    let ranges = |list: &Vec<u32>| list.iter().map(|&p| p.into()..i64::from(p) + 1).collect();
    Claims {
        generation: Some(generation),
        partitions: lists
            .iter()
            .map(|(name, list)| (name.clone(), ranges(list)))
            .collect(),
    }
}

/// The next rebalance: everybody claims what the plan gave.
fn after(mut problem: Problem, plan: &Plan, generation: i32) -> Problem {
    let nothing = MemberPlan::default();
    for member in &mut problem.members {
        let share = plan.members.get(&member.id).unwrap_or(&nothing);
        member.active = claims(generation, &share.active);
        member.standby = claims(generation, &share.standby);
    }
    problem
}

fn kinds(plan: &Plan) -> BTreeMap<MoveKind, usize> {
    let mut kinds = BTreeMap::new();
    plan.report
        .moves
        .iter()
        .for_each(|m| *kinds.entry(m.kind).or_default() += 1);
    kinds
}

#[test]
fn a_second_rebalance_without_change_moves_nothing() {
    let problem = stateful_group(7, 3);
    let first = plan(&problem);
    let second = plan(&after(problem, &first, 1));
    assert_eq!(second.members, first.members);
    assert_eq!(second.report.moves, []);
}

#[test]
fn the_dead_members_tasks_are_promoted() {
    let problem = stateful_group(12, 4);
    let mut problem = after(problem.clone(), &plan(&problem), 1);
    problem.members.remove(1);
    let plan = plan(&problem);
    assert_eq!((plan.report.active_cold, plan.report.active_moved), (0, 0));
    assert_eq!(plan.report.active_spread, 0);
    assert_eq!(kinds(&plan).get(&MoveKind::Promoted), Some(&3));
}
