//! The route block of an assignment, with names in place of indices.
use rdkafka_assignor_protocol::{GroupRoutes, Routes, Served, ServedCopy};

use super::node::Node;

/// Longest host or table that is put where its index was: a longer name, many times over, is no route but an attack.
const LONGEST_NAME: usize = 255;

/// The routes, null without any, or why there are none.
pub fn read(user_data: &[u8]) -> Node {
    match Routes::decode(user_data) {
        Ok(None) => Node::Absent,
        Ok(Some(routes)) if names(&routes).all(|name| name.len() <= LONGEST_NAME) => {
            Node::list(routes.groups, |group| {
                Group::new(&routes.hosts, group).node()
            })
        }
        Ok(Some(_)) => unreadable(format!("a name of more than {LONGEST_NAME} bytes")),
        Err(error) => unreadable(error.to_string()),
    }
}

fn unreadable(reason: String) -> Node {
    Node::Fields(vec![("unreadable", reason.into())])
}

fn names(routes: &Routes) -> impl Iterator<Item = &String> {
    let tables = routes.groups.iter().flat_map(|group| &group.tables);
    routes.hosts.iter().chain(tables)
}

struct Group<'a> {
    hosts: &'a [String],
    tables: Vec<String>,
    rest: GroupRoutes,
}

impl<'a> Group<'a> {
    fn new(hosts: &'a [String], mut rest: GroupRoutes) -> Self {
        let tables = std::mem::take(&mut rest.tables);
        Group {
            hosts,
            tables,
            rest,
        }
    }

    fn node(self) -> Node {
        let active = self.rest.active.iter().map(|served| self.active(served));
        let standby = self.rest.standby.iter().map(|copy| self.standby(copy));
        let (active, standby) = (active.collect(), standby.collect());
        Node::Fields(vec![
            ("topics", self.rest.topics.into()),
            ("tables", self.tables.into()),
            ("partitions", self.rest.partitions.into()),
            ("active", Node::List(active)),
            ("standby", Node::List(standby)),
        ])
    }

    fn active(&self, served: &Served) -> Node {
        Node::Fields(vec![
            ("host", name(self.hosts, served.host).into()),
            ("partitions", served.partitions.clone().into()),
        ])
    }

    fn standby(&self, copy: &ServedCopy) -> Node {
        let tables = copy
            .tables
            .iter()
            .filter_map(|table| name(&self.tables, *table));
        let tables: Vec<String> = tables.collect();
        Node::Fields(vec![
            ("host", name(self.hosts, copy.host).into()),
            ("tables", tables.into()),
            ("partitions", copy.partitions.clone().into()),
        ])
    }
}

/// The name of an index, which the reader has checked.
fn name(names: &[String], index: u32) -> Option<String> {
    let index = usize::try_from(index).ok();
    index.and_then(|index| names.get(index)).cloned()
}
