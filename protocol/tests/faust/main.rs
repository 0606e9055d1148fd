//! What a real Faust group wrote, and what a hostile one may.
//!
//! `group.jsonl` holds whole leader runs of faust-streaming 0.15.3: user data as its members sent it and as its leader
//! answered, as bytes and as the fields that Faust itself read from them. Every byte string in it is looked at.
use rdkafka_assignor_protocol::consumer::{Assignment, DecodeError, Subscription, TopicPartitions};
use rdkafka_assignor_protocol::{
    FaustDistribution, FaustPartitions, FaustUserData, MAX_FAUST_JSON, ReadFaustError,
};
use serde_json::{Value, json};

#[path = "../user_data/support.rs"]
#[expect(dead_code, reason = "shared with the tests of our own user data")]
mod support;

fn cases() -> Vec<Value> {
    let lines = include_str!("group.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect()
}

fn members(case: &Value) -> impl Iterator<Item = &Value> {
    case["members"].as_array().expect("members").iter()
}

fn results(case: &Value) -> impl Iterator<Item = &Value> {
    let results = case["result"].as_object();
    results.into_iter().flat_map(|results| results.values())
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().expect("a string").as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Every string of bytes in the fixture, whatever it is called.
fn byte_strings(value: &Value, found: &mut Vec<Vec<u8>>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.ends_with("_hex") && value.is_string() {
                    true => found.push(bytes(value)),
                    false => byte_strings(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| byte_strings(item, found)),
        _ => (),
    }
}

fn distribution(distribution: &Option<FaustDistribution>) -> Value {
    json!(distribution)
}

/// The fields as the fixture writes them; those that Faust did not write are null.
fn fields(read: &FaustUserData) -> Value {
    json!({
        "assignment": read.assignment.as_ref().map(|assignment| json!({
            "actives": assignment.actives, "standbys": assignment.standbys})),
        "url": read.url,
        "changelog_distribution": distribution(&read.changelog_distribution),
        "external_topic_distribution": distribution(&read.external_topic_distribution),
        "topic_groups": read.topic_groups,
    })
}

#[track_caller]
fn same(read: &FaustUserData, written: &Value, case: &Value) {
    for (name, value) in fields(read).as_object().expect("fields") {
        assert_eq!(value, &written[name], "{}: {name}", case["case_id"]);
    }
}

#[test]
fn what_members_sent_is_read_as_faust_read_it() {
    let (mut read, mut refused) = (0, Vec::new());
    for case in &cases() {
        for member in members(case) {
            let sent = bytes(&member["user_data_hex"]);
            match FaustUserData::decode(&sent) {
                Ok(found) => {
                    let text = member["user_data_text"].as_str().expect("text");
                    same(&found, &serde_json::from_str(text).expect("JSON"), case);
                    assert!(!found.compressed);
                    read += 1;
                }
                Err(error) => {
                    assert_eq!(error, ReadFaustError::NotFaust);
                    refused.push(case["case_id"].as_str().expect("an id").to_owned());
                }
            }
        }
    }
    // One member sent nothing at all, another `ff fe 00`.
    assert_eq!(refused, ["grp-compat-04", "grp-compat-05"]);
    assert_eq!(read, 70, "the fixture is whole");
}

#[test]
fn what_the_leader_answered_is_read_as_faust_read_it() {
    let mut answers = 0;
    for case in &cases() {
        for result in results(case) {
            let found = FaustUserData::decode(&bytes(&result["user_data_hex"])).expect("readable");
            same(&found, &result["user_data"], case);
            assert!(found.compressed);
            answers += 1;
        }
    }
    assert_eq!(answers, 63, "the fixture is whole");
}

#[test]
fn whole_assignments_and_the_next_subscriptions_are_read() {
    let mut whole = 0;
    for case in &cases() {
        for result in results(case).filter(|result| result["member_assignment_hex"].is_string()) {
            let assignment = Assignment::decode(&bytes(&result["member_assignment_hex"]));
            let assignment = assignment.expect("readable");
            let pair = |t: &TopicPartitions| json!([t.topic, t.partitions]);
            let partitions: Vec<Value> = assignment.partitions.iter().map(pair).collect();
            assert_eq!(json!(partitions), result["protocol_assignment"]);
            let user_data = assignment.user_data.expect("not null");
            assert_eq!(user_data, bytes(&result["user_data_hex"]));

            let next = FaustUserData::decode(&bytes(&result["next_subscription_user_data_hex"]));
            same(&next.expect("readable"), &result["user_data"], case);
            whole += 1;
        }
    }
    assert_eq!(whole, 5, "the fixture is whole");
}

#[test]
fn a_subscription_stops_where_faust_stops() {
    for case in &cases() {
        for member in members(case) {
            let names = member["subscription"].as_array().expect("topics").iter();
            let sent = Subscription {
                topics: names.map(|t| t.as_str().expect("a name").into()).collect(),
                user_data: Some(bytes(&member["user_data_hex"])),
                ..Subscription::default()
            };
            let mut written = sent
                .encode(rdkafka_assignor_protocol::consumer::Version::V0)
                .unwrap();
            written[1] = 4;
            let inspected = Subscription::inspect(&written);
            assert_eq!((inspected.version, &inspected.subscription), (4, &sent));
            let field = "owned_partitions";
            assert_eq!(inspected.fault, Some(DecodeError::Truncated { field }));
        }
    }
}

#[test]
fn cut_and_flipped_bytes_are_read_or_refused() {
    let mut found = Vec::new();
    cases()
        .iter()
        .for_each(|case| byte_strings(case, &mut found));
    found.sort();
    found.dedup();
    assert!(found.len() > 50, "{}", found.len());
    for whole in &found {
        for end in 0..whole.len() {
            let cut = FaustUserData::decode(&whole[..end]);
            assert!(cut.is_err(), "what is cut is not whole");
        }
        let mut flipped = whole.clone();
        for place in 0..whole.len() {
            flipped[place] ^= 1 << (place % 8);
            if let Err(ReadFaustError::Malformed { reason }) = FaustUserData::decode(&flipped) {
                assert!(
                    reason.len() < 1000 && !reason.contains(char::is_control),
                    "{reason}"
                );
            }
            flipped[place] = whole[place];
        }
    }
}

#[track_caller]
fn malformed(json: &str, why: &str) {
    match FaustUserData::decode(json.as_bytes()) {
        Err(ReadFaustError::Malformed { reason }) => assert!(reason.contains(why), "{reason}"),
        other => panic!("{json}: {other:?}"),
    }
}

#[test]
fn a_fault_is_named_with_the_path_to_it() {
    let path = "assignment.actives.a[1]: invalid type: string \"x\"";
    malformed(r#"{"assignment": {"actives": {"a": [0, "x"]}}}"#, path);
    malformed(
        r#"{"assignment": {"actives": {"a": [3000000000]}}}"#,
        "3000000000",
    );
    malformed(r#"{"url": 1}"#, "url: invalid type");
    malformed(r#"{"topic_groups": []}"#, "topic_groups: invalid type");
    malformed(r#"{"url": "a"} {}"#, "trailing characters");
    malformed(r#"{"url": "a""#, "EOF");
    malformed("{\"url\": \"\u{1}\"}", "control character");
    malformed(
        "{\"assignment\": {\"actives\": {\"\\u001b[2J\": 7}}}",
        "\u{fffd}[2J",
    );
    malformed(
        &format!("{{\"url\": \"a\", \"deep\": {}", "[".repeat(100_000)),
        "EOF",
    );
}

#[test]
fn a_quoted_reason_has_a_limit() {
    let name = "n".repeat(100_000);
    let json = format!(r#"{{"assignment": {{"actives": {{"{name}": 7}}}}}}"#);
    match FaustUserData::decode(json.as_bytes()) {
        Err(ReadFaustError::Malformed { reason }) => assert_eq!(reason.chars().count(), 200),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_fausts_is_not_taken_for_it() {
    for other in [
        "",
        "[]",
        "null",
        "7",
        "{}",
        r#"{"version": 1}"#,
        "\u{feff}{}",
        "RKAS",
    ] {
        let read = FaustUserData::decode(other.as_bytes());
        assert_eq!(read, Err(ReadFaustError::NotFaust), "{other}");
    }
}

/// The zlib stream of these bytes.
fn stream(inflated: &[u8]) -> Vec<u8> {
    support::part(inflated)[4..].to_vec()
}

#[test]
fn sizes_are_limited_before_and_after_inflation() {
    let padded = |length: usize| {
        let json = br#"{"url":"a"}"#;
        [&json[..], &vec![b' '; length - json.len()]].concat()
    };
    let most = padded(MAX_FAUST_JSON);
    assert!(FaustUserData::decode(&most).is_ok());
    assert!(FaustUserData::decode(&stream(&most)).is_ok());
    let more = padded(MAX_FAUST_JSON + 1);
    let too_large = |bytes: &[u8]| {
        let error = FaustUserData::decode(bytes).expect_err("too large");
        assert!(
            error.to_string().ends_with("larger than 4194304 bytes"),
            "{error}"
        );
    };
    too_large(&more);
    too_large(&stream(&more));
}

#[test]
fn bytes_after_a_stream_are_refused() {
    let twice = [stream(br#"{"url":"a"}"#), vec![0]].concat();
    let error = FaustUserData::decode(&twice).expect_err("trailing");
    assert_eq!(error.to_string(), "faust: trailing bytes");
}

#[test]
fn numbers_stay_as_they_were_written() {
    let json = br#"{"assignment": {"actives": {"a": [2, -1, 2]}}}"#;
    let read = FaustUserData::decode(json).expect("readable");
    let expected: FaustPartitions = [("a".to_owned(), vec![2, -1, 2])].into();
    assert_eq!(read.assignment.unwrap_or_default().actives, expected);
}
