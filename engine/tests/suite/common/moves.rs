//! The part of the checker that reads the report's list of moves.
//!
//! Every topic-partition that changes hands stands there once, with one of those who claimed it as `from`; so does every new
//! standby; what stays does not.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Move, MoveKind, Plan, Role};

use super::objectives::{Actives, Standbys};
use super::view::{Group, View};

/// Moves by topic or table, and partition.
type Listed<'a> = BTreeMap<(&'a str, u32), Vec<&'a Move>>;

/// Panics with a sentence if the list does not tell what happened.
pub fn check(view: &View, plan: &Plan, active: &Actives, standby: &Standbys) {
    let listed = listed(plan, Role::Active);
    let mut expected = 0;
    for (group, owners) in view.groups.iter().zip(active) {
        for (p, owner) in owners.iter().enumerate() {
            expected += check_task(view, group, p, *owner, &listed);
        }
    }
    let placed: BTreeSet<&str> = view
        .groups
        .iter()
        .flat_map(|g| &g.topics)
        .map(String::as_str)
        .collect();
    let found: usize = listed
        .iter()
        .filter(|(key, _)| placed.contains(key.0))
        .map(|(_, m)| m.len())
        .sum();
    assert_eq!(found, expected, "moves of actives that did not happen");
    check_standbys(view, active, standby, &self::listed(plan, Role::Standby));
    assert!(
        plan.report.moves.iter().all(|m| !m.reason.is_empty()),
        "every move has a reason"
    );
}

fn listed(plan: &Plan, role: Role) -> Listed<'_> {
    let mut listed = Listed::new();
    for change in plan.report.moves.iter().filter(|m| m.role == role) {
        assert!(change.from != change.to, "{change:?} is no move");
        for name in &change.names {
            listed
                .entry((name, change.partition))
                .or_default()
                .push(change);
        }
    }
    listed
}

/// Returns how many topic-partitions of the task change hands.
fn check_task(view: &View, group: &Group, p: usize, owner: usize, listed: &Listed) -> usize {
    let whole = group.owners[p].iter().all(|o| !o.contains(&owner));
    let alike = group.owners[p].iter().all(BTreeSet::is_empty)
        || group.owners[p].iter().all(|o| !o.is_empty());
    let mut changed = 0;
    for (topic, owners) in group.topics.iter().zip(&group.owners[p]) {
        if owners.contains(&owner) {
            continue;
        }
        changed += 1;
        let entries = listed
            .get(&(topic.as_str(), p as u32))
            .map_or(&[][..], Vec::as_slice);
        let [change] = entries else {
            panic!(
                "{topic}-{p} changes hands and has {} entries",
                entries.len()
            );
        };
        assert_eq!(
            change.to.as_ref(),
            Some(&view.members[owner].id),
            "{change:?}"
        );
        let claimants: BTreeSet<&String> = owners.iter().map(|m| &view.members[*m].id).collect();
        match &change.from {
            Some(from) => assert!(
                claimants.contains(from),
                "{change:?} comes from {claimants:?}"
            ),
            None => assert!(claimants.is_empty(), "{change:?} comes from {claimants:?}"),
        }
        if whole && alike {
            assert_eq!(change.kind, kind(group, p, owner, owners), "{change:?}");
        }
    }
    changed
}

/// Of several the first that fits.
fn kind(group: &Group, p: usize, owner: usize, owners: &BTreeSet<usize>) -> MoveKind {
    match () {
        () if group.is_stateful() && group.copies[p].contains(&owner) => MoveKind::Promoted,
        () if group.is_cold(p, owner) => MoveKind::Cold,
        () if owners.is_empty() => MoveKind::New,
        () => MoveKind::Moved,
    }
}

fn check_standbys(view: &View, active: &Actives, standby: &Standbys, listed: &Listed) {
    for (g, group) in view.groups.iter().enumerate() {
        for (p, holders) in standby[g].iter().enumerate() {
            for (t, table) in group.tables.iter().enumerate() {
                let entries = listed.get(&(table.name.as_str(), p as u32));
                let entries = entries.map_or(&[][..], Vec::as_slice);
                let declares = |m: &&usize| view.members[**m].tables.contains(table);
                let now: BTreeSet<usize> = holders.iter().filter(declares).copied().collect();
                let change = Change {
                    before: &group.standbys[p][t],
                    now,
                    active: active[g][p],
                };
                check_table(view, group, p, &change, entries);
            }
        }
    }
}

struct Change<'a> {
    before: &'a BTreeSet<usize>,
    now: BTreeSet<usize>,
    active: usize,
}

/// A new standby without a copy must be listed, one with another copy may be, one that stays must not.
fn check_table(view: &View, group: &Group, p: usize, change: &Change, entries: &[&Move]) {
    let place = |id: &String| view.members.iter().position(|m| &m.id == id);
    let to: Vec<usize> = entries
        .iter()
        .filter_map(|e| place(e.to.as_ref()?))
        .collect();
    let from: Vec<usize> = entries
        .iter()
        .filter_map(|e| place(e.from.as_ref()?))
        .collect();
    let once = |list: &[usize]| list.iter().collect::<BTreeSet<_>>().len() == list.len();
    let told = format!("standbys of {:?}-{p}: {entries:?}", group.tables);
    assert!(once(&to) && once(&from), "{told}: listed twice");
    let came: BTreeSet<usize> = change.now.difference(change.before).copied().collect();
    assert!(to.iter().all(|m| came.contains(m)), "{told}: did not come");
    let cold = |m: &&usize| !group.copies[p].contains(m);
    assert!(
        came.iter().filter(cold).all(|m| to.contains(m)),
        "{told}: somebody came unlisted"
    );
    let stays = |m: &usize| change.now.contains(m);
    assert!(!from.iter().any(stays), "{told}: did not leave");
    let left = change
        .before
        .iter()
        .filter(|m| !stays(m) && **m != change.active);
    let listed = left.filter(|m| from.contains(m)).count();
    let gone = change
        .before
        .iter()
        .filter(|m| !stays(m) && **m != change.active)
        .count();
    assert_eq!(listed, gone, "{told}: somebody left unlisted");
}
