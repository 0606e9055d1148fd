//! Every question, and every event that changes the answer.
use super::*;
use crate::copartitioned::Copartitioned;
use std::sync::atomic::AtomicBool;

#[derive(Default)]
struct FakeConsumer {
    lost: AtomicBool,
    requests: AtomicU64,
}

impl Consumer for FakeConsumer {
    fn assignment_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn request_rebalance(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
}

fn attached() -> (Handle, Arc<FakeConsumer>) {
    let assignor = Copartitioned::builder("shop")
        .build()
        .expect("valid settings");
    let consumer = Arc::new(FakeConsumer::default());
    let handle = assignor.handle();
    assert!(handle.attach(Arc::clone(&consumer) as _));
    (handle, consumer)
}

fn sets(names: &[&str]) -> PartitionSets {
    let zero = |name: &&str| ((*name).to_owned(), std::iter::once(0_u32).collect());
    names.iter().map(zero).collect()
}

fn leading() -> Held {
    Held {
        generation: Some(1),
        active: sets(&["orders", "shop-__assignor-__leader"]),
        standby: sets(&["counts"]),
        ..Held::default()
    }
}

fn says(handle: &Handle) -> (bool, bool, bool) {
    (
        handle.is_active("orders", 0),
        handle.is_standby("counts", 0),
        handle.is_leader(),
    )
}

#[test]
fn a_handle_goes_to_any_thread() {
    fn goes<T: Clone + Send + Sync + 'static>(_: &T) {}
    goes(&attached().0);
}

#[test]
fn who_holds_the_leader_topic_leads() {
    let (handle, _consumer) = attached();
    handle.assigned(leading());
    assert_eq!(says(&handle), (true, true, true));
    handle.revoked(&sets(&["shop-__assignor-__leader"]), false);
    assert_eq!(says(&handle), (true, true, false));
}

#[test]
fn an_application_that_does_not_poll_still_hears_that_all_is_lost() {
    let (handle, consumer) = attached();
    handle.assigned(leading());
    consumer.lost.store(true, Ordering::Relaxed);
    assert_eq!(says(&handle), (false, false, false));
    assert_eq!(*handle.current(), Held::default());
}

#[test]
fn a_closed_consumer_holds_nothing_and_makes_room_for_the_next() {
    let (handle, _consumer) = attached();
    assert!(!handle.attach(Arc::new(FakeConsumer::default())));
    handle.assigned(leading());
    handle.detached();
    assert_eq!(says(&handle), (false, false, false));
    assert!(handle.attach(Arc::new(FakeConsumer::default())));
    assert_eq!(*handle.current(), Held::default());
}

#[test]
fn another_assignors_win_silences() {
    let (handle, _consumer) = attached();
    handle.assigned(leading());
    handle.superseded();
    assert_eq!(says(&handle), (false, false, false));
}

#[test]
fn a_watcher_is_told_of_changes_only() {
    let (handle, _consumer) = attached();
    let mut watch = handle.watch();
    handle.assigned(leading());
    assert!(watch.has_changed().expect("the handle lives"));
    assert_eq!(watch.borrow_and_update().generation, Some(1));
    handle.revoked(&sets(&["users"]), false);
    assert!(!watch.has_changed().expect("the handle lives"));
}

#[test]
fn a_requested_rebalance_changes_the_nonce() {
    let (handle, consumer) = attached();
    handle.request_rebalance();
    assert_eq!(handle.nonce(), 1);
    assert_eq!(consumer.requests.load(Ordering::Relaxed), 1);
}

#[test]
fn an_application_without_a_leader_topic_subscribes_to_its_own_topics_only() {
    let assignor = Copartitioned::builder("shop")
        .leader_topic(false)
        .build()
        .expect("valid");
    let handle = assignor.handle();
    assert_eq!(handle.leader_topic(), None);
    assert_eq!(handle.subscription(["orders"]), ["orders"]);
}

#[test]
fn every_declared_table_has_a_changelog_and_no_other() {
    let assignor = Copartitioned::builder("shop")
        .table("counts", "orders")
        .table_with_changelog("sums", "orders", "all-sums")
        .global_table("rates", std::num::NonZeroU32::MIN)
        .build()
        .expect("valid");
    let handle = assignor.handle();
    assert_eq!(handle.changelog("counts"), Some("shop-counts-changelog"));
    assert_eq!(handle.changelog("sums"), Some("all-sums"));
    assert_eq!(handle.changelog("rates"), Some("shop-rates-changelog"));
    assert_eq!(handle.changelog("orders"), None);
}

#[test]
fn a_consumer_is_subscribed_to_the_subscription() {
    use rdkafka::consumer::BaseConsumer;
    let mut config = rdkafka::ClientConfig::new();
    config.set("group.id", "shop");
    let consumer: BaseConsumer = config.create().expect("a consumer");
    let (handle, _consumer) = attached();
    handle
        .subscribe(&consumer, ["orders", "users"])
        .expect("subscribed");
    let subscribed = consumer.subscription().expect("a subscription");
    let topics: Vec<_> = subscribed
        .elements()
        .iter()
        .map(|element| element.topic().to_owned())
        .collect();
    assert_eq!(topics, handle.subscription(["orders", "users"]));
}
