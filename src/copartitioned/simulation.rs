//! Rounds of a group of real assignors, with their real bytes; only the coordinator and librdkafka are played.
//!
//! Every round checks what must hold in every round: partitions exactly once (I1), no partition granted that a
//! valid owner has not given up (I7), enough standbys on members that are not the active (I4), and that nothing the
//! leader says needs a correction by the plug.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::Copartitioned;
use crate::assignor::{
    Assigned, Assignor, Group, Join, Member, RebalanceProtocol, Revoked, Topic, TopicPartitions,
};
use crate::led::{Led, Share};
use crate::partitions::{PartitionSets, to_sets};
use crate::plugin::Client;
use crate::round;
use RebalanceProtocol::{Cooperative, Eager};

struct Node {
    assignor: Copartitioned,
    owned: TopicPartitions,
    generation: Option<i32>,
    /// Does not hear of the next assignment, and keeps what it owns.
    deaf: bool,
}

struct Cluster {
    protocol: RebalanceProtocol,
    replicas: u32,
    topics: BTreeMap<String, Topic>,
    nodes: BTreeMap<String, Node>,
    /// Members that declare no table, as before a deployment that brings it.
    without_tables: BTreeSet<String>,
    generation: i32,
    client: Arc<Client>,
}

/// What a round did.
struct Outcome {
    led: Arc<Led>,
    revoked: usize,
}

impl Outcome {
    fn moved(&self) -> u64 {
        self.led.report.active_moved
    }
}

impl Cluster {
    fn new(protocol: RebalanceProtocol, replicas: u32, partitions: i32) -> Self {
        let topic = Topic {
            partitions,
            replica_racks: Vec::new(),
        };
        let names = ["orders", "users"].map(str::to_owned);
        Cluster {
            protocol,
            replicas,
            topics: names
                .into_iter()
                .map(|name| (name, topic.clone()))
                .collect(),
            nodes: BTreeMap::new(),
            without_tables: BTreeSet::new(),
            generation: 0,
            client: Client::detached("client", "group"),
        }
    }

    fn join(&mut self, id: &str) {
        let mut builder = Copartitioned::builder("shop")
            .host(format!("{id}:80"))
            .standby_replicas(self.replicas)
            .protocol(self.protocol);
        if !self.without_tables.contains(id) {
            builder = builder.table("counts", "orders");
        }
        let assignor = builder.build().expect("valid settings");
        let node = Node {
            assignor,
            owned: TopicPartitions::new(),
            generation: None,
            deaf: false,
        };
        self.nodes.insert(id.to_owned(), node);
    }

    fn node(&mut self, id: &str) -> &mut Node {
        self.nodes.get_mut(id).expect("it joined")
    }

    /// What `id` is told that it holds.
    fn held(&self, id: &str) -> Arc<crate::Held> {
        self.nodes[id].assignor.handle().watch().borrow().clone()
    }

    fn rebalance(&mut self) -> Outcome {
        self.generation += 1;
        if self.protocol == Eager {
            self.revoke_everything();
        }
        let group = self.group();
        let leader = &self
            .nodes
            .values()
            .next()
            .expect("somebody joined")
            .assignor;
        let mut decided = round::decide(leader, leader.name(), self.protocol, &group)
            .expect("a leader always answers");
        let led = leader
            .handle()
            .watch_led()
            .borrow()
            .clone()
            .expect("it led");
        self.check(&led);
        let members = group.members.iter().map(|member| member.id.clone());
        let decided: Vec<_> = members.zip(decided.drain(..)).collect();
        for (id, assignment) in &decided {
            let uncorrected = to_sets(&assignment.partitions);
            assert_eq!(uncorrected, led.members[id].active);
        }
        let revoked = decided
            .into_iter()
            .map(|(id, given)| self.deliver(&id, given))
            .sum();
        Outcome { led, revoked }
    }

    fn revoke_everything(&mut self) {
        for node in self.nodes.values_mut().filter(|node| !node.deaf) {
            let partitions = std::mem::take(&mut node.owned);
            let client = &self.client;
            node.assignor.on_revoked(&Revoked {
                client,
                partitions: &partitions,
                lost: false,
            });
        }
    }

    fn group(&self) -> Group {
        Group {
            id: "group".to_owned(),
            generation: self.generation,
            leader: self.nodes.keys().next().cloned().unwrap_or_default(),
            topics: self.topics.clone(),
            members: self
                .nodes
                .iter()
                .map(|(id, node)| self.member(id, node))
                .collect(),
        }
    }

    fn member(&self, id: &str, node: &Node) -> Member {
        let topics: Vec<_> = self.topics.keys().cloned().collect();
        let join = Join {
            client: &self.client,
            topics: &topics,
            owned: &node.owned,
            generation: node.generation,
        };
        let user_data = node.assignor.subscription_user_data(&join);
        assert_eq!(
            user_data,
            node.assignor.subscription_user_data(&join),
            "equal state, equal bytes"
        );
        Member {
            id: id.to_owned(),
            topics,
            owned: Some(node.owned.clone()),
            generation: node.generation,
            user_data: Some(user_data),
            ..Member::default()
        }
    }

