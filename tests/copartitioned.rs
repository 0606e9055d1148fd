//! The shipped assignor on a mock cluster: groups that grow, shrink and change hands, and handles that stay truthful.
mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_assignor::assignor::RebalanceProtocol::{self, Cooperative, Eager};
use rdkafka_assignor::assignor::{Assignment, Assignor, AssignorError, Group};
use rdkafka_assignor::mock::MockCluster;
use rdkafka_assignor::{
    Assignors, Builder, Client, Copartitioned, DeliveredKind, Handle, Held, PartitionSets,
};
use support::{Member, config, eventually};

const LEADER_TOPIC: &str = "shop-__assignor-__leader";

fn cluster() -> MockCluster {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", 4).unwrap();
    cluster.create_topic("users", 4).unwrap();
    cluster.set_initial_rebalance_delay(Duration::from_millis(200));
    cluster
}

fn shop(protocol: RebalanceProtocol) -> Builder {
    Copartitioned::builder("shop")
        .protocol(protocol)
        .table("counts", "orders")
}

/// A member that has subscribed to orders, users and the leader topic.
struct Shop {
    member: Member,
    handle: Handle,
}

impl Shop {
    fn join(config: &ClientConfig, builder: Builder) -> Self {
        let assignor = builder.build().unwrap();
        let handle = assignor.handle();
        let topics = handle.subscription(["orders", "users"]);
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        let member = Member::join(config, &Assignors::new().with(assignor), &topics);
        Shop { member, handle }
    }

    fn active(&self, topic: &str) -> u64 {
        count(&self.handle.current().active, topic)
    }

    fn standby(&self) -> u64 {
        count(&self.handle.current().standby, "counts")
    }

    /// The handle says what librdkafka says.
    fn agrees(&self) -> bool {
        let told = &self.handle.current().active;
        let told = told.iter().map(|(topic, set)| {
            (
                topic.clone(),
                set.iter()
                    .map(|p| i32::try_from(p).unwrap())
                    .collect::<Vec<_>>(),
            )
        });
        told.collect::<Vec<_>>() == self.member.partitions().into_iter().collect::<Vec<_>>()
    }
}

fn count(sets: &PartitionSets, name: &str) -> u64 {
    sets.get(name).map_or(0, |set| set.len())
}

fn shares(members: &[&Shop]) -> Vec<(u64, u64, u64)> {
    members
        .iter()
        .map(|m| (m.active("orders"), m.active("users"), m.standby()))
        .collect()
}

#[test]
fn members_join_share_and_inherit() {
    for protocol in [Eager, Cooperative] {
        let cluster = cluster();
        cluster.create_topic(LEADER_TOPIC, 1).unwrap();
        let config = config(&cluster);
        let a = Shop::join(&config, shop(protocol));
        eventually("one member has everything", || shares(&[&a]) == [(4, 4, 0)]);
        eventually("it leads", || a.handle.is_leader());
        let b = Shop::join(&config, shop(protocol));
        eventually("two members share", || {
            shares(&[&a, &b]) == [(2, 2, 2), (2, 2, 2)]
        });
        eventually("handles agree with librdkafka", || a.agrees() && b.agrees());
        eventually("one's actives are the other one's standbys", || {
            (0..4).all(|p| mirrored(&a.handle, &b.handle, p))
        });
        eventually("one of them leads", || {
            a.handle.is_leader() != b.handle.is_leader()
        });
        drop(a.member);
        assert_eq!(*a.handle.current(), Held::default());
        eventually("the other one inherits", || shares(&[&b]) == [(4, 4, 0)]);
        eventually("it leads", || b.handle.is_leader());
        let led = b.handle.watch_led().borrow().clone().unwrap();
        assert_eq!(
            led.report.active_cold, 0,
            "{protocol:?}: promoted, not cold"
        );
    }
}

/// Both topics' partition is with one of the two, and the table's copy with the other.
fn mirrored(a: &Handle, b: &Handle, p: i32) -> bool {
    let here = a.is_active("orders", p);
    a.is_active("users", p) == here
        && b.is_active("orders", p) != here
        && b.is_active("users", p) != here
        && b.is_standby("counts", p) == here
        && a.is_standby("counts", p) != here
}

