//! What is written, read back.
use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use rdkafka_assignor_protocol::SubscriptionUserData;
use tracing::{Dispatch, Level};

use super::*;
use crate::assignor::{Assignor, Member, RebalanceProtocol, Topic, TopicPartitions};
use crate::copartitioned::Copartitioned;
use crate::delivered::{DeliveredError, DeliveredKind};
use crate::plugin::Client;

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("no writer panics")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// With a single subscriber in the process, tracing asks the thread that first comes by an event whether anybody wants
/// it, and other tests' threads say no for all.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// What is logged at this level and above while `run` runs, line by line.
fn logged(level: Level, run: impl FnOnce()) -> Vec<String> {
    let page = Page::default();
    let writer = page.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    LazyLock::force(&SECOND);
    tracing::subscriber::with_default(subscriber, run);
    let bytes = page.0.lock().expect("no writer panics").clone();
    let text = String::from_utf8(bytes).expect("text");
    text.lines().map(str::to_owned).collect()
}

/// What the leader of this group logs.
fn decided(level: Level, members: Vec<Member>) -> Vec<String> {
    let assignor = Copartitioned::builder("shop")
        .protocol(RebalanceProtocol::Cooperative)
        .build();
    let group = Group {
        id: "group".to_owned(),
        generation: 5,
        leader: "a".to_owned(),
        topics: [("orders", 8), ("users", 8)]
            .map(|(name, count)| (name.to_owned(), topic(count)))
            .into(),
        members,
    };
    let assignor = assignor.expect("valid settings");
    logged(level, || {
        drop(assignor.assign(&group).expect("a leader always answers"))
    })
}

fn topic(partitions: i32) -> Topic {
    Topic {
        partitions,
        replica_racks: Vec::new(),
    }
}

fn member(id: &str, owned: &[i32]) -> Member {
    let said = SubscriptionUserData {
        host: (id == "a").then(|| "10.0.0.1:80".to_owned()),
        ..SubscriptionUserData::new("shop")
    };
    let topics = ["orders", "users"].map(str::to_owned);
    Member {
        id: id.to_owned(),
        owned: Some(
            topics
                .iter()
                .map(|topic| (topic.clone(), owned.to_vec()))
                .collect(),
        ),
        topics: topics.into(),
        generation: Some(4),
        user_data: said.encode().ok(),
        ..Member::default()
    }
}

fn with(lines: &[String], words: &str) -> Vec<String> {
    lines
        .iter()
        .filter(|line| line.contains(words))
        .cloned()
        .collect()
}

