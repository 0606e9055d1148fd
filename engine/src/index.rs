//! Dense indices: names are interned once at the door, and everything behind it works on these.
//!
//! ```text
//! topics  audit = 0, orders = 1, users = 2      members  (instance or id, id) in order = 0, 1, 2, ..
//! ```
use index_vec::define_index_type;

define_index_type! {
    /// A topic that exists and has a subscriber, in order of names.
    pub(crate) struct TopicIx = u32;
}

define_index_type! {
    /// A table that is believed, in order of names.
    pub(crate) struct TableIx = u32;
}

define_index_type! {
    /// A member, in order of (instance or id, id): a restarted static member keeps its place.
    pub(crate) struct MemberIx = u32;
}

define_index_type! {
    /// A co-partition group, in order of its first topic.
    pub(crate) struct GroupIx = u32;
}

define_index_type! {
    /// A rack that some member names, in order of names.
    pub(crate) struct RackIx = u32;
}
