//! `assignor demo`: a group of real consumers that join two co-partitioned topics while members come, leave and die.
//!
//! Members are processes of their own ([`member`]), so that one can be killed; this process starts them, produces
//! records, and shows what they tell ([`event`]). Exit status: 0 if every join pair met on one member and nothing else
//! went wrong, 1 if not, 2 if there was nothing to see.
mod cluster;
mod event;
mod group;
mod join;
pub mod member;
mod process;
mod producer;
mod scenario;
mod show;
mod verdict;
mod view;

use std::process::{self as this_process, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use rdkafka_assignor::assignor::RebalanceProtocol;

use cluster::Cluster;
use group::{Group, Settings};
use producer::Producer;
use show::say;

const STATUSES: &str = "Exit status: 0 if every join pair met on one member and nothing else went wrong, 1 if not, 2 if there was nothing to see.";

/// Arguments of `assignor demo`.
#[derive(clap::Args)]
#[command(after_help = STATUSES)]
pub struct Arguments {
    /// Run on this cluster instead of one that is embedded; topics and group get names of their own and are deleted.
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: Option<String>,
    /// Members to begin with, 1 to 16.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    members: u32,
    /// Partitions of either topic, 1 to 256.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    partitions: u16,
    /// Standby copies of the table.
    #[arg(long, default_value_t = 1)]
    standbys: u32,
    /// Whether members give up everything before a rebalance, or only what moves.
    #[arg(long, default_value = "cooperative")]
    protocol: Protocol,
}

/// A rebalance protocol, as an argument.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Protocol {
    /// Everything is revoked before members join.
    Eager,
    /// Only partitions that move are revoked.
    Cooperative,
}

impl Protocol {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

impl From<Protocol> for RebalanceProtocol {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Eager => RebalanceProtocol::Eager,
            Protocol::Cooperative => RebalanceProtocol::Cooperative,
        }
    }
}

/// So long the last records may take to be joined.
const CATCH_UP: Duration = Duration::from_secs(15);

/// Runs the demo.
///
/// # Errors
/// The cluster cannot be used, or processes cannot be started.
pub fn run(arguments: &Arguments, verbose: u8) -> anyhow::Result<ExitCode> {
    let mut cluster = Cluster::open(arguments.bootstrap.as_deref())?;
    let run = Run::named(&cluster);
    let shown = run.on(&mut cluster, arguments, verbose);
    let cleaned = cluster.clean_up(&run.app);
    let good = shown?;
    if let Err(error) = cleaned {
        eprintln!("warning: the demo's topics and group stay on the cluster: {error:#}");
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Names of one run; on a shared cluster no other run has them.
struct Run {
    app: String,
    topics: [String; 2],
}

impl Run {
    fn named(cluster: &Cluster) -> Self {
        let id = match cluster {
            Cluster::Embedded(_) => String::new(),
            Cluster::Real(_) => {
                let since = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                format!("-{:x}-{:x}", since.as_secs(), this_process::id())
            }
        };
        Run {
            app: format!("demo{id}"),
            topics: ["orders", "users"].map(|topic| format!("{topic}{id}")),
        }
    }

    /// Whether all went well.
    fn on(
        &self,
        cluster: &mut Cluster,
        arguments: &Arguments,
        verbose: u8,
    ) -> anyhow::Result<bool> {
        for topic in &self.topics {
            cluster.create_topic(topic, arguments.partitions)?;
        }
        cluster.create_topic(&format!("{}-__assignor-__leader", self.app), 1)?;
        say(self.heading(cluster, arguments));
        let mut group = Group::new(self.settings(cluster, arguments, verbose));
        let producer = Producer::start(&cluster.bootstrap(), self.topics.clone())?;
        let played = scenario::play(&mut group, arguments.members, arguments.standbys);
        let produced = producer.stop();
        match produced {
            Ok(pairs) => group.verdict.produced(pairs),
            Err(error) => group.verdict.fault(format!("{error:#}")),
        }
        group.listen(CATCH_UP, |group| group.verdict.all_joined());
        group.close();
        played?;
        say(format!("\n{}", group.verdict));
        Ok(group.verdict.is_good())
    }

    fn heading(&self, cluster: &Cluster, arguments: &Arguments) -> String {
        let place = match cluster {
            Cluster::Embedded(_) => "librdkafka's embedded cluster".to_owned(),
            Cluster::Real(_) => cluster.bootstrap(),
        };
        format!(
            "members {}, partitions {}, standbys {}, {}; topics {} and {} on {place}\n",
            arguments.members,
            arguments.partitions,
            arguments.standbys,
            arguments.protocol.name(),
            self.topics[0],
            self.topics[1],
        )
    }

    fn settings(&self, cluster: &Cluster, arguments: &Arguments, verbose: u8) -> Settings {
        let [orders, users] = self.topics.clone();
        let timeout = cluster.session_timeout().as_millis();
        let settings = [
            ("--bootstrap", cluster.bootstrap()),
            ("--app", self.app.clone()),
            ("--orders", orders),
            ("--users", users),
            ("--standbys", arguments.standbys.to_string()),
            ("--protocol", arguments.protocol.name()),
            ("--session-timeout", timeout.to_string()),
        ];
        let settings = settings
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value]);
        let verbosity = (0..verbose).map(|_| "-v".to_owned());
        Settings {
            arguments: settings.chain(verbosity).collect(),
            topics: self.topics.clone(),
            partitions: u32::from(arguments.partitions),
        }
    }
}
