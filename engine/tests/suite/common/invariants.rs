//! The one checker: holds a plan against the rules, as [`View`] reads them.
//!
//! Invariants: I1 each subscribed existing partition active exactly once, groups in error excepted; I2 nothing unsubscribed or
//! missing; I3 equal numbers of a group together; I4 the right number of standbys; I5 balance (and with it objectives 2-4
//! optimal); I8 the newest generation wins, through the counts of moved and cold; I10 the answer is bounded by the input.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{GlobalTable, Plan, Problem, plan};

use super::objectives::{self, Actives, Standbys};
use super::view::{Group, View};
use super::{certificate, moves, report};

/// What the checker worked out along the way.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Total load in tasks by member id.
    pub active: BTreeMap<String, i64>,
    /// Standbys in tasks by member id.
    pub standby: BTreeMap<String, i64>,
    /// Objective 3.
    pub cold: u64,
    /// Objective 4.
    pub moved: u64,
    /// Objective 7.
    pub standby_moved: u64,
}

/// Plans `problem` and checks the plan.
pub fn plan_checked(problem: &Problem) -> (Plan, Numbers) {
    let plan = plan(problem);
    let numbers = check(problem, &plan);
    (plan, numbers)
}

/// Panics with a sentence if `plan` breaks a rule.
pub fn check(problem: &Problem, plan: &Plan) -> Numbers {
    let view = View::new(problem);
    let (active, standby) = check_valid(&view, plan);
    check_even(&view, &active);
    assert!(
        view.has_twins || certificate::actives_are_optimal(&view, &active),
        "objectives 2-4 can be bettered, they are {:?}",
        objectives::of_actives(&view, &active)
    );
    assert!(
        view.has_twins || certificate::standbys_are_optimal(&view, &active, &standby),
        "given the actives, objectives 5-7 can be bettered, they are {:?}",
        objectives::of_standbys(&view, &active, &standby)
    );
    report::check_warnings(&view, plan);
    report::check_bounds(&view, plan);
    if !view.has_twins {
        report::check_figures(&view, plan, &active, &standby);
        moves::check(&view, plan, &active, &standby);
    }
    numbers(&view, &active, &standby)
}

/// Invariants I1-I4; returns who has what.
pub fn check_valid(view: &View, plan: &Plan) -> (Actives, Standbys) {
    check_members(view, plan);
    check_groups(view, plan);
    let owners = owners(view, plan);
    let active: Actives = view
        .groups
        .iter()
        .map(|group| actives(view, group, &owners))
        .collect();
    let standby = standbys(view, plan, &active);
    check_leader(view, &owners);
    check_global(view, plan);
    (active, standby)
}

fn check_members(view: &View, plan: &Plan) {
    let expected: Vec<&str> = view.members.iter().map(|m| m.id.as_str()).collect();
    let found: Vec<&str> = plan.members.keys().map(String::as_str).collect();
    assert_eq!(expected, found, "every member has a share, and nobody else");
}

fn check_groups(view: &View, plan: &Plan) {
    let expected = view.groups.iter().map(|group| {
        let tables: BTreeSet<&str> = group.tables.iter().map(|t| t.name.as_str()).collect();
        (
            group.topics.clone(),
            tables.into_iter().map(str::to_owned).collect(),
            group.partitions,
        )
    });
    let expected: Vec<(Vec<String>, Vec<String>, u32)> = expected.filter(|g| g.2 > 0).collect();
    let found = plan.groups.iter().filter(|g| g.partitions > 0);
    let found: Vec<_> = found
        .map(|g| (g.topics.clone(), g.tables.clone(), g.partitions))
        .collect();
    assert_eq!(expected, found, "groups");
    let subscribed = |t: &&String| view.members.iter().any(|m| m.topics.contains(t));
    let in_error = plan
        .errors
        .iter()
        .flat_map(|e| &e.topics)
        .filter(subscribed);
    let in_error: BTreeSet<String> = in_error.cloned().collect();
    let missing = |t: &String| !view.problem.topics.contains_key(t);
    let named: BTreeSet<String> = in_error.into_iter().filter(|t| !missing(t)).collect();
    assert_eq!(view.in_error, named, "topics that stay unassigned");
}

/// Topic and partition -> the member that is active.
type Owners<'a> = BTreeMap<(&'a str, u32), usize>;

fn owners<'a>(view: &View, plan: &'a Plan) -> Owners<'a> {
    let mut owners = Owners::new();
    for (m, (id, share)) in plan.members.iter().enumerate() {
        for (topic, partitions) in &share.active {
            let placed = view
                .problem
                .topics
                .get(topic)
                .filter(|_| !view.in_error.contains(topic));
            let count = placed
                .unwrap_or_else(|| panic!("{id} gets {topic}, missing or in error"))
                .partitions;
            assert!(
                view.members[m].topics.contains(topic),
                "I2: {id} gets {topic} unsubscribed"
            );
            assert!(partitions.is_sorted(), "{id}: {topic} unsorted");
            for p in partitions {
                assert!(
                    *p < count,
                    "I2: {id} gets {topic}-{p}, which does not exist"
                );
                let twice = owners.insert((topic, *p), m);
                assert!(twice.is_none(), "I1: {topic}-{p} is active twice");
            }
        }
    }
    owners
}

fn actives(view: &View, group: &Group, owners: &Owners) -> Vec<usize> {
    let of_task = |p: u32| {
        let owner = |topic: &String| {
            let owner = owners.get(&(topic.as_str(), p));
            *owner.unwrap_or_else(|| panic!("I1: {topic}-{p} is active nowhere"))
        };
        let together: BTreeSet<usize> = group.topics.iter().map(owner).collect();
        assert_eq!(together.len(), 1, "I3: {:?}-{p} are apart", group.topics);
        let owner = together.into_iter().next().expect("one");
        assert!(
            group.subscribers.contains(&owner),
            "I2: {}",
            view.members[owner].id
        );
        owner
    };
    (0..group.partitions).map(of_task).collect()
}

