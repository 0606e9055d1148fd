//! What the demo prints.
use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};

use super::event::{Holding, Led};
use super::view::View;
use crate::ranges::by_name;
use crate::table::table;

/// Moves that are printed before the rest is only counted.
const MOST_MOVES: usize = 24;

/// Prints a paragraph; whoever does not want to read on need not.
pub fn say(text: impl Display) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// A rebalance that another one followed before it was complete.
pub fn overtaken(generation: i32) -> String {
    format!("\ngeneration {generation} was overtaken before all members had it")
}

/// The members after a rebalance, and its moves with their reasons.
pub fn rebalance(view: &View, led: &Led) -> String {
    let mut members = table(["member", "actives", "standbys", "leader"]);
    for (name, holding) in view.holdings() {
        let (actives, standbys) = (by_name(&holding.active), by_name(&holding.standby));
        members.add_row([name, &actives, &standbys, role(holding, led)]);
    }
    let round = if led.withholds {
        ", what moves is being given up first"
    } else {
        ""
    };
    let mut text = format!("\ngeneration {}{round}\n{members}", led.generation);
    for one in led.moves.iter().take(MOST_MOVES) {
        let why = match view.was_announced(one) {
            true => "given up, and taken over as announced",
            false => &view.named(&one.why),
        };
        let _ = write!(text, "\n  {}: {why}", one.subject);
    }
    match led.moves.len().saturating_sub(MOST_MOVES) {
        0 => {}
        more => {
            let _ = write!(text, "\n  and {more} more");
        }
    }
    text
}

/// Who was not in this generation still shows what it had before.
fn role(holding: &Holding, led: &Led) -> &'static str {
    match holding.leader {
        _ if holding.generation != led.generation => "rejoining",
        true => "leads",
        false => "",
    }
}
