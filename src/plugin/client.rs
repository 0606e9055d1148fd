//! A consumer as its assignors see it: a few questions that stay safe when the consumer is gone.
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ffi::{self, ShimClient};

/// One consumer, as its assignors see it; outlives it safely.
pub struct Client {
    id: u64,
    name: String,
    group_id: String,
    /// Taken away in the handle's final destroy; every use of the pointer holds the lock.
    handle: Mutex<Option<Handle>>,
}

struct Handle(NonNull<ShimClient>);

// SAFETY: the functions of the shim that take it may be called from any thread until `closed`.
unsafe impl Send for Handle {}

impl Client {
    /// Unique in this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// librdkafka's name of the client, such as `rdkafka#consumer-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `group.id`.
    pub fn group_id(&self) -> &str {
        &self.group_id
    }

    /// Whether librdkafka considers the current assignment lost, asked live; `true` once the consumer is closed,
    /// gone, or in a fatal error.
    pub fn assignment_lost(&self) -> bool {
        match *self.handle() {
            // SAFETY: the handle is there until `close` takes it, which the lock keeps out.
            Some(Handle(shim)) => unsafe { ffi::lost(shim.as_ptr()) != 0 },
            None => true,
        }
    }

    /// Ask for a rebalance; partitions stay as they are until it is done, or, under the eager protocol, until it
    /// begins. While one is under way, or no coordinator is known, the request waits. Does nothing once the
    /// consumer is gone.
    ///
    /// A broker begins one for the group's leader; for another member only if its subscription, user data included, is
    /// not what it was.
    pub fn request_rebalance(&self) {
        if let Some(Handle(shim)) = *self.handle() {
            // SAFETY: the handle is there until `close` takes it, which the lock keeps out.
            unsafe { ffi::request_rebalance(shim.as_ptr()) }
        }
    }

    /// A client without a consumer behind it, as after the consumer is gone.
    pub(crate) fn detached(name: &str, group_id: &str) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Client {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: name.to_owned(),
            group_id: group_id.to_owned(),
            handle: Mutex::new(None),
        })
    }

    pub(super) fn open(&self, shim: NonNull<ShimClient>) {
        *self.handle() = Some(Handle(shim));
    }

    /// Returns when nobody uses the handle any more, and nobody will.
    pub(super) fn close(&self) {
        *self.handle() = None;
    }

    fn handle(&self) -> MutexGuard<'_, Option<Handle>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("group_id", &self.group_id)
            .finish_non_exhaustive()
    }
}
