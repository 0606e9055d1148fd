//! `assignor plan`: a group that is described in a file, and what the assignor would do with it.
//!
//! Input and output are specified in this crate's README.md. Exit status: 0 with a plan (warnings or not),
//! 1 with a plan that has errors, 2 without one.
mod input;
mod output;
mod routes;
mod strict;
mod text;

use std::fs;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use anyhow::Context;
use rdkafka_assignor::engine;

use input::Input;
use output::Output;

/// Arguments of `assignor plan`.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The group as JSON; `-` reads standard input.
    file: String,
    /// Print the plan as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

const HELP: &str = r#"Input, a JSON object; of all keys only `topics` is required, of a member `id` and `topics`:

  {"app": "shop", "topics": {"orders": 8, "users": 8, "audit": 3}, "standby_replicas": 1,
   "tables": [{"name": "counts", "source": "orders"}],
   "global_tables": [{"name": "countries", "partitions": 4}],
   "copartition": [["orders", "users"]],
   "members": [{"id": "m1", "instance": "i1", "host": "10.0.0.1:8080", "rack": "a", "capacity": 1,
     "topics": ["orders", "users"], "generation": 7,
     "active": {"orders": [0, 1], "users": [0, 1]}, "standby": {"counts": [2]}}]}

A member may carry its own `tables`, `standby_replicas` and `copartition` instead of the common ones, and
`local_state` {table: [partition]}. Without `copartition` topics are grouped automatically; `standby_replicas`
is 1 where nobody says otherwise. What members claim may be any integers: what cannot be is a warning.

Exit status: 0 a plan, 1 a plan with errors (each also a sentence on stderr), 2 unusable input."#;

/// Read, plan, print.
///
/// # Errors
/// Input that cannot be read or is not a group, and output that cannot be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let json = read(&arguments.file)?;
    let input = Input::parse(&json).with_context(|| shown_name(&arguments.file))?;
    let plan = engine::plan(&input.problem());
    print(&input, &plan, arguments.json).context("cannot write the plan")?;
    for error in &plan.errors {
        eprintln!("error: {}", error.detail);
    }
    Ok(match plan.errors.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn read(file: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => io::stdin().read_to_end(&mut bytes).map(|_| ()),
        path => fs::read(path).map(|contents| bytes = contents),
    };
    read.with_context(|| format!("cannot read {}", shown_name(file)))?;
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", shown_name(file)))
}

fn shown_name(file: &str) -> String {
    match file {
        "-" => "standard input".to_owned(),
        path => path.to_owned(),
    }
}

/// A reader that goes away early (`| head`) is no error.
fn print(input: &Input, plan: &engine::Plan, json: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match json {
        true => Output::new(input, plan).write(&mut out),
        false => text::write(input, plan, &mut out),
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
