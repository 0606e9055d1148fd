//! The first eleven bytes of all user data, the same in every version.
//!
//! ```text
//! 52 4b 41 53  magic "RKAS"
//! 01           version it was written in
//! 01           lowest version of a reader that understands it
//! 00           flags: bit 0 is set in an assignment; the others are 0
//! 00 00 00 07  generation, big endian; -1 is none
//! ```
use std::fmt;

use super::ReadUserDataError;

/// The version that this crate writes.
pub const VERSION: u8 = 1;

const MIN_READER: u8 = 1;
const MAGIC: [u8; 4] = *b"RKAS";
const ASSIGNMENT: u8 = 1;
const NO_GENERATION: i32 = -1;

/// Whose user data it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A member's, for its leader.
    Subscription,
    /// The leader's, for a member.
    Assignment,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Subscription => "a subscription",
            Kind::Assignment => "an assignment",
        })
    }
}

/// What can be said of user data of any version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Version it was written in.
    pub version: u8,
    /// Lowest version of a reader that understands it.
    pub min_reader: u8,
    /// Subscription or assignment.
    pub kind: Kind,
    /// Generation of the group that the sender was, or is to be, a member of.
    pub generation: Option<i32>,
    flags: u8,
}

impl Envelope {
    /// Reads the envelope alone, of any version.
    ///
    /// # Errors
    /// [`NotOurs`](ReadUserDataError::NotOurs) without our magic;
    /// [`Truncated`](ReadUserDataError::Truncated) or [`Malformed`](ReadUserDataError::Malformed) otherwise.
    pub fn decode(user_data: &[u8]) -> Result<Self, ReadUserDataError> {
        split(user_data).map(|(envelope, _)| envelope)
    }

    pub(super) fn new(kind: Kind, generation: Option<i32>) -> Self {
        Envelope {
            version: VERSION,
            min_reader: MIN_READER,
            kind,
            generation,
            flags: 0,
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let assignment = match self.kind {
            Kind::Subscription => 0,
            Kind::Assignment => ASSIGNMENT,
        };
        let generation = self.generation.filter(|&generation| generation >= 0);
        out.extend(MAGIC);
        out.extend([self.version, self.min_reader, assignment]);
        out.extend(generation.unwrap_or(NO_GENERATION).to_be_bytes());
    }

    /// Whether the sender knows more than this reader: what it appended is then ignored.
    pub(super) fn is_newer(&self) -> bool {
        self.version > VERSION
    }

    fn require(&self, expected: Kind) -> Result<(), ReadUserDataError> {
        if self.kind != expected {
            let found = self.kind;
            return Err(ReadUserDataError::WrongKind { expected, found });
        }
        if self.min_reader > VERSION {
            return Err(ReadUserDataError::Unsupported {
                version: self.version,
                min_reader: self.min_reader,
                generation: self.generation,
            });
        }
        if self.flags != 0 && !self.is_newer() {
            return Err(malformed("flags", "unknown flag"));
        }
        Ok(())
    }
}

/// Reads the envelope of user data that must be readable and of this kind; the rest are its parts.
pub(super) fn open(user_data: &[u8], kind: Kind) -> Result<(Envelope, &[u8]), ReadUserDataError> {
    let (envelope, parts) = split(user_data)?;
    envelope.require(kind)?;
    Ok((envelope, parts))
}

fn split(user_data: &[u8]) -> Result<(Envelope, &[u8]), ReadUserDataError> {
    let rest = user_data
        .strip_prefix(&MAGIC)
        .ok_or(ReadUserDataError::NotOurs)?;
    let ([version], rest) = take(rest, "version")?;
    let ([min_reader], rest) = take(rest, "min_reader")?;
    let ([flags], rest) = take(rest, "flags")?;
    let (generation, rest) = take(rest, "generation")?;
    if min_reader == 0 || min_reader > version {
        return Err(malformed("min_reader", "not within 1 and the version"));
    }
    let kind = match flags & ASSIGNMENT {
        0 => Kind::Subscription,
        _ => Kind::Assignment,
    };
    let envelope = Envelope {
        version,
        min_reader,
        kind,
        generation: generation_from(i32::from_be_bytes(generation))?,
        flags: flags & !ASSIGNMENT,
    };
    Ok((envelope, rest))
}

fn generation_from(generation: i32) -> Result<Option<i32>, ReadUserDataError> {
    match generation {
        NO_GENERATION => Ok(None),
        0.. => Ok(Some(generation)),
        _ => Err(malformed("generation", "below -1")),
    }
}

/// Splits off as many bytes as the field takes.
pub(super) fn take<'a, const N: usize>(
    bytes: &'a [u8],
    field: &'static str,
) -> Result<([u8; N], &'a [u8]), ReadUserDataError> {
    let (taken, rest) = bytes
        .split_first_chunk()
        .ok_or(ReadUserDataError::Truncated { field })?;
    Ok((*taken, rest))
}

fn malformed(field: &'static str, reason: &str) -> ReadUserDataError {
    let reason = reason.to_owned();
    ReadUserDataError::Malformed { field, reason }
}
