//! Which topics go together, and what keeps a group from being placed.
//!
//! Nothing declared: topics with the same partition count *and* the same subscribers form a group. Something
//! declared: exactly the declared sets, every other topic on its own. The leader topic is in no group.
//!
//! ```text
//! topics    orders 8 (m1 m2)   users 8 (m1 m2)   audit 3 (m1 m2)   clicks 8 (m2)
//! automatic            {orders users}  {audit}  {clicks}
//! [[orders, audit]]    {users}  {clicks}   and an error: orders has 8 partitions, audit has 3
//! [[orders, clicks]]   {orders} as m1 and m2 subscribe, {users} {audit}; an error leaves clicks unassigned
//! []                   {orders} {users} {audit} {clicks}
//! ```
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::door::Roster;
use crate::index::{GroupIx, MemberIx, TableIx, TopicIx};
use crate::plan::{CopartitionGroup, GroupError, GroupErrorKind};
use crate::warnings::quoted;

/// A co-partition group that can be placed: every subscriber subscribes to all of its topics.
#[derive(Debug)]
pub(crate) struct Group {
    /// Sorted; never empty.
    pub(crate) topics: Vec<TopicIx>,
    /// Tables on these topics, sorted.
    pub(crate) tables: Vec<TableIx>,
    /// Partitions that the topics share.
    pub(crate) partitions: u32,
    /// Sorted; never empty.
    pub(crate) subscribers: Vec<MemberIx>,
}

impl Group {
    /// Whether a table belongs to it.
    pub(crate) fn is_stateful(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Tables of the group that are not among those `held`.
    pub(crate) fn tables_missing(&self, held: &BTreeSet<TableIx>) -> usize {
        self.tables
            .iter()
            .filter(|table| !held.contains(table))
            .count()
    }

    /// The group by names.
    pub(crate) fn named(&self, roster: &Roster<'_>) -> CopartitionGroup {
        let topic = |&t: &TopicIx| roster.topics[t].name.to_owned();
        let table = |&t: &TableIx| roster.tables[t].name.to_owned();
        CopartitionGroup {
            topics: self.topics.iter().map(topic).collect(),
            tables: self.tables.iter().map(table).collect(),
            partitions: self.partitions,
        }
    }

    fn of(topics: Vec<TopicIx>, roster: &Roster<'_>) -> Option<Self> {
        let first = &roster.topics[*topics.first()?];
        let tables = topics.iter().flat_map(|&t| &roster.topics[t].tables);
        let tables: BTreeSet<TableIx> = tables.copied().collect();
        Some(Group {
            tables: tables.into_iter().collect(),
            partitions: first.partitions,
            subscribers: first.subscribers.clone(),
            topics,
        })
    }
}

/// The groups, in order of their first topics, and what is wrong with the rest.
pub(crate) fn form(roster: &Roster<'_>) -> (IndexVec<GroupIx, Group>, Vec<GroupError>) {
    let mut errors = Vec::new();
    let mut topic_sets = match &roster.sets {
        None => automatic(roster),
        Some(sets) => declared(roster, sets, &mut errors),
    };
    topic_sets.sort_unstable();
    errors.sort_unstable();
    let groups = topic_sets
        .into_iter()
        .filter_map(|topics| Group::of(topics, roster));
    (groups.collect(), errors)
}

fn groupable<'r>(roster: &'r Roster<'_>) -> impl Iterator<Item = TopicIx> + 'r {
    roster
        .topics
        .indices()
        .filter(|&t| Some(t) != roster.leader_topic)
}

fn automatic(roster: &Roster<'_>) -> Vec<Vec<TopicIx>> {
    let mut alike: BTreeMap<(u32, &[MemberIx]), Vec<TopicIx>> = BTreeMap::new();
    for t in groupable(roster) {
        let topic = &roster.topics[t];
        alike
            .entry((topic.partitions, &topic.subscribers))
            .or_default()
            .push(t);
    }
    alike.into_values().collect()
}

fn declared(
    roster: &Roster<'_>,
    sets: &[BTreeSet<&str>],
    errors: &mut Vec<GroupError>,
) -> Vec<Vec<TopicIx>> {
    let mut grouped = BTreeSet::new();
    let mut topic_sets = Vec::new();
    for names in sets {
        let set = DeclaredSet::new(roster, names);
        grouped.extend(set.subscribed.iter().copied());
        topic_sets.push(set.placeable(errors));
    }
    let alone = groupable(roster).filter(|t| !grouped.contains(t));
    topic_sets.extend(alone.map(|t| vec![t]));
    topic_sets
}

/// A declared set, held against what exists and who subscribes.
struct DeclaredSet<'r> {
    roster: &'r Roster<'r>,
    names: &'r BTreeSet<&'r str>,
    /// Topics of the set that exist and have a subscriber.
    subscribed: Vec<TopicIx>,
    /// Members that subscribe to one of them.
    everybody: usize,
}

