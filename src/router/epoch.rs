//! How new routes are.
use serde::Serialize;

/// Orders the routes that one member has seen; later ones are greater.
///
/// Members of one group compare by generation and counter: equal ones mean equal routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Epoch {
    /// How often the group began anew under this member, as after its coordinator forgot it: only then does a
    /// generation not follow the one before.
    pub restarts: u32,
    /// The group's generation, as the broker says it.
    pub generation: i32,
    /// The leader's count of the rebalances that it led.
    pub counter: u64,
}

impl Epoch {
    /// The epoch of routes that arrive after those of `self`. A leader's counter orders nothing beyond its own generation.
    pub(super) fn next(self, generation: i32, counter: u64) -> Self {
        let next = Epoch {
            restarts: self.restarts,
            generation,
            counter,
        };
        if next >= self {
            return next;
        }
        Epoch {
            restarts: self.restarts.saturating_add(1),
            ..next
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_leaders_counter_is_not_believed_beyond_its_generation() {
        let boasting = Epoch::default().next(7, u64::MAX);
        let next = boasting.next(8, 1);
        assert!(next > boasting);
        assert_eq!((next.restarts, next.generation, next.counter), (0, 8, 1));
    }

    proptest! {
        #[test]
        fn an_epoch_never_goes_back(said in prop::collection::vec((-1..5_i32, any::<u64>()), 1..20)) {
            let mut epoch = Epoch::default();
            for (generation, counter) in said {
                let next = epoch.next(generation, counter);
                prop_assert!(next >= epoch);
                prop_assert_eq!((next.generation, next.counter), (generation, counter));
                epoch = next;
            }
        }
    }
}
