//! The worked examples in DESIGN.md are what this crate writes and reads.
use std::path::Path;

use rdkafka_assignor_protocol::{
    AssignmentUserData, Delivered, GlobalTable, GroupRoutes, Routes, Served, ServedCopy,
    SubscriptionUserData,
};

use crate::support::{body_at, example_subscription, set};

/// The member's part of the assignment that DESIGN.md shows.
fn example_assignment() -> AssignmentUserData {
    AssignmentUserData {
        generation: Some(8),
        epoch: 3,
        standby: [("counts".into(), set(&[4, 5]))].into(),
        global: vec![GlobalTable {
            name: "countries".into(),
            partitions: 4,
        }],
        errors: vec![Delivered {
            code: 1,
            text: "a: 3, b: 4".into(),
        }],
    }
}

/// The route block of the assignment that DESIGN.md shows.
fn example_routes() -> Routes {
    let served = |host, numbers: &[u32]| Served {
        host,
        partitions: set(numbers),
    };
    let copy = |host, numbers: &[u32]| ServedCopy {
        host,
        tables: vec![0],
        partitions: set(numbers),
    };
    Routes {
        hosts: vec!["h1:80".into(), "h2:80".into()],
        groups: vec![GroupRoutes {
            topics: vec!["orders".into(), "users".into()],
            tables: vec!["counts".into()],
            partitions: 8,
            active: vec![served(0, &[0, 1, 2, 3]), served(1, &[4, 5, 7])],
            standby: vec![copy(1, &[0, 1, 2, 3]), copy(0, &[4, 5])],
        }],
    }
}

/// The bytes of the code block ```` ```hex NAME ````: on every line those before the first two spaces.
fn shown(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../DESIGN.md");
    let design = std::fs::read_to_string(path).unwrap();
    let opening = format!("```hex {name}\n");
    let (_, block) = design.split_once(&opening).unwrap();
    let (block, _) = block.split_once("\n```").unwrap();
    let bytes = block.lines().flat_map(|line| {
        let hex = line.split("  ").next().unwrap_or_default();
        hex.split(' ').filter(|byte| !byte.is_empty())
    });
    bytes
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

/// Hexadecimal, so that a difference can be read.
fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

const PARTS: usize = 11;

#[test]
fn the_subscription_that_the_design_shows_is_written_and_read() {
    let shown_bytes = shown("subscription");
    let member = example_subscription();
    assert_eq!(hex(&member.encode().unwrap()), hex(&shown_bytes));
    assert_eq!(
        hex(&body_at(&shown_bytes, PARTS)),
        hex(&shown("subscription body"))
    );
    assert_eq!(SubscriptionUserData::decode(&shown_bytes), Ok(member));
}

#[test]
fn the_assignment_that_the_design_shows_is_written_and_read() {
    let shown_bytes = shown("assignment");
    let routes = example_routes();
    let block = routes.encode().unwrap();
    let bytes = example_assignment().encode(Some(&block)).unwrap();
    assert_eq!(hex(&bytes), hex(&shown_bytes));
    let routes_at = shown_bytes.len() - block.as_bytes().len();
    assert_eq!(
        hex(&body_at(&shown_bytes, PARTS)),
        hex(&shown("assignment body"))
    );
    assert_eq!(
        hex(&body_at(&shown_bytes, routes_at)),
        hex(&shown("routes body"))
    );
    assert_eq!(
        AssignmentUserData::decode(&shown_bytes),
        Ok(example_assignment())
    );
    assert_eq!(Routes::decode(&shown_bytes), Ok(Some(routes)));
}