impl<'r> DeclaredSet<'r> {
    fn new(roster: &'r Roster<'r>, names: &'r BTreeSet<&'r str>) -> Self {
        let subscribed: Vec<TopicIx> = names.iter().filter_map(|n| roster.topic(n)).collect();
        let subscribers = subscribed
            .iter()
            .flat_map(|&t| &roster.topics[t].subscribers);
        let everybody = subscribers.collect::<BTreeSet<_>>().len();
        DeclaredSet {
            roster,
            names,
            subscribed,
            everybody,
        }
    }

    /// The topics of the set that can be placed together; the others become errors.
    ///
    /// A set to which nobody subscribes at all is nobody's concern.
    fn placeable(&self, errors: &mut Vec<GroupError>) -> Vec<TopicIx> {
        if self.names.is_disjoint(&self.roster.wanted) {
            return Vec::new();
        }
        if let Some(error) = self.missing().or_else(|| self.mismatch()) {
            errors.push(error);
            return Vec::new();
        }
        errors.extend(self.incomplete());
        let subscribed = self.subscribed.iter().copied();
        subscribed.filter(|&t| self.is_complete(t)).collect()
    }

    fn missing(&self) -> Option<GroupError> {
        let exists = |name: &str| self.roster.partitions_of(name).is_some();
        let missing = listed(self.names.iter().filter(|name| !exists(name)))?;
        let set = listed(self.names)?;
        Some(GroupError {
            kind: GroupErrorKind::NoSuchTopic,
            detail: format!(
                "the co-partition set of {set} stays unassigned: there is no topic {missing}"
            ),
            topics: self.subscribed.iter().map(|&t| self.name(t)).collect(),
        })
    }

    fn mismatch(&self) -> Option<GroupError> {
        let count = |name: &&str| Some((self.roster.partitions_of(name)?, name.to_string()));
        let counts: Vec<(u32, String)> = self.names.iter().filter_map(count).collect();
        let (first, _) = counts.first()?;
        if counts.iter().all(|(count, _)| count == first) {
            return None;
        }
        let counts = counts
            .iter()
            .map(|(n, name)| format!("{} has {n}", quoted(name)));
        let counts = listed(counts)?;
        Some(GroupError {
            kind: GroupErrorKind::CopartitionMismatch,
            detail: format!(
                "a co-partition set stays unassigned because its partition counts differ: {counts}"
            ),
            topics: self.subscribed.iter().map(|&t| self.name(t)).collect(),
        })
    }

