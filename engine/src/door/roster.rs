//! Who is there, what exists, and who subscribes to it.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use super::declarations;
use crate::index::{MemberIx, TableIx, TopicIx};
use crate::plan::WarningKind;
use crate::problem::{Member, Problem, Topic};
use crate::warnings::{Warnings, quoted};

/// The group, as far as it is believed.
#[derive(Debug, Default)]
pub(crate) struct Roster<'p> {
    /// Topics that exist and have a subscriber, by name.
    pub(crate) topics: IndexVec<TopicIx, TopicEntry<'p>>,
    /// Tables that some member may declare, by name.
    pub(crate) tables: IndexVec<TableIx, TableEntry<'p>>,
    /// Members by (instance or id, id).
    pub(crate) members: IndexVec<MemberIx, MemberEntry<'p>>,
    /// The leader topic, if it exists and has a subscriber.
    pub(crate) leader_topic: Option<TopicIx>,
    /// The name of the leader topic, if there is one at all.
    pub(crate) leader_name: Option<&'p str>,
    /// Standby copies per stateful task.
    pub(crate) replicas: u32,
    /// Partition counts of global tables.
    pub(crate) globals: BTreeMap<&'p str, u32>,
    /// Declared co-partition sets, united; `None` is automatic grouping.
    pub(crate) sets: Option<Vec<BTreeSet<&'p str>>>,
    /// Names that somebody subscribes to, whether they exist or not.
    pub(crate) wanted: BTreeSet<&'p str>,
    existing: Option<&'p BTreeMap<String, Topic>>,
    topic_of: BTreeMap<&'p str, TopicIx>,
    table_of: BTreeMap<&'p str, TableIx>,
}

/// A topic.
#[derive(Debug)]
pub(crate) struct TopicEntry<'p> {
    pub(crate) name: &'p str,
    pub(crate) partitions: u32,
    pub(crate) replica_racks: &'p [Vec<String>],
    /// Sorted.
    pub(crate) subscribers: Vec<MemberIx>,
    /// Tables whose source it is, sorted.
    pub(crate) tables: Vec<TableIx>,
}

/// A table.
#[derive(Debug)]
pub(crate) struct TableEntry<'p> {
    pub(crate) name: &'p str,
    pub(crate) source: TopicIx,
}

/// A member.
#[derive(Debug)]
pub(crate) struct MemberEntry<'p> {
    /// What it said.
    pub(crate) said: &'p Member,
    /// Topics of the roster that it subscribes to.
    pub(crate) topics: BTreeSet<TopicIx>,
    /// Tables that it declares on a topic it subscribes to.
    pub(super) declared: BTreeMap<&'p str, TopicIx>,
    /// Of those, the ones on whose source the group agrees: it may hold them.
    pub(crate) tables: BTreeSet<TableIx>,
    /// Global tables that it holds.
    pub(crate) globals: BTreeSet<&'p str>,
}

impl<'p> Roster<'p> {
    /// Everything up to the declarations; claims are for [`History`](super::History).
    pub(crate) fn admit(problem: &'p Problem, warnings: &mut Warnings) -> Self {
        let mut roster = Roster {
            members: admit_members(&problem.members, warnings),
            existing: Some(&problem.topics),
            ..Roster::default()
        };
        roster.admit_topics(problem, warnings);
        roster.leader_name = problem.leader_topic.as_deref();
        roster.leader_topic = roster.leader_name.and_then(|name| roster.topic(name));
        roster.replicas = declarations::replicas(&roster, warnings);
        roster.globals = declarations::global_tables(&mut roster.members, warnings);
        roster.sets = declarations::copartition_sets(&roster, warnings);
        roster.admit_tables(warnings);
        roster
    }

    /// The topic of this name, if it exists and has a subscriber.
    pub(crate) fn topic(&self, name: &str) -> Option<TopicIx> {
        self.topic_of.get(name).copied()
    }

    /// Partitions of the topic of this name, subscribed to or not, if it exists.
    pub(crate) fn partitions_of(&self, name: &str) -> Option<u32> {
        self.existing?.get(name).map(|topic| topic.partitions)
    }

    /// The table of this name, if somebody may declare it.
    pub(crate) fn table(&self, name: &str) -> Option<TableIx> {
        self.table_of.get(name).copied()
    }

    /// Partitions of a table: those of its source topic.
    pub(crate) fn table_partitions(&self, table: TableIx) -> u32 {
        self.topics[self.tables[table].source].partitions
    }

