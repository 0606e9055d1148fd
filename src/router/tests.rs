//! One member's router, fed as the plug feeds it.
use std::sync::atomic::{AtomicBool, Ordering};

use rdkafka_assignor_protocol::{
    self as protocol, AssignmentUserData, GroupRoutes, PartitionSet, ServedCopy,
};
use serde_json::json;

use super::*;
use crate::assignor::{Assigned, Assignor, RebalanceProtocol, Revoked, TopicPartitions};
use crate::copartitioned::Copartitioned;
use crate::handle::Consumer;
use crate::partitions::PartitionSets;
use crate::plugin::Client;

#[derive(Default)]
struct FakeConsumer {
    lost: AtomicBool,
}

impl Consumer for FakeConsumer {
    fn assignment_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn request_rebalance(&self) {}
}

/// The member at `here:80`.
struct Member {
    assignor: Copartitioned,
    client: Arc<Client>,
    consumer: Arc<FakeConsumer>,
    router: Router,
}

impl Member {
    fn new(protocol: RebalanceProtocol) -> Self {
        let builder = Copartitioned::builder("shop").protocol(protocol);
        let builder = builder.host("here:80").table("counts", "orders");
        let assignor = builder.build().expect("valid settings");
        let consumer = Arc::new(FakeConsumer::default());
        assert!(assignor.handle().attach(Arc::clone(&consumer) as _));
        Member {
            client: Client::detached("client", "group"),
            router: assignor.handle().router(),
            assignor,
            consumer,
        }
    }

    /// `orders` 0 and 1 are active here, and a copy of `counts` 2.
    fn given(protocol: RebalanceProtocol, routes: &protocol::Routes) -> Self {
        let member = Member::new(protocol);
        member.assigned(7, &user_data(7, 1, routes));
        member
    }

    fn assigned(&self, generation: i32, user_data: &[u8]) {
        let partitions = lists(&[0, 1]);
        self.assignor.on_assignment(&Assigned {
            client: &self.client,
            member: "m1",
            generation,
            partitions: &partitions,
            user_data,
        });
    }

    fn revoked(&self, numbers: &[i32], lost: bool) {
        let partitions = lists(numbers);
        self.assignor.on_revoked(&Revoked {
            client: &self.client,
            partitions: &partitions,
            lost,
        });
    }

    fn counts(&self, partition: i32) -> (Option<Here>, Option<String>, Vec<String>) {
        let route = self.router.host_for_partition("counts", partition);
        let route = route.expect("it is routed");
        (route.here, route.active, route.standbys)
    }
}

fn lists(orders: &[i32]) -> TopicPartitions {
    TopicPartitions::from([("orders".to_owned(), orders.to_vec())])
}

fn set(numbers: &[u32]) -> PartitionSet {
    numbers.iter().copied().collect()
}

fn user_data(generation: i32, epoch: u64, routes: &protocol::Routes) -> Vec<u8> {
    let own = AssignmentUserData {
        generation: Some(generation),
        epoch,
        standby: PartitionSets::from([("counts".to_owned(), set(&[2]))]),
        ..AssignmentUserData::default()
    };
    let routes = routes.encode().expect("valid routes");
    own.encode(Some(&routes)).expect("it fits")
}

/// `here` has 0 and 1, `there` 2; 3 is between two owners. Each keeps a copy of the other's.
fn routes() -> protocol::Routes {
    let active = |host, numbers| protocol::Served {
        host,
        partitions: set(numbers),
    };
    let standby = |host, numbers| ServedCopy {
        host,
        tables: vec![0],
        partitions: set(numbers),
    };
    protocol::Routes {
        hosts: vec!["here:80".to_owned(), "there:80".to_owned()],
        groups: vec![GroupRoutes {
            topics: vec!["orders".to_owned()],
            tables: vec!["counts".to_owned()],
            partitions: 4,
            active: vec![active(0, &[0, 1]), active(1, &[2])],
            standby: vec![standby(0, &[2]), standby(1, &[0, 1, 3])],
        }],
    }
}

fn hosts(hosts: &[&str]) -> Vec<String> {
    hosts.iter().map(|host| (*host).to_owned()).collect()
}