    /// Placing such a topic would draw all its tasks, and the rest of the set with them, to the few.
    fn incomplete(&self) -> Option<GroupError> {
        let complete = |name: &str| self.roster.topic(name).is_some_and(|t| self.is_complete(t));
        let partial: Vec<&str> = self
            .names
            .iter()
            .copied()
            .filter(|n| !complete(n))
            .collect();
        let (topics, set) = (listed(&partial)?, listed(self.names)?);
        Some(GroupError {
            kind: GroupErrorKind::IncompleteSubscription,
            detail: format!(
                "{topics} stays unassigned: not all subscribers of the co-partition set of {set} subscribe to it"
            ),
            topics: partial.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Whether everybody who subscribes to a topic of the set subscribes to this one.
    fn is_complete(&self, topic: TopicIx) -> bool {
        self.roster.topics[topic].subscribers.len() == self.everybody
    }

    fn name(&self, topic: TopicIx) -> String {
        self.roster.topics[topic].name.to_owned()
    }
}

/// Names that a sentence lists before it counts the rest.
const LISTED: usize = 10;

/// `a, b, c`, cut to a bearable length; `None` of nothing.
fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Option<String> {
    let mut names = names.into_iter();
    let shown: Vec<String> = names
        .by_ref()
        .take(LISTED)
        .map(|n| quoted(n.as_ref()))
        .collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => None,
        (false, 0) => Some(shown.join(", ")),
        (false, more) => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Copartition, Member, Problem, Topic};
    use crate::warnings::Warnings;

    /// orders 8 and users 8 for both members, audit 3 for both, clicks 8 for m2 alone.
    fn problem(sets: Option<&[&[&str]]>) -> Problem {
        let topic = |partitions| Topic {
            partitions,
            ..Topic::default()
        };
        let topics = [
            ("audit", 3),
            ("clicks", 8),
            ("orders", 8),
            ("users", 8),
            ("idle", 8),
        ];
        let mut members = vec![
            Member::new("m1", ["orders", "users", "audit"]),
            Member::new("m2", ["orders", "users", "audit", "clicks"]),
        ];
        if let Some(sets) = sets {
            let owned = |set: &&[&str]| set.iter().map(|name| name.to_string()).collect();
            members[0].copartition = Copartition::Declared(sets.iter().map(owned).collect());
        }
        Problem {
            topics: topics
                .map(|(name, count)| (name.to_owned(), topic(count)))
                .into(),
            members,
            ..Problem::default()
        }
    }

    type Kinds = Vec<(GroupErrorKind, Vec<String>)>;

    fn formed(problem: &Problem) -> (Vec<Vec<String>>, Kinds) {
        let roster = Roster::admit(problem, &mut Warnings::default());
        let (groups, errors) = form(&roster);
        let groups = groups.iter().map(|g| g.named(&roster).topics).collect();
        (
            groups,
            errors.into_iter().map(|e| (e.kind, e.topics)).collect(),
        )
    }

    #[test]
    fn equal_counts_and_subscribers_make_a_group_when_nothing_is_declared() {
        let (groups, errors) = formed(&problem(None));
        assert_eq!(
            groups,
            [vec!["audit"], vec!["clicks"], vec!["orders", "users"]]
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn an_empty_declaration_leaves_every_topic_on_its_own() {
        let (groups, _) = formed(&problem(Some(&[])));
        assert_eq!(groups, [["audit"], ["clicks"], ["orders"], ["users"]]);
    }

    #[test]
    fn the_leader_topic_is_in_no_group() {
        let mut problem = problem(Some(&[&["audit", "orders"]]));
        problem.leader_topic = Some("audit".to_owned());
        let (groups, errors) = formed(&problem);
        assert_eq!(groups, [["clicks"], ["orders"], ["users"]]);
        assert!(errors.is_empty());
    }

    #[test]
    fn differing_counts_leave_the_set_unassigned() {
        let (groups, errors) = formed(&problem(Some(&[&["orders", "audit"]])));
        assert_eq!(groups, [["clicks"], ["users"]]);
        let topics = vec!["audit".to_owned(), "orders".to_owned()];
        assert_eq!(errors, [(GroupErrorKind::CopartitionMismatch, topics)]);
    }

    #[test]
    fn a_topic_that_does_not_exist_leaves_the_set_unassigned() {
        let (groups, errors) = formed(&problem(Some(&[&["orders", "ghosts"]])));
        assert_eq!(groups, [["audit"], ["clicks"], ["users"]]);
        assert_eq!(
            errors,
            [(GroupErrorKind::NoSuchTopic, vec!["orders".to_owned()])]
        );
    }

    #[test]
    fn a_topic_that_only_some_subscribe_to_stays_unassigned_alone() {
        let (groups, errors) = formed(&problem(Some(&[&["orders", "clicks"]])));
        assert_eq!(groups, [["audit"], ["orders"], ["users"]]);
        assert_eq!(
            errors,
            [(
                GroupErrorKind::IncompleteSubscription,
                vec!["clicks".to_owned()]
            )]
        );
    }

    #[test]
    fn sets_that_share_a_topic_are_united() {
        let (groups, errors) = formed(&problem(Some(&[&["orders"], &["users", "orders"]])));
        assert_eq!(
            groups,
            [vec!["audit"], vec!["clicks"], vec!["orders", "users"]]
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn a_set_without_subscribers_is_nobodys_concern() {
        let (_, errors) = formed(&problem(Some(&[&["idle", "ghosts"]])));
        assert!(errors.is_empty());
    }
}
