//! What Faust's own engine answered, as a yardstick.
//!
//! `tests/faust/engine.jsonl` holds answers of faust-streaming 0.15.3 for one co-partitioned group each: partition count,
//! configured replicas, clients in order with what they had, and Faust's result or its failure. Read here as: one topic with one
//! table on it, all claims of one generation.
//!
//! On every case our plan must hold the invariants, optimality of objectives 2-4 included, and be no less balanced than
//! Faust's. Where Faust's answer is valid and as balanced, our pair (cold actives, moved actives) must not be worse. Where
//! Faust fails, the invariants are all there is to ask. Cases with an explicit capacity (a different problem: ours derives it) and without
//! clients (nobody to place on) are skipped, and say so.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Claims, Member, Problem};
use serde::Deserialize;

use crate::common::cluster::{problem, ranges, table};
use crate::common::invariants::{check_valid, plan_checked, spread};
use crate::common::objectives::{self, Actives, Standbys};
use crate::common::view::View;

#[derive(Deserialize)]
struct Case {
    case_id: String,
    family: String,
    num_partitions: u32,
    replicas: u32,
    capacity: Option<u32>,
    clients: Vec<Client>,
    result: Option<BTreeMap<String, Share>>,
    faust_error: Option<Failure>,
}

#[derive(Deserialize)]
struct Client {
    id: String,
    #[serde(flatten)]
    had: Share,
}

#[derive(Deserialize)]
struct Share {
    actives: Vec<u32>,
    standbys: Vec<u32>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "type")]
    kind: String,
}

impl Case {
    fn skipped(&self) -> Option<&'static str> {
        match (self.capacity, self.clients.is_empty()) {
            (Some(_), _) => Some("it sets a capacity by hand, which ours derives"),
            (_, true) => Some("it has no clients"),
            _ => None,
        }
    }

    fn problem(&self) -> Problem {
        let member = |client: &Client| {
            let claims = |name: &str, numbers: &[u32]| Claims {
                generation: Some(1),
                partitions: BTreeMap::from([(name.to_owned(), ranges(numbers))]),
            };
            Member {
                tables: vec![table("counts", "orders")],
                standby_replicas: self.replicas,
                active: claims("orders", &client.had.actives),
                standby: claims("counts", &client.had.standbys),
                ..Member::new(&client.id, ["orders"])
            }
        };
        problem(
            &[("orders", self.num_partitions)],
            self.clients.iter().map(member).collect(),
        )
    }

    /// Faust's answer, if it is a valid one.
    fn answer(&self, view: &View) -> Option<(Actives, Standbys)> {
        let result = self.result.as_ref()?;
        let mut active = vec![None; self.num_partitions as usize];
        let mut standby = vec![BTreeSet::new(); self.num_partitions as usize];
        for (m, member) in view.members.iter().enumerate() {
            let share = &result[&member.id];
            for p in &share.actives {
                let twice = active.get_mut(*p as usize)?.replace(m);
                twice.is_none().then_some(())?;
            }
            for p in &share.standbys {
                standby.get_mut(*p as usize)?.insert(m).then_some(())?;
            }
        }
        let active: Vec<usize> = active.into_iter().collect::<Option<_>>()?;
        let wanted = (self.replicas as usize).min(view.members.len() - 1);
        let sound = |(a, s): (&usize, &BTreeSet<usize>)| s.len() == wanted && !s.contains(a);
        active
            .iter()
            .zip(&standby)
            .all(sound)
            .then(|| (vec![active.clone()], vec![standby.clone()]))
    }
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../faust/engine.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Better(&'static str),
    Equal,
}

/// Holds our plan against Faust's; panics where ours is worse.
fn compare(case: &Case) -> Verdict {
    let problem = case.problem();
    let (plan, _) = plan_checked(&problem);
    let view = View::new(&problem);
    let (ours, our_standbys) = check_valid(&view, &plan);
    let Some((theirs, their_standbys)) = case.answer(&view) else {
        return Verdict::Better(if case.faust_error.is_some() {
            "Faust fails"
        } else {
            "Faust's answer is invalid"
        });
    };
    let [our_evenness, .., our_cold, our_moved] = objectives::of_actives(&view, &ours);
    let [evenness, .., cold, moved] = objectives::of_actives(&view, &theirs);
    assert!(
        our_evenness <= evenness,
        "{}: less balanced than Faust's",
        case.case_id
    );
    let [our_spread, spread] = [our_standbys, their_standbys]
        .map(|standbys| spread(&objectives::standby_loads(&view, &standbys)));
    assert!(
        our_spread <= spread,
        "{}: standbys less balanced: {our_spread}, Faust {spread}",
        case.case_id
    );
    if our_evenness < evenness {
        return Verdict::Better("better balanced");
    }
    let pair = ((our_cold, our_moved), (cold, moved));
    assert!(
        pair.0 <= pair.1,
        "{}: (cold, moved) worse than Faust's: {pair:?}",
        case.case_id
    );
    if pair.0 < pair.1 {
        Verdict::Better("warmer or stiller")
    } else {
        Verdict::Equal
    }
}

#[test]
fn no_case_of_faust_is_answered_worse() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let cases = cases();
    for case in &cases {
        let counted = match (case.skipped(), case) {
            (Some(reason), _) => {
                println!("skipped {}: {reason}", case.case_id);
                "skipped"
            }
            (None, case) => match compare(case) {
                Verdict::Better(how) => how,
                Verdict::Equal => "equal",
            },
        };
        *counts.entry(counted).or_default() += 1;
    }
    println!("{} cases: {counts:?}", cases.len());
    assert_eq!(cases.len(), 101, "the fixture is whole");
}

#[test]
fn what_never_ends_in_faust_ends_here() {
    let endless = |case: &&Case| {
        case.faust_error
            .as_ref()
            .is_some_and(|e| e.kind == "LIVELOCK")
    };
    let cases = cases();
    let endless: Vec<&Case> = cases.iter().filter(endless).collect();
    assert!(
        endless.iter().any(|case| case.family == "eviction"),
        "the fixture has endless cases"
    );
    for case in endless {
        assert_eq!(
            compare(case),
            Verdict::Better("Faust fails"),
            "{}",
            case.case_id
        );
    }
}
