//! What changes and why, and what the objectives come to.
//!
//! ```text
//! orders 3 with table counts     before: active m1, standby m2        after: active m2, standby m1
//! moves   active  [orders] 3     m1 -> m2     promoted   m2 had a copy; m1 gives it up so that loads are even
//!         standby counts 3       nobody -> m1 new        m1 was its active and keeps the copy
//! ```
//!
//! The values are counted from the placement, not taken from the search that found it.
use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::door::Holders;
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx, TableIx, TopicIx};
use crate::past::TaskPast;
use crate::placement::Placement;
use crate::plan::{Move, MoveKind, Report, Role};

/// Compares a placement with the history it came from.
pub(crate) fn write(placement: &Placement<'_>) -> Report {
    let mut writer = Writer {
        placement,
        report: Report {
            active_spread: spread(placement, &placement.active_loads()),
            standby_spread: spread(placement, &placement.standby_loads()),
            ..Report::default()
        },
    };
    for (g, group) in placement.groups.iter_enumerated() {
        writer.group(g, group);
    }
    writer.leader_topic();
    writer.unassigned();
    writer.report
}

/// Largest minus smallest load of the members that subscribe to anything but the leader topic.
fn spread(placement: &Placement<'_>, loads: &IndexVec<MemberIx, u64>) -> u64 {
    let roster = placement.roster;
    let subscribes = |m: MemberIx| {
        let mut topics = roster.members[m].said.topics.iter();
        topics.any(|name| Some(name.as_str()) != roster.leader_name)
    };
    let loads = loads.iter_enumerated().filter(|&(m, _)| subscribes(m));
    let loads: Vec<u64> = loads.map(|(_, &load)| load).collect();
    loads
        .iter()
        .max()
        .zip(loads.iter().min())
        .map_or(0, |(most, least)| most - least)
}

struct Writer<'a> {
    placement: &'a Placement<'a>,
    report: Report,
}

/// One task, while its moves are written down.
struct Task<'a> {
    g: GroupIx,
    group: &'a Group,
    p: u32,
    active: MemberIx,
    past: TaskPast,
}

impl<'a> Writer<'a> {
    fn group(&mut self, g: GroupIx, group: &'a Group) {
        let Placement {
            roster, history, ..
        } = self.placement;
        for (p, &active) in (0..).zip(&self.placement.actives[g]) {
            let past = TaskPast::of(group, p, roster, history);
            let task = Task {
                g,
                group,
                p,
                active,
                past,
            };
            self.count(&task);
            self.active_moves(&task);
            self.standby_moves(&task);
        }
    }

    fn count(&mut self, task: &Task<'_>) {
        let cold = |m: &MemberIx| !task.past.at(*m).has_copy(task.group);
        let standbys = self.placement.standbys(task.g, task.p);
        let moved = task.past.claimed - task.past.at(task.active).owned;
        self.report.active_cold += u64::from(cold(&task.active));
        self.report.active_moved += moved as u64;
        self.report.standby_moved += standbys.iter().filter(|m| cold(m)).count() as u64;
    }

    fn active_moves(&mut self, task: &Task<'_>) {
        let mut by_owner: BTreeMap<Option<MemberIx>, Vec<TopicIx>> = BTreeMap::new();
        for &topic in &task.group.topics {
            let owners = &self.placement.history.owners[topic];
            if !owners.contains(task.p, task.active) {
                by_owner
                    .entry(owners.at(task.p).first().copied())
                    .or_default()
                    .push(topic);
            }
        }
        for (from, topics) in by_owner {
            let kind = active_kind(task, from);
            self.report.moves.push(Move {
                role: Role::Active,
                names: topics.into_iter().map(|t| self.topic(t)).collect(),
                partition: task.p,
                from: from.map(|m| self.id(m)),
                to: Some(self.id(task.active)),
                kind,
                reason: self.active_reason(task, from, kind),
            });
        }
    }

    fn active_reason(&self, task: &Task<'_>, from: Option<MemberIx>, kind: MoveKind) -> String {
        let to = self.id(task.active);
        let why = match from {
            None => "nobody present owned it".to_owned(),
            Some(m) if kind == MoveKind::Promoted && !task.past.at(m).has_copy(task.group) => {
                format!("{} had none", self.id(m))
            }
            Some(m) => format!("{} gives it up so that loads are even", self.id(m)),
        };
        match kind {
            MoveKind::Promoted => format!("{to} had a copy; {why}"),
            MoveKind::Cold if task.past.iter().any(|(_, past)| past.has_copy(task.group)) => {
                format!(
                    "{to} has to build the state: even loads leave no room where a copy is; {why}"
                )
            }
            MoveKind::Cold => format!("{to} has to build the state: there is no copy; {why}"),
            MoveKind::New | MoveKind::Moved => why,
        }
    }

