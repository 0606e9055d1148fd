//! The demo's group: its processes, what is seen of them, and the verdict on it.
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use super::event::{Event, Holding, Led};
use super::process::{Process, Told};
use super::show::{self, say};
use super::verdict::Verdict;
use super::view::View;

/// What the members have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Arguments of every member's process but its name.
    pub arguments: Vec<String>,
    /// Orders and users.
    pub topics: [String; 2],
    /// Partitions of either.
    pub partitions: u32,
}

/// A group of member processes.
pub struct Group {
    settings: Settings,
    processes: BTreeMap<String, Process>,
    leaving: Vec<(String, Process)>,
    started: usize,
    ended: usize,
    events: Receiver<Told>,
    listener: Sender<Told>,
    /// What is seen of the members.
    pub view: View,
    /// What is to be said in the end.
    pub verdict: Verdict,
}

/// A member that was told to leave does so within this time, or is killed.
const GOODBYE: Duration = Duration::from_secs(10);

impl Group {
    /// A group without members.
    pub fn new(settings: Settings) -> Self {
        let (listener, events) = mpsc::channel();
        Group {
            settings,
            processes: BTreeMap::new(),
            leaving: Vec::new(),
            started: 0,
            ended: 0,
            events,
            listener,
            view: View::default(),
            verdict: Verdict::default(),
        }
    }

    /// Starts a member and tells its name.
    ///
    /// # Errors
    /// Its process does not start.
    pub fn join(&mut self) -> anyhow::Result<String> {
        self.started += 1;
        let name = format!("m{}", self.started);
        let process = Process::start(&name, &self.settings.arguments, self.listener.clone())?;
        self.processes.insert(name.clone(), process);
        self.view.join(&name);
        Ok(name)
    }

    /// Lets a member close its consumer and go.
    pub fn leave(&mut self, name: &str) {
        self.view.part(name);
        if let Some(mut process) = self.processes.remove(name) {
            process.leave();
            self.leaving.push((name.to_owned(), process));
        }
    }

    /// Kills a member: the group learns of it when its session times out.
    ///
    /// # Errors
    /// It cannot be killed.
    pub fn kill(&mut self, name: &str) -> anyhow::Result<()> {
        self.view.part(name);
        self.processes.remove(name).map_or(Ok(()), Process::kill)
    }

    /// All members leave, and are waited for; what they tell last counts.
    pub fn close(&mut self) {
        let names: Vec<String> = self.processes.keys().cloned().collect();
        for name in &names {
            self.leave(name);
        }
        self.listen(GOODBYE, |group| group.ended == group.started);
        for (name, process) in self.leaving.drain(..) {
            if let Err(error) = process.gone() {
                self.verdict
                    .fault(format!("{name} did not leave well: {error}"));
            }
        }
    }

    /// Whether a member has orders to work on.
    pub fn has_tasks(&self, holding: &Holding) -> bool {
        let [orders, _] = &self.settings.topics;
        holding
            .active
            .get(orders)
            .is_some_and(|numbers| !numbers.is_empty())
    }

    /// Waits until the group is settled, and shows every rebalance on the way; a group that does not settle is a fault.
    pub fn settle(&mut self, within: Duration) -> bool {
        let settled = self.listen(within, |group| group.view.is_settled());
        match settled {
            true => self.check_complete(),
            false => self.verdict.fault(format!(
                "the group did not settle within {} s",
                within.as_secs()
            )),
        }
        settled
    }

    /// Listens for so long, or until `done`, and tells whether that came.
    pub fn listen(&mut self, duration: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + duration;
        while !done(self) {
            let rest = deadline.saturating_duration_since(Instant::now());
            // The group has a sender of its own: an error is the end of the time.
            let Ok((name, event)) = self.events.recv_timeout(rest) else {
                return done(self);
            };
            self.hear(&name, &event);
        }
        true
    }

    fn hear(&mut self, name: &str, event: &Event) {
        self.view.hear(name, event);
        match event {
            Event::Holds(holding) => self.verdict.holds(name, holding, &self.settings.topics),
            Event::Joined(pairs) => self.verdict.joined(pairs),
            Event::Failed(error) => self.verdict.fault(format!("{name} failed: {error}")),
            Event::Ended => self.ended(name),
            Event::Led(_) => {}
        }
        if let Some(generation) = self.view.overtaken() {
            say(show::overtaken(generation));
        }
        if let Some(led) = self.view.completed() {
            self.check_alone(&led);
            say(show::rebalance(&self.view, &led));
        }
    }

    fn ended(&mut self, name: &str) {
        self.ended += 1;
        if self.processes.contains_key(name) {
            self.verdict.fault(format!("{name} ended unasked"));
        }
    }

    /// Nobody shares a partition with another member of the generation.
    fn check_alone(&mut self, led: &Led) {
        for topic in &self.settings.topics {
            for (partition, owners) in self.view.owners(topic, led.generation) {
                if owners.len() > 1 {
                    self.verdict.fault(format!(
                        "{topic} {partition} was held by {owners:?} at once"
                    ));
                }
            }
        }
    }

    /// A settled group holds every partition.
    fn check_complete(&mut self) {
        let generations: Vec<i32> = self
            .view
            .holdings()
            .map(|(_, held)| held.generation)
            .collect();
        let Some(generation) = generations.first() else {
            return;
        };
        for topic in &self.settings.topics {
            let owners = self.view.owners(topic, *generation);
            if !(0..self.settings.partitions).all(|partition| owners.contains_key(&partition)) {
                self.verdict.fault(format!(
                    "{topic} was not held whole in generation {generation}"
                ));
            }
        }
    }
}
