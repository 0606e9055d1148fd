//! Hold-back: what of a target may be given out this round.
//!
//! In cooperative mode members keep what they own while they rebalance. A partition that moves is given to nobody
//! until whoever owns it has seen an assignment without it and has revoked it; only the round after that gives it
//! to its new owner. For a target that gives partition 1 of `orders` to `b`:
//!
//! | claims of `orders` 1                    | this round                                |
//! |-----------------------------------------|-------------------------------------------|
//! | none                                    | `b`                                       |
//! | `b` in generation 7                     | `b`                                       |
//! | `a` in generation 7                     | nobody                                    |
//! | `a` in generation 7, `b` in generation 6| nobody: the claim of `b` is outdated      |
//! | `a` and `b`, both in generation 7       | nobody: both have to give it up           |
//!
//! Relies on every member's owned list and its generation. Guarantees that no partition is given to a member while
//! a valid owner, other than that member, has not given it up.
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::assignor::{Group, Member, TopicPartitions};

/// The part of `target` (partitions by member) that is given out this round; the rest is withheld.
///
/// An owner is valid if its claim on the partition is of the newest generation present; several may be. A claim of
/// the generation that is being formed, or of a later one, is not to be believed: like a claim without generation
/// it is older than any other. A member that does not subscribe to the topic any more still owns its partitions.
///
/// Doing it twice changes nothing: `hold_back(hold_back(t, g), g) == hold_back(t, g)`.
///
/// ```
/// # use std::collections::BTreeMap;
/// # use rdkafka_assignor::assignor::{Group, Member, TopicPartitions};
/// use rdkafka_assignor::cooperative::hold_back;
///
/// let orders = |partitions: &[i32]| TopicPartitions::from([("orders".into(), partitions.to_vec())]);
/// let member = |id: &str, owned| Member { id: id.into(), owned: Some(owned), generation: Some(7), ..Member::default() };
/// let group = Group {
///     generation: 8,
///     members: vec![member("a", orders(&[0, 1])), member("b", orders(&[]))],
///     ..Group::default()
/// };
/// let target = BTreeMap::from([("a".into(), orders(&[0])), ("b".into(), orders(&[1, 2]))]);
/// let round = hold_back(target, &group);
/// assert_eq!(round, BTreeMap::from([("a".into(), orders(&[0])), ("b".into(), orders(&[2]))]));
/// ```
pub fn hold_back(
    mut target: BTreeMap<String, TopicPartitions>,
    group: &Group,
) -> BTreeMap<String, TopicPartitions> {
    let owners = Owners::new(group);
    for (member, topics) in &mut target {
        for (topic, partitions) in topics {
            partitions.retain(|partition| owners.let_go(topic, *partition, member));
        }
    }
    target
}

/// Claims of the whole group, by topic.
struct Owners<'a>(BTreeMap<&'a str, Vec<Claim<'a>>>);

/// Ordered by partition, then from the newest generation to the oldest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Claim<'a> {
    partition: i32,
    /// `None` is the oldest.
    generation: Reverse<Option<i32>>,
    member: &'a str,
}

impl<'a> Owners<'a> {
    fn new(group: &'a Group) -> Self {
        let mut by_topic: BTreeMap<&str, Vec<Claim<'_>>> = BTreeMap::new();
        for member in &group.members {
            let generation = Reverse(believed_generation(member, group.generation));
            for (topic, partitions) in member.owned.iter().flatten() {
                let claims = partitions.iter().map(|&partition| Claim {
                    partition,
                    generation,
                    member: &member.id,
                });
                by_topic.entry(topic).or_default().extend(claims);
            }
        }
        by_topic
            .values_mut()
            .for_each(|claims| claims.sort_unstable());
        Owners(by_topic)
    }

    /// Whether no valid owner but `member` itself has the partition.
    fn let_go(&self, topic: &str, partition: i32, member: &str) -> bool {
        let claims = self.0.get(topic).map_or(&[][..], Vec::as_slice);
        let first = claims.partition_point(|claim| claim.partition < partition);
        let of_partition = claims
            .iter()
            .skip(first)
            .take_while(|claim| claim.partition == partition);
        let mut newest = None;
        of_partition
            .take_while(|claim| *newest.get_or_insert(claim.generation) == claim.generation)
            .all(|claim| claim.member == member)
    }
}

