//! librdkafka's mock cluster, for tests and demonstrations without a broker.
use std::ffi::{CStr, CString};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, Producer};
use rdkafka_sys::{rd_kafka_mock_cluster_t, rd_kafka_resp_err_t};

/// A cluster inside this process; gone with the value.
///
/// It votes for the first strategy of the leader and aborts the process if members do not all name that one first.
/// A group forms after the initial rebalance delay (3 s unless set), later rebalances take the session timeout
/// less a second.
pub struct MockCluster {
    /// Owns the cluster.
    client: BaseProducer,
}

impl MockCluster {
    /// Starts a cluster.
    ///
    /// # Errors
    /// librdkafka's, if it cannot listen.
    pub fn new(brokers: u16) -> Result<Self, KafkaError> {
        let client = ClientConfig::new()
            .set("test.mock.num.brokers", brokers.to_string())
            .create()?;
        Ok(MockCluster { client })
    }

    /// `bootstrap.servers` for clients.
    pub fn bootstrap_servers(&self) -> String {
        // SAFETY: a live cluster; the string lives as long.
        let servers = unsafe {
            CStr::from_ptr(rdkafka_sys::rd_kafka_mock_cluster_bootstraps(
                self.cluster(),
            ))
        };
        servers.to_string_lossy().into_owned()
    }

    /// Creates a topic.
    ///
    /// # Errors
    /// librdkafka's, if there is one of that name or the name contains a NUL.
    pub fn create_topic(&self, name: &str, partitions: u16) -> Result<(), KafkaError> {
        let name = CString::new(name)
            .map_err(|_| KafkaError::MockCluster(RDKafkaErrorCode::InvalidTopic))?;
        // SAFETY: a live cluster; the name is borrowed for the call.
        let code = unsafe {
            rdkafka_sys::rd_kafka_mock_topic_create(
                self.cluster(),
                name.as_ptr(),
                i32::from(partitions),
                1,
            )
        };
        match code {
            rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR => Ok(()),
            code => Err(KafkaError::MockCluster(code.into())),
        }
    }

    /// How long a new group waits for members; above the session timeout it never forms.
    pub fn set_initial_rebalance_delay(&self, delay: Duration) {
        let delay = i32::try_from(delay.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: a live cluster.
        unsafe {
            rdkafka_sys::rd_kafka_mock_group_initial_rebalance_delay_ms(self.cluster(), delay)
        }
    }

    /// Puts a broker (numbered from 1) into a rack.
    pub fn set_rack(&self, broker: u16, rack: &str) {
        let Ok(rack) = CString::new(rack) else { return };
        // SAFETY: a live cluster; the rack is copied.
        unsafe {
            rdkafka_sys::rd_kafka_mock_broker_set_rack(
                self.cluster(),
                i32::from(broker),
                rack.as_ptr(),
            )
        };
    }

    fn cluster(&self) -> *mut rd_kafka_mock_cluster_t {
        // SAFETY: a live client, which owns the cluster.
        unsafe { rdkafka_sys::rd_kafka_handle_mock_cluster(self.client.client().native_ptr()) }
    }
}
