//! Groups for tests.
use std::collections::BTreeMap;

use crate::{Claims, Member, MemberPlan, Plan, Problem, Table, Topic};

/// Topics by name and partition count.
pub(crate) fn topics(counts: &[(&str, u32)]) -> BTreeMap<String, Topic> {
    let topic = |&(name, partitions): &(&str, u32)| {
        let topic = Topic {
            partitions,
            ..Topic::default()
        };
        (name.to_owned(), topic)
    };
    counts.iter().map(topic).collect()
}

pub(crate) fn table(name: &str, source: &str) -> Table {
    Table {
        name: name.to_owned(),
        source: source.to_owned(),
    }
}

/// Members `m1`, `m2`, .. subscribe to orders and users, with table `counts` on orders and one standby.
pub(crate) fn stateful_group(partitions: u32, members: usize) -> Problem {
    Problem {
        topics: topics(&[("orders", partitions), ("users", partitions)]),
        members: (1..=members)
            .map(|i| stateful_member(&format!("m{i}")))
            .collect(),
        ..Problem::default()
    }
}

pub(crate) fn stateful_member(id: &str) -> Member {
    Member {
        tables: vec![table("counts", "orders")],
        standby_replicas: 1,
        ..Member::new(id, ["orders", "users"])
    }
}

/// Claims on single partitions.
pub(crate) fn claims(generation: i32, lists: &[(&str, &[i64])]) -> Claims {
    let ranges = |list: &[i64]| list.iter().map(|&p| p..p + 1).collect();
    let lists = lists
        .iter()
        .map(|&(name, list)| (name.to_owned(), ranges(list)));
    Claims {
        generation: Some(generation),
        partitions: lists.collect(),
    }
}

/// The next rebalance: everybody claims what the plan gave; newcomers claim nothing.
pub(crate) fn after(problem: &Problem, plan: &Plan, generation: i32) -> Problem {
    let mut problem = problem.clone();
    let nothing = MemberPlan::default();
    for member in &mut problem.members {
        let share = plan.members.get(&member.id).unwrap_or(&nothing);
        member.active = claimed(generation, &share.active);
        member.standby = claimed(generation, &share.standby);
    }
    problem
}

fn claimed(generation: i32, lists: &BTreeMap<String, Vec<u32>>) -> Claims {
    let ranges = |list: &Vec<u32>| list.iter().map(|&p| p.into()..i64::from(p) + 1).collect();
    let lists = lists
        .iter()
        .map(|(name, list)| (name.clone(), ranges(list)));
    Claims {
        generation: Some(generation),
        partitions: lists.collect(),
    }
}