fn at(host: &str) -> Option<String> {
    Some(host.to_owned())
}

use RebalanceProtocol::{Cooperative, Eager};

#[test]
fn a_router_goes_to_any_thread() {
    fn goes<T: Clone + Send + Sync + 'static>(_: &T) {}
    goes(&Member::new(Eager).router);
}

#[test]
fn a_key_is_served_where_its_partition_is() {
    let member = Member::given(Cooperative, &routes());
    let to = |partition| move |_: &[u8], _| Some(partition);
    for (partition, expected) in [(0, "here:80"), (2, "there:80")] {
        let partitioner = Partitioner::own(to(partition));
        let router = member.router.clone().with_partitioner(partitioner);
        let by_table = router.host_for("counts", "alice").expect("routed");
        assert_eq!(by_table.active, at(expected));
        assert_eq!(router.host_for_topic("orders", "alice"), Ok(by_table));
    }
    let by_murmur2 = member.router.host_for("counts", "a").expect("routed");
    assert_eq!(by_murmur2.partition, 0);
}

#[test]
fn actives_and_standbys_and_what_is_here() {
    let member = Member::given(Cooperative, &routes());
    let active = (Some(Here::Active), at("here:80"), hosts(&["there:80"]));
    let standby = (Some(Here::Standby), at("there:80"), hosts(&["here:80"]));
    assert_eq!(member.counts(1), active);
    assert_eq!(member.counts(2), standby);
    assert_eq!(member.counts(3), (None, None, hosts(&["there:80"])));
}

#[test]
fn nobody_is_sent_to_itself() {
    let router = Member::given(Cooperative, &routes()).router;
    let elsewhere = |partition| -> Vec<String> {
        let route = router.host_for_partition("counts", partition);
        let route = route.expect("it is routed");
        route.elsewhere().map(str::to_owned).collect()
    };
    for partition in 0..4 {
        assert_eq!(elsewhere(partition), ["there:80"], "{partition}");
    }
}

#[test]
fn what_is_not_routed_is_a_typed_error() {
    let before = Member::new(Cooperative).router;
    assert_eq!(before.host_for("counts", "a"), Err(RouteError::NoRoutes));
    let router = Member::given(Cooperative, &routes()).router;
    let no_table = Err(RouteError::NoSuchTable("orders".to_owned()));
    assert_eq!(router.host_for("orders", "a"), no_table);
    let no_topic = Err(RouteError::NoSuchTopic("counts".to_owned()));
    assert_eq!(router.host_for_topic("counts", "a"), no_topic);
    for partition in [-1, 4, i32::MAX] {
        let beyond = Err(RouteError::NoSuchPartition {
            partition: i64::from(partition),
            partitions: 4,
        });
        assert_eq!(router.host_for_partition("counts", partition), beyond);
        assert_eq!(router.host_for_topic_partition("orders", partition), beyond);
    }
}

#[test]
fn keys_without_a_place_and_partitioners_beyond_the_count_are_errors() {
    let router = Member::given(Cooperative, &routes()).router;
    let by_crc32 = router
        .clone()
        .with_partitioner(Partitioner::ConsistentRandom);
    assert_eq!(by_crc32.host_for("counts", ""), Err(RouteError::Anywhere));
    assert!(router.host_for("counts", "").is_ok());
    let beyond = Partitioner::own(|_, partitions| Some(partitions.get()));
    let beyond = router.with_partitioner(beyond).host_for("counts", "a");
    assert!(matches!(
        beyond,
        Err(RouteError::NoSuchPartition { partition: 4, .. })
    ));
}

#[test]
fn what_was_given_up_is_not_here_and_the_others_stay() {
    let member = Member::given(Cooperative, &routes());
    member.revoked(&[1], false);
    assert_eq!(member.counts(1), (None, None, hosts(&["there:80"])));
    assert_eq!(member.counts(0).0, Some(Here::Active));
    member.revoked(&[0], false);
    for partition in [0, 1] {
        assert_eq!(member.counts(partition), (None, None, hosts(&["there:80"])));
    }
    assert_eq!(member.counts(2), (None, at("there:80"), vec![]));
}