#[test]
fn a_leader_logs_what_every_member_gets_in_ranges() {
    let lines = decided(
        Level::INFO,
        vec![member("a", &[0, 1, 2, 7]), member("b", &[])],
    );
    let own = with(&lines, r#"assigns member="a" host="10.0.0.1:80""#);
    assert_eq!(own.len(), 1);
    assert!(
        own[0].contains(r#"active="orders 0-2,7; users 0-2,7""#),
        "{own:?}"
    );
    let other = with(&lines, r#"assigns member="b""#);
    assert!(
        other[0].contains(r#"active="orders 3-6; users 3-6" withheld="-""#),
        "{other:?}"
    );
}

#[test]
fn a_rebalance_is_a_span_with_its_figures() {
    let lines = decided(
        Level::INFO,
        vec![member("a", &[0, 1, 2, 3, 4, 5]), member("b", &[])],
    );
    let end = with(&lines, "rebalanced");
    assert_eq!(end.len(), 1);
    let figures =
        r#"rebalance{group="group" generation=5 leader="a" members=2 topics=2 duration_us="#;
    assert!(end[0].contains(figures), "{end:?}");
    assert!(
        end[0].contains("moved=4 promoted=0 cold=0 standbys=0 bytes="),
        "{end:?}"
    );
}

#[test]
fn reasons_of_moves_are_for_debugging() {
    let members = vec![member("a", &[0, 1, 2, 3, 4, 5]), member("b", &[])];
    assert_eq!(
        with(&decided(Level::INFO, members.clone()), "kind=Moved"),
        Vec::<String>::new()
    );
    let lines = decided(Level::DEBUG, members);
    let moves = with(&lines, r#"kind=Moved names="orders,users""#);
    assert_eq!(moves.len(), 2);
    assert!(moves[0].contains(r#"from="a" to="b""#), "{moves:?}");
}

#[test]
fn what_was_not_understood_is_a_warning_with_the_members_id() {
    let mut b = member("b", &[]);
    b.user_data = Some(b"garbage".to_vec());
    let warnings = decided(Level::WARN, vec![member("a", &[]), b]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("WARN"), "{warnings:?}");
    assert!(
        warnings[0]
            .contains(r#"group="group" generation=5 member="b" kind="unreadable-user-data""#),
        "{warnings:?}"
    );
}

#[test]
fn a_huge_group_is_logged_in_bounded_length() {
    let broken = |number: usize| Member {
        user_data: Some(vec![1]),
        ..member(&format!("{number}{}", "x".repeat(5_000)), &[])
    };
    let lines = decided(Level::TRACE, (0..500).map(broken).collect());
    assert!(lines.len() < 4 * (MOST_LINES + 2), "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.len() < 8 * LONGEST));
    assert_eq!(with(&lines, "assigns to more members more=400").len(), 1);
    assert_eq!(
        with(&lines, r#"more warnings group="group" more=400"#).len(),
        1
    );
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let odd: Vec<u32> = (0..5_000).map(|p| 2 * p).collect();
    let sets = |n: u32| (format!("topic{n}"), odd.iter().copied().collect());
    let text = listed(&(0..10).map(sets).collect());
    assert!(text.len() < 3 * LONGEST, "{}", text.len());
    assert!(text.ends_with("; and 9 more"), "{text}");
}

#[test]
fn a_leader_logs_errors_with_group_and_member_whatever_the_level() {
    let led = Led {
        group: "group".to_owned(),
        generation: 5,
        errors: vec![DeliveredError {
            kind: DeliveredKind::NoSuchTopic,
            text: "users does not exist".to_owned(),
        }],
        ..Led::default()
    };
    let lines = logged(Level::ERROR, || {
        super::led(&Span::none(), &led, "a", Duration::ZERO);
    });
    assert_eq!(lines.len(), 1);
    let line = r#"users does not exist group="group" member="a" generation=5 code=4"#;
    assert!(lines[0].contains(line), "{lines:?}");
}

#[test]
fn members_cannot_write_lines_of_their_own() {
    let lines = decided(
        Level::WARN,
        vec![Member {
            user_data: None,
            ..member("a\nERROR all is lost\u{1b}[2J", &[])
        }],
    );
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].contains('\u{1b}'), "{lines:?}");
}

#[test]
fn a_member_logs_its_own_assignment_and_the_leaders_errors() {
    let client = Client::detached("client", "group");
    let assigned_to = Assigned {
        client: &client,
        member: "a",
        generation: 5,
        partitions: &TopicPartitions::new(),
        user_data: &[],
    };
    let held = Held {
        active: PartitionSets::from([("orders".to_owned(), (0..4_u32).collect())]),
        global: ["rates", "regions"].map(|name| (name.to_owned(), 2)).into(),
        errors: vec![DeliveredError {
            kind: DeliveredKind::NoSuchTopic,
            text: "users does not exist".to_owned(),
        }],
        ..Held::default()
    };
    let lines = logged(Level::INFO, || assigned(&assigned_to, &held));
    assert!(
        lines[0].contains(r#"group="group" client="client" member="a" generation=5 active="orders 0-3" standby="-" global="rates; regions""#),
        "{lines:?}"
    );
    assert!(
        lines[1].contains("ERROR")
            && lines[1].contains(
                r#"users does not exist group="group" client="client" member="a" generation=5 code=4"#
            ),
        "{lines:?}"
    );
}
