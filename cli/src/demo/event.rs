//! What a member's process tells the demo: one line of JSON per event on its standard output.
//!
//! A line is written whole before the offsets that it makes up for are committed, so that a killed member has told
//! everything that nobody will read again.
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// Partitions by topic or table.
pub type Partitions = BTreeMap<String, Vec<u32>>;

/// One thing that happened in a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The member has taken up an assignment.
    Holds(Holding),
    /// The member has led a rebalance.
    Led(Led),
    /// The member has joined these pairs.
    Joined(Vec<u64>),
    /// The member cannot go on.
    Failed(String),
    /// The member's process tells nothing more.
    Ended,
}

/// What a member holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Member id that the group knows it by.
    pub id: String,
    /// Generation of the assignment.
    pub generation: i32,
    /// The consumer's own assignment.
    pub active: Partitions,
    /// Standbys, as the handle tells them.
    pub standby: Partitions,
    /// Whether it leads the application: it holds the leader topic's partition.
    pub leader: bool,
}

/// What the group's leader has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Led {
    /// Generation that was formed.
    pub generation: i32,
    /// Actives of every member in this round, by member id.
    pub members: BTreeMap<String, Partitions>,
    /// Whether actives are withheld until their owners have given them up: another round follows.
    pub withholds: bool,
    /// The moves of the plan.
    pub moves: Vec<Move>,
}

/// A move of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// What moves: `active orders 3, users 3`.
    pub subject: String,
    /// Id of the member that it goes to.
    pub to: Option<String>,
    /// Whether it makes an active of a standby.
    pub promotes: bool,
    /// From whom to whom, the kind and the reason.
    pub why: String,
}

impl Event {
    /// Writes the event to standard output.
    ///
    /// # Errors
    /// The demo is gone.
    pub fn tell(&self) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let mut out = io::stdout().lock();
        out.write_all(&line)?;
        out.flush()
    }
}
