//! Settings of [`Copartitioned`], checked once, when they are built.
//!
//! Everything behind [`Builder::build`] may rely on it: names are legal in Kafka, tables are unique, no topic is
//! in two co-partition sets, and everything that goes over the wire is sorted, so that equal settings are equal bytes.
mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;

use rdkafka_assignor_protocol::{GlobalTable, Table};

use crate::assignor::{RebalanceProtocol, TopicPartitions};
use crate::copartitioned::Copartitioned;
use crate::leader_topic;
use crate::strategy;
pub use error::ConfigError;
use error::{check_host, check_topic, is_topic};

/// Tells which table partitions are on this member's disk at the moment.
pub(crate) type LocalState = Box<dyn Fn() -> TopicPartitions + Send + Sync>;

/// Name of a [`Copartitioned`] in a strategy list unless it is given another.
pub(crate) const DEFAULT_NAME: &str = "copartitioned";

/// Builds a [`Copartitioned`].
///
/// ```
/// # use rdkafka_assignor::Copartitioned;
/// let assignor = Copartitioned::builder("shop")
///     .host("10.0.0.1:8080")
///     .rack("a")
///     .table("counts", "orders")
///     .copartition(["orders", "users"])
///     .build()?;
/// # Ok::<(), rdkafka_assignor::ConfigError>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    app_id: String,
    name: String,
    host: Option<String>,
    rack: Option<String>,
    capacity: NonZeroU32,
    standby_replicas: u32,
    tables: Vec<Table>,
    global_tables: Vec<GlobalTable>,
    copartition: Option<Vec<Vec<String>>>,
    local_state: Option<LocalState>,
    leader_topic: bool,
    protocol: RebalanceProtocol,
}

impl Builder {
    pub(crate) fn new(app_id: String) -> Self {
        Builder {
            app_id,
            name: DEFAULT_NAME.to_owned(),
            host: None,
            rack: None,
            capacity: NonZeroU32::MIN,
            standby_replicas: 1,
            tables: Vec::new(),
            global_tables: Vec::new(),
            copartition: None,
            local_state: None,
            leader_topic: true,
            protocol: RebalanceProtocol::Cooperative,
        }
    }

