//! Placement bugs of the field, by the thread that told of them: what went wrong there is named, what must happen here is
//! asserted. The checker runs on every plan, so that each test only adds what is particular to it.

mod claims;
mod state;

use rdkafka_assignor_engine::{Member, Topic};

use crate::common::cluster::{
    active, adopt, claims as claimed, declared, problem, ranges, settled, shares,
};
use crate::common::invariants::{plan_checked, spread};

pub fn member_with(id: &str, topics: &[&str], generation: i32, had: &[(&str, &[i64])]) -> Member {
    Member {
        active: claimed(generation, had),
        ..Member::new(id, topics.iter().copied())
    }
}

/// KAFKA-15106, an endless loop at 100 topics x 200 partitions and 500 members split 1:3 (here a fifth of the topics, a tenth
/// of the partitions and of the members, every topic on its own, so that a debug build takes a moment).
#[test]
fn disjoint_subscriptions_of_unequal_crowds_end_even_within_each_crowd() {
    let name = |n: u32| format!("topic-{n:03}");
    let names: Vec<String> = (0..20).map(name).collect();
    let counts: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 20)).collect();
    let member = |n: usize| {
        let own = if n.is_multiple_of(4) {
            &names[..10]
        } else {
            &names[10..]
        };
        Member {
            copartition: declared(&[]),
            ..Member::new(format!("m{n:03}"), own)
        }
    };
    let mut group = problem(&counts, (0..50).map(member).collect());
    for generation in 1..3 {
        let (plan, numbers) = plan_checked(&group);
        let crowd = |quarter: bool| {
            let of = (0..50)
                .filter(|n: &usize| n.is_multiple_of(4) == quarter)
                .map(|n| numbers.active[&format!("m{n:03}")]);
            spread(&of.collect::<Vec<_>>())
        };
        assert!(crowd(true) <= 1 && crowd(false) <= 1);
        assert_eq!(numbers.moved, 0);
        adopt(&mut group, &plan, generation);
    }
}

/// librdkafka #4783: endless loop.
#[test]
fn five_members_over_two_topics_end_and_keep_what_they_own() {
    let members = vec![
        member_with("A", &["T1"], 1, &[("T1", &[1])]),
        Member::new("B", ["T2"]),
        member_with("C", &["T2"], 1, &[("T2", &[2])]),
        Member::new("D", ["T1"]),
        Member::new("E", ["T2"]),
    ];
    let (plan, numbers) = plan_checked(&problem(&[("T1", 2), ("T2", 4)], members));
    assert_eq!(active(&plan, "A", "T1"), [1]);
    assert_eq!(active(&plan, "D", "T1"), [0]);
    assert!(active(&plan, "C", "T2").contains(&2));
    assert_eq!(numbers.moved, 0);
}

/// KAFKA-16277: even in total, but all of one topic on one member.
#[test]
fn every_topic_spreads_as_members_come_and_go() {
    let mut group = problem(&[("t1", 12), ("t2", 12)], Vec::new());
    for (generation, (count, each)) in [(1, 12), (2, 6), (4, 3), (2, 6)].into_iter().enumerate() {
        group.members.truncate(count);
        for n in group.members.len()..count {
            let member = Member::new(format!("m{n}"), ["t1", "t2"]);
            group.members.push(Member {
                copartition: declared(&[]),
                ..member
            });
        }
        let (plan, _) = plan_checked(&group);
        assert_eq!(shares(&plan, "t1"), vec![each; count]);
        assert_eq!(shares(&plan, "t2"), vec![each; count]);
        adopt(&mut group, &plan, i32::try_from(generation).expect("few"));
    }
}

/// KAFKA-12984: revoked although nothing had to be.
#[test]
fn newcomer_takes_the_free_partition_and_nothing_is_revoked() {
    let members = vec![
        member_with("c1", &["t"], 1, &[("t", &[0, 1])]),
        member_with("c2", &["t"], 1, &[("t", &[2])]),
        Member::new("c3", ["t"]),
    ];
    let (plan, numbers) = plan_checked(&problem(&[("t", 4)], members));
    assert_eq!(active(&plan, "c1", "t"), [0, 1]);
    assert_eq!(active(&plan, "c2", "t"), [2]);
    assert_eq!(active(&plan, "c3", "t"), [3]);
    assert_eq!(numbers.moved, 0);
}

