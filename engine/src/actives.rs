//! Who is active for what: objectives 2, 3, 4 and 8 as one cheapest flow.
//!
//! A task is one partition number of one group. Every task sends one unit to the sink, by way of the member that
//! becomes its active. What a member's loads cost grows on the way, so evenness is the flow's own doing:
//!
//! ```text
//! task ----------------------> (member, group) --> (member, stateful) --> member --> sink
//!   \                           ^      in-group load²     stateful load²     total load²
//!    `-> hub of the group ------'      (a stateless group goes straight to its member)
//!    `-> hub of (group, rack) --'
//! ```
//!
//! Most tasks are all the same to most members: they go by the hub at the dearest price (cold, moved). Only
//! members that had something of the task have an arc of their own, which is cheaper. With one member leaving:
//!
//! ```text
//! orders, table counts     task 0    1    2    3    4    5
//! before    active         m1   m1   m2   m2   m3   m3
//!           standby        m2   m3   m3   m1   m1   m2
//! m3 leaves active         m1   m1   m2   m2   m1   m2     both of m3's are promoted, nothing else moves
//! ```
//!
//! Guarantees: every task of every group has one active, a subscriber (I1, I2, I3); loads are as even as they
//! can be, in total, then stateful, then per group (I5); of those plans it is the one with the fewest cold
//! tasks, then the fewest moves, then the most rack-local ones; ties keep partial copies and avoid members that
//! could never hold the state. Arcs: one for every task, one for every (member, group), one for everybody who had
//! something of a task.
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::door::{History, Roster};
use crate::flow::{Arc, Cost, Flow, Network, Node};
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx};
use crate::past::{Past, TaskPast};
use crate::weights::Weights;

/// The active of every task, by group and partition.
pub(crate) type Actives = IndexVec<GroupIx, Vec<MemberIx>>;

/// Ranks of the costs, the most important first.
mod rank {
    pub(super) const TOTAL: usize = 0;
    pub(super) const STATEFUL: usize = 1;
    pub(super) const IN_GROUP: usize = 2;
    pub(super) const COLD: usize = 3;
    pub(super) const MOVED: usize = 4;
    pub(super) const REMOTE: usize = 5;
    pub(super) const PARTIAL: usize = 6;
    /// Tables of the group that the member can never hold: a tie-break, so that a plan stays as it is once its
    /// copies are built (I12).
    pub(super) const UNABLE: usize = 7;
    pub(super) const COUNT: usize = 8;
}

type Costs = Cost<{ rank::COUNT }>;

/// Places the active of every task.
pub(crate) fn place(
    roster: &Roster<'_>,
    groups: &IndexVec<GroupIx, Group>,
    history: &History,
) -> Actives {
    let mut wiring = Wiring::new(roster, groups, history);
    let wired: Vec<GroupWiring<'_>> = groups.iter().map(|group| wiring.group(group)).collect();
    let flow = wiring.network.solve();
    let flow = flow.expect("every task reaches its hub, every hub a member, every member the sink");
    wired
        .into_iter()
        .map(|group| group.actives(&flow))
        .collect()
}

/// The network under construction.
struct Wiring<'a> {
    roster: &'a Roster<'a>,
    history: &'a History,
    weights: Weights,
    guess: Guess,
    network: Network<{ rank::COUNT }>,
    members: IndexVec<MemberIx, MemberNodes>,
}

/// Where a member's tasks come together.
struct MemberNodes {
    all: Node,
    stateful: Node,
}

/// One group's part of the network.
struct GroupWiring<'a> {
    hub: Hub,
    rack_hubs: BTreeMap<&'a str, Hub>,
    /// One node per subscriber, in their order.
    seats: Vec<(MemberIx, Node)>,
    /// The guessed price of seats and hubs.
    price: Costs,
    tasks: Vec<TaskArcs<'a>>,
}

/// A node for whatever is all the same to its members, and the way to each of them.
struct Hub {
    node: Node,
    arcs: Vec<(Arc, MemberIx)>,
}

/// Where the prices of the network probably end up: as if every load could be spread over everybody. That
/// makes the search short when it is nearly so, and never changes what it finds.
struct Guess {
    all: Costs,
    stateful: Costs,
}

