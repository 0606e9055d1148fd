//! The whole engine on groups small enough to reason about.
use std::collections::BTreeMap;

use crate::samples::{after, claims, stateful_group, stateful_member, table, topics};
use crate::{Copartition, GlobalTable, Member, MoveKind, Plan, Problem, Role, WarningKind, plan};

/// How many moves of a role there are, by kind.
fn kinds(plan: &Plan, role: Role) -> BTreeMap<MoveKind, usize> {
    let mut kinds = BTreeMap::new();
    for moved in plan.report.moves.iter().filter(|m| m.role == role) {
        *kinds.entry(moved.kind).or_default() += 1;
    }
    kinds
}

#[test]
fn an_empty_group_gets_an_empty_plan() {
    assert_eq!(plan(&Problem::default()), Plan::default());
}

#[test]
fn a_second_rebalance_without_change_moves_nothing() {
    let problem = stateful_group(7, 3);
    let first = plan(&problem);
    let second = plan(&after(&problem, &first, 1));
    assert_eq!(second.members, first.members);
    assert_eq!(second.report.moves, []);
}

/// Five tables are missing from either choice of who cannot keep everything; one task that stays cold is better
/// than two.
#[test]
fn a_second_rebalance_moves_nothing_where_members_declare_some_of_the_tables() {
    let tables = [("sums", "a"), ("counts", "a"), ("names", "b")].map(|(t, s)| table(t, s));
    let member = |id: &str, declared: &[usize]| Member {
        tables: declared.iter().map(|&i| tables[i].clone()).collect(),
        standby_replicas: 2,
        copartition: Copartition::Declared(Vec::new()),
        ..Member::new(id, ["a", "b"])
    };
    let problem = Problem {
        topics: topics(&[("a", 2), ("b", 1)]),
        members: vec![
            member("m1", &[0, 1, 2]),
            member("m2", &[1, 2]),
            member("m3", &[]),
        ],
        ..Problem::default()
    };
    let first = plan(&problem);
    let second = plan(&after(&problem, &first, 1));
    assert_eq!(second.members, first.members);
    assert_eq!(second.report.moves, []);
    assert_eq!(second.report.active_cold, 1);
}

#[test]
fn any_order_of_members_gives_the_same_plan() {
    let problem = stateful_group(11, 4);
    let mut reversed = problem.clone();
    reversed.members.reverse();
    assert_eq!(plan(&reversed), plan(&problem));
}

#[test]
fn the_dead_members_tasks_are_promoted_over_all_survivors() {
    let problem = stateful_group(12, 4);
    let mut problem = after(&problem, &plan(&problem), 1);
    problem.members.remove(1);
    let plan = plan(&problem);
    let report = &plan.report;
    assert_eq!(
        (
            report.active_cold,
            report.active_moved,
            report.active_spread
        ),
        (0, 0, 0)
    );
    assert_eq!(kinds(&plan, Role::Active), [(MoveKind::Promoted, 3)].into());
}

#[test]
fn a_replaced_members_tasks_are_promoted_as_far_as_evenness_allows() {
    let problem = stateful_group(12, 4);
    let mut problem = after(&problem, &plan(&problem), 1);
    problem.members[1] = stateful_member("new");
    let plan = plan(&problem);
    assert_eq!(
        (plan.report.active_spread, plan.report.standby_spread),
        (0, 0)
    );
    assert_eq!(kinds(&plan, Role::Active), [(MoveKind::Cold, 3)].into());
}

#[test]
fn a_newcomer_gets_its_even_share_and_nothing_else_moves() {
    let problem = stateful_group(64, 8);
    let mut problem = after(&problem, &plan(&problem), 1);
    problem.members.push(stateful_member("new"));
    let plan = plan(&problem);
    assert_eq!(plan.members["new"].active["orders"].len(), 7);
    assert_eq!(plan.report.active_moved, 14, "seven tasks of two topics");
    assert_eq!(
        (plan.report.active_spread, plan.report.standby_spread),
        (1, 1)
    );
}