    fn admit_topics(&mut self, problem: &'p Problem, warnings: &mut Warnings) {
        let names = self.members.iter().flat_map(|m| &m.said.topics);
        self.wanted = names.map(String::as_str).collect();
        for (name, topic) in &problem.topics {
            if self.wanted.contains(name.as_str()) {
                let entry = TopicEntry::without_subscribers(name, topic);
                self.topic_of.insert(name, self.topics.push(entry));
            }
        }
        for m in self.members.indices() {
            self.subscribe(m, warnings);
        }
    }

    fn subscribe(&mut self, m: MemberIx, warnings: &mut Warnings) {
        let member = &mut self.members[m];
        let mut seen = BTreeSet::new();
        for name in &member.said.topics {
            if !seen.insert(name) {
                member.warn(warnings, WarningKind::DuplicateName, name, |n| {
                    format!("subscribes to {n} more than once")
                });
            } else if let Some(&t) = self.topic_of.get(name.as_str()) {
                member.topics.insert(t);
                self.topics[t].subscribers.push(m);
            } else {
                member.warn(warnings, WarningKind::UnknownTopic, name, |n| {
                    format!("subscribes to {n}, which does not exist")
                });
            }
        }
    }

    fn admit_tables(&mut self, warnings: &mut Warnings) {
        for (name, source) in declarations::table_sources(self, warnings) {
            let table = self.tables.push(TableEntry { name, source });
            self.table_of.insert(name, table);
            self.topics[source].tables.push(table);
        }
        for member in &mut self.members {
            let agreed = member.declared.iter().filter_map(|(name, source)| {
                let table = *self.table_of.get(name)?;
                (self.tables[table].source == *source).then_some(table)
            });
            member.tables = agreed.collect();
        }
    }
}

impl<'p> TopicEntry<'p> {
    fn without_subscribers(name: &'p str, topic: &'p Topic) -> Self {
        TopicEntry {
            name,
            partitions: topic.partitions,
            replica_racks: &topic.replica_racks,
            subscribers: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Racks of the replicas of partition `p`; empty when unknown.
    pub(crate) fn racks_of(&self, p: u32) -> &'p [String] {
        let racks = usize::try_from(p)
            .ok()
            .and_then(|p| self.replica_racks.get(p));
        racks.map_or(&[], Vec::as_slice)
    }
}

impl<'p> MemberEntry<'p> {
    fn new(said: &'p Member) -> Self {
        MemberEntry {
            said,
            topics: BTreeSet::new(),
            declared: BTreeMap::new(),
            tables: BTreeSet::new(),
            globals: BTreeSet::new(),
        }
    }

    pub(crate) fn id(&self) -> &'p str {
        &self.said.id
    }

    pub(crate) fn rack(&self) -> Option<&'p str> {
        self.said.rack.as_deref()
    }

    /// Notes a warning about what this member says of the thing called `name`.
    pub(super) fn warn(
        &self,
        warnings: &mut Warnings,
        kind: WarningKind,
        name: &str,
        sentence: impl FnOnce(&str) -> String,
    ) {
        warnings.note(Some(self.id()), kind, name, sentence(&quoted(name)));
    }
}

/// One entry per id, sorted by (instance or id, id).
fn admit_members<'p>(
    said: &'p [Member],
    warnings: &mut Warnings,
) -> IndexVec<MemberIx, MemberEntry<'p>> {
    let mut by_id: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in said {
        by_id.entry(&member.id).or_default().push(member);
    }
    let mut admitted: Vec<&Member> = by_id
        .into_values()
        .filter_map(|namesakes| choose_namesake(namesakes, warnings))
        .collect();
    admitted.sort_by_key(|m| (m.instance.as_ref().unwrap_or(&m.id), &m.id));
    admitted.into_iter().map(MemberEntry::new).collect()
}

/// Of members with one id the one with the newest claims; among equals the text of their contents decides.
fn choose_namesake<'p>(namesakes: Vec<&'p Member>, warnings: &mut Warnings) -> Option<&'p Member> {
    if let [_, second, ..] = namesakes[..] {
        let detail = format!(
            "{} members have this id; the one with the newest claims is kept",
            namesakes.len()
        );
        let kind = WarningKind::DuplicateMember;
        warnings.note(Some(&second.id), kind, "", detail);
    } else {
        return namesakes.into_iter().next();
    }
    namesakes.into_iter().min_by_key(|m| {
        let newest = Reverse(m.active.generation.max(m.standby.generation));
        (newest, format!("{m:?}"))
    })
}
