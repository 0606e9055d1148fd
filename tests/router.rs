//! Routers of a group on a mock cluster: every key is where they say, and they choose partitions as producers do.
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor::{Assignors, Copartitioned, Handle, Here, Partitioner, Route, RouteError};
use support::{config, eventually};

const PARTITIONS: u16 = 7;

fn cluster() -> MockCluster {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", PARTITIONS).unwrap();
    cluster.create_topic("clicks", 3).unwrap();
    cluster.set_initial_rebalance_delay(Duration::from_millis(200));
    cluster
}

/// Sends a record per key, in order, and says to which partition each went.
async fn produce(
    cluster: &MockCluster,
    topic: &str,
    partitioner: &str,
    keys: &[Option<Vec<u8>>],
) -> Vec<u32> {
    let producer: FutureProducer = config(cluster)
        .set("partitioner", partitioner)
        .set("sticky.partitioning.linger.ms", "0")
        .create()
        .unwrap();
    let mut sent = Vec::new();
    for key in keys {
        let record = FutureRecord {
            key: key.as_ref(),
            ..FutureRecord::<Vec<u8>, str>::to(topic).payload("value")
        };
        sent.push(
            producer
                .send_result(record)
                .map_err(|(error, _)| error)
                .unwrap(),
        );
    }
    let mut partitions = Vec::new();
    for delivered in sent {
        let delivery = delivered
            .await
            .unwrap()
            .map_err(|(error, _)| error)
            .unwrap();
        partitions.push(u32::try_from(delivery.partition).unwrap());
    }
    partitions
}

/// Keys of every length up to 40, and of bytes of every kind.
fn keys() -> Vec<Option<Vec<u8>>> {
    let byte = |n: usize| u8::try_from(n * 37 % 256).unwrap();
    let key = |length: usize| (0..length).map(|n| byte(n + length)).collect();
    let long = (1..=40).map(key);
    let numbered = (0..160).map(|n| format!("user-{n}").into_bytes());
    long.chain(numbered).map(Some).collect()
}

fn chosen(partitioner: &Partitioner, keys: &[Option<Vec<u8>>]) -> Vec<Option<u32>> {
    let partitions = NonZeroU32::new(PARTITIONS.into()).unwrap();
    let choose = |key: &Option<Vec<u8>>| partitioner.partition(key.as_deref(), partitions);
    keys.iter().map(choose).collect()
}

#[tokio::test]
async fn partitioners_choose_as_librdkafkas_producers_do() {
    let cluster = cluster();
    let settings = [
        ("murmur2_random", Partitioner::Murmur2Random),
        ("murmur2", Partitioner::Murmur2Random),
        ("consistent_random", Partitioner::ConsistentRandom),
        ("consistent", Partitioner::ConsistentRandom),
    ];
    for (setting, partitioner) in settings {
        let went = produce(&cluster, "orders", setting, &keys()).await;
        let used: BTreeSet<_> = went.iter().collect();
        assert_eq!(
            used.len(),
            usize::from(PARTITIONS),
            "{setting}: all partitions"
        );
        let went: Vec<_> = went.into_iter().map(Some).collect();
        assert_eq!(chosen(&partitioner, &keys()), went, "{setting}");
    }
}

#[tokio::test]
async fn keys_without_a_place_are_those_that_librdkafka_scatters() {
    let cluster = cluster();
    let cases = [
        ("murmur2_random", Partitioner::Murmur2Random, None),
        ("murmur2_random", Partitioner::Murmur2Random, Some(vec![])),
        ("consistent_random", Partitioner::ConsistentRandom, None),
        (
            "consistent_random",
            Partitioner::ConsistentRandom,
            Some(vec![]),
        ),
    ];
    for (setting, partitioner, key) in cases {
        let keys = vec![key.clone(); 100];
        let went = produce(&cluster, "orders", setting, &keys).await;
        let went: BTreeSet<_> = went.into_iter().collect();
        match chosen(&partitioner, &keys)[0] {
            Some(partition) => assert_eq!(went, [partition].into(), "{setting} {key:?}"),
            None => assert!(went.len() > 1, "{setting} {key:?}: all went to {went:?}"),
        }
    }
}

/// A member at `{name}:80` that keeps the keys it consumed.
struct Member {
    consumer: BaseConsumer,
    handle: Handle,
    host: String,
    consumed: BTreeMap<String, BTreeSet<Vec<u8>>>,
}

