//! What the demo knows of the group, from what its members tell.
use std::collections::{BTreeMap, BTreeSet};

use super::event::{Event, Holding, Led, Move};

/// Members by name, and the rebalances they went through.
#[derive(Debug, Default)]
pub struct View {
    /// Members that run, with what they hold.
    members: BTreeMap<String, Option<Holding>>,
    /// Every member's name by its id in the group, also of those that are gone.
    names: BTreeMap<String, String>,
    last: Option<Led>,
    shown: Option<i32>,
    overtaken: Option<i32>,
    /// Moves of the last round, if it withheld something: the next round completes them.
    announced: Vec<Move>,
    promoted: usize,
}

impl View {
    /// A member has been started.
    pub fn join(&mut self, name: &str) {
        self.members.insert(name.to_owned(), None);
    }

    /// A member leaves or is dead.
    pub fn part(&mut self, name: &str) {
        self.members.remove(name);
    }

    /// Names of the members that run.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// What the members that run hold.
    pub fn holdings(&self) -> impl Iterator<Item = (&str, &Holding)> {
        let holdings = self.members.iter();
        holdings.filter_map(|(name, holding)| Some((name.as_str(), holding.as_ref()?)))
    }

    /// The member that leads the application.
    pub fn leader(&self) -> Option<&str> {
        self.holdings()
            .find(|(_, holding)| holding.leader)
            .map(|(name, _)| name)
    }

    /// Moves so far that made an active of a standby.
    pub fn promoted(&self) -> usize {
        self.promoted
    }

    /// A member has told something.
    pub fn hear(&mut self, name: &str, event: &Event) {
        match event {
            Event::Holds(holding) => self.holds(name, holding),
            Event::Led(led) => self.led(led),
            Event::Joined(_) | Event::Failed(_) | Event::Ended => {}
        }
    }

    fn holds(&mut self, name: &str, holding: &Holding) {
        self.names.insert(holding.id.clone(), name.to_owned());
        if let Some(member) = self.members.get_mut(name) {
            *member = Some(holding.clone());
        }
    }

    /// A leader that was overtaken may tell late.
    fn led(&mut self, led: &Led) {
        if self
            .last
            .as_ref()
            .is_some_and(|last| last.generation >= led.generation)
        {
            return;
        }
        let before = self.last.replace(led.clone());
        let generation = before.as_ref().map(|last| last.generation);
        self.overtaken = generation.filter(|_| generation != self.shown);
        let before = before.filter(|last| last.withholds);
        self.announced = before.map_or(Vec::new(), |last| last.moves);
        let promotes = |one: &&Move| one.promotes && !self.was_announced(one);
        self.promoted += led.moves.iter().filter(promotes).count();
    }

    /// Whether the last round, which withheld it, has told this move already.
    pub fn was_announced(&self, one: &Move) -> bool {
        let same = |announced: &Move| announced.subject == one.subject && announced.to == one.to;
        self.announced.iter().any(same)
    }

    /// The last rebalance, once, as soon as all its members that still run have taken it up.
    pub fn completed(&mut self) -> Option<Led> {
        let led = self.last.as_ref()?;
        let taken_up = |id: &String| {
            let name = self.names.get(id)?;
            let Some(member) = self.members.get(name) else {
                return Some(true);
            };
            Some(member.as_ref()?.generation == led.generation)
        };
        let complete = led.members.keys().all(|id| taken_up(id) == Some(true));
        if !complete || self.shown == Some(led.generation) {
            return None;
        }
        self.shown = Some(led.generation);
        self.last.clone()
    }

    /// The rebalance, once, that another one followed before all its members had taken it up.
    pub fn overtaken(&mut self) -> Option<i32> {
        self.overtaken.take()
    }

    /// Whether the members that run are those of the last rebalance, hold what it gave them, and no other round follows.
    pub fn is_settled(&self) -> bool {
        let Some(led) = &self.last else {
            return self.members.is_empty();
        };
        let settled = |holding: &Holding| {
            holding.generation == led.generation
                && led.members.get(&holding.id) == Some(&holding.active)
        };
        self.members.is_empty()
            || (!led.withholds
                && led.members.len() == self.members.len()
                && self
                    .members
                    .values()
                    .all(|holding| holding.as_ref().is_some_and(settled)))
    }

    /// The text with member names in the place of member ids.
    pub fn named(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }

