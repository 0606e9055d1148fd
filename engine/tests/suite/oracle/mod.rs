//! Exhaustive search over tiny problems: every valid placement is tried, and ours must be as good as the best.
//!
//! Problems come from a seeded sample: at most 4 members, 2 groups, 4 partitions each, 2 standbys; claims old, new, double and
//! missing; state on disk; differing subscriptions, tables, racks and capacities. Actives are enumerated for objectives 2-4;
//! then, with the plan's actives, standbys for missing tables and objectives 5-7.

mod instance;
mod search;

use rdkafka_assignor_engine::{Problem, plan};

use crate::common::certificate::{actives_are_optimal, standbys_are_optimal};
use crate::common::invariants::{check_valid, plan_checked};
use crate::common::objectives::{Actives, Standbys, of_actives, of_standbys};
use crate::common::random::Random;
use crate::common::view::View;
use instance::instance;
use search::{BestActives, best_standbys, scaled, subsets};

const SAMPLE: u64 = 4_000;

/// Reports the smallest problem that failed, of those that did.
fn expect_none(failed: &[(u64, String)], of: u64) {
    let size = |seed: u64| {
        let problem = instance(seed);
        (
            problem.members.len(),
            problem.topics.len(),
            format!("{problem:?}").len(),
        )
    };
    let Some((seed, told)) = failed.iter().min_by_key(|(seed, _)| size(*seed)) else {
        return;
    };
    let problem = instance(*seed);
    panic!(
        "{} of {of} failed, the smallest is seed {seed}: {told}\n{problem:#?}\n{:#?}",
        failed.len(),
        plan(&problem)
    );
}

#[test]
fn no_placement_of_actives_is_better() {
    let mut failed = Vec::new();
    for seed in 0..SAMPLE {
        let problem = instance(seed);
        let view = View::new(&problem);
        let (active, _) = check_valid(&view, &plan(&problem));
        let [ours, best] = [
            scaled(&view, of_actives(&view, &active), 0..3),
            BestActives::of(&view),
        ];
        assert!(best <= ours, "the search misses placements, seed {seed}");
        if ours != best {
            failed.push((seed, format!("ours {ours:?}, best {best:?}")));
        }
    }
    expect_none(&failed, SAMPLE);
}

#[test]
fn no_placement_of_standbys_is_better_given_the_actives() {
    let mut failed = Vec::new();
    for seed in 0..SAMPLE {
        let problem = instance(seed);
        let view = View::new(&problem);
        let (active, standby) = check_valid(&view, &plan(&problem));
        let ours = scaled(&view, of_standbys(&view, &active, &standby), 2..3);
        let best = best_standbys(&view, &active);
        assert!(best <= ours, "the search misses placements, seed {seed}");
        if ours != best {
            failed.push((seed, format!("ours {ours:?}, best {best:?}")));
        }
    }
    expect_none(&failed, SAMPLE);
}

#[test]
fn every_plan_of_the_sample_holds_the_invariants() {
    for seed in 0..SAMPLE {
        println!("seed {seed}");
        plan_checked(&instance(seed));
    }
}

/// The checker itself: a certificate of optimality is given exactly where the search finds nothing better.
#[test]
fn certificate_agrees_with_exhaustive_search_on_any_placement() {
    let mut counts = [0; 4];
    for seed in 0..SAMPLE / 4 {
        let problem = instance(seed);
        let view = View::new(&problem);
        let (active, standby) =
            some_placement(&view, &mut Random::new(seed ^ 0x5eed), seed % 3 > 0);
        let is_best = scaled(&view, of_actives(&view, &active), 0..3) == BestActives::of(&view);
        assert_eq!(
            actives_are_optimal(&view, &active),
            is_best,
            "actives, seed {seed}"
        );
        counts[usize::from(is_best)] += 1;
        let is_best = scaled(&view, of_standbys(&view, &active, &standby), 2..3)
            == best_standbys(&view, &active);
        assert_eq!(
            standbys_are_optimal(&view, &active, &standby),
            is_best,
            "standbys, seed {seed}"
        );
        counts[2 + usize::from(is_best)] += 1;
    }
    println!("actives worse, best; standbys worse, best: {counts:?}");
    assert!(
        counts.iter().all(|count| *count > 50),
        "the sample tells both ways: {counts:?}"
    );
}

/// A valid placement by chance, of the better sort on demand.
fn some_placement(view: &View, random: &mut Random, good: bool) -> (Actives, Standbys) {
    let wanted = view
        .members
        .iter()
        .map(|m| m.standby_replicas)
        .max()
        .unwrap_or(0) as usize;
    let mut loads = vec![0; view.members.len()];
    let mut active = Vec::new();
    let mut standby = Vec::new();
    for group in &view.groups {
        let candidates: Vec<usize> = group.subscribers.iter().copied().collect();
        let mut owners = Vec::new();
        let mut holders = Vec::new();
        for p in 0..group.partitions as usize {
            let price = |m: &&usize| (loads[**m], group.is_cold(p, **m), group.moved(p, **m));
            let best = *candidates.iter().min_by_key(price).expect("a subscriber");
            let owner = if good { best } else { random.pick(&candidates) };
            loads[owner] += 1;
            owners.push(owner);
            let others: Vec<usize> = group
                .missing
                .keys()
                .copied()
                .filter(|m| *m != owner)
                .collect();
            let size = if group.is_stateful() {
                wanted.min(others.len())
            } else {
                0
            };
            holders.push(random.pick(&subsets(&others, size)));
        }
        active.push(owners);
        standby.push(holders);
    }
    (active, standby)
}

#[test]
fn sample_has_what_it_promises() {
    let all: Vec<Problem> = (0..SAMPLE).map(instance).collect();
    let share = |has: &dyn Fn(&Problem) -> bool| all.iter().filter(|p| has(p)).count();
    let two_groups = share(&|p| View::new(p).groups.len() > 1);
    let contested = share(&|p| {
        View::new(p)
            .groups
            .iter()
            .any(|g| g.owners.iter().flatten().any(|o| o.len() > 1))
    });
    let outdated = share(&|p| !View::new(p).doubtful.is_empty());
    let counts = [two_groups, contested, outdated];
    println!("two groups, double claims, outdated claims: {counts:?} of {SAMPLE}");
    assert!(counts.iter().all(|count| *count > 400));
}
