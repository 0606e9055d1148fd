//! Kafka's ConsumerProtocol: what consumers of any client write into JoinGroup and SyncGroup.
//!
//! Versions 0 to 3 are written; of a higher version the fields of version 3 are read, as Kafka does, and bytes after
//! the last field are ignored in every version.
//!
//! | field of a subscription | since | null |
//! |---|---|---|
//! | topics | 0 | no |
//! | user data | 0 | yes, and not the same as empty |
//! | owned partitions | 1 | no |
//! | generation | 2 | -1 is none |
//! | rack | 3 | yes |
//!
//! ```
//! use rdkafka_assignor_protocol::consumer::{Subscription, Version};
//!
//! let subscription = Subscription { topics: vec!["orders".into()], ..Subscription::default() };
//! let bytes = subscription.encode(Version::V0)?;
//! assert_eq!(bytes, b"\0\0\0\0\0\x01\0\x06orders\xff\xff\xff\xff");
//! assert_eq!(Subscription::decode(&bytes)?, subscription);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod reader;
mod sticky;
mod writer;

pub use sticky::{CooperativeStickyUserData, StickyUserData};

use reader::Reader;
use writer::Writer;

/// Versions that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Topics and user data.
    V0,
    /// With owned partitions.
    V1,
    /// With the generation they were owned in.
    V2,
    /// With the rack.
    V3,
}

impl Version {
    /// The highest.
    pub const LATEST: Version = Version::V3;

    /// The number on the wire.
    pub fn number(self) -> i16 {
        match self {
            Version::V0 => 0,
            Version::V1 => 1,
            Version::V2 => 2,
            Version::V3 => 3,
        }
    }

    /// The highest that is not above what was written.
    fn of(written: i16) -> Option<Version> {
        match written {
            ..0 => None,
            0 => Some(Version::V0),
            1 => Some(Version::V1),
            2 => Some(Version::V2),
            3.. => Some(Version::V3),
        }
    }
}

/// Partitions of one topic, in the writer's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TopicPartitions {
    /// Topic name.
    pub topic: String,
    /// Partition numbers; nobody has checked them.
    pub partitions: Vec<i32>,
}

/// What a member subscribes to and says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subscription {
    /// Topic names, in the writer's order.
    pub topics: Vec<String>,
    /// The assignor's own bytes; `None` is null.
    pub user_data: Option<Vec<u8>>,
    /// What it owns. Empty in version 0.
    pub owned: Vec<TopicPartitions>,
    /// Generation it owns that in; negative numbers are read as `None`. `None` below version 2.
    pub generation: Option<i32>,
    /// Rack. `None` below version 3.
    pub rack: Option<String>,
}

impl Subscription {
    /// The bytes; fields that `version` does not have are left out.
    ///
    /// # Errors
    /// When a name or a list is too long for its length field.
    pub fn encode(&self, version: Version) -> Result<Vec<u8>, EncodeError> {
        let mut out = Writer::new(version);
        out.count("topics", self.topics.len())?;
        for topic in &self.topics {
            out.string("topics", topic)?;
        }
        out.nullable_bytes("user_data", self.user_data.as_deref())?;
        if version >= Version::V1 {
            out.topic_partitions("owned_partitions", &self.owned)?;
        }
        if version >= Version::V2 {
            out.i32(self.generation.unwrap_or(-1));
        }
        if version >= Version::V3 {
            out.nullable_string("rack_id", self.rack.as_deref())?;
        }
        Ok(out.into_bytes())
    }

    /// Reads a subscription of any version.
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let inspected = Self::inspect(bytes);
        inspected.fault.map_or(Ok(inspected.subscription), Err)
    }

    /// Reads as much as there is, for people to look at.
    ///
    /// Some clients write a version whose fields they leave out: Faust says 4 and stops after the user data of
    /// version 0. Kafka drops such a member.
    pub fn inspect(bytes: &[u8]) -> Inspected {
        let mut inspected = Inspected::default();
        inspected.fault = inspected.read(bytes).err();
        inspected
    }
}

/// A subscription as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Version as written; 0 when not even that is there.
    pub version: i16,
    /// The fields before the fault.
    pub subscription: Subscription,
    /// What stopped the reader; `None` when all was well.
    pub fault: Option<DecodeError>,
}

impl Inspected {
    fn read(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut input = Reader::new(bytes);
        self.version = input.i16("version")?;
        let version = known_version(self.version)?;
        let subscription = &mut self.subscription;
        subscription.topics = input.strings("topics")?;
        subscription.user_data = input.nullable_bytes("user_data")?;
        if version >= Version::V1 {
            subscription.owned = input.topic_partitions("owned_partitions")?;
        }
        if version >= Version::V2 {
            let generation = input.i32("generation_id")?;
            subscription.generation = Some(generation).filter(|&generation| generation >= 0);
        }
        if version >= Version::V3 {
            subscription.rack = input.nullable_string("rack_id")?;
        }
        Ok(())
    }
}

/// What a member gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// Partitions by topic, in the writer's order.
    pub partitions: Vec<TopicPartitions>,
    /// The assignor's own bytes; `None` is null.
    pub user_data: Option<Vec<u8>>,
}

impl Assignment {
    /// The bytes; all versions have the same fields.
    ///
    /// # Errors
    /// When a name or a list is too long for its length field.
    pub fn encode(&self, version: Version) -> Result<Vec<u8>, EncodeError> {
        let mut out = Writer::new(version);
        out.topic_partitions("assigned_partitions", &self.partitions)?;
        out.nullable_bytes("user_data", self.user_data.as_deref())?;
        Ok(out.into_bytes())
    }

    /// Reads an assignment of any version.
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader::new(bytes);
        known_version(input.i16("version")?)?;
        Ok(Assignment {
            partitions: input.topic_partitions("assigned_partitions")?,
            user_data: input.nullable_bytes("user_data")?,
        })
    }
}

fn known_version(version: i16) -> Result<Version, DecodeError> {
    Version::of(version).ok_or(DecodeError::UnsupportedVersion { version })
}

/// Why bytes are not a subscription or an assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no negative versions.
    #[error("version {version} is not supported")]
    UnsupportedVersion {
        /// Version as written.
        version: i16,
    },
    /// The bytes end within this field, or it claims more elements than there are bytes for.
    #[error("{field}: truncated")]
    Truncated {
        /// Field, in Kafka's words.
        field: &'static str,
    },
    /// A length below zero, or below -1 where that is null.
    #[error("{field}: negative length {length}")]
    NegativeLength {
        /// Field, in Kafka's words.
        field: &'static str,
        /// Length as written.
        length: i32,
    },
    /// There are bytes after the last field of an assignor's user data.
    #[error("{field}: trailing bytes")]
    Trailing {
        /// The last field.
        field: &'static str,
    },
    /// A name is not UTF-8.
    #[error("{field}: not UTF-8")]
    NotUtf8 {
        /// Field, in Kafka's words.
        field: &'static str,
    },
}

/// Why a value has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// More bytes or elements than the length field can say.
    #[error("{field}: {length} is too long")]
    TooLong {
        /// Field, in Kafka's words.
        field: &'static str,
        /// Bytes of a string or of user data, elements of a list.
        length: usize,
    },
}