fn standbys(view: &View, plan: &Plan, active: &Actives) -> Standbys {
    let empty = |group: &Group| vec![BTreeSet::new(); group.partitions as usize];
    let mut standby: Standbys = view.groups.iter().map(empty).collect();
    let mut held = 0;
    for (m, (id, share)) in plan.members.iter().enumerate() {
        for (table, partitions) in &share.standby {
            assert!(
                partitions.is_sorted_by(|a, b| a < b),
                "{id}: {table} unsorted or twice"
            );
            let has = |g: &Group| g.tables.iter().any(|t| &t.name == table);
            let g = view.groups.iter().position(has);
            let g = g.unwrap_or_else(|| panic!("{id} stands by for {table}, which is in no group"));
            assert!(
                view.members[m].tables.iter().any(|t| &t.name == table),
                "I2: {id} never declared {table}"
            );
            for p in partitions {
                assert!(
                    *p < view.groups[g].partitions,
                    "I2: {id} stands by for {table}-{p}"
                );
                standby[g][*p as usize].insert(m);
                held += 1;
            }
        }
    }
    for (group, (active, standby)) in view.groups.iter().zip(active.iter().zip(&standby)) {
        held -= check_standbys(view, group, active, standby);
    }
    assert_eq!(
        held, 0,
        "a standby holds all tables of its group that its member declares"
    );
    standby
}

/// Invariant I4; returns how many table partitions these standbys must hold.
fn check_standbys(
    view: &View,
    group: &Group,
    active: &[usize],
    standby: &[BTreeSet<usize>],
) -> i64 {
    let wanted = view
        .members
        .iter()
        .map(|m| m.standby_replicas)
        .max()
        .unwrap_or(0) as usize;
    let mut held = 0;
    for (p, (active, holders)) in active.iter().zip(standby).enumerate() {
        assert!(
            !holders.contains(active),
            "I4: {:?}-{p} stands by at its active",
            group.topics
        );
        let others = group.missing.keys().filter(|m| *m != active).count();
        assert_eq!(
            holders.len(),
            wanted.min(others),
            "I4: standbys of {:?}-{p}",
            group.topics
        );
        for m in holders {
            let missing = group.missing.get(m);
            held += group.tables.len() as i64
                - missing.expect("I4: a standby at a member that is not eligible");
        }
    }
    held
}

fn check_leader(view: &View, owners: &Owners) {
    let Some(topic) = &view.problem.leader_topic else {
        return;
    };
    for (p, claimants) in view.leader_owners.iter().enumerate() {
        let p = u32::try_from(p).expect("a partition");
        let owner = owners.get(&(topic.as_str(), p));
        let asked = view.members.iter().any(|m| m.topics.contains(topic));
        assert_eq!(owner.is_some(), asked, "I1: the leader topic");
        let stays = claimants.is_empty() || owner.is_some_and(|m| claimants.contains(m));
        assert!(
            stays || view.has_twins,
            "the leader topic moves for nothing"
        );
    }
}

fn check_global(view: &View, plan: &Plan) {
    for member in &view.members {
        let share = &plan.members[&member.id].global;
        let declared: BTreeSet<&str> = member
            .global_tables
            .iter()
            .map(|t| t.name.as_str())
            .collect();
        let held: BTreeSet<&str> = share.keys().map(String::as_str).collect();
        assert!(
            held.is_subset(&declared),
            "{} holds a global table undeclared",
            member.id
        );
        for table in &member.global_tables {
            let same = |other: &&GlobalTable| other.name == table.name;
            let everyones = view
                .members
                .iter()
                .flat_map(|m| &m.global_tables)
                .filter(same);
            let whole = everyones.map(|t| t.partitions).max();
            assert_eq!(
                share.get(&table.name).copied(),
                whole,
                "{} holds {} whole",
                member.id,
                table.name
            );
        }
    }
}

/// Invariant I5 where it is simple: all subscribe alike with equal capacity.
fn check_even(view: &View, active: &Actives) {
    let alike = |a: &BTreeSet<usize>| a.len() == view.members.len();
    let capacities: BTreeSet<_> = view.members.iter().map(|m| m.capacity).collect();
    if capacities.len() > 1 || !view.groups.iter().all(|g| alike(&g.subscribers)) {
        return;
    }
    let spread_of = |g: usize| spread(&objectives::loads(view, active, |other| other == g));
    assert!(
        spread(&objectives::loads(view, active, |_| true)) <= 1,
        "I5: in total"
    );
    assert!(
        (0..view.groups.len()).all(|g| spread_of(g) <= 1),
        "I5: in a group"
    );
}

/// Largest minus smallest.
pub fn spread(loads: &[i64]) -> i64 {
    loads.iter().max().unwrap_or(&0) - loads.iter().min().unwrap_or(&0)
}

fn numbers(view: &View, active: &Actives, standby: &Standbys) -> Numbers {
    let named = |loads: Vec<i64>| {
        view.members
            .iter()
            .map(|m| m.id.clone())
            .zip(loads)
            .collect()
    };
    let [.., cold, moved] = objectives::of_actives(view, active);
    let [.., new] = objectives::of_standbys(view, active, standby);
    Numbers {
        active: named(objectives::loads(view, active, |_| true)),
        standby: named(objectives::standby_loads(view, standby)),
        cold: cold.unsigned_abs(),
        moved: moved.unsigned_abs(),
        standby_moved: new.unsigned_abs(),
    }
}
