//! What whole Faust groups answered, as a yardstick.
//!
//! The fixture holds leader runs of faust-streaming 0.15.3: topics, members with their subscriptions and user data, and
//! Faust's result or its failure. Read here as: a member declares each table whose changelog it subscribes to; the
//! changelog leaves the subscription, and the table's source is the first topic of the same partition count that the member
//! subscribes to besides. Where there is none, the changelog stays a topic. All claims are of one generation; what cannot
//! be read claims nothing. Global tables are read both ways: as tables like any other, and as global tables of ours.
//!
//! On every case our plan must hold the invariants, optimality of objectives 2-4 included, and be no less balanced than
//! Faust's. Where Faust's answer is valid and as balanced, our pair (cold actives, moved actives) must not be worse.
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{Claims, GlobalTable, Member, Problem, Table};
use serde::Deserialize;

use crate::common::cluster::{ranges, topics};
use crate::common::invariants::{check_valid, plan_checked, spread};
use crate::common::objectives::{self, Actives, Standbys};
use crate::common::view::{Group, View};

#[derive(Deserialize)]
struct Case {
    case_id: String,
    app_id: String,
    replicas: u32,
    tables: Vec<Declared>,
    cluster: BTreeMap<String, u32>,
    members: Vec<Worker>,
    result: Option<BTreeMap<String, Answer>>,
}

#[derive(Clone, Deserialize)]
struct Declared {
    name: String,
    partitions: u32,
    #[serde(default)]
    is_global: bool,
}

#[derive(Deserialize)]
struct Worker {
    member_id: String,
    subscription: Vec<String>,
    user_data_text: Option<String>,
    #[serde(default)]
    tables: Vec<Declared>,
}

#[derive(Deserialize)]
struct Answer {
    user_data: UserData,
}

#[derive(Deserialize)]
struct UserData {
    assignment: Option<Share>,
}

#[derive(Default, Deserialize)]
struct Share {
    actives: BTreeMap<String, Vec<u32>>,
    standbys: BTreeMap<String, Vec<u32>>,
}

impl Worker {
    /// What it says it had; nothing if that cannot be read.
    fn had(&self) -> Share {
        let read = |text| serde_json::from_str::<UserData>(text).ok();
        let user_data = self.user_data_text.as_deref().and_then(read);
        user_data
            .and_then(|read| read.assignment)
            .unwrap_or_default()
    }
}

impl Case {
    /// Tables that the leader or a member knows.
    fn tables(&self) -> impl Iterator<Item = &Declared> {
        let members = self.members.iter().flat_map(|member| &member.tables);
        self.tables.iter().chain(members)
    }

    fn changelog(&self, table: &str) -> String {
        format!("{}-{table}-changelog", self.app_id)
    }

    fn leader_topic(&self) -> String {
        format!("{}-__assignor-__leader", self.app_id)
    }

    /// The topic that the table of this changelog belongs with.
    fn source<'a>(&self, worker: &'a Worker, changelog: &str) -> Option<&'a String> {
        let count = self.cluster.get(changelog)?;
        let changelogs: Vec<String> = self.tables().map(|t| self.changelog(&t.name)).collect();
        worker.subscription.iter().find(|topic| {
            self.cluster.get(*topic) == Some(count)
                && !changelogs.contains(topic)
                && **topic != self.leader_topic()
        })
    }

    fn problem(&self, globals: bool) -> Problem {
        let counts: Vec<(&str, u32)> = self.cluster.iter().map(|(t, n)| (&**t, *n)).collect();
        let members = self.members.iter().map(|w| self.member(w, globals));
        Problem {
            topics: topics(&counts),
            members: members.collect(),
            leader_topic: Some(self.leader_topic()),
            generation: None,
        }
    }

    fn member(&self, worker: &Worker, globals: bool) -> Member {
        let mut member = Member {
            standby_replicas: self.replicas,
            ..Member::new(&worker.member_id, &worker.subscription)
        };
        let mut had = worker.had();
        for table in self.tables() {
            let changelog = self.changelog(&table.name);
            let subscribed = worker.subscription.contains(&changelog);
            let standbys = had.standbys.remove(&changelog).unwrap_or_default();
            let source = self.source(worker, &changelog);
            let as_global = globals && table.is_global;
            if subscribed && (as_global || declare(&mut member, table, source, &standbys)) {
                let global = as_global.then(|| GlobalTable {
                    name: table.name.clone(),
                    partitions: table.partitions,
                });
                member.global_tables.extend(global);
                member.topics.retain(|topic| *topic != changelog);
                had.actives.remove(&changelog);
            }
        }
        for (topic, partitions) in &had.actives {
            claim(&mut member.active, topic, partitions);
        }
        member
    }

    /// Faust's answer, if it is a valid one.
    fn answer(&self, view: &View) -> Option<(Actives, Standbys)> {
        let result = self.result.as_ref()?;
        let shares = view
            .members
            .iter()
            .map(|m| result[&m.id].user_data.assignment.as_ref());
        let shares: Vec<&Share> = shares.collect::<Option<_>>()?;
        let (mut active, mut standby) = (Actives::new(), Standbys::new());
        for group in &view.groups {
            let mut topics = group
                .topics
                .iter()
                .map(|topic| owners(group, topic, &shares));
            let of_group = topics.next()??;
            topics
                .all(|owners| owners.as_ref() == Some(&of_group))
                .then_some(())?;
            standby.push(self.standbys(view, group, &of_group, &shares)?);
            active.push(of_group);
        }
        Some((active, standby))
    }

    /// By partition: who stands by for all tables of the group.
    fn standbys(
        &self,
        view: &View,
        group: &Group,
        active: &[usize],
        shares: &[&Share],
    ) -> Option<Vec<BTreeSet<usize>>> {
        let mut standby = vec![BTreeSet::new(); active.len()];
        let Some(table) = group.tables.first() else {
            return Some(standby);
        };
        for (m, share) in shares.iter().enumerate() {
            for p in share
                .standbys
                .get(&self.changelog(&table.name))
                .into_iter()
                .flatten()
            {
                standby.get_mut(*p as usize)?.insert(m).then_some(())?;
            }
        }
        let wanted = |active: &usize| {
            let others = group.missing.keys().filter(|m| *m != active).count();
            others.min(view.members[0].standby_replicas as usize)
        };
        active
            .iter()
            .zip(&standby)
            .all(|(active, holders)| holders.len() == wanted(active) && !holders.contains(active))
            .then_some(standby)
    }
}

