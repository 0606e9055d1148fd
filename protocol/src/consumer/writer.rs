//! The writing side: big-endian numbers, lengths that are checked before they are narrowed.
use super::{EncodeError, TopicPartitions, Version};

/// Bytes so far.
#[derive(Debug)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new(version: Version) -> Self {
        let bytes = version.number().to_be_bytes().to_vec();
        Writer { bytes }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn i32(&mut self, number: i32) {
        self.bytes.extend(number.to_be_bytes());
    }

    pub(super) fn count(&mut self, field: &'static str, count: usize) -> Result<(), EncodeError> {
        self.i32(fit(field, count)?);
        Ok(())
    }

    pub(super) fn string(&mut self, field: &'static str, text: &str) -> Result<(), EncodeError> {
        let length: i16 = fit(field, text.len())?;
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(text.as_bytes());
        Ok(())
    }

    pub(super) fn nullable_string(
        &mut self,
        field: &'static str,
        text: Option<&str>,
    ) -> Result<(), EncodeError> {
        match text {
            Some(text) => self.string(field, text)?,
            None => self.bytes.extend((-1_i16).to_be_bytes()),
        }
        Ok(())
    }

    pub(super) fn nullable_bytes(
        &mut self,
        field: &'static str,
        bytes: Option<&[u8]>,
    ) -> Result<(), EncodeError> {
        match bytes {
            Some(bytes) => {
                self.count(field, bytes.len())?;
                self.bytes.extend(bytes);
            }
            None => self.i32(-1),
        }
        Ok(())
    }

    pub(super) fn topic_partitions(
        &mut self,
        field: &'static str,
        topics: &[TopicPartitions],
    ) -> Result<(), EncodeError> {
        self.count(field, topics.len())?;
        for TopicPartitions { topic, partitions } in topics {
            self.string(field, topic)?;
            self.count(field, partitions.len())?;
            for &partition in partitions {
                self.i32(partition);
            }
        }
        Ok(())
    }
}

fn fit<N: TryFrom<usize>>(field: &'static str, length: usize) -> Result<N, EncodeError> {
    N::try_from(length).map_err(|_| EncodeError::TooLong { field, length })
}
