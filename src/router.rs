//! Which member serves a key: key to partition to hosts, active and standbys.
//!
//! The leader of a rebalance tells every member the routes of that round, so all members answer alike. Two sources meet in
//! an answer:
//!
//! | | from | changes |
//! |---|---|---|
//! | `active`, `standbys` | the routes of the last assignment | with the next assignment |
//! | `here` | the [`Handle`], at this moment | with every revocation, loss and close |
//!
//! * Routes name only members of the round that they are of. A partition between two owners has no active, but the standbys it had.
//! * While a rebalance is under way, after lost partitions, after close and when another assignor of the list won, the last
//!   routes stay: they are the best guess where others are. What this member was given but does not hold any more is
//!   taken out of them, so that nobody is sent in a circle.
//! * Routes that cannot be read, or that the leader left out as too large, are no routes, and a warning in somebody's log.
//! * An [`Epoch`] never goes back at one member.
mod arrival;
mod epoch;
mod routes;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use crate::handle::Handle;
use crate::held::Held;
use crate::partitioner::Partitioner;
pub(crate) use arrival::{Said, UnusableRoutes, arrived};
pub use epoch::Epoch;
pub use routes::{Routes, Served};

/// Answers which member serves what; clones answer the same.
///
/// ```
/// # use rdkafka_assignor::{Copartitioned, RouteError, Partitioner};
/// let assignor = Copartitioned::builder("shop").host("10.0.0.1:8080").table("counts", "orders").build()?;
/// let router = assignor.handle().router().with_partitioner(Partitioner::ConsistentRandom);
/// assert_eq!(router.host_for("counts", "alice"), Err(RouteError::NoRoutes)); // no assignment yet
/// # Ok::<(), rdkafka_assignor::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Router {
    handle: Handle,
    partitioner: Partitioner,
}

/// Who serves a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Route {
    /// The partition that was asked for, or that the key is in.
    pub partition: i32,
    /// `host:port` of the member that is active; `None` while there is none, and if it told no host.
    pub active: Option<String>,
    /// `host:port` of the members with a standby copy, best first; this one too, if it is one of them.
    pub standbys: Vec<String>,
    /// What this very member is to the partition at this moment. Believe it before the hosts: these are as of the
    /// [`epoch`](Route::epoch), and members that share a host cannot be told apart by them.
    pub here: Option<Here>,
    /// As of when the hosts are.
    pub epoch: Epoch,
    /// The host of the member that was asked.
    #[serde(skip)]
    own: Option<String>,
}

impl Route {
    /// Hosts to ask instead of this member's own, best first: the active, then the standbys.
    pub fn elsewhere(&self) -> impl Iterator<Item = &str> {
        let all = self.active.iter().chain(&self.standbys);
        let others = all.filter(|host| Some(*host) != self.own.as_ref());
        others.map(String::as_str)
    }
}

/// What this member is to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Here {
    /// It is active here.
    Active,
    /// A standby copy is kept here.
    Standby,
}

/// Why there is no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// Nothing is known.
    #[error(
        "no routes are known: there was no assignment yet, it came without routes, or no member told its host"
    )]
    NoRoutes,
    /// No member declares such a table, or its topics are in error. Global tables are at every member.
    #[error("no table {0:?} is routed")]
    NoSuchTable(String),
    /// Nobody subscribes to such a topic, or it is in error, or routes were too many for topics without tables.
    #[error("no topic {0:?} is routed")]
    NoSuchTopic(String),
    /// The partition, or the one that the partitioner chose, is beyond the count.
    #[error("there is no partition {partition}, there are {partitions}")]
    NoSuchPartition {
        /// What was asked for.
        partition: i64,
        /// How many there are.
        partitions: u32,
    },
    /// Producers put records with this key into any partition; see [`Partitioner`].
    #[error("records with this key may be in any partition")]
    Anywhere,
}

impl Router {
    pub(crate) fn new(handle: Handle) -> Self {
        Router {
            handle,
            partitioner: Partitioner::default(),
        }
    }

    /// The same routes for other producers: as they choose partitions, keys are looked for.
    #[must_use]
    pub fn with_partitioner(self, partitioner: Partitioner) -> Self {
        Router {
            partitioner,
            ..self
        }
    }

    /// Who serves the key of the table: its bytes as they are in the records of the table's source topic.
    ///
    /// # Errors
    /// When that is not known; see [`RouteError`].
    pub fn host_for(&self, table: &str, key: impl AsRef<[u8]>) -> Result<Route, RouteError> {
        let routes = self.routes();
        let served = served_table(&routes, table)?;
        self.by_key(&routes, &served, key.as_ref())
    }

