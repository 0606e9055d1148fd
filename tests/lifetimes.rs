//! Whatever is dropped first, and in whatever state the group is.
mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::RebalanceProtocol::{Cooperative, Eager};
use rdkafka_assignor::mock::MockCluster;
use support::{
    Event, Member, Probe, SESSION_TIMEOUT, cluster, config, config_for, eventually, lock,
};

fn attached_and_detached(probe: &Probe) {
    for client in lock(&probe.clients).iter() {
        let events = probe.events_of(client.id());
        let count = |wanted: &Event| events.iter().filter(|event| *event == wanted).count();
        assert_eq!((count(&Event::Attach), count(&Event::Detach)), (1, 1));
        assert_eq!(
            events.last(),
            Some(&Event::Detach),
            "nothing is called after detach"
        );
        assert!(client.assignment_lost());
        client.request_rebalance();
    }
}

#[test]
fn consumer_that_never_subscribed_detaches() {
    let probe = Arc::new(Probe::new("probe", Eager));
    let consumer: BaseConsumer = Assignors::new()
        .with(Arc::clone(&probe))
        .create(&config_for("127.0.0.1:1"))
        .unwrap();
    let client = Arc::clone(&lock(&probe.clients)[0]);
    assert_eq!(client.group_id(), "group");
    assert!(client.name().contains("consumer"), "{}", client.name());
    assert!(!client.assignment_lost());
    client.request_rebalance();
    drop(consumer);
    attached_and_detached(&probe);
}

#[test]
fn consumer_may_go_in_any_state_of_joining() {
    let cluster = cluster();
    cluster.set_initial_rebalance_delay(Duration::from_millis(300));
    for protocol in [Eager, Cooperative] {
        let probe = Arc::new(Probe::new("probe", protocol));
        let assignors = Assignors::new().with(Arc::clone(&probe));
        // From before the coordinator is known to after the first assignment.
        for millis in [0, 5, 50, 150, 250, 290, 310, 330, 360, 400, 600] {
            let mut config = config(&cluster);
            config.set("group.id", support::unique("group"));
            let consumer: BaseConsumer = assignors.create(&config).unwrap();
            consumer.subscribe(&["t"]).unwrap();
            let end = std::time::Instant::now() + Duration::from_millis(millis);
            while std::time::Instant::now() < end {
                drop(consumer.poll(Duration::from_millis(1)));
            }
            drop(consumer);
        }
        // At any speed of the machine one goes with its join unanswered, and one with its first assignment.
        cluster.set_initial_rebalance_delay(SESSION_TIMEOUT);
        goes_upon(&cluster, &probe, |event| {
            matches!(event, Event::Join { .. })
        });
        cluster.set_initial_rebalance_delay(Duration::from_millis(300));
        let assigned = |event: &Event| matches!(event, Event::Assigned { .. });
        goes_upon(&cluster, &probe, assigned);
        attached_and_detached(&probe);
        let reached = |wanted: fn(&Event) -> bool| {
            probe.events().iter().filter(|event| wanted(event)).count()
        };
        let joined = reached(|event| matches!(event, Event::Join { .. }));
        let assigned = reached(|event| matches!(event, Event::Assigned { .. }));
        assert!(
            assigned > 0 && assigned < joined,
            "{assigned} of {joined} got as far as an assignment"
        );
    }
}

/// A consumer in a group of its own is dropped as soon as its assignor has had such a call.
fn goes_upon(cluster: &MockCluster, probe: &Arc<Probe>, wanted: impl Fn(&Event) -> bool) {
    let mut config = config(cluster);
    config.set("group.id", support::unique("group"));
    let assignors = Assignors::new().with(Arc::clone(probe));
    let consumer: BaseConsumer = assignors.create(&config).unwrap();
    consumer.subscribe(&["t"]).unwrap();
    let client = lock(&probe.clients).last().unwrap().id();
    eventually("it got there", || {
        drop(consumer.poll(Duration::from_millis(1)));
        probe.events_of(client).iter().any(&wanted)
    });
}

#[test]
fn consumer_may_go_while_its_assignor_is_at_work() {
    let cluster = cluster();
    for callback in ["subscription_user_data", "assign", "on_assignment"] {
        let (entered, at_work) = mpsc::channel();
        let probe = Arc::new(Probe::new("probe", Eager).before(move |called| {
            if called == callback {
                entered.send(()).unwrap();
                thread::sleep(Duration::from_millis(300));
            }
        }));
        let mut config = config(&cluster);
        config.set("group.id", callback);
        let consumer: BaseConsumer = Assignors::new()
            .with(Arc::clone(&probe))
            .create(&config)
            .unwrap();
        consumer.subscribe(&["t"]).unwrap();
        at_work.recv().unwrap();
        drop(consumer);
        attached_and_detached(&probe);
    }
}

