//! What can go wrong between user data and bytes.

use super::{Kind, VERSION};

/// Why user data could not be read. Nothing of it is a reason to fail a group: the member is a newcomer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadUserDataError {
    /// It does not start with our magic: some other assignor's, or none.
    #[error("not user data of this assignor")]
    NotOurs,
    /// It is ours but newer than this reader can understand.
    #[error(
        "user data version {version} needs a reader of version {min_reader}, this one has {VERSION}"
    )]
    Unsupported {
        /// Version it was written in.
        version: u8,
        /// Lowest version of a reader that understands it.
        min_reader: u8,
        /// Generation from the envelope, which every version can read.
        generation: Option<i32>,
    },
    /// User data of a subscription where that of an assignment was expected, or the reverse.
    #[error("expected user data of {expected}, found that of {found}")]
    WrongKind {
        /// What the caller wanted to read.
        expected: Kind,
        /// What it is.
        found: Kind,
    },
    /// It ends within this field.
    #[error("{field}: truncated")]
    Truncated {
        /// Field of the envelope, or a length.
        field: &'static str,
    },
    /// There are bytes after the end of this part.
    #[error("{part}: trailing bytes")]
    Trailing {
        /// The part that should have been the last.
        part: &'static str,
    },
    /// A part is larger than this reader accepts, compressed or inflated.
    #[error("{part}: larger than {limit} bytes")]
    TooLarge {
        /// The part.
        part: &'static str,
        /// Largest accepted size in bytes.
        limit: usize,
    },
    /// The zlib stream of this part is broken.
    #[error("{part}: broken zlib stream")]
    Zlib {
        /// The part.
        part: &'static str,
    },
    /// A field does not hold what it should.
    #[error("{field}: {reason}")]
    Malformed {
        /// Field, named as in DESIGN.md.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// Why user data could not be written: no reader would accept it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteUserDataError {
    /// A part would be larger than readers accept, compressed or inflated.
    #[error("{part}: larger than {limit} bytes")]
    TooLarge {
        /// The part.
        part: &'static str,
        /// Largest accepted size in bytes.
        limit: usize,
    },
    /// A field holds something that readers refuse.
    #[error("{field}: {reason}")]
    Invalid {
        /// Field, named as in DESIGN.md.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}
