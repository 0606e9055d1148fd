//! Groups of a middling size, too large to enumerate: the checker's certificate says whether the plan is optimal.
use rdkafka_assignor_engine::{Copartition, Member, Problem, Table};

use crate::common::cluster::{adopt, declared, problem, table, with_capacity};
use crate::common::invariants::plan_checked;
use crate::common::random::Random;

/// A group of up to 24 members and 6 topics with up to 30 partitions each.
fn shape(random: &mut Random) -> Problem {
    let names: Vec<String> = (0..1 + random.below(6))
        .map(|n| format!("topic-{n}"))
        .collect();
    let sizes = [random.below(31), random.below(31), 1 + random.below(3)];
    let counts: Vec<(&str, u32)> = names
        .iter()
        .map(|name| (name.as_str(), random.pick(&sizes)))
        .collect();
    let stateful: Vec<Table> = names
        .iter()
        .filter(|_| random.chance(50))
        .map(|name| table(&format!("on-{name}"), name))
        .collect();
    let [partial, weights, racks] = [random.chance(50), random.chance(40), random.chance(40)];
    let replicas = random.below(4);
    let copartition = random.pick(&[Copartition::Automatic, declared(&[])]);
    let count = 1 + random.below(24);
    let member = |n| {
        let topics: Vec<&String> = names
            .iter()
            .filter(|_| !partial || random.chance(70))
            .collect();
        let tables = stateful.iter().filter(|t| topics.contains(&&t.source));
        let member = Member {
            tables: tables.cloned().collect(),
            standby_replicas: replicas,
            copartition: copartition.clone(),
            rack: racks.then(|| random.pick(&["a", "b", "c"]).to_owned()),
            ..Member::new(format!("m{n:02}"), topics)
        };
        with_capacity(member, if weights { 1 + random.below(6) } else { 1 })
    };
    problem(&counts, (0..count).map(member).collect())
}

/// A few leave, and as many or more come: some under a known id without claims, some quite new.
fn churn(group: &mut Problem, random: &mut Random) {
    let leaving = random.below(1 + group.members.len() as u32 / 2);
    let mut gone = Vec::new();
    for _ in 0..leaving {
        let place = random.below(group.members.len() as u32) as usize;
        gone.push(group.members.remove(place));
    }
    for mut member in gone {
        match random.below(4) {
            0 => continue,
            1 => member.id.push_str("-new"),
            2 => member.id.push_str("-state"),
            _ => {}
        }
        if !member.id.ends_with("-state") {
            member.active = Default::default();
            member.standby = Default::default();
        }
        group.members.push(member);
    }
}

#[test]
fn every_shape_is_planned_optimally_through_churn() {
    let mut random = Random::new(2024);
    for _ in 0..if cfg!(debug_assertions) { 25 } else { 400 } {
        let mut group = shape(&mut random);
        for generation in 1..4 {
            let (plan, _) = plan_checked(&group);
            adopt(&mut group, &plan, generation);
            if group.members.len() > 1 {
                churn(&mut group, &mut random);
            }
        }
    }
}
