//! Members of a group on the mock cluster: they join, leave, are replaced, and crash.
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::RebalanceProtocol::{self, Cooperative, Eager};
use rdkafka_assignor::assignor::{Group, TopicPartitions};
use rdkafka_assignor::mock::MockCluster;
use support::{Event, Member, Probe, cluster, config, config_for, eventually, partitions};

const SERVERS: &str = "RDKAFKA_ASSIGNOR_TEST_SERVERS";

struct Scene {
    cluster: MockCluster,
    probe: Arc<Probe>,
    assignors: Assignors,
}

impl Scene {
    fn new(protocol: RebalanceProtocol) -> Self {
        let probe = Arc::new(Probe::new("probe", protocol));
        let assignors = Assignors::new().with(Arc::clone(&probe));
        Scene {
            cluster: cluster(),
            probe,
            assignors,
        }
    }

    fn join(&self) -> Member {
        Member::join(&config(&self.cluster), &self.assignors, &["t", "u"])
    }

    /// The group as its leader saw it last.
    fn last_group(&self) -> Group {
        self.probe.groups().pop().unwrap()
    }
}

/// Everything assigned, and evenly.
fn settled(members: &[&Member]) -> bool {
    let mut all = TopicPartitions::new();
    for member in members {
        for (topic, mut partitions) in member.partitions() {
            all.entry(topic).or_default().append(&mut partitions);
        }
    }
    all.values_mut()
        .for_each(|partitions| partitions.sort_unstable());
    all == partitions(&[("t", &[0, 1, 2, 3]), ("u", &[0, 1])])
        && members
            .iter()
            .all(|member| member.load() == 6 / members.len())
}

fn join_leave_and_replace(protocol: RebalanceProtocol) {
    let scene = Scene::new(protocol);
    let first = scene.join();
    eventually("the first member has everything", || settled(&[&first]));

    let second = scene.join();
    eventually("two members share", || settled(&[&first, &second]));
    assert_eq!(scene.last_group().members.len(), 2);

    first.leave();
    eventually("the second member has everything", || settled(&[&second]));

    let third = scene.join();
    eventually("the third member has its share", || {
        settled(&[&second, &third])
    });
    second.leave();
    eventually("the third member has everything", || settled(&[&third]));
    third.leave();
    check_calls(&scene, protocol);
}

/// What every consumer's calls have in common.
fn check_calls(scene: &Scene, protocol: RebalanceProtocol) {
    for client in support::lock(&scene.probe.clients).iter() {
        let events = scene.probe.events_of(client.id());
        assert_eq!(events.first(), Some(&Event::Attach));
        assert_eq!(events.last(), Some(&Event::Detach));
        let mut account = Account::default();
        events
            .into_iter()
            .for_each(|event| account.book(event, protocol));
        assert!(account.owned.is_empty(), "closing revokes everything");
        assert!(client.assignment_lost());
        client.request_rebalance();
    }
}

/// What a consumer owns by its calls.
#[derive(Default)]
struct Account {
    owned: TopicPartitions,
    generation: Option<i32>,
}

impl Account {
    fn book(&mut self, event: Event, protocol: RebalanceProtocol) {
        match event {
            Event::Join {
                owned,
                generation,
                topics,
            } => {
                assert_eq!(topics, ["t", "u"]);
                assert_eq!(generation, self.generation);
                assert_eq!(
                    owned, self.owned,
                    "what was assigned and not revoked is owned"
                );
                assert!(protocol == Cooperative || owned.is_empty());
            }
            Event::Assigned {
                generation,
                partitions,
                user_data,
                ..
            } => {
                assert!(self.generation.is_none_or(|last| last < generation));
                assert_eq!(user_data.len(), 1);
                self.generation = Some(generation);
                self.add(partitions);
            }
            Event::Revoked { partitions, lost } => {
                assert!(!lost);
                self.take(&partitions);
            }
            Event::Attach | Event::Detach | Event::Assign(_) => {}
        }
    }

    fn add(&mut self, partitions: TopicPartitions) {
        for (topic, mut numbers) in partitions {
            let all = self.owned.entry(topic).or_default();
            all.append(&mut numbers);
            all.sort_unstable();
            all.dedup();
        }
    }

    fn take(&mut self, partitions: &TopicPartitions) {
        for (topic, numbers) in partitions {
            self.owned
                .entry(topic.clone())
                .or_default()
                .retain(|number| !numbers.contains(number));
        }
        self.owned.retain(|_, numbers| !numbers.is_empty());
    }
}

#[test]
fn eager_members_join_leave_and_are_replaced() {
    join_leave_and_replace(Eager);
}

#[test]
fn cooperative_members_join_leave_and_are_replaced() {
    join_leave_and_replace(Cooperative);
}

