//! Histories of groups: some told, some at random.
use proptest::prelude::*;

use super::Cluster;
use crate::assignor::RebalanceProtocol::{self, Cooperative, Eager};

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