impl Guess {
    fn new(roster: &Roster<'_>, groups: &IndexVec<GroupIx, Group>, weights: &Weights) -> Self {
        let level = |rank, groups: &[&Group]| {
            let tasks = groups.iter().map(|group| i64::from(group.partitions)).sum();
            let subscribers = groups
                .iter()
                .flat_map(|group| group.subscribers.iter().copied());
            let subscribers: BTreeSet<MemberIx> = subscribers.collect();
            Cost::at(rank, weights.level(subscribers, tasks))
        };
        let (every, stateful) = (
            groups.iter(),
            groups.iter().filter(|group| group.is_stateful()),
        );
        let all = Cost::ZERO - level(rank::TOTAL, &every.collect::<Vec<_>>());
        Guess {
            stateful: all - level(rank::STATEFUL, &stateful.collect::<Vec<_>>()),
            all,
        }
    }

    fn seat(&self, group: &Group, weights: &Weights) -> Costs {
        let next = if group.is_stateful() {
            self.stateful
        } else {
            self.all
        };
        let level = weights.level(group.subscribers.iter().copied(), group.partitions.into());
        next - Cost::at(rank::IN_GROUP, level)
    }
}

/// The ways of one task, but for the one by the group's hub.
struct TaskArcs<'a> {
    direct: Vec<(Arc, MemberIx)>,
    by_rack: Vec<(Arc, &'a str)>,
}

impl<'a> Wiring<'a> {
    fn new(
        roster: &'a Roster<'a>,
        groups: &IndexVec<GroupIx, Group>,
        history: &'a History,
    ) -> Self {
        let mut network = Network::new();
        let tasks: i64 = groups.iter().map(|group| i64::from(group.partitions)).sum();
        let sink = network.node(-tasks);
        let weights = Weights::of(roster);
        let guess = Guess::new(roster, groups, &weights);
        let member = |m: MemberIx| {
            let (all, stateful) = (network.node(0), network.node(0));
            network.price(all, guess.all);
            network.price(stateful, guess.stateful);
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
            guess,
            network,
        }
    }

    fn group(&mut self, group: &'a Group) -> GroupWiring<'a> {
        let price = self.guess.seat(group, &self.weights);
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
            let arcs = self.task(group, p, &wired);
            wired.tasks.push(arcs);
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
        let held = &self.roster.members[m].tables;
        let unable = group
            .tables
            .iter()
            .filter(|table| !held.contains(table))
            .count();
        let (cost, growth) = self.weights.square(m, rank::IN_GROUP);
        let cost = cost + amount(rank::UNABLE, unable);
        self.network
            .arc(seat, next, i64::from(group.partitions), cost, growth);
        seat
    }

    fn hub(&mut self, group: &Group, seats: &[(MemberIx, Node)], price: Costs) -> Hub {
        let node = self.node(0, price);
        let capacity = i64::from(group.partitions);
        let mut arc = |seat| {
            self.network
                .arc(node, seat, capacity, Cost::ZERO, Cost::ZERO)
        };
        Hub {
            arcs: seats.iter().map(|&(m, seat)| (arc(seat), m)).collect(),
            node,
        }
    }

    fn node(&mut self, supply: i64, price: Costs) -> Node {
        let node = self.network.node(supply);
        self.network.price(node, price);
        node
    }

    /// Hubs for the racks of the group's subscribers, where racks of replicas are known at all.
    fn rack_hubs(
        &mut self,
        group: &Group,
        seats: &[(MemberIx, Node)],
        price: Costs,
    ) -> BTreeMap<&'a str, Hub> {
        let roster = self.roster;
        let topics = group.topics.iter().map(|&t| roster.topics[t].replica_racks);
        if topics.into_iter().all(<[_]>::is_empty) {
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

    fn task(&mut self, group: &'a Group, p: u32, wired: &GroupWiring<'a>) -> TaskArcs<'a> {
        let task = Task {
            past: TaskPast::of(group, p, self.roster, self.history),
            racks: ReplicaRacks::of(group, p, self.roster),
            group,
        };
        let to_hub = task.cost(Past::default(), None);
        let (direct, by_rack) = (self.direct(&task, wired), task.by_rack(wired));
        let costs = direct
            .iter()
            .map(|way| way.1)
            .chain(by_rack.iter().map(|way| way.1));
        let cheapest = costs.fold(to_hub, Costs::min);
        let node = self.node(1, wired.price - cheapest);
        let mut arc = |to, cost| self.network.arc(node, to, 1, cost, Cost::ZERO);
        let arcs = TaskArcs {
            direct: direct
                .into_iter()
                .map(|(m, cost, seat)| (arc(seat, cost), m))
                .collect(),
            by_rack: by_rack
                .into_iter()
                .map(|(rack, cost, hub)| (arc(hub, cost), rack))
                .collect(),
        };
        arc(wired.hub.node, to_hub);
        arcs
    }

    /// Ways to everybody who had something of the task: member, cost, seat.
    fn direct(&self, task: &Task<'_>, wired: &GroupWiring<'_>) -> Vec<(MemberIx, Costs, Node)> {
        let way = |(m, had): (MemberIx, Past)| {
            let cost = task.cost(had, self.roster.members[m].rack());
            Some((m, cost, wired.seat(m)?))
        };
        task.past.iter().filter_map(way).collect()
    }
}

/// One task: what it costs to place it.
struct Task<'a> {
    group: &'a Group,
    past: TaskPast,
    racks: ReplicaRacks<'a>,
}

