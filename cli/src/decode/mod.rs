//! `assignor decode`: what a subscription, an assignment or user data says, whoever wrote it.
//!
//! Input and output are specified in this crate's README.md. The bytes come from strangers: what is not understood is a
//! sentence and exit status 2, and what is printed is bounded by what was read.
mod bytes;
mod consumer;
mod copartitioned;
mod detect;
mod node;
mod routes;
#[cfg(test)]
mod tests;
mod text;
mod user_data;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;

use node::Node;

/// Arguments of `assignor decode`.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    input: bytes::Arguments,
    /// What it is, instead of finding out.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
A file holds the bytes themselves, or hexadecimal digits or base64 for them; white space in these does not matter.

  assignor decode --hex 000100000001000161ffffffff00000000
  assignor decode --json user-data.bin

Exit status: 0 it was understood, 2 it was not (a sentence on stderr says why).";

/// What bytes can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// What a consumer of any client sends when it joins.
    Subscription,
    /// What a leader of any client answers.
    Assignment,
    /// User data of either, of any assignor below.
    UserData,
    /// User data of this assignor.
    Copartitioned,
    /// User data of Faust's assignor.
    Faust,
    /// User data of `sticky`, and of librdkafka's `cooperative-sticky`.
    Sticky,
    /// User data of the Java client's `cooperative-sticky`.
    CooperativeSticky,
}

/// Read, understand, print.
///
/// # Errors
/// Input that cannot be read or understood, and output that cannot be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let bytes = arguments.input.read()?;
    let read = match arguments.kind {
        None => detect::any(&bytes)?,
        Some(kind) => detect::of_kind(kind, &bytes)?,
    };
    print(&read, arguments.json).context("cannot write")?;
    Ok(ExitCode::SUCCESS)
}

/// A reader that goes away early (`| head`) is no error.
fn print(read: &Node, json: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match json {
        true => node::write_json(read, &mut out),
        false => text::write(read, &mut out),
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
