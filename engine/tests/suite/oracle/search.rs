//! The least value of the objectives over every valid placement, by trying them all.
//!
//! Counts the objectives of actives afresh, so that it also checks the formulas in `common::objectives`.
use std::collections::BTreeSet;

use crate::common::objectives::{Actives, Standbys, of_standbys, weights};
use crate::common::view::{Group, View};

/// Every task, with its place and the members that may be active.
fn tasks(view: &View) -> Vec<(usize, usize, Vec<usize>)> {
    let of_group = |(g, group): (usize, &Group)| {
        let subscribers: Vec<usize> = group.subscribers.iter().copied().collect();
        (0..group.partitions as usize)
            .map(|p| (g, p, subscribers.clone()))
            .collect::<Vec<_>>()
    };
    view.groups.iter().enumerate().flat_map(of_group).collect()
}

/// The least value of objectives 2-4 over all placements, each counted afresh.
pub struct BestActives<'a> {
    view: &'a View<'a>,
    tasks: Vec<(usize, usize, Vec<usize>)>,
    /// Load by member and group.
    loads: Vec<Vec<i64>>,
    best: Option<[i64; 5]>,
}

/// A multiple of all capacities of the sample (1, 2 and 3).
const MULTIPLE: i64 = 6;

impl BestActives<'_> {
    pub fn of(view: &View) -> [i64; 5] {
        let loads = vec![vec![0; view.groups.len()]; view.members.len()];
        let mut search = BestActives {
            tasks: tasks(view),
            loads,
            best: None,
            view,
        };
        search.place(0, 0, 0);
        search.best.unwrap_or_default()
    }

    fn place(&mut self, next: usize, cold: i64, moved: i64) {
        let Some((g, p, candidates)) = self.tasks.get(next).cloned() else {
            let value = self.value(cold, moved);
            self.best = Some(self.best.map_or(value, |best| best.min(value)));
            return;
        };
        let group = &self.view.groups[g];
        for m in candidates {
            let has_copy = group.copies[p].contains(&m);
            let cold_here = i64::from(!group.tables.is_empty() && !has_copy);
            let lost = group.owners[p]
                .iter()
                .filter(|o| !o.is_empty() && !o.contains(&m))
                .count() as i64;
            self.loads[m][g] += 1;
            self.place(next + 1, cold + cold_here, moved + lost);
            self.loads[m][g] -= 1;
        }
    }

    fn value(&self, cold: i64, moved: i64) -> [i64; 5] {
        let [mut total, mut stateful, mut grouped] = [0; 3];
        for (member, loads) in self.view.members.iter().zip(&self.loads) {
            let weight = MULTIPLE / i64::from(member.capacity.get());
            let with_state = loads
                .iter()
                .zip(&self.view.groups)
                .filter(|(_, group)| !group.tables.is_empty());
            total += weight * loads.iter().sum::<i64>().pow(2);
            stateful += weight * with_state.map(|(load, _)| load).sum::<i64>().pow(2);
            grouped += weight * loads.iter().map(|load| load * load).sum::<i64>();
        }
        [total, stateful, grouped, cold, moved]
    }
}

/// All subsets of `items` with `size` elements.
pub fn subsets(items: &[usize], size: usize) -> Vec<BTreeSet<usize>> {
    match (size, items.split_first()) {
        (0, _) => vec![BTreeSet::new()],
        (_, None) => Vec::new(),
        (_, Some((first, rest))) => {
            let with = subsets(rest, size - 1).into_iter().map(|mut set| {
                set.insert(*first);
                set
            });
            with.chain(subsets(rest, size)).collect()
        }
    }
}

/// The least value of missing tables and objectives 5-7, given the actives.
pub fn best_standbys(view: &View, active: &Actives) -> [i64; 4] {
    let wanted = view
        .members
        .iter()
        .map(|m| m.standby_replicas)
        .max()
        .unwrap_or(0) as usize;
    let mut choices = Vec::new();
    for (g, group) in view
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.is_stateful())
    {
        for (p, owner) in active[g].iter().enumerate() {
            let others: Vec<usize> = group
                .missing
                .keys()
                .copied()
                .filter(|m| m != owner)
                .collect();
            let size = wanted.min(others.len());
            let priced = |set: BTreeSet<usize>| {
                let mut alone: Standbys = view
                    .groups
                    .iter()
                    .map(|g| vec![BTreeSet::new(); g.partitions as usize])
                    .collect();
                alone[g][p].clone_from(&set);
                let [missing, together, _, new] = of_standbys(view, active, &alone);
                (set, [missing, together, new])
            };
            choices.push(
                subsets(&others, size)
                    .into_iter()
                    .map(priced)
                    .collect::<Vec<_>>(),
            );
        }
    }
    let mut loads = vec![0; view.members.len()];
    let mut best = None;
    choose(view, &choices, &mut loads, [0; 3], &mut best);
    best.unwrap_or_default()
}

type Choice = (BTreeSet<usize>, [i64; 3]);

fn choose(
    view: &View,
    left: &[Vec<Choice>],
    loads: &mut [i64],
    sum: [i64; 3],
    best: &mut Option<[i64; 4]>,
) {
    let Some((first, rest)) = left.split_first() else {
        let weighed = view.members.iter().zip(loads.iter());
        let uneven = weighed
            .map(|(m, load)| MULTIPLE / i64::from(m.capacity.get()) * load * load)
            .sum();
        let value = [sum[0], sum[1], uneven, sum[2]];
        *best = Some(best.map_or(value, |best| best.min(value)));
        return;
    };
    for (set, price) in first {
        set.iter().for_each(|m| loads[*m] += 1);
        choose(
            view,
            rest,
            loads,
            std::array::from_fn(|i| sum[i] + price[i]),
            best,
        );
        set.iter().for_each(|m| loads[*m] -= 1);
    }
}

/// The objectives' own scale is the least common multiple of the capacities present.
pub fn scaled<const N: usize>(
    view: &View,
    mut value: [i64; N],
    uneven: std::ops::Range<usize>,
) -> [i64; N] {
    let own = weights(view);
    let capacity = view
        .members
        .first()
        .map_or(1, |m| i64::from(m.capacity.get()));
    let scale = own
        .first()
        .map_or(1, |weight| MULTIPLE / (weight * capacity));
    value[uneven].iter_mut().for_each(|v| *v *= scale);
    value
}