    fn standby_moves(&mut self, task: &Task<'_>) {
        for &table in &task.group.tables {
            let roster = self.placement.roster;
            let before = &self.placement.history.standbys[table];
            let holds = |m: &MemberIx| roster.members[*m].tables.contains(&table);
            let after = self
                .placement
                .standbys(task.g, task.p)
                .iter()
                .filter(|m| holds(m));
            let after: Vec<MemberIx> = after.copied().collect();
            let gone = |m: &MemberIx| *m != task.active && !after.contains(m);
            let mut left = before.at(task.p).iter().copied().filter(gone);
            for &to in after.iter().filter(|&&m| !before.contains(task.p, m)) {
                let moved = self.standby_gain(task, table, left.next(), to);
                self.report.moves.push(moved);
            }
            for from in left {
                let reason = "enough other members keep a copy";
                let moved = self.loss(Role::Standby, self.table(table), task.p, from, reason);
                self.report.moves.push(moved);
            }
        }
    }

    fn standby_gain(
        &self,
        task: &Task<'_>,
        table: TableIx,
        from: Option<MemberIx>,
        to: MemberIx,
    ) -> Move {
        let history = self.placement.history;
        let source = self.placement.roster.tables[table].source;
        let has_copy = history.copies[table].contains(task.p, to);
        let (id, was_active) = (self.id(to), history.owners[source].contains(task.p, to));
        let (kind, reason) = match from {
            _ if !has_copy => (MoveKind::Cold, format!("{id} has to build the copy")),
            None if was_active => (
                MoveKind::New,
                format!("{id} was its active and keeps the copy"),
            ),
            None => (MoveKind::New, format!("{id} has its state on disk")),
            Some(_) if was_active => (
                MoveKind::Moved,
                format!("{id} was its active and keeps the copy"),
            ),
            Some(_) => (MoveKind::Moved, format!("{id} has its state on disk")),
        };
        Move {
            role: Role::Standby,
            names: vec![self.table(table)],
            partition: task.p,
            from: from.map(|m| self.id(m)),
            to: Some(id),
            kind,
            reason,
        }
    }

    fn leader_topic(&mut self) {
        let Some((topic, owners)) = &self.placement.leader else {
            return;
        };
        for (p, &to) in (0..).zip(owners) {
            if self.placement.history.owners[*topic].at(p).is_empty() {
                self.report.moves.push(Move {
                    role: Role::Active,
                    names: vec![self.topic(*topic)],
                    partition: p,
                    from: None,
                    to: Some(self.id(to)),
                    kind: MoveKind::New,
                    reason: "nobody present led the application".to_owned(),
                });
            }
        }
    }

    /// What members give up because its group is in error.
    fn unassigned(&mut self) {
        let Placement {
            roster,
            history,
            groups,
            leader,
            ..
        } = self.placement;
        let placed = groups.iter().flat_map(|group| group.topics.iter().copied());
        let placed: BTreeSet<TopicIx> = placed.chain(leader.iter().map(|l| l.0)).collect();
        let reason = "its co-partition set is in error";
        for (t, topic) in roster
            .topics
            .iter_enumerated()
            .filter(|(t, _)| !placed.contains(t))
        {
            self.all_lost(
                Role::Active,
                topic.name,
                &history.owners[t],
                topic.partitions,
                reason,
            );
            for &table in &topic.tables {
                let name = roster.tables[table].name;
                self.all_lost(
                    Role::Standby,
                    name,
                    &history.standbys[table],
                    topic.partitions,
                    reason,
                );
            }
        }
    }

    fn all_lost(
        &mut self,
        role: Role,
        name: &str,
        holders: &Holders,
        partitions: u32,
        reason: &str,
    ) {
        for p in 0..partitions {
            for &from in holders.at(p) {
                let lost = self.loss(role, name.to_owned(), p, from, reason);
                self.report.moves.push(lost);
            }
        }
    }

    fn loss(&self, role: Role, name: String, partition: u32, from: MemberIx, reason: &str) -> Move {
        Move {
            role,
            names: vec![name],
            partition,
            from: Some(self.id(from)),
            to: None,
            kind: MoveKind::Moved,
            reason: reason.to_owned(),
        }
    }

    fn id(&self, m: MemberIx) -> String {
        self.placement.roster.members[m].id().to_owned()
    }

    fn topic(&self, topic: TopicIx) -> String {
        self.placement.roster.topics[topic].name.to_owned()
    }

    fn table(&self, table: TableIx) -> String {
        self.placement.roster.tables[table].name.to_owned()
    }
}

/// The first kind that fits: promoted, cold, new, moved.
fn active_kind(task: &Task<'_>, from: Option<MemberIx>) -> MoveKind {
    let had = task.past.at(task.active);
    if !had.has_copy(task.group) {
        MoveKind::Cold
    } else if had.processed < task.group.tables.len() {
        MoveKind::Promoted
    } else if from.is_none() {
        MoveKind::New
    } else {
        MoveKind::Moved
    }
}
