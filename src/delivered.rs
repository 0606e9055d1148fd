//! Errors that retrying does not mend: the leader puts them into every member's assignment, with a stable code.
use std::fmt;

use rdkafka_assignor_protocol::Delivered;

/// An error that the leader told every member of the group.
///
/// The topics it is about stay unassigned; the rest of the group's work goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredError {
    /// What kind.
    pub kind: DeliveredKind,
    /// A sentence for a person.
    pub text: String,
}

impl DeliveredError {
    pub(crate) fn to_wire(&self) -> Delivered {
        Delivered {
            code: self.kind.code(),
            text: self.text.clone(),
        }
    }

    pub(crate) fn from_wire(delivered: Delivered) -> Self {
        DeliveredError {
            kind: DeliveredKind::from_code(delivered.code),
            text: delivered.text,
        }
    }
}

impl fmt::Display for DeliveredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for DeliveredError {}

/// Kinds of delivered errors; the codes are part of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveredKind {
    /// 1: topics of a declared co-partition set differ in partition count.
    CopartitionMismatch,
    /// 2: some subscribers of a declared set do not subscribe to all its topics, as during a rolling deploy.
    IncompleteSubscription,
    /// 3: the leader could not plan; the group got a plain assignment without tables.
    PlanningFailed,
    /// 4: a declared set names a topic that does not exist.
    NoSuchTopic,
    /// A code of a newer leader.
    Unknown(u16),
}

impl DeliveredKind {
    /// The number that stands for it on the wire.
    pub fn code(self) -> u16 {
        match self {
            DeliveredKind::CopartitionMismatch => 1,
            DeliveredKind::IncompleteSubscription => 2,
            DeliveredKind::PlanningFailed => 3,
            DeliveredKind::NoSuchTopic => 4,
            DeliveredKind::Unknown(code) => code,
        }
    }

    /// What a number on the wire stands for.
    pub fn from_code(code: u16) -> Self {
        match code {
            1 => DeliveredKind::CopartitionMismatch,
            2 => DeliveredKind::IncompleteSubscription,
            3 => DeliveredKind::PlanningFailed,
            4 => DeliveredKind::NoSuchTopic,
            code => DeliveredKind::Unknown(code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back_as_itself() {
        for code in 0..100 {
            assert_eq!(DeliveredKind::from_code(code).code(), code);
        }
    }

    #[test]
    fn the_first_four_codes_are_known() {
        let known = |code| !matches!(DeliveredKind::from_code(code), DeliveredKind::Unknown(_));
        assert_eq!(
            (0..6).filter(|code| known(*code)).collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
    }
}
