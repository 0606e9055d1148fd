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

/// The node of (member, group), with its guessed price.
#[derive(Clone, Copy)]
struct Seat {
    member: MemberIx,
    node: Node,
    price: Costs,
}

/// One group's part of the network.
pub(super) struct GroupWiring<'a> {
    hub: Hub<{ rank::COUNT }>,
    rack_hubs: BTreeMap<&'a str, Hub<{ rank::COUNT }>>,
    /// One node per subscriber, in their order.
    seats: Vec<Seat>,
    /// The ways of every task.
    tasks: Vec<Vec<(Arc, Goal<'a>)>>,
}

/// One of the ways that a task may go.
struct Way<'a> {
    to: Goal<'a>,
    node: Node,
    price: Costs,
    cost: Costs,
}

/// What an arc of a task leads to.
#[derive(Clone, Copy)]
enum Goal<'a> {
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
            network.price(all, prices.all[m]);
            network.price(stateful, prices.stateful[m]);
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

    /// Every task reaches its hub, every hub a member, every member the sink: no unit is left.
    pub(super) fn solve(self) -> Flow {
        self.network.solve()
    }

    /// Wires the tasks of a group.
    pub(super) fn group(&mut self, group: &'a Group) -> GroupWiring<'a> {
        let prices = self.prices.seats(group, &self.weights);
        let seats = group.subscribers.iter().zip(prices);
        let seats: Vec<Seat> = seats.map(|(&m, p)| self.seat(group, m, p)).collect();
        let mut wired = GroupWiring {
            hub: self.hub(group, &seats),
            rack_hubs: self.rack_hubs(group, &seats),
            seats,
            tasks: Vec::new(),
        };
        for p in 0..group.partitions {
            let task = Task::new(group, p, self.roster, self.history);
            let ways = self.task(&task, &wired);
            wired.tasks.push(ways);
        }
        wired
    }

    fn seat(&mut self, group: &Group, m: MemberIx, price: Costs) -> Seat {
        let node = self.node(0, price);
        let next = match group.is_stateful() {
            true => self.members[m].stateful,
            false => self.members[m].all,
        };
        let unable = group.tables_missing(&self.roster.members[m].tables) > 0;
        let (cost, growth) = self.weights.square(m, rank::IN_GROUP);
        let cost = cost + amount(rank::UNABLE, usize::from(unable));
        let capacity = group.partitions.into();
        self.network.arc(node, next, capacity, cost, growth);
        Seat {
            member: m,
            node,
            price,
        }
    }

    /// Its price is that of the cheapest way, here as at a task: dearer ways stay empty until they are needed.
    fn hub(&mut self, group: &Group, seats: &[Seat]) -> Hub<{ rank::COUNT }> {
        let price = seats.iter().map(|seat| seat.price).max();
        let price = price.unwrap_or(Cost::ZERO);
        let node = self.node(0, price);
        let (network, capacity) = (&mut self.network, group.partitions.into());
        let mut arc = |seat| network.arc(node, seat, capacity, Cost::ZERO, Cost::ZERO);
        Hub {
            arcs: seats.iter().map(|s| (arc(s.node), s.member)).collect(),
            node,
            price,
        }
    }

    /// Hubs for the racks of the group's subscribers, where racks of replicas are known at all.
    fn rack_hubs(
        &mut self,
        group: &Group,
        seats: &[Seat],
    ) -> BTreeMap<&'a str, Hub<{ rank::COUNT }>> {
        let roster = self.roster;
        let mut topics = group.topics.iter().map(|&t| &roster.topics[t]);
        if topics.all(|topic| topic.replica_racks.is_empty()) {
            return BTreeMap::new();
        }
        let mut racks: BTreeMap<&str, Vec<Seat>> = BTreeMap::new();
        for &seat in seats {
            if let Some(rack) = roster.members[seat.member].rack() {
                racks.entry(rack).or_default().push(seat);
            }
        }
        let hub = |(rack, seats): (_, Vec<_>)| (rack, self.hub(group, &seats));
        racks.into_iter().map(hub).collect()
    }

    fn task(&mut self, task: &Task<'a>, wired: &GroupWiring<'a>) -> Vec<(Arc, Goal<'a>)> {
        let ways = wired.ways(task);
        let cheapest = ways.iter().map(|way| way.price - way.cost).max();
        let node = self.node(1, cheapest.unwrap_or(Cost::ZERO));
        let arc = |way: Way<'a>| {
            let arc = self.network.arc(node, way.node, 1, way.cost, Cost::ZERO);
            (arc, way.to)
        };
        ways.into_iter().map(arc).collect()
    }

    fn node(&mut self, supply: i64, price: Costs) -> Node {
        let node = self.network.node(supply);
        self.network.price(node, price);
        node
    }
}

impl<'a> GroupWiring<'a> {
    /// Where a task may go: to those who had something of it, to racks with a replica, to anybody.
    fn ways(&self, task: &Task<'a>) -> Vec<Way<'a>> {
        let members = task.known_members().filter_map(|(m, cost)| {
            let Seat { node, price, .. } = self.seat(m)?;
            let to = Goal::Member(m);
            Some(Way {
                to,
                node,
                price,
                cost,
            })
        });
        let racks = task.near_racks().filter_map(|(rack, cost)| {
            let Hub { node, price, .. } = *self.rack_hubs.get(rack)?;
            let to = Goal::Rack(rack);
            Some(Way {
                to,
                node,
                price,
                cost,
            })
        });
        let anybody = Way {
            to: Goal::Anybody,
            node: self.hub.node,
            price: self.hub.price,
            cost: task.stranger(),
        };
        members.chain(racks).chain([anybody]).collect()
    }

    fn seat(&self, member: MemberIx) -> Option<Seat> {
        let seats = &self.seats;
        let found = seats.binary_search_by_key(&member, |seat| seat.member);
        found.ok().map(|i| seats[i])
    }

    /// Follows the units.
    pub(super) fn actives(&self, flow: &Flow) -> Vec<MemberIx> {
        let mut from_hub = self.hub.units(flow);
        let racks = self.rack_hubs.iter();
        let mut from_racks: BTreeMap<&str, _> =
            racks.map(|(&rack, hub)| (rack, hub.units(flow))).collect();
        let active = |ways: &Vec<(Arc, Goal<'a>)>| {
            let (_, way) = *ways.iter().find(|(arc, _)| flow.on(*arc) > 0)?;
            match way {
                Goal::Member(m) => Some(m),
                Goal::Rack(rack) => from_racks.get_mut(rack)?.next(),
                Goal::Anybody => from_hub.next(),
            }
        };
        self.tasks.iter().filter_map(active).collect()
    }
}
