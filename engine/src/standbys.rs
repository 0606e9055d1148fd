//! Who keeps standby copies: objectives 5, 6 and 7 for the actives chosen, as one cheapest flow.
//!
//! Every stateful task sends as many units as it is to have standbys. A unit reaches the sink by way of the
//! member that keeps the copy, through an arc that carries one unit, so the members are distinct (I4):
//!
//! ```text
//! task --1--> (task, rack) --1--> (active, member) --> member --> sink
//!   \          0 then 1 a unit     ^    spread²         standby load²
//!    `---------------1------------'     (a member without a rack is its own rack)
//! ```
//!
//! `(active, member)` are the standbys that `member` keeps for tasks of `active`: should `active` die, these are
//! the tasks that `member` can take over at once, so they are spread over many members. For instance
//!
//! ```text
//! orders, table counts     task 0    1    2    3    4    5        one standby each
//!           active         m1   m1   m2   m2   m3   m3
//!           standby        m2   m3   m1   m3   m1   m2           two copies on each, one from each other member
//! ```
//!
//! Guarantees: min(replicas, eligible members but the active) standbys of every stateful task; of those plans
//! the one with the fewest missing tables (a standby holds the tables of the group that its member declares),
//! then the fewest copies that share a rack with another, then the most even standby load, then the fewest
//! copies to be built, then ties: partial copies kept, copies left where they are, spread. Arcs: at most one
//! or two for every (stateful task, eligible member).
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::actives::Actives;
use crate::door::{History, Roster};
use crate::flow::{Arc, Cost, Flow, Network, Node};
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx, RackIx};
use crate::past::{Past, TaskPast};
use crate::weights::Weights;

/// The standbys of every task, by group and partition, sorted; no partitions where a group is stateless.
pub(crate) type Standbys = IndexVec<GroupIx, Vec<Vec<MemberIx>>>;

/// Ranks of the costs, the most important first.
mod rank {
    pub(super) const MISSING: usize = 0;
    pub(super) const APART: usize = 1;
    pub(super) const LOAD: usize = 2;
    pub(super) const COLD: usize = 3;
    pub(super) const PARTIAL: usize = 4;
    /// Copies that nobody claims to have been given: where only local state decides, what is there stays (I12).
    pub(super) const MOVED: usize = 5;
    pub(super) const SPREAD: usize = 6;
    pub(super) const COUNT: usize = 7;
}

type Costs = Cost<{ rank::COUNT }>;

/// Places the standbys of every stateful task.
pub(crate) fn place(
    roster: &Roster<'_>,
    groups: &IndexVec<GroupIx, Group>,
    history: &History,
    actives: &Actives,
) -> Standbys {
    let tasks: i64 = groups.iter().map(|group| i64::from(group.partitions)).sum();
    let mut wiring = Wiring::new(roster, history, tasks);
    let placed = groups.iter_enumerated();
    let wired: Vec<Vec<TaskArcs>> = placed
        .map(|(g, group)| wiring.group(group, &actives[g]))
        .collect();
    let flow = wiring.solve();
    wired
        .into_iter()
        .map(|tasks| chosen(tasks, &flow))
        .collect()
}

/// The ways of one task, by the member they lead to, in order of members.
type TaskArcs = Vec<(Arc, MemberIx)>;

fn chosen(tasks: Vec<TaskArcs>, flow: &Flow) -> Vec<Vec<MemberIx>> {
    let used = |task: TaskArcs| task.into_iter().filter(|&(arc, _)| flow.on(arc) > 0);
    tasks
        .into_iter()
        .map(|task| used(task).map(|(_, m)| m).collect())
        .collect()
}

/// The network under construction.
struct Wiring<'a> {
    roster: &'a Roster<'a>,
    history: &'a History,
    weights: Weights,
    network: Network<{ rank::COUNT }>,
    racks: IndexVec<MemberIx, Option<RackIx>>,
    members: IndexVec<MemberIx, Node>,
    /// By active and member.
    pairs: BTreeMap<(MemberIx, MemberIx), Node>,
    /// All tasks: no member keeps more copies than that.
    tasks: i64,
    /// Standbys to be placed.
    wanted: i64,
}

/// A group, and the members that may keep its standbys.
struct Eligible<'g> {
    group: &'g Group,
    /// In order, with the number of tables that each cannot hold.
    members: Vec<(MemberIx, usize)>,
    /// How many of them are in each rack.
    in_rack: BTreeMap<RackIx, usize>,
}

/// One task on its way into the network.
struct Task<'g> {
    node: Node,
    active: MemberIx,
    past: TaskPast,
    eligible: &'g Eligible<'g>,
    rack_nodes: BTreeMap<RackIx, Node>,
}

impl<'a> Wiring<'a> {
    fn new(roster: &'a Roster<'a>, history: &'a History, tasks: i64) -> Self {
        let mut network = Network::new();
        Wiring {
            members: roster.members.iter().map(|_| network.node(0)).collect(),
            racks: racks(roster),
            weights: Weights::of(roster),
            pairs: BTreeMap::new(),
            wanted: 0,
            tasks,
            roster,
            history,
            network,
        }
    }

