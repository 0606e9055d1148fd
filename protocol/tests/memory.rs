//! Memory: what reading allocates is bounded by the bytes that are there, whatever lengths they claim.
//!
//! Everything that is allocated on the way is added up, freed or not, so the bounds hold for peaks all the more.
use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rdkafka_assignor_protocol::consumer::{Assignment, Subscription};
use rdkafka_assignor_protocol::{
    AssignmentUserData, FaustUserData, MAX_COMPRESSED, MAX_INFLATED, MAX_ROUTES_INFLATED, Routes,
    SubscriptionUserData,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use support::{
    ASSIGNMENT_FIELDS, ROUTES_FIELDS, SUBSCRIPTION_FIELDS, assignment, body_at,
    example_subscription, replace, routes, subscription,
};

#[path = "user_data/support.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated however short the input is: the state of the decompressor, error texts, and what the
/// test harness happens to do on its own thread.
const FIXED: usize = 128 << 10;

/// Bytes that reading user data allocates per inflated byte, at most.
const PER_INFLATED_BYTE: usize = 40;

/// Bytes that reading the consumer protocol allocates per byte, at most.
const PER_BYTE: usize = 32;

/// Held by every test from its first line, as the allocator counts for all threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that `read` allocates, added up.
fn allocated<T>(read: impl FnOnce() -> T) -> usize {
    let region = Region::new(ALLOCATOR);
    let value = read();
    let change = region.change();
    drop(value);
    change.bytes_allocated
}

type Layout = (&'static [(&'static str, &'static [u8])], fn(&[u8]) -> usize);

/// Fields of a layout, and what reading user data with a body of it allocates.
const LAYOUTS: [Layout; 3] = [
    (&SUBSCRIPTION_FIELDS, |body| {
        let user_data = subscription(body);
        allocated(|| SubscriptionUserData::decode(&user_data))
    }),
    (&ASSIGNMENT_FIELDS, |body| {
        let user_data = assignment(body);
        allocated(|| AssignmentUserData::decode(&user_data))
    }),
    (&ROUTES_FIELDS, |body| {
        let user_data = routes(body);
        allocated(|| Routes::decode(&user_data))
    }),
];

const HUGE: [&[u8]; 4] = [
    &[251, 0xff, 0xff],
    &[252, 0xff, 0xff, 0xff, 0x7f],
    &[253, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
    &[253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];

#[test]
fn a_claimed_length_allocates_nothing_in_any_field() {
    let _alone = alone();
    for (fields, read) in LAYOUTS {
        for (field, _) in fields {
            for huge in HUGE {
                for bytes in [
                    huge.to_vec(),
                    [&[1], huge].concat(),
                    [b"\x01\x01t\x00", huge].concat(),
                ] {
                    let used = read(&replace(fields, field, &bytes));
                    assert!(used < FIXED, "{field} {bytes:?}: {used} bytes");
                }
            }
        }
    }
}

#[test]
fn a_claimed_length_allocates_nothing_at_any_byte() {
    let _alone = alone();
    let body = body_at(&example_subscription().encode().unwrap(), 11);
    let plain = LAYOUTS[0].1(&body);
    for at in 0..body.len() {
        for huge in HUGE {
            let used = LAYOUTS[0].1(&[&body[..at], huge, &body[at..]].concat());
            assert!(
                used < plain + FIXED,
                "byte {at}: {used} bytes, {plain} without"
            );
        }
    }
}

/// As many elements as fit into `limit` bytes, behind their count.
fn filled(limit: usize, element: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let mut elements = Vec::new();
    let mut count = 0_u32;
    loop {
        let next = element(count);
        if elements.len() + next.len() + 100 > limit {
            break;
        }
        elements.extend(next);
        count += 1;
    }
    [&[252][..], &count.to_le_bytes(), &elements].concat()
}

/// A short name that ascends with `index`.
fn name(index: u32) -> Vec<u8> {
    let digits = format!("{index:05x}");
    [&[u8::try_from(digits.len()).unwrap()], digits.as_bytes()].concat()
}

/// A set of alternating partitions: the bitmap that needs the most ranges.
fn alternating(bytes: usize) -> Vec<u8> {
    let length = u32::try_from(bytes).unwrap().to_le_bytes();
    [&[1, 0, 252][..], &length, &vec![0x55; bytes]].concat()
}

#[test]
fn the_worst_subscriptions_stay_within_the_bound() {
    let _alone = alone();
    let sets = |index| [&name(index)[..], &[1, 0, 1, 0x55]].concat();
    let named = |index| [&name(index)[..], &[0, 0]].concat();
    let table = |index| [&name(index)[..], &[0, 0]].concat();
    let lag = |index: u32| [&[252][..], &index.to_le_bytes(), &[0]].concat();
    let size = MAX_INFLATED - 100;
    let lags = [&b"\x01\x01t"[..], &filled(size, lag)].concat();
    let worst = [
        (
            "active.partitions",
            [&b"\x01\x01t"[..], &alternating(size)].concat(),
        ),
        ("standby.partitions", filled(size, sets)),
        ("local_state", filled(size, named)),
        ("tables", filled(size, table)),
        (
            "global_tables",
            filled(size, |index| [name(index), vec![0]].concat()),
        ),
        ("copartition", [vec![1, 1], filled(size, name)].concat()),
        ("lag", lags),
    ];
    for (field, bytes) in worst {
        let user_data = subscription(&replace(&SUBSCRIPTION_FIELDS, field, &bytes));
        let mut read = None;
        let used = allocated(|| read = Some(SubscriptionUserData::decode(&user_data)));
        assert!(matches!(read, Some(Ok(_))), "{field}: {read:.200?}");
        let bound = FIXED + MAX_INFLATED * PER_INFLATED_BYTE;
        assert!(used < bound, "{field}: {used} bytes of {bound}");
    }
}

#[test]
fn the_worst_assignments_stay_within_the_bound() {
    let _alone = alone();
    let size = MAX_INFLATED - 100;
    let worst = [
        ("standby", [&b"\x01\x01t"[..], &alternating(size)].concat()),
        (
            "global",
            filled(size, |index| [name(index), vec![0]].concat()),
        ),
        ("errors", filled(size, |_| vec![0, 0])),
    ];
    for (field, bytes) in worst {
        let user_data = assignment(&replace(&ASSIGNMENT_FIELDS, field, &bytes));
        let mut read = None;
        let used = allocated(|| read = Some(AssignmentUserData::decode(&user_data)));
        assert!(matches!(read, Some(Ok(_))), "{field}");
        let bound = FIXED + MAX_INFLATED * PER_INFLATED_BYTE;
        assert!(used < bound, "{field}: {used} bytes of {bound}");
    }
}

#[test]
fn the_worst_routes_stay_within_the_bound() {
    let _alone = alone();
    let size = MAX_ROUTES_INFLATED - 100;
    let group = |index| [&[1][..], &name(index), &[0, 0, 0, 0]].concat();
    let copies = filled(size, |_| vec![0, 0, 0, 0]);
    let worst = [
        ("hosts", filled(MAX_COMPRESSED, name)),
        ("groups", filled(size / 2, group)),
        ("groups", [&[1, 0, 0, 0, 0][..], &copies].concat()),
        (
            "groups",
            [
                &b"\x01\0\0\xfc\x40\x42\x0f\0\x01\0"[..],
                &alternating(125_000),
                &[0],
            ]
            .concat(),
        ),
    ];
    for (field, bytes) in worst {
        let user_data = routes(&replace(&ROUTES_FIELDS, field, &bytes));
        let mut read = None;
        let used = allocated(|| read = Some(Routes::decode(&user_data)));
        assert!(matches!(read, Some(Ok(_))), "{field}: {read:.200?}");
        let bound = FIXED + MAX_ROUTES_INFLATED * PER_INFLATED_BYTE;
        assert!(used < bound, "{field}: {used} bytes of {bound}");
    }
}

#[test]
fn a_bomb_allocates_no_more_than_the_cap() {
    let _alone = alone();
    let bomb = subscription(&vec![0; 64 << 20]);
    let used = allocated(|| SubscriptionUserData::decode(&bomb));
    assert!(used < FIXED + 3 * MAX_INFLATED, "{used} bytes");
}

#[test]
fn a_million_partitions_are_one_range() {
    let _alone = alone();
    let claim = b"\x01\x01t\x00\x01\x00\xfc\x3f\x42\x0f\x00";
    let user_data = subscription(&replace(&SUBSCRIPTION_FIELDS, "local_state", claim));
    let mut read = None;
    let used = allocated(|| read = SubscriptionUserData::decode(&user_data).ok());
    assert_eq!(read.unwrap().local_state["t"].len(), 1_000_000);
    assert!(used < FIXED, "{used} bytes");
}

#[test]
fn counts_of_the_consumer_protocol_allocate_nothing() {
    let _alone = alone();
    let user_data = &b"\0\x03\0\0\0\0"[..];
    let owned = &b"\0\x03\0\0\0\0\xff\xff\xff\xff"[..];
    let partitions = &b"\0\x03\0\0\0\0\xff\xff\xff\xff\0\0\0\x01\0\0"[..];
    for before in [b"\0\x03", user_data, owned, partitions] {
        for count in [1_i32 << 20, i32::MAX] {
            let bytes = [before, &count.to_be_bytes(), &[0; 40]].concat();
            let subscription = allocated(|| Subscription::decode(&bytes));
            let assignment = allocated(|| Assignment::decode(&bytes));
            let used = subscription.max(assignment);
            assert!(used < FIXED, "{before:?}, {count}: {used} bytes");
        }
    }
}

#[test]
fn the_worst_bytes_of_the_consumer_protocol_stay_within_the_bound() {
    let _alone = alone();
    let count: u32 = 100_000;
    let empty_names = vec![0; 2 * count as usize];
    let topics = [&[0, 0][..], &count.to_be_bytes(), &empty_names, &[0xff; 4]].concat();
    let empty_topics = vec![0; 6 * count as usize];
    let assigned = [&[0, 0][..], &count.to_be_bytes(), &empty_topics, &[0xff; 4]].concat();
    let used = allocated(|| Subscription::decode(&topics).unwrap());
    assert!(used < FIXED + topics.len() * PER_BYTE, "{used} bytes");
    let used = allocated(|| Assignment::decode(&assigned).unwrap());
    assert!(used < FIXED + assigned.len() * PER_BYTE, "{used} bytes");
}

#[test]
fn fausts_json_allocates_in_proportion_to_its_length() {
    let _alone = alone();
    let names: String = (0..100_000).map(|n| format!("\"{n}\":[],")).collect();
    let numbers = "0,".repeat(500_000);
    let unknown = "[".repeat(500_000);
    for json in [
        format!(r#"{{"assignment":{{"actives":{{{names}"":[0]}}}}}}"#),
        format!(r#"{{"assignment":{{"actives":{{"a":[{numbers}0]}}}}}}"#),
        format!(r#"{{"url":"{numbers}"}}"#),
        format!(r#"{{"unknown":{unknown}"#),
    ] {
        let used = allocated(|| FaustUserData::decode(json.as_bytes()));
        assert!(
            used < FIXED + json.len() * PER_BYTE,
            "{used} bytes of {}",
            json.len()
        );
    }
}
