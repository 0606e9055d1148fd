//! The way into librdkafka: the only unsafe code.

/// One consumer, as its assignors see it; outlives it safely.
#[derive(Debug)]
pub struct Client {
    id: u64,
}

impl Client {
    /// Unique in this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// `group.id`.
    pub fn group_id(&self) -> &str {
        ""
    }

    /// Whether librdkafka considers the current assignment lost, asked live; `true` once the consumer is gone.
    pub fn assignment_lost(&self) -> bool {
        true
    }

    /// Ask for a rebalance; partitions stay as they are until it is done. Does nothing once the consumer is gone.
    pub fn request_rebalance(&self) {}
}