fn believed_generation(member: &Member, forming: i32) -> Option<i32> {
    member
        .generation
        .filter(|&generation| (0..forming).contains(&generation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions(topic: &str, numbers: &[i32]) -> TopicPartitions {
        TopicPartitions::from([(topic.to_owned(), numbers.to_vec())])
    }

    fn member(id: &str, generation: Option<i32>, owned: &[i32]) -> Member {
        Member {
            id: id.into(),
            topics: vec!["t".into()],
            owned: Some(partitions("t", owned)),
            generation,
            ..Member::default()
        }
    }

    fn group(members: Vec<Member>) -> Group {
        Group {
            generation: 10,
            members,
            ..Group::default()
        }
    }

    fn round(target: &[(&str, &[i32])], members: Vec<Member>) -> Vec<(String, Vec<i32>)> {
        let target = target
            .iter()
            .map(|(id, numbers)| ((*id).to_owned(), partitions("t", numbers)));
        let round = hold_back(target.collect(), &group(members));
        round
            .into_iter()
            .map(|(id, mut topics)| (id, topics.remove("t").unwrap_or_default()))
            .collect()
    }

    fn given(id: &str, numbers: &[i32]) -> (String, Vec<i32>) {
        (id.to_owned(), numbers.to_vec())
    }

    #[test]
    fn what_moves_is_given_to_nobody_until_its_owner_has_revoked_it() {
        let target: &[(&str, &[i32])] = &[("a", &[0]), ("b", &[1])];
        let before = vec![member("a", Some(9), &[0, 1]), member("b", Some(9), &[])];
        assert_eq!(round(target, before), [given("a", &[0]), given("b", &[])]);
        let after = vec![member("a", Some(9), &[0]), member("b", Some(9), &[])];
        assert_eq!(round(target, after), [given("a", &[0]), given("b", &[1])]);
    }

    #[test]
    fn target_owner_with_an_outdated_claim_waits_for_the_newer_owner() {
        let members = vec![member("a", Some(3), &[0]), member("b", Some(2), &[0])];
        assert_eq!(round(&[("b", &[0])], members), [given("b", &[])]);
    }

    #[test]
    fn zombie_with_an_old_list_holds_nothing_up() {
        let members = vec![
            member("a", Some(9), &[0]),
            member("zombie", Some(4), &[0, 1]),
            member("b", Some(9), &[]),
        ];
        assert_eq!(round(&[("a", &[0])], members), [given("a", &[0])]);
    }

    #[test]
    fn every_claimant_of_the_newest_generation_has_to_give_up() {
        let members = vec![member("a", Some(9), &[0]), member("b", Some(9), &[0])];
        assert_eq!(round(&[("a", &[0])], members), [given("a", &[])]);
        let members = vec![member("a", Some(9), &[]), member("b", Some(9), &[0])];
        assert_eq!(round(&[("a", &[0])], members), [given("a", &[])]);
        let members = vec![member("a", Some(9), &[]), member("b", Some(9), &[])];
        assert_eq!(round(&[("a", &[0])], members), [given("a", &[0])]);
    }

    #[test]
    fn claim_of_the_generation_being_formed_or_a_later_one_is_the_oldest() {
        for incredible in [Some(10), Some(11), Some(i32::MAX), None, Some(-1)] {
            let members = vec![member("a", Some(0), &[0]), member("liar", incredible, &[0])];
            assert_eq!(
                round(&[("a", &[0])], members),
                [given("a", &[0])],
                "{incredible:?}"
            );
            let members = vec![member("a", Some(9), &[]), member("liar", incredible, &[0])];
            assert_eq!(
                round(&[("a", &[0])], members),
                [given("a", &[])],
                "{incredible:?}"
            );
        }
    }

    #[test]
    fn owner_that_no_longer_subscribes_has_to_revoke_first() {
        let mut gone = member("gone", Some(9), &[0]);
        gone.topics = vec!["another".into()];
        assert_eq!(
            round(&[("a", &[0])], vec![member("a", Some(9), &[]), gone]),
            [given("a", &[])]
        );
    }

    #[test]
    fn double_claim_by_a_member_that_no_longer_subscribes_counts() {
        let mut gone = member("gone", Some(9), &[0]);
        gone.topics.clear();
        assert_eq!(
            round(&[("a", &[0])], vec![member("a", Some(8), &[0]), gone]),
            [given("a", &[])]
        );
    }

    #[test]
    fn hostile_lists_hold_up_nothing_else() {
        let mut hostile = member("hostile", Some(9), &[-1, i32::MAX, 0, 0]);
        hostile
            .owned
            .as_mut()
            .unwrap()
            .insert("no such topic".into(), vec![7, 7, -7]);
        let twice = member("hostile", Some(9), &[0]);
        let members = vec![member("a", Some(9), &[1]), hostile, twice];
        assert_eq!(round(&[("a", &[0, 1, 2])], members), [given("a", &[1, 2])]);
    }

    #[test]
    fn member_too_old_to_say_what_it_owns_owns_nothing() {
        let old = Member {
            owned: None,
            generation: None,
            ..member("old", None, &[])
        };
        assert_eq!(round(&[("old", &[0])], vec![old]), [given("old", &[0])]);
    }
}
