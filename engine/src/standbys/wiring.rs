//! The network of standbys under construction, and what its flow means.
use std::collections::BTreeMap;

use index_vec::IndexVec;

use super::demand::{Demand, Eligible, amount};
use super::{Costs, rank};
use crate::door::{History, Roster};
use crate::flow::{Arc, Cost, Flow, Network, Node};
use crate::hub::Hub;
use crate::index::MemberIx;
use crate::past::{Past, TaskPast};
use crate::weights::Weights;

/// The network under construction.
pub(super) struct Wiring<'a> {
    roster: &'a Roster<'a>,
    history: &'a History,
    demand: &'a Demand<'a>,
    weights: Weights,
    network: Network<{ rank::COUNT }>,
    members: IndexVec<MemberIx, Node>,
    /// The guessed price of a member.
    price: Costs,
    /// By active; the standbys that each member keeps for it.
    pairs: BTreeMap<MemberIx, Pairs>,
}

/// The nodes of (active, member) for one active.
struct Pairs {
    /// The guessed price of each.
    price: Costs,
    nodes: BTreeMap<MemberIx, Node>,
}

/// The ways of one group's tasks.
#[derive(Default)]
pub(super) struct GroupWiring {
    tasks: Vec<TaskArcs>,
    hubs: BTreeMap<MemberIx, Hub>,
}

/// The ways of one task: those by an arc of its own, in order of members; other units go by its active's hub.
struct TaskArcs {
    active: MemberIx,
    wanted: i64,
    direct: Vec<(Arc, MemberIx)>,
}

impl GroupWiring {
    /// Follows the units.
    pub(super) fn standbys(self, flow: &Flow) -> Vec<Vec<MemberIx>> {
        let hubs = self.hubs.iter();
        let mut from_hubs: BTreeMap<MemberIx, _> = hubs
            .map(|(&active, hub)| (active, hub.units(flow)))
            .collect();
        let standbys = |task: TaskArcs| {
            let used = task.direct.into_iter().filter(|&(arc, _)| flow.on(arc) > 0);
            let mut standbys: Vec<MemberIx> = used.map(|(_, m)| m).collect();
            if standbys.is_empty() && task.wanted > 0 {
                standbys.extend(from_hubs.get_mut(&task.active).and_then(Iterator::next));
            }
            standbys
        };
        self.tasks.into_iter().map(standbys).collect()
    }
}

impl<'a> Wiring<'a> {
    pub(super) fn new(
        roster: &'a Roster<'a>,
        history: &'a History,
        demand: &'a Demand<'a>,
    ) -> Self {
        let (weights, mut network) = (Weights::of(roster), Network::new());
        let sink = network.node(-demand.total);
        let level = weights.level(demand.keepers.iter().copied(), demand.total);
        let price = Cost::ZERO - Cost::at(rank::LOAD, level);
        let member = |m| {
            let node = network.node(0);
            network.price(node, price);
            let (cost, growth) = weights.square(m, rank::LOAD);
            network.arc(node, sink, demand.total, cost, growth);
            node
        };
        Wiring {
            members: roster.members.indices().map(member).collect(),
            pairs: BTreeMap::new(),
            roster,
            history,
            demand,
            weights,
            network,
            price,
        }
    }

    pub(super) fn solve(self) -> Flow {
        let flow = self.network.solve();
        flow.expect("no task sends more units than it has members to send them to")
    }

    /// Wires the tasks of a group.
    pub(super) fn group(&mut self, eligible: &Eligible<'_>, actives: &[MemberIx]) -> GroupWiring {
        let mut wired = GroupWiring::default();
        if eligible.is_empty() {
            return wired;
        }
        for (p, &active) in (0..).zip(actives) {
            let past = TaskPast::of(eligible.group, p, self.roster, self.history);
            let task = match eligible.wanted(active) {
                1 => self.task_by_hub(eligible, active, &past, &mut wired.hubs),
                wanted => self.task_by_rack(eligible, active, &past, wanted),
            };
            wired.tasks.push(task);
        }
        wired
    }

    /// A task with one standby: strangers are reached by the hub, since no two copies can meet.
    fn task_by_hub(
        &mut self,
        eligible: &Eligible<'_>,
        active: MemberIx,
        past: &TaskPast,
        hubs: &mut BTreeMap<MemberIx, Hub>,
    ) -> TaskArcs {
        let hub = hubs
            .entry(active)
            .or_insert_with(|| self.hub(eligible, active))
            .node;
        let mut ways = Vec::new();
        for (m, had) in past
            .iter()
            .filter(|(m, had)| *m != active && had.copies > 0)
        {
            if let Some(missing) = eligible.missing(m) {
                let cost = eligible.copy_cost(had, missing);
                ways.push((m, cost + self.beside_active(active, m)));
            }
        }
        let to_hub = eligible.copy_cost(Past::default(), 0);
        let cheapest = ways.iter().map(|way| way.1).fold(to_hub, Costs::min);
        let price = self.pairs(active).price - cheapest;
        let node = self.node(1, price);
        let direct = ways
            .into_iter()
            .map(|(m, cost)| (self.arc_to_pair(node, active, m, cost), m));
        let direct = direct.collect();
        self.network.arc(node, hub, 1, to_hub, Cost::ZERO);
        TaskArcs {
            active,
            wanted: 1,
            direct,
        }
    }

