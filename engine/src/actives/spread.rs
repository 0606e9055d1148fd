//! How loads spread if tasks were a fluid: a guess where the flow will end up, found in a few sweeps.
//!
//! Groups with the same subscribers are one bucket. Every bucket in turn is poured anew over its members, to the
//! same level of load over capacity wherever it reaches, on top of what the other buckets left there:
//!
//! ```text
//! t1 has 6 tasks for a and b, t2 has 4 for b alone         a    b
//! pour t1                                                   3    3
//! pour t2 on b                                              3    7
//! pour t1 again on top of b's 4                             5    5      levels that no sweep changes any more
//! ```
use std::collections::BTreeMap;

use index_vec::{IndexVec, index_vec};

use crate::groups::Group;
use crate::index::MemberIx;

/// Sweeps over all buckets; the level is a guess, a few are enough.
const SWEEPS: usize = 12;

/// Tasks that the same members may have, and how much of them each has.
struct Bucket<'g> {
    members: &'g [MemberIx],
    tasks: f64,
    shares: Vec<f64>,
}

/// The level of every member: load over capacity, where `capacities` has one positive number for each.
pub(super) fn levels<'g>(
    groups: impl Iterator<Item = &'g Group>,
    capacities: &IndexVec<MemberIx, f64>,
) -> IndexVec<MemberIx, f64> {
    let mut buckets = buckets(groups);
    let mut loads = index_vec![0.0; capacities.len()];
    let sweeps = if buckets.len() > 1 { SWEEPS } else { 1 };
    for _ in 0..sweeps {
        for bucket in &mut buckets {
            bucket.pour(&mut loads, capacities);
        }
    }
    let level = |(m, load): (MemberIx, &f64)| load / capacities[m];
    loads.iter_enumerated().map(level).collect()
}

fn buckets<'g>(groups: impl Iterator<Item = &'g Group>) -> Vec<Bucket<'g>> {
    let mut alike: BTreeMap<&[MemberIx], f64> = BTreeMap::new();
    for group in groups {
        *alike.entry(&group.subscribers).or_default() += f64::from(group.partitions);
    }
    let bucket = |(members, tasks): (&'g [MemberIx], f64)| Bucket {
        members,
        tasks,
        shares: vec![0.0; members.len()],
    };
    alike.into_iter().map(bucket).collect()
}

impl Bucket<'_> {
    fn pour(&mut self, loads: &mut IndexVec<MemberIx, f64>, capacities: &IndexVec<MemberIx, f64>) {
        for (&m, share) in self.members.iter().zip(&self.shares) {
            loads[m] -= share;
        }
        let level = self.level(loads, capacities);
        for (&m, share) in self.members.iter().zip(&mut self.shares) {
            *share = (level * capacities[m] - loads[m]).max(0.0);
            loads[m] += *share;
        }
    }

    /// Where the bucket's tasks come to rest on these loads: the lowest members are filled first.
    fn level(&self, loads: &IndexVec<MemberIx, f64>, capacities: &IndexVec<MemberIx, f64>) -> f64 {
        let ground = |&m: &MemberIx| (loads[m] / capacities[m], m);
        let mut members: Vec<(f64, MemberIx)> = self.members.iter().map(ground).collect();
        members.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut filled, mut room, mut level) = (self.tasks, 0.0, 0.0);
        for (ground, m) in members {
            if room > 0.0 && level <= ground {
                break;
            }
            filled += loads[m];
            room += capacities[m];
            level = filled / room;
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(partitions: u32, subscribers: &[usize]) -> Group {
        Group {
            topics: Vec::new(),
            tables: Vec::new(),
            partitions,
            subscribers: subscribers
                .iter()
                .map(|&m| MemberIx::from_usize(m))
                .collect(),
        }
    }

    fn levels_of(groups: &[Group], capacities: &[f64]) -> Vec<f64> {
        let capacities = capacities.iter().copied().collect();
        let levels = levels(groups.iter(), &capacities);
        levels.into_iter().map(|level| level.round()).collect()
    }

    #[test]
    fn what_only_one_may_have_pushes_the_rest_to_the_others() {
        let groups = [group(6, &[0, 1]), group(4, &[1])];
        assert_eq!(levels_of(&groups, &[1.0, 1.0]), [5.0, 5.0]);
    }

    #[test]
    fn disjoint_groups_have_their_own_levels() {
        let groups = [group(6, &[0, 1]), group(4, &[2])];
        assert_eq!(levels_of(&groups, &[1.0, 1.0, 1.0]), [3.0, 3.0, 4.0]);
    }

    #[test]
    fn a_stronger_member_rises_as_slowly() {
        assert_eq!(levels_of(&[group(9, &[0, 1])], &[1.0, 2.0]), [3.0, 3.0]);
    }
}
