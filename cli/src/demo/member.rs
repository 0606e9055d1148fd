//! A member of the demo's group: one process with one consumer.
//!
//! It joins orders and users until its standard input ends, and then leaves as a member should. Its process can
//! be killed, which is how members of a real group die.
use std::io;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rdkafka::client::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::{Offset, TopicPartitionList};
use rdkafka_assignor::{Assignors, Copartitioned, Handle, PartitionSets, engine};
use tokio::runtime::Builder;

use super::Protocol;
use super::event::{Event, Holding, Led, Move, Partitions};
use super::join::{Join, Side};
use crate::moves;

/// Arguments of a member's process.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// What the demo calls it.
    #[arg(long)]
    pub name: String,
    /// Where the cluster is reached.
    #[arg(long)]
    pub bootstrap: String,
    /// Application id, and group.
    #[arg(long)]
    pub app: String,
    /// Topic of the orders.
    #[arg(long)]
    pub orders: String,
    /// Topic of the users.
    #[arg(long)]
    pub users: String,
    /// Standby copies of the table.
    #[arg(long)]
    pub standbys: u32,
    /// Rebalance protocol.
    #[arg(long)]
    pub protocol: Protocol,
    /// Milliseconds without a heartbeat after which it is dead.
    #[arg(long)]
    pub session_timeout: u64,
}

/// What is told, and committed, so often.
const REPORT: Duration = Duration::from_millis(100);

/// So long giving up may take when the member leaves.
const UNSUBSCRIBE: Duration = Duration::from_secs(5);

/// Joins until standard input ends.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let done = member(arguments);
    if let Err(error) = &done {
        Event::Failed(format!("{error:#}")).tell()?;
    }
    done.map(|()| ExitCode::SUCCESS)
}

fn member(arguments: &Arguments) -> anyhow::Result<()> {
    let assignor = Copartitioned::builder(&arguments.app)
        .standby_replicas(arguments.standbys)
        .table("counts", &arguments.orders)
        .protocol(arguments.protocol.into())
        .build()?;
    let handle = assignor.handle();
    let context = Reader::new(arguments);
    let consumer: BaseConsumer<Reader> = Assignors::new()
        .with(assignor)
        .create_with_context(&config(arguments), context)
        .context("cannot create a consumer")?;
    let topics = handle.subscription([arguments.orders.as_str(), arguments.users.as_str()]);
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics)?;
    tell_what_it_leads(&handle)?;
    join_until(&stopped(), &consumer, &handle)
}

fn config(arguments: &Arguments) -> ClientConfig {
    let session_timeout = arguments.session_timeout;
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", &arguments.bootstrap)
        .set("group.id", &arguments.app)
        .set("client.id", &arguments.name)
        .set("partition.assignment.strategy", "copartitioned")
        .set("session.timeout.ms", session_timeout.to_string())
        .set("heartbeat.interval.ms", (session_timeout / 10).to_string())
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("fetch.wait.max.ms", "50");
    config
}

/// Becomes true when standard input ends, which it also does when the demo dies.
fn stopped() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    thread::spawn(move || {
        // Whatever ends it, this member is not wanted any more.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        stopped.store(true, Ordering::Relaxed);
    });
    stop
}

fn tell_what_it_leads(handle: &Handle) -> anyhow::Result<()> {
    let mut rebalances = handle.watch_led();
    let runtime = Builder::new_current_thread().build()?;
    thread::spawn(move || {
        while runtime.block_on(rebalances.changed()).is_ok() {
            let led = rebalances.borrow_and_update().as_deref().map(led);
            led.map(Event::Led).iter().for_each(tell);
        }
    });
    Ok(())
}

/// A member whose demo is gone has nobody to leave for.
fn tell(event: &Event) {
    if event.tell().is_err() {
        process::exit(1);
    }
}

fn join_until(
    stop: &AtomicBool,
    consumer: &BaseConsumer<Reader>,
    handle: &Handle,
) -> anyhow::Result<()> {
    let mut told = None;
    let mut report = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        match consumer.poll(REPORT) {
            Some(Ok(record)) => consumer.context().take(&record)?,
            Some(Err(error)) => tracing::warn!(%error, "cannot read"),
            None => {}
        }
        if report.elapsed() >= REPORT {
            report = Instant::now();
            consumer.context().settle(consumer, CommitMode::Async);
            let holds = holding(consumer, handle)?;
            if holds.is_some() && holds != told {
                told.clone_from(&holds);
                holds.map(Event::Holds).iter().for_each(tell);
            }
        }
    }
    leave(consumer)
}

/// Gives everything up and leaves the group, so that nothing is left to be done when the consumer is dropped.
///
/// A rebalance event that meets a group which has just ended waits for an answer for ever: rdkafka asks the group for
/// its protocol in the callback. While unsubscribing the group is still there to answer.
fn leave(consumer: &BaseConsumer<Reader>) -> anyhow::Result<()> {
    consumer.context().settle(consumer, CommitMode::Sync);
    consumer.context().closing.store(true, Ordering::Relaxed);
    consumer.unsubscribe();
    let deadline = Instant::now() + UNSUBSCRIBE;
    while Instant::now() < deadline && consumer.assignment()?.count() > 0 {
        let _ = consumer.poll(REPORT);
    }
    // What else is queued by now.
    while consumer.poll(REPORT).is_some() {}
    Ok(())
}

