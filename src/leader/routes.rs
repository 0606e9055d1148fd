//! Who serves which partition of which topics and tables, after this round.
//!
//! Only members with a host are in routes; where there is none, there are no routes. Members that share a host share its
//! routes, and a warning names them. A partition has an active route only if
//! all of its group's topics are with one member in this round; a partition that is withheld has none, and its
//! copies are standbys.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rdkafka_assignor_engine::{self as engine, CopartitionGroup, MemberPlan};
use rdkafka_assignor_protocol::{GroupRoutes, Routes, Served, ServedCopy};

use crate::led::{LeaderWarning, Share};
use crate::partitions::sets_to_numbers;

/// Members of one host that are named.
const MOST_NAMED: usize = 5;

/// Routes of all groups.
pub(super) fn routes(
    groups: &[CopartitionGroup],
    shares: &BTreeMap<String, Share>,
    hosts: &BTreeMap<String, String>,
) -> Routes {
    if hosts.is_empty() {
        return Routes::default();
    }
    let hosts = Hosts::number(hosts);
    let members = shares
        .iter()
        .map(|(id, share)| (id.clone(), this_round(share)))
        .collect();
    let routes = engine::routes(groups, &members);
    let both = groups.iter().zip(&routes);
    let mut groups: Vec<_> = both
        .map(|(group, routes)| hosts.group(group, routes))
        .collect();
    groups.sort_by(|a, b| a.topics.cmp(&b.topics));
    Routes {
        hosts: hosts.names,
        groups,
    }
}

/// The routes of groups with tables.
pub(super) fn of_tables(routes: &Routes) -> Routes {
    let stateful = |group: &&GroupRoutes| !group.tables.is_empty();
    Routes {
        hosts: routes.hosts.clone(),
        groups: routes.groups.iter().filter(stateful).cloned().collect(),
    }
}

/// A warning for every host that more than one member tells.
pub(super) fn shared_hosts(hosts: &BTreeMap<String, String>) -> Vec<LeaderWarning> {
    let mut members = BTreeMap::<&str, Vec<&str>>::new();
    for (member, host) in hosts {
        members.entry(host).or_default().push(member);
    }
    let shared = members.into_iter().filter(|(_, ids)| ids.len() > 1);
    shared.map(|(host, ids)| shared_host(host, &ids)).collect()
}

fn shared_host(host: &str, members: &[&str]) -> LeaderWarning {
    let named = members.iter().take(MOST_NAMED);
    let named: Vec<_> = named.map(|id| format!("{id:?}")).collect();
    let more = members.len().saturating_sub(MOST_NAMED);
    let others = match more {
        0 => String::new(),
        _ => format!(" and {more} more"),
    };
    LeaderWarning {
        member: None,
        kind: "shared-host",
        detail: format!(
            "{host:?} is the host of {}{others}: routes cannot tell them apart",
            named.join(" and ")
        ),
    }
}

fn this_round(share: &Share) -> MemberPlan {
    MemberPlan {
        active: sets_to_numbers(&share.active),
        standby: sets_to_numbers(&share.standby),
        global: BTreeMap::new(),
    }
}

/// Hosts, sorted, and the number of each member's. Two members may share one.
struct Hosts<'a> {
    names: Vec<String>,
    numbers: BTreeMap<&'a str, u32>,
}

impl<'a> Hosts<'a> {
    fn number(hosts: &'a BTreeMap<String, String>) -> Self {
        let names: BTreeSet<&String> = hosts.values().collect();
        let by_name: BTreeMap<_, u32> = names.iter().copied().zip(0..).collect();
        let number = |(id, host): (&'a String, _)| Some((id.as_str(), *by_name.get(host)?));
        Hosts {
            numbers: hosts.iter().filter_map(number).collect(),
            names: names.into_iter().cloned().collect(),
        }
    }

    fn group(&self, group: &CopartitionGroup, routes: &engine::GroupRoutes<'_>) -> GroupRoutes {
        let mut active = BTreeMap::<u32, Vec<u32>>::new();
        let mut standby = BTreeMap::<(Reverse<usize>, u32, Vec<u32>), Vec<u32>>::new();
        for (partition, route) in (0..).zip(&routes.partitions) {
            if let Some(host) = route.active.and_then(|member| self.numbers.get(member)) {
                active.entry(*host).or_default().push(partition);
            }
            for copy in &route.standbys {
                if let Some(host) = self.numbers.get(copy.member) {
                    let tables = copy.tables.iter().filter_map(|t| u32::try_from(*t).ok());
                    let more_first = Reverse(copy.tables.len());
                    let copies = (more_first, *host, tables.collect());
                    standby.entry(copies).or_default().push(partition);
                }
            }
        }
        GroupRoutes {
            topics: group.topics.clone(),
            tables: group.tables.clone(),
            partitions: group.partitions,
            active: active.into_iter().map(served).collect(),
            standby: standby
                .into_iter()
                .map(|((_, host, tables), p)| kept(host, tables, p))
                .collect(),
        }
    }
}

fn served((host, partitions): (u32, Vec<u32>)) -> Served {
    Served {
        host,
        partitions: partitions.into_iter().collect(),
    }
}

fn kept(host: u32, tables: Vec<u32>, partitions: Vec<u32>) -> ServedCopy {
    ServedCopy {
        host,
        tables,
        partitions: partitions.into_iter().collect(),
    }
}