#[test]
fn unserved_revocation_does_not_keep_a_consumer() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Eager));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let first: BaseConsumer = assignors.create(&config(&cluster)).unwrap();
    first.subscribe(&["t"]).unwrap();
    eventually("the first has everything", || {
        drop(first.poll(Duration::from_millis(10)));
        first.assignment().unwrap().count() == 4
    });
    // A second member makes the first revoke, which nobody serves until it is dropped amidst the rebalance.
    let second = Member::join(&config(&cluster), &assignors, &["t"]);
    thread::sleep(Duration::from_millis(500));
    drop(first);
    let first = lock(&probe.clients)[0].id();
    assert!(
        probe
            .events_of(first)
            .iter()
            .any(|event| matches!(event, Event::Revoked { .. }))
    );
    eventually("the second has everything", || second.load() == 4);
    second.leave();
    attached_and_detached(&probe);
}

#[test]
fn consumer_may_go_with_a_revocation_in_its_queue() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Eager));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    for round in 0..20 {
        let mut config = config(&cluster);
        config.set("group.id", support::unique("group"));
        let consumer: BaseConsumer = assignors.create(&config).unwrap();
        consumer.subscribe(&["t"]).unwrap();
        eventually("it has everything", || {
            drop(consumer.poll(Duration::from_millis(10)));
            consumer.assignment().unwrap().count() == 4
        });
        lock(&probe.clients).last().unwrap().request_rebalance();
        thread::sleep(Duration::from_millis(100));
        // The closing group and the answer to the revocation meet in librdkafka's main thread.
        let (gone, is_gone) = mpsc::channel();
        thread::spawn(move || {
            drop(consumer);
            gone.send(()).unwrap();
        });
        is_gone
            .recv_timeout(Duration::from_secs(30))
            .unwrap_or_else(|_| panic!("the consumer of round {round} does not go"));
    }
    attached_and_detached(&probe);
}

#[test]
fn assignor_outlives_its_consumer_and_the_other_way_round() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Eager));
    let weak: Weak<Probe> = Arc::downgrade(&probe);
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let before: BaseConsumer = assignors.create(&config(&cluster)).unwrap();
    drop(before);
    let member = Member::join(&config(&cluster), &assignors, &["t"]);
    drop((assignors, probe));
    eventually("the member has everything", || member.load() == 4);
    let alive = weak.upgrade().map(|probe| probe.events().len());
    assert!(alive.is_some(), "the consumer keeps its assignor");
    member.leave();
    assert!(weak.upgrade().is_none(), "nobody else does");
}

#[test]
fn many_consumers_share_an_assignor_and_know_themselves_apart() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Cooperative));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let members: Vec<Member> = (0..4)
        .map(|_| Member::join(&config(&cluster), &assignors, &["t"]))
        .collect();
    eventually("every member has a partition", || {
        members.iter().all(|member| member.load() == 1)
    });
    let clients = lock(&probe.clients).clone();
    let mut ids: Vec<u64> = clients.iter().map(|client| client.id()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    for client in &clients {
        let mut assigned =
            probe
                .events_of(client.id())
                .into_iter()
                .filter_map(|event| match event {
                    Event::Assigned { partitions, .. } => Some(partitions),
                    _ => None,
                });
        // Rounds before may have withheld everything.
        let last = assigned.next_back().unwrap();
        assert_eq!(last.values().map(Vec::len).sum::<usize>(), 1);
    }
    drop(members);
    attached_and_detached(&probe);
}

