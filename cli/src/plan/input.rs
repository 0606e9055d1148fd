//! The group as its file describes it: read strictly, turned into the engine's problem.
//!
//! Unknown and repeated keys are errors, and so is everything of a wrong type or out of its bounds. Only what
//! a member *claims* (`active`, `standby`, `local_state`) is taken as it comes: the engine warns about it.
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;

use rdkafka_assignor::engine;
use serde::Deserialize;

use super::strict::{
    Bounded, ClaimedPartition, Object, distinct_keys, objects, some, some_objects,
};

/// Standby copies per stateful task where nobody says otherwise: the builder's own default.
const DEFAULT_STANDBY_REPLICAS: u32 = 1;

/// A described group.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default, deserialize_with = "some")]
    app: Option<String>,
    #[serde(deserialize_with = "distinct_keys")]
    topics: BTreeMap<String, PartitionCount>,
    #[serde(default, deserialize_with = "some")]
    standby_replicas: Option<Replicas>,
    #[serde(default, deserialize_with = "objects")]
    tables: Vec<Table>,
    #[serde(default, deserialize_with = "objects")]
    global_tables: Vec<GlobalTable>,
    #[serde(default, deserialize_with = "some")]
    copartition: Option<Vec<Vec<String>>>,
    #[serde(default, deserialize_with = "objects")]
    members: Vec<Member>,
}

/// `null` may stand for what is absent only where a value can be unknown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    topics: Vec<String>,
    instance: Option<String>,
    host: Option<String>,
    rack: Option<String>,
    #[serde(default, deserialize_with = "some")]
    capacity: Option<Capacity>,
    generation: Option<Generation>,
    #[serde(default, deserialize_with = "distinct_keys")]
    active: Claims,
    #[serde(default, deserialize_with = "distinct_keys")]
    standby: Claims,
    #[serde(default, deserialize_with = "distinct_keys")]
    local_state: Claims,
    #[serde(default, deserialize_with = "some_objects")]
    tables: Option<Vec<Table>>,
    #[serde(default, deserialize_with = "some")]
    standby_replicas: Option<Replicas>,
    #[serde(default, deserialize_with = "some")]
    copartition: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GlobalTable {
    name: String,
    partitions: PartitionCount,
}

type Claims = BTreeMap<String, Vec<ClaimedPartition>>;
type PartitionCount = Bounded<u32, 0, 1_000_000>;
type Replicas = Bounded<u32, 0, { u32::MAX as i64 }>;
type Capacity = Bounded<u32, 1, { u32::MAX as i64 }>;
type Generation = Bounded<i32, { i32::MIN as i64 }, { i32::MAX as i64 }>;