/// What it holds, once the consumer has taken up what the handle tells.
fn holding(consumer: &BaseConsumer<Reader>, handle: &Handle) -> anyhow::Result<Option<Holding>> {
    let held = handle.current();
    let active = consumers_own(&consumer.assignment()?)?;
    if numbers(&held.active) != active {
        return Ok(None);
    }
    let (Some(generation), Some(id)) = (held.generation, held.member.clone()) else {
        return Ok(None);
    };
    let standby = numbers(&held.standby);
    let leader = handle
        .leader_topic()
        .is_some_and(|topic| active.contains_key(topic));
    Ok(Some(Holding {
        id,
        generation,
        active,
        standby,
        leader,
    }))
}

fn consumers_own(assignment: &TopicPartitionList) -> anyhow::Result<Partitions> {
    let mut partitions = Partitions::new();
    for element in assignment.elements() {
        let numbers = partitions.entry(element.topic().to_owned()).or_default();
        numbers.push(u32::try_from(element.partition())?);
    }
    partitions
        .values_mut()
        .for_each(|numbers| numbers.sort_unstable());
    Ok(partitions)
}

/// What is read and joined; it sees revocations before the consumer lets go.
struct Reader {
    topics: [String; 2],
    reading: Mutex<Reading>,
    /// Commits are over: one that meets a closing group is answered by an assertion of librdkafka, or not at all.
    closing: AtomicBool,
}

#[derive(Default)]
struct Reading {
    join: Join,
    joined: Vec<u64>,
}

impl Reader {
    fn new(arguments: &Arguments) -> Self {
        Reader {
            topics: [arguments.orders.clone(), arguments.users.clone()],
            reading: Mutex::default(),
            closing: AtomicBool::new(false),
        }
    }

    fn take(&self, record: &BorrowedMessage<'_>) -> anyhow::Result<()> {
        let Some(side) = self.side(record.topic()) else {
            return Ok(());
        };
        let payload = record
            .payload_view::<str>()
            .context("a record without a value")??;
        let pair = payload
            .parse()
            .context("a record whose value is no number")?;
        let mut reading = self.reading();
        if reading
            .join
            .take((side, record.partition()), record.offset(), pair)
        {
            reading.joined.push(pair);
        }
        Ok(())
    }

    /// Tells what has been joined, and only then commits what need not be read again.
    fn settle(&self, consumer: &BaseConsumer<Self>, mode: CommitMode) {
        let mut reading = self.reading();
        if !reading.joined.is_empty() {
            tell(&Event::Joined(std::mem::take(&mut reading.joined)));
        }
        let offsets = self.committable(&reading.join);
        drop(reading);
        if offsets.count() == 0 || consumer.assignment_lost() {
            return;
        }
        // Not fatal: whoever owns the partitions next reads them from the last commit.
        if let Err(error) = consumer.commit(&offsets, mode) {
            tracing::info!(%error, "cannot commit");
        }
    }

    fn committable(&self, join: &Join) -> TopicPartitionList {
        let mut offsets = TopicPartitionList::new();
        for ((side, partition), offset) in join.committable() {
            let added =
                offsets.add_partition_offset(self.topic(side), partition, Offset::Offset(offset));
            if let Err(error) = added {
                tracing::warn!(%error, "cannot commit this offset");
            }
        }
        offsets
    }

    fn forget(&self, revoked: &TopicPartitionList) {
        let mut reading = self.reading();
        for element in revoked.elements() {
            if let Some(side) = self.side(element.topic()) {
                reading.join.forget((side, element.partition()));
            }
        }
    }

    fn side(&self, topic: &str) -> Option<Side> {
        let [orders, users] = &self.topics;
        match topic {
            topic if topic == orders => Some(Side::Orders),
            topic if topic == users => Some(Side::Users),
            _ => None,
        }
    }

    fn topic(&self, side: Side) -> &str {
        let [orders, users] = &self.topics;
        match side {
            Side::Orders => orders,
            Side::Users => users,
        }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientContext for Reader {}

impl ConsumerContext for Reader {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(revoked) = rebalance {
            if !self.closing.load(Ordering::Relaxed) {
                self.settle(consumer, CommitMode::Sync);
            }
            self.forget(revoked);
        }
    }
}

fn led(led: &rdkafka_assignor::Led) -> Led {
    let told = |one: &engine::Move| Move {
        subject: moves::subject(one),
        to: one.to.clone(),
        promotes: one.kind == engine::MoveKind::Promoted,
        why: moves::why(one),
    };
    Led {
        generation: led.generation,
        members: led
            .members
            .iter()
            .map(|(id, share)| (id.clone(), numbers(&share.active)))
            .collect(),
        withholds: led.members.values().any(|share| !share.withheld.is_empty()),
        moves: led.report.moves.iter().map(told).collect(),
    }
}

fn numbers(sets: &PartitionSets) -> Partitions {
    sets.iter()
        .map(|(name, set)| (name.clone(), set.iter().collect()))
        .collect()
}