#[test]
fn client_may_be_asked_while_its_consumer_goes() {
    let asked = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let probe = Arc::new(Probe::new("probe", Eager));
        let consumer: BaseConsumer = Assignors::new()
            .with(Arc::clone(&probe))
            .create(&config_for("127.0.0.1:1"))
            .unwrap();
        let client = Arc::clone(&lock(&probe.clients)[0]);
        let asker = thread::spawn({
            let asked = Arc::clone(&asked);
            move || {
                while !client.assignment_lost() {
                    client.request_rebalance();
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        drop(consumer);
        asker.join().unwrap();
    }
    println!("asked {} times", asked.load(Ordering::Relaxed));
}

#[test]
fn requested_rebalance_happens_and_a_cooperative_member_revokes_nothing() {
    for protocol in [Eager, Cooperative] {
        let cluster = cluster();
        let probe = Arc::new(Probe::new("probe", protocol));
        let member = Member::join(
            &config(&cluster),
            &Assignors::new().with(Arc::clone(&probe)),
            &["t"],
        );
        eventually("the member has everything", || member.load() == 4);
        let client = Arc::clone(&lock(&probe.clients)[0]);
        let rounds = probe.groups().len();
        client.request_rebalance();
        eventually("there is another round", || probe.groups().len() > rounds);
        eventually("the member has everything", || member.load() == 4);
        let revoked = probe
            .events()
            .iter()
            .any(|event| matches!(event, Event::Revoked { .. }));
        assert_eq!(revoked, protocol == Eager);
    }
}

#[test]
fn requested_rebalance_of_an_assignor_that_is_being_attached_finds_the_list_whole() {
    let probe = Arc::new_cyclic(|weak: &Weak<Probe>| {
        let weak = weak.clone();
        Probe::new("probe", Eager).before(move |callback| {
            if callback == "attach" {
                lock(&weak.upgrade().unwrap().clients)[0].request_rebalance();
                // Long enough for librdkafka's main thread to go through the strategy list.
                thread::sleep(Duration::from_millis(100));
            }
        })
    });
    let consumer: BaseConsumer = Assignors::new()
        .with(Probe::new("other", Eager))
        .with(Arc::clone(&probe))
        .create(&config_for("127.0.0.1:1"))
        .unwrap();
    drop(consumer);
    attached_and_detached(&probe);
}

#[test]
fn rebalance_requested_amidst_another_waits_for_its_end() {
    let cluster = cluster();
    let request = Arc::new(AtomicUsize::new(1));
    let probe = Arc::new_cyclic(|weak: &Weak<Probe>| {
        let weak = weak.clone();
        Probe::new("probe", Cooperative).before(move |callback| {
            // Not before user data has been sent: the request is for a round that sees newer user data.
            if callback == "assign" && request.fetch_sub(1, Ordering::Relaxed) == 1 {
                lock(&weak.upgrade().unwrap().clients)[0].request_rebalance();
            }
        })
    });
    let member = Member::join(
        &config(&cluster),
        &Assignors::new().with(Arc::clone(&probe)),
        &["t"],
    );
    eventually("there is a second round", || probe.groups().len() >= 2);
    eventually("the member has everything", || member.load() == 4);
}

#[test]
fn rebalance_requested_without_a_coordinator_does_not_keep_the_session_from_running_out() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Cooperative));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let member = Member::join(&config(&cluster), &assignors, &["t"]);
    eventually("the member has everything", || member.load() == 4);
    drop(cluster);
    // Several heartbeats: the member knows that nobody answers.
    thread::sleep(Duration::from_millis(500));
    lock(&probe.clients)[0].request_rebalance();
    eventually("the partitions are lost", || {
        let lost = |event: &Event| matches!(event, Event::Revoked { lost: true, .. });
        probe.events().iter().any(lost)
    });
}

#[test]
fn member_that_was_thrown_out_is_told_that_its_partitions_are_lost() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Cooperative));
    let mut config = config(&cluster);
    config.set(
        "max.poll.interval.ms",
        SESSION_TIMEOUT.as_millis().to_string(),
    );
    let consumer: BaseConsumer = Assignors::new()
        .with(Arc::clone(&probe))
        .create(&config)
        .unwrap();
    consumer.subscribe(&["t"]).unwrap();
    eventually("the member has everything", || {
        drop(consumer.poll(Duration::from_millis(10)));
        consumer.assignment().unwrap().count() == 4
    });
    let client = Arc::clone(&lock(&probe.clients)[0]);
    assert!(!client.assignment_lost());
    // Nobody polls: the loss shows to those who ask, and to the assignor at the next poll.
    eventually("the assignment is lost", || client.assignment_lost());
    assert!(
        !probe
            .events()
            .iter()
            .any(|event| matches!(event, Event::Revoked { .. }))
    );
    eventually("the assignor is told", || {
        drop(consumer.poll(Duration::from_millis(10)));
        probe
            .events()
            .iter()
            .any(|event| matches!(event, Event::Revoked { lost: true, .. }))
    });
}
