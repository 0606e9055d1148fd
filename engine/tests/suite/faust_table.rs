//! The placement rows of "what Faust's assignor does badly" (figures observed with faust-streaming 0.15.3), each with what
//! happens here instead.
use rdkafka_assignor_engine::{GlobalTable, Member, MoveKind, Problem, Role};

use crate::common::cluster::{
    active, adopt, adopt_share, claims, declared, keeper, keepers, problem, ranges, settled,
    shares, table,
};
use crate::common::invariants::{Numbers, plan_checked};
use crate::common::random::Random;

/// Groups of the table that a debug build plans in a moment; a release build takes all of them.
fn sizes<const N: usize>(all: [(u32, usize); N], in_debug: usize) -> Vec<(u32, usize)> {
    all.into_iter()
        .take(if cfg!(debug_assertions) { in_debug } else { N })
        .collect()
}

/// The balanced share of one of `members`, rounded down: all that the last of them has to take.
fn quota(partitions: u32, members: usize) -> u64 {
    u64::from(partitions) / members as u64
}

fn join(group: &Problem, replicas: u32) -> Numbers {
    let mut group = group.clone();
    group.members.push(keeper("newcomer", replicas));
    plan_checked(&group).1
}

/// Faust: 0 actives and 0 standbys for the newcomer.
#[test]
fn newcomer_gets_its_share_when_partitions_divide_evenly() {
    for (partitions, members) in sizes([(64, 8), (256, 32), (1024, 64), (4096, 128)], 3) {
        let numbers = join(&settled(keepers(partitions, members, 1)), 1);
        let share = quota(partitions, members + 1);
        assert_eq!(
            numbers.active["newcomer"].unsigned_abs(),
            share,
            "{partitions}x{members}"
        );
        assert!(
            numbers.standby["newcomer"].unsigned_abs() >= share,
            "{partitions}x{members}: {numbers:?}"
        );
        assert_eq!(
            (numbers.moved, numbers.cold),
            (share, share),
            "{partitions}x{members}: nothing else moves"
        );
    }
}

/// Faust: 1 partition for the newcomer, and 30 (at 256x32) others move for nothing.
#[test]
fn join_without_standbys_moves_only_the_newcomers_share() {
    for (partitions, members) in sizes([(64, 8), (256, 32), (1024, 64), (4096, 128)], 3) {
        let numbers = join(&settled(keepers(partitions, members, 0)), 0);
        let share = quota(partitions, members + 1);
        assert_eq!(
            numbers.active["newcomer"].unsigned_abs(),
            share,
            "{partitions}x{members}"
        );
        assert_eq!(numbers.moved, share, "{partitions}x{members}");
    }
}

/// Faust at 4096x128: active spread up to 64, and 24,885 moves where 18,107 (the sum of the newcomers' quotas) suffice.
#[test]
fn growth_one_by_one_stays_even_and_moves_only_quotas() {
    for (partitions, members) in sizes([(128, 16), (256, 16), (4096, 128)], 2) {
        let quotas: u64 = (2..=members).map(|n| quota(partitions, n)).sum();
        assert_eq!(
            grown(partitions, members, 0),
            quotas,
            "{partitions} partitions up to {members} members"
        );
        assert!(partitions < 4096 || quotas == 18_107, "the table's figure");
    }
    assert_eq!(
        grown(96, 9, 1),
        (2..=9).map(|n| quota(96, n)).sum::<u64>(),
        "with standbys"
    );
}

/// What moves while a group grows from one member to `members`.
fn grown(partitions: u32, members: usize, replicas: u32) -> u64 {
    let mut group = keepers(partitions, 0, replicas);
    let mut moved = 0;
    for generation in 1.. {
        group
            .members
            .push(keeper(format!("m{generation:03}"), replicas));
        let (plan, numbers) = plan_checked(&group);
        assert!(plan.report.active_spread <= 1, "{generation} members");
        moved += numbers.moved;
        if group.members.len() == members {
            break;
        }
        adopt(&mut group, &plan, generation);
    }
    moved
}

/// One of a settled group's members is replaced by a newcomer within one rebalance; also how much the old one had.
fn replaced(partitions: u32, members: usize, victim: usize) -> (Problem, u64) {
    let mut group = settled(keepers(partitions, members, 1));
    let old = group.members.remove(victim);
    let had = old.active.partitions["orders"].len() as u64;
    group.members.push(keeper("newcomer", 1));
    (group, had)
}

