//! What every member's router says after a round, against what the leader gave.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Cluster;
use crate::led::{Led, Share};
use crate::router::{Routes, Served};

impl Cluster {
    /// Routes of every member that heard of the round name its owners, all of them and nobody else.
    pub(super) fn check_routes(&self, led: &Led, heard: &[String]) {
        for id in heard {
            let routes = self.nodes[id].assignor.handle().router().routes();
            let epoch = routes.epoch().expect("it heard of a round");
            assert_eq!(
                (epoch.generation, epoch.counter),
                (led.generation, led.epoch)
            );
            let routed: BTreeMap<_, _> = routes.topics().map(|t| (t.name(), t)).collect();
            assert!(routed.keys().eq(self.topics.keys()));
            for (topic, served) in routed {
                self.check_served(led, topic, &served);
            }
            check_table(led, &routes);
        }
    }

    fn check_served(&self, led: &Led, topic: &str, served: &Served<'_>) {
        let partitions = self.topics[topic].partitions;
        assert_eq!(i64::from(served.partitions()), i64::from(partitions));
        let of_group = self.topics.iter();
        let of_group = of_group.filter(|(_, other)| other.partitions == partitions);
        let of_group: Vec<_> = of_group.map(|(name, _)| name.as_str()).collect();
        for p in 0..served.partitions() {
            let active = |share: &Share| {
                let mut topics = of_group.iter();
                topics.all(|t| share.active.get(*t).is_some_and(|set| set.contains(p)))
            };
            let active = hosts(led, active);
            let told = served.active(p).map(str::to_owned);
            assert_eq!(
                told.into_iter().collect::<BTreeSet<_>>(),
                active,
                "{topic} {p}"
            );
        }
    }
}

fn check_table(led: &Led, routes: &Arc<Routes>) {
    let Some(counts) = routes.table("counts") else {
        let copies = |share: &Share| !share.standby.is_empty();
        assert!(hosts(led, copies).is_empty(), "copies without a table");
        return;
    };
    for p in 0..counts.partitions() {
        let copy = |share: &Share| {
            share
                .standby
                .get("counts")
                .is_some_and(|set| set.contains(p))
        };
        let told = counts.standbys(p).into_iter().map(str::to_owned);
        assert_eq!(
            told.collect::<BTreeSet<_>>(),
            hosts(led, copy),
            "counts {p}"
        );
    }
}

/// Hosts of the members whose share is like that.
fn hosts(led: &Led, like: impl Fn(&Share) -> bool) -> BTreeSet<String> {
    let members = led.members.iter().filter(|(_, share)| like(share));
    members.map(|(id, _)| format!("{id}:80")).collect()
}