#[test]
fn a_member_is_replaced_in_one_rebalance() {
    let cluster = cluster();
    let config = config(&cluster);
    let a = Shop::join(&config, shop(Cooperative));
    let b = Shop::join(&config, shop(Cooperative));
    eventually("two members share", || {
        shares(&[&a, &b]) == [(2, 2, 2), (2, 2, 2)]
    });
    let kept = a.handle.current().active.clone();
    let c = Shop::join(&config, shop(Cooperative));
    drop(b.member);
    eventually("the newcomer has its share", || {
        shares(&[&a, &c]) == [(2, 2, 2), (2, 2, 2)]
    });
    let now = a.handle.current().active.clone();
    assert_eq!(now["orders"].len(), kept["orders"].len());
}

#[test]
fn a_leader_topic_that_comes_later_joins_the_subscription() {
    let cluster = cluster();
    let mut config = config(&cluster);
    config.set("topic.metadata.refresh.interval.ms", "300");
    let a = Shop::join(&config, shop(Cooperative));
    eventually("it has its topics", || shares(&[&a]) == [(4, 4, 0)]);
    assert!(!a.handle.is_leader());
    cluster.create_topic(LEADER_TOPIC, 1).unwrap();
    eventually("it leads", || a.handle.is_leader());
    assert_eq!(shares(&[&a]), [(4, 4, 0)]);
}

#[test]
fn a_missing_leader_topic_is_no_poll_error() {
    let cluster = cluster();
    let mut config = config(&cluster);
    config.set("topic.metadata.refresh.interval.ms", "100");
    let assignor = shop(Cooperative).build().unwrap();
    let handle = assignor.handle();
    let consumer: BaseConsumer = Assignors::new().with(assignor).create(&config).unwrap();
    let topics = handle.subscription(["orders", "users"]);
    consumer
        .subscribe(&topics.iter().map(String::as_str).collect::<Vec<_>>())
        .unwrap();
    eventually("it has its topics", || {
        if let Some(Err(error)) = consumer.poll(Duration::from_millis(20)) {
            panic!("poll says {error}");
        }
        handle.is_active("orders", 0)
    });
    for _ in 0..50 {
        if let Some(Err(error)) = consumer.poll(Duration::from_millis(20)) {
            panic!("poll says {error}");
        }
    }
}

#[test]
fn a_handle_is_silent_from_unsubscription_on() {
    for protocol in [Eager, Cooperative] {
        let cluster = cluster();
        let a = Shop::join(&config(&cluster), shop(protocol));
        eventually("it has its topics", || shares(&[&a]) == [(4, 4, 0)]);
        a.member.consumer().unsubscribe();
        eventually("it holds nothing", || {
            a.handle.current().generation.is_none()
        });
        assert!(!a.handle.is_active("orders", 0));
    }
}

#[test]
fn a_member_with_nothing_but_standbys_is_silent_from_unsubscription_on() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders", 1).unwrap();
    cluster.create_topic("users", 1).unwrap();
    cluster.set_initial_rebalance_delay(Duration::from_millis(200));
    let members = [(); 2].map(|()| Shop::join(&config(&cluster), shop(Cooperative)));
    let keeps = |member: &&Shop| member.standby() == 1 && member.active("orders") == 0;
    eventually("one has the partition, the other the copy", || {
        members.iter().filter(keeps).count() == 1
    });
    // librdkafka has nothing to revoke, so that there is no callback to hear it from.
    let keeper = members.iter().find(keeps).unwrap();
    keeper.member.consumer().unsubscribe();
    eventually("it keeps nothing", || {
        keeper.handle.current().standby.is_empty()
    });
}

#[test]
fn a_handle_is_silent_before_the_application_hears_of_a_revocation() {
    use rdkafka::ClientContext;
    use rdkafka::consumer::{ConsumerContext, Rebalance};

    struct Watching(Handle, Arc<Mutex<Vec<bool>>>);
    impl ClientContext for Watching {}
    impl ConsumerContext for Watching {
        fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
            if let Rebalance::Revoke(list) = rebalance {
                let element = &list.elements()[0];
                let still = self.0.is_active(element.topic(), element.partition());
                self.1.lock().unwrap().push(still);
            }
        }
    }

    for protocol in [Eager, Cooperative] {
        let cluster = cluster();
        let assignor = shop(protocol).build().unwrap();
        let handle = assignor.handle();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let context = Watching(handle.clone(), Arc::clone(&seen));
        let consumer: BaseConsumer<_> = Assignors::new()
            .with(assignor)
            .create_with_context(&config(&cluster), context)
            .unwrap();
        consumer.subscribe(&["orders", "users"]).unwrap();
        eventually("it has its topics", || {
            consumer.poll(Duration::from_millis(20));
            handle.is_active("orders", 0)
        });
        eventually("librdkafka has handed them over", || {
            consumer.poll(Duration::from_millis(20));
            consumer.assignment().unwrap().count() == 8
        });
        drop(consumer);
        let seen = seen.lock().unwrap();
        assert!(
            !seen.is_empty() && seen.iter().all(|still| !still),
            "{protocol:?}"
        );
    }
}

