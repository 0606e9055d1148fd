//! An assignor of one's own in forty lines: members say how strong they are, and get partitions accordingly.
//!
//! `cargo run --example custom` runs on a cluster inside the process; give `host:port` of another one that has a
//! topic `orders`.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaResult;
use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::{Assignment, Assignor, AssignorError, Group, Join, Member};
use rdkafka_assignor::mock::MockCluster;

/// Deals partitions out in proportion to the members' strengths.
struct ByStrength(u8);

impl Assignor for ByStrength {
    fn name(&self) -> &str {
        "by-strength"
    }

    fn subscription_user_data(&self, _: &Join<'_>) -> Vec<u8> {
        vec![self.0]
    }

    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        let mut assignments = BTreeMap::<String, Assignment>::new();
        for (name, topic) in &group.topics {
            let subscribers = group.members.iter().filter(|m| m.topics.contains(name));
            // A member of strength three stands in the circle three times.
            let circle: Vec<&Member> = subscribers
                .flat_map(|member| std::iter::repeat_n(member, strength(member)))
                .collect();
            for (partition, member) in (0..topic.partitions).zip(circle.iter().cycle()) {
                let assignment = assignments.entry(member.id.clone()).or_default();
                let partitions = assignment.partitions.entry(name.clone());
                partitions.or_default().push(partition);
            }
        }
        Ok(assignments)
    }
}

/// User data is another member's word: anything may be missing.
fn strength(member: &Member) -> usize {
    let said = member.user_data.as_deref().and_then(<[u8]>::first);
    said.map_or(1, |strength| usize::from(*strength).max(1))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mock = MockCluster::new(1)?;
    mock.create_topic("orders", 8)?;
    let servers = std::env::args().nth(1).unwrap_or(mock.bootstrap_servers());

    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", servers)
        .set("group.id", "custom");
    let weak: BaseConsumer = Assignors::new().with(ByStrength(1)).create(&config)?;
    let strong: BaseConsumer = Assignors::new().with(ByStrength(3)).create(&config)?;
    for consumer in [&weak, &strong] {
        consumer.subscribe(&["orders"])?;
    }
    let count = |consumer: &BaseConsumer| consumer.assignment().map(|list| list.count());
    let metadata = weak.fetch_metadata(Some("orders"), Duration::from_secs(10))?;
    let partitions: usize = metadata.topics().iter().map(|t| t.partitions().len()).sum();
    // The first to come may have everything for a moment: until both are in.
    let deadline = Instant::now() + Duration::from_secs(60);
    let shares = || -> KafkaResult<_> { Ok([count(&weak)?, count(&strong)?]) };
    while shares()?.contains(&0) || shares()?.iter().sum::<usize>() != partitions {
        if Instant::now() > deadline {
            return Err(
                "the group did not come together: has `orders` four partitions or more?".into(),
            );
        }
        for consumer in [&weak, &strong] {
            if let Some(Err(error)) = consumer.poll(Duration::from_millis(100)) {
                eprintln!("{error}");
            }
        }
    }
    let [weak, strong] = shares()?;
    println!("weak: {weak} partitions, strong: {strong}");
    Ok(())
}