    /// How many partitions the member has to revoke.
    fn deliver(&mut self, id: &str, given: crate::assignor::Assignment) -> usize {
        let (client, generation) = (Arc::clone(&self.client), self.generation);
        let node = self.node(id);
        if std::mem::take(&mut node.deaf) {
            return 0;
        }
        node.generation = Some(generation);
        node.assignor.on_assignment(&Assigned {
            client: &client,
            member: id,
            generation,
            partitions: &given.partitions,
            user_data: &given.user_data,
        });
        let before = std::mem::replace(&mut node.owned, given.partitions);
        let revoked = without(&before, &node.owned);
        if !revoked.is_empty() {
            let partitions = &revoked;
            node.assignor.on_revoked(&Revoked {
                client: &client,
                partitions,
                lost: false,
            });
        }
        revoked.values().map(Vec::len).sum()
    }

    fn check(&self, led: &Led) {
        assert_eq!(led.warnings.iter().find(|w| w.kind != "stale-claim"), None);
        for (topic, partitions) in &self.topics {
            for partition in 0..partitions.partitions {
                self.check_partition(led, topic, partition);
            }
        }
    }

    fn check_partition(&self, led: &Led, topic: &str, partition: i32) {
        let number = u32::try_from(partition).expect("not negative");
        let having = |of: fn(&Share) -> &PartitionSets, name: &str| -> BTreeSet<&str> {
            let has = |sets: &PartitionSets| sets.get(name).is_some_and(|set| set.contains(number));
            let members = led.members.iter().filter(|(_, share)| has(of(share)));
            members.map(|(id, _)| id.as_str()).collect()
        };
        let active = having(|share| &share.active, topic);
        let withheld = having(|share| &share.withheld, topic);
        let standby = having(|share| &share.standby, "counts");
        let target: Vec<_> = active.iter().chain(&withheld).copied().collect();
        let [target] = target[..] else {
            panic!("{topic} {partition} goes to {target:?}");
        };
        for owner in self.valid_owners(topic, partition) {
            assert!(
                active.iter().all(|id| *id == owner),
                "{topic} {partition} is with {owner}"
            );
        }
        let declares = |id: &str| !self.without_tables.contains(id);
        let others = led
            .members
            .keys()
            .filter(|id| *id != target && declares(id))
            .count();
        let wanted = others.min(usize::try_from(self.replicas).expect("few replicas"));
        let warm = usize::from(!withheld.is_empty() && declares(target));
        assert_eq!(standby.len(), wanted + warm, "copies of counts {partition}");
        assert!(active.is_disjoint(&standby));
    }

    /// Those whose claim is the newest; the deaf may hold older ones.
    fn valid_owners(&self, topic: &str, partition: i32) -> Vec<&str> {
        let owns = |node: &Node| {
            node.owned
                .get(topic)
                .is_some_and(|list| list.contains(&partition))
        };
        let owners = self.nodes.iter().filter(|(_, node)| owns(node));
        let newest = owners.clone().map(|(_, node)| node.generation).max();
        let valid = owners.filter(|(_, node)| Some(node.generation) == newest);
        valid.map(|(id, _)| id.as_str()).collect()
    }

    /// Rebalances until nobody has to revoke anything; every round.
    fn settle(&mut self) -> Vec<Outcome> {
        let mut rounds = Vec::new();
        loop {
            let outcome = self.rebalance();
            let settled = outcome.revoked == 0;
            rounds.push(outcome);
            if settled || self.protocol == Eager {
                return rounds;
            }
            assert!(rounds.len() < 4, "no end of rebalances");
        }
    }
}

fn without(from: &TopicPartitions, taken: &TopicPartitions) -> TopicPartitions {
    let mut rest = from.clone();
    rest.retain(|topic, list| {
        list.retain(|p| !taken.get(topic).is_some_and(|taken| taken.contains(p)));
        !list.is_empty()
    });
    rest
}

fn grown(protocol: RebalanceProtocol, members: &[&str]) -> Cluster {
    let mut cluster = Cluster::new(protocol, 1, 12);
    members.iter().for_each(|id| cluster.join(id));
    cluster.settle();
    cluster
}

#[test]
fn a_cooperative_join_takes_two_rounds_and_the_second_moves_nothing() {
    let mut cluster = grown(Cooperative, &["a", "b"]);
    cluster.join("c");
    let rounds = cluster.settle();
    let figures: Vec<_> = rounds.iter().map(|r| (r.revoked, r.moved())).collect();
    assert_eq!(figures, [(8, 8), (0, 0)]);
    assert_eq!(cluster.held("c").active["orders"].len(), 4);
}

