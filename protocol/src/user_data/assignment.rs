//! Leader to member: what it gets besides its partitions, and what went wrong.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::body::{Body, fields};
use super::envelope::{Envelope, Kind, open};
use super::part::{MAX_INFLATED, Part};
use super::{EncodedRoutes, GlobalTable, ReadUserDataError, WriteUserDataError};
use crate::PartitionSet;

pub(super) const PART: Part = Part {
    name: "assignment",
    max_inflated: MAX_INFLATED,
};

/// An error that every member of the group is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Stable code, see DESIGN.md.
    pub code: u16,
    /// A sentence for a person.
    pub text: String,
}

/// User data of an assignment, the member's own part: leader to member.
///
/// Actives are in the consumer protocol's own partition list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignmentUserData {
    /// Generation this assignment belongs to (in the envelope).
    pub generation: Option<i32>,
    /// Counter of the leader that made it, for ordering within a generation.
    pub epoch: u64,
    /// Standbys, by table.
    pub standby: BTreeMap<String, PartitionSet>,
    /// Global tables the member keeps whole; come back sorted and without duplicates.
    pub global: Vec<GlobalTable>,
    /// What the group cannot mend by retrying, in the leader's order.
    pub errors: Vec<Delivered>,
}

impl AssignmentUserData {
    /// The bytes for one member, with the route block that is the same for all.
    ///
    /// # Errors
    /// When readers would refuse it: too large, or more than
    /// [`MAX_PARTITION_COUNT`](crate::MAX_PARTITION_COUNT) partitions of a global table.
    pub fn encode(&self, routes: Option<&EncodedRoutes>) -> Result<Vec<u8>, WriteUserDataError> {
        let mut bytes = Vec::new();
        Envelope::new(Kind::Assignment, self.generation).write(&mut bytes);
        bytes.extend(PART.pack(&self.body()?)?);
        bytes.extend(routes.map_or(EncodedRoutes::NONE, EncodedRoutes::as_bytes));
        Ok(bytes)
    }

    /// Reads the member's own part, of this version or of a newer one that allows it.
    ///
    /// The route block is not looked at: a broken one costs the member nothing. See
    /// [`Routes::decode`](crate::Routes::decode).
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(user_data: &[u8]) -> Result<Self, ReadUserDataError> {
        let (envelope, parts) = open(user_data, Kind::Assignment)?;
        let (stream, _) = PART.split(parts)?;
        Self::from_body(&PART.inflate(stream)?, envelope)
    }

    fn body(&self) -> Result<Vec<u8>, WriteUserDataError> {
        let mut body = Body::default();
        body.put("epoch", &self.epoch)?;
        body.put("standby", &self.standby)?;
        body.put_global_tables("global", &self.global)?;
        body.put("errors", &self.errors)?;
        Ok(body.into_bytes())
    }

    fn from_body(body: &[u8], envelope: Envelope) -> Result<Self, ReadUserDataError> {
        let mut fields = fields(body);
        let assignment = AssignmentUserData {
            generation: envelope.generation,
            epoch: fields.next("epoch")?,
            standby: fields.next_ascending("standby")?,
            global: fields.next_global_tables("global")?,
            errors: fields.next_listed("errors")?,
        };
        fields.finish(PART.name, envelope.is_newer())?;
        Ok(assignment)
    }
}
