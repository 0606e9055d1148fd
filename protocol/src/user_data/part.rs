//! Parts of user data: a length, then a zlib stream (RFC 1950) of a body.
//!
//! Both sizes are capped, and the compressor is one particular implementation at one level, so that equal bodies
//! are equal parts in every build.
use miniz_oxide::inflate::stream::{InflateState, inflate as inflate_some};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::envelope::take;
use super::{ReadUserDataError, WriteUserDataError};

/// Largest compressed part in bytes: a broker keeps all members of a group in one record of about 1 MB.
pub const MAX_COMPRESSED: usize = 1 << 20;

/// Largest inflated part that concerns one member, in bytes: ten thousand topics with their claims fit in.
pub const MAX_INFLATED: usize = 1 << 20;

/// Largest inflated route block in bytes: it speaks of all members.
pub const MAX_ROUTES_INFLATED: usize = 4 << 20;

const LEVEL: u8 = 6;

/// One of the parts that user data may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Name for errors.
    pub(super) name: &'static str,
    /// Largest inflated size in bytes.
    pub(super) max_inflated: usize,
}

impl Part {
    /// The bytes that stand for `body`, length included.
    pub(super) fn pack(self, body: &[u8]) -> Result<Vec<u8>, WriteUserDataError> {
        self.check_written(body.len(), self.max_inflated)?;
        let stream = miniz_oxide::deflate::compress_to_vec_zlib(body, LEVEL);
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
    pub(super) fn inflate(self, stream: &[u8]) -> Result<Vec<u8>, ReadUserDataError> {
        let part = self.name;
        let mut state = InflateState::new_boxed(DataFormat::Zlib);
        let mut body = Vec::new();
        let mut rest = stream;
        let mut chunk = [0; 4096];
        loop {
            let step = inflate_some(&mut state, rest, &mut chunk, MZFlush::None);
            rest = rest.get(step.bytes_consumed..).unwrap_or_default();
            body.extend_from_slice(chunk.get(..step.bytes_written).unwrap_or_default());
            if body.len() > self.max_inflated {
                return Err(self.refused(self.max_inflated));
            }
            match step.status {
                Ok(MZStatus::StreamEnd) if rest.is_empty() => return Ok(body),
                Ok(MZStatus::StreamEnd) => return Err(ReadUserDataError::Trailing { part }),
                Ok(_) if step.bytes_consumed + step.bytes_written > 0 => {}
                Ok(_) | Err(MZError::Buf) => {
                    return Err(ReadUserDataError::Truncated { field: part });
                }
                Err(_) => return Err(ReadUserDataError::Zlib { part }),
            }
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
