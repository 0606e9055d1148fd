//! Random histories of a group: after every rebalance the checker, and
//!
//! * I9: the same plan for any order of the members,
//! * I12: planning again from the plan moves nothing.
//!
//! Sequences are the same in every run (a fixed seed); `PROPTEST_CASES` asks for more of them. A failure shrinks to the
//! shortest history that shows it.

mod event;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rdkafka_assignor_engine::{Plan, Problem, plan};

use crate::common::cluster::adopt;
use crate::common::invariants::plan_checked;
use crate::common::random::Random;
use crate::common::view::{Group, View};
use event::{event, start};
use world::World;

/// One rebalance, with everything that must hold of it.
fn rebalance(world: &mut World) {
    let problem = world.problem();
    let (plan, _) = plan_checked(&problem);
    check_order(&problem, &plan);
    check_rest(&problem, &plan, world.generation());
    world.adopt(&plan);
}

/// Invariant I9.
fn check_order(problem: &Problem, expected: &Plan) {
    let mut problem = problem.clone();
    let mut random = Random::new(problem.members.len() as u64);
    for _ in 0..2 {
        random.shuffle(&mut problem.members);
        problem
            .members
            .iter_mut()
            .for_each(|m| random.shuffle(&mut m.topics));
        assert_eq!(&plan(&problem), expected, "I9: the order decides");
    }
}

/// Invariant I12. Where a member may be active without declaring the table, a standby that this plan warms may rightly
/// take over in the next one (objective 3): such groups come to rest only then, and are left out.
fn check_rest(problem: &Problem, before: &Plan, generation: i32) {
    let view = View::new(problem);
    let whole = |g: &Group| g.subscribers.iter().all(|m| g.missing.get(m) == Some(&0));
    if !view.groups.iter().filter(|g| g.is_stateful()).all(whole) {
        return;
    }
    let mut next = problem.clone();
    adopt(&mut next, before, generation);
    next.generation = Some(generation + 1);
    let after = plan(&next);
    assert!(
        after.report.moves.is_empty(),
        "I12: {:#?}",
        after.report.moves
    );
    assert_eq!(after.members, before.members, "I12");
    assert_eq!(
        (
            after.report.active_moved,
            after.report.active_cold,
            after.report.standby_moved
        ),
        (0, 0, 0),
        "I12"
    );
}

fn run(alike: bool, cases: u32) {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let cases = if config.cases == 256 {
        cases
    } else {
        config.cases
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config { cases, ..config }, rng);
    let histories = (start(), proptest::collection::vec(event(alike), 1..16));
    let outcome = runner.run(&histories, |(start, events)| {
        let mut world = World::new(&start);
        rebalance(&mut world);
        for event in &events {
            world.apply(event);
            rebalance(&mut world);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn every_history_of_equal_members_holds_the_invariants() {
    run(true, 64);
}

#[test]
fn every_history_of_unequal_members_holds_the_invariants() {
    run(false, 96);
}
