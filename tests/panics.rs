//! A panic in any callback is logged with the assignor's name, and nobody dies.
#[path = "support/log.rs"]
mod log;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log::Log;
use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::AssignorError;
use rdkafka_assignor::assignor::RebalanceProtocol::{Cooperative, Eager};
use support::{Event, Member, Probe, cluster, config, deal, eventually};

fn once(callback: &'static str) -> impl Fn(&str) + Send + Sync {
    let first = AtomicBool::new(true);
    move |called| {
        assert!(
            called != callback || !first.swap(false, Ordering::Relaxed),
            "deliberate"
        )
    }
}

#[test]
fn panic_in_any_callback_is_logged_and_the_group_goes_on() {
    let callbacks = [
        "subscription_user_data",
        "assign",
        "on_assignment",
        "on_revoked",
        "detach",
    ];
    let clusters = callbacks.map(|callback| (callback, cluster()));
    for (callback, cluster) in &clusters {
        let log = Log::default();
        let probe = Arc::new(Probe::new("probe", Eager).before(once(callback)));
        let member = log.during(|| {
            Member::join(
                &config(cluster),
                &Assignors::new().with(Arc::clone(&probe)),
                &["t"],
            )
        });
        eventually("the member has everything", || member.load() == 4);
        member.leave();
        assert_eq!(probe.events().last(), Some(&Event::Detach));
        let text = log.text();
        let line = text
            .lines()
            .find(|line| line.contains("assignor panicked"))
            .unwrap_or_default();
        for wanted in [
            "ERROR",
            "assignor=probe",
            &format!("callback=\"{callback}\""),
            "deliberate",
        ] {
            assert!(line.contains(wanted), "{wanted} is missing in {text:?}");
        }
        // The leader tried again; user data was empty.
        let groups = probe.groups();
        let rounds = if *callback == "assign" { 2 } else { 1 };
        assert!(groups.len() >= rounds, "{callback}: {}", groups.len());
        let user_data: &[u8] = if *callback == "subscription_user_data" {
            b""
        } else {
            b"subscription"
        };
        assert_eq!(groups[0].members[0].user_data.as_deref(), Some(user_data));
    }
}

#[test]
fn panic_while_dropping_the_assignor_is_contained() {
    struct Bomb(Probe);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("deliberate");
        }
    }
    impl rdkafka_assignor::assignor::Assignor for Bomb {
        fn name(&self) -> &str {
            "bomb"
        }
        fn assign(
            &self,
            group: &rdkafka_assignor::assignor::Group,
        ) -> Result<
            std::collections::BTreeMap<String, rdkafka_assignor::assignor::Assignment>,
            AssignorError,
        > {
            self.0.assign(group)
        }
    }
    let cluster = cluster();
    let assignors = Assignors::new().with(Bomb(Probe::new("inner", Eager)));
    let member = Member::join(&config(&cluster), &assignors, &["t"]);
    drop(assignors);
    eventually("the member has everything", || member.load() == 4);
    member.leave();
}

#[test]
fn leader_tries_again_when_its_assignor_refuses() {
    let cluster = cluster();
    let failures = AtomicBool::new(true);
    let probe = Arc::new(Probe::new("probe", Cooperative).deciding(move |group| {
        if failures.swap(false, Ordering::Relaxed) {
            return Err(AssignorError("not today: é".repeat(200)));
        }
        Ok(deal(group))
    }));
    let member = Member::join(
        &config(&cluster),
        &Assignors::new().with(Arc::clone(&probe)),
        &["t"],
    );
    eventually("the member has everything", || member.load() == 4);
    assert!(probe.groups().len() >= 2);
}

#[test]
fn refused_pieces_of_a_target_are_logged_where_the_application_logs() {
    let cluster = cluster();
    let log = Log::default();
    let probe = Arc::new(Probe::new("probe", Eager).deciding(|group| {
        let mut target = deal(group);
        let mine = target.values_mut().next().unwrap();
        mine.partitions.get_mut("t").unwrap().extend([0, 4, -1]);
        mine.partitions.insert("u".into(), vec![0]);
        target.insert("stranger".into(), Default::default());
        Ok(target)
    }));
    let member =
        log.during(|| Member::join(&config(&cluster), &Assignors::new().with(probe), &["t"]));
    eventually("the valid rest is delivered", || member.load() == 4);
    let text = log.text();
    for wanted in [
        "t 4, given to",
        "t -1, given to",
        "has been given already",
        "u, given to",
        "stranger is not a member",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in {text}");
    }
}
