//! What `shim.h` declares, field by field. Sizes are asserted here and there.
use std::ffi::{c_char, c_int, c_void};
use std::slice;

use rdkafka_sys::rd_kafka_t;

/// A handle's registration on the C side; lives until `closed`.
#[repr(C)]
pub(super) struct ShimClient {
    _opaque: [u8; 0],
}

/// Where `assign` puts its answer.
#[repr(C)]
pub(super) struct ShimAnswer {
    _opaque: [u8; 0],
}

/// Where `subscription_user_data` puts its answer.
#[repr(C)]
pub(super) struct ShimMetadata {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub data: *const u8,
    pub len: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Partition {
    pub topic: *const c_char,
    pub partition: i32,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Array<T> {
    pub items: *const T,
    pub len: usize,
}

pub(super) type Partitions = Array<Partition>;
pub(super) type Names = Array<*const c_char>;

#[repr(C)]
pub(super) struct Topic {
    pub name: *const c_char,
    pub racks: *const Names,
    pub partition_cnt: i32,
    pub reserved: i32,
}

#[repr(C)]
pub(super) struct Member {
    pub id: Bytes,
    pub instance: Bytes,
    pub rack: Bytes,
    pub user_data: Bytes,
    pub subscription: Partitions,
    pub owned: Partitions,
    pub generation: i32,
    pub reserved: i32,
}

#[repr(C)]
pub(super) struct Group {
    pub id: *const c_char,
    pub leader: *const c_char,
    pub topics: Array<Topic>,
    pub members: Array<Member>,
    pub generation: i32,
    pub reserved: i32,
}

#[repr(C)]
pub(super) struct Join {
    pub topics: Names,
    pub owned: Partitions,
    pub generation: i32,
    pub reserved: i32,
}

#[repr(C)]
pub(super) struct Assigned {
    pub member: *const c_char,
    pub partitions: Partitions,
    pub user_data: Bytes,
    pub generation: i32,
    pub reserved: i32,
}

#[repr(C)]
pub(super) struct Callbacks {
    pub assign: unsafe extern "C" fn(
        *mut c_void,
        *const Group,
        *mut ShimAnswer,
        *mut c_char,
        usize,
    ) -> c_int,
    pub subscription_user_data: unsafe extern "C" fn(*mut c_void, *const Join, *mut ShimMetadata),
    pub on_assignment: unsafe extern "C" fn(*mut c_void, *const Assigned),
    pub on_superseded: unsafe extern "C" fn(*mut c_void),
    pub on_revoked: unsafe extern "C" fn(*mut c_void, *const Partitions, c_int),
    pub closed: unsafe extern "C" fn(*mut c_void),
}

const _: () = {
    assert!(size_of::<Bytes>() == 16);
    assert!(size_of::<Partition>() == 16);
    assert!(size_of::<Partitions>() == 16);
    assert!(size_of::<Names>() == 16);
    assert!(size_of::<Topic>() == 24);
    assert!(size_of::<Member>() == 104);
    assert!(size_of::<Group>() == 56);
    assert!(size_of::<Join>() == 40);
    assert!(size_of::<Assigned>() == 48);
    assert!(size_of::<Callbacks>() == 48);
};

pub(super) const OK: c_int = 0;
pub(super) const NO_GROUP: c_int = 1;
pub(super) const CONSUMER_TYPE: c_int = 2;
pub(super) const NAME_TAKEN: c_int = 3;

unsafe extern "C" {
    #[link_name = "rdkafka_assignor_built_version"]
    pub(super) safe fn built_version() -> c_int;
    #[link_name = "rdkafka_assignor_attach"]
    pub(super) fn attach(
        rk: *mut rd_kafka_t,
        callbacks: *const Callbacks,
        opaque: *mut c_void,
        client: *mut *mut ShimClient,
    ) -> c_int;
    #[link_name = "rdkafka_assignor_add"]
    pub(super) fn add(
        client: *mut ShimClient,
        name: *const c_char,
        cooperative: c_int,
        opaque: *mut c_void,
    ) -> c_int;
    #[link_name = "rdkafka_assignor_order"]
    pub(super) fn order(client: *mut ShimClient, names: Names) -> c_int;
    #[link_name = "rdkafka_assignor_watch"]
    pub(super) fn watch(client: *mut ShimClient);
    #[link_name = "rdkafka_assignor_give"]
    pub(super) fn give(
        answer: *mut ShimAnswer,
        member: usize,
        topic: *const c_char,
        partitions: *const i32,
        partition_cnt: usize,
    );
    #[link_name = "rdkafka_assignor_give_user_data"]
    pub(super) fn give_user_data(
        answer: *mut ShimAnswer,
        member: usize,
        data: *const u8,
        len: usize,
    );
    #[link_name = "rdkafka_assignor_put_user_data"]
    pub(super) fn put_user_data(metadata: *mut ShimMetadata, data: *const u8, len: usize);
    #[link_name = "rdkafka_assignor_lost"]
    pub(super) fn lost(client: *mut ShimClient) -> c_int;
    #[link_name = "rdkafka_assignor_request_rebalance"]
    pub(super) fn request_rebalance(client: *mut ShimClient);
}

impl<T> Array<T> {
    /// `None` if the array was absent.
    ///
    /// # Safety
    /// As the shim hands it out: `len` initialised items, unchanged during `'a`, or a null pointer.
    pub(super) unsafe fn get<'a>(&self) -> Option<&'a [T]> {
        if self.items.is_null() {
            return None;
        }
        // SAFETY: what the caller guarantees.
        Some(unsafe { slice::from_raw_parts(self.items, self.len) })
    }
}

impl Bytes {
    /// `None` for Kafka's null.
    ///
    /// # Safety
    /// As the shim hands it out: `len` initialised bytes, unchanged during `'a`, or a null pointer.
    pub(super) unsafe fn get<'a>(&self) -> Option<&'a [u8]> {
        if self.data.is_null() {
            return None;
        }
        // SAFETY: what the caller guarantees.
        Some(unsafe { slice::from_raw_parts(self.data, self.len) })
    }
}
