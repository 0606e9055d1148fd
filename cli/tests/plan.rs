//! `assignor plan`: described groups with their plans, and every way a description can be wrong.
//!
//! `tests/plan/NAME.json` is a group and `NAME.plan.json` what `--json` answers, without the words of reasons and
//! details, which may change. `BLESS=1` writes the answers anew.
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn assignor(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_assignor"))
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

fn plan(group: &str) -> Output {
    assignor(&["plan", "--json", "-"], group.as_bytes())
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8 on stderr")
}

fn groups() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let files = fs::read_dir(directory).expect("the directory is there");
    let paths = files.map(|file| file.expect("readable").path());
    paths
        .filter(|path| !path.to_string_lossy().ends_with(".plan.json"))
        .collect()
}

/// The plan without what is said in words, which has to be there.
fn without_words(mut plan: Value) -> Value {
    for (list, words) in [
        ("/warnings", "detail"),
        ("/errors", "detail"),
        ("/report/moves", "reason"),
    ] {
        let entries = plan
            .pointer_mut(list)
            .and_then(Value::as_array_mut)
            .expect("an array");
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            let said = entry.remove(words);
            assert!(said.is_some_and(|said| said.as_str().is_some_and(|said| !said.is_empty())));
        }
    }
    plan
}

/// Refused with one sentence that says all of `why`, and nothing on stdout.
#[track_caller]
fn refused(group: &str, why: &[&str]) {
    let output = plan(group);
    let sentence = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{group}: {sentence}");
    assert!(output.stdout.is_empty(), "{group}");
    assert!(sentence.starts_with("error: standard input"), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    for part in why {
        assert!(sentence.contains(part), "{sentence} does not say {part}");
    }
}

/// Refused wherever a member of `{"id": "m1", "topics": []}` has this too.
#[track_caller]
fn member_refused(field: &str, why: &[&str]) {
    let group =
        format!(r#"{{"topics": {{"a": 1}}, "members": [{{"id": "m1", "topics": [], {field}}}]}}"#);
    refused(&group, why);
}

#[test]
fn every_described_group_gets_its_plan() {
    let groups = groups();
    assert!(groups.len() >= 7);
    for group in groups {
        let output = plan(&fs::read_to_string(&group).expect("readable"));
        let answer = without_words(answer(&output));
        let planned = group.with_extension("plan.json");
        if std::env::var_os("BLESS").is_some() {
            let pretty = serde_json::to_string_pretty(&answer).expect("writable");
            fs::write(&planned, pretty + "\n").expect("writable");
        }
        let expected = fs::read_to_string(&planned).expect("a plan beside every group");
        let expected: Value = serde_json::from_str(&expected).expect("JSON");
        assert_eq!(answer, expected, "{}", group.display());
    }
}

#[test]
fn output_is_one_line_of_sorted_keys() {
    for group in groups() {
        let output = plan(&fs::read_to_string(&group).expect("readable"));
        // serde_json's own objects are sorted by key.
        let sorted = format!("{}\n", answer(&output));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            sorted,
            "{}",
            group.display()
        );
    }
}

#[test]
fn a_file_and_standard_input_give_the_same_plan() {
    for group in groups() {
        let path = group.to_str().expect("UTF-8");
        let from_file = assignor(&["plan", path, "--json"], b"");
        assert_eq!(
            from_file,
            plan(&fs::read_to_string(&group).expect("readable"))
        );
    }
}

#[test]
fn the_order_of_members_does_not_matter() {
    for group in groups() {
        let text = fs::read_to_string(&group).expect("readable");
        let mut turned: Value =
            serde_json::from_str(&text.replace("123456789012345678901234567890", "9"))
                .expect("JSON");
        let straight = plan(&turned.to_string());
        if let Some(members) = turned.get_mut("members").and_then(Value::as_array_mut) {
            members.reverse();
        }
        assert!(matches!(straight.status.code(), Some(0 | 1)));
        assert_eq!(plan(&turned.to_string()), straight, "{}", group.display());
    }
}

#[test]
fn errors_of_the_plan_are_sentences_and_the_plan_is_printed_all_the_same() {
    let group = r#"{"topics": {"a": 2, "b": 3, "c": 1, "d": 2}, "copartition": [["a", "b"], ["c", "d"]],
        "members": [{"id": "m1", "topics": ["a", "b", "c", "d"]}]}"#;
    let output = plan(group);
    assert_eq!(output.status.code(), Some(1));
    let errors = answer(&output)["errors"].clone();
    let details: BTreeSet<String> = errors
        .as_array()
        .expect("an array")
        .iter()
        .map(|error| format!("error: {}", error["detail"].as_str().expect("a sentence")))
        .collect();
    assert_eq!(details.len(), 2);
    let sentences: BTreeSet<String> = stderr(&output).lines().map(str::to_owned).collect();
    assert_eq!(sentences, details);
    let for_a_person = assignor(&["plan", "-"], group.as_bytes());
    assert_eq!(for_a_person.status.code(), Some(1));
    assert!(!for_a_person.stdout.is_empty());
}

