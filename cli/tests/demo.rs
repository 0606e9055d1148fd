//! `assignor demo` on its embedded cluster, as a user runs it.
use std::process::{Command, Output};

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assignor"))
        .arg("demo")
        .args(arguments)
        .env_remove("RUST_LOG")
        .output()
        .expect("the command runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// The part of the output that is about one step.
fn step<'a>(shown: &'a str, what: &str) -> &'a str {
    let steps = shown.split("\n# ");
    let step = steps
        .into_iter()
        .find(|step| step.lines().next().is_some_and(|line| line.contains(what)));
    step.unwrap_or_else(|| panic!("no step {what} in {shown}"))
}

#[track_caller]
fn shows_promotion_and_misses_nothing(arguments: &[&str]) {
    let output = demo(arguments);
    let shown = stdout(&output);
    assert!(
        output.status.success(),
        "{shown}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        step(&shown, "is killed").contains(", promoted: "),
        "{shown}"
    );
    assert!(step(&shown, "is killed").contains(" leads "), "{shown}");
    for what in ["join", "leaves", "takes the place"] {
        assert!(step(&shown, what).contains("\ngeneration "), "{shown}");
    }
    let verdict = shown.lines().last().unwrap_or_default();
    assert!(verdict.starts_with("good: "), "{shown}");
    assert!(
        verdict.contains(" join pairs met on one member, 0 records missed"),
        "{shown}"
    );
}

#[test]
fn a_cooperative_group_promotes_standbys_and_misses_nothing() {
    shows_promotion_and_misses_nothing(&["--protocol", "cooperative"]);
}

#[test]
fn an_eager_group_promotes_standbys_and_misses_nothing() {
    shows_promotion_and_misses_nothing(&[
        "--protocol",
        "eager",
        "--members",
        "2",
        "--partitions",
        "5",
    ]);
}

#[test]
fn a_group_without_standbys_promotes_nothing_and_misses_nothing() {
    let output = demo(&["--standbys", "0", "--members", "1", "--partitions", "1"]);
    assert!(output.status.success(), "{}", stdout(&output));
    assert!(!stdout(&output).contains("promoted"));
}

#[test]
fn a_cluster_that_does_not_answer_is_an_error() {
    let output = demo(&["--bootstrap", "127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: "));
}

#[test]
fn arguments_out_of_their_bounds_are_refused() {
    for arguments in [
        ["--members", "0"],
        ["--partitions", "0"],
        ["--protocol", "lazy"],
        ["--standbys", "-1"],
    ] {
        assert_eq!(demo(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}
