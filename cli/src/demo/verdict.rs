//! The demo's verdict: what was produced against what was joined, and what the members held.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::event::Holding;
use crate::ranges::ranges;

/// Everything that counts for the verdict.
#[derive(Debug, Default)]
pub struct Verdict {
    produced: BTreeSet<u64>,
    joined: BTreeMap<u64, u64>,
    faults: BTreeSet<String>,
}

impl Verdict {
    /// Pairs of which the cluster has acknowledged both halves.
    pub fn produced(&mut self, pairs: BTreeSet<u64>) {
        self.produced = pairs;
    }

    /// A member has joined these pairs.
    pub fn joined(&mut self, pairs: &[u64]) {
        for pair in pairs {
            *self.joined.entry(*pair).or_default() += 1;
        }
    }

    /// Something went wrong that no count shows.
    pub fn fault(&mut self, fault: impl Into<String>) {
        self.faults.insert(fault.into());
    }

    /// A member has taken up an assignment: equal partition numbers of both topics must be together.
    pub fn holds(&mut self, name: &str, holding: &Holding, topics: &[String; 2]) {
        let [orders, users] = topics.each_ref().map(|topic| holding.active.get(topic));
        if orders.map_or(&[][..], |numbers| numbers) != users.map_or(&[][..], |numbers| numbers) {
            let shown = |numbers: Option<&Vec<u32>>| ranges(numbers.map_or(&[], |numbers| numbers));
            self.fault(format!(
                "{name} held {} {} without {} {} in generation {}",
                topics[0],
                shown(orders),
                topics[1],
                shown(users),
                holding.generation
            ));
        }
    }

    /// Whether every pair that was produced has been joined.
    pub fn all_joined(&self) -> bool {
        self.missed().next().is_none()
    }

    /// Whether nothing went wrong at all.
    pub fn is_good(&self) -> bool {
        self.faults.is_empty()
            && !self.produced.is_empty()
            && self.all_joined()
            && self.unknown() == 0
    }

    fn missed(&self) -> impl Iterator<Item = &u64> {
        self.produced
            .iter()
            .filter(|pair| !self.joined.contains_key(pair))
    }

    /// Pairs that were joined although one of their halves was never acknowledged.
    fn unknown(&self) -> usize {
        self.joined
            .keys()
            .filter(|pair| !self.produced.contains(pair))
            .count()
    }

    fn repeated(&self) -> u64 {
        self.joined.values().map(|times| times - 1).sum()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "fault: {fault}")?;
        }
        if self.unknown() > 0 {
            writeln!(
                f,
                "fault: {} pairs were joined but never acknowledged",
                self.unknown()
            )?;
        }
        write!(
            f,
            "{}: {} of {} join pairs met on one member, {} records missed",
            if self.is_good() { "good" } else { "NOT good" },
            self.produced.len() - self.missed().count(),
            self.produced.len(),
            2 * self.missed().count(),
        )?;
        match self.repeated() {
            0 => Ok(()),
            again => write!(f, " ({again} joined again, from the last commit)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics() -> [String; 2] {
        ["orders".to_owned(), "users".to_owned()]
    }

    fn holding(orders: &[u32], users: &[u32]) -> Holding {
        let active = [("orders", orders), ("users", users)];
        Holding {
            id: "id".to_owned(),
            generation: 3,
            active: active
                .map(|(topic, numbers)| (topic.to_owned(), numbers.to_vec()))
                .into(),
            standby: BTreeMap::new(),
            leader: false,
        }
    }

    fn verdict(produced: &[u64], joined: &[u64]) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.produced(produced.iter().copied().collect());
        verdict.joined(joined);
        verdict
    }

    #[test]
    fn pairs_joined_twice_are_good() {
        let verdict = verdict(&[1, 2], &[1, 2, 2]);
        assert!(verdict.is_good());
        assert_eq!(
            verdict.to_string(),
            "good: 2 of 2 join pairs met on one member, 0 records missed (1 joined again, from the last commit)"
        );
    }

    #[test]
    fn a_missed_pair_is_not_good() {
        let verdict = verdict(&[1, 2], &[1]);
        assert!(!verdict.is_good());
        assert!(
            verdict
                .to_string()
                .contains("1 of 2 join pairs met on one member, 2 records missed")
        );
    }

    #[test]
    fn a_pair_out_of_nowhere_is_not_good() {
        assert!(!verdict(&[1], &[1, 2]).is_good());
    }

    #[test]
    fn no_pairs_at_all_are_not_good() {
        assert!(!verdict(&[], &[]).is_good());
    }

    #[test]
    fn numbers_that_are_apart_are_not_good() {
        let mut verdict = verdict(&[1], &[1]);
        verdict.holds("m1", &holding(&[0, 1], &[0, 1]), &topics());
        assert!(verdict.is_good());
        verdict.holds("m1", &holding(&[0, 1], &[0]), &topics());
        assert!(!verdict.is_good());
        assert!(
            verdict
                .to_string()
                .contains("m1 held orders 0-1 without users 0 in generation 3")
        );
    }
}
