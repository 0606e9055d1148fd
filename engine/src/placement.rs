//! A finished placement by indices, and the members' shares of it by names.
use std::collections::BTreeMap;

use index_vec::IndexVec;

use crate::actives::{self, Actives};
use crate::door::{History, Roster};
use crate::groups::Group;
use crate::index::{GroupIx, MemberIx, TopicIx};
use crate::leader_topic;
use crate::plan::MemberPlan;
use crate::standbys::{self, Standbys};

/// What was known, and what came of it.
#[derive(Debug)]
pub(crate) struct Placement<'a> {
    pub(crate) roster: &'a Roster<'a>,
    pub(crate) history: &'a History,
    pub(crate) groups: &'a IndexVec<GroupIx, Group>,
    pub(crate) actives: Actives,
    pub(crate) standbys: Standbys,
    pub(crate) leader: Option<(TopicIx, Vec<MemberIx>)>,
}

impl<'a> Placement<'a> {
    /// Actives first, then standbys for these actives, then the leader topic.
    pub(crate) fn find(
        roster: &'a Roster<'a>,
        history: &'a History,
        groups: &'a IndexVec<GroupIx, Group>,
    ) -> Self {
        let actives = actives::place(roster, groups, history);
        let standbys = standbys::place(roster, groups, history, &actives);
        let loads = counts(roster, actives.iter().flatten());
        Placement {
            leader: leader_topic::place(roster, history, &loads),
            roster,
            history,
            groups,
            actives,
            standbys,
        }
    }

    /// The standbys of one task.
    pub(crate) fn standbys(&self, group: GroupIx, p: u32) -> &[MemberIx] {
        let task = usize::try_from(p)
            .ok()
            .and_then(|p| self.standbys[group].get(p));
        task.map_or(&[], Vec::as_slice)
    }

    /// Tasks that every member is active for; the leader topic is none.
    pub(crate) fn active_loads(&self) -> IndexVec<MemberIx, u64> {
        counts(self.roster, self.actives.iter().flatten())
    }

    /// Tasks that every member is a standby of.
    pub(crate) fn standby_loads(&self) -> IndexVec<MemberIx, u64> {
        counts(self.roster, self.standbys.iter().flatten().flatten())
    }

    /// Every member's share, also that of one that gets nothing.
    pub(crate) fn shares(&self) -> BTreeMap<String, MemberPlan> {
        let mut shares: IndexVec<MemberIx, MemberPlan> = self
            .roster
            .members
            .indices()
            .map(|m| self.globals(m))
            .collect();
        for (g, group) in self.groups.iter_enumerated() {
            for &topic in &group.topics {
                self.share_topic(&mut shares, topic, &self.actives[g]);
            }
            self.share_tables(&mut shares, g, group);
        }
        if let Some((topic, owners)) = &self.leader {
            self.share_topic(&mut shares, *topic, owners);
        }
        let id = |m: MemberIx| self.roster.members[m].id().to_owned();
        shares
            .into_iter_enumerated()
            .map(|(m, share)| (id(m), share))
            .collect()
    }

    fn globals(&self, m: MemberIx) -> MemberPlan {
        let held = self.roster.members[m].globals.iter();
        let count = |&name: &&str| Some((name.to_owned(), *self.roster.globals.get(name)?));
        MemberPlan {
            global: held.filter_map(count).collect(),
            ..MemberPlan::default()
        }
    }

    fn share_topic(
        &self,
        shares: &mut IndexVec<MemberIx, MemberPlan>,
        topic: TopicIx,
        owners: &[MemberIx],
    ) {
        let name = self.roster.topics[topic].name;
        for (p, &m) in (0..).zip(owners) {
            push(&mut shares[m].active, name, p);
        }
    }

    fn share_tables(&self, shares: &mut IndexVec<MemberIx, MemberPlan>, g: GroupIx, group: &Group) {
        for (p, standbys) in (0..).zip(&self.standbys[g]) {
            for &m in standbys {
                let held = &self.roster.members[m].tables;
                for table in group.tables.iter().filter(|&table| held.contains(table)) {
                    push(&mut shares[m].standby, self.roster.tables[*table].name, p);
                }
            }
        }
    }
}

fn push(lists: &mut BTreeMap<String, Vec<u32>>, name: &str, p: u32) {
    match lists.get_mut(name) {
        Some(list) => list.push(p),
        None => {
            lists.insert(name.to_owned(), vec![p]);
        }
    }
}

fn counts<'m>(
    roster: &Roster<'_>,
    members: impl Iterator<Item = &'m MemberIx>,
) -> IndexVec<MemberIx, u64> {
    let mut counts: IndexVec<MemberIx, u64> = roster.members.iter().map(|_| 0).collect();
    members.for_each(|&m| counts[m] += 1);
    counts
}