#[test]
fn what_is_withheld_is_kept_warm_where_it_is_to_go() {
    let mut cluster = grown(Cooperative, &["a", "b"]);
    cluster.join("c");
    let round = cluster.rebalance();
    let share = &round.led.members["c"];
    assert_eq!(share.withheld["orders"].len(), 4);
    let warm = |p| share.standby["counts"].contains(p);
    assert!(share.withheld["orders"].iter().all(warm));
    let held = cluster.held("c");
    assert!(held.active.is_empty());
    assert_eq!(held.standby, share.standby);
    let second = cluster.rebalance();
    assert_eq!(second.led.members["c"].active, share.withheld);
    assert_eq!(second.led.report.active_cold, 0);
}

#[test]
fn an_eager_join_takes_one_round() {
    let mut cluster = grown(Eager, &["a", "b"]);
    cluster.join("c");
    assert_eq!(cluster.rebalance().moved(), 8);
    let again = cluster.rebalance();
    assert_eq!((again.moved(), again.led.report.standby_moved), (0, 0));
}

#[test]
fn a_dead_members_tasks_go_to_their_standbys() {
    for protocol in [Eager, Cooperative] {
        let mut cluster = grown(protocol, &["a", "b", "c"]);
        cluster.nodes.remove("b");
        let rounds = cluster.settle();
        assert_eq!(rounds[0].led.report.active_cold, 0, "{protocol:?}");
        assert_eq!(cluster.held("a").active["orders"].len(), 6);
    }
}

#[test]
fn a_rebalance_without_a_change_changes_nothing() {
    for protocol in [Eager, Cooperative] {
        let mut cluster = grown(protocol, &["a", "b", "c"]);
        let before = ["a", "b", "c"].map(|id| cluster.held(id));
        let outcome = cluster.rebalance();
        assert_eq!((outcome.revoked, outcome.led.report.moves.len()), (0, 0));
        for (id, before) in ["a", "b", "c"].into_iter().zip(before) {
            assert_eq!(cluster.held(id).active, before.active);
            assert_eq!(cluster.held(id).standby, before.standby);
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    Join(u8),
    Leave(u8),
    Deaf(u8),
    Replace(u8, u8),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (0..8_u8).prop_map(Event::Join),
        2 => (0..8_u8).prop_map(Event::Leave),
        1 => (0..8_u8).prop_map(Event::Deaf),
        1 => (0..8_u8, 0..8_u8).prop_map(|(a, b)| Event::Replace(a, b)),
    ];
    prop::collection::vec(event, 1..12)
}

impl Cluster {
    fn play(&mut self, event: &Event) {
        let id = |number: &u8| format!("m{number}");
        match event {
            Event::Join(n) if !self.nodes.contains_key(&id(n)) => self.join(&id(n)),
            Event::Leave(n) => self.leave(&id(n)),
            Event::Replace(old, new) if !self.nodes.contains_key(&id(new)) => {
                self.join(&id(new));
                self.leave(&id(old));
            }
            Event::Deaf(n) => {
                if let Some(node) = self.nodes.get_mut(&id(n)) {
                    node.deaf = true;
                }
            }
            Event::Join(_) | Event::Replace(..) => {}
        }
    }

    fn leave(&mut self, id: &str) {
        if self.nodes.len() > 1 {
            self.nodes.remove(id);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_history_settles_in_two_rounds_and_stays(
        events in events(),
        replicas in 0..3_u32,
        partitions in 1..9_i32,
        cooperative in any::<bool>(),
    ) {
        let protocol = if cooperative { Cooperative } else { Eager };
        let mut cluster = Cluster::new(protocol, replicas, partitions);
        cluster.join("m9");
        cluster.settle();
        for event in &events {
            cluster.play(event);
            let faults = cluster.nodes.values().any(|node| node.deaf);
            if faults {
                cluster.rebalance();
            }
            let rounds = cluster.settle();
            prop_assert!(rounds.len() <= 2, "{} rounds after {event:?}", rounds.len());
            prop_assert!(rounds.len() == 1 || rounds[1].moved() == 0);
            let again = cluster.rebalance();
            prop_assert_eq!((again.revoked, again.moved()), (0, 0));
        }
    }

    /// A member that declares no table is cold for every task of it. Copies that were started in one rebalance may let
    /// the next one find a warm place for what it has, at the price of moves; there is an end to it all the same.
    #[test]
    fn every_history_settles_although_some_members_declare_no_table(
        events in events(),
        replicas in 0..3_u32,
        without_tables in prop::collection::btree_set(0..10_u8, 1..5),
    ) {
        let mut cluster = Cluster::new(Cooperative, replicas, 6);
        cluster.without_tables = without_tables.iter().map(|n| format!("m{n}")).collect();
        cluster.join("m9");
        for event in &events {
            cluster.play(event);
            let stable = (0..4).any(|_| cluster.settle().len() == 1);
            prop_assert!(stable, "no end of moves after {event:?}");
        }
    }
}