    /// Who consumes records of the topic with this key.
    ///
    /// # Errors
    /// When that is not known; see [`RouteError`].
    pub fn host_for_topic(&self, topic: &str, key: impl AsRef<[u8]>) -> Result<Route, RouteError> {
        let routes = self.routes();
        let served = served_topic(&routes, topic)?;
        self.by_key(&routes, &served, key.as_ref())
    }

    /// Who serves the partition of the table.
    ///
    /// # Errors
    /// When that is not known; see [`RouteError`].
    pub fn host_for_partition(&self, table: &str, partition: i32) -> Result<Route, RouteError> {
        let routes = self.routes();
        let served = served_table(&routes, table)?;
        self.by_partition(&routes, &served, i64::from(partition))
    }

    /// Who consumes the partition of the topic.
    ///
    /// # Errors
    /// When that is not known; see [`RouteError`].
    pub fn host_for_topic_partition(
        &self,
        topic: &str,
        partition: i32,
    ) -> Result<Route, RouteError> {
        let routes = self.routes();
        let served = served_topic(&routes, topic)?;
        self.by_partition(&routes, &served, i64::from(partition))
    }

    /// All routes at once, as the leader told them: nothing is taken out of them.
    pub fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.handle.routes().borrow())
    }

    /// Follows the routes: told after every assignment, once the handle speaks of it too.
    pub fn watch(&self) -> watch::Receiver<Arc<Routes>> {
        self.handle.routes().subscribe()
    }

    fn by_key(
        &self,
        routes: &Routes,
        served: &Served<'_>,
        key: &[u8],
    ) -> Result<Route, RouteError> {
        let none = RouteError::NoSuchPartition {
            partition: 0,
            partitions: 0,
        };
        let partitions = NonZeroU32::new(served.partitions()).ok_or(none)?;
        let partition = self.partitioner.partition(Some(key), partitions);
        let partition = partition.ok_or(RouteError::Anywhere)?;
        self.by_partition(routes, served, i64::from(partition))
    }

    fn by_partition(
        &self,
        routes: &Routes,
        served: &Served<'_>,
        partition: i64,
    ) -> Result<Route, RouteError> {
        let partitions = served.partitions();
        let number = u32::try_from(partition).ok().filter(|p| *p < partitions);
        let both = number.zip(i32::try_from(partition).ok());
        let (number, partition) = both.ok_or(RouteError::NoSuchPartition {
            partition,
            partitions,
        })?;
        let held = self.handle.current();
        let here = here(served, &held, partition);
        Ok(Route {
            partition,
            active: self.active(served, number, partition, here),
            standbys: self.standbys(served, number, partition, here),
            here,
            epoch: routes.epoch().unwrap_or_default(),
            own: self.handle.host().map(str::to_owned),
        })
    }

    /// The active's host, unless it was this member and is it no more.
    fn active(
        &self,
        served: &Served<'_>,
        number: u32,
        partition: i32,
        here: Option<Here>,
    ) -> Option<String> {
        let stale = here != Some(Here::Active) && served.active_in(served.given(), partition);
        let active = served.active(number).filter(|_| !stale);
        active.map(str::to_owned)
    }

    /// The standbys' hosts, without this member if it was one of them and is nothing any more.
    fn standbys(
        &self,
        served: &Served<'_>,
        number: u32,
        partition: i32,
        here: Option<Here>,
    ) -> Vec<String> {
        let stale = here.is_none() && served.standby_in(served.given(), partition);
        let own = self.handle.host().filter(|_| stale);
        let standbys = served.standbys(number).into_iter();
        standbys
            .filter(|host| Some(*host) != own)
            .map(str::to_owned)
            .collect()
    }
}

fn here(served: &Served<'_>, held: &Held, partition: i32) -> Option<Here> {
    if served.active_in(held, partition) {
        return Some(Here::Active);
    }
    served.standby_in(held, partition).then_some(Here::Standby)
}

fn served_table<'r>(routes: &'r Routes, table: &str) -> Result<Served<'r>, RouteError> {
    let unknown = || RouteError::NoSuchTable(table.to_owned());
    known(routes)?.table(table).ok_or_else(unknown)
}

fn served_topic<'r>(routes: &'r Routes, topic: &str) -> Result<Served<'r>, RouteError> {
    let unknown = || RouteError::NoSuchTopic(topic.to_owned());
    known(routes)?.topic(topic).ok_or_else(unknown)
}

fn known(routes: &Routes) -> Result<&Routes, RouteError> {
    match routes.is_empty() {
        true => Err(RouteError::NoRoutes),
        false => Ok(routes),
    }
}
