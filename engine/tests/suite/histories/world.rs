//! A group and everything around it: topics, those that fell out, what each member believes it has.
use std::collections::BTreeMap;

use rdkafka_assignor_engine::{Copartition, GlobalTable, Member, Plan, Problem, Table};

use super::event::{Event, Lie, Start};
use crate::common::cluster::{adopt_share, declared, ranges, table, topics, with_capacity};

pub const TOPICS: [&str; 4] = ["a", "b", "c", "d"];
const LEADER: &str = "leader";

/// The group and everything around it.
pub struct World {
    counts: BTreeMap<&'static str, u32>,
    tables: Vec<Table>,
    copartition: Copartition,
    replicas: u32,
    members: Vec<Member>,
    paused: Vec<Member>,
    missing_sync: Option<usize>,
    generation: i32,
    joined: usize,
}

impl World {
    /// The first members of a group.
    pub fn new(start: &Start) -> Self {
        let tables = TOPICS.iter().zip(start.tables).filter(|(_, has)| *has);
        let mut world = World {
            counts: TOPICS.into_iter().zip(start.counts).collect(),
            tables: tables
                .map(|(topic, _)| table(&format!("on-{topic}"), topic))
                .collect(),
            copartition: match start.copartition {
                0 => declared(&[]),
                1 => declared(&[&["a", "b"]]),
                _ => Copartition::Automatic,
            },
            replicas: start.replicas,
            members: Vec::new(),
            paused: Vec::new(),
            missing_sync: None,
            generation: 1,
            joined: 0,
        };
        (0..start.members).for_each(|_| world.join());
        world
    }

    fn join(&mut self) {
        self.joined += 1;
        let topics = TOPICS.into_iter().chain([LEADER]);
        self.members.push(Member {
            tables: self.tables.clone(),
            global_tables: vec![GlobalTable {
                name: "everywhere".to_owned(),
                partitions: 3,
            }],
            copartition: self.copartition.clone(),
            ..Member::new(format!("m{:02}", self.joined), topics)
        });
    }

    fn newest(&mut self) -> &mut Member {
        self.members.last_mut().expect("somebody just joined")
    }

    fn member(&mut self, n: usize) -> Option<&mut Member> {
        let count = self.members.len().max(1);
        self.members.get_mut(n % count)
    }

    fn take(&mut self, n: usize) -> Option<Member> {
        (!self.members.is_empty()).then(|| self.members.remove(n % self.members.len()))
    }

    /// Lets `event` happen.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Join {
                capacity,
                rack,
                without,
                undeclared,
            } => {
                self.join();
                let member = self.newest();
                member.rack = rack.map(|r| format!("rack-{r}"));
                if *undeclared {
                    member.tables.pop();
                }
                *member = with_capacity(member.clone(), *capacity);
                if let Some(topic) = without {
                    unsubscribe(member, TOPICS[*topic]);
                }
            }
            Event::Leave(n) => drop(self.take(*n)),
            Event::Replace(n) => {
                self.take(*n);
                self.join();
            }
            Event::Pause(n) => {
                let gone = self.take(*n);
                self.paused.extend(gone);
            }
            Event::Resume(n) if !self.paused.is_empty() => {
                let back = self.paused.remove(n % self.paused.len());
                self.members.push(back);
            }
            Event::Resume(_) => {}
            Event::MissSync(n) => self.missing_sync = Some(*n),
            Event::Restart(n) => self.restart(*n),
            Event::Resize(topic, count) => drop(self.counts.insert(TOPICS[*topic], *count)),
            Event::Delete(topic) => drop(self.counts.remove(TOPICS[*topic])),
            Event::Subscribe(n, topic) => self.toggle(*n, TOPICS[*topic]),
            Event::Capacity(n, capacity) => {
                if let Some(member) = self.member(*n) {
                    *member = with_capacity(member.clone(), *capacity);
                }
            }
            Event::Replicas(replicas) => self.replicas = *replicas,
            Event::Lie(n, lie) => {
                let future = self.generation + 5;
                if let Some(member) = self.member(*n) {
                    tell(member, lie, future);
                }
            }
        }
    }

    fn restart(&mut self, n: usize) {
        let Some(member) = self.member(n) else {
            return;
        };
        let mut state = std::mem::take(&mut member.standby).partitions;
        let active = std::mem::take(&mut member.active).partitions;
        for table in &member.tables {
            let held = active.get(&table.source).cloned().unwrap_or_default();
            state.entry(table.name.clone()).or_default().extend(held);
        }
        member.local_state = state;
    }

    fn toggle(&mut self, n: usize, topic: &'static str) {
        let tables = self
            .tables
            .iter()
            .filter(|t| t.source == topic)
            .cloned()
            .collect::<Vec<_>>();
        let Some(member) = self.member(n) else {
            return;
        };
        match member.topics.iter().any(|t| t == topic) {
            true => unsubscribe(member, topic),
            false => {
                member.topics.push(topic.to_owned());
                member.tables.extend(tables);
            }
        }
    }

    /// What the leader sees.
    pub fn problem(&self) -> Problem {
        let counts = self.counts.iter().map(|(topic, count)| (*topic, *count));
        let counts: Vec<(&str, u32)> = counts.chain([(LEADER, 1)]).collect();
        let member = |member: &Member| Member {
            standby_replicas: self.replicas,
            ..member.clone()
        };
        Problem {
            topics: topics(&counts),
            members: self.members.iter().map(member).collect(),
            leader_topic: Some(LEADER.to_owned()),
            generation: Some(self.generation),
        }
    }

    /// The generation that the next plan gets.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// Members learn what the plan gave them, but for those that miss it.
    pub fn adopt(&mut self, plan: &Plan) {
        let missing = self
            .missing_sync
            .take()
            .map(|n| n % self.members.len().max(1));
        for (n, member) in self.members.iter_mut().enumerate() {
            if Some(n) != missing {
                adopt_share(member, &plan.members[&member.id], self.generation);
                member.local_state.clear();
            }
        }
        self.generation += 1;
    }
}

pub fn unsubscribe(member: &mut Member, topic: &str) {
    member.topics.retain(|t| t != topic);
    member.tables.retain(|t| t.source != topic);
}

pub fn tell(member: &mut Member, lie: &Lie, future: i32) {
    let claims = &mut member.active.partitions;
    match lie {
        Lie::Negative => claims.entry("a".to_owned()).or_default().push(-3..1),
        Lie::BeyondTheEnd => {
            claims
                .entry("b".to_owned())
                .or_default()
                .extend(ranges(&[7, 1_000_000, u32::MAX]))
        }
        Lie::Everything => claims
            .entry("c".to_owned())
            .or_default()
            .push(i64::MIN..i64::MAX),
        Lie::Twice => claims
            .values_mut()
            .for_each(|ranges| ranges.extend_from_within(..)),
        Lie::UnknownTopic => drop(claims.insert("nowhere".to_owned(), ranges(&[0, 1]))),
        Lie::FromTheFuture => member.active.generation = Some(future),
    }
}
