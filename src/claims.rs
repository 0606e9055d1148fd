//! What a member tells the leader that it had: the memory behind its next join.
//!
//! | protocol | actives claimed | standbys claimed |
//! |---|---|---|
//! | eager | those of the last assignment | those of the last assignment |
//! | cooperative | what is owned at the join | those of the last assignment, and copies behind actives that were lost |
//!
//! An active that was lost (the member was thrown out, or unsubscribed) is not owned any more, but the state that it fed is
//! still here. One that a cooperative rebalance moves away is not in the last assignment: it is claimed only if
//! that assignment makes it a standby. Nothing here changes between two assignments, so that a repeated join is
//! byte for byte the same.
use rdkafka_assignor_protocol::{Claims, Table};

use crate::partitions::{PartitionSets, difference};

/// The last assignment that this assignor's leader gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastAssignment {
    pub(crate) generation: Option<i32>,
    pub(crate) active: PartitionSets,
    pub(crate) standby: PartitionSets,
}

impl LastAssignment {
    /// Claims of actives and of standbys under the eager protocol.
    pub(crate) fn eager(&self) -> (Claims, Claims) {
        (
            self.claims(self.active.clone()),
            self.claims(self.standby.clone()),
        )
    }

    /// The same under the cooperative protocol, for a member that owns `owned` as of `generation`.
    pub(crate) fn cooperative(
        &self,
        owned: PartitionSets,
        generation: Option<i32>,
        tables: &[Table],
    ) -> (Claims, Claims) {
        let mut copies = self.standby.clone();
        let lost = difference(&self.active, &owned);
        for table in tables {
            if let Some(partitions) = lost.get(&table.source) {
                let copy = copies.entry(table.name.clone()).or_default();
                *copy = copy.union(partitions);
            }
        }
        let active = Claims {
            generation: generation.or(self.generation),
            partitions: owned,
        };
        (active, self.claims(copies))
    }

    fn claims(&self, partitions: PartitionSets) -> Claims {
        Claims {
            generation: self.generation,
            partitions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(name: &str, numbers: &[u32]) -> PartitionSets {
        PartitionSets::from([(name.to_owned(), numbers.iter().copied().collect())])
    }

    fn last() -> LastAssignment {
        LastAssignment {
            generation: Some(7),
            active: sets("orders", &[0, 1]),
            standby: sets("counts", &[3]),
        }
    }

    fn counts() -> Vec<Table> {
        vec![Table {
            name: "counts".to_owned(),
            source: "orders".to_owned(),
            changelog: "shop-counts-changelog".to_owned(),
        }]
    }

    #[test]
    fn an_eager_member_claims_its_last_assignment() {
        let (active, standby) = last().eager();
        assert_eq!(
            (active.generation, active.partitions),
            (Some(7), sets("orders", &[0, 1]))
        );
        assert_eq!(
            (standby.generation, standby.partitions),
            (Some(7), sets("counts", &[3]))
        );
    }

    #[test]
    fn a_cooperative_member_claims_what_it_owns() {
        let (active, _) = last().cooperative(sets("orders", &[0, 1, 5]), Some(9), &counts());
        assert_eq!(
            (active.generation, active.partitions),
            (Some(9), sets("orders", &[0, 1, 5]))
        );
    }

    #[test]
    fn a_lost_active_is_still_a_copy() {
        let (active, standby) = last().cooperative(PartitionSets::new(), None, &counts());
        assert_eq!(active.partitions, PartitionSets::new());
        assert_eq!(standby.partitions, sets("counts", &[0, 1, 3]));
    }
}