#[test]
fn local_state_brings_a_restarted_member_its_tasks_back() {
    let mut problem = stateful_group(6, 3);
    problem.members[2].local_state = claims(0, &[("counts", &[0, 5])]).partitions;
    let plan = plan(&problem);
    assert_eq!(plan.members["m3"].active["orders"], [0, 5]);
    assert_eq!(plan.report.active_cold, 4);
}

#[test]
fn a_demoted_active_keeps_its_copy_as_a_standby() {
    let mut problem = stateful_group(2, 2);
    problem.members[0].active = claims(1, &[("orders", &[0, 1]), ("users", &[0, 1])]);
    let plan = plan(&problem);
    assert_eq!(
        plan.members["m1"].standby["counts"],
        plan.members["m2"].active["orders"]
    );
    assert_eq!(
        plan.report.standby_moved, 1,
        "only the newcomer builds a copy"
    );
    assert_eq!(kinds(&plan, Role::Active), [(MoveKind::Cold, 1)].into());
}

#[test]
fn standbys_go_to_members_that_declare_the_table_only() {
    let mut problem = stateful_group(4, 3);
    problem.members[2].tables.clear();
    let plan = plan(&problem);
    assert!(plan.members["m3"].standby.is_empty());
    assert!(!plan.members["m3"].active.is_empty());
}

#[test]
fn a_standby_holds_the_tables_that_its_member_declares() {
    let mut problem = stateful_group(4, 3);
    for member in &mut problem.members[..2] {
        member.tables.push(table("sums", "users"));
    }
    let plan = plan(&problem);
    let standby = |id: &str| plan.members[id].standby.keys().cloned().collect::<Vec<_>>();
    assert_eq!(standby("m1"), ["counts", "sums"]);
    let of_m3 = &plan.members["m3"].active["orders"];
    let lent: usize = ["m1", "m2"]
        .iter()
        .map(|id| plan.members[*id].standby["sums"].len())
        .sum();
    assert_eq!(
        lent, 4,
        "whoever declares more comes first, also for {of_m3:?}"
    );
}

#[test]
fn racks_keep_copies_apart_before_loads_are_even() {
    let mut problem = stateful_group(6, 3);
    for (member, rack) in problem.members.iter_mut().zip(["a", "a", "b"]) {
        member.rack = Some(rack.to_owned());
    }
    let plan = plan(&problem);
    let standby = |id: &str| plan.members[id].standby["counts"].len();
    assert_eq!((standby("m1"), standby("m2"), standby("m3")), (1, 1, 4));
}

#[test]
fn the_leader_topic_weighs_nothing_and_stays_where_it_is() {
    let mut problem = stateful_group(3, 3);
    problem.topics.extend(topics(&[("leader", 1)]));
    problem.leader_topic = Some("leader".to_owned());
    for member in &mut problem.members {
        member.topics.push("leader".to_owned());
    }
    problem.members[1].active = claims(4, &[("leader", &[0])]);
    let plan = plan(&problem);
    assert_eq!(plan.members["m2"].active["leader"], [0]);
    assert_eq!(plan.report.active_spread, 0);
    assert!(
        plan.groups
            .iter()
            .all(|group| !group.topics.contains(&"leader".to_owned()))
    );
}

#[test]
fn nobodys_leader_topic_goes_to_the_least_loaded() {
    let mut problem = stateful_group(5, 3);
    problem.topics.extend(topics(&[("leader", 1)]));
    problem.leader_topic = Some("leader".to_owned());
    for member in &mut problem.members {
        member.topics.push("leader".to_owned());
    }
    let plan = plan(&problem);
    let leads = plan
        .members
        .values()
        .find(|m| m.active.contains_key("leader"));
    assert_eq!(leads.expect("one leads").active["orders"].len(), 1);
}