/// Faust: all partitions cold. Balance ranks above warmth, so the newcomer's quota is cold, and not one more.
#[test]
fn replacement_is_cold_by_one_quota_at_most() {
    for (partitions, members) in [(64, 8), (66, 8), (71, 8), (256, 32), (7, 3)] {
        for victim in [0, members / 2, members - 1] {
            let (group, had) = replaced(partitions, members, victim);
            let (_, numbers) = plan_checked(&group);
            assert_eq!(
                numbers.cold,
                quota(partitions, members),
                "{partitions}x{members}"
            );
            assert_eq!(
                numbers.moved, 0,
                "{partitions}x{members}: the living keep what they have ({had} to place)"
            );
        }
    }
}

/// Faust: 0 promotions, though each task had a live standby.
#[test]
fn standby_is_promoted_where_balance_allows() {
    let promoted = |partitions, victim| {
        let (group, had) = replaced(partitions, 8, victim);
        let (plan, _) = plan_checked(&group);
        let promoted = |m: &&rdkafka_assignor_engine::Move| {
            m.role == Role::Active && m.kind == MoveKind::Promoted
        };
        (
            had,
            plan.report.moves.iter().filter(promoted).count() as u64,
        )
    };
    let mut seen = 0;
    for victim in 0..8 {
        let (had, count) = promoted(66, victim);
        assert_eq!(
            count,
            had - quota(66, 8),
            "what the newcomer need not take is promoted"
        );
        seen += count;
    }
    assert!(seen > 0, "somebody had more than the quota");
}

/// Standbys of one member's actives spread over the others, so that a death is warm everywhere.
#[test]
fn leave_promotes_every_orphan() {
    for victim in 0..8 {
        let mut group = settled(keepers(64, 8, 1));
        group.members.remove(victim);
        let (_, numbers) = plan_checked(&group);
        assert_eq!(
            (numbers.cold, numbers.moved),
            (0, 0),
            "all 8 orphans are warm somewhere with room"
        );
    }
}

/// Faust: a restarted member claims nothing, and all of its partitions are cold although its state is on disk.
#[test]
fn restart_with_local_state_is_warm() {
    for partitions in [64, 66] {
        let mut group = settled(keepers(partitions, 8, 1));
        let old = group.members.remove(3);
        let mut back = keeper("restarted", 1);
        back.local_state = [("counts".to_owned(), old.active.partitions["orders"].clone())].into();
        group.members.push(back);
        let (plan, numbers) = plan_checked(&group);
        assert_eq!(
            (numbers.cold, numbers.moved),
            (0, 0),
            "{partitions} partitions"
        );
        let held = active(&plan, "restarted", "orders");
        assert!(
            ranges(held)
                .iter()
                .all(|p| old.active.partitions["orders"].contains(p)),
            "its own come back"
        );
    }
}

/// Faust: all twenty on one worker, as grouping cannot be declared.
#[test]
fn twenty_topics_of_one_partition_spread_over_ten_workers() {
    let names: Vec<String> = (0..20).map(|n| format!("topic-{n:02}")).collect();
    let counts: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for (workers, each) in [(10, 2), (20, 1)] {
        let worker = |n| Member {
            copartition: declared(&[]),
            ..Member::new(format!("w{n:02}"), &names)
        };
        let (plan, _) = plan_checked(&problem(&counts, (0..workers).map(worker).collect()));
        assert_eq!(plan.groups.len(), 20);
        assert!(
            plan.members.values().all(|m| m.active.len() == each),
            "{workers} workers: {each} each"
        );
    }
}

#[test]
fn topics_of_one_partition_stay_together_when_nothing_is_declared() {
    let members = (0..3)
        .map(|n| Member::new(format!("w{n}"), ["a", "b"]))
        .collect();
    let (plan, _) = plan_checked(&problem(&[("a", 1), ("b", 1)], members));
    assert_eq!(plan.groups.len(), 1);
    assert!(plan.members.values().any(|m| m.active.len() == 2));
}

/// Faust: of histories that end so, 34 % crash and 62 % assign partitions that do not exist.
#[test]
fn topic_recreated_with_fewer_partitions_keeps_what_still_exists() {
    for (before, after) in [(10, 8), (8, 6), (9, 6), (12, 4), (12, 1), (12, 0)] {
        for replicas in 0..=2 {
            let mut group = settled(keepers(before, 3, replicas));
            group
                .topics
                .get_mut("orders")
                .expect("it exists")
                .partitions = after;
            let (plan, numbers) = plan_checked(&group);
            assert!(
                !plan.warnings.is_empty(),
                "{before} -> {after}: claims on what is gone are told"
            );
            let everywhere = replicas == 2;
            assert!(
                numbers.cold == 0 || !everywhere,
                "{before} -> {after}: everybody has a copy of everything"
            );
        }
    }
}