#[test]
fn lost_closed_and_superseded_members_still_know_where_others_are() {
    let lose = |member: &Member| member.consumer.lost.store(true, Ordering::Relaxed);
    let supersede = |member: &Member| member.assignor.on_superseded(&member.client);
    let close = |member: &Member| member.assignor.detach(&member.client);
    for silence in [lose as fn(&Member), supersede, close] {
        for protocol in [Eager, Cooperative] {
            let member = Member::given(protocol, &routes());
            silence(&member);
            assert_eq!(member.counts(0), (None, None, hosts(&["there:80"])));
            assert_eq!(member.counts(2), (None, at("there:80"), vec![]));
        }
    }
}

#[test]
fn a_broken_route_block_leaves_the_member_its_own_part() {
    let whole = user_data(8, 2, &routes());
    let cut = whole[..whole.len() - 1].to_vec();
    let mut twice = routes();
    twice.groups.push(GroupRoutes {
        topics: vec!["users".to_owned()],
        ..twice.groups[0].clone()
    });
    let other_generation = user_data(9, 2, &routes());
    for unusable in [cut, user_data(8, 2, &twice), other_generation] {
        let member = Member::given(Cooperative, &routes());
        member.assigned(8, &unusable);
        let handle = member.assignor.handle();
        assert!(handle.is_active("orders", 0) && handle.is_standby("counts", 2));
        let route = member.router.host_for("counts", "a");
        assert_eq!(
            route,
            Err(RouteError::NoRoutes),
            "no route of the round before"
        );
        let epoch = member.router.routes().epoch().expect("there was a round");
        assert_eq!(epoch.generation, 8, "not the leader's word");
    }
}

#[test]
fn a_watcher_is_told_of_every_round_in_order() {
    let member = Member::new(Cooperative);
    let mut watch = member.router.watch();
    let mut last = None;
    for (generation, counter) in [(7, 9), (8, 1), (3, 2), (4, 1)] {
        member.assigned(generation, &user_data(generation, counter, &routes()));
        assert!(watch.has_changed().expect("the handle lives"));
        let epoch = watch.borrow_and_update().epoch();
        assert!(epoch > last, "{epoch:?} after {last:?}");
        last = epoch;
    }
    member.revoked(&[0, 1], true);
    assert!(!watch.has_changed().expect("the handle lives"));
}

#[test]
fn standbys_of_a_table_keep_that_table_and_each_host_comes_once() {
    let copy = |host, tables: &[u32]| ServedCopy {
        host,
        tables: tables.to_vec(),
        partitions: set(&[0]),
    };
    let mut routes = routes();
    routes.groups[0].tables = hosts(&["counts", "sums"]);
    routes.groups[0].standby = vec![copy(1, &[0, 1]), copy(0, &[1]), copy(1, &[1])];
    let router = Member::given(Cooperative, &routes).router;
    let routes = router.routes();
    let standbys = |table| routes.table(table).expect("routed").standbys(0);
    assert_eq!(standbys("counts"), ["there:80"]);
    assert_eq!(standbys("sums"), ["there:80", "here:80"]);
    let of_topic = routes.topic("orders").expect("routed").standbys(0);
    assert_eq!(of_topic, ["there:80", "here:80"]);
}

#[test]
fn routes_serialise_by_table_and_topic() {
    let member = Member::given(Cooperative, &routes());
    let served = json!({
        "partitions": 4,
        "active": {"here:80": "0-1", "there:80": "2"},
        "standby": {"here:80": "2", "there:80": "0-1,3"},
    });
    let all = json!({
        "epoch": {"restarts": 0, "generation": 7, "counter": 1},
        "tables": {"counts": served},
        "topics": {"orders": served},
    });
    let routes = member.router.routes();
    assert_eq!(serde_json::to_value(&*routes).expect("JSON"), all);
    let route = member.router.host_for_partition("counts", 2);
    let route = serde_json::to_value(route.expect("routed")).expect("JSON");
    assert_eq!(route["here"], "standby");
    assert_eq!(route["active"], "there:80");
}