#[test]
fn twenty_topics_of_one_partition_spread_over_twenty_members() {
    let names: Vec<String> = (0..20).map(|i| format!("t{i:02}")).collect();
    let counts: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let member = |i| Member {
        copartition: Copartition::Declared(Vec::new()),
        ..Member::new(format!("m{i:02}"), &names)
    };
    let plan = plan(&Problem {
        topics: topics(&counts),
        members: (0..20).map(member).collect(),
        ..Problem::default()
    });
    assert!(plan.members.values().all(|m| m.active.len() == 1));
}

#[test]
fn capacity_shares_the_load() {
    let mut problem = stateful_group(9, 2);
    problem.members[1].capacity = 2.try_into().expect("not zero");
    let plan = plan(&problem);
    assert_eq!(plan.members["m1"].active["orders"].len(), 3);
    assert_eq!(plan.members["m2"].active["orders"].len(), 6);
}

#[test]
fn a_consumer_stays_near_the_replicas_where_nothing_else_decides() {
    let mut problem = stateful_group(4, 2);
    for (member, rack) in problem.members.iter_mut().zip(["a", "b"]) {
        member.rack = Some(rack.to_owned());
    }
    let racks = ["b", "b", "a", "a"].map(|rack| vec![rack.to_owned()]);
    problem
        .topics
        .get_mut("orders")
        .expect("is there")
        .replica_racks = racks.to_vec();
    let plan = plan(&problem);
    assert_eq!(plan.members["m1"].active["orders"], [2, 3]);
}

#[test]
fn a_global_table_is_held_whole_by_everybody_who_declares_it() {
    let mut problem = stateful_group(4, 3);
    for (member, partitions) in problem.members.iter_mut().zip([4, u32::MAX]) {
        member.global_tables = vec![GlobalTable {
            name: "countries".to_owned(),
            partitions,
        }];
    }
    let plan = plan(&problem);
    assert_eq!(
        plan.members["m1"].global,
        [("countries".to_owned(), u32::MAX)].into()
    );
    assert!(plan.members["m3"].global.is_empty());
    assert_eq!(plan.warnings[0].kind, WarningKind::GlobalMismatch);
}

#[test]
fn a_set_in_error_is_reported_as_given_up() {
    let mut problem = stateful_group(2, 1);
    problem.topics.extend(topics(&[("users", 3)]));
    let set = ["orders", "users"].map(str::to_owned).to_vec();
    problem.members[0].copartition = Copartition::Declared(vec![set]);
    problem.members[0].active = claims(1, &[("orders", &[0])]);
    let plan = plan(&problem);
    assert!(plan.members["m1"].active.is_empty());
    assert_eq!(plan.errors.len(), 1);
    let lost = &plan.report.moves[0];
    assert_eq!(
        (&lost.names[..], lost.partition, &lost.to),
        (&["orders".to_owned()][..], 0, &None)
    );
}

#[test]
fn topics_of_one_task_may_come_from_different_members() {
    let mut problem = stateful_group(1, 2);
    problem.members[0].active = claims(1, &[("orders", &[0])]);
    problem.members[1].active = claims(1, &[("users", &[0])]);
    let plan = plan(&problem);
    assert_eq!(plan.members["m1"].active.len(), 2, "orders has the state");
    let [moved, standby] = &plan.report.moves[..] else {
        panic!("one active and one standby: {:?}", plan.report.moves);
    };
    assert_eq!(
        (moved.from.as_deref(), moved.kind),
        (Some("m2"), MoveKind::Moved)
    );
    assert_eq!(
        (standby.role, standby.kind),
        (Role::Standby, MoveKind::Cold)
    );
}

#[test]
fn reasons_are_sentences_about_members() {
    let problem = stateful_group(2, 2);
    let mut problem = after(&problem, &plan(&problem), 1);
    problem.members.remove(0);
    problem.members.push(stateful_member("new"));
    let reasons: Vec<_> = plan(&problem)
        .report
        .moves
        .into_iter()
        .map(|m| m.reason)
        .collect();
    let expected = [
        "new has to build the state: even loads leave no room where a copy is; nobody present owned it",
        "new has to build the copy",
    ];
    assert_eq!(reasons, expected);
}
