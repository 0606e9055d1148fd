//! Members of a group on the mock cluster: they join, leave, are replaced, and crash.
mod support;

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
        let mut owned = TopicPartitions::new();
        let mut last_generation = None;
        for event in events {
            match event {
                Event::Join {
                    owned: said,
                    generation,
                    topics,
                } => {
                    assert_eq!(topics, ["t", "u"]);
                    assert_eq!(generation, last_generation);
                    assert_eq!(said, owned, "what was assigned and not revoked is owned");
                    assert!(protocol == Cooperative || said.is_empty());
                }
                Event::Assigned {
                    generation,
                    partitions,
                    user_data,
                    ..
                } => {
                    assert!(last_generation.is_none_or(|last| last < generation));
                    assert_eq!(user_data.len(), 1);
                    last_generation = Some(generation);
                    for (topic, mut numbers) in partitions {
                        let all = owned.entry(topic).or_default();
                        all.append(&mut numbers);
                        all.sort_unstable();
                        all.dedup();
                    }
                }
                Event::Revoked { partitions, lost } => {
                    assert!(!lost);
                    for (topic, numbers) in partitions {
                        owned
                            .entry(topic)
                            .or_default()
                            .retain(|number| !numbers.contains(number));
                    }
                    owned.retain(|_, numbers| !numbers.is_empty());
                }
                Event::Attach | Event::Detach | Event::Assign(_) => {}
            }
        }
        assert!(owned.is_empty(), "closing revokes everything");
        assert!(client.assignment_lost());
        client.request_rebalance();
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
    let events: Vec<Event> = scene.probe.events();
    let generations: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Assigned {
                generation,
                partitions,
                ..
            } => Some((*generation, partitions.clone())),
            _ => None,
        })
        .collect();
    // Alone; then half withheld from everybody; then handed over.
    let count = |partitions: &TopicPartitions| partitions.values().map(Vec::len).sum::<usize>();
    let mut loads: Vec<(i32, usize)> = generations
        .iter()
        .map(|(generation, p)| (*generation, count(p)))
        .collect();
    loads.sort_unstable();
    let first_generation = loads[0].0;
    loads
        .iter_mut()
        .for_each(|(generation, _)| *generation -= first_generation);
    assert_eq!(loads, [(0, 6), (1, 0), (1, 3), (2, 3), (2, 3)]);
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