    /// How often each partition of a topic is held in the generation that most members are in.
    pub fn owners(&self, topic: &str, generation: i32) -> BTreeMap<u32, BTreeSet<&str>> {
        let mut owners: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for (name, holding) in self
            .holdings()
            .filter(|(_, held)| held.generation == generation)
        {
            for partition in holding.active.get(topic).into_iter().flatten() {
                owners.entry(*partition).or_default().insert(name);
            }
        }
        owners
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Partitions;
    use super::*;

    fn orders(numbers: &[u32]) -> Partitions {
        Partitions::from([("orders".to_owned(), numbers.to_vec())])
    }

    fn holds(id: &str, generation: i32, numbers: &[u32]) -> Event {
        Event::Holds(Holding {
            id: id.to_owned(),
            generation,
            active: orders(numbers),
            standby: Partitions::new(),
            leader: false,
        })
    }

    fn led(generation: i32, members: &[(&str, &[u32])], withholds: bool) -> Event {
        let members = members
            .iter()
            .map(|(id, numbers)| ((*id).to_owned(), orders(numbers)));
        Event::Led(Led {
            generation,
            members: members.collect(),
            withholds,
            moves: vec![Move {
                subject: "active orders 0".to_owned(),
                to: Some("a".to_owned()),
                promotes: true,
                why: "b -> a, promoted: a had a copy".to_owned(),
            }],
        })
    }

    fn two_members() -> View {
        let mut view = View::default();
        view.join("m1");
        view.join("m2");
        view.hear("m1", &led(1, &[("a", &[0]), ("b", &[1])], false));
        view.hear("m1", &holds("a", 1, &[0]));
        view
    }

    #[test]
    fn a_rebalance_is_complete_when_all_have_taken_it_up_and_is_told_once() {
        let mut view = two_members();
        assert_eq!(view.completed(), None);
        assert!(!view.is_settled());
        view.hear("m2", &holds("b", 1, &[1]));
        assert_eq!(view.completed().map(|led| led.generation), Some(1));
        assert_eq!(view.completed(), None);
        assert!(view.is_settled());
    }

    #[test]
    fn a_rebalance_that_another_one_overtakes_is_told_as_such_once() {
        let mut view = two_members();
        assert_eq!(view.overtaken(), None);
        view.hear("m1", &led(2, &[("a", &[0]), ("b", &[1])], false));
        assert_eq!(view.overtaken(), Some(1));
        assert_eq!(view.overtaken(), None);
        view.hear("m1", &holds("a", 2, &[0]));
        view.hear("m2", &holds("b", 2, &[1]));
        assert!(view.completed().is_some());
        view.hear("m1", &led(3, &[("a", &[0]), ("b", &[1])], false));
        assert_eq!(view.overtaken(), None);
    }

    #[test]
    fn the_dead_are_not_waited_for_but_the_group_is_settled_only_without_them() {
        let mut view = two_members();
        view.hear("m2", &holds("b", 1, &[1]));
        view.part("m2");
        assert!(view.completed().is_some());
        assert!(!view.is_settled());
        view.hear("m1", &led(2, &[("a", &[0, 1])], false));
        view.hear("m1", &holds("a", 2, &[0, 1]));
        assert!(view.is_settled());
    }

    #[test]
    fn a_round_that_withholds_is_complete_but_not_the_end() {
        let mut view = View::default();
        view.join("m1");
        view.hear("m1", &led(1, &[("a", &[0])], true));
        view.hear("m1", &holds("a", 1, &[0]));
        assert!(view.completed().is_some());
        assert!(!view.is_settled());
    }

    #[test]
    fn a_promotion_that_takes_two_rounds_is_one() {
        let mut view = View::default();
        view.hear("m1", &led(1, &[("a", &[0])], true));
        view.hear("m1", &led(2, &[("a", &[0])], false));
        assert_eq!(view.promoted(), 1);
        view.hear("m1", &led(3, &[("a", &[0])], false));
        assert_eq!(view.promoted(), 2);
    }

    #[test]
    fn a_newcomer_unsettles_the_group() {
        let mut view = two_members();
        view.hear("m2", &holds("b", 1, &[1]));
        view.join("m3");
        assert!(!view.is_settled());
    }

    #[test]
    fn an_overtaken_leader_does_not_count() {
        let mut view = two_members();
        view.hear("m2", &led(0, &[("b", &[0, 1])], false));
        view.hear("m2", &holds("b", 1, &[1]));
        assert!(view.is_settled());
        assert_eq!(view.named("a -> b"), "m1 -> m2");
    }
}
