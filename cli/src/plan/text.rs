//! The plan for a person: tables, and one line per move, warning and error.
use std::collections::BTreeMap;
use std::io::{self, Write};

use comfy_table::Table;
use rdkafka_assignor::engine;

use super::input::Input;
use super::routes::{Route, Routes, routes};
use crate::moves;
use crate::ranges::{by_name, ranges, whole_by_name};
use crate::table::table;

/// Moves and warnings that are printed before the rest is only counted.
const MOST_LINES: usize = 100;

/// Writes the plan.
pub fn write(input: &Input, plan: &engine::Plan, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", members(plan))?;
    list(out, "Moves", plan.report.moves.iter().map(moves::line))?;
    let routes = routes(input, plan);
    if routes
        .values()
        .flatten()
        .any(|route| *route != Route::default())
    {
        writeln!(out, "\n{}", hosts(&routes))?;
    }
    list(out, "Warnings", plan.warnings.iter().map(warning))?;
    list(
        out,
        "Errors",
        plan.errors.iter().map(|error| error.detail.clone()),
    )?;
    writeln!(out, "\n{}", report(&plan.report))
}

fn members(plan: &engine::Plan) -> Table {
    let mut table = table(["member", "actives", "standbys", "global"]);
    for (id, share) in &plan.members {
        let (actives, standbys) = (by_name(&share.active), by_name(&share.standby));
        table.add_row([id, &actives, &standbys, &whole_by_name(&share.global)]);
    }
    table
}

/// Partitions of one table that one host serves.
#[derive(Default)]
struct Served {
    active: Vec<u32>,
    standby: Vec<u32>,
}

fn hosts(routes: &Routes<'_>) -> Table {
    let mut table = table(["table", "host", "active", "standby"]);
    for (name, partitions) in routes {
        for (host, served) in served(partitions) {
            table.add_row([
                name,
                host,
                &ranges(&served.active),
                &ranges(&served.standby),
            ]);
        }
    }
    table
}

/// By host; the partitions that nobody serves are served by a dash.
fn served<'a>(partitions: &[Route<'a>]) -> BTreeMap<&'a str, Served> {
    let mut served: BTreeMap<&str, Served> = BTreeMap::new();
    for (partition, route) in (0..).zip(partitions) {
        served
            .entry(route.active.unwrap_or("-"))
            .or_default()
            .active
            .push(partition);
        for host in &route.standby {
            served.entry(host).or_default().standby.push(partition);
        }
    }
    served
}

fn warning(warning: &engine::Warning) -> String {
    match &warning.member {
        Some(member) => format!("{member}: {}", warning.detail),
        None => warning.detail.clone(),
    }
}

fn report(report: &engine::Report) -> String {
    format!(
        "active: {} moved, {} cold, spread {}; standby: {} to be built, spread {}",
        report.active_moved,
        report.active_cold,
        report.active_spread,
        report.standby_moved,
        report.standby_spread
    )
}

fn list(
    out: &mut impl Write,
    head: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let rest = lines.len().saturating_sub(MOST_LINES);
    for (number, line) in lines.take(MOST_LINES).enumerate() {
        if number == 0 {
            writeln!(out, "\n{head}")?;
        }
        writeln!(out, "  {line}")?;
    }
    match rest {
        0 => Ok(()),
        rest => writeln!(out, "  and {rest} more; --json has them all"),
    }
}