impl<'a> Task<'a> {
    /// At a member in `rack` that had `had` of it.
    fn cost(&self, had: Past, rack: Option<&str>) -> Costs {
        amount(rank::COLD, usize::from(!had.has_copy(self.group)))
            + amount(rank::MOVED, self.past.claimed - had.owned)
            + amount(rank::REMOTE, self.racks.remote(rack))
            + amount(rank::PARTIAL, self.group.tables.len() - had.copies)
    }

    /// Ways to hubs of racks with a replica: rack, cost, hub.
    fn by_rack(&self, wired: &GroupWiring<'a>) -> Vec<(&'a str, Costs, Node)> {
        let way = |rack: &&'a str| {
            let hub = wired.rack_hubs.get(rack)?;
            Some((*rack, self.cost(Past::default(), Some(rack)), hub.node))
        };
        self.racks.near.keys().filter_map(way).collect()
    }
}

impl<'a> GroupWiring<'a> {
    fn seat(&self, member: MemberIx) -> Option<Node> {
        let found = self.seats.binary_search_by_key(&member, |seat| seat.0);
        found.ok().map(|i| self.seats[i].1)
    }

    /// Follows the units: those of a hub are handed out in order, so that strangers get runs of partitions.
    fn actives(&self, flow: &Flow) -> Vec<MemberIx> {
        let mut from_hub = self.hub.units(flow);
        let mut from_racks: BTreeMap<&'a str, _> = self
            .rack_hubs
            .iter()
            .map(|(&rack, hub)| (rack, hub.units(flow)))
            .collect();
        let active = |task: &TaskArcs<'a>| {
            let flows = |arc: Arc| flow.on(arc) > 0;
            if let Some(&(_, m)) = task.direct.iter().find(|&&(arc, _)| flows(arc)) {
                return Some(m);
            }
            match task.by_rack.iter().find(|&&(arc, _)| flows(arc)) {
                Some((_, rack)) => from_racks.get_mut(rack)?.next(),
                None => from_hub.next(),
            }
        };
        self.tasks.iter().filter_map(active).collect()
    }
}

impl Hub {
    /// The members that the hub's units went to, each as often as it got one.
    fn units<'f>(&'f self, flow: &'f Flow) -> impl Iterator<Item = MemberIx> + 'f {
        self.arcs
            .iter()
            .flat_map(|&(arc, m)| (0..flow.on(arc)).map(move |_| m))
    }
}

/// Racks of a task's replicas.
struct ReplicaRacks<'a> {
    /// Topics of the group whose partition has known racks.
    known: usize,
    /// Topics of the group with a replica in the rack.
    near: BTreeMap<&'a str, usize>,
}

impl<'a> ReplicaRacks<'a> {
    fn of(group: &Group, p: u32, roster: &'a Roster<'a>) -> Self {
        let mut racks = ReplicaRacks {
            known: 0,
            near: BTreeMap::new(),
        };
        for &t in &group.topics {
            let replicas = usize::try_from(p)
                .ok()
                .and_then(|p| roster.topics[t].replica_racks.get(p));
            let names: BTreeSet<&str> =
                replicas.into_iter().flatten().map(String::as_str).collect();
            racks.known += usize::from(!names.is_empty());
            names
                .into_iter()
                .for_each(|rack| *racks.near.entry(rack).or_default() += 1);
        }
        racks
    }

    /// Topic-partitions without a replica in `rack`.
    fn remote(&self, rack: Option<&str>) -> usize {
        self.known
            - rack
                .and_then(|rack| self.near.get(rack))
                .copied()
                .unwrap_or(0)
    }
}

fn amount(rank: usize, count: usize) -> Costs {
    Cost::at(rank, i128::try_from(count).unwrap_or(i128::MAX))
}
