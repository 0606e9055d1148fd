//! From a key to a partition, as the producer of the records does it.
//!
//! Routes are right only if the router and the producers agree. What they do with a record for a topic of 12 partitions:
//!
//! | key | [`Murmur2Random`](Partitioner::Murmur2Random) | [`ConsistentRandom`](Partitioner::ConsistentRandom) |
//! |---|---|---|
//! | `foobar` | 6 | 5 |
//! | empty | 9 | anywhere |
//! | null | anywhere | anywhere |
//!
//! A record that may be anywhere has no host, and the answer is `None` instead of a guess.
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Chooses partitions like the producers of the application's topics.
///
/// ```
/// use std::num::NonZeroU32;
/// use rdkafka_assignor::Partitioner;
///
/// let twelve = NonZeroU32::new(12).expect("not zero");
/// assert_eq!(Partitioner::Murmur2Random.partition(Some(b"foobar"), twelve), Some(6));
/// assert_eq!(Partitioner::Murmur2Random.partition(None, twelve), None); // anywhere
/// assert_eq!(Partitioner::ConsistentRandom.partition(Some(b"foobar"), twelve), Some(5));
///
/// let by_length = Partitioner::own(|key, partitions| u32::try_from(key.len()).ok().map(|n| n % partitions));
/// assert_eq!(by_length.partition(Some(b"foobar"), twelve), Some(6));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Partitioner {
    /// Java's default, and librdkafka's `partitioner=murmur2_random`: Murmur2 of the key without its sign bit. Also
    /// `partitioner=murmur2`, which differs only in giving null keys a place.
    #[default]
    Murmur2Random,
    /// librdkafka's default: CRC-32 (IEEE 802.3) of the key. Also `partitioner=consistent`, which differs only in giving empty
    /// and null keys a place.
    ConsistentRandom,
    /// The application's own; see [`own`](Partitioner::own).
    Own(OwnPartitioner),
}

/// A partitioner that the application brings.
#[derive(Clone)]
pub struct OwnPartitioner(Arc<Choose>);

type Choose = dyn Fn(&[u8], NonZeroU32) -> Option<u32> + Send + Sync;

impl Partitioner {
    /// A partitioner of one's own: the partition of a key among so many, `None` if it may be in any of them.
    pub fn own(choose: impl Fn(&[u8], NonZeroU32) -> Option<u32> + Send + Sync + 'static) -> Self {
        Partitioner::Own(OwnPartitioner(Arc::new(choose)))
    }

    /// The partition of a record with this key (`None` is Kafka's null) among `partitions`; `None` if it may be in any
    /// of them.
    pub fn partition(&self, key: Option<&[u8]>, partitions: NonZeroU32) -> Option<u32> {
        let key = key?;
        match self {
            Partitioner::Murmur2Random => Some((murmur2(key) & 0x7fff_ffff) % partitions),
            Partitioner::ConsistentRandom if key.is_empty() => None,
            Partitioner::ConsistentRandom => Some(crc32fast::hash(key) % partitions),
            Partitioner::Own(OwnPartitioner(choose)) => choose(key, partitions),
        }
    }
}

impl fmt::Debug for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Partitioner::Murmur2Random => "Murmur2Random",
            Partitioner::ConsistentRandom => "ConsistentRandom",
            Partitioner::Own(_) => "Own",
        })
    }
}

impl fmt::Debug for OwnPartitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnPartitioner")
    }
}

/// The 32-bit MurmurHash2 of Austin Appleby with Kafka's seed. The length counts modulo 2^32, as it does in Java.
fn murmur2(key: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_b28c;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the hash is defined on 32 bits of the length"
    )]
    let length = key.len() as u32;
    let (words, tail) = key.as_chunks::<4>();
    let hash = words.iter().fold(SEED ^ length, |hash, word| {
        hash.wrapping_mul(M) ^ mixed(u32::from_le_bytes(*word))
    });
    finished(if tail.is_empty() {
        hash
    } else {
        (hash ^ little_endian(tail)).wrapping_mul(M)
    })
}

/// Murmur2's multiplier.
const M: u32 = 0x5bd1_e995;

fn mixed(word: u32) -> u32 {
    let word = word.wrapping_mul(M);
    (word ^ (word >> 24)).wrapping_mul(M)
}

fn finished(hash: u32) -> u32 {
    let hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// Up to three bytes as a number.
fn little_endian(tail: &[u8]) -> u32 {
    let upwards = tail.iter().rev();
    upwards.fold(0, |word, byte| word << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn among(partitions: u32) -> NonZeroU32 {
        NonZeroU32::new(partitions).expect("not zero")
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        let byte = |pair| {
            let pair = std::str::from_utf8(pair).expect("hexadecimal");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        };
        digits.map(byte).collect()
    }

    #[test]
    fn murmur2_gives_the_hashes_and_partitions_that_are_known() {
        let vectors = include_str!("../tests/data/murmur2_vectors.json");
        let vectors: Vec<Value> = serde_json::from_str(vectors).expect("JSON");
        assert!(vectors.len() >= 18);
        for vector in vectors {
            let key = bytes(vector["key_hex"].as_str().expect("a string"));
            assert_eq!(u64::from(murmur2(&key)), vector["murmur2_u32"], "{vector}");
            for (partitions, expected) in vector["partition"].as_object().expect("an object") {
                let partitions = among(partitions.parse().expect("a number"));
                let partition = Partitioner::default().partition(Some(&key), partitions);
                assert_eq!(partition.map(u64::from), expected.as_u64(), "{vector}");
            }
        }
    }

    #[test]
    fn crc32_is_the_one_of_the_published_check_value() {
        let all = among(u32::MAX);
        let crc = Partitioner::ConsistentRandom.partition(Some(b"123456789"), all);
        assert_eq!(crc, Some(0xcbf4_3926));
    }

    #[test]
    fn a_key_that_may_be_anywhere_has_no_partition() {
        let anywhere =
            |partitioner: Partitioner, key| partitioner.partition(key, among(12)).is_none();
        assert!(anywhere(Partitioner::Murmur2Random, None));
        assert!(!anywhere(Partitioner::Murmur2Random, Some(b"")));
        assert!(anywhere(Partitioner::ConsistentRandom, None));
        assert!(anywhere(Partitioner::ConsistentRandom, Some(b"")));
        assert!(anywhere(Partitioner::own(|_, _| Some(0)), None));
        assert!(anywhere(Partitioner::own(|_, _| None), Some(b"a")));
    }
}
