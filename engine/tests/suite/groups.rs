//! Which topics go together, and what stays unassigned with an error.
use rdkafka_assignor_engine::{Copartition, Member, Plan};

use crate::common::cluster::{declared, problem, table};
use crate::common::invariants::plan_checked;

fn member(id: &str, topics: &[&str], copartition: Copartition) -> Member {
    Member {
        copartition,
        ..Member::new(id, topics.iter().copied())
    }
}

fn groups(plan: &Plan) -> Vec<Vec<&str>> {
    plan.groups
        .iter()
        .map(|g| g.topics.iter().map(String::as_str).collect())
        .collect()
}

fn assigned(plan: &Plan, topic: &str) -> usize {
    plan.members
        .values()
        .filter_map(|m| m.active.get(topic))
        .map(Vec::len)
        .sum()
}

#[test]
fn equal_counts_and_equal_subscribers_go_together_when_nothing_is_declared() {
    let members = vec![
        Member::new("m1", ["a", "b", "c", "d"]),
        Member::new("m2", ["a", "b", "c"]),
    ];
    let (plan, _) = plan_checked(&problem(&[("a", 4), ("b", 4), ("c", 3), ("d", 4)], members));
    assert_eq!(groups(&plan), [vec!["a", "b"], vec!["c"], vec!["d"]]);
}

#[test]
fn declared_sets_unite_transitively_and_silent_members_do_not_vote() {
    let all = ["a", "b", "c", "d"];
    let members = vec![
        member("m1", &all, declared(&[&["a", "b"]])),
        member("m2", &all, declared(&[&["b", "c"]])),
        member("m3", &all, Copartition::Automatic),
    ];
    let (plan, _) = plan_checked(&problem(&[("a", 4), ("b", 4), ("c", 4), ("d", 4)], members));
    assert_eq!(groups(&plan), [vec!["a", "b", "c"], vec!["d"]]);
    assert!(!plan.warnings.is_empty(), "the declarations differ");
}

#[test]
fn differing_counts_of_a_declared_set_leave_it_unassigned_and_name_it() {
    let members = vec![member(
        "m1",
        &["orders", "users", "audit"],
        declared(&[&["orders", "users"]]),
    )];
    let (plan, _) = plan_checked(&problem(
        &[("orders", 8), ("users", 6), ("audit", 3)],
        members,
    ));
    assert_eq!(
        [
            assigned(&plan, "orders"),
            assigned(&plan, "users"),
            assigned(&plan, "audit")
        ],
        [0, 0, 3]
    );
    let [error] = &plan.errors[..] else {
        panic!("one error: {:?}", plan.errors);
    };
    assert_eq!(error.topics, ["orders", "users"]);
    assert!(
        ["orders", "8", "users", "6"]
            .iter()
            .all(|part| error.detail.contains(part)),
        "{}",
        error.detail
    );
}

#[test]
fn missing_topic_of_a_declared_set_leaves_the_set_unassigned() {
    let members = vec![member(
        "m1",
        &["orders", "users", "audit"],
        declared(&[&["orders", "users"]]),
    )];
    let (plan, _) = plan_checked(&problem(&[("orders", 8), ("audit", 3)], members));
    assert_eq!(
        [assigned(&plan, "orders"), assigned(&plan, "audit")],
        [0, 3]
    );
    assert!(
        plan.errors.iter().any(|e| e.detail.contains("users")),
        "{:?}",
        plan.errors
    );
}

/// A rolling deploy adds a topic to a set: the few that know it already must not draw the whole set.
#[test]
fn topic_that_not_all_subscribers_of_its_set_know_waits() {
    let set = || declared(&[&["orders", "users"]]);
    let members = vec![
        member("new", &["orders", "users"], set()),
        member("old-1", &["orders"], set()),
        member("old-2", &["orders"], set()),
    ];
    let (plan, _) = plan_checked(&problem(&[("orders", 6), ("users", 6)], members));
    assert_eq!(
        [assigned(&plan, "orders"), assigned(&plan, "users")],
        [6, 0]
    );
    assert_eq!(plan.report.active_spread, 0, "{:?}", plan.members);
    assert!(
        plan.errors.iter().any(|e| e.topics == ["users"]),
        "{:?}",
        plan.errors
    );
}

#[test]
fn largest_of_differing_standby_replicas_counts_with_a_warning() {
    let keeper = |id: &str, standby_replicas| Member {
        tables: vec![table("counts", "orders")],
        standby_replicas,
        ..Member::new(id, ["orders"])
    };
    let members = vec![keeper("m1", 0), keeper("m2", 2), keeper("m3", 1)];
    let (plan, _) = plan_checked(&problem(&[("orders", 3)], members));
    assert!(
        plan.members
            .values()
            .all(|m| m.standby["counts"].len() == 2),
        "{:?}",
        plan.members
    );
    assert!(!plan.warnings.is_empty());
}

#[test]
fn copies_go_only_to_members_that_declare_the_table_and_those_that_declare_more_come_first() {
    let keeper = |id: &str, tables: &[&str]| Member {
        tables: tables.iter().map(|name| table(name, "orders")).collect(),
        standby_replicas: 1,
        ..Member::new(id, ["orders"])
    };
    let both: &[&str] = &["counts", "sums"];
    let members = vec![
        keeper("all-1", both),
        keeper("all-2", both),
        keeper("half", &["sums"]),
        keeper("none", &[]),
    ];
    let (plan, _) = plan_checked(&problem(&[("orders", 8)], members));
    assert!(plan.members["none"].standby.is_empty() && plan.members["half"].standby.is_empty());
    assert_eq!(
        plan.report.active_spread, 0,
        "actives may go to any subscriber"
    );
}

#[test]
fn clean_group_is_told_nothing() {
    let all = ["a", "b"];
    let members = (0..3)
        .map(|n| member(&format!("m{n}"), &all, declared(&[&["a", "b"]])))
        .collect();
    let (plan, _) = plan_checked(&problem(&[("a", 6), ("b", 6)], members));
    assert!(
        plan.warnings.is_empty() && plan.errors.is_empty(),
        "{:?} {:?}",
        plan.warnings,
        plan.errors
    );
}
