//! Which topics go together, and which must stay unassigned.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Copartition, Member, Problem};

pub fn subscribers(members: &[&Member], topic: &str) -> BTreeSet<usize> {
    let asks = |m: &Member| m.topics.iter().any(|t| t == topic);
    (0..members.len()).filter(|m| asks(members[*m])).collect()
}

/// Sets of topics that go together, and the subscribed topics that must stay unassigned.
pub fn topic_sets<'a>(
    problem: &'a Problem,
    members: &[&'a Member],
) -> (Vec<Vec<&'a str>>, BTreeSet<String>) {
    let is_placed = |topic: &str| {
        problem.leader_topic.as_deref() != Some(topic) && !subscribers(members, topic).is_empty()
    };
    let placed: Vec<&str> = problem
        .topics
        .keys()
        .map(String::as_str)
        .filter(|t| is_placed(t))
        .collect();
    let mut in_error = BTreeSet::new();
    let mut sets: Vec<Vec<&str>> = match declared_sets(members) {
        None => automatic_sets(problem, members, &placed),
        Some(declared) => {
            let alone = placed
                .iter()
                .filter(|t| !declared.iter().any(|set| set.contains(*t)));
            let alone: Vec<Vec<&str>> = alone.map(|t| vec![*t]).collect();
            let sound = declared
                .iter()
                .map(|set| sound_part(problem, members, set, &mut in_error));
            sound.filter(|set| !set.is_empty()).chain(alone).collect()
        }
    };
    sets.sort();
    in_error.retain(|topic| placed.contains(&topic.as_str()));
    (sets, in_error)
}

fn automatic_sets<'a>(
    problem: &Problem,
    members: &[&Member],
    placed: &[&'a str],
) -> Vec<Vec<&'a str>> {
    let mut sets: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for topic in placed {
        let key = (
            problem.topics[*topic].partitions,
            subscribers(members, topic),
        );
        sets.entry(key).or_default().push(topic);
    }
    sets.into_values().collect()
}

/// Declared sets united transitively; `None` if no member declares anything.
fn declared_sets<'a>(members: &[&'a Member]) -> Option<Vec<BTreeSet<&'a str>>> {
    let mut any = false;
    let mut united: Vec<BTreeSet<&str>> = Vec::new();
    for member in members {
        let Copartition::Declared(sets) = &member.copartition else {
            continue;
        };
        any = true;
        for set in sets {
            let mut merged: BTreeSet<&str> = set.iter().map(String::as_str).collect();
            let (touched, apart) = united
                .into_iter()
                .partition(|other| !other.is_disjoint(&merged));
            united = apart;
            let touched: Vec<BTreeSet<&str>> = touched;
            merged.extend(touched.into_iter().flatten());
            united.push(merged);
        }
    }
    any.then_some(united)
}

/// What of a declared set can be placed; the rest is in error.
fn sound_part<'a>(
    problem: &Problem,
    members: &[&Member],
    set: &BTreeSet<&'a str>,
    in_error: &mut BTreeSet<String>,
) -> Vec<&'a str> {
    let is_leader = |topic: &&str| problem.leader_topic.as_deref() == Some(*topic);
    let topics: Vec<&str> = set.iter().copied().filter(|t| !is_leader(t)).collect();
    let all: BTreeSet<usize> = topics
        .iter()
        .flat_map(|t| subscribers(members, t))
        .collect();
    let counts: BTreeSet<_> = topics
        .iter()
        .map(|t| problem.topics.get(*t).map(|t| t.partitions))
        .collect();
    let sound = |topic: &str| {
        counts.len() == 1 && !counts.contains(&None) && subscribers(members, topic) == all
    };
    let (kept, lost): (Vec<&str>, Vec<&str>) = topics.into_iter().partition(|t| sound(t));
    in_error.extend(lost.into_iter().map(str::to_owned));
    kept.into_iter().filter(|_| !all.is_empty()).collect()
}