#[test]
fn hostile_claims_are_warnings() {
    let digits = "9".repeat(400);
    let claims = format!(r#"[-1, 1, {digits}, -{digits}, -0]"#);
    let group = format!(
        r#"{{"topics": {{"a": 1, "b": 1}}, "tables": [{{"name": "t", "source": "a"}}],
            "members": [{{"id": "m1", "topics": ["a"], "active": {{"a": {claims}, "b": [0], "c": [9223372036854775807, -9223372036854775808]}},
            "standby": {{"t": {claims}, "u": [0]}}, "local_state": {{"t": {claims}, "u": {claims}}}}}]}}"#
    );
    let output = plan(&group);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer = answer(&output);
    let kinds: BTreeSet<&str> = answer["warnings"]
        .as_array()
        .expect("an array")
        .iter()
        .filter_map(|warning| warning["kind"].as_str())
        .collect();
    let expected = [
        "no-such-partition",
        "not-subscribed",
        "unknown-table",
        "unknown-topic",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    assert_eq!(answer["members"]["m1"]["active"], json!({"a": [0]}));
}

#[test]
fn no_claim_is_too_new() {
    let group = r#"{"topics": {"a": 1}, "members": [
        {"id": "m1", "topics": ["a"], "generation": 2147483647, "active": {"a": [0]}},
        {"id": "m2", "topics": ["a"], "generation": 2147483646, "active": {"a": [0]}}]}"#;
    let answer = answer(&plan(group));
    assert_eq!(answer["members"]["m1"]["active"], json!({"a": [0]}));
    assert_eq!(answer["warnings"][0]["kind"], "stale-claim");
}

#[test]
fn an_unknown_generation_is_the_oldest_however_it_is_written() {
    for unknown in ["", r#""generation": null,"#, r#""generation": -1,"#] {
        let group = format!(
            r#"{{"topics": {{"a": 1}}, "members": [
                {{"id": "m1", "topics": ["a"], {unknown} "active": {{"a": [0]}}}},
                {{"id": "m2", "topics": ["a"], "generation": 0, "active": {{"a": [0]}}}}]}}"#
        );
        assert_eq!(
            answer(&plan(&group))["members"]["m2"]["active"],
            json!({"a": [0]}),
            "{unknown}"
        );
    }
}

#[test]
fn partition_counts_reach_from_none_to_a_million() {
    let group = r#"{"topics": {"none": 0, "many": 1000000}, "global_tables": [{"name": "all", "partitions": 1000000}],
        "members": [{"id": "m1", "topics": ["none"]}]}"#;
    let output = plan(group);
    assert_eq!(output.status.code(), Some(0));
    let member = &answer(&output)["members"]["m1"];
    assert_eq!(member["active"], json!({}));
    assert_eq!(
        member["global"]["all"].as_array().map(Vec::len),
        Some(1_000_000)
    );
}

#[test]
fn one_standby_is_kept_where_nobody_says_otherwise() {
    let group = |replicas: &str| {
        let group = format!(
            r#"{{"topics": {{"a": 1}}, "tables": [{{"name": "t", "source": "a"}}] {replicas},
                "members": [{{"id": "m1", "topics": ["a"]}}, {{"id": "m2", "topics": ["a"]}}]}}"#
        );
        let members = answer(&plan(&group))["members"].clone();
        let members = members.as_object().expect("an object").values().cloned();
        members
            .filter(|member| member["standby"] == json!({"t": [0]}))
            .count()
    };
    assert_eq!(group(""), 1);
    assert_eq!(group(r#", "standby_replicas": 0"#), 0);
}

#[test]
fn routes_name_hosts_and_leave_out_members_without_one() {
    let group = r#"{"topics": {"a": 1}, "tables": [{"name": "t", "source": "a"}],
        "global_tables": [{"name": "g", "partitions": 1}], "members": [
        {"id": "m1", "topics": ["a"], "generation": 1, "active": {"a": [0]}},
        {"id": "m2", "topics": ["a"], "host": "h:1"}]}"#;
    assert_eq!(
        answer(&plan(group))["routes"],
        json!({"t": [{"active": null, "standby": ["h:1"]}]})
    );
}

