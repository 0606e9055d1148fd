//! The search: prices, shortest paths and the units that follow them.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cost::Cost;
use super::network::{ArcData, Infeasible, Network};

/// A direction on an arc: even = forward, odd = backward.
#[derive(Clone, Copy)]
struct Edge(usize);

impl Edge {
    fn arc(self) -> usize {
        self.0 / 2
    }

    fn is_forward(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// A network under way: flows, prices and what is left to carry.
pub(super) struct Residual<const N: usize> {
    arcs: Vec<ArcData>,
    costs: Vec<Cost<N>>,
    price: Vec<Cost<N>>,
    /// Units that still have to leave a node, or to reach it when negative.
    excess: Vec<i64>,
    /// `edges[starts[v]..starts[v + 1]]` leave node `v`.
    starts: Vec<usize>,
    edges: Vec<Edge>,
    /// Nodes with positive excess.
    surplus: Vec<usize>,
    labels: Labels<N>,
}

/// Scratch of one phase; a stamp of an earlier phase means "not yet".
struct Labels<const N: usize> {
    phase: u64,
    reached: Vec<u64>,
    settled: Vec<u64>,
    entered: Vec<u64>,
    distance: Vec<Cost<N>>,
    next_edge: Vec<usize>,
}

impl<const N: usize> Residual<N> {
    pub(super) fn new(network: Network<N>) -> Self {
        let nodes = network.supply.len();
        let (starts, edges) = adjacency(nodes, &network.arcs);
        let mut residual = Residual {
            arcs: network.arcs,
            costs: network.costs,
            price: network.price,
            excess: network.supply,
            starts,
            edges,
            surplus: Vec::new(),
            labels: Labels::new(nodes),
        };
        residual.fill_to_prices();
        residual.surplus = (0..nodes).filter(|&v| residual.excess[v] > 0).collect();
        residual
    }

    /// Carries everything; the arcs then hold a cheapest flow.
    pub(super) fn settle(mut self) -> Result<Vec<ArcData>, Infeasible> {
        while !self.surplus.is_empty() {
            self.labels.begin();
            let (nearest, settled) = self.nearest_deficit()?;
            self.lower_prices(nearest, &settled);
            self.push_everything();
            let excess = &self.excess;
            self.surplus.retain(|&v| excess[v] > 0);
        }
        Ok(self.arcs)
    }

    /// Gives every arc the units that are worth it at the starting prices.
    fn fill_to_prices(&mut self) {
        for a in 0..self.arcs.len() {
            let arc = self.arcs[a];
            let worth = self.price[arc.to] - self.price[arc.from];
            let flow = units_below(
                worth,
                self.costs[arc.cost],
                self.costs[arc.growth],
                arc.capacity,
            );
            self.arcs[a].flow = flow;
            self.excess[arc.from] -= flow;
            self.excess[arc.to] += flow;
        }
    }

    /// Dijkstra from every surplus at once to the nearest node that wants units: its distance, and the nodes
    /// that are nearer.
    fn nearest_deficit(&mut self) -> Result<(Cost<N>, Vec<usize>), Infeasible> {
        let mut frontier = Frontier::new(&self.surplus);
        self.surplus
            .iter()
            .for_each(|&v| self.labels.reach(v, Cost::ZERO));
        let mut settled = Vec::new();
        while let Some((distance, node)) = frontier.pop() {
            if !self.labels.settle(node, distance) {
                continue;
            }
            settled.push(node);
            if self.excess[node] < 0 {
                return Ok((distance, settled));
            }
            self.relax(node, distance, &mut frontier);
        }
        Err(Infeasible)
    }

    fn relax(&mut self, node: usize, distance: Cost<N>, frontier: &mut Frontier<N>) {
        for e in self.starts[node]..self.starts[node + 1] {
            let edge = self.edges[e];
            let Some(reduced) = self.reduced_cost(edge) else {
                continue;
            };
            let (head, through) = (self.head(edge), distance + reduced);
            if self.labels.is_nearer(head, through) {
                self.labels.reach(head, through);
                frontier.push(distance, through, head);
            }
        }
    }

    /// After this, the shortest paths to the nearest deficits cost nothing, and no edge costs less than nothing.
    fn lower_prices(&mut self, nearest: Cost<N>, settled: &[usize]) {
        for &v in settled {
            self.price[v] = self.price[v] + self.labels.distance[v] - nearest;
        }
    }

    /// Lets units flow along edges that cost nothing, from every surplus, depth first.
    fn push_everything(&mut self) {
        for i in 0..self.surplus.len() {
            let source = self.surplus[i];
            while self.excess[source] > 0 {
                let Some((path, target)) = self.free_path(source) else {
                    break;
                };
                self.push(source, &path, target);
            }
        }
    }

    /// A path of edges that cost nothing to a node that wants units. Nodes that it gives up on stay given up
    /// for this phase; nodes of a found path may be entered again.
    fn free_path(&mut self, source: usize) -> Option<(Vec<Edge>, usize)> {
        if !self.labels.enter(source, self.starts[source]) {
            return None;
        }
        let (mut path, mut node) = (Vec::new(), source);
        while self.excess[node] >= 0 {
            match self.next_free_edge(node) {
                Some(edge) => {
                    path.push(edge);
                    node = self.head(edge);
                }
                None => node = self.tail(path.pop()?),
            }
        }
        self.labels.leave(source);
        for &edge in &path {
            self.labels.leave(self.head(edge));
        }
        Some((path, node))
    }

    /// The next edge out of `node` that costs nothing and leads to a node not yet entered; enters it.
    fn next_free_edge(&mut self, node: usize) -> Option<Edge> {
        while self.labels.next_edge[node] < self.starts[node + 1] {
            let edge = self.edges[self.labels.next_edge[node]];
            let head = self.head(edge);
            if self.reduced_cost(edge) == Some(Cost::ZERO)
                && self.labels.enter(head, self.starts[head])
            {
                return Some(edge);
            }
            self.labels.next_edge[node] += 1;
        }
        None
    }

    fn push(&mut self, source: usize, path: &[Edge], target: usize) {
        let units = path
            .iter()
            .map(|&edge| self.room(edge))
            .fold(self.excess[source].min(-self.excess[target]), i64::min);
        for &edge in path {
            let flow = &mut self.arcs[edge.arc()].flow;
            *flow += if edge.is_forward() { units } else { -units };
        }
        self.excess[source] -= units;
        self.excess[target] += units;
    }

    /// Units that fit at this edge's present cost.
    fn room(&self, edge: Edge) -> i64 {
        let arc = &self.arcs[edge.arc()];
        match self.costs[arc.growth] == Cost::ZERO {
            false => 1,
            true if edge.is_forward() => arc.capacity - arc.flow,
            true => arc.flow,
        }
    }

    /// What one more unit costs at present prices; `None` when none fits.
    fn reduced_cost(&self, edge: Edge) -> Option<Cost<N>> {
        let arc = &self.arcs[edge.arc()];
        let (cost, growth) = (self.costs[arc.cost], self.costs[arc.growth]);
        let across = self.price[arc.from] - self.price[arc.to];
        if edge.is_forward() {
            (arc.flow < arc.capacity).then(|| cost + growth * arc.flow + across)
        } else {
            (arc.flow > 0).then(|| -(cost + growth * (arc.flow - 1) + across))
        }
    }

    fn head(&self, edge: Edge) -> usize {
        let arc = &self.arcs[edge.arc()];
        if edge.is_forward() { arc.to } else { arc.from }
    }

    fn tail(&self, edge: Edge) -> usize {
        let arc = &self.arcs[edge.arc()];
        if edge.is_forward() { arc.from } else { arc.to }
    }
}

impl<const N: usize> Labels<N> {
    fn new(nodes: usize) -> Self {
        Labels {
            phase: 0,
            reached: vec![0; nodes],
            settled: vec![0; nodes],
            entered: vec![0; nodes],
            distance: vec![Cost::ZERO; nodes],
            next_edge: vec![0; nodes],
        }
    }

    /// Stamps are even for phases; an entered node that was left by a found path carries the odd stamp below.
    fn begin(&mut self) {
        self.phase += 2;
    }

    fn reach(&mut self, node: usize, distance: Cost<N>) {
        self.reached[node] = self.phase;
        self.distance[node] = distance;
    }

    fn is_nearer(&self, node: usize, distance: Cost<N>) -> bool {
        self.reached[node] != self.phase || distance < self.distance[node]
    }

    /// Whether this is the first and shortest time that `node` comes up.
    fn settle(&mut self, node: usize, distance: Cost<N>) -> bool {
        let first = self.settled[node] != self.phase && self.distance[node] == distance;
        if first {
            self.settled[node] = self.phase;
        }
        first
    }

    /// Whether `node` may be entered; its edges are tried from the first on, once a phase.
    fn enter(&mut self, node: usize, first_edge: usize) -> bool {
        if self.entered[node] == self.phase {
            return false;
        }
        if self.entered[node] != self.phase - 1 {
            self.next_edge[node] = first_edge;
        }
        self.entered[node] = self.phase;
        true
    }

    /// `node` is on a found path: it may be entered again, where its edges were left off.
    fn leave(&mut self, node: usize) {
        self.entered[node] = self.phase - 1;
    }
}

/// Nodes to settle, nearest first. Those at the present distance wait in a plain list: most edges cost nothing.
struct Frontier<const N: usize> {
    here: Vec<usize>,
    distance: Cost<N>,
    farther: BinaryHeap<Reverse<(Cost<N>, usize)>>,
}

impl<const N: usize> Frontier<N> {
    fn new(sources: &[usize]) -> Self {
        Frontier {
            here: sources.to_vec(),
            distance: Cost::ZERO,
            farther: BinaryHeap::new(),
        }
    }

    fn push(&mut self, present: Cost<N>, distance: Cost<N>, node: usize) {
        match distance == present {
            true => self.here.push(node),
            false => self.farther.push(Reverse((distance, node))),
        }
    }

    fn pop(&mut self) -> Option<(Cost<N>, usize)> {
        if let Some(node) = self.here.pop() {
            return Some((self.distance, node));
        }
        let Reverse((distance, node)) = self.farther.pop()?;
        self.distance = distance;
        Some((distance, node))
    }
}

/// How many first units cost less than `worth`.
fn units_below<const N: usize>(
    worth: Cost<N>,
    cost: Cost<N>,
    growth: Cost<N>,
    capacity: i64,
) -> i64 {
    let (mut low, mut high) = (0, capacity.max(0));
    while low < high {
        let middle = low + (high - low) / 2;
        match cost + growth * middle < worth {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Edges by the node they leave, in the order of the arcs.
fn adjacency(nodes: usize, arcs: &[ArcData]) -> (Vec<usize>, Vec<Edge>) {
    let mut starts = vec![0; nodes + 1];
    for arc in arcs {
        starts[arc.from + 1] += 1;
        starts[arc.to + 1] += 1;
    }
    for v in 0..nodes {
        starts[v + 1] += starts[v];
    }
    let mut free = starts.clone();
    let mut edges = vec![Edge(0); 2 * arcs.len()];
    for (a, arc) in arcs.iter().enumerate() {
        for (node, edge) in [(arc.from, 2 * a), (arc.to, 2 * a + 1)] {
            edges[free[node]] = Edge(edge);
            free[node] += 1;
        }
    }
    (starts, edges)
}