/// Counts how often it hears that another assignor decided.
struct Second(RebalanceProtocol, Arc<AtomicUsize>);

impl Assignor for Second {
    fn name(&self) -> &str {
        "second"
    }

    fn protocol(&self) -> RebalanceProtocol {
        self.0
    }

    fn assign(&self, _: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        Err(AssignorError("never asked".to_owned()))
    }

    fn on_superseded(&self, _: &Arc<Client>) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_assignor_that_did_not_decide_hears_of_it() {
    let lists = [
        (Eager, "range,copartitioned,second", 0),
        (Cooperative, "cooperative-sticky,copartitioned,second", 0),
        (Cooperative, "copartitioned,second,cooperative-sticky", 8),
    ];
    for (protocol, list, told) in lists {
        let cluster = cluster();
        let assignor = shop(protocol).build().unwrap();
        let handle = assignor.handle();
        let superseded = Arc::new(AtomicUsize::new(0));
        let second = Second(protocol, Arc::clone(&superseded));
        let mut config = config(&cluster);
        config.set("partition.assignment.strategy", list);
        let assignors = Assignors::new().with(assignor).with(second);
        let member = Member::join(&config, &assignors, &["orders", "users"]);
        eventually("everything is assigned", || member.load() == 8);
        let active = handle
            .current()
            .active
            .values()
            .map(|set| set.len())
            .sum::<u64>();
        assert_eq!(active, told, "{list}");
        assert!(superseded.load(Ordering::Relaxed) > 0, "{list}");
    }
}

#[test]
fn an_assignor_refuses_a_second_consumer_but_serves_the_next() {
    let cluster = cluster();
    let config = config(&cluster);
    let assignors = Assignors::new().with(shop(Cooperative).build().unwrap());
    let first: BaseConsumer = assignors.create(&config).unwrap();
    let second = assignors
        .create::<BaseConsumer>(&config)
        .err()
        .expect("a handle speaks for one");
    assert!(
        second.to_string().contains("serves a consumer already"),
        "{second}"
    );
    drop(first);
    assignors.create::<BaseConsumer>(&config).unwrap();
}

#[test]
fn every_member_hears_that_topics_cannot_be_copartitioned() {
    let cluster = cluster();
    cluster.create_topic("audit", 3).unwrap();
    let assignor = Copartitioned::builder("shop")
        .copartition(["orders", "audit"])
        .build()
        .unwrap();
    let handle = assignor.handle();
    let member = Member::join(
        &config(&cluster),
        &Assignors::new().with(assignor),
        &["orders", "users", "audit"],
    );
    eventually("it is told", || handle.errors().len() == 1);
    assert_eq!(handle.errors()[0].kind, DeliveredKind::CopartitionMismatch);
    eventually("the rest of the work goes on", || member.load() == 4);
}

#[test]
fn a_requested_rebalance_comes() {
    let cluster = cluster();
    let a = Shop::join(&config(&cluster), shop(Cooperative));
    eventually("it has its topics", || shares(&[&a]) == [(4, 4, 0)]);
    let generation = a.handle.current().generation;
    a.handle.request_rebalance();
    eventually("there is a new generation", || {
        let now = a.handle.current().generation;
        now.is_some() && now != generation
    });
    assert_eq!(shares(&[&a]), [(4, 4, 0)]);
}

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        support::lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn logs_of_librdkafkas_thread_reach_the_application() {
    // With a single subscriber in the process, tracing asks the thread that first comes by an event whether anybody
    // wants it, and other tests' threads say no for all.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let page = Page::default();
    let writer = page.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let cluster = cluster();
    let a = tracing::subscriber::with_default(subscriber, || {
        Shop::join(&config(&cluster), shop(Cooperative))
    });
    eventually("it has its topics", || shares(&[&a]) == [(4, 4, 0)]);
    let text = String::from_utf8(support::lock(&page.0).clone()).unwrap();
    let own = text
        .lines()
        .find(|line| line.contains(": assigned"))
        .unwrap();
    assert!(
        own.contains(r#"active="orders 0-3; users 0-3" standby="-""#),
        "{own}"
    );
    let led = text
        .lines()
        .find(|line| line.contains("rebalanced"))
        .unwrap();
    assert!(
        led.contains("rebalance{group=\"group\" generation="),
        "{led}"
    );
}
