//! Putting assignors into a live handle, before anybody can have subscribed with it.
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rdkafka::consumer::{Consumer, ConsumerContext};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, dispatcher};

use super::callbacks::{CALLBACKS, Registration, Slot};
use super::client::Client;
use super::ffi::{self, ShimClient};
use crate::assignor::{Assignor, AssignorError, RebalanceProtocol};

/// An assignor with the answers it gave when it was asked.
pub(crate) struct Registered {
    pub assignor: Arc<dyn Assignor>,
    pub name: String,
    pub protocol: RebalanceProtocol,
}

/// Why a handle could not take them.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is not a member of a group.
    NoGroup,
    /// Its group assigns on the broker.
    ConsumerProtocol,
    /// librdkafka has an assignor of that name.
    NameTaken(String),
    /// The assignor does not want the consumer.
    Refused(String, AssignorError),
    /// librdkafka refused.
    Internal(&'static str),
}

/// The versions of librdkafka that the shim was built for and that is running, if they differ.
pub(crate) fn check_version() -> Result<(), (i32, i32)> {
    // SAFETY: takes no arguments and reads a constant.
    let running = unsafe { rdkafka_sys::rd_kafka_version() };
    same_version(ffi::built_version(), running)
}

fn same_version(built: i32, running: i32) -> Result<(), (i32, i32)> {
    if built == running {
        Ok(())
    } else {
        Err((built, running))
    }
}

/// Adds the assignors to the consumer's handle and makes `order` its strategy list.
///
/// After an error the consumer is of no use; what was attached is detached when it is dropped.
pub(crate) fn register<X: ConsumerContext>(
    consumer: &impl Consumer<X>,
    group_id: &str,
    assignors: &[Registered],
    order: &[String],
) -> Result<(), Failure> {
    let rk = consumer.client().native_ptr();
    // SAFETY: a live handle, borrowed from the consumer; its name is a string that lives as long.
    let name = unsafe { CStr::from_ptr(rdkafka_sys::rd_kafka_name(rk)) };
    let client = Client::detached(&name.to_string_lossy(), group_id);
    let registration = Box::new(registration(client, assignors));
    let (shim, registration) = hand_over(rk, registration)?;
    for slot in &registration.slots {
        add(shim, slot)?;
    }
    set_order(shim, order)?;
    // SAFETY: the shim's own client, alive while the consumer is borrowed.
    unsafe { ffi::watch(shim.as_ptr()) }
    // Last: from here on somebody may ask for a rebalance, and librdkafka's main thread goes through the list.
    for slot in &registration.slots {
        attach(slot)?;
    }
    Ok(())
}

fn registration(client: Arc<Client>, assignors: &[Registered]) -> Registration {
    let dispatch = current_dispatch();
    let slot = |registered: &Registered| Slot {
        client: Arc::clone(&client),
        assignor: Arc::clone(&registered.assignor),
        name: registered.name.clone(),
        protocol: registered.protocol,
        dispatch: dispatch.clone(),
        attached: AtomicBool::new(false),
    };
    Registration {
        slots: assignors.iter().map(slot).collect(),
        client,
    }
}

/// The subscriber of this thread, unless there is none: one may be installed globally later.
fn current_dispatch() -> Option<Dispatch> {
    let dispatch = dispatcher::get_default(Clone::clone);
    (!dispatch.is::<NoSubscriber>()).then_some(dispatch)
}

/// Gives the registration to the handle; what comes back lives while the consumer is borrowed.
fn hand_over<'a>(
    rk: *mut rdkafka_sys::rd_kafka_t,
    registration: Box<Registration>,
) -> Result<(NonNull<ShimClient>, &'a Registration), Failure> {
    let mut shim = ptr::null_mut();
    let opaque = Box::into_raw(registration);
    // SAFETY: a live handle; the opaque is given back in `closed`, or, after an error, never taken.
    let code = unsafe { ffi::attach(rk, &CALLBACKS, opaque.cast(), &mut shim) };
    let Some(shim) = NonNull::new(shim).filter(|_| code == ffi::OK) else {
        // SAFETY: not taken, so still ours alone.
        drop(unsafe { Box::from_raw(opaque) });
        return Err(failure(code, ""));
    };
    // SAFETY: from now on shared with the C side, and not given back before the consumer is dropped.
    let registration = unsafe { &*opaque };
    registration.client.open(shim);
    Ok((shim, registration))
}

fn add(shim: NonNull<ShimClient>, slot: &Slot) -> Result<(), Failure> {
    let Ok(name) = CString::new(slot.name.as_str()) else {
        return Err(Failure::Internal("the name contains a NUL"));
    };
    let cooperative = c_int::from(slot.protocol == RebalanceProtocol::Cooperative);
    let opaque = ptr::from_ref(slot).cast_mut().cast();
    // SAFETY: the shim's own client; the name is copied; the slot lives until `closed` and is only read.
    match unsafe { ffi::add(shim.as_ptr(), name.as_ptr(), cooperative, opaque) } {
        ffi::OK => Ok(()),
        code => Err(failure(code, &slot.name)),
    }
}

fn attach(slot: &Slot) -> Result<(), Failure> {
    let refused = |error| Failure::Refused(slot.name.clone(), error);
    slot.guard("attach", || slot.assignor.attach(&slot.client))
        .and_then(|answer| answer)
        .map_err(refused)?;
    slot.attached.store(true, Ordering::Release);
    Ok(())
}

fn set_order(shim: NonNull<ShimClient>, order: &[String]) -> Result<(), Failure> {
    let names: Result<Vec<CString>, _> = order
        .iter()
        .map(|name| CString::new(name.as_str()))
        .collect();
    let Ok(names) = names else {
        return Err(Failure::Internal("a name contains a NUL"));
    };
    let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let array = ffi::Array {
        items: names.as_ptr(),
        len: names.len(),
    };
    // SAFETY: the shim's own client; the names are borrowed for the call.
    match unsafe { ffi::order(shim.as_ptr(), array) } {
        ffi::OK => Ok(()),
        _ => Err(Failure::Internal(
            "it does not know an assignor of the list",
        )),
    }
}

fn failure(code: c_int, name: &str) -> Failure {
    match code {
        ffi::NO_GROUP => Failure::NoGroup,
        ffi::CONSUMER_TYPE => Failure::ConsumerProtocol,
        ffi::NAME_TAKEN => Failure::NameTaken(name.to_owned()),
        _ => Failure::Internal("it does not take the assignor"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_librdkafka_at_run_time_is_noticed() {
        assert_eq!(same_version(0x020c_01ff, 0x020c_01ff), Ok(()));
        assert_eq!(
            same_version(0x020c_01ff, 0x020c_02ff),
            Err((0x020c_01ff, 0x020c_02ff))
        );
        assert_eq!(check_version(), Ok(()));
    }
}
