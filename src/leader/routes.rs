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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::partitions::PartitionSets;

    const PARTITIONS: usize = 5;

    fn group() -> CopartitionGroup {
        CopartitionGroup {
            topics: ["orders", "users"].map(str::to_owned).to_vec(),
            tables: vec!["counts".to_owned()],
            partitions: 5,
        }
    }

    /// A share: whether a partition of `orders`, of `users` and of `counts` is in it.
    fn share(has: &[[bool; 3]]) -> Share {
        let set = |of: usize| {
            (0..)
                .zip(has)
                .filter(move |(_, has)| has[of])
                .map(|(p, _)| p)
        };
        let sets = |names: &[(&str, usize)]| -> PartitionSets {
            let sets = names.iter();
            sets.map(|(name, of)| ((*name).to_owned(), set(*of).collect()))
                .collect()
        };
        Share {
            active: sets(&[("orders", 0), ("users", 1)]),
            standby: sets(&[("counts", 2)]),
            ..Share::default()
        }
    }

    /// Members' shares, in which a topic-partition has one active at most, and where they are: one of three hosts, or none.
    fn members() -> impl Strategy<Value = Vec<(Vec<[bool; 3]>, Option<usize>)>> {
        let owners = || prop::collection::vec(0..5_usize, PARTITIONS);
        let copies = prop::collection::vec(prop::collection::vec(any::<bool>(), PARTITIONS), 4);
        let hosts = prop::collection::vec(prop::option::of(0..3_usize), 4);
        let all = (owners(), owners(), copies, hosts);
        all.prop_map(|(orders, users, copies, hosts)| {
            let both = copies.iter().zip(hosts).enumerate();
            both.map(|(m, (copies, host))| {
                let has = |p: usize| [orders[p] == m, users[p] == m, copies[p]];
                ((0..PARTITIONS).map(has).collect(), host)
            })
            .collect()
        })
    }

    proptest! {
        #[test]
        fn routes_are_exactly_what_the_shares_say(members in members()) {
            let name = |m: usize| format!("m{m}");
            let shares = members.iter().enumerate().map(|(m, (has, _))| (name(m), share(has)));
            let hosts = members.iter().enumerate();
            let hosts = hosts.filter_map(|(m, (_, host))| Some((name(m), host.as_ref()?.to_string())));
            let routes = routes(&[group()], &shares.collect(), &hosts.collect());
            prop_assert!(routes.encode().is_ok());
            for p in 0..PARTITIONS {
                let that = |like: fn(&[bool; 3]) -> bool| -> BTreeSet<String> {
                    let members = members.iter().filter(|(has, _)| like(&has[p]));
                    members.filter_map(|(_, host)| Some(host.as_ref()?.to_string())).collect()
                };
                let told = told(&routes, p);
                prop_assert_eq!(told, (that(|has| has[0] && has[1]), that(|has| has[2])));
            }
        }
    }

    /// Hosts of actives and standbys of a partition.
    fn told(routes: &Routes, partition: usize) -> (BTreeSet<String>, BTreeSet<String>) {
        let partition = u32::try_from(partition).expect("small");
        let host = |host: u32| routes.hosts[usize::try_from(host).expect("small")].clone();
        let groups = || routes.groups.iter();
        let active = groups().flat_map(|group| &group.active);
        let active = active.filter(|served| served.partitions.contains(partition));
        let standby = groups().flat_map(|group| &group.standby);
        let standby = standby.filter(|copy| copy.partitions.contains(partition));
        let active = active.map(|served| host(served.host)).collect();
        (active, standby.map(|copy| host(copy.host)).collect())
    }
}
