//! Validation of a target, piece by piece.
//!
//! Relies on nothing the assignor says. Guarantees that every partition goes to one member at most, that the member
//! subscribes to its topic, and that the partition exists. What has to be refused is logged as an error; the rest
//! is delivered.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tracing::error;

use crate::assignor::{Assignment, Group, TopicPartitions};

/// Refusals that are logged one by one; of the others only the number is.
const LOGGED_REFUSALS: usize = 20;

type ByMember<T> = BTreeMap<String, T>;

/// Splits a target into valid partitions and user data by member, and logs the rest.
pub(crate) fn validate(
    target: BTreeMap<String, Assignment>,
    group: &Group,
    name: &str,
) -> (ByMember<TopicPartitions>, ByMember<Vec<u8>>) {
    let mut check = Check::new(group);
    let valid = target
        .iter()
        .map(|(id, assignment)| (id.clone(), check.partitions(id, assignment)))
        .collect();
    check.log(name);
    let fits = |data: &Vec<u8>| i32::try_from(data.len()).is_ok();
    let user_data = target
        .into_iter()
        .map(|(id, assignment)| (id, assignment.user_data));
    (valid, user_data.filter(|(_, data)| fits(data)).collect())
}

/// A piece of a target that cannot be delivered.
#[derive(Debug, PartialEq, Eq)]
enum Refusal<'a> {
    UnknownMember {
        member: &'a str,
    },
    UserDataTooLong {
        member: &'a str,
        bytes: usize,
    },
    UnknownTopic {
        member: &'a str,
        topic: &'a str,
    },
    NotSubscribed {
        member: &'a str,
        topic: &'a str,
    },
    NoSuchPartition {
        member: &'a str,
        topic: &'a str,
        partition: i32,
    },
    GivenTwice {
        member: &'a str,
        topic: &'a str,
        partition: i32,
    },
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownMember { member } => write!(f, "{member} is not a member of the group"),
            Refusal::UserDataTooLong { member, bytes } => {
                write!(
                    f,
                    "{bytes} bytes of user data for {member} are more than Kafka can carry"
                )
            }
            Refusal::UnknownTopic { member, topic } => {
                write!(f, "{topic}, given to {member}, does not exist")
            }
            Refusal::NotSubscribed { member, topic } => {
                write!(f, "{member} does not subscribe to {topic}")
            }
            Refusal::NoSuchPartition {
                member,
                topic,
                partition,
            } => {
                write!(f, "{topic} {partition}, given to {member}, does not exist")
            }
            Refusal::GivenTwice {
                member,
                topic,
                partition,
            } => {
                write!(
                    f,
                    "{topic} {partition}, given to {member}, has been given already"
                )
            }
        }
    }
}

/// A target on its way through validation.
struct Check<'a> {
    group: &'a Group,
    given: BTreeMap<&'a str, BTreeSet<i32>>,
    refused: Vec<Refusal<'a>>,
    unlogged: usize,
}

impl<'a> Check<'a> {
    fn new(group: &'a Group) -> Self {
        Check {
            group,
            given: BTreeMap::new(),
            refused: Vec::new(),
            unlogged: 0,
        }
    }

    fn partitions(&mut self, id: &'a str, assignment: &'a Assignment) -> TopicPartitions {
        let Ok(member) = self
            .group
            .members
            .binary_search_by(|member| member.id.as_str().cmp(id))
        else {
            self.refuse(Refusal::UnknownMember { member: id });
            return TopicPartitions::new();
        };
        if i32::try_from(assignment.user_data.len()).is_err() {
            self.refuse(Refusal::UserDataTooLong {
                member: id,
                bytes: assignment.user_data.len(),
            });
        }
        let subscription = self
            .group
            .members
            .get(member)
            .map_or(&[][..], |member| &member.topics);
        let topics = assignment.partitions.iter();
        topics
            .map(|(topic, partitions)| {
                (
                    topic.clone(),
                    self.of_topic(id, subscription, topic, partitions),
                )
            })
            .filter(|(_, partitions)| !partitions.is_empty())
            .collect()
    }

