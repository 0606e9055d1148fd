//! `assignor decode`: what everybody writes is read, from wherever it comes, and what nobody writes is a sentence.
use std::io::Write;
use std::process::{Command, Output, Stdio};

use rdkafka_assignor_protocol::consumer::{Assignment, Subscription, TopicPartitions, Version};
use rdkafka_assignor_protocol::{
    AssignmentUserData, Delivered, GlobalTable, GroupRoutes, PartitionSet, Routes, Served,
    ServedCopy, SubscriptionUserData, Table,
};
use serde_json::{Value, json};

fn decode(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_assignor"))
        .arg("decode")
        .args(arguments)
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = child.stdin.take().expect("a pipe");
    // A command that refuses its arguments does not read.
    let _ = input.write_all(stdin);
    drop(input);
    child.wait_with_output().expect("the command ends")
}

#[track_caller]
fn stdout(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[track_caller]
fn as_json(bytes: &[u8]) -> Value {
    let output = decode(&["--json", "-"], bytes);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

#[track_caller]
fn as_text(bytes: &[u8]) -> String {
    stdout(&decode(&["-"], bytes))
}

/// Refused with one sentence that says `why`, and nothing on stdout.
#[track_caller]
fn refused(arguments: &[&str], stdin: &[u8], why: &str) {
    let output = decode(arguments, stdin);
    let sentence = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{sentence}");
    assert!(output.stdout.is_empty());
    assert!(sentence.starts_with("error: "), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    assert!(sentence.contains(why), "{sentence} does not say {why}");
    assert!(sentence.len() < 1000, "{sentence}");
}

fn topic(topic: &str, partitions: &[i32]) -> TopicPartitions {
    TopicPartitions {
        topic: topic.to_owned(),
        partitions: partitions.to_vec(),
    }
}

fn set(numbers: impl IntoIterator<Item = u32>) -> PartitionSet {
    numbers.into_iter().collect()
}

/// A member with something to say in every field.
fn member() -> SubscriptionUserData {
    let mut member = SubscriptionUserData::new("shop");
    member.generation = Some(7);
    member.host = Some("10.0.0.1:8080".into());
    member.rack = Some("a".into());
    member.active.generation = Some(7);
    let active = [("orders".into(), set([0, 1, 2, 3, 7]))];
    member.active.partitions = active.into();
    member.standby.partitions = [("counts".into(), set([4]))].into();
    member.local_state = [("counts".into(), set([4, 5]))].into();
    member.tables = vec![Table {
        name: "counts".into(),
        source: "orders".into(),
        changelog: "shop-counts-changelog".into(),
    }];
    let (name, partitions) = ("countries".into(), 4);
    member.global_tables = vec![GlobalTable { name, partitions }];
    member.standby_replicas = 1;
    member.copartition = Some(vec![vec!["orders".into(), "users".into()]]);
    member.lag = [("counts".into(), [(4, 100)].into())].into();
    member.nonce = u64::MAX;
    member
}

fn routes() -> Routes {
    let served = |host, partitions| Served { host, partitions };
    let copy = ServedCopy {
        host: 1,
        tables: vec![0],
        partitions: set(0..4),
    };
    let group = GroupRoutes {
        topics: vec!["orders".into()],
        tables: vec!["counts".into()],
        partitions: 8,
        active: vec![served(0, set(0..4)), served(1, set(4..8))],
        standby: vec![copy],
    };
    Routes {
        hosts: vec!["h1:1".into(), "h2:1".into()],
        groups: vec![group],
    }
}

/// What the member above is given.
fn share() -> AssignmentUserData {
    let (name, partitions) = ("countries".into(), 4);
    AssignmentUserData {
        generation: Some(8),
        epoch: 3,
        standby: [("counts".into(), set([4, 5]))].into(),
        global: vec![GlobalTable { name, partitions }],
        errors: vec![Delivered {
            code: 1,
            text: "orders has 8 partitions".into(),
        }],
    }
}

/// What that member sends.
fn subscription() -> Subscription {
    Subscription {
        topics: vec!["orders".into(), "users".into()],
        user_data: Some(member().encode().expect("writable")),
        owned: vec![topic("orders", &[0, 1, 2, 3, 7])],
        generation: Some(7),
        rack: Some("a".into()),
    }
}

#[test]
fn a_subscription_of_ours_is_shown_whole() {
    let bytes = subscription().encode(Version::V3).expect("writable");
    let expected = json!({
        "kind": "subscription", "version": 3, "topics": ["orders", "users"],
        "owned": [{"topic": "orders", "partitions": [0, 1, 2, 3, 7]}], "generation": 7, "rack": "a",
        "user_data": {
            "kind": "copartitioned-subscription", "version": 1, "min_reader": 1, "generation": 7,
            "app": "shop", "host": "10.0.0.1:8080", "rack": "a", "capacity": 1,
            "active": {"generation": 7, "partitions": {"orders": [[0, 3], [7, 7]]}},
            "standby": {"generation": null, "partitions": {"counts": [[4, 4]]}},
            "local_state": {"counts": [[4, 5]]},
            "tables": [{"name": "counts", "source": "orders", "changelog": "shop-counts-changelog"}],
            "global_tables": [{"name": "countries", "partitions": 4}],
            "standby_replicas": 1, "copartition": [["orders", "users"]],
            "lag": {"counts": {"4": 100}}, "nonce": u64::MAX,
        },
    });
    assert_eq!(as_json(&bytes), expected);
    let text = as_text(&bytes);
    for line in [
        "topics orders, users\n",
        "owned\n  orders 0-3,7\n",
        "  active\n    generation 7\n    partitions\n      orders 0-3,7\n",
        "    name counts; source orders; changelog shop-counts-changelog\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

/// README.md shows it; `BLESS=1` writes it anew.
#[test]
fn the_sample_is_what_a_member_sends() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decode/subscription.hex");
    let bytes = subscription().encode(Version::V3).expect("writable");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(sample, format!("{hex}\n")).expect("writable");
    }
    assert_eq!(
        std::fs::read_to_string(sample)
            .expect("readable")
            .trim_end(),
        hex
    );
}

#[test]
fn an_assignment_of_ours_is_shown_with_its_routes() {
    let routes = routes().encode().expect("writable");
    let user_data = share().encode(Some(&routes)).expect("writable");
    let assignment = Assignment {
        partitions: vec![topic("orders", &[0, 1])],
        user_data: Some(user_data),
    };
    let expected = json!({
        "kind": "assignment", "version": 0,
        "partitions": [{"topic": "orders", "partitions": [0, 1]}],
        "user_data": {
            "kind": "copartitioned-assignment", "version": 1, "min_reader": 1, "generation": 8, "epoch": 3,
            "standby": {"counts": [[4, 5]]}, "global_tables": [{"name": "countries", "partitions": 4}],
            "errors": [{"code": 1, "text": "orders has 8 partitions"}],
            "routes": [{
                "topics": ["orders"], "tables": ["counts"], "partitions": 8,
                "active": [{"host": "h1:1", "partitions": [[0, 3]]}, {"host": "h2:1", "partitions": [[4, 7]]}],
                "standby": [{"host": "h2:1", "tables": ["counts"], "partitions": [[0, 3]]}],
            }],
        },
    });
    let bytes = assignment.encode(Version::V0).expect("writable");
    assert_eq!(as_json(&bytes), expected);
    assert!(
        as_text(&bytes).contains("        host h1:1; partitions 0-3\n"),
        "{}",
        as_text(&bytes)
    );
}

#[test]
fn broken_routes_do_not_hide_the_rest() {
    let routes = routes().encode().expect("writable");
    let mut user_data = share().encode(Some(&routes)).expect("writable");
    *user_data.last_mut().expect("bytes") ^= 1;
    let read = as_json(&user_data);
    assert_eq!(read["epoch"], 3);
    assert_eq!(
        read["routes"],
        json!({"unreadable": "routes: broken zlib stream"})
    );
}

#[test]
fn kafkas_own_assignors_are_read() {
    let sticky = b"\0\0\0\x01\0\x01a\0\0\0\x02\0\0\0\x04\0\0\0\x05\0\0\0\x07";
    let expected = json!({"kind": "sticky", "generation": 7,
        "previous": [{"topic": "a", "partitions": [4, 5]}]});
    assert_eq!(as_json(sticky), expected);
    assert_eq!(
        as_text(sticky),
        "kind sticky\ngeneration 7\nprevious\n  a 4-5\n"
    );
    let cooperative = json!({"kind": "cooperative-sticky", "generation": 7});
    assert_eq!(as_json(b"\0\0\0\x07"), cooperative);
    let subscription = Subscription {
        topics: vec!["a".into()],
        user_data: Some(vec![0, 0, 0, 7]),
        owned: vec![topic("a", &[1])],
        ..Subscription::default()
    };
    let bytes = subscription.encode(Version::V1).expect("writable");
    assert_eq!(as_json(&bytes)["user_data"], cooperative);
}

#[test]
fn user_data_of_nobody_does_not_hide_the_subscription() {
    let with = |user_data: Option<&[u8]>| {
        let subscription = Subscription {
            topics: vec!["a".into()],
            user_data: user_data.map(<[u8]>::to_vec),
            ..Subscription::default()
        };
        as_json(&subscription.encode(Version::V1).expect("writable"))["user_data"].clone()
    };
    assert_eq!(with(None), Value::Null);
    assert_eq!(with(Some(b"")), json!({"kind": "empty"}));
    let unreadable = with(Some(b"\xff\xfe\0"));
    assert_eq!(
        (&unreadable["kind"], &unreadable["bytes"]),
        (&json!("unreadable"), &json!("fffe00"))
    );
}

#[test]
fn bytes_come_from_a_file_standard_input_or_the_command_line() {
    let expected = decode(&["--hex", "00 00 00 07"], b"");
    assert_eq!(stdout(&expected), "kind cooperative-sticky\ngeneration 7\n");
    let file = std::env::temp_dir().join(format!("assignor-decode-{}", std::process::id()));
    std::fs::write(&file, [0, 0, 0, 7]).expect("writable");
    let from_file = decode(&[file.to_str().expect("UTF-8")], b"");
    std::fs::remove_file(&file).expect("removable");
    assert_eq!(from_file, expected);
    assert_eq!(decode(&["--base64", "AAAABw=="], b""), expected);
    assert_eq!(decode(&["-"], b"AAAA\nBw\n"), expected);
    assert_eq!(decode(&["-"], b"0000\n0007\n"), expected);
    assert_eq!(decode(&["-"], b"\0\0\0\x07"), expected);
}

#[test]
fn a_kind_is_forced() {
    let bytes = b"\0\0\0\0\0\0\xff\xff\xff\xff";
    assert_eq!(as_json(bytes)["kind"], "subscription");
    let forced = decode(&["--kind", "assignment", "-"], bytes);
    assert_eq!(
        stdout(&forced),
        "kind assignment\nversion 0\npartitions -\nuser_data -\n"
    );
    let forced = decode(&["--kind", "sticky", "-"], b"\0\0\0\0");
    assert_eq!(stdout(&forced), "kind sticky\ngeneration -\nprevious -\n");
    let trailing = b"\0\0\0\0\0\0\xff\xff\xff\xff\0";
    refused(&["-"], trailing, "there are bytes after its end");
    stdout(&decode(&["--kind", "subscription", "-"], trailing));
}

#[test]
fn later_versions_may_have_more_fields() {
    let mut bytes = subscription().encode(Version::V3).expect("writable");
    bytes[1] = 4;
    let known = as_json(&bytes);
    assert_eq!(
        (&known["kind"], &known["version"]),
        (&json!("subscription"), &json!(4))
    );
    bytes.extend(b"more");
    assert_eq!(as_json(&bytes), known);
    bytes[1] = 3;
    refused(&["-"], &bytes, "there are bytes after its end");
}

#[test]
fn a_fausts_subscription_says_where_it_stops() {
    let subscription = Subscription {
        topics: vec!["a".into()],
        user_data: Some(br#"{"url":"http://w1:6066","assignment":null}"#.to_vec()),
        ..Subscription::default()
    };
    let mut bytes = subscription.encode(Version::V0).expect("writable");
    bytes[1] = 4;
    let read = as_json(&bytes);
    assert_eq!(read["version"], 4);
    assert!(read["note"].as_str().expect("a note").contains("version 0"));
    assert_eq!(read["user_data"]["url"], "http://w1:6066");
    assert_eq!(read["user_data"]["actives"], Value::Null);
}

#[test]
fn what_cannot_be_read_is_a_sentence() {
    refused(&["-"], b"", "there are no bytes");
    refused(&["-"], b"\xff\xfe\0", "version -2 is not supported");
    refused(&["-"], b"{\"url\": 7}", "url: invalid type");
    refused(&["-"], b"{}", "not user data of Faust's assignor");
    refused(&["-"], b"x\x9c\0", "Faust's user data: faust: ");
    refused(&["-"], b"RKAS\x01\x01", "flags: truncated");
    refused(
        &["-"],
        b"RKAS\x02\x02\0\0\0\0\x07",
        "needs a reader of version 2",
    );
    refused(&["--hex", "0"], b"", "--hex: invalid length");
    refused(&["--hex", "0g"], b"", "--hex: invalid symbol");
    refused(&["--base64", "*"], b"", "--base64: invalid");
    refused(&["no-such-file"], b"", "cannot read no-such-file");
    refused(
        &["--kind", "faust", "--hex", "00"],
        b"",
        "not user data of Faust's assignor",
    );
    refused(
        &["--kind", "copartitioned", "--hex", "00"],
        b"",
        "not user data of this assignor",
    );
    refused(
        &["--kind", "sticky", "--hex", "00"],
        b"",
        "previous_assignment: truncated",
    );
    refused(
        &["--kind", "cooperative-sticky", "--hex", "00"],
        b"",
        "generation: truncated",
    );
    refused(
        &["--kind", "subscription", "--hex", "0000"],
        b"",
        "topics: truncated",
    );
    refused(
        &["--kind", "assignment", "--hex", "0000"],
        b"",
        "assigned_partitions: truncated",
    );
    refused(
        &["--kind", "user-data", "--hex", "00"],
        b"",
        "neither this assignor's",
    );
}

#[test]
fn more_than_any_metadata_is_refused() {
    refused(
        &["-"],
        &vec![0; (16 << 20) + 1],
        "standard input: larger than 16777216 bytes",
    );
}
