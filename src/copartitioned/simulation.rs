//! Rounds of a group of real assignors, with their real bytes; only the coordinator and librdkafka are played.
//!
//! Every round checks what must hold in every round: partitions exactly once (I1), no partition granted that a
//! valid owner has not given up (I7), enough standbys on members that are not the active (I4), and that nothing the
//! leader says needs a correction by the plug. After every round, what every member's router says must be what was given.
mod histories;
mod routes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Copartitioned;
use crate::assignor::{
    Assigned, Assignor, Group, Join, Member, RebalanceProtocol, Revoked, Topic, TopicPartitions,
};
use crate::led::{Led, Share};
use crate::partitions::{PartitionSets, to_sets};
use crate::plugin::Client;
use crate::round;
use RebalanceProtocol::Eager;

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
        let heard = self.nodes.iter().filter(|(_, node)| !node.deaf);
        let heard: Vec<_> = heard.map(|(id, _)| id.clone()).collect();
        let revoked = decided
            .into_iter()
            .map(|(id, given)| self.deliver(&id, given))
            .sum();
        self.check_routes(&led, &heard);
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
