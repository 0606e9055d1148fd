//! Creating consumers that know assignors of one's own.
use std::sync::Arc;

use rdkafka::ClientConfig;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::{Consumer, ConsumerContext, DefaultConsumerContext};
use rdkafka::error::KafkaError;

use crate::assignor::{Assignor, AssignorError};
use crate::config::DEFAULT_NAME;
use crate::plugin::{self, Failure, Registered};
use crate::strategy::Strategies;

const STRATEGY: &str = "partition.assignment.strategy";

/// Assignors to create consumers with.
///
/// Users name them where they name librdkafka's own, in `partition.assignment.strategy`, and all of the list is
/// registered when the consumer is returned, so that no subscription can come before it:
///
/// ```
/// # use std::collections::BTreeMap;
/// # use rdkafka_assignor::assignor::{Assignment, Assignor, AssignorError, Group};
/// use rdkafka::{ClientConfig, consumer::BaseConsumer};
/// use rdkafka_assignor::Assignors;
/// # struct Mine;
/// # impl Assignor for Mine {
/// #     fn name(&self) -> &str { "mine" }
/// #     fn assign(&self, _: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> { Ok(BTreeMap::new()) }
/// # }
///
/// let mut config = ClientConfig::new();
/// config.set("group.id", "shop").set("partition.assignment.strategy", "mine, range");
/// let consumer: BaseConsumer = Assignors::new().with(Mine).create(&config)?;
/// # Ok::<(), rdkafka_assignor::CreateError>(())
/// ```
///
/// Without that setting the list is the registered assignors in the order of [`with`](Assignors::with), without
/// built-in ones; without assignors this is rdkafka's own way to create a consumer. One value may create many
/// consumers, which share the assignors (a [`Copartitioned`](crate::Copartitioned) serves one at a time: make one for
/// each consumer).
#[derive(Clone, Default)]
pub struct Assignors {
    assignors: Vec<Arc<dyn Assignor>>,
}

impl Assignors {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; an `Arc` of an assignor is an assignor too.
    ///
    /// Assignors live as long as the last consumer, and on its threads, so that they cannot borrow:
    ///
    /// ```compile_fail,E0477
    /// # use std::collections::BTreeMap;
    /// # use rdkafka_assignor::assignor::{Assignment, Assignor, AssignorError, Group};
    /// struct Borrowing<'a>(&'a str);
    /// impl Assignor for Borrowing<'_> {
    ///     fn name(&self) -> &str { self.0 }
    ///     fn assign(&self, _: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> { Ok(BTreeMap::new()) }
    /// }
    /// ```
    #[must_use]
    pub fn with(mut self, assignor: impl Assignor) -> Self {
        self.assignors.push(Arc::new(assignor));
        self
    }

    /// Creates a consumer with the default context.
    ///
    /// # Errors
    /// As [`create_with_context`](Assignors::create_with_context).
    pub fn create<C>(&self, config: &ClientConfig) -> Result<C, CreateError>
    where
        C: FromClientConfigAndContext<DefaultConsumerContext> + Consumer<DefaultConsumerContext>,
    {
        self.create_with_context(config, DefaultConsumerContext)
    }

    /// Creates a consumer: a [`BaseConsumer`](rdkafka::consumer::BaseConsumer), a
    /// [`StreamConsumer`](rdkafka::consumer::StreamConsumer), or any other.
    ///
    /// # Errors
    /// If the strategy list cannot be had, an assignor refuses, or rdkafka does. Nothing of the consumer is left.
    pub fn create_with_context<C, X>(
        &self,
        config: &ClientConfig,
        context: X,
    ) -> Result<C, CreateError>
    where
        C: FromClientConfigAndContext<X> + Consumer<X>,
        X: ConsumerContext,
    {
        if self.assignors.is_empty() {
            return Ok(config.create_with_context(context)?);
        }
        let config = &self.configured(config);
        let group_id = self.check(config)?;
        let registered = self.ask();
        let named: Vec<_> = registered
            .iter()
            .map(|r| (r.name.as_str(), r.protocol))
            .collect();
        let strategies = Strategies::new(config.get(STRATEGY), &named)?;
        let consumer: C = without_ours(config, &strategies).create_with_context(context)?;
        plugin::register(&consumer, group_id, &registered, &strategies.all)?;
        Ok(consumer)
    }

