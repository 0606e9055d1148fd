//! The join of two topics by pair number, and how far it may be committed.
//!
//! A half waits until the other one comes. Committed is, for every partition, only what lies before its first
//! waiting half: whoever takes the partition over reads again what nobody has joined.
//!
//! | read | joined | committable |
//! |---|---|---|
//! | orders 0: pairs 1, 2, 3 | | orders 0: offset of 1 |
//! | users 0: pairs 1, 2 | 1, 2 | orders 0: offset of 3, users 0: behind 2 |
use std::collections::{BTreeMap, BTreeSet};

/// Which half of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The order.
    Orders,
    /// The user who ordered.
    Users,
}

/// A partition of one side.
pub type Place = (Side, i32);

/// What a member has read and not joined yet.
#[derive(Debug, Default)]
pub struct Join {
    waiting: BTreeMap<u64, (Place, i64)>,
    read: BTreeMap<Place, Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    next: i64,
    waiting: BTreeSet<i64>,
}

impl Join {
    /// Takes a half; `true` if its pair is complete now.
    pub fn take(&mut self, place: Place, offset: i64, pair: u64) -> bool {
        self.read.entry(place).or_default().next = offset + 1;
        match self.waiting.get(&pair) {
            Some(&(other, waiting)) if other.0 != place.0 => {
                self.waiting.remove(&pair);
                if let Some(progress) = self.read.get_mut(&other) {
                    progress.waiting.remove(&waiting);
                }
                true
            }
            _ => {
                self.waiting.insert(pair, (place, offset));
                self.read.entry(place).or_default().waiting.insert(offset);
                false
            }
        }
    }

    /// The offset to commit for every partition that has been read.
    pub fn committable(&self) -> impl Iterator<Item = (Place, i64)> {
        self.read.iter().map(|(place, progress)| {
            (
                *place,
                progress.waiting.first().copied().unwrap_or(progress.next),
            )
        })
    }

    /// Drops what was read from a partition that is given up.
    pub fn forget(&mut self, place: Place) {
        self.read.remove(&place);
        self.waiting.retain(|_, (waiting, _)| *waiting != place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: Place = (Side::Orders, 0);
    const USERS: Place = (Side::Users, 0);

    fn committable(join: &Join) -> Vec<(Place, i64)> {
        join.committable().collect()
    }

    #[test]
    fn a_pair_is_joined_when_its_second_half_comes() {
        let mut join = Join::default();
        assert!(!join.take(ORDERS, 0, 1));
        assert!(join.take(USERS, 0, 1));
        assert_eq!(committable(&join), [(ORDERS, 1), (USERS, 1)]);
    }

    #[test]
    fn nothing_is_committed_past_a_waiting_half() {
        let mut join = Join::default();
        join.take(ORDERS, 5, 1);
        join.take(ORDERS, 6, 2);
        join.take(USERS, 9, 2);
        assert_eq!(committable(&join), [(ORDERS, 5), (USERS, 10)]);
    }

    #[test]
    fn a_half_of_a_forgotten_partition_completes_nothing() {
        let mut join = Join::default();
        join.take(ORDERS, 0, 1);
        join.forget(ORDERS);
        assert!(!join.take(USERS, 0, 1));
        assert_eq!(committable(&join), [(USERS, 0)]);
    }

    #[test]
    fn the_same_half_read_twice_is_no_pair() {
        let mut join = Join::default();
        join.take(ORDERS, 0, 1);
        assert!(!join.take(ORDERS, 0, 1));
        assert!(join.take(USERS, 0, 1));
        assert_eq!(committable(&join), [(ORDERS, 1), (USERS, 1)]);
    }
}
