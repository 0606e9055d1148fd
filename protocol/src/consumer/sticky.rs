//! User data of the assignors that Kafka's clients bring along, for people to look at.
//!
//! `sticky` (and `cooperative-sticky` of librdkafka) sends what the member had and, since its version 1, the
//! generation it had that in; `cooperative-sticky` of the Java client sends the generation alone, as the partitions are in
//! the subscription's own list.
use super::reader::Reader;
use super::{DecodeError, TopicPartitions};

/// User data of a `sticky` subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StickyUserData {
    /// What the member had.
    pub previous: Vec<TopicPartitions>,
    /// Generation it had that in; negative numbers are read as `None`. `None` in version 0.
    pub generation: Option<i32>,
}

impl StickyUserData {
    /// Reads version 0 or 1; they are told apart by their length.
    ///
    /// # Errors
    /// Says what is wrong, and in which field.
    pub fn decode(user_data: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader::new(user_data);
        let previous = input.topic_partitions("previous_assignment")?;
        let generation = match input.is_empty() {
            true => None,
            false => generation(&mut input)?,
        };
        Ok(StickyUserData {
            previous,
            generation,
        })
    }
}

/// User data of a `cooperative-sticky` subscription of the Java client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CooperativeStickyUserData {
    /// Generation of the owned partitions; negative numbers are read as `None`.
    pub generation: Option<i32>,
}

impl CooperativeStickyUserData {
    /// Reads the generation.
    ///
    /// # Errors
    /// When there are fewer bytes or more.
    pub fn decode(user_data: &[u8]) -> Result<Self, DecodeError> {
        let generation = generation(&mut Reader::new(user_data))?;
        Ok(CooperativeStickyUserData { generation })
    }
}

/// The last field.
fn generation(input: &mut Reader<'_>) -> Result<Option<i32>, DecodeError> {
    const FIELD: &str = "generation";
    let generation = input.i32(FIELD)?;
    match input.is_empty() {
        true => Ok(Some(generation).filter(|&generation| generation >= 0)),
        false => Err(DecodeError::Trailing { field: FIELD }),
    }
}