/// KAFKA-14891: racks broke co-partitioning.
#[test]
fn different_rack_layouts_do_not_part_copartitioned_topics() {
    let racks = ["a", "b", "c"].map(str::to_owned);
    let layout = |shift: usize| Topic {
        partitions: 6,
        replica_racks: (0..6)
            .map(|p| vec![racks[(p + shift) % 3].clone()])
            .collect(),
    };
    let member = |n: usize| Member {
        rack: Some(racks[n].clone()),
        ..Member::new(format!("m{n}"), ["x", "y"])
    };
    let mut group = problem(&[], (0..3).map(member).collect());
    group.topics = [("x".to_owned(), layout(0)), ("y".to_owned(), layout(1))].into();
    let (plan, _) = plan_checked(&group);
    assert_eq!(plan.groups.len(), 1);
    assert!(
        plan.members
            .values()
            .all(|m| m.active["x"] == m.active["y"])
    );
}

/// KAFKA-18688: a new id reshuffled everybody.
#[test]
fn replacement_under_a_new_id_takes_the_old_ones_set() {
    let mut group = settled(problem(
        &[("t", 12)],
        (0..4)
            .map(|n| Member::new(format!("m{n}"), ["t"]))
            .collect(),
    ));
    let old = group.members.remove(1);
    group.members.push(Member::new("another", ["t"]));
    let (plan, numbers) = plan_checked(&group);
    assert_eq!(
        ranges(active(&plan, "another", "t")),
        old.active.partitions["t"]
    );
    assert_eq!(numbers.moved, 0);
}

/// librdkafka #3306, confluent-kafka-go #622: partitions swapped beyond need.
#[test]
fn growth_from_one_to_three_swaps_nothing() {
    let mut group = problem(&[("t", 10)], vec![Member::new("m0", ["t"])]);
    for (generation, expected) in [(1, 0), (2, 5), (3, 3)] {
        let (plan, numbers) = plan_checked(&group);
        assert_eq!(numbers.moved, expected);
        adopt(&mut group, &plan, generation);
        group
            .members
            .push(Member::new(format!("m{generation}"), ["t"]));
    }
}

/// librdkafka #3159: all 45 partitions on one of three.
#[test]
fn overlapping_subscriptions_share_the_large_topic() {
    let members = vec![
        Member::new("m1", ["A"]),
        Member::new("m2", ["A"]),
        Member::new("m3", ["B"]),
        Member::new("m4", ["B", "C"]),
    ];
    let (plan, _) = plan_checked(&problem(&[("A", 45), ("B", 3), ("C", 1)], members));
    let [one, two, ..] = shares(&plan, "A")[..] else {
        panic!("four members");
    };
    assert_eq!(one.abs_diff(two), 1);
    assert_eq!(one + two, 45);
}

/// The partition that names the application's leader weighs nothing, and stays where it is.
#[test]
fn leader_topic_weighs_nothing_and_stays() {
    let leader = "app-__assignor-__leader";
    let member = |n| Member::new(format!("m{n}"), ["t", leader]);
    let mut group = problem(&[("t", 4), (leader, 1)], (0..2).map(member).collect());
    group.leader_topic = Some(leader.to_owned());
    group.members[1].active = claimed(1, &[(leader, &[0])]);
    for generation in 2..5 {
        let (plan, _) = plan_checked(&group);
        assert_eq!(active(&plan, "m1", leader), [0]);
        assert!(plan.report.active_spread <= 1, "{:?}", shares(&plan, "t"));
        assert!(
            plan.groups.iter().all(|g| g.topics == ["t"]),
            "it is in no group"
        );
        adopt(&mut group, &plan, generation);
        group.members.push(member(generation));
    }
}

/// KIP-881: consumers read from the nearest replica.
#[test]
fn of_equally_good_members_the_one_near_a_replica_is_active() {
    let racks = ["a", "b", "c"].map(str::to_owned);
    let member = |n: usize| Member {
        rack: Some(racks[n].clone()),
        ..Member::new(format!("m{n}"), ["t"])
    };
    for shift in 0..3 {
        let mut group = problem(&[], (0..3).map(member).collect());
        let replica_racks = (0..6)
            .map(|p| vec![racks[(p + shift) % 3].clone()])
            .collect();
        let topic = Topic {
            partitions: 6,
            replica_racks,
        };
        group.topics = [("t".to_owned(), topic)].into();
        let (plan, _) = plan_checked(&group);
        for n in 0..3_u32 {
            let near = (n + 3 - shift as u32) % 3;
            assert_eq!(
                active(&plan, &format!("m{n}"), "t"),
                [near, near + 3],
                "shift {shift}"
            );
        }
    }
}
