//! The ranked objectives of a placement as integers: smaller is better, the first difference decides.
//!
//! Evenness is the sum of load squared over capacity, here times the least common multiple of the capacities.
use std::collections::{BTreeMap, BTreeSet};

use super::view::View;

/// By group and partition: the member that is active.
pub type Actives = Vec<Vec<usize>>;
/// By group and partition: the members that stand by.
pub type Standbys = Vec<Vec<BTreeSet<usize>>>;

/// Load of each member over groups that `counts` accepts.
pub fn loads(view: &View, active: &Actives, counts: impl Fn(usize) -> bool) -> Vec<i64> {
    let mut loads = vec![0; view.members.len()];
    for (_, owners) in active.iter().enumerate().filter(|(g, _)| counts(*g)) {
        owners.iter().for_each(|m| loads[*m] += 1);
    }
    loads
}

/// Standbys of each member, in tasks.
pub fn standby_loads(view: &View, standby: &Standbys) -> Vec<i64> {
    let mut loads = vec![0; view.members.len()];
    standby
        .iter()
        .flatten()
        .flatten()
        .for_each(|m| loads[*m] += 1);
    loads
}

/// For each member the common multiple of all capacities over its own: what a load squared weighs.
pub fn weights(view: &View) -> Vec<i64> {
    let capacity = |m: usize| i64::from(view.members[m].capacity.get());
    let everyone = 0..view.members.len();
    let multiple = everyone
        .clone()
        .fold(1, |acc, m| acc / gcd(acc, capacity(m)) * capacity(m));
    everyone.map(|m| multiple / capacity(m)).collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Objectives 2 (total, stateful, per group), 3 and 4.
pub fn of_actives(view: &View, active: &Actives) -> [i64; 5] {
    let weights = weights(view);
    let uneven = |loads: Vec<i64>| -> i64 {
        loads
            .iter()
            .zip(&weights)
            .map(|(load, w)| load * load * w)
            .sum()
    };
    let groups = 0..view.groups.len();
    let mut cold = 0;
    let mut moved = 0;
    for (group, owners) in view.groups.iter().zip(active) {
        for (p, m) in owners.iter().enumerate() {
            cold += i64::from(group.is_cold(p, *m));
            moved += group.moved(p, *m);
        }
    }
    [
        uneven(loads(view, active, |_| true)),
        uneven(loads(view, active, |g| view.groups[g].is_stateful())),
        groups
            .map(|g| uneven(loads(view, active, |other| other == g)))
            .sum(),
        cold,
        moved,
    ]
}

/// Tables that standbys lack, then objectives 5, 6 and 7.
pub fn of_standbys(view: &View, active: &Actives, standby: &Standbys) -> [i64; 4] {
    let [mut missing, mut together, mut new] = [0; 3];
    for (g, group) in view.groups.iter().enumerate() {
        for (p, holders) in standby[g].iter().enumerate() {
            missing += holders.iter().map(|m| group.missing[m]).sum::<i64>();
            together += beyond_first(view, active[g][p], holders);
            new += holders
                .iter()
                .filter(|m| !group.copies[p].contains(m))
                .count() as i64;
        }
    }
    let loads = standby_loads(view, standby);
    let uneven = loads
        .iter()
        .zip(weights(view))
        .map(|(load, w)| load * load * w)
        .sum();
    [missing, together, uneven, new]
}

/// Copies of one task beyond the first of each rack; an unknown rack is its own.
fn beyond_first(view: &View, active: usize, holders: &BTreeSet<usize>) -> i64 {
    let mut racks: BTreeMap<&str, i64> = BTreeMap::new();
    for m in holders.iter().chain([&active]) {
        if let Some(rack) = &view.members[*m].rack {
            *racks.entry(rack).or_default() += 1;
        }
    }
    racks.values().map(|copies| copies - 1).sum()
}