impl Member {
    fn join(cluster: &MockCluster, name: &str) -> Self {
        let host = format!("{name}:80");
        let builder = Copartitioned::builder("shop").leader_topic(false);
        let builder = builder.host(&host).table("counts", "orders");
        let assignor = builder.build().unwrap();
        let handle = assignor.handle();
        let mut config = config(cluster);
        config.set("auto.offset.reset", "earliest");
        let assignors = Assignors::new().with(assignor);
        let consumer: BaseConsumer = assignors.create(&config).unwrap();
        consumer.subscribe(&["orders", "clicks"]).unwrap();
        Member {
            consumer,
            handle,
            host,
            consumed: BTreeMap::new(),
        }
    }

    fn poll(&mut self) {
        if let Some(message) = self.consumer.poll(Duration::from_millis(5)) {
            let message = message.unwrap();
            let key = message.key().unwrap().to_vec();
            let topic = message.topic().to_owned();
            self.consumed.entry(topic).or_default().insert(key);
        }
    }

    fn consumed(&self, topic: &str, key: &[u8]) -> bool {
        self.consumed
            .get(topic)
            .is_some_and(|keys| keys.contains(key))
    }

    fn route(&self, topic: &str, key: &[u8]) -> Result<Route, RouteError> {
        match topic {
            "orders" => self.handle.router().host_for("counts", key),
            topic => self.handle.router().host_for_topic(topic, key),
        }
    }
}

/// Whether this member's router knows an active for every partition.
fn knows_all(member: &Member, hosts: usize) -> bool {
    let routes = member.handle.router().routes();
    let actives = |topic: &str| -> Option<BTreeSet<String>> {
        let served = routes.topic(topic)?;
        let active = (0..served.partitions()).map(|p| served.active(p).map(str::to_owned));
        active.collect()
    };
    let both = [actives("orders"), actives("clicks")];
    both.iter()
        .all(|known| known.as_ref().is_some_and(|set| set.len() == hosts))
}

fn settle(members: &mut [Member]) {
    let hosts = members.len();
    eventually("all partitions are routed", || {
        members.iter_mut().for_each(Member::poll);
        members.iter().all(|member| knows_all(member, hosts))
    });
}

#[tokio::test]
async fn every_key_is_routed_to_the_member_that_consumes_it() {
    let cluster = cluster();
    let mut members = ["a", "b"].map(|name| Member::join(&cluster, name));
    settle(&mut members);
    let keys = keys();
    for topic in ["orders", "clicks"] {
        produce(&cluster, topic, "murmur2_random", &keys).await;
    }
    for topic in ["orders", "clicks"] {
        eventually("everything is consumed", || {
            members.iter_mut().for_each(Member::poll);
            let consumed = |m: &Member| m.consumed.get(topic).map_or(0, BTreeSet::len);
            members.iter().map(consumed).sum::<usize>() == keys.len()
        });
        for key in keys.iter().flatten() {
            check_key(&members, topic, key);
        }
    }
}

/// All routers name the member that consumed the key, and only that one says that it is here.
fn check_key(members: &[Member], topic: &str, key: &[u8]) {
    for asked in members {
        let route = asked.route(topic, key).unwrap();
        let active = route.active.expect("nothing is on its way");
        let consumer = members.iter().find(|member| member.host == active).unwrap();
        assert!(
            consumer.consumed(topic, key),
            "{topic} {key:?} is not at {active}"
        );
        let here = route.here == Some(Here::Active);
        assert_eq!(here, asked.host == active, "{topic} {key:?}");
        let copies = usize::from(topic == "orders");
        assert_eq!(route.standbys.len(), copies, "{topic} {key:?}");
        assert!(!route.standbys.contains(&active));
    }
}

#[test]
fn a_member_that_left_is_routed_to_no_more_and_knows_where_the_others_were() {
    let cluster = cluster();
    let mut members = vec![Member::join(&cluster, "a"), Member::join(&cluster, "b")];
    settle(&mut members);
    let left = members.pop().unwrap();
    let (router, epoch) = (left.handle.router(), left.handle.router().routes().epoch());
    drop(left);
    for p in 0..i32::from(PARTITIONS) {
        let route = router.host_for_partition("counts", p).unwrap();
        assert_eq!(route.here, None);
        assert_ne!(route.active.as_deref(), Some("b:80"));
        assert!(!route.standbys.contains(&"b:80".to_owned()));
    }
    settle(&mut members);
    let router = members[0].handle.router();
    assert!(router.routes().epoch() > epoch);
    for p in 0..i32::from(PARTITIONS) {
        let route = router.host_for_partition("counts", p).unwrap();
        assert_eq!(route.here, Some(Here::Active));
        assert_eq!(
            (route.active.as_deref(), &route.standbys[..]),
            (Some("a:80"), &[][..])
        );
    }
}
