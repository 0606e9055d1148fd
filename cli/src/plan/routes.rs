//! Who would serve which partition of a table.
use std::collections::BTreeMap;

use rdkafka_assignor::engine;
use serde::Serialize;

use super::input::Input;

/// Routes of every table, element `p` for partition `p`; global tables are everywhere and have none.
pub type Routes<'a> = BTreeMap<&'a str, Vec<Route<'a>>>;

/// Hosts of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Route<'a> {
    /// Host of the active, if there is one and it says where it is reached.
    pub active: Option<&'a str>,
    /// Hosts of the standbys in order of preference, each once.
    pub standby: Vec<&'a str>,
}

/// The routes of a plan; a table whose group is in error has routes to nobody.
pub fn routes<'a>(input: &'a Input, plan: &'a engine::Plan) -> Routes<'a> {
    let hosts = input.hosts();
    let mut routes = nowhere(input);
    for (group, served) in plan
        .groups
        .iter()
        .zip(engine::routes(&plan.groups, &plan.members))
    {
        for (index, table) in group.tables.iter().enumerate() {
            let partitions = served.partitions.iter();
            let by_host = partitions.map(|partition| route(&hosts, partition, index));
            routes.insert(table, by_host.collect());
        }
    }
    routes
}

fn nowhere(input: &Input) -> Routes<'_> {
    let unserved = |topic| {
        (0..input.partitions(topic))
            .map(|_| Route::default())
            .collect()
    };
    input
        .tables()
        .map(|(table, source)| (table, unserved(source)))
        .collect()
}

fn route<'a>(
    hosts: &BTreeMap<&str, &'a str>,
    partition: &engine::PartitionRoute<'_>,
    table: usize,
) -> Route<'a> {
    let host = |member| hosts.get(member).copied();
    let mut standby: Vec<&str> = Vec::new();
    for host in partition.standbys_of(table).filter_map(host) {
        if !standby.contains(&host) {
            standby.push(host);
        }
    }
    Route {
        active: partition.active.and_then(host),
        standby,
    }
}