    /// The way from an active's tasks in a group to everybody who may keep their standbys.
    fn hub(&mut self, eligible: &Eligible<'_>, active: MemberIx) -> Hub {
        let price = self.pairs(active).price;
        let node = self.node(0, price);
        let mut arcs = Vec::new();
        for (m, missing) in eligible.others(active) {
            let cost = amount(rank::MISSING, missing) + self.beside_active(active, m);
            let pair = self.pair(active, m);
            let units = self.demand.of_active[active];
            arcs.push((self.network.arc(node, pair, units, cost, Cost::ZERO), m));
        }
        Hub { node, arcs }
    }

    /// A task with several standbys: an arc for everybody, by way of a rack where two copies could meet.
    fn task_by_rack(
        &mut self,
        eligible: &Eligible<'_>,
        active: MemberIx,
        past: &TaskPast,
        wanted: i64,
    ) -> TaskArcs {
        let ways: Vec<(MemberIx, Costs)> = eligible
            .others(active)
            .map(|(m, missing)| {
                let cost = eligible.copy_cost(past.at(m), missing);
                (m, cost + self.beside_active(active, m))
            })
            .collect();
        let price = self.pairs(active).price - nth_cheapest(&ways, wanted);
        let node = self.node(wanted, price);
        let mut racks = BTreeMap::new();
        let mut direct = Vec::new();
        for (m, cost) in ways {
            let from = match self.demand.shared_rack(eligible, active, m) {
                None => node,
                Some(rack) => *racks
                    .entry(rack)
                    .or_insert_with(|| self.rack(node, price, wanted)),
            };
            direct.push((self.arc_to_pair(from, active, m, cost), m));
        }
        TaskArcs {
            active,
            wanted,
            direct,
        }
    }

    /// The node of (task, rack): the first copy there is free, every further one is not apart.
    fn rack(&mut self, task: Node, price: Costs, wanted: i64) -> Node {
        let rack = self.node(0, price);
        self.network.arc(task, rack, 1, Cost::ZERO, Cost::ZERO);
        let further = amount(rank::APART, 1);
        self.network.arc(task, rack, wanted, further, Cost::ZERO);
        rack
    }

    fn arc_to_pair(&mut self, from: Node, active: MemberIx, m: MemberIx, cost: Costs) -> Arc {
        let pair = self.pair(active, m);
        self.network.arc(from, pair, 1, cost, Cost::ZERO)
    }

    /// The node of (active, member).
    fn pair(&mut self, active: MemberIx, m: MemberIx) -> Node {
        let price = self.pairs(active).price;
        if let Some(&node) = self.pairs(active).nodes.get(&m) {
            return node;
        }
        let node = self.node(0, price);
        let (cost, growth) = self.weights.square(m, rank::SPREAD);
        let units = self.demand.of_active[active];
        self.network.arc(node, self.members[m], units, cost, growth);
        self.pairs(active).nodes.insert(m, node);
        node
    }

    fn pairs(&mut self, active: MemberIx) -> &mut Pairs {
        self.pairs.entry(active).or_insert_with(|| {
            let others = self.demand.keepers.iter().copied().filter(|&m| m != active);
            let level = self.weights.level(others, self.demand.of_active[active]);
            Pairs {
                price: self.price - Cost::at(rank::SPREAD, level),
                nodes: BTreeMap::new(),
            }
        })
    }

    fn node(&mut self, supply: i64, price: Costs) -> Node {
        let node = self.network.node(supply);
        self.network.price(node, price);
        node
    }

    fn beside_active(&self, active: MemberIx, m: MemberIx) -> Costs {
        amount(rank::APART, self.demand.beside_active(active, m))
    }
}

/// The cost of the `n`-th cheapest way: with that many units the last one pays it.
fn nth_cheapest(ways: &[(MemberIx, Costs)], n: i64) -> Costs {
    let mut costs: Vec<Costs> = ways.iter().map(|way| way.1).collect();
    costs.sort_unstable();
    let last = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
    last.and_then(|last| costs.get(last))
        .copied()
        .unwrap_or(Cost::ZERO)
}