#[test]
fn cooperative_group_never_grants_what_another_member_has_not_revoked() {
    let scene = Scene::new(Cooperative);
    let first = scene.join();
    eventually("the first member has everything", || settled(&[&first]));
    let second = scene.join();
    eventually("two members share", || settled(&[&first, &second]));
    eventually("both have three by what they were told", || {
        let loads = never_granted_twice(&scene.probe);
        loads.len() == 2 && loads.values().all(|load| *load == 3)
    });
}

/// Replays what the consumers were told, in order: nothing is assigned to one while another has it. Their loads.
fn never_granted_twice(probe: &Probe) -> BTreeMap<u64, usize> {
    let mut accounts: BTreeMap<u64, Account> = BTreeMap::new();
    for (client, event) in probe.told() {
        match event {
            Event::Assigned { partitions, .. } => {
                for (other, account) in accounts.iter().filter(|(other, _)| **other != client) {
                    let shared = common(&partitions, &account.owned);
                    assert!(shared.is_empty(), "{client} got {shared:?} of {other}");
                }
                accounts.entry(client).or_default().add(partitions);
            }
            Event::Revoked { partitions, .. } => {
                accounts.entry(client).or_default().take(&partitions);
            }
            _ => {}
        }
    }
    let load = |account: &Account| account.owned.values().map(Vec::len).sum();
    let loads = accounts.iter();
    loads
        .map(|(client, account)| (*client, load(account)))
        .collect()
}

fn common(some: &TopicPartitions, others: &TopicPartitions) -> Vec<(String, i32)> {
    let pairs = |of: &TopicPartitions| -> BTreeSet<(String, i32)> {
        let topics = of.iter();
        topics
            .flat_map(|(topic, numbers)| numbers.iter().map(|number| (topic.clone(), *number)))
            .collect()
    };
    pairs(some).intersection(&pairs(others)).cloned().collect()
}

#[test]
fn racks_are_told_when_some_member_has_one() {
    let scene = Scene::new(Cooperative);
    scene.cluster.set_rack(1, "east");
    let first = scene.join();
    eventually("the first member has everything", || settled(&[&first]));
    assert_eq!(
        scene.last_group().topics["t"].replica_racks,
        Vec::<Vec<String>>::new()
    );
    assert_eq!(scene.last_group().members[0].rack, None);
    let mut config = config(&scene.cluster);
    config
        .set("client.rack", "west")
        .set("group.instance.id", "one");
    let second = Member::join(&config, &scene.assignors, &["t", "u"]);
    eventually("two members share", || settled(&[&first, &second]));
    let group = scene.last_group();
    assert_eq!(
        group.topics["t"].replica_racks,
        vec![vec!["east".to_owned()]; 4]
    );
    let second = group
        .members
        .iter()
        .find(|member| member.rack.is_some())
        .unwrap();
    assert_eq!(
        (second.rack.as_deref(), second.instance.as_deref()),
        (Some("west"), Some("one"))
    );
}

/// Does nothing unless the test below runs it in a process of its own.
#[test]
fn child_that_is_going_to_crash() {
    let Ok(servers) = env::var(SERVERS) else {
        println!("skipped: only of use as a child of crashed_member_is_replaced");
        return;
    };
    let protocol = if env::var("RDKAFKA_ASSIGNOR_TEST_COOPERATIVE").is_ok() {
        Cooperative
    } else {
        Eager
    };
    let assignors = Assignors::new().with(Probe::new("probe", protocol));
    let member = Member::join(&config_for(&servers), &assignors, &["t", "u"]);
    eventually("the child has partitions", || member.load() > 0);
    println!("\nassigned");
    thread::sleep(Duration::from_secs(600));
}

fn child(servers: &str, protocol: RebalanceProtocol) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "child_that_is_going_to_crash", "--nocapture"])
        .env(SERVERS, servers);
    if protocol == Cooperative {
        command.env("RDKAFKA_ASSIGNOR_TEST_COOPERATIVE", "1");
    }
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn crashed_member_is_replaced(protocol: RebalanceProtocol) {
    let scene = Scene::new(protocol);
    let survivor = scene.join();
    eventually("the survivor has everything", || settled(&[&survivor]));
    let mut child = child(&scene.cluster.bootstrap_servers(), protocol);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "assigned"));
    eventually("they share", || survivor.load() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the survivor has everything again", || {
        settled(&[&survivor])
    });
}

#[test]
fn crashed_member_of_an_eager_group_is_replaced() {
    crashed_member_is_replaced(Eager);
}

#[test]
fn crashed_member_of_a_cooperative_group_is_replaced() {
    crashed_member_is_replaced(Cooperative);
}