    /// The settings with what the assignors need in them.
    fn configured(&self, config: &ClientConfig) -> ClientConfig {
        let mut config = config.clone();
        for assignor in &self.assignors {
            assignor.configure(&mut config);
        }
        config
    }

    /// What does not need a consumer to be refused; the group id.
    fn check<'a>(&self, config: &'a ClientConfig) -> Result<&'a str, CreateError> {
        plugin::check_version()
            .map_err(|(built, running)| CreateError::LibrdkafkaVersion { built, running })?;
        if config
            .get("group.protocol")
            .is_some_and(|protocol| protocol.eq_ignore_ascii_case("consumer"))
        {
            return Err(CreateError::ConsumerProtocol);
        }
        config
            .get("group.id")
            .filter(|id| !id.is_empty())
            .ok_or(CreateError::NoGroupId)
    }

    /// Name and protocol are asked for once: nothing here depends on an assignor that changes its mind.
    fn ask(&self) -> Vec<Registered> {
        let ask = |assignor: &Arc<dyn Assignor>| Registered {
            name: assignor.name().to_owned(),
            protocol: assignor.protocol(),
            assignor: Arc::clone(assignor),
        };
        self.assignors.iter().map(ask).collect()
    }
}

/// librdkafka refuses names it does not know: it is given the others, and the whole list afterwards.
fn without_ours(config: &ClientConfig, strategies: &Strategies) -> ClientConfig {
    let mut config = config.clone();
    if strategies.built_in.is_empty() {
        config.remove(STRATEGY);
    } else {
        config.set(STRATEGY, strategies.built_in.join(","));
    }
    config
}

/// Why a consumer could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The strategy list names an assignor that is neither built in nor registered.
    #[error(
        "partition.assignment.strategy names {name:?}, which is neither built in nor registered (registered: {})",
        quoted(registered)
    )]
    UnknownName {
        /// The name.
        name: String,
        /// Names of the registered assignors.
        registered: Vec<String>,
    },
    /// The strategy list does not name a registered assignor.
    #[error("assignor {0:?} is registered, but partition.assignment.strategy does not name it")]
    NotListed(String),
    /// Two registered assignors have one name.
    #[error("two assignors are named {0:?}")]
    DuplicateName(String),
    /// No strategy list can hold this name.
    #[error("{name:?} cannot be the name of an assignor: {reason}")]
    InvalidName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// All assignors of a list have to use one rebalance protocol.
    #[error(
        "{eager:?} is eager and {cooperative:?} cooperative: one strategy list cannot hold both{}",
        way_out(cooperative)
    )]
    MixedProtocols {
        /// An eager assignor of the list.
        eager: String,
        /// A cooperative one.
        cooperative: String,
    },
    /// `group.protocol=consumer`: the broker assigns, members cannot.
    #[error("group.protocol=consumer has no client-side assignors: use group.protocol=classic")]
    ConsumerProtocol,
    /// There is no group to assign in.
    #[error("a consumer with assignors needs a group.id")]
    NoGroupId,
    /// Another librdkafka is running than this crate was compiled for.
    #[error("librdkafka {running:#x} is running, but the assignor was built for {built:#x}")]
    LibrdkafkaVersion {
        /// `RD_KAFKA_VERSION` of its headers.
        built: i32,
        /// What `rd_kafka_version()` says.
        running: i32,
    },
    /// The assignor does not want the consumer.
    #[error("assignor {name:?} refused the consumer: {reason}")]
    Refused {
        /// Its name.
        name: String,
        /// Its reason.
        reason: AssignorError,
    },
    /// librdkafka does not take the registration.
    #[error("librdkafka refused the assignors: {0}")]
    Registration(&'static str),
    /// rdkafka could not create the consumer.
    #[error(transparent)]
    Kafka(#[from] KafkaError),
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    quoted.join(", ")
}

/// How the cooperative assignor gets eager, if it is ours.
fn way_out(cooperative: &str) -> &'static str {
    match cooperative {
        DEFAULT_NAME => "; Copartitioned is eager with .protocol(RebalanceProtocol::Eager)",
        _ => "",
    }
}

impl From<Failure> for CreateError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoGroup => CreateError::NoGroupId,
            Failure::ConsumerProtocol => CreateError::ConsumerProtocol,
            Failure::NameTaken(name) => CreateError::InvalidName {
                name,
                reason: "it is that of a built-in assignor",
            },
            Failure::Refused(name, reason) => CreateError::Refused { name, reason },
            Failure::Internal(reason) => CreateError::Registration(reason),
        }
    }
}
