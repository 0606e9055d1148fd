//! Proof that a placement cannot be bettered, at any size.
//!
//! Objectives 2-4 are a convex min-cost flow task -> (member, group) -> (member, stateful or not) -> member -> sink; the
//! standbys of given actives are one too: task -> (task, rack) -> member -> sink. A flow is optimal exactly if its residual
//! graph has no cycle of negative cost (Klein 1967), and ranked costs add up and compare like numbers. Bellman and Ford's
//! relaxation comes to rest exactly if there is none. So this only *judges*; it never searches for a placement.
use std::collections::{BTreeMap, BTreeSet};

use super::objectives::{self, Actives, Standbys};
use super::view::View;

/// Ranked costs of one unit.
type Cost = [i64; 5];

const FREE: Cost = [0; 5];

#[derive(Default)]
struct Residual {
    nodes: usize,
    arcs: Vec<(usize, usize, Cost)>,
}

impl Residual {
    fn node(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }

    /// An arc that carries `flow` at `weight * flow^2` on rank `rank`.
    fn convex(&mut self, from: usize, to: usize, flow: i64, weight: i64, rank: usize) {
        let marginal = |units: i64| {
            let mut cost = FREE;
            cost[rank] = weight * units;
            cost
        };
        self.arcs.push((from, to, marginal(2 * flow + 1)));
        if flow > 0 {
            self.arcs.push((to, from, marginal(1 - 2 * flow)));
        }
    }

    /// An arc for one unit, used or not.
    fn single(&mut self, from: usize, to: usize, used: bool, cost: Cost) {
        match used {
            false => self.arcs.push((from, to, cost)),
            true => self.arcs.push((to, from, cost.map(|c| -c))),
        }
    }

    /// Whether relaxation never comes to rest.
    fn has_negative_cycle(&self) -> bool {
        let mut distance = vec![FREE; self.nodes];
        for _ in 0..=self.nodes {
            let mut changed = false;
            for (from, to, cost) in &self.arcs {
                let through: Cost = std::array::from_fn(|rank| distance[*from][rank] + cost[rank]);
                if through < distance[*to] {
                    distance[*to] = through;
                    changed = true;
                }
            }
            if !changed {
                return false;
            }
        }
        true
    }
}

/// Whether no other placement of actives is better on objectives 2, 3 and 4.
pub fn actives_are_optimal(view: &View, active: &Actives) -> bool {
    let mut graph = Residual::default();
    let sink = graph.node();
    let weights = objectives::weights(view);
    let total = objectives::loads(view, active, |_| true);
    let stateful = objectives::loads(view, active, |g| view.groups[g].is_stateful());
    let (mut with_state, mut without) = (Vec::new(), Vec::new());
    for m in 0..view.members.len() {
        let member = graph.node();
        graph.convex(member, sink, total[m], weights[m], 0);
        with_state.push(graph.node());
        graph.convex(with_state[m], member, stateful[m], weights[m], 1);
        without.push(graph.node());
        graph.convex(without[m], member, total[m] - stateful[m], 0, 1);
    }
    for (g, group) in view.groups.iter().enumerate() {
        let above = if group.is_stateful() {
            &with_state
        } else {
            &without
        };
        let own = objectives::loads(view, active, |other| other == g);
        let shares = group.subscribers.iter().map(|m| {
            let share = graph.node();
            graph.convex(share, above[*m], own[*m], weights[*m], 2);
            (*m, share)
        });
        let shares: Vec<(usize, usize)> = shares.collect();
        for (p, owner) in active[g].iter().enumerate() {
            let task = graph.node();
            for (m, share) in &shares {
                let cost = [0, 0, 0, i64::from(group.is_cold(p, *m)), group.moved(p, *m)];
                graph.single(task, *share, m == owner, cost);
            }
        }
    }
    !graph.has_negative_cycle()
}

/// Whether, for these actives, no other placement of standbys is better on missing tables and objectives 5, 6 and 7.
pub fn standbys_are_optimal(view: &View, active: &Actives, standby: &Standbys) -> bool {
    let mut graph = Residual::default();
    let sink = graph.node();
    let weights = objectives::weights(view);
    let loads = objectives::standby_loads(view, standby);
    let members = (0..view.members.len()).map(|m| {
        let member = graph.node();
        graph.convex(member, sink, loads[m], weights[m], 2);
        member
    });
    let members: Vec<usize> = members.collect();
    for (g, group) in view
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.is_stateful())
    {
        for (p, holders) in standby[g].iter().enumerate() {
            let racks = racks(view, &mut graph, active[g][p], holders);
            for (m, missing) in group.missing.iter().filter(|(m, _)| **m != active[g][p]) {
                let rack = racks[&rack_of(view, *m)];
                let new = i64::from(!group.copies[p].contains(m));
                graph.single(
                    rack,
                    members[*m],
                    holders.contains(m),
                    [*missing, 0, 0, new, 0],
                );
            }
        }
    }
    !graph.has_negative_cycle()
}

/// A member's rack; an unknown one is its own.
fn rack_of<'a>(view: &View<'a>, m: usize) -> Result<&'a str, usize> {
    view.members[m].rack.as_deref().ok_or(m)
}

/// One node for the task and one for each rack, where every copy but the first costs.
fn racks<'a>(
    view: &View<'a>,
    graph: &mut Residual,
    active: usize,
    holders: &BTreeSet<usize>,
) -> BTreeMap<Result<&'a str, usize>, usize> {
    let task = graph.node();
    let mut nodes = BTreeMap::new();
    for m in 0..view.members.len() {
        let rack = rack_of(view, m);
        if nodes.contains_key(&rack) {
            continue;
        }
        let here = |other: &usize| rack_of(view, *other) == rack;
        let flow = holders.iter().filter(|m| here(m)).count();
        let before = usize::from(here(&active));
        let node = graph.node();
        let beyond = |copies: usize| i64::from(copies > 1);
        graph
            .arcs
            .push((task, node, [0, beyond(before + flow + 1), 0, 0, 0]));
        if flow > 0 {
            graph
                .arcs
                .push((node, task, [0, -beyond(before + flow), 0, 0, 0]));
        }
        nodes.insert(rack, node);
    }
    nodes
}
