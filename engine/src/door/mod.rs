//! The door: what members say is checked here, once, and everything behind it trusts the dense result.
//!
//! Three steps, each of which drops what it cannot believe and notes a warning:
//! [`Roster`] (who is there, what exists, who subscribes), then its declarations (tables, global tables,
//! replicas, co-partition sets), then the [`History`] (who had what, newest generation first).
//!
//! ```text
//! said by m2                       believed                       warning
//! topics   orders orders ghosts    orders                         duplicate-name, unknown-topic
//! tables   counts <- users         (not subscribed to users)      source-not-subscribed
//! active   orders -1,0,7-9 of 8    orders 0,7                     no-such-partition "-1,8-9"
//! standby  lost 3                  (nobody declares lost)         unknown-table
//! ```
//!
//! Guarantees: indices are in range and lists sorted without duplicates; the result does not depend on the
//! order of members (I9); it costs no more than the input and the partitions it names (I10).
mod declarations;
mod history;
mod ledger;
mod roster;

pub(crate) use history::{History, Holders};
pub(crate) use roster::Roster;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::WarningKind;
    use crate::problem::{Member, Problem};
    use crate::samples::{claims, stateful_group, table};
    use crate::warnings::Warnings;

    /// Warnings about `m2` of a group of two, as kinds and sentences.
    fn said_by_m2(change: impl FnOnce(&mut Member)) -> Vec<(WarningKind, String)> {
        let mut problem = stateful_group(8, 2);
        problem
            .topics
            .extend(crate::samples::topics(&[("clicks", 4)]));
        change(&mut problem.members[1]);
        warned(&problem)
    }

    fn warned(problem: &Problem) -> Vec<(WarningKind, String)> {
        let mut warnings = Warnings::default();
        let roster = Roster::admit(problem, &mut warnings);
        History::read(&roster, problem.generation, &mut warnings);
        warnings
            .into_sorted()
            .into_iter()
            .map(|w| (w.kind, w.detail))
            .collect()
    }

    fn one(kind: WarningKind, detail: &str) -> Vec<(WarningKind, String)> {
        vec![(kind, detail.to_owned())]
    }

    #[test]
    fn claims_on_partitions_that_do_not_exist_are_listed() {
        let warned = said_by_m2(|m| m.active = claims(1, &[("orders", &[-1, 0, 12, 13])]));
        let detail = "claims orders -1,12-13, which has 8 partitions";
        assert_eq!(warned, one(WarningKind::NoSuchPartition, detail));
    }

    #[test]
    fn a_partition_claimed_twice_counts_once() {
        let warned = said_by_m2(|m| m.active = claims(1, &[("orders", &[1, 0, 1])]));
        let detail = "claims orders 1 more than once";
        assert_eq!(warned, one(WarningKind::DuplicateClaim, detail));
    }

    #[test]
    fn claims_on_topics_of_others_are_not_believed() {
        let warned = said_by_m2(|m| m.active = claims(1, &[("clicks", &[0]), ("ghosts", &[0])]));
        let expected = [
            (
                WarningKind::UnknownTopic,
                "claims ghosts 0, which does not exist",
            ),
            (
                WarningKind::NotSubscribed,
                "claims clicks 0, to which it does not subscribe",
            ),
        ];
        assert_eq!(
            warned,
            expected.map(|(kind, detail)| (kind, detail.to_owned()))
        );
    }

    #[test]
    fn claims_on_unknown_tables_are_not_believed() {
        let warned = said_by_m2(|m| m.standby = claims(1, &[("lost", &[3])]));
        let detail = "claims table lost 3, which nobody declares";
        assert_eq!(warned, one(WarningKind::UnknownTable, detail));
    }

    #[test]
    fn local_state_of_an_undeclared_table_is_not_believed() {
        let warned = said_by_m2(|m| {
            m.tables.clear();
            m.local_state = claims(1, &[("counts", &[3])]).partitions;
        });
        let detail = "claims local state of counts 3, which it does not declare as the group does";
        assert_eq!(warned, one(WarningKind::UndeclaredTable, detail));
    }

    #[test]
    fn a_topic_named_twice_counts_once() {
        let warned = said_by_m2(|m| m.topics.push("orders".to_owned()));
        let detail = "subscribes to orders more than once";
        assert_eq!(warned, one(WarningKind::DuplicateName, detail));
    }

    #[test]
    fn a_table_needs_a_source_that_its_member_subscribes_to() {
        let warned = said_by_m2(|m| m.tables.push(table("sums", "clicks")));
        assert_eq!(warned[0].0, WarningKind::SourceNotSubscribed);
    }

    #[test]
    fn most_declarations_decide_the_source_of_a_table_then_the_name() {
        let mut problem = stateful_group(8, 3);
        problem.members[0].tables = vec![table("counts", "users")];
        let roster = Roster::admit(&problem, &mut Warnings::default());
        let holders = roster.members.iter().map(|m| m.tables.len());
        assert_eq!(holders.collect::<Vec<_>>(), [0, 1, 1]);
        problem.members.pop();
        let roster = Roster::admit(&problem, &mut Warnings::default());
        let holders = roster.members.iter().map(|m| m.tables.len());
        assert_eq!(
            holders.collect::<Vec<_>>(),
            [0, 1],
            "orders comes before users"
        );
        assert_eq!(warned(&problem)[0].0, WarningKind::SourceMismatch);
    }

    #[test]
    fn of_two_members_with_one_id_the_one_with_newer_claims_is_kept() {
        let mut problem = stateful_group(8, 2);
        problem.members[1].id = "m1".to_owned();
        problem.members[1].active = claims(3, &[("orders", &[0])]);
        for _ in 0..2 {
            problem.members.reverse();
            let roster = Roster::admit(&problem, &mut Warnings::default());
            let kept: Vec<_> = roster
                .members
                .iter()
                .map(|m| m.said.active.generation)
                .collect();
            assert_eq!(kept, [Some(3)]);
        }
        assert_eq!(warned(&problem)[0].0, WarningKind::DuplicateMember);
    }

    #[test]
    fn a_restarted_static_member_keeps_its_place() {
        let mut problem = stateful_group(8, 2);
        problem.members[0].instance = Some("z".to_owned());
        problem.members[1].instance = Some("a".to_owned());
        let roster = Roster::admit(&problem, &mut Warnings::default());
        let order: Vec<_> = roster.members.iter().map(|m| m.id()).collect();
        assert_eq!(order, ["m2", "m1"]);
    }

    #[test]
    fn more_replicas_than_others_want_are_kept_with_a_warning() {
        let mut problem = stateful_group(8, 2);
        problem.members[1].standby_replicas = 2;
        let roster = Roster::admit(&problem, &mut Warnings::default());
        assert_eq!(roster.replicas, 2);
        assert_eq!(warned(&problem)[0].0, WarningKind::ReplicasMismatch);
    }
}
