//! Creating consumers: the strategy list, and everything that is refused.
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka_assignor::assignor::RebalanceProtocol::{self, Cooperative, Eager};
use rdkafka_assignor::assignor::{Assignment, Assignor, AssignorError, Group};
use rdkafka_assignor::{Assignors, Client, CreateError};
use support::{Event, Member, Probe, cluster, config, eventually, lock};

fn unconnected() -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", "127.0.0.1:1")
        .set("group.id", "group");
    config
}

fn refusal(assignors: &Assignors, config: &ClientConfig) -> CreateError {
    match assignors.create::<BaseConsumer>(config) {
        Ok(_) => panic!("the consumer was created"),
        Err(error) => error,
    }
}

fn one(name: &str, protocol: RebalanceProtocol) -> Assignors {
    Assignors::new().with(Probe::new(name, protocol))
}

macro_rules! assert_refused {
    ($assignors:expr, $config:expr, $pattern:pat $(if $guard:expr)?) => {
        let error = refusal(&$assignors, $config);
        assert!(matches!(&error, $pattern $(if $guard)?), "{error:?}");
        assert!(!error.to_string().is_empty());
    };
}

#[test]
fn strategy_lists_that_cannot_be_had_are_typed_errors() {
    let mut config = unconnected();
    config.set("partition.assignment.strategy", "mine,rnage");
    assert_refused!(one("mine", Eager), &config, CreateError::UnknownName { name, .. } if name == "rnage");
    config.set("partition.assignment.strategy", "range");
    assert_refused!(one("mine", Eager), &config, CreateError::NotListed(name) if name == "mine");
    config.set("partition.assignment.strategy", "mine,range");
    assert_refused!(one("mine", Cooperative), &config, CreateError::MixedProtocols { eager, .. } if eager.as_str() == "range");
    config.set("partition.assignment.strategy", "cooperative-sticky,mine");
    assert_refused!(one("mine", Eager), &config, CreateError::MixedProtocols { eager, .. } if eager == "mine");
    config.remove("partition.assignment.strategy");
    let two = one("a", Eager).with(Probe::new("b", Cooperative));
    assert_refused!(two, &config, CreateError::MixedProtocols { .. });
}

#[test]
fn names_that_cannot_be_had_are_typed_errors() {
    let config = unconnected();
    for name in [
        "",
        "a,b",
        "a b",
        "range",
        "roundrobin",
        "cooperative-sticky",
    ] {
        assert_refused!(one(name, Eager), &config, CreateError::InvalidName { name: refused, .. } if refused == name);
    }
    let twice = one("a", Eager).with(Probe::new("a", Eager));
    assert_refused!(twice, &config, CreateError::DuplicateName(name) if name == "a");
}

#[test]
fn consumers_without_a_classic_group_are_typed_errors() {
    let mut config = unconnected();
    for protocol in ["consumer", "CONSUMER"] {
        config.set("group.protocol", protocol);
        assert_refused!(one("a", Eager), &config, CreateError::ConsumerProtocol);
    }
    config.set("group.protocol", "classic").set("group.id", "");
    assert_refused!(one("a", Eager), &config, CreateError::NoGroupId);
    config.remove("group.id");
    assert_refused!(one("a", Eager), &config, CreateError::NoGroupId);
}

#[test]
fn rdkafka_speaks_for_itself() {
    let mut config = unconnected();
    config.set("no.such.setting", "1");
    let error = refusal(&one("a", Eager), &config);
    assert!(matches!(error, CreateError::Kafka(_)), "{error:?}");
    assert!(error.to_string().contains("no.such.setting"), "{error}");
}

#[test]
fn without_assignors_a_consumer_is_rdkafkas() {
    let consumer: BaseConsumer = Assignors::new().create(&unconnected()).unwrap();
    consumer.subscribe(&["t"]).unwrap();
}

/// Attaches as often as it may.
struct Choosy {
    inner: Arc<Probe>,
    room: usize,
}

impl Assignor for Choosy {
    fn name(&self) -> &str {
        "choosy"
    }
    fn attach(&self, client: &Arc<Client>) -> Result<(), AssignorError> {
        assert!(self.room != usize::MAX, "attach panics");
        if lock(&self.inner.clients).len() >= self.room {
            return Err("no room".into());
        }
        self.inner.attach(client)
    }
    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        self.inner.assign(group)
    }
    fn detach(&self, client: &Arc<Client>) {
        self.inner.detach(client);
    }
}

#[test]
fn assignor_may_refuse_a_consumer_and_the_others_are_detached() {
    let probe = Arc::new(Probe::new("probe", Eager));
    let inner = Arc::new(Probe::new("inner", Eager));
    let choosy = Choosy {
        inner: Arc::clone(&inner),
        room: 1,
    };
    let assignors = Assignors::new().with(Arc::clone(&probe)).with(choosy);
    let first: BaseConsumer = assignors.create(&unconnected()).unwrap();
    assert_refused!(assignors, &unconnected(), CreateError::Refused { name, .. } if name == "choosy");
    let refused = Arc::clone(&lock(&probe.clients)[1]);
    assert_eq!(
        probe.events_of(refused.id()),
        [Event::Attach, Event::Detach]
    );
    assert_eq!(inner.events(), [Event::Attach]);
    drop(first);
    assert_eq!(inner.events(), [Event::Attach, Event::Detach]);
}

