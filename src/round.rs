//! One round at the leader: an assignor's target becomes what is delivered.
//!
//! Relies on nothing the assignor says. Guarantees what [`crate::target`] does, that in cooperative mode nothing is
//! given that a valid owner has not revoked, and that no user data is empty.
use crate::assignor::{Assignment, Assignor, AssignorError, Group, Member, RebalanceProtocol};
use crate::cooperative::hold_back;
use crate::target::validate;

/// What every member is given, in the order of `group.members`.
pub(crate) fn decide(
    assignor: &dyn Assignor,
    name: &str,
    protocol: RebalanceProtocol,
    group: &Group,
) -> Result<Vec<Assignment>, AssignorError> {
    if group.members.is_empty() {
        return Err("no member's subscription could be read".into());
    }
    let (valid, mut user_data) = validate(assignor.assign(group)?, group, name);
    let mut round = match protocol {
        RebalanceProtocol::Eager => valid,
        RebalanceProtocol::Cooperative => hold_back(valid, group),
    };
    let deliver = |member: &Member| {
        let mut partitions = round.remove(&member.id).unwrap_or_default();
        partitions.retain(|_, partitions| !partitions.is_empty());
        let user_data = user_data.remove(&member.id).unwrap_or_default();
        Assignment {
            partitions,
            user_data: never_empty(user_data),
        }
    };
    Ok(group.members.iter().map(deliver).collect())
}

/// Kafka refuses to convert a group with user data to one without client-side assignors.
fn never_empty(user_data: Vec<u8>) -> Vec<u8> {
    if user_data.is_empty() {
        vec![0]
    } else {
        user_data
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fixtures::{assignment, group};

    struct Fixed(BTreeMap<String, Assignment>);

    impl Assignor for Fixed {
        fn name(&self) -> &str {
            "fixed"
        }
        fn assign(&self, _: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
            Ok(self.0.clone())
        }
    }

    #[test]
    fn group_without_readable_members_is_an_error() {
        let group = Group {
            members: Vec::new(),
            ..group()
        };
        assert!(
            decide(
                &Fixed(BTreeMap::new()),
                "fixed",
                RebalanceProtocol::Eager,
                &group
            )
            .is_err()
        );
    }

    #[test]
    fn user_data_is_never_empty() {
        let with_data = Assignment {
            user_data: vec![7, 8],
            ..Assignment::default()
        };
        let target = BTreeMap::from([("b".to_owned(), with_data)]);
        let round = decide(&Fixed(target), "fixed", RebalanceProtocol::Eager, &group()).unwrap();
        assert_eq!(round[0].user_data, [0]);
        assert_eq!(round[1].user_data, [7, 8]);
    }

    #[test]
    fn cooperative_round_withholds_what_moves() {
        let mut group = group();
        group.members[0].owned = Some(assignment(&[("t", &[0, 1])]).partitions);
        group.members[0].generation = Some(2);
        let target = BTreeMap::from([
            ("a".to_owned(), assignment(&[("t", &[0])])),
            ("b".to_owned(), assignment(&[("t", &[1, 2])])),
        ]);
        let round = decide(
            &Fixed(target),
            "fixed",
            RebalanceProtocol::Cooperative,
            &group,
        )
        .unwrap();
        assert_eq!(round[0].partitions, assignment(&[("t", &[0])]).partitions);
        assert_eq!(round[1].partitions, assignment(&[("t", &[2])]).partitions);
    }
}
