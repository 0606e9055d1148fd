//! Routes of an assignment, as they arrive.
//!
//! The group's generation is what the broker said, never what the leader wrote. Whatever is wrong with the routes, the
//! last round's do not stay: they may name members that left since.
use std::sync::Arc;

use rdkafka_assignor_protocol::{self as protocol, AssignmentUserData, ReadUserDataError};

use super::epoch::Epoch;
use super::routes::{InTwoGroups, Routes};
use crate::assignor::Assigned;
use crate::handle::Handle;
use crate::held::Held;

/// What the leader wrote about its round. Both are missing where the member's own part could not be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    generation: Option<i32>,
    counter: u64,
}

impl Said {
    pub(crate) fn of(own: &AssignmentUserData) -> Self {
        Said {
            generation: own.generation,
            counter: own.epoch,
        }
    }
}

/// Why nothing is routed until the next assignment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnusableRoutes {
    #[error(transparent)]
    Unreadable(#[from] ReadUserDataError),
    #[error(transparent)]
    Ambiguous(#[from] InTwoGroups),
    #[error("they are of generation {said}, the group's is {group}")]
    OfOtherGeneration { said: i32, group: i32 },
}

/// Takes the routes of an assignment in which this member was given `given`; there may be none.
pub(crate) fn arrived(
    handle: &Handle,
    assigned: &Assigned<'_>,
    said: Said,
    given: Held,
) -> Result<(), UnusableRoutes> {
    let last = handle.routes().borrow().epoch().unwrap_or_default();
    let round = of_this_round(said, assigned.generation);
    let counter = round.as_ref().map_or(0, |said| said.counter);
    let epoch = last.next(assigned.generation, counter);
    let read = round.and_then(|_| read(assigned.user_data, epoch, given));
    let (routes, outcome) = match read {
        Ok(routes) => (routes, Ok(())),
        Err(error) => (Routes::empty(epoch), Err(error)),
    };
    handle.routes().send_replace(Arc::new(routes));
    outcome
}

fn of_this_round(said: Said, group: i32) -> Result<Said, UnusableRoutes> {
    match said.generation {
        Some(said) if said != group => Err(UnusableRoutes::OfOtherGeneration { said, group }),
        _ => Ok(said),
    }
}

fn read(user_data: &[u8], epoch: Epoch, given: Held) -> Result<Routes, UnusableRoutes> {
    match protocol::Routes::decode(user_data)? {
        Some(routes) => Ok(Routes::of(routes, epoch, given)?),
        None => Ok(Routes::empty(epoch)),
    }
}