#[test]
fn panic_in_attach_refuses_the_consumer() {
    let choosy = Choosy {
        inner: Arc::new(Probe::new("inner", Eager)),
        room: usize::MAX,
    };
    let error = refusal(&Assignors::new().with(choosy), &unconnected());
    assert!(error.to_string().contains("attach panics"), "{error}");
}

#[test]
fn first_strategy_of_the_users_list_decides() {
    for (list, ours) in [
        (" probe , range", true),
        ("range,probe", false),
        ("roundrobin, probe,range", false),
    ] {
        let cluster = cluster();
        let mut config = config(&cluster);
        config.set("partition.assignment.strategy", list);
        let probe = Arc::new(Probe::new("probe", Eager));
        let member = Member::join(
            &config,
            &Assignors::new().with(Arc::clone(&probe)),
            &["t", "u"],
        );
        eventually("the member has everything", || member.load() == 6);
        let joins = probe
            .events()
            .iter()
            .filter(|event| matches!(event, Event::Join { .. }))
            .count();
        let assigned = probe
            .events()
            .iter()
            .filter(|event| matches!(event, Event::Assigned { .. }))
            .count();
        assert!(joins > 0, "{list}");
        assert_eq!(
            (probe.groups().is_empty(), assigned == 0),
            (!ours, !ours),
            "{list}"
        );
    }
}

#[test]
fn two_assignors_and_a_built_in_one_stand_in_one_list() {
    let cluster = cluster();
    let mut config = config(&cluster);
    config.set("partition.assignment.strategy", "b,cooperative-sticky,a");
    let a = Arc::new(Probe::new("a", Cooperative));
    let b = Arc::new(Probe::new("b", Cooperative));
    let assignors = Assignors::new().with(Arc::clone(&a)).with(Arc::clone(&b));
    let member = Member::join(&config, &assignors, &["t"]);
    eventually("the member has everything", || member.load() == 4);
    assert!(a.groups().is_empty() && !b.groups().is_empty());
    member.leave();
    // Both were asked for user data, and both were told that the partitions are gone.
    for probe in [a, b] {
        assert!(matches!(
            probe.events()[..],
            [
                Event::Attach,
                Event::Join { .. },
                ..,
                Event::Revoked { .. },
                Event::Detach
            ]
        ));
    }
}

#[test]
fn cooperative_sticky_may_win_beside_ours() {
    let cluster = cluster();
    let mut config = config(&cluster);
    config.set("partition.assignment.strategy", "cooperative-sticky,probe");
    let probe = Arc::new(Probe::new("probe", Cooperative));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let first = Member::join(&config, &assignors, &["t"]);
    eventually("the first member has everything", || first.load() == 4);
    // Its state is librdkafka's own and is passed to our callbacks as well.
    let second = Member::join(&config, &assignors, &["t"]);
    eventually("they share", || first.load() == 2 && second.load() == 2);
    assert!(probe.groups().is_empty());
    // Ours never assigned, but what is owned is owned since a generation all the same.
    let first = lock(&probe.clients)[0].id();
    let claims = probe
        .events_of(first)
        .into_iter()
        .filter_map(|event| match event {
            Event::Join {
                owned, generation, ..
            } => Some((owned.contains_key("t"), generation.is_some())),
            _ => None,
        });
    let claims: Vec<_> = claims.collect();
    assert_eq!(claims[0], (false, false));
    assert!(claims.contains(&(true, true)), "{claims:?}");
    assert!(
        claims.iter().all(|(owned, since)| owned == since),
        "{claims:?}"
    );
}

/// A context with state; says whether the assignor was told before it.
struct Watching(Arc<Probe>, std::sync::mpsc::Sender<bool>);

impl ClientContext for Watching {}

impl ConsumerContext for Watching {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(_) = rebalance {
            let told = matches!(self.0.events().last(), Some(Event::Revoked { .. }));
            self.1.send(told).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_consumer_with_a_context_of_its_own_works_the_same() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Eager));
    let (told, revokes) = std::sync::mpsc::channel();
    let consumer: StreamConsumer<Watching> = Assignors::new()
        .with(Arc::clone(&probe))
        .create_with_context(&config(&cluster), Watching(Arc::clone(&probe), told))
        .unwrap();
    consumer.subscribe(&["t"]).unwrap();
    let assigned = || {
        probe
            .events()
            .iter()
            .any(|event| matches!(event, Event::Assigned { .. }))
    };
    while !assigned() || consumer.assignment().unwrap().count() < 4 {
        drop(tokio::time::timeout(Duration::from_millis(50), consumer.recv()).await);
    }
    drop(consumer);
    assert!(revokes.try_iter().all(|told| told));
    assert_eq!(probe.events().last(), Some(&Event::Detach));
    assert!(matches!(
        probe.events()[..],
        [.., Event::Revoked { lost: false, .. }, Event::Detach]
    ));
}