/// Faust: the order of the members and the hash seed decide.
#[test]
fn neither_order_nor_hash_seed_decides() {
    let mut random = Random::new(7);
    for replicas in 0..=2 {
        let mut group = settled(keepers(17, 5, replicas));
        group.members.remove(1);
        group
            .members
            .extend([keeper("x", replicas), keeper("a", replicas)]);
        let (first, _) = plan_checked(&group);
        for _ in 0..20 {
            random.shuffle(&mut group.members);
            // Every hash map of std draws its own seed, so that one of these calls would differ.
            assert_eq!(rdkafka_assignor_engine::plan(&group), first);
        }
    }
}

/// Faust: with a global table of the source topic's partition count a rebalance without change moves 8 of 12 partitions.
#[test]
fn global_table_moves_nothing_when_nothing_changes() {
    let global = GlobalTable {
        name: "countries".to_owned(),
        partitions: 12,
    };
    let mut group = keepers(12, 4, 1);
    group
        .members
        .iter_mut()
        .for_each(|m| m.global_tables = vec![global.clone()]);
    let group = settled(group);
    let (plan, numbers) = plan_checked(&group);
    assert_eq!(
        (numbers.moved, numbers.cold, numbers.standby_moved),
        (0, 0, 0)
    );
    assert!(plan.report.moves.is_empty(), "{:?}", plan.report.moves);
    assert!(
        plan.members.values().all(|m| m.global["countries"] == 12),
        "everybody holds it whole"
    );
    assert!(plan.warnings.is_empty() && plan.errors.is_empty());
}

/// Faust with three standbys: placing standbys evicts in a circle for ever, after joins and leaves alone.
#[test]
fn churn_with_many_standbys_ends_every_time() {
    let mut random = Random::new(11);
    for replicas in [2, 3] {
        let mut group = settled(keepers(24, 4, replicas));
        for generation in 2..30 {
            match random.chance(55) || group.members.len() < 3 {
                true => group
                    .members
                    .push(keeper(format!("j{generation:02}"), replicas)),
                false => {
                    let victim = random.below(group.members.len() as u32);
                    group.members.remove(victim as usize);
                }
            }
            let (plan, _) = plan_checked(&group);
            assert!(plan.report.active_spread <= 1);
            adopt(&mut group, &plan, generation);
        }
    }
}

/// Users of Faust: a member's unreadable claims must not fail the group, it is a newcomer.
#[test]
fn member_with_absurd_claims_is_a_newcomer() {
    let mut group = settled(keepers(12, 3, 1));
    let mut sane = group.clone();
    let mut odd = keeper("odd", 1);
    sane.members.push(odd.clone());
    odd.active = claims(
        9,
        &[("orders", &[-1, 12, i64::MAX, i64::MIN]), ("nowhere", &[0])],
    );
    odd.standby = claims(9, &[("counts", &[-7, 99]), ("unheard-of", &[0])]);
    group.members.push(odd);
    let (plan, numbers) = plan_checked(&group);
    let (expected, _) = plan_checked(&sane);
    assert_eq!(plan.members, expected.members);
    assert_eq!(numbers.moved, 3);
}

/// Users of Faust: placement must survive a redeploy, here a rolling one under new member ids.
#[test]
fn rolling_redeploy_ends_where_it_began() {
    let mut group = settled(keepers(30, 5, 1));
    let before = shares(&plan_checked(&group).0, "orders");
    for n in 0..5 {
        let old = group.members.remove(0);
        let (plan, numbers) = plan_checked(&group);
        assert_eq!((numbers.cold, numbers.moved), (0, 0), "leaving {}", old.id);
        adopt(&mut group, &plan, 2 * n + 2);
        let mut new = keeper(format!("n{n:03}"), 1);
        let own = &old.active.partitions["orders"];
        new.local_state = [("counts".to_owned(), own.clone())].into();
        group.members.push(new);
        let (plan, numbers) = plan_checked(&group);
        assert_eq!(numbers.cold, 0, "its state is still on its disk");
        assert_eq!(numbers.moved, 6);
        adopt(&mut group, &plan, 2 * n + 3);
    }
    assert_eq!(shares(&plan_checked(&group).0, "orders"), before);
}

#[test]
fn two_tables_of_one_topic_share_their_standbys() {
    let mut group = keepers(12, 3, 1);
    group
        .members
        .iter_mut()
        .for_each(|m| m.tables.push(table("sums", "orders")));
    let (plan, _) = plan_checked(&group);
    for (id, share) in &plan.members {
        assert_eq!(share.standby["counts"], share.standby["sums"], "{id}");
    }
    let mut member = group.members[0].clone();
    adopt_share(&mut member, &plan.members["m000"], 1);
    assert_eq!(member.standby.partitions.len(), 2);
}
