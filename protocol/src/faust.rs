//! User data of Faust's assignor, for people to look at: JSON, plain in a subscription and as a zlib stream in an
//! assignment.
//!
//! Nothing that Faust itself would refuse has to be refused here: fields that are absent or null are `None`, fields
//! that nobody knows are ignored, and numbers stay as they were written, twice if they were written twice.
//!
//! ```
//! use rdkafka_assignor_protocol::FaustUserData;
//!
//! let json = br#"{"assignment": {"actives": {"orders": [0, 1]}, "standbys": {}}, "url": "http://w1:6066"}"#;
//! let member = FaustUserData::decode(json)?;
//! assert_eq!(member.assignment.unwrap_or_default().actives["orders"], [0, 1]);
//! assert_eq!(member.url.as_deref(), Some("http://w1:6066"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::user_data::{MAX_COMPRESSED, MAX_ROUTES_INFLATED, Part, ReadUserDataError};

/// Largest JSON text that is read, in bytes: it speaks of all members, as our routes do.
pub const MAX_FAUST_JSON: usize = MAX_ROUTES_INFLATED;

/// Characters of a reason that are kept: it may quote what a member wrote.
const MOST_REASON: usize = 200;

const PART: Part = Part {
    name: "faust",
    max_inflated: MAX_FAUST_JSON,
};

/// Partition numbers by topic, in the writer's order; nobody has checked them.
pub type FaustPartitions = BTreeMap<String, Vec<i32>>;

/// Partition numbers by URL of a worker, then by topic.
pub type FaustDistribution = BTreeMap<String, FaustPartitions>;

/// What a Faust worker has, or is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FaustAssignment {
    /// Actives, changelog topics among them.
    #[serde(default)]
    pub actives: FaustPartitions,
    /// Standbys.
    #[serde(default)]
    pub standbys: FaustPartitions,
}

/// User data of Faust's assignor; in both directions it has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FaustUserData {
    /// What the worker had (subscription) or gets (assignment).
    pub assignment: Option<FaustAssignment>,
    /// Where the worker is reached.
    pub url: Option<String>,
    /// Active partitions of changelog topics, by worker.
    pub changelog_distribution: Option<FaustDistribution>,
    /// Active partitions of other topics, by worker; older versions have none.
    pub external_topic_distribution: Option<FaustDistribution>,
    /// Number of the co-partition group of each topic; older versions have none.
    pub topic_groups: Option<BTreeMap<String, i64>>,
    /// Whether it was a zlib stream, as it is in an assignment.
    #[serde(skip)]
    pub compressed: bool,
}

impl FaustUserData {
    /// Whether bytes begin like Faust's: with a JSON object or a zlib stream.
    pub fn is_likely(user_data: &[u8]) -> bool {
        is_object(user_data) || is_zlib(user_data)
    }

    /// Reads user data of either direction.
    ///
    /// # Errors
    /// Says what is wrong, and where.
    pub fn decode(user_data: &[u8]) -> Result<Self, ReadFaustError> {
        match is_zlib(user_data) {
            true => {
                check_size(user_data, MAX_COMPRESSED)?;
                let read = Self::from_json(&PART.inflate(user_data)?)?;
                let compressed = true;
                Ok(FaustUserData { compressed, ..read })
            }
            false => Self::from_json(user_data),
        }
    }

    fn from_json(json: &[u8]) -> Result<Self, ReadFaustError> {
        check_size(json, MAX_FAUST_JSON)?;
        if !is_object(json) {
            return Err(ReadFaustError::NotFaust);
        }
        let mut reader = serde_json::Deserializer::from_slice(json);
        let read: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| malformed(&error.to_string()))?;
        reader
            .end()
            .map_err(|error| malformed(&error.to_string()))?;
        match read == FaustUserData::default() {
            true => Err(ReadFaustError::NotFaust),
            false => Ok(read),
        }
    }
}

/// The first character that is not JSON's white space opens an object.
fn is_object(bytes: &[u8]) -> bool {
    let white = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    bytes.iter().find(white) == Some(&b'{')
}

/// The header of RFC 1950: deflate with the usual window, any level, and a check sum that fits.
fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [0x78, flags, ..] => (0x7800 + u32::from(*flags)).is_multiple_of(31),
        _ => false,
    }
}

fn check_size(bytes: &[u8], limit: usize) -> Result<(), ReadFaustError> {
    (bytes.len() <= limit)
        .then_some(())
        .ok_or(ReadFaustError::TooLarge { limit })
}

fn malformed(reason: &str) -> ReadFaustError {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let reason = reason.chars().take(MOST_REASON).map(shown).collect();
    ReadFaustError::Malformed { reason }
}

/// Why bytes are not Faust's user data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFaustError {
    /// Neither a JSON object with a field of Faust's, nor one in a zlib stream.
    #[error("not user data of Faust's assignor")]
    NotFaust,
    /// More than this reader accepts.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// Largest accepted size in bytes.
        limit: usize,
    },
    /// The zlib stream is broken, or inflates to more than this reader accepts.
    #[error(transparent)]
    Stream(#[from] ReadUserDataError),
    /// It is not JSON, or a field does not hold what it should.
    #[error("{reason}")]
    Malformed {
        /// Path to the field and what is wrong with it, without control characters and of limited length.
        reason: String,
    },
}