    /// Wires a group's tasks; nothing for a stateless one.
    fn group(&mut self, group: &Group, actives: &[MemberIx]) -> Vec<TaskArcs> {
        if !group.is_stateful() || self.roster.replicas == 0 {
            return Vec::new();
        }
        let eligible = self.eligible(group);
        let tasks = (0..).zip(actives);
        tasks
            .map(|(p, &active)| self.task(&eligible, p, active))
            .collect()
    }

    fn eligible<'g>(&self, group: &'g Group) -> Eligible<'g> {
        let missing = |m: MemberIx| {
            let held = &self.roster.members[m].tables;
            group
                .tables
                .iter()
                .filter(|&table| !held.contains(table))
                .count()
        };
        let with_missing = group.subscribers.iter().map(|&m| (m, missing(m)));
        let members: Vec<_> = with_missing
            .filter(|&(_, n)| n < group.tables.len())
            .collect();
        let mut in_rack = BTreeMap::new();
        for rack in members.iter().filter_map(|&(m, _)| self.racks[m]) {
            *in_rack.entry(rack).or_default() += 1;
        }
        Eligible {
            group,
            members,
            in_rack,
        }
    }

    fn task(&mut self, eligible: &Eligible<'_>, p: u32, active: MemberIx) -> TaskArcs {
        let others = eligible.members.iter().filter(|&&(m, _)| m != active);
        let wanted = i64::from(self.roster.replicas);
        let wanted = i64::try_from(others.clone().count())
            .unwrap_or(wanted)
            .min(wanted);
        self.wanted += wanted;
        let mut task = Task {
            node: self.network.node(wanted),
            past: TaskPast::of(eligible.group, p, self.roster, self.history),
            rack_nodes: BTreeMap::new(),
            active,
            eligible,
        };
        others
            .map(|&(m, missing)| (self.candidate(&mut task, m, missing), m))
            .collect()
    }

    /// The arc of (task, member) that carries the unit of a standby there.
    fn candidate(&mut self, task: &mut Task<'_>, m: MemberIx, missing: usize) -> Arc {
        let had = task.past.at(m);
        let cost = task.copy_cost(had, missing);
        let pair = self.pair(task.active, m);
        match self.racks[m] {
            Some(rack) if self.racks[task.active] == Some(rack) => {
                let cost = cost + amount(rank::APART, 1);
                self.network.arc(task.node, pair, 1, cost, Cost::ZERO)
            }
            Some(rack) if task.eligible.in_rack.get(&rack) > Some(&1) => {
                let from = self.rack_node(task, rack);
                self.network.arc(from, pair, 1, cost, Cost::ZERO)
            }
            _ => self.network.arc(task.node, pair, 1, cost, Cost::ZERO),
        }
    }

    /// The node of (task, rack): the first copy there is free, every further one is not apart.
    fn rack_node(&mut self, task: &mut Task<'_>, rack: RackIx) -> Node {
        let network = &mut self.network;
        *task.rack_nodes.entry(rack).or_insert_with(|| {
            let node = network.node(0);
            network.arc(task.node, node, 1, Cost::ZERO, Cost::ZERO);
            let further = i64::from(self.roster.replicas);
            network.arc(task.node, node, further, amount(rank::APART, 1), Cost::ZERO);
            node
        })
    }

    /// The node of (active, member).
    fn pair(&mut self, active: MemberIx, m: MemberIx) -> Node {
        let (network, tasks) = (&mut self.network, self.tasks);
        let (cost, growth) = self.weights.square(m, rank::SPREAD);
        let next = self.members[m];
        *self.pairs.entry((active, m)).or_insert_with(|| {
            let node = network.node(0);
            network.arc(node, next, tasks, cost, growth);
            node
        })
    }

    fn solve(mut self) -> Flow {
        let sink = self.network.node(-self.wanted);
        for (m, &node) in self.members.iter_enumerated() {
            let (cost, growth) = self.weights.square(m, rank::LOAD);
            self.network.arc(node, sink, self.tasks, cost, growth);
        }
        let flow = self.network.solve();
        flow.expect("no task sends more units than it has members to send them to")
    }
}

impl Task<'_> {
    /// What a standby costs at a member that had `had` of the task and cannot hold `missing` tables.
    fn copy_cost(&self, had: Past, missing: usize) -> Costs {
        let group = self.eligible.group;
        let tables = group.tables.len();
        amount(rank::MISSING, missing)
            + amount(rank::COLD, usize::from(!had.has_copy(group)))
            + amount(rank::PARTIAL, tables - had.copies)
            + amount(rank::MOVED, usize::from(had.kept < tables - missing))
    }
}

/// Racks as indices, in order of names.
fn racks(roster: &Roster<'_>) -> IndexVec<MemberIx, Option<RackIx>> {
    let names: BTreeSet<&str> = roster.members.iter().filter_map(|m| m.rack()).collect();
    let numbered = names.into_iter().zip((0..).map(RackIx::from_usize));
    let numbered: BTreeMap<&str, RackIx> = numbered.collect();
    let rack = |name: &str| numbered.get(name).copied();
    roster
        .members
        .iter()
        .map(|m| m.rack().and_then(rack))
        .collect()
}

fn amount(rank: usize, count: usize) -> Costs {
    Cost::at(rank, i128::try_from(count).unwrap_or(i128::MAX))
}