impl Input {
    /// Reads a description.
    ///
    /// # Errors
    /// The first thing that is wrong, with the path to it.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let Object(input) = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| anyhow::anyhow!("{}", sentence(&error)))?;
        reader.end()?;
        Ok(input)
    }

    /// The same in the engine's words.
    pub fn problem(&self) -> engine::Problem {
        engine::Problem {
            topics: self
                .topics
                .iter()
                .map(|(name, count)| (name.clone(), topic(count.get())))
                .collect(),
            members: self
                .members
                .iter()
                .map(|member| self.member(member))
                .collect(),
            leader_topic: self.leader_topic(),
            generation: None,
        }
    }

    /// How many partitions a topic has; none if there is no such topic.
    pub fn partitions(&self, topic: &str) -> u32 {
        self.topics.get(topic).map_or(0, |count| count.get())
    }

    /// Tables that anybody declares, with their sources.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self
            .members
            .iter()
            .filter_map(|member| member.tables.as_ref());
        let all = own.flatten().chain(&self.tables);
        all.map(|table| (table.name.as_str(), table.source.as_str()))
    }

    /// Where each member is reached. Of several descriptions of one member the newest counts; if those disagree,
    /// nobody knows.
    pub fn hosts(&self) -> BTreeMap<&str, &str> {
        let mut newest: BTreeMap<&str, (Option<i32>, Option<&str>)> = BTreeMap::new();
        for member in &self.members {
            let (generation, host) = (member.generation(), member.host.as_deref());
            let known = newest.entry(&member.id).or_insert((generation, host));
            if generation > known.0 {
                *known = (generation, host);
            } else if generation == known.0 && host != known.1 {
                known.1 = None;
            }
        }
        newest
            .into_iter()
            .filter_map(|(id, (_, host))| Some((id, host?)))
            .collect()
    }

    /// The application's leader topic, whether it exists yet or not.
    fn leader_topic(&self) -> Option<String> {
        Some(format!("{}-__assignor-__leader", self.app.as_ref()?))
    }

    fn member(&self, member: &Member) -> engine::Member {
        let replicas = member
            .standby_replicas
            .as_ref()
            .or(self.standby_replicas.as_ref());
        let generation = member.generation();
        engine::Member {
            instance: member.instance.clone(),
            rack: member.rack.clone(),
            capacity: capacity(member.capacity.as_ref()),
            tables: member
                .tables
                .as_ref()
                .unwrap_or(&self.tables)
                .iter()
                .map(table)
                .collect(),
            global_tables: self.global_tables.iter().map(global_table).collect(),
            standby_replicas: replicas.map_or(DEFAULT_STANDBY_REPLICAS, |replicas| replicas.get()),
            copartition: copartition(member.copartition.as_ref().or(self.copartition.as_ref())),
            active: claims(generation, &member.active),
            standby: claims(generation, &member.standby),
            local_state: partitions_by_name(&member.local_state),
            ..engine::Member::new(&member.id, &member.topics)
        }
    }
}

impl Member {
    /// A negative generation is how Kafka writes an unknown one.
    fn generation(&self) -> Option<i32> {
        let generation = self.generation.as_ref().map(Bounded::get);
        generation.filter(|generation| *generation >= 0)
    }
}

fn topic(partitions: u32) -> engine::Topic {
    engine::Topic {
        partitions,
        ..engine::Topic::default()
    }
}

fn capacity(capacity: Option<&Capacity>) -> NonZeroU32 {
    capacity
        .and_then(|capacity| NonZeroU32::new(capacity.get()))
        .unwrap_or(NonZeroU32::MIN)
}

fn table(table: &Table) -> engine::Table {
    engine::Table {
        name: table.name.clone(),
        source: table.source.clone(),
    }
}

fn global_table(table: &GlobalTable) -> engine::GlobalTable {
    engine::GlobalTable {
        name: table.name.clone(),
        partitions: table.partitions.get(),
    }
}

fn copartition(sets: Option<&Vec<Vec<String>>>) -> engine::Copartition {
    match sets {
        Some(sets) => engine::Copartition::Declared(sets.clone()),
        None => engine::Copartition::Automatic,
    }
}

fn claims(generation: Option<i32>, claimed: &Claims) -> engine::Claims {
    engine::Claims {
        generation,
        partitions: partitions_by_name(claimed),
    }
}

fn partitions_by_name(claimed: &Claims) -> BTreeMap<String, engine::Partitions> {
    claimed
        .iter()
        .map(|(name, partitions)| (name.clone(), runs(partitions)))
        .collect()
}

/// Ascending neighbours become one range; everything else, repetitions too, stays as it was claimed.
fn runs(partitions: &[ClaimedPartition]) -> engine::Partitions {
    let mut runs: Vec<Range<i64>> = Vec::new();
    for partition in partitions.iter().map(ClaimedPartition::number) {
        match runs.last_mut() {
            Some(run) if run.end == partition => run.end += 1,
            _ => runs.push(partition..partition + 1),
        }
    }
    runs
}

/// Where it is wrong, and what; serde_json adds line and column. Keys that it repeats do not break the line.
fn sentence(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let sentence = match error.path().to_string().as_str() {
        "." => error.inner().to_string(),
        path => format!("{path}: {}", error.inner()),
    };
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    sentence.chars().map(escaped).collect()
}
