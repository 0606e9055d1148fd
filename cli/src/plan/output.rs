//! The plan as JSON, keys and partitions sorted; the format is specified in this crate's README.md.
use std::collections::BTreeMap;
use std::io::{self, Write};

use rdkafka_assignor::engine;
use serde::{Serialize, Serializer};

use super::input::Input;
use super::routes::{Routes, routes};
use crate::moves::{kind, role};

/// What `--json` prints; fields in the order of their names.
#[derive(Serialize)]
pub struct Output<'a> {
    errors: Vec<Error<'a>>,
    members: BTreeMap<&'a str, Member<'a>>,
    report: Report<'a>,
    routes: Routes<'a>,
    warnings: Vec<Warning<'a>>,
}

type Partitions = BTreeMap<String, Vec<u32>>;

#[derive(Serialize)]
struct Member<'a> {
    active: &'a Partitions,
    global: BTreeMap<&'a str, Whole>,
    standby: &'a Partitions,
}

/// All partitions of a table of this size, as an array.
struct Whole(u32);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(0..self.0)
    }
}

#[derive(Serialize)]
struct Error<'a> {
    detail: &'a str,
    kind: &'a str,
}

#[derive(Serialize)]
struct Warning<'a> {
    detail: &'a str,
    kind: &'a str,
    member: Option<&'a str>,
}

#[derive(Serialize)]
struct Report<'a> {
    active_cold: u64,
    active_moved: u64,
    active_spread: u64,
    moves: Vec<Move<'a>>,
    standby_moved: u64,
    standby_spread: u64,
}

/// A move has topics if it is an active's, and a table if it is a standby's.
#[derive(Serialize)]
struct Move<'a> {
    from: Option<&'a str>,
    kind: &'a str,
    partition: u32,
    reason: &'a str,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<&'a str>,
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topics: Option<&'a [String]>,
}

impl<'a> Output<'a> {
    /// The plan for this input.
    pub fn new(input: &'a Input, plan: &'a engine::Plan) -> Self {
        Output {
            errors: plan.errors.iter().map(error).collect(),
            members: plan
                .members
                .iter()
                .map(|(id, share)| (id.as_str(), member(share)))
                .collect(),
            report: report(&plan.report),
            routes: routes(input, plan),
            warnings: plan.warnings.iter().map(warning).collect(),
        }
    }

    /// One line.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }
}

fn member(share: &engine::MemberPlan) -> Member<'_> {
    Member {
        active: &share.active,
        global: share
            .global
            .iter()
            .map(|(table, count)| (table.as_str(), Whole(*count)))
            .collect(),
        standby: &share.standby,
    }
}

fn error(error: &engine::GroupError) -> Error<'_> {
    Error {
        detail: &error.detail,
        kind: error.kind.name(),
    }
}

fn warning(warning: &engine::Warning) -> Warning<'_> {
    Warning {
        detail: &warning.detail,
        kind: warning.kind.name(),
        member: warning.member.as_deref(),
    }
}

fn report(report: &engine::Report) -> Report<'_> {
    Report {
        active_cold: report.active_cold,
        active_moved: report.active_moved,
        active_spread: report.active_spread,
        moves: report.moves.iter().map(one_move).collect(),
        standby_moved: report.standby_moved,
        standby_spread: report.standby_spread,
    }
}

fn one_move(one: &engine::Move) -> Move<'_> {
    let (table, topics) = match one.role {
        engine::Role::Active => (None, Some(one.names.as_slice())),
        engine::Role::Standby => (one.names.first().map(String::as_str), None),
    };
    Move {
        from: one.from.as_deref(),
        kind: kind(one.kind),
        partition: one.partition,
        reason: &one.reason,
        role: role(one.role),
        table,
        to: one.to.as_deref(),
        topics,
    }
}
