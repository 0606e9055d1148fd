//! What librdkafka calls. Each callback is a few lines: read, call the assignor inside [`Slot::guard`], write.
//!
//! A panic is caught, logged with the assignor's name and the callback's, and becomes an outcome: an error from
//! `assign` (the leader retries), empty user data from `subscription_user_data`, nothing from the others.
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::{Dispatch, dispatcher, error};

use super::client::Client;
use super::ffi::{self, ShimAnswer, ShimMetadata};
use super::flat;
use crate::assignor::{
    Assigned, Assignment, Assignor, AssignorError, Join, RebalanceProtocol, Revoked,
};
use crate::round;

/// Everything that lives as long as a handle; owned by the C side between `attach` and `closed`.
pub(super) struct Registration {
    pub client: Arc<Client>,
    pub slots: Vec<Slot>,
}

/// One assignor of one handle.
pub(super) struct Slot {
    pub client: Arc<Client>,
    pub assignor: Arc<dyn Assignor>,
    pub name: String,
    pub protocol: RebalanceProtocol,
    /// The application's subscriber: the one of librdkafka's threads would be another.
    pub dispatch: Option<Dispatch>,
    pub attached: AtomicBool,
}

pub(super) static CALLBACKS: ffi::Callbacks = ffi::Callbacks {
    assign,
    subscription_user_data,
    on_assignment,
    on_superseded,
    on_revoked,
    closed,
};

impl Slot {
    /// Runs one callback of the assignor; a panic is logged and returned as an error.
    pub(super) fn guard<R>(
        &self,
        callback: &'static str,
        run: impl FnOnce() -> R,
    ) -> Result<R, AssignorError> {
        let logged = || {
            catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
                let message = panic_message(payload);
                error!(
                    assignor = %self.name, callback, client = %self.client.name(), group = %self.client.group_id(),
                    panic = %message, "assignor panicked"
                );
                AssignorError(format!("panicked in {callback}: {message}"))
            })
        };
        let dispatched = || match &self.dispatch {
            Some(dispatch) => dispatcher::with_default(dispatch, logged),
            None => logged(),
        };
        // Twice: the subscriber is the application's code as well.
        catch_unwind(AssertUnwindSafe(dispatched)).unwrap_or_else(|payload| {
            let message = panic_message(payload);
            Err(AssignorError(format!(
                "panicked in {callback}, logging: {message}"
            )))
        })
    }

    fn detach(&self) {
        if self.attached.swap(false, Ordering::AcqRel) {
            let _logged = self.guard("detach", || self.assignor.detach(&self.client));
        }
    }
}

/// The payload of a caught panic as text. A payload of another type is leaked: its drop might panic.
fn panic_message(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(message) => (*message).to_owned(),
            Err(payload) => {
                std::mem::forget(payload);
                "no message".to_owned()
            }
        },
    }
}

unsafe extern "C" fn assign(
    slot: *mut c_void,
    group: *const ffi::Group,
    answer: *mut ShimAnswer,
    errstr: *mut c_char,
    errstr_size: usize,
) -> c_int {
    // SAFETY: the opaque of `add`; slots live until `closed`, the handle's last callback.
    let slot = unsafe { &*slot.cast::<Slot>() };
    let decided = slot.guard("assign", || {
        // SAFETY: the shim's own group, valid during this call.
        let (group, order) = unsafe { flat::group(&*group) };
        let round = round::decide(slot.assignor.as_ref(), &slot.name, slot.protocol, &group)?;
        Ok((round, order))
    });
    match decided.and_then(|decided| decided) {
        Ok((round, order)) => {
            for (assignment, member) in round.iter().zip(order) {
                // SAFETY: the shim's own answer, and one of the indices it has numbered members by.
                unsafe { give(answer, member, assignment) }
            }
            ffi::OK
        }
        Err(error) => {
            // SAFETY: the buffer that came with the call.
            unsafe { write_text(errstr, errstr_size, &error.0) }
            1
        }
    }
}

/// # Safety
/// `answer` and `member` are the shim's.
unsafe fn give(answer: *mut ShimAnswer, member: usize, assignment: &Assignment) {
    for (topic, partitions) in &assignment.partitions {
        // Topics of a validated assignment come from C strings.
        let Ok(topic) = CString::new(topic.as_str()) else {
            continue;
        };
        // SAFETY: passed on from the caller; the other pointers are borrowed for the call.
        unsafe {
            ffi::give(
                answer,
                member,
                topic.as_ptr(),
                partitions.as_ptr(),
                partitions.len(),
            )
        }
    }
    let data = &assignment.user_data;
    // SAFETY: as above.
    unsafe { ffi::give_user_data(answer, member, data.as_ptr(), data.len()) }
}