/// The member keeps the table and had these copies of it, if it has a source.
fn declare(
    member: &mut Member,
    table: &Declared,
    source: Option<&String>,
    standbys: &[u32],
) -> bool {
    let declared = source.map(|source| Table {
        name: table.name.clone(),
        source: source.clone(),
    });
    if declared.is_some() {
        claim(&mut member.standby, &table.name, standbys);
    }
    member.tables.extend(declared);
    source.is_some()
}

fn claim(claims: &mut Claims, name: &str, partitions: &[u32]) {
    claims.generation = Some(1);
    claims
        .partitions
        .insert(name.to_owned(), ranges(partitions));
}

/// By partition: the only one that is active.
fn owners(group: &Group, topic: &str, shares: &[&Share]) -> Option<Vec<usize>> {
    let mut owners = vec![None; group.partitions as usize];
    for (m, share) in shares.iter().enumerate() {
        for p in share.actives.get(topic).into_iter().flatten() {
            let before = owners.get_mut(*p as usize)?.replace(m);
            before.is_none().then_some(())?;
        }
    }
    owners.into_iter().collect()
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../../protocol/tests/faust/group.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect()
}

/// Holds our plan against Faust's; panics where ours is worse.
fn compare(case: &Case, globals: bool) -> &'static str {
    let problem = case.problem(globals);
    let (plan, _) = plan_checked(&problem);
    let view = View::new(&problem);
    let (ours, our_standbys) = check_valid(&view, &plan);
    let Some((theirs, their_standbys)) = case.answer(&view) else {
        return match case.result {
            None => "Faust fails",
            Some(_) => {
                println!("{}: Faust's answer is invalid", case.case_id);
                "Faust's answer is invalid"
            }
        };
    };
    let [our_spread, their_spread] = [our_standbys, their_standbys]
        .map(|standbys| spread(&objectives::standby_loads(&view, &standbys)));
    assert!(
        our_spread <= their_spread,
        "{}: standbys less balanced: {our_spread}, Faust {their_spread}",
        case.case_id
    );
    let [our_total, our_stateful, our_groups, our_cold, our_moved] =
        objectives::of_actives(&view, &ours);
    let [total, stateful, groups, cold, moved] = objectives::of_actives(&view, &theirs);
    let balance = [our_total, our_stateful, our_groups].cmp(&[total, stateful, groups]);
    assert!(
        balance.is_le(),
        "{}: less balanced than Faust's",
        case.case_id
    );
    if balance.is_lt() {
        return "better balanced";
    }
    let pair = ((our_cold, our_moved), (cold, moved));
    assert!(
        pair.0 <= pair.1,
        "{}: (cold, moved) worse than Faust's: {pair:?}",
        case.case_id
    );
    match pair.0 < pair.1 {
        true => "warmer or stiller",
        false => "equal",
    }
}

#[test]
fn no_group_of_faust_is_answered_worse() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let cases = cases();
    for case in &cases {
        *counts.entry(compare(case, false)).or_default() += 1;
    }
    println!("{} cases, none skipped: {counts:?}", cases.len());
    assert_eq!(cases.len(), 35, "the fixture is whole");
    assert!(
        counts["equal"] > 0,
        "some of Faust's answers can be compared"
    );
}

#[test]
fn no_group_with_a_global_table_of_ours_is_answered_worse() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for case in &cases() {
        match case.tables.iter().any(|table| table.is_global) {
            true => *counts.entry(compare(case, true)).or_default() += 1,
            false => println!("skipped {}: it has no global table", case.case_id),
        }
    }
    println!("{counts:?}");
    assert_eq!(counts.values().sum::<u32>(), 6, "the fixture is whole");
}

#[test]
fn changelogs_become_tables_of_their_source() {
    let cases = cases();
    let named = |id: &str| cases.iter().find(|case| case.case_id == id).expect("there");
    let member = named("grp-lifecycle-02").problem(false).members.remove(0);
    assert_eq!(member.topics, ["src", "app-__assignor-__leader"]);
    let (name, source) = ("tbl".to_owned(), "src".to_owned());
    assert_eq!(member.tables, [Table { name, source }]);
    let had: Vec<&String> = member.active.partitions.keys().collect();
    assert_eq!(had, ["app-__assignor-__leader", "src"]);
    // No topic has two partitions as this changelog has.
    let lonely = named("grp-global-08").problem(false).members.remove(0);
    assert!(lonely.topics.contains(&"app-g-changelog".to_owned()));
}
