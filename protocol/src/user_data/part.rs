//! Parts of user data: a length, then a zlib stream (RFC 1950) of a body.
//!
//! Both sizes are capped, and the level is fixed, so that equal bodies are equal parts.
use std::io::{ErrorKind, Read, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::envelope::take;
use super::{ReadUserDataError, WriteUserDataError};

/// Largest compressed part in bytes: a broker keeps all members of a group in one record of about 1 MB.
pub const MAX_COMPRESSED: usize = 1 << 20;

/// Largest inflated part that concerns one member, in bytes: ten thousand topics with their claims fit in.
pub const MAX_INFLATED: usize = 1 << 20;

/// Largest inflated route block in bytes: it speaks of all members.
pub const MAX_ROUTES_INFLATED: usize = 4 << 20;

const LEVEL: Compression = Compression::new(6);

/// One of the parts that user data may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Name for errors.
    pub(crate) name: &'static str,
    /// Largest inflated size in bytes.
    pub(crate) max_inflated: usize,
}

impl Part {
    /// The bytes that stand for `body`, length included.
    pub(super) fn pack(self, body: &[u8]) -> Result<Vec<u8>, WriteUserDataError> {
        self.check_written(body.len(), self.max_inflated)?;
        let stream = deflate(body);
        self.check_written(stream.len(), MAX_COMPRESSED)?;
        let length = u32::try_from(stream.len()).map_err(|_| self.too_large(MAX_COMPRESSED))?;
        Ok([&length.to_be_bytes()[..], &stream].concat())
    }

    /// Splits the stream of this part off `bytes`.
    pub(super) fn split(self, bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadUserDataError> {
        let field = self.name;
        let (length, rest) = take(bytes, field)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_COMPRESSED {
            return Err(self.refused(MAX_COMPRESSED));
        }
        rest.split_at_checked(length)
            .ok_or(ReadUserDataError::Truncated { field })
    }

    /// The body in `stream`, which must hold nothing else.
    pub(crate) fn inflate(self, stream: &[u8]) -> Result<Vec<u8>, ReadUserDataError> {
        let part = self.name;
        let mut body = Vec::new();
        let mut decoder = ZlibDecoder::new(stream);
        let most = self.max_inflated as u64;
        match decoder.by_ref().take(most + 1).read_to_end(&mut body) {
            Ok(_) if body.len() > self.max_inflated => Err(self.refused(self.max_inflated)),
            Ok(_) if decoder.total_in() < stream.len() as u64 => {
                Err(ReadUserDataError::Trailing { part })
            }
            Ok(_) => Ok(body),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(ReadUserDataError::Truncated { field: part })
            }
            Err(_) => Err(ReadUserDataError::Zlib { part }),
        }
    }

    fn check_written(self, size: usize, limit: usize) -> Result<(), WriteUserDataError> {
        (size <= limit)
            .then_some(())
            .ok_or_else(|| self.too_large(limit))
    }

    fn too_large(self, limit: usize) -> WriteUserDataError {
        let part = self.name;
        WriteUserDataError::TooLarge { part, limit }
    }

    fn refused(self, limit: usize) -> ReadUserDataError {
        let part = self.name;
        ReadUserDataError::TooLarge { part, limit }
    }
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), LEVEL);
    // A vector takes whatever it is given.
    let _ = encoder.write_all(body);
    encoder.finish().unwrap_or_default()
}
