//! Settings that cannot work, and the rules for names and hosts behind them.
use std::net::Ipv6Addr;

/// A setting that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The application id is empty.
    #[error("the application id is empty")]
    EmptyAppId,
    /// The rack is empty; a member without a rack sets none.
    #[error("the rack is empty")]
    EmptyRack,
    /// The application id is part of the names of topics, and Kafka does not allow them with it.
    #[error(
        "the application id {0:?} cannot be part of a topic's name: Kafka takes 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"
    )]
    AppId(String),
    /// No strategy list can hold this name, or it is that of a built-in assignor.
    #[error("{name:?} cannot be the name of an assignor: {reason}")]
    AssignorName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host is not `host:port`.
    #[error("{0:?} is not a host and a port, such as 10.0.0.1:8080")]
    Host(String),
    /// A name that Kafka does not allow for a topic.
    #[error(
        "{0:?} cannot be the name of a topic: Kafka takes 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"
    )]
    TopicName(String),
    /// A table without a name.
    #[error("a table has no name")]
    EmptyTableName,
    /// The table's name is part of its changelog's, and Kafka does not allow that.
    #[error(
        "the table {0:?} cannot be part of a topic's name: Kafka takes 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"
    )]
    TableName(String),
    /// Two tables of one name, global ones included.
    #[error("the table {0:?} is declared twice")]
    TableTwice(String),
    /// Two tables with one changelog topic.
    #[error("two tables have the changelog topic {0:?}")]
    ChangelogTwice(String),
    /// A co-partition set without topics.
    #[error("a co-partition set is empty")]
    EmptySet,
    /// A topic that is in two co-partition sets, or in one twice.
    #[error("the topic {0:?} is declared twice as co-partitioned")]
    TopicTwice(String),
    /// The leader topic as a table's source or in a co-partition set.
    #[error("{0:?} is the leader topic: it feeds no table and goes together with nothing")]
    LeaderTopicUsed(String),
}

/// Kafka's rule for topic names.
pub(super) fn is_topic(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let reserved = matches!(name, "" | "." | "..");
    !reserved && name.len() <= 249 && name.chars().all(legal)
}

pub(super) fn check_topic(name: &str) -> Result<(), ConfigError> {
    if is_topic(name) {
        return Ok(());
    }
    Err(ConfigError::TopicName(name.to_owned()))
}

fn is_v6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn check_host(host: Option<&str>) -> Result<(), ConfigError> {
    let Some(host) = host else { return Ok(()) };
    let port = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
    let bare = |text: &str| {
        !text.is_empty() && !text.contains(|c: char| ":[]".contains(c) || c.is_whitespace())
    };
    let v6 = |text: &str| {
        text.strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .is_some_and(is_v6)
    };
    match host.rsplit_once(':') {
        Some((name, number)) if (bare(name) || v6(name)) && port(number) => Ok(()),
        _ => Err(ConfigError::Host(host.to_owned())),
    }
}