#[test]
fn the_leader_topic_is_known_by_the_application() {
    let moves = |app: &str| {
        let group = format!(
            r#"{{{app} "topics": {{"a": 1, "s-__assignor-__leader": 1}},
                "members": [{{"id": "m1", "topics": ["a", "s-__assignor-__leader"]}},
                    {{"id": "m2", "topics": ["a", "s-__assignor-__leader"]}}]}}"#
        );
        answer(&plan(&group))["report"]["active_spread"].clone()
    };
    // It weighs nothing where it is the leader topic, and goes to the other member where it is not.
    assert_eq!(moves(r#""app": "s","#), 1);
    assert_eq!(moves(r#""app": "other", "copartition": [],"#), 0);
    assert_eq!(moves(r#""copartition": [],"#), 0);
}

#[test]
fn a_leader_topic_that_does_not_exist_yet_is_in_no_set() {
    let group = r#"{"app": "s", "topics": {"a": 2}, "copartition": [["a", "s-__assignor-__leader"]],
        "members": [{"id": "m1", "topics": ["a", "s-__assignor-__leader"]}]}"#;
    let output = plan(group);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer = answer(&output);
    assert_eq!(answer["members"]["m1"]["active"], json!({"a": [0, 1]}));
    assert_eq!(answer["warnings"][1]["kind"], "leader-topic");
}

#[test]
fn what_is_no_group_is_refused() {
    refused("", &["EOF"]);
    refused("{", &["EOF"]);
    refused("[]", &["expected an object"]);
    refused("{}", &["missing field `topics`"]);
    refused(r#"{"topics": {}} {}"#, &["trailing characters"]);
    refused(r#"{"topics": []}"#, &["topics", "expected an object"]);
    refused(
        r#"{"topics": {}, "members": {}}"#,
        &["members", "expected a sequence"],
    );
    refused(r#"{"topics": {}, "app": 1}"#, &["app", "expected a string"]);
}

#[test]
fn unknown_fields_are_refused_everywhere() {
    refused(r#"{"topics": {}, "topic": {}}"#, &["unknown field `topic`"]);
    refused(
        r#"{"topics": {}, "local_state": {}}"#,
        &["unknown field `local_state`"],
    );
    refused(
        r#"{"topics": {}, "generation": 1}"#,
        &["unknown field `generation`"],
    );
    member_refused(r#""x": 1"#, &["members[0]", "unknown field `x`"]);
    member_refused(
        r#""global_tables": []"#,
        &["members[0]", "unknown field `global_tables`"],
    );
    member_refused(
        r#""tables": [{"name": "t", "source": "a", "x": 1}]"#,
        &["members[0].tables[0]", "`x`"],
    );
    let table = r#"{"topics": {}, "tables": [{"name": "t", "source": "a", "x": 1}]}"#;
    refused(table, &["tables[0]", "unknown field `x`"]);
    let global = r#"{"topics": {}, "global_tables": [{"name": "t", "partitions": 1, "x": 1}]}"#;
    refused(global, &["global_tables[0]", "unknown field `x`"]);
}

#[test]
fn foreign_names_do_not_break_a_sentence() {
    refused(
        r#"{"topics": {}, "x\nerror: \u001b[31m": 1}"#,
        &[r"unknown field `x\nerror: \u{1b}[31m`"],
    );
    let group = r#"{"topics": {"a": 1}, "copartition": [["a", "b\nc"]], "members": [{"id": "m1", "topics": ["a"]}]}"#;
    let sentence = stderr(&plan(group));
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    assert!(sentence.contains(r"b\nc"), "{sentence}");
}

#[test]
fn missing_fields_are_refused_everywhere() {
    refused(
        r#"{"topics": {}, "members": [{"topics": []}]}"#,
        &["members[0]", "missing field `id`"],
    );
    refused(
        r#"{"topics": {}, "members": [{"id": "m"}]}"#,
        &["members[0]", "missing field `topics`"],
    );
    refused(
        r#"{"topics": {}, "tables": [{"name": "t"}]}"#,
        &["tables[0]", "missing field `source`"],
    );
    refused(
        r#"{"topics": {}, "tables": [{"source": "t"}]}"#,
        &["tables[0]", "missing field `name`"],
    );
    let global = r#"{"topics": {}, "global_tables": [{"name": "t"}]}"#;
    refused(global, &["global_tables[0]", "missing field `partitions`"]);
}

#[test]
fn keys_that_come_twice_are_refused_everywhere() {
    refused(
        r#"{"topics": {}, "topics": {}}"#,
        &["duplicate field `topics`"],
    );
    refused(
        r#"{"topics": {"a": 1, "a": 1}}"#,
        &["topics", "duplicate key `a`"],
    );
    member_refused(r#""id": "m2""#, &["members[0]", "duplicate field `id`"]);
    for claims in ["active", "standby", "local_state"] {
        let twice = format!(r#""{claims}": {{"a": [0], "a": [1]}}"#);
        member_refused(
            &twice,
            &[&format!("members[0].{claims}"), "duplicate key `a`"],
        );
    }
}

#[test]
fn numbers_out_of_their_bounds_are_refused() {
    for count in [
        "-1",
        "1000001",
        "99999999999999999999",
        "1.0",
        "1e2",
        "\"1\"",
        "null",
        "true",
    ] {
        refused(
            &format!(r#"{{"topics": {{"a": {count}}}}}"#),
            &["topics.a", "an integer from 0 to 1000000"],
        );
        let global = format!(
            r#"{{"topics": {{}}, "global_tables": [{{"name": "t", "partitions": {count}}}]}}"#
        );
        refused(
            &global,
            &[
                "global_tables[0].partitions",
                "an integer from 0 to 1000000",
            ],
        );
    }
    for capacity in ["0", "-1", "4294967296", "0.5", "null"] {
        member_refused(
            &format!(r#""capacity": {capacity}"#),
            &["members[0].capacity", "from 1 to 4294967295"],
        );
    }
    for replicas in ["-1", "4294967296", "null", "0.5"] {
        let why = ["standby_replicas", "from 0 to 4294967295"];
        refused(
            &format!(r#"{{"topics": {{}}, "standby_replicas": {replicas}}}"#),
            &why,
        );
        member_refused(&format!(r#""standby_replicas": {replicas}"#), &why);
    }
    for generation in ["2147483648", "-2147483649", "1.5", "\"7\""] {
        member_refused(
            &format!(r#""generation": {generation}"#),
            &["members[0].generation", "2147483647"],
        );
    }
}

#[test]
fn claims_that_are_no_integers_are_refused() {
    for claim in ["0.5", "1.0", "1e3", "\"0\"", "null", "[0]", "{}", "true"] {
        for claims in ["active", "standby", "local_state"] {
            let field = format!(r#""{claims}": {{"a": [0, {claim}]}}"#);
            member_refused(
                &field,
                &[&format!("members[0].{claims}.a[1]"), "expected an integer"],
            );
        }
    }
    member_refused(
        r#""active": {"a": 0}"#,
        &["members[0].active.a", "expected a sequence"],
    );
    member_refused(
        r#""active": [0]"#,
        &["members[0].active", "expected an object"],
    );
}

#[test]
fn arrays_are_not_taken_for_objects_nor_null_for_values() {
    refused(
        r#"{"topics": {}, "members": [["m1", []]]}"#,
        &["members[0]", "expected an object"],
    );
    refused(
        r#"{"topics": {}, "tables": [["t", "a"]]}"#,
        &["tables[0]", "expected an object"],
    );
    for key in ["app", "tables", "global_tables", "copartition", "members"] {
        refused(
            &format!(r#"{{"topics": {{}}, "{key}": null}}"#),
            &[key, "invalid type: null"],
        );
    }
    for key in ["active", "standby", "local_state", "tables", "copartition"] {
        member_refused(&format!(r#""{key}": null"#), &[key, "invalid type: null"]);
    }
    let member = r#"{"id": "m1", "topics": [], "instance": null, "host": null, "rack": null, "generation": null}"#;
    let output = plan(&format!(r#"{{"topics": {{}}, "members": [{member}]}}"#));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    for (path, why) in [
        ("no/such/file", "No such file"),
        (env!("CARGO_MANIFEST_DIR"), "directory"),
    ] {
        let output = assignor(&["plan", path], b"");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).starts_with(&format!("error: cannot read {path}: ")));
        assert!(stderr(&output).contains(why));
    }
    let output = assignor(&["plan", "-"], b"{\"topics\": {\"\xff\": 1}}");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: standard input is not UTF-8: "));
}

#[test]
fn arguments_that_are_wrong_have_status_2() {
    for arguments in [
        &["plan"][..],
        &["plan", "-", "-"],
        &["plan", "--jsno", "-"],
        &["plans"],
        &[],
    ] {
        let output = assignor(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!stderr(&output).is_empty());
    }
}
