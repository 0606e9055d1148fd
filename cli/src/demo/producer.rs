//! Produces join pairs until it is stopped: for each an order and a user, of one key.
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, anyhow};
use rdkafka::client::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};

/// Pairs between two pauses, and the pause: 500 pairs a second.
const BURST: u64 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Keys that the pairs are spread over.
const KEYS: u64 = 997;

/// How long outstanding records may take in the end.
const FLUSH: Duration = Duration::from_secs(15);

/// A producer at work.
pub struct Producer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<BTreeSet<u64>>>,
}

impl Producer {
    /// Starts producing to both topics.
    ///
    /// # Errors
    /// The producer cannot be created.
    pub fn start(bootstrap: &str, topics: [String; 2]) -> anyhow::Result<Self> {
        let producer: ThreadedProducer<Deliveries> = ClientConfig::new()
            .set("bootstrap.servers", bootstrap)
            // Java's default: the one that others who write to the same topics use.
            .set("partitioner", "murmur2_random")
            .set("enable.idempotence", "true")
            .set("linger.ms", "5")
            .create_with_context(Deliveries::default())
            .context("cannot create a producer")?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || produce(&producer, &topics, &stopped));
        Ok(Producer { stop, thread })
    }

    /// Stops, and tells the pairs of which both records are acknowledged.
    ///
    /// # Errors
    /// A record could not be produced.
    pub fn stop(self) -> anyhow::Result<BTreeSet<u64>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow!("the producer panicked"))?
    }
}

fn produce(
    producer: &ThreadedProducer<Deliveries>,
    topics: &[String; 2],
    stop: &AtomicBool,
) -> anyhow::Result<BTreeSet<u64>> {
    let mut pairs = 0..;
    while !stop.load(Ordering::Relaxed) {
        for pair in pairs.by_ref().take(usize::try_from(BURST)?) {
            for (side, topic) in (0..).zip(topics) {
                send(producer, topic, side, pair)?;
            }
        }
        thread::sleep(PAUSE);
    }
    producer
        .flush(FLUSH)
        .context("records are not acknowledged")?;
    producer.context().acknowledged()
}

fn send(
    producer: &ThreadedProducer<Deliveries>,
    topic: &str,
    side: usize,
    pair: u64,
) -> anyhow::Result<()> {
    let (key, value) = (format!("user-{}", pair % KEYS), pair.to_string());
    let record = BaseRecord::with_opaque_to(topic, Box::new((side, pair)))
        .key(&key)
        .payload(&value);
    producer
        .send(record)
        .map_err(|(error, _)| error)
        .context("cannot produce")
}

/// What became of the records.
#[derive(Default)]
struct Deliveries {
    acknowledged: Mutex<[BTreeSet<u64>; 2]>,
    failed: Mutex<Option<String>>,
}

impl Deliveries {
    /// The pairs of which both records are acknowledged.
    fn acknowledged(&self) -> anyhow::Result<BTreeSet<u64>> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = failed.as_ref() {
            return Err(anyhow!("a record was not produced: {failed}"));
        }
        let [orders, users] = &*self
            .acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(orders & users)
    }
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<(usize, u64)>;

    fn delivery(&self, result: &DeliveryResult<'_>, record: Self::DeliveryOpaque) {
        let (side, pair) = *record;
        match result {
            Ok(_) => {
                let mut sides = self
                    .acknowledged
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                sides[side].insert(pair);
            }
            Err((error, _)) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                *failed = Some(error.to_string());
            }
        }
    }
}
