//! Where the prices of the network probably end up: as if every load could be spread over everybody who may
//! have a part of it. That makes the search short when it is nearly so, and never changes what it finds.
//!
//! ```text
//! 7 tasks on 3 members of capacity 1: everybody has two for 1 and 3, and the third will cost 5
//! price of a member = -5, so that exactly the units that cost less than 5 flow from the start
//! ```
use std::collections::BTreeSet;

use super::{Costs, rank};
use crate::flow::Cost;
use crate::groups::Group;
use crate::index::MemberIx;
use crate::weights::Weights;

/// Guessed prices of the nodes that belong to members.
pub(super) struct Prices {
    /// Of a member.
    pub(super) all: Costs,
    /// Of (member, stateful).
    pub(super) stateful: Costs,
}

impl Prices {
    pub(super) fn guess<'g>(
        groups: impl Iterator<Item = &'g Group> + Clone,
        weights: &Weights,
    ) -> Self {
        let stateful = groups.clone().filter(|group| group.is_stateful());
        let all = Cost::ZERO - level(rank::TOTAL, groups, weights);
        Prices {
            stateful: all - level(rank::STATEFUL, stateful, weights),
            all,
        }
    }

    /// Of (member, group).
    pub(super) fn seat(&self, group: &Group, weights: &Weights) -> Costs {
        let next = match group.is_stateful() {
            true => self.stateful,
            false => self.all,
        };
        next - level(rank::IN_GROUP, [group].into_iter(), weights)
    }
}

/// What one more task of these groups would cost at `rank`.
fn level<'g>(
    rank: usize,
    groups: impl Iterator<Item = &'g Group> + Clone,
    weights: &Weights,
) -> Costs {
    let tasks = groups
        .clone()
        .map(|group| i64::from(group.partitions))
        .sum();
    let members: BTreeSet<MemberIx> = groups
        .flat_map(|group| group.subscribers.iter().copied())
        .collect();
    Cost::at(rank, weights.level(members, tasks))
}
