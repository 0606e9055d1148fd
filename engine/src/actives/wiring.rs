//! The network of actives under construction, and what its flow means.
use std::collections::BTreeMap;

use index_vec::IndexVec;

use super::prices::Prices;
use super::task::Task;
use super::{Costs, amount, rank};
use crate::door::{History, Roster};
use crate::flow::{Arc, Cost, Flow, Network, Node};
use crate::groups::Group;
use crate::hub::Hub;
use crate::index::{GroupIx, MemberIx};
use crate::weights::Weights;

/// The network under construction.
pub(super) struct Wiring<'a> {
    roster: &'a Roster<'a>,
    history: &'a History,
    weights: Weights,
    prices: Prices,
    network: Network<{ rank::COUNT }>,
    members: IndexVec<MemberIx, MemberNodes>,
}

/// Where a member's tasks come together.
struct MemberNodes {
    all: Node,
    stateful: Node,
}

/// One group's part of the network.
pub(super) struct GroupWiring<'a> {
    hub: Hub,
    rack_hubs: BTreeMap<&'a str, Hub>,
    /// One node per subscriber, in their order.
    seats: Vec<(MemberIx, Node)>,
    /// The guessed price of seats and hubs.
    price: Costs,
    /// The ways of every task.
    tasks: Vec<Vec<(Arc, Way<'a>)>>,
}

/// What an arc of a task leads to.
#[derive(Clone, Copy)]
enum Way<'a> {
    Member(MemberIx),
    Rack(&'a str),
    Anybody,
}

impl<'a> Wiring<'a> {
    pub(super) fn new(
        roster: &'a Roster<'a>,
        groups: &IndexVec<GroupIx, Group>,
        history: &'a History,
    ) -> Self {
        let (weights, mut network) = (Weights::of(roster), Network::new());
        let prices = Prices::guess(groups.iter(), &weights);
        let tasks: i64 = groups.iter().map(|group| i64::from(group.partitions)).sum();
        let sink = network.node(-tasks);
        let member = |m: MemberIx| {
            let (all, stateful) = (network.node(0), network.node(0));
            network.price(all, prices.all);
            network.price(stateful, prices.stateful);
            let (cost, growth) = weights.square(m, rank::STATEFUL);
            network.arc(stateful, all, tasks, cost, growth);
            let (cost, growth) = weights.square(m, rank::TOTAL);
            network.arc(all, sink, tasks, cost, growth);
            MemberNodes { all, stateful }
        };
        Wiring {
            members: roster.members.indices().map(member).collect(),
            roster,
            history,
            weights,
            prices,
            network,
        }
    }

    pub(super) fn solve(self) -> Flow {
        let flow = self.network.solve();
        flow.expect("every task reaches its hub, every hub a member, every member the sink")
    }