    /// Name in `partition.assignment.strategy`; `copartitioned` unless set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// `host:port` at which other members reach this one; without it this member is in nobody's routes.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Rack or zone: standbys keep apart from their active's. Also sets `client.rack` of the consumer.
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.rack = Some(rack.into());
        self
    }

    /// Share of the work relative to other members; 1 unless set.
    pub fn capacity(mut self, capacity: NonZeroU32) -> Self {
        self.capacity = capacity;
        self
    }

    /// Standby copies of every partition of every table; 1 unless set. The largest number in the group counts.
    pub fn standby_replicas(mut self, replicas: u32) -> Self {
        self.standby_replicas = replicas;
        self
    }

    /// A table that is fed by `source`, with the changelog topic `{app}-{name}-changelog`.
    ///
    /// The table has as many partitions as its source, and members that subscribe to the source keep them. While the
    /// source does not exist nobody keeps anything of the table and the group's leader logs a warning; that becomes an
    /// error in every [`Handle`](crate::Handle::errors) only if a [declared set](Builder::copartition) names the source.
    pub fn table(self, name: impl Into<String>, source: impl Into<String>) -> Self {
        let name = name.into();
        let changelog = changelog(&self.app_id, &name);
        self.table_with_changelog(name, source, changelog)
    }

    /// A table that is fed by `source`, with a changelog topic of any name.
    pub fn table_with_changelog(
        mut self,
        name: impl Into<String>,
        source: impl Into<String>,
        changelog: impl Into<String>,
    ) -> Self {
        self.tables.push(Table {
            name: name.into(),
            source: source.into(),
            changelog: changelog.into(),
        });
        self
    }

    /// A table that every member holds whole; its changelog, `{app}-{name}-changelog`, has so many partitions.
    pub fn global_table(mut self, name: impl Into<String>, partitions: NonZeroU32) -> Self {
        self.global_tables.push(GlobalTable {
            name: name.into(),
            partitions: partitions.get(),
        });
        self
    }

    /// These topics go together: equal partition numbers on one member. They must have equal partition counts.
    ///
    /// As soon as one set is declared, by any member, exactly the declared sets go together and every other topic
    /// is on its own. With nothing declared, topics of equal partition count and equal subscribers go together.
    pub fn copartition(mut self, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let set = topics.into_iter().map(Into::into).collect();
        self.copartition.get_or_insert_default().push(set);
        self
    }

    /// Nothing goes together but the sets given to [`copartition`](Builder::copartition), if any.
    pub fn copartition_declared_only(mut self) -> Self {
        self.copartition.get_or_insert_default();
        self
    }

    /// Tells which partitions of which tables are on this member's disk; asked before every join.
    ///
    /// A restarted member that says what it still has on disk gets it back. The function runs on librdkafka's main
    /// thread: it must not call the consumer, and should answer at once. Tables that are not declared are ignored.
    pub fn local_state(
        mut self,
        on_disk: impl Fn() -> TopicPartitions + Send + Sync + 'static,
    ) -> Self {
        self.local_state = Some(Box::new(on_disk));
        self
    }

    /// Whether the application elects a leader by the topic `{app}-__assignor-__leader`; it does unless told not to.
    pub fn leader_topic(mut self, on: bool) -> Self {
        self.leader_topic = on;
        self
    }

    /// Eager or cooperative; cooperative unless set. All assignors of one strategy list must agree.
    pub fn protocol(mut self, protocol: RebalanceProtocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that cannot work, see [`ConfigError`].
    pub fn build(self) -> Result<Copartitioned, ConfigError> {
        self.settings().map(Copartitioned::new)
    }

    pub(crate) fn settings(self) -> Result<Settings, ConfigError> {
        self.check_names()?;
        check_host(self.host.as_deref())?;
        self.check_tables()?;
        self.check_sets()?;
        Ok(self.settle())
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        if let Some(reason) = strategy::unfit(&self.name) {
            let name = self.name.clone();
            return Err(ConfigError::AssignorName { name, reason });
        }
        if self.app_id.is_empty() {
            return Err(ConfigError::EmptyAppId);
        }
        if self.rack.as_ref().is_some_and(String::is_empty) {
            return Err(ConfigError::EmptyRack);
        }
        if !is_topic(&leader_topic::name(&self.app_id)) {
            return Err(ConfigError::AppId(self.app_id.clone()));
        }
        Ok(())
    }

    fn check_tables(&self) -> Result<(), ConfigError> {
        self.check_table_names()?;
        let mut changelogs = BTreeSet::new();
        for (table, changelog) in self.changelogs() {
            if !is_topic(&changelog) {
                return Err(self.bad_changelog(table, changelog));
            }
            if !changelogs.insert(changelog.clone()) {
                return Err(ConfigError::ChangelogTwice(changelog));
            }
        }
        let mut sources = self.tables.iter().map(|table| &table.source);
        sources.try_for_each(|source| self.check_joined(source))
    }

    fn check_table_names(&self) -> Result<(), ConfigError> {
        let mut names = BTreeSet::new();
        for (name, _) in self.changelogs() {
            if name.is_empty() {
                return Err(ConfigError::EmptyTableName);
            }
            if !names.insert(name) {
                return Err(ConfigError::TableTwice(name.to_owned()));
            }
        }
        Ok(())
    }

    /// All tables with their changelogs, the global ones last.
    fn changelogs(&self) -> impl Iterator<Item = (&str, String)> {
        let tables = self.tables.iter();
        let global = self.global_tables.iter();
        tables
            .map(|table| (table.name.as_str(), table.changelog.clone()))
            .chain(global.map(|table| (table.name.as_str(), changelog(&self.app_id, &table.name))))
    }

    /// The table's name is to blame for a changelog that is derived from it.
    fn bad_changelog(&self, table: &str, bad: String) -> ConfigError {
        if bad == changelog(&self.app_id, table) {
            return ConfigError::TableName(table.to_owned());
        }
        ConfigError::TopicName(bad)
    }

    /// Whether the topic may feed a table or be in a set: any but the leader topic, if there is one.
    fn check_joined(&self, topic: &str) -> Result<(), ConfigError> {
        if self.leader_topic && topic == leader_topic::name(&self.app_id) {
            return Err(ConfigError::LeaderTopicUsed(topic.to_owned()));
        }
        check_topic(topic)
    }

    fn check_sets(&self) -> Result<(), ConfigError> {
        let sets = self.copartition.as_deref().unwrap_or_default();
        if sets.iter().any(Vec::is_empty) {
            return Err(ConfigError::EmptySet);
        }
        let mut seen = BTreeSet::new();
        for topic in sets.iter().flatten() {
            self.check_joined(topic)?;
            if !seen.insert(topic) {
                return Err(ConfigError::TopicTwice(topic.clone()));
            }
        }
        Ok(())
    }

    fn settle(mut self) -> Settings {
        self.tables.sort();
        self.global_tables.sort();
        if let Some(sets) = &mut self.copartition {
            sets.iter_mut().for_each(|set| set.sort());
            sets.sort();
        }
        let changelogs = self.changelogs();
        Settings {
            changelogs: changelogs
                .map(|(table, topic)| (table.to_owned(), topic))
                .collect(),
            leader_topic: self.leader_topic.then(|| leader_topic::name(&self.app_id)),
            app_id: self.app_id,
            name: self.name,
            host: self.host,
            rack: self.rack,
            capacity: self.capacity,
            standby_replicas: self.standby_replicas,
            tables: self.tables,
            global_tables: self.global_tables,
            copartition: self.copartition,
            local_state: self.local_state,
            protocol: self.protocol,
        }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("app_id", &self.app_id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The changelog topic of a table for which no other is declared.
fn changelog(app_id: &str, table: &str) -> String {
    format!("{app_id}-{table}-changelog")
}

/// Settings that have been checked; everything in them is sorted.
pub(crate) struct Settings {
    pub(crate) app_id: String,
    pub(crate) name: String,
    pub(crate) host: Option<String>,
    pub(crate) rack: Option<String>,
    pub(crate) capacity: NonZeroU32,
    pub(crate) standby_replicas: u32,
    pub(crate) tables: Vec<Table>,
    pub(crate) global_tables: Vec<GlobalTable>,
    /// Changelog topics of all tables, global ones included, by table.
    pub(crate) changelogs: BTreeMap<String, String>,
    pub(crate) copartition: Option<Vec<Vec<String>>>,
    pub(crate) local_state: Option<LocalState>,
    pub(crate) leader_topic: Option<String>,
    pub(crate) protocol: RebalanceProtocol,
}

impl Settings {
    /// What is on disk of the tables that are declared.
    pub(crate) fn local_state(&self) -> TopicPartitions {
        let on_disk: BTreeMap<_, _> = self
            .local_state
            .as_ref()
            .map(|ask| ask())
            .unwrap_or_default();
        let declared = |name: &String| self.tables.iter().any(|table| table.name == *name);
        on_disk
            .into_iter()
            .filter(|(name, _)| declared(name))
            .collect()
    }
}

#[cfg(test)]
mod tests;