/// Writes as much of `text` as fits, NUL-terminated.
///
/// # Safety
/// `buffer` has room for `size` bytes.
unsafe fn write_text(buffer: *mut c_char, size: usize, text: &str) {
    let Some(room) = size.checked_sub(1) else {
        return;
    };
    let len = (0..=room.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or_default();
    // SAFETY: `len` bytes and the NUL fit, as the caller guarantees.
    unsafe {
        buffer
            .cast::<u8>()
            .copy_from_nonoverlapping(text.as_ptr(), len);
        buffer.add(len).write(0);
    }
}

unsafe extern "C" fn subscription_user_data(
    slot: *mut c_void,
    join: *const ffi::Join,
    metadata: *mut ShimMetadata,
) {
    // SAFETY: the opaque of `add`; slots live until `closed`, the handle's last callback.
    let slot = unsafe { &*slot.cast::<Slot>() };
    let user_data = slot.guard("subscription_user_data", || {
        // SAFETY: the shim's own join, valid during this call.
        let (join, topics, owned) = unsafe {
            let join = &*join;
            (
                join,
                flat::names(&join.topics),
                flat::partitions(&join.owned, &slot.client.name()),
            )
        };
        slot.assignor.subscription_user_data(&Join {
            client: &slot.client,
            topics: &topics,
            owned: &owned,
            generation: (join.generation >= 0).then_some(join.generation),
        })
    });
    let user_data = user_data.unwrap_or_default();
    // SAFETY: the shim's own metadata; the bytes are borrowed for the call.
    unsafe { ffi::put_user_data(metadata, user_data.as_ptr(), user_data.len()) }
}

unsafe extern "C" fn on_assignment(slot: *mut c_void, assigned: *const ffi::Assigned) {
    // SAFETY: the opaque of `add`; slots live until `closed`, the handle's last callback.
    let slot = unsafe { &*slot.cast::<Slot>() };
    let _logged = slot.guard("on_assignment", || {
        // SAFETY: the shim's own assignment, valid during this call.
        let (assigned, member, partitions, user_data) = unsafe {
            let assigned = &*assigned;
            (
                assigned,
                flat::text(assigned.member).to_string_lossy(),
                flat::partitions(&assigned.partitions, &slot.client.name()),
                assigned.user_data.get().unwrap_or_default(),
            )
        };
        slot.assignor.on_assignment(&Assigned {
            client: &slot.client,
            member: &member,
            generation: assigned.generation,
            partitions: &partitions,
            user_data,
        });
    });
}

unsafe extern "C" fn on_superseded(slot: *mut c_void) {
    // SAFETY: the opaque of `add`; slots live until `closed`, the handle's last callback.
    let slot = unsafe { &*slot.cast::<Slot>() };
    let _logged = slot.guard("on_superseded", || {
        slot.assignor.on_superseded(&slot.client);
    });
}

unsafe extern "C" fn on_revoked(
    registration: *mut c_void,
    list: *const ffi::Partitions,
    lost: c_int,
) {
    // SAFETY: the opaque of `attach`; it lives until `closed`, the handle's last callback.
    let registration = unsafe { &*registration.cast::<Registration>() };
    for slot in &registration.slots {
        let _logged = slot.guard("on_revoked", || {
            // SAFETY: the shim's own list, valid during this call.
            let partitions = unsafe { flat::partitions(&*list, &slot.client.name()) };
            slot.assignor.on_revoked(&Revoked {
                client: &slot.client,
                partitions: &partitions,
                lost: lost != 0,
            });
        });
    }
}

unsafe extern "C" fn closed(registration: *mut c_void) {
    // SAFETY: the opaque of `attach`, from `Box::into_raw`, given back here once.
    let registration = unsafe { Box::from_raw(registration.cast::<Registration>()) };
    registration.client.close();
    for slot in &registration.slots {
        slot.detach();
    }
    // The assignors' own drop may run here: contain it like a callback.
    let _contained = catch_unwind(AssertUnwindSafe(|| drop(registration)));
}
