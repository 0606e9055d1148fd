//! Where the prices of the network probably end up: that makes the search short where the guess is good, and never
//! changes what it finds.
//!
//! ```text
//! 7 tasks on 3 members of capacity 1: a fluid would rise to 2.33, so everybody has two for 1 and 3
//! price of a member = -5, so that exactly the units that cost less than 5 flow from the start
//! ```
use index_vec::IndexVec;

use super::{Costs, rank, spread};
use crate::flow::Cost;
use crate::groups::Group;
use crate::index::MemberIx;
use crate::weights::Weights;

/// Guessed prices of the nodes that belong to members.
pub(super) struct Prices {
    /// Of every member.
    pub(super) all: IndexVec<MemberIx, Costs>,
    /// Of every (member, stateful).
    pub(super) stateful: IndexVec<MemberIx, Costs>,
}

impl Prices {
    pub(super) fn guess<'g>(
        groups: impl Iterator<Item = &'g Group> + Clone,
        weights: &Weights,
    ) -> Self {
        let capacities = weights.capacities();
        let price = |rank, level| Cost::ZERO - Cost::at(rank, weights.price_at(level));
        let stateful = groups.clone().filter(|group| group.is_stateful());
        let all = spread::levels(groups, &capacities).into_iter();
        let all: IndexVec<_, Costs> = all.map(|level| price(rank::TOTAL, level)).collect();
        let stateful = spread::levels(stateful, &capacities).into_iter();
        let stateful = stateful.map(|level| price(rank::STATEFUL, level));
        Prices {
            stateful: all.iter().zip(stateful).map(|(&a, s)| a + s).collect(),
            all,
        }
    }

    /// Of every (member, group), by subscriber.
    pub(super) fn seats(&self, group: &Group, weights: &Weights) -> Vec<Costs> {
        let members = || group.subscribers.iter().copied();
        let level = weights.level(members(), group.partitions.into());
        let next = match group.is_stateful() {
            true => &self.stateful,
            false => &self.all,
        };
        let price = |m| next[m] - Cost::at(rank::IN_GROUP, level);
        members().map(price).collect()
    }
}
