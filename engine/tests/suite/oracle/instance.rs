//! The seeded sample of tiny problems.
use std::collections::BTreeMap;

use rdkafka_assignor_engine::{Claims, Copartition, Member, Partitions, Problem};

use crate::common::cluster::{declared, problem, table, with_capacity};
use crate::common::random::Random;

/// The problem of this seed. Topics `x` and `y` have one partition count and so may go together; `z` is apart.
pub fn instance(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let members = 1 + random.below(4);
    let most = [8, 7, 4, 3][members as usize - 1];
    let counts = [1 + random.below(4.min(most - 1)), 1 + random.below(4)];
    let counts = [counts[0], counts[1].min(most - counts[0])];
    let topics = [("x", counts[0]), ("y", counts[0]), ("z", counts[1])];
    let [with_y, with_z] = [random.chance(40), random.chance(60)];
    let topics = topics
        .iter()
        .filter(|t| t.0 == "x" || (t.0 == "y" && with_y) || (t.0 == "z" && with_z));
    let topics: Vec<(&str, u32)> = topics.copied().collect();
    let shape = Shape {
        tables: [
            ("on-x", "x", 75),
            ("also-on-x", "x", 25),
            ("on-y", "y", 20),
            ("on-z", "z", 40),
        ]
        .into_iter()
        .filter(|t| random.chance(t.2))
        .map(|t| (t.0, t.1))
        .collect(),
        racks: random.chance(40),
        weights: random.chance(35),
        partial: random.chance(30),
        replicas: random.below(3),
        copartition: match random.below(4) {
            0 => declared(&[]),
            1 if with_y => declared(&[&["x", "y"]]),
            _ => Copartition::Automatic,
        },
    };
    let members = (0..members)
        .map(|n| member(&mut random, &shape, &topics, n))
        .collect();
    Problem {
        generation: random.chance(50).then_some(6),
        ..problem(&topics, members)
    }
}

struct Shape {
    tables: Vec<(&'static str, &'static str)>,
    racks: bool,
    weights: bool,
    partial: bool,
    replicas: u32,
    copartition: Copartition,
}

fn member(random: &mut Random, shape: &Shape, topics: &[(&str, u32)], n: u32) -> Member {
    let subscribed: Vec<(&str, u32)> = topics
        .iter()
        .filter(|_| !shape.partial || random.chance(75))
        .copied()
        .collect();
    let count = |source: &str| subscribed.iter().find(|t| t.0 == source).map(|t| t.1);
    let tables = shape.tables.iter().filter(|t| count(t.1).is_some());
    let tables: Vec<(&str, &str)> = tables
        .filter(|_| !shape.partial || random.chance(85))
        .copied()
        .collect();
    let held: Vec<(&str, u32)> = tables
        .iter()
        .filter_map(|(name, source)| Some((*name, count(source)?)))
        .collect();
    let member = Member {
        tables: tables
            .iter()
            .map(|(name, source)| table(name, source))
            .collect(),
        standby_replicas: shape.replicas,
        copartition: shape.copartition.clone(),
        rack: (shape.racks && random.chance(80)).then(|| random.pick(&["a", "b"]).to_owned()),
        active: claims(random, &subscribed, 45),
        standby: claims(random, &held, 35),
        local_state: if random.chance(15) {
            some(random, &held, 50)
        } else {
            BTreeMap::new()
        },
        ..Member::new(format!("m{n}"), subscribed.iter().map(|t| t.0))
    };
    with_capacity(
        member,
        if shape.weights {
            1 + random.below(3)
        } else {
            1
        },
    )
}

fn claims(random: &mut Random, of: &[(&str, u32)], percent: u32) -> Claims {
    let generation = random.pick(&[Some(5), Some(5), Some(5), Some(4), Some(6), None]);
    Claims {
        generation,
        partitions: some(random, of, percent),
    }
}

fn some(random: &mut Random, of: &[(&str, u32)], percent: u32) -> BTreeMap<String, Partitions> {
    let mut partitions = |count| {
        (0..i64::from(count))
            .filter(|_| random.chance(percent))
            .map(|p| p..p + 1)
            .collect()
    };
    of.iter()
        .map(|(name, count)| ((*name).to_owned(), partitions(*count)))
        .collect()
}
