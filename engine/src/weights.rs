//! Evenness as costs: load squared over capacity, in whole numbers.
//!
//! A member of capacity `c` pays `L / c`, then three times, five times, ... that for its first, second, third
//! task, where `L` is the least common multiple of all capacities: together `load² · L / c`.
//!
//! ```text
//! capacities 1 and 2, L = 2      member of 1 pays 2 6 10 14 ..    six tasks: 2 + 6 | 1 + 3 + 5 + 7
//!                                member of 2 pays 1 3  5  7 ..    so loads 2 and 4
//! ```
//!
//! This is exact while `L` fits into 64 bits; beyond that `L` is 2^64 and `L / c` is rounded down, which is off
//! by less than one part in 2^32, as capacities have 32 bits.
use std::collections::BTreeMap;

use index_vec::IndexVec;

use crate::door::Roster;
use crate::flow::Cost;
use crate::index::MemberIx;

/// What one unit of load weighs at every member.
#[derive(Debug)]
pub(crate) struct Weights(IndexVec<MemberIx, i128>);

impl Weights {
    /// Of everybody in the roster.
    pub(crate) fn of(roster: &Roster<'_>) -> Self {
        let capacity = |m: MemberIx| u64::from(roster.members[m].said.capacity.get());
        let members = roster.members.indices();
        let common = members.clone().map(capacity).try_fold(1u64, lcm);
        let common = common.map_or(1i128 << 64, i128::from);
        Weights(members.map(|m| common / i128::from(capacity(m))).collect())
    }

    /// Cost of the first unit and its growth on an arc where load of `member` counts at `rank`.
    pub(crate) fn square<const N: usize>(
        &self,
        member: MemberIx,
        rank: usize,
    ) -> (Cost<N>, Cost<N>) {
        let weight = self.0[member];
        (Cost::at(rank, weight), Cost::at(rank, 2 * weight))
    }

    /// How dear the next unit is once `units` are spread evenly over `members`: the largest price at which no
    /// more than `units` in all are cheaper. A good guess for the prices of a network.
    pub(crate) fn level(&self, members: impl IntoIterator<Item = MemberIx>, units: i64) -> i128 {
        let mut alike: BTreeMap<i128, i128> = BTreeMap::new();
        for m in members {
            *alike.entry(self.0[m]).or_default() += 1;
        }
        let units = i128::from(units);
        let heaviest = alike.keys().last().copied().unwrap_or(0);
        let cheaper = |price: i128| -> i128 {
            alike
                .iter()
                .map(|(w, count)| count * ((price + w - 1) / (2 * w)))
                .sum()
        };
        let (mut low, mut high) = (0, (2 * units + 2) * heaviest);
        while low < high {
            let middle = low + (high - low + 1) / 2;
            match cheaper(middle) <= units {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        low
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    a.checked_mul(b / gcd(a, b))
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    use crate::problem::{Member, Problem};
    use crate::warnings::Warnings;

    fn weights(capacities: &[u32]) -> Vec<i128> {
        let member = |(i, &capacity): (usize, &u32)| Member {
            capacity: NonZeroU32::new(capacity).expect("not zero"),
            ..Member::new(format!("m{i:02}"), ["t"])
        };
        let problem = Problem {
            members: capacities.iter().enumerate().map(member).collect(),
            ..Problem::default()
        };
        let roster = Roster::admit(&problem, &mut Warnings::default());
        Weights::of(&roster).0.into_iter().collect()
    }

    #[test]
    fn weights_are_the_inverse_of_capacities() {
        assert_eq!(weights(&[1, 2, 6]), [6, 3, 1]);
    }

    #[test]
    fn the_level_is_the_price_of_the_next_unit() {
        let members = || (0..3).map(MemberIx::from_usize);
        let alike = Weights([1, 1, 1].into_iter().collect());
        assert_eq!(
            [2, 3, 7].map(|units| alike.level(members(), units)),
            [1, 3, 5]
        );
        let twice = Weights([2, 1, 1].into_iter().collect());
        assert_eq!(twice.level(members(), 5), 5);
        assert_eq!(twice.level([], 5), 0);
    }

    #[test]
    fn capacities_without_a_bearable_multiple_are_rounded() {
        let primes = [4_294_967_291, 4_294_967_279, 4_294_967_231];
        let expected: Vec<i128> = primes
            .iter()
            .map(|&c| (1i128 << 64) / i128::from(c))
            .collect();
        assert_eq!(weights(&primes), expected);
    }
}