    /// Wires the tasks of a group.
    pub(super) fn group(&mut self, group: &'a Group) -> GroupWiring<'a> {
        let price = self.prices.seat(group, &self.weights);
        let seats = group.subscribers.iter();
        let seats: Vec<_> = seats.map(|&m| (m, self.seat(group, m, price))).collect();
        let mut wired = GroupWiring {
            hub: self.hub(group, &seats, price),
            rack_hubs: self.rack_hubs(group, &seats, price),
            seats,
            price,
            tasks: Vec::new(),
        };
        for p in 0..group.partitions {
            let task = Task::new(group, p, self.roster, self.history);
            let ways = self.task(&task, &wired);
            wired.tasks.push(ways);
        }
        wired
    }

    /// The node of (member, group).
    fn seat(&mut self, group: &Group, m: MemberIx, price: Costs) -> Node {
        let seat = self.node(0, price);
        let next = match group.is_stateful() {
            true => self.members[m].stateful,
            false => self.members[m].all,
        };
        let unable = group.tables_missing(&self.roster.members[m].tables);
        let (cost, growth) = self.weights.square(m, rank::IN_GROUP);
        let (cost, capacity) = (cost + amount(rank::UNABLE, unable), group.partitions.into());
        self.network.arc(seat, next, capacity, cost, growth);
        seat
    }

    fn hub(&mut self, group: &Group, seats: &[(MemberIx, Node)], price: Costs) -> Hub {
        let node = self.node(0, price);
        let (network, capacity) = (&mut self.network, group.partitions.into());
        let mut arc = |seat| network.arc(node, seat, capacity, Cost::ZERO, Cost::ZERO);
        Hub {
            arcs: seats.iter().map(|&(m, seat)| (arc(seat), m)).collect(),
            node,
        }
    }

    /// Hubs for the racks of the group's subscribers, where racks of replicas are known at all.
    fn rack_hubs(
        &mut self,
        group: &Group,
        seats: &[(MemberIx, Node)],
        price: Costs,
    ) -> BTreeMap<&'a str, Hub> {
        let roster = self.roster;
        let mut topics = group.topics.iter().map(|&t| &roster.topics[t]);
        if topics.all(|topic| topic.replica_racks.is_empty()) {
            return BTreeMap::new();
        }
        let mut racks: BTreeMap<&str, Vec<(MemberIx, Node)>> = BTreeMap::new();
        for &(m, seat) in seats {
            if let Some(rack) = roster.members[m].rack() {
                racks.entry(rack).or_default().push((m, seat));
            }
        }
        let hub = |(rack, seats): (_, Vec<_>)| (rack, self.hub(group, &seats, price));
        racks.into_iter().map(hub).collect()
    }

    fn task(&mut self, task: &Task<'a>, wired: &GroupWiring<'a>) -> Vec<(Arc, Way<'a>)> {
        let ways = wired.ways(task);
        let cheapest = ways
            .iter()
            .map(|way| way.1)
            .fold(task.stranger(), Costs::min);
        let node = self.node(1, wired.price - cheapest);
        let mut arc = |to, cost| self.network.arc(node, to, 1, cost, Cost::ZERO);
        ways.into_iter()
            .map(|(to, cost, way)| (arc(to, cost), way))
            .collect()
    }

    fn node(&mut self, supply: i64, price: Costs) -> Node {
        let node = self.network.node(supply);
        self.network.price(node, price);
        node
    }
}

impl<'a> GroupWiring<'a> {
    /// Where a task may go: to those who had something of it, to racks with a replica, to anybody.
    fn ways(&self, task: &Task<'a>) -> Vec<(Node, Costs, Way<'a>)> {
        let members = task.known_members();
        let members = members.filter_map(|(m, cost)| Some((self.seat(m)?, cost, Way::Member(m))));
        let racks = task.near_racks().filter_map(|(rack, cost)| {
            let hub = self.rack_hubs.get(rack)?;
            Some((hub.node, cost, Way::Rack(rack)))
        });
        let anybody = (self.hub.node, task.stranger(), Way::Anybody);
        members.chain(racks).chain([anybody]).collect()
    }

    fn seat(&self, member: MemberIx) -> Option<Node> {
        let found = self.seats.binary_search_by_key(&member, |seat| seat.0);
        found.ok().map(|i| self.seats[i].1)
    }

    /// Follows the units.
    pub(super) fn actives(&self, flow: &Flow) -> Vec<MemberIx> {
        let mut from_hub = self.hub.units(flow);
        let racks = self.rack_hubs.iter();
        let mut from_racks: BTreeMap<&str, _> =
            racks.map(|(&rack, hub)| (rack, hub.units(flow))).collect();
        let active = |ways: &Vec<(Arc, Way<'a>)>| {
            let (_, way) = *ways.iter().find(|(arc, _)| flow.on(*arc) > 0)?;
            match way {
                Way::Member(m) => Some(m),
                Way::Rack(rack) => from_racks.get_mut(rack)?.next(),
                Way::Anybody => from_hub.next(),
            }
        };
        self.tasks.iter().filter_map(active).collect()
    }
}