    fn of_topic(
        &mut self,
        member: &'a str,
        subscription: &[String],
        topic: &'a str,
        partitions: &[i32],
    ) -> Vec<i32> {
        let Some(known) = self.group.topics.get(topic) else {
            self.refuse(Refusal::UnknownTopic { member, topic });
            return Vec::new();
        };
        if subscription
            .binary_search_by(|subscribed| subscribed.as_str().cmp(topic))
            .is_err()
        {
            self.refuse(Refusal::NotSubscribed { member, topic });
            return Vec::new();
        }
        // The number of partitions of a topic in error is not known; its owners are to keep theirs.
        let end = match known.partitions {
            0 => i32::MAX,
            partitions => partitions,
        };
        let mut valid = partitions.to_vec();
        valid.retain(|&partition| self.may_have(member, topic, partition, end));
        valid.sort_unstable();
        valid
    }

    fn may_have(&mut self, member: &'a str, topic: &'a str, partition: i32, end: i32) -> bool {
        if !(0..end).contains(&partition) {
            self.refuse(Refusal::NoSuchPartition {
                member,
                topic,
                partition,
            });
            return false;
        }
        let first = self.given.entry(topic).or_default().insert(partition);
        if !first {
            self.refuse(Refusal::GivenTwice {
                member,
                topic,
                partition,
            });
        }
        first
    }

    fn refuse(&mut self, refusal: Refusal<'a>) {
        if self.refused.len() < LOGGED_REFUSALS {
            self.refused.push(refusal);
        } else {
            self.unlogged += 1;
        }
    }

    fn log(&self, name: &str) {
        for refusal in &self.refused {
            error!(assignor = name, group = %self.group.id, "part of the target refused: {refusal}");
        }
        if self.unlogged > 0 {
            error!(assignor = name, group = %self.group.id, "{} more parts of the target refused", self.unlogged);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{assignment, group};

    fn validated(target: &[(&str, Assignment)]) -> Vec<TopicPartitions> {
        let target = target
            .iter()
            .map(|(id, assignment)| ((*id).to_owned(), assignment.clone()))
            .collect();
        validate(target, &group(), "test").0.into_values().collect()
    }

    #[test]
    fn every_refusal_is_told_by_its_kind() {
        let group = group();
        let a = assignment(&[("t", &[0, 4, -1, 0]), ("v", &[0])]);
        let b = assignment(&[("u", &[0])]);
        let mut check = Check::new(&group);
        check.partitions("a", &a);
        check.partitions("b", &b);
        check.partitions("stranger", &b);
        let texts: Vec<String> = check.refused.iter().map(Refusal::to_string).collect();
        let expected = [
            "t 4, given to a, does not exist",
            "t -1, given to a, does not exist",
            "t 0, given to a, has been given already",
            "v, given to a, does not exist",
            "b does not subscribe to u",
            "stranger is not a member of the group",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn flood_of_refusals_is_bounded_in_the_log() {
        let group = group();
        let flood: Vec<i32> = (4..1000).collect();
        let flood = assignment(&[("t", &flood)]);
        let mut check = Check::new(&group);
        check.partitions("a", &flood);
        assert_eq!(
            (check.refused.len(), check.unlogged),
            (LOGGED_REFUSALS, 996 - LOGGED_REFUSALS)
        );
    }

    #[test]
    fn invalid_pieces_are_refused_and_the_rest_is_delivered() {
        let target = [
            (
                "a",
                assignment(&[("t", &[0, 4, -1, 0]), ("u", &[1]), ("v", &[0])]),
            ),
            ("b", assignment(&[("t", &[3, 1, 0]), ("u", &[0])])),
            ("stranger", assignment(&[("t", &[2])])),
        ];
        let expected = [
            assignment(&[("t", &[0]), ("u", &[1])]),
            assignment(&[("t", &[1, 3])]),
        ];
        assert_eq!(
            validated(&target),
            [
                &expected[0].partitions,
                &expected[1].partitions,
                &TopicPartitions::new()
            ]
            .map(Clone::clone)
        );
    }

    #[test]
    fn owners_keep_partitions_of_a_topic_in_error() {
        let target = [("a", assignment(&[("errored", &[7, -1])]))];
        assert_eq!(
            validated(&target)[0],
            assignment(&[("errored", &[7])]).partitions
        );
    }
}
