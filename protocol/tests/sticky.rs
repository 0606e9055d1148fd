//! User data of `sticky` and `cooperative-sticky`, byte by byte.
use proptest::prelude::*;
use rdkafka_assignor_protocol::consumer::{
    CooperativeStickyUserData, DecodeError, StickyUserData, TopicPartitions,
};

/// Topic `ab` with partitions 3 and 5.
const PREVIOUS: &[u8] = b"\0\0\0\x01\0\x02ab\0\0\0\x02\0\0\0\x03\0\0\0\x05";

fn previous() -> Vec<TopicPartitions> {
    let topic = "ab".to_owned();
    vec![TopicPartitions {
        topic,
        partitions: vec![3, 5],
    }]
}

#[test]
fn the_generation_came_with_version_one() {
    for (end, generation) in [
        (&b""[..], None),
        (b"\0\0\0\x07", Some(7)),
        (b"\xff\xff\xff\xff", None),
    ] {
        let read = StickyUserData::decode(&[PREVIOUS, end].concat());
        let previous = previous();
        assert_eq!(
            read,
            Ok(StickyUserData {
                previous,
                generation
            })
        );
    }
}

#[test]
fn the_cooperative_one_is_a_generation_alone() {
    let read = |bytes: &[u8]| CooperativeStickyUserData::decode(bytes).map(|read| read.generation);
    let field = "generation";
    assert_eq!(read(b"\0\0\0\x07"), Ok(Some(7)));
    assert_eq!(read(b"\xff\xff\xff\xff"), Ok(None));
    assert_eq!(read(b"\0\0\0"), Err(DecodeError::Truncated { field }));
    assert_eq!(read(b"\0\0\0\x07\0"), Err(DecodeError::Trailing { field }));
}

#[test]
fn what_is_cut_or_goes_on_is_refused() {
    let whole = [PREVIOUS, b"\0\0\0\x07"].concat();
    for end in (0..whole.len()).filter(|end| *end != PREVIOUS.len()) {
        assert!(StickyUserData::decode(&whole[..end]).is_err(), "{end}");
    }
    let field = "generation";
    let more = [&whole[..], b"\0"].concat();
    assert_eq!(
        StickyUserData::decode(&more),
        Err(DecodeError::Trailing { field })
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(read) = StickyUserData::decode(&bytes) {
            let numbers = read.previous.iter().map(|t| t.partitions.len()).sum::<usize>();
            prop_assert!(numbers * 4 <= bytes.len());
        }
        prop_assert_eq!(CooperativeStickyUserData::decode(&bytes).is_ok(), bytes.len() == 4);
    }
}
