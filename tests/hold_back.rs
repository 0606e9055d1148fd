//! Properties of the hold-back over random groups and targets.
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rdkafka_assignor::assignor::{Group, Member, TopicPartitions};
use rdkafka_assignor::cooperative::hold_back;

const GENERATION: i32 = 5;

type Target = BTreeMap<String, TopicPartitions>;

fn topic_partitions() -> impl Strategy<Value = TopicPartitions> {
    let numbers = prop::collection::btree_set(0..6_i32, 0..6);
    prop::collection::btree_map(
        "[tu]",
        numbers.prop_map(|numbers| numbers.into_iter().collect()),
        0..3,
    )
}

fn member(index: usize) -> impl Strategy<Value = Member> {
    let generation = prop::option::of(-1..=GENERATION + 1);
    (
        prop::option::of(topic_partitions()),
        generation,
        prop::collection::btree_set("[tu]", 0..3),
    )
        .prop_map(move |(owned, generation, topics)| Member {
            id: format!("m{index}"),
            topics: topics.into_iter().collect(),
            owned,
            generation,
            ..Member::default()
        })
}

fn group() -> impl Strategy<Value = Group> {
    (1..5_usize).prop_flat_map(|members| {
        let members: Vec<_> = (0..members).map(member).collect();
        members.prop_map(|members| Group {
            generation: GENERATION,
            members,
            ..Group::default()
        })
    })
}

/// Every partition to one member at most.
fn target() -> impl Strategy<Value = Target> {
    prop::collection::btree_map(("[tu]", 0..6_i32), 0..4_usize, 0..12).prop_map(|owners| {
        let mut target = Target::new();
        for ((topic, partition), member) in owners {
            target
                .entry(format!("m{member}"))
                .or_default()
                .entry(topic)
                .or_default()
                .push(partition);
        }
        target
    })
}

fn pieces(target: &Target) -> BTreeSet<(String, String, i32)> {
    let topics = target
        .iter()
        .flat_map(|(member, topics)| topics.iter().map(move |entry| (member, entry)));
    topics
        .flat_map(|(member, (topic, numbers))| {
            numbers.iter().map(|n| (member.clone(), topic.clone(), *n))
        })
        .collect()
}

/// Who has to give the partition up, straight from the rule.
fn valid_owners(group: &Group, topic: &str, partition: i32) -> BTreeSet<String> {
    let claims = |member: &&Member| {
        member
            .owned
            .as_ref()
            .and_then(|owned| owned.get(topic))
            .is_some_and(|numbers| numbers.contains(&partition))
    };
    let rank = |member: &Member| match member.generation {
        Some(generation) if (0..group.generation).contains(&generation) => generation,
        _ => -1,
    };
    let newest = group.members.iter().filter(claims).map(rank).max();
    let newest = group
        .members
        .iter()
        .filter(claims)
        .filter(|member| Some(rank(member)) == newest);
    newest.map(|member| member.id.clone()).collect()
}

/// All members do as they are told: they keep what they own and are given, and take what is new to them.
fn obey(group: &Group, round: &Target) -> Group {
    let mut next = group.clone();
    next.generation += 1;
    for member in &mut next.members {
        member.owned = Some(round.get(&member.id).cloned().unwrap_or_default());
        member.generation = Some(group.generation);
    }
    next
}

proptest! {
    /// I7.
    #[test]
    fn nothing_is_granted_while_another_valid_owner_has_it(group in group(), target in target()) {
        for (member, topic, partition) in pieces(&hold_back(target, &group)) {
            let owners = valid_owners(&group, &topic, partition);
            prop_assert!(owners.iter().all(|owner| *owner == member), "{topic} {partition} of {owners:?} to {member}");
        }
    }

    #[test]
    fn nothing_is_withheld_without_need_and_nothing_is_invented(group in group(), target in target()) {
        let granted = pieces(&hold_back(target.clone(), &group));
        for piece in pieces(&target) {
            let (member, topic, partition) = &piece;
            let owners = valid_owners(&group, topic, *partition);
            prop_assert_eq!(granted.contains(&piece), owners.iter().all(|owner| owner == member));
        }
        prop_assert!(granted.is_subset(&pieces(&target)));
    }

    #[test]
    fn holding_back_twice_changes_nothing(group in group(), target in target()) {
        let once = hold_back(target, &group);
        prop_assert_eq!(hold_back(once.clone(), &group), once);
    }

    #[test]
    fn order_of_the_members_does_not_matter(group in group(), target in target()) {
        let mut reversed = group.clone();
        reversed.members.reverse();
        prop_assert_eq!(hold_back(target.clone(), &reversed), hold_back(target, &group));
    }

    #[test]
    fn target_is_reached_in_the_second_round(group in group(), target in target()) {
        let next = obey(&group, &hold_back(target.clone(), &group));
        let reached: Target = hold_back(target.clone(), &next);
        prop_assert_eq!(pieces(&reached), pieces(&target));
    }
}
