//! The cluster that the demo runs on: librdkafka's mock in this process, or a real one.
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka_assignor::mock::MockCluster;
use tokio::runtime::{Builder, Runtime};

/// A cluster with the demo's topics.
pub enum Cluster {
    /// Dies with this process.
    Embedded(MockCluster),
    /// Stays, and should look as before afterwards.
    Real(Real),
}

/// A real cluster, and what has been made on it.
pub struct Real {
    bootstrap: String,
    admin: AdminClient<DefaultClientContext>,
    runtime: Runtime,
    topics: Vec<String>,
}

/// How long a cluster may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Before the first rebalance of a group the mock waits so long for more members.
const INITIAL_REBALANCE_DELAY: Duration = Duration::from_millis(1500);

impl Cluster {
    /// The embedded cluster, or the one at `bootstrap`.
    ///
    /// # Errors
    /// The embedded cluster does not start, or `bootstrap` is not usable.
    pub fn open(bootstrap: Option<&str>) -> anyhow::Result<Self> {
        let Some(bootstrap) = bootstrap else {
            let mock = MockCluster::new(1).context("the embedded cluster does not start")?;
            mock.set_initial_rebalance_delay(INITIAL_REBALANCE_DELAY);
            return Ok(Cluster::Embedded(mock));
        };
        Ok(Cluster::Real(Real {
            bootstrap: bootstrap.to_owned(),
            admin: ClientConfig::new()
                .set("bootstrap.servers", bootstrap)
                .create()?,
            runtime: Builder::new_current_thread().enable_all().build()?,
            topics: Vec::new(),
        }))
    }

    /// Where clients reach it.
    pub fn bootstrap(&self) -> String {
        match self {
            Cluster::Embedded(mock) => mock.bootstrap_servers(),
            Cluster::Real(real) => real.bootstrap.clone(),
        }
    }

    /// After so long without a heartbeat a member counts as dead. The mock lets every later rebalance wait for all of
    /// it but a second; real brokers accept no less than six seconds by default.
    pub fn session_timeout(&self) -> Duration {
        match self {
            Cluster::Embedded(_) => Duration::from_secs(3),
            Cluster::Real(_) => Duration::from_secs(6),
        }
    }

    /// Creates a topic and waits until the cluster shows it.
    ///
    /// # Errors
    /// The cluster does not answer, or refuses.
    pub fn create_topic(&mut self, name: &str, partitions: u16) -> anyhow::Result<()> {
        match self {
            Cluster::Embedded(mock) => mock.create_topic(name, partitions)?,
            Cluster::Real(real) => real.create_topic(name, i32::from(partitions))?,
        }
        Ok(())
    }

    /// Removes what the demo has made.
    ///
    /// # Errors
    /// The cluster refuses; the topics stay.
    pub fn clean_up(self, group: &str) -> anyhow::Result<()> {
        match self {
            Cluster::Embedded(_) => Ok(()),
            Cluster::Real(real) => real.clean_up(group),
        }
    }
}

impl Real {
    fn create_topic(&mut self, name: &str, partitions: i32) -> anyhow::Result<()> {
        // The broker's own default replication factor.
        let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(-1));
        let created = self.admin.create_topics([&topic], &options());
        let results = self
            .runtime
            .block_on(created)
            .with_context(|| format!("the cluster at {} does not answer", self.bootstrap))?;
        for result in results {
            if let Err((topic, code)) = result {
                bail!("cannot create the topic {topic}: {code}");
            }
        }
        self.topics.push(name.to_owned());
        self.wait_for_topic(name, partitions)
    }

    fn wait_for_topic(&self, name: &str, partitions: i32) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let metadata = self.admin.inner().fetch_metadata(Some(name), PATIENCE)?;
            let led = metadata
                .topics()
                .iter()
                .flat_map(|topic| topic.partitions());
            if led.filter(|partition| partition.leader() >= 0).count()
                == usize::try_from(partitions)?
            {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
        bail!("the topic {name} does not get leaders for its partitions");
    }

    fn clean_up(&self, group: &str) -> anyhow::Result<()> {
        if self.topics.is_empty() {
            return Ok(());
        }
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        let groups = self
            .runtime
            .block_on(self.admin.delete_groups(&[group], &options()))?;
        let topics = self
            .runtime
            .block_on(self.admin.delete_topics(&topics, &options()))?;
        for result in groups.into_iter().chain(topics) {
            if let Err((name, code)) = result {
                bail!("cannot delete {name}: {code}");
            }
        }
        Ok(())
    }
}

fn options() -> AdminOptions {
    AdminOptions::new()
        .request_timeout(Some(PATIENCE))
        .operation_timeout(Some(PATIENCE))
}
