//! The network that a caller builds, and the flow that it gets back.
use std::collections::BTreeMap;

use super::cost::Cost;
use super::residual::Residual;

/// A node of one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(pub(super) usize);

/// An arc of one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arc(usize);

/// What flows on each arc.
#[derive(Clone, Debug)]
pub(crate) struct Flow(Vec<i64>);

impl Flow {
    /// Units on an arc.
    pub(crate) fn on(&self, arc: Arc) -> i64 {
        self.0[arc.0]
    }
}

/// Some unit has no way to a node that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the network cannot carry its supply")]
pub(crate) struct Infeasible;

/// Nodes with supplies, and arcs whose units get dearer.
#[derive(Debug)]
pub(crate) struct Network<const N: usize> {
    pub(super) supply: Vec<i64>,
    pub(super) price: Vec<Cost<N>>,
    pub(super) arcs: Vec<ArcData>,
    pub(super) costs: Vec<Cost<N>>,
    interned: BTreeMap<Cost<N>, usize>,
}

/// An arc; costs are few and shared, so they are kept once.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArcData {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) capacity: i64,
    pub(super) flow: i64,
    pub(super) cost: usize,
    pub(super) growth: usize,
}

impl<const N: usize> Network<N> {
    /// Without nodes.
    pub(crate) fn new() -> Self {
        Network {
            supply: Vec::new(),
            price: Vec::new(),
            arcs: Vec::new(),
            costs: Vec::new(),
            interned: BTreeMap::new(),
        }
    }

    /// A node at which `supply` units start, or at which they are wanted when it is negative.
    pub(crate) fn node(&mut self, supply: i64) -> Node {
        self.supply.push(supply);
        self.price.push(Cost::ZERO);
        Node(self.supply.len() - 1)
    }

    /// Where the search for `node`'s price begins: a good guess saves time and never changes the cost.
    pub(crate) fn price(&mut self, node: Node, price: Cost<N>) {
        self.price[node.0] = price;
    }

    /// An arc whose first unit costs `cost` and each further one `growth` (not negative) more.
    pub(crate) fn arc(
        &mut self,
        from: Node,
        to: Node,
        capacity: i64,
        cost: Cost<N>,
        growth: Cost<N>,
    ) -> Arc {
        debug_assert!(growth >= Cost::ZERO, "arcs are convex");
        let (cost, growth) = (self.intern(cost), self.intern(growth));
        self.arcs.push(ArcData {
            from: from.0,
            to: to.0,
            capacity,
            flow: 0,
            cost,
            growth,
        });
        Arc(self.arcs.len() - 1)
    }

    /// A cheapest flow that carries every unit of supply to where units are wanted.
    ///
    /// Of several cheapest ones the same is found every time.
    ///
    /// # Errors
    /// [`Infeasible`] when the arcs cannot carry the supply.
    pub(crate) fn solve(self) -> Result<Flow, Infeasible> {
        let arcs = Residual::new(self).settle()?;
        Ok(Flow(arcs.iter().map(|arc| arc.flow).collect()))
    }

    fn intern(&mut self, cost: Cost<N>) -> usize {
        *self.interned.entry(cost).or_insert_with(|| {
            self.costs.push(cost);
            self.costs.len() - 1
        })
    }
}
