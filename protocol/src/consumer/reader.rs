//! A reader over the bytes at hand: every read may fail, and says in which field.
use super::{DecodeError, TopicPartitions};

const STRING_BYTES: usize = 2;
const PARTITION_BYTES: usize = 4;
const TOPIC_PARTITIONS_BYTES: usize = STRING_BYTES + 4;

/// What is left to be read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        self.array(field).map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.array(field).map(i32::from_be_bytes)
    }

    pub(super) fn strings(&mut self, field: &'static str) -> Result<Vec<String>, DecodeError> {
        self.list(field, STRING_BYTES, |input| input.string(field))
    }

    pub(super) fn topic_partitions(
        &mut self,
        field: &'static str,
    ) -> Result<Vec<TopicPartitions>, DecodeError> {
        self.list(field, TOPIC_PARTITIONS_BYTES, |input| {
            Ok(TopicPartitions {
                topic: input.string(field)?,
                partitions: input.list(field, PARTITION_BYTES, |input| input.i32(field))?,
            })
        })
    }

    pub(super) fn nullable_string(
        &mut self,
        field: &'static str,
    ) -> Result<Option<String>, DecodeError> {
        match self.i16(field)? {
            -1 => Ok(None),
            length => self.text(field, length).map(Some),
        }
    }

    pub(super) fn nullable_bytes(
        &mut self,
        field: &'static str,
    ) -> Result<Option<Vec<u8>>, DecodeError> {
        match self.i32(field)? {
            -1 => Ok(None),
            length => self.bytes(field, length).map(|bytes| Some(bytes.to_vec())),
        }
    }

    fn string(&mut self, field: &'static str) -> Result<String, DecodeError> {
        let length = self.i16(field)?;
        self.text(field, length)
    }

    fn text(&mut self, field: &'static str, length: i16) -> Result<String, DecodeError> {
        let bytes = self.bytes(field, length.into())?;
        let text = str::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8 { field })?;
        Ok(text.to_owned())
    }

    /// A list whose elements take `element_bytes` or more each: room is made only for what may still come.
    fn list<T>(
        &mut self,
        field: &'static str,
        element_bytes: usize,
        mut element: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.i32(field)?;
        let count = length_of(field, count)?;
        if count > self.rest.len() / element_bytes {
            return Err(DecodeError::Truncated { field });
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(element(self)?);
        }
        Ok(list)
    }

    fn bytes(&mut self, field: &'static str, length: i32) -> Result<&'a [u8], DecodeError> {
        let length = length_of(field, length)?;
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (array, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(*array)
    }
}

fn length_of(field: &'static str, length: i32) -> Result<usize, DecodeError> {
    usize::try_from(length).map_err(|_| DecodeError::NegativeLength { field, length })
}
