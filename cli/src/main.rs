//! The `assignor` command: arguments, logs and exit statuses.
//!
//! `assignor plan` answers what the assignor would do with a group that is described in a file;
//! `assignor decode` shows what members and leaders tell each other; `assignor demo` runs a group on a cluster.
//! Everything else is the library's.
mod decode;
mod demo;
mod moves;
mod plan;
mod ranges;
mod table;

use std::env;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{ArgAction, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// Co-partitioned, sticky partition assignment with standbys for rdkafka consumers.
#[derive(Parser)]
#[command(name = "assignor", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Log more on stderr: -v what happens, -vv reasons too. RUST_LOG, where set, has the last word.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    /// What would the assignor do with this group?
    Plan(plan::Arguments),
    /// What do these bytes of a group's metadata say?
    Decode(decode::Arguments),
    /// Show a group at work: members that join, leave, die and are replaced while records flow.
    Demo(demo::Arguments),
    /// One member of the demo's group.
    #[command(hide = true)]
    Member(demo::member::Arguments),
}

/// Exit status of a command that could not do what it was asked for.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr(arguments.verbose);
    let done = match &arguments.command {
        Command::Plan(arguments) => plan::run(arguments),
        Command::Decode(arguments) => decode::run(arguments),
        Command::Demo(demo) => demo::run(demo, arguments.verbose),
        Command::Member(arguments) => demo::member::run(arguments),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}

fn log_to_stderr(verbose: u8) {
    let default = match verbose {
        0 => "error",
        1 => "info,librdkafka=error",
        _ => "debug,librdkafka=error",
    };
    let filter = env::var(EnvFilter::DEFAULT_ENV).unwrap_or_else(|_| default.to_owned());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|error| {
        eprintln!("warning: RUST_LOG is ignored: {error}");
        EnvFilter::new(default)
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
