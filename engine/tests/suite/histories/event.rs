//! What happens to a group between two rebalances.
use proptest::prelude::*;

/// What happens between two rebalances; numbers of members and topics count modulo how many there are.
#[derive(Clone, Debug)]
pub enum Event {
    Join {
        capacity: u32,
        rack: Option<u8>,
        without: Option<usize>,
        undeclared: bool,
    },
    Leave(usize),
    /// Leaves, and a newcomer joins within the same rebalance.
    Replace(usize),
    /// Falls out of the group with its claims.
    Pause(usize),
    /// A zombie returns with the claims it fell out with.
    Resume(usize),
    /// Does not learn what this rebalance gave it.
    MissSync(usize),
    /// Forgets its claims and finds its state on disk.
    Restart(usize),
    /// The topic grows, shrinks (recreated) or comes back.
    Resize(usize, u32),
    Delete(usize),
    /// Subscribes to the topic, or no longer.
    Subscribe(usize, usize),
    Capacity(usize, u32),
    Replicas(u32),
    Lie(usize, Lie),
}

/// What a member may claim against all reason.
#[derive(Clone, Debug)]
pub enum Lie {
    Negative,
    BeyondTheEnd,
    Everything,
    Twice,
    UnknownTopic,
    FromTheFuture,
}

/// The group before its first rebalance.
#[derive(Clone, Debug)]
pub struct Start {
    pub counts: [u32; 4],
    pub tables: [bool; 4],
    pub members: usize,
    pub replicas: u32,
    pub copartition: u8,
}

/// Any event; where all members must stay `alike` only those that leave them so.
pub fn event(alike: bool) -> impl Strategy<Value = Event> {
    let place = || 0..8_usize;
    let lie = prop_oneof![
        Just(Lie::Negative),
        Just(Lie::BeyondTheEnd),
        Just(Lie::Everything),
        Just(Lie::Twice),
        Just(Lie::UnknownTopic),
        Just(Lie::FromTheFuture),
    ];
    let join = (
        1..4_u32,
        proptest::option::of(0..2_u8),
        proptest::option::weighted(0.3, 0..4_usize),
        any::<u8>(),
    );
    let join = join.prop_map(move |(capacity, rack, without, odd)| match alike {
        true => Event::Join {
            capacity: 1,
            rack,
            without: None,
            undeclared: false,
        },
        false => Event::Join {
            capacity,
            rack,
            without,
            undeclared: odd < 40,
        },
    });
    prop_oneof![
        4 => join,
        2 => place().prop_map(Event::Leave),
        2 => place().prop_map(Event::Replace),
        2 => place().prop_map(Event::Pause),
        3 => place().prop_map(Event::Resume),
        1 => place().prop_map(Event::MissSync),
        1 => place().prop_map(Event::Restart),
        2 => (0..4_usize, 0..9_u32).prop_map(|(topic, count)| Event::Resize(topic, count)),
        1 => (0..4_usize).prop_map(Event::Delete),
        1 => (0..4_u32).prop_map(Event::Replicas),
        2 => (place(), lie).prop_map(|(member, lie)| Event::Lie(member, lie)),
        3 => (place(), 0..4_usize, 1..4_u32, 0..3_u8).prop_map(move |(member, topic, capacity, odd)| match odd {
            _ if alike => Event::Leave(member),
            0 => Event::Capacity(member, capacity),
            _ => Event::Subscribe(member, topic),
        }),
    ]
}

/// Any first group.
pub fn start() -> impl Strategy<Value = Start> {
    let counts = prop_oneof![
        Just([4, 4, 6, 1]),
        Just([5, 5, 5, 0]),
        [0..7_u32, 0..7, 0..7, 0..7]
    ];
    (counts, any::<[bool; 4]>(), 1..6_usize, 0..4_u32, 0..4_u8).prop_map(
        |(counts, tables, members, replicas, copartition)| Start {
            counts,
            tables,
            members,
            replicas,
            copartition,
        },
    )
}
