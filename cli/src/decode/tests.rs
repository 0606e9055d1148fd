//! Everything that a real Faust group wrote is read, and whatever is made of it is read or refused.
use clap::ValueEnum;
use data_encoding::HEXLOWER;
use rdkafka_assignor_protocol::{PartitionSet, SubscriptionUserData};
use serde_json::Value;

use super::{Kind, detect, node, text};

/// Both forms; nothing that a stranger wrote reaches the terminal as it is.
fn printed(read: &node::Node) -> (Value, String) {
    let (mut json, mut plain) = (Vec::new(), Vec::new());
    node::write_json(read, &mut json).expect("a vector takes it");
    text::write(read, &mut plain).expect("a vector takes it");
    let plain = String::from_utf8(plain).expect("UTF-8");
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!plain.contains(control), "{plain:?}");
    (serde_json::from_slice(&json).expect("JSON"), plain)
}

/// Read in every way there is; what matters is to come back.
fn survived(bytes: &[u8]) {
    let kinds = Kind::value_variants().iter();
    let forced = kinds.map(|kind| detect::of_kind(*kind, bytes));
    for read in forced.chain([detect::any(bytes)]) {
        match read {
            Ok(read) => drop(printed(&read)),
            Err(error) => {
                let sentence = format!("{error:#}");
                assert!(
                    sentence.len() < 1000 && !sentence.contains(char::is_control),
                    "{sentence}"
                );
            }
        }
    }
}

/// Every string of bytes in the fixture, with the name of its field.
fn byte_strings(value: &Value, found: &mut Vec<(String, Vec<u8>)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.ends_with("_hex"), value.as_str()) {
                    (true, Some(hex)) => {
                        let bytes = HEXLOWER.decode(hex.as_bytes()).expect("hexadecimal");
                        found.push((name.clone(), bytes));
                    }
                    _ => byte_strings(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| byte_strings(item, found)),
        _ => (),
    }
}

fn fixture() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for line in include_str!("../../../protocol/tests/faust/group.jsonl").lines() {
        byte_strings(&serde_json::from_str(line).expect("a case"), &mut found);
    }
    found
}

#[test]
fn every_byte_string_of_a_faust_group_is_recognised() {
    let mut unread = Vec::new();
    let fixture = fixture();
    for (field, bytes) in &fixture {
        let expected = match field.as_str() {
            "member_assignment_hex" => "assignment",
            _ => "faust",
        };
        match detect::any(bytes) {
            Ok(read) => assert_eq!(printed(&read).0["kind"], expected),
            Err(_) => unread.push(bytes.clone()),
        }
    }
    // What two members sent is no user data of anybody.
    assert_eq!(unread, [vec![], vec![0xff, 0xfe, 0]]);
    assert_eq!(fixture.len(), 145, "the fixture is whole");
}

#[test]
fn whole_assignments_show_their_partitions_and_user_data() {
    let whole = fixture().into_iter();
    for (_, bytes) in whole.filter(|(field, _)| field == "member_assignment_hex") {
        let (json, plain) = printed(&detect::any(&bytes).expect("readable"));
        assert_eq!(json["version"], 4);
        assert_eq!(json["user_data"]["kind"], "faust");
        assert_eq!(json["user_data"]["compressed"], true);
        assert!(plain.contains("\n  src "), "{plain}");
    }
}

#[test]
fn cut_and_flipped_bytes_are_read_or_refused() {
    let mut samples: Vec<Vec<u8>> = fixture().into_iter().map(|(_, bytes)| bytes).collect();
    samples.sort();
    samples.dedup();
    let mut ours = SubscriptionUserData::new("shop");
    let everything = PartitionSet::from_iter(std::iter::once(0..u32::MAX));
    ours.active
        .partitions
        .insert("\u{1b}[2J\n".into(), everything);
    samples.push(ours.encode().expect("writable"));
    samples.push(b"\0\0\0\x01\0\x01a\0\0\0\x02\0\0\0\x04\0\0\0\x05\0\0\0\x07".to_vec());
    for whole in samples {
        survived(&whole);
        for place in 0..whole.len() {
            survived(&whole[..place]);
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            survived(&flipped);
        }
    }
}
