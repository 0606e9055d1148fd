//! What a member holds at one moment, and how that changes.
//!
//! The state machine behind [`Handle`](crate::Handle), which describes it: pure, so that every history can be played.
use std::collections::BTreeMap;

use crate::assignor::RebalanceProtocol;
use crate::delivered::DeliveredError;
use crate::partitions::{PartitionSets, contains, difference, intersection};

/// What a member holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// Generation of the assignment; `None` while nothing is held.
    pub generation: Option<i32>,
    /// Active partitions, by topic.
    pub active: PartitionSets,
    /// Standby copies to keep, by table.
    pub standby: PartitionSets,
    /// Global tables to keep whole, with their partition counts.
    pub global: BTreeMap<String, u32>,
    /// Whether this member leads the application.
    pub leader: bool,
    /// What the group's leader could not mend.
    pub errors: Vec<DeliveredError>,
}

impl Held {
    /// Whether the partition of the topic is active here.
    pub fn is_active(&self, topic: &str, partition: i32) -> bool {
        contains(&self.active, topic, partition)
    }

    /// Whether a standby copy of the table's partition is kept here.
    pub fn is_standby(&self, table: &str, partition: i32) -> bool {
        contains(&self.standby, table, partition)
    }

    /// Nothing is held; errors are news and stay.
    pub(crate) fn silent(&self) -> Self {
        Held {
            errors: self.errors.clone(),
            ..Held::default()
        }
    }

    /// A member that joins owns this, as of that generation.
    ///
    /// A generation that is not the one of the assignment means that the member was thrown out (none at all) or that
    /// another assignor decided since then.
    pub(crate) fn joining(
        &self,
        protocol: RebalanceProtocol,
        owned: &PartitionSets,
        generation: Option<i32>,
    ) -> Self {
        if protocol == RebalanceProtocol::Eager || generation != self.generation {
            return self.silent();
        }
        Held {
            active: intersection(&self.active, owned),
            leader: false,
            ..self.clone()
        }
    }

    /// The member gives these partitions up.
    pub(crate) fn revoked(
        &self,
        protocol: RebalanceProtocol,
        revoked: &PartitionSets,
        lost: bool,
    ) -> Self {
        let active = difference(&self.active, revoked);
        let leaves = active.is_empty() && !self.active.is_empty();
        if protocol == RebalanceProtocol::Eager || lost || leaves {
            return self.silent();
        }
        Held {
            active,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RebalanceProtocol::{Cooperative, Eager};

    fn sets(name: &str, numbers: &[u32]) -> PartitionSets {
        PartitionSets::from([(name.to_owned(), numbers.iter().copied().collect())])
    }

    fn held() -> Held {
        Held {
            generation: Some(7),
            active: sets("orders", &[0, 1]),
            standby: sets("counts", &[2]),
            global: BTreeMap::from([("countries".to_owned(), 4)]),
            leader: true,
            errors: vec![DeliveredError {
                kind: crate::DeliveredKind::NoSuchTopic,
                text: "users does not exist".to_owned(),
            }],
        }
    }

    fn is_silent(held: &Held) -> bool {
        *held == held.silent()
    }

    #[test]
    fn an_eager_join_silences() {
        let joining = held().joining(Eager, &PartitionSets::new(), Some(7));
        assert!(is_silent(&joining));
        assert_eq!(joining.errors, held().errors);
    }

    #[test]
    fn a_cooperative_join_keeps_what_is_owned_but_does_not_lead() {
        let joining = held().joining(Cooperative, &sets("orders", &[1, 3]), Some(7));
        assert_eq!(joining.active, sets("orders", &[1]));
        assert_eq!(joining.standby, held().standby);
        assert!(!joining.leader);
    }

    #[test]
    fn a_member_that_was_thrown_out_has_no_standbys_either() {
        assert!(is_silent(&held().joining(
            Cooperative,
            &held().active,
            None
        )));
    }

    #[test]
    fn a_generation_that_another_assignor_decided_silences() {
        assert!(is_silent(&held().joining(
            Cooperative,
            &held().active,
            Some(8)
        )));
    }

    #[test]
    fn an_announced_revocation_of_everything_keeps_the_standbys() {
        let announced = Held {
            active: PartitionSets::new(),
            ..held()
        };
        let revoked = announced.revoked(Cooperative, &sets("orders", &[0, 1]), false);
        assert_eq!(revoked, announced);
    }

    #[test]
    fn an_unannounced_revocation_of_everything_silences() {
        assert!(is_silent(&held().revoked(
            Cooperative,
            &held().active,
            false
        )));
    }

    #[test]
    fn a_partial_revocation_takes_what_it_names() {
        let revoked = held().revoked(Cooperative, &sets("orders", &[0]), false);
        assert!(!revoked.is_active("orders", 0));
        assert!(revoked.is_active("orders", 1));
        assert!(revoked.is_standby("counts", 2));
    }

    #[test]
    fn lost_partitions_silence_even_if_only_some_are_named() {
        assert!(is_silent(&held().revoked(
            Cooperative,
            &sets("orders", &[0]),
            true
        )));
        assert!(is_silent(&held().revoked(
            Eager,
            &sets("orders", &[0]),
            false
        )));
    }

    #[test]
    fn a_negative_partition_is_nobodys() {
        assert!(!held().is_active("orders", -1));
        assert!(!held().is_standby("counts", -1));
    }
}
