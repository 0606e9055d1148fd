//! time
use crate::common::cluster::*;
use std::time::Instant;
use rdkafka_assignor_engine::*;
fn t(name: &str, mut group: Problem) {
    let t = Instant::now();
    let plan1 = plan(&group);
    let fresh = t.elapsed();
    adopt(&mut group, &plan1, 1);
    group.members.pop();
    let t = Instant::now();
    let p2 = plan(&group);
    println!("{name}: fresh {fresh:?} leave {:?} moved {} moves {} warnings {}", t.elapsed(), p2.report.active_moved, p2.report.moves.len(), p2.warnings.len());
}
#[test]
fn zz_time() {
    t("1M partitions x3 r0", keepers(1_000_000, 3, 0));
    t("1M partitions x10 r0", keepers(1_000_000, 10, 0));
    t("1M partitions x2 r1", keepers(1_000_000, 2, 1));
    for decl in [true,false] {
    let name = |n: u32| format!("topic-{n:03}");
    let names: Vec<String> = (0..100).map(name).collect();
    let counts: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 200)).collect();
    let member = |n: usize| {
        let own = if n.is_multiple_of(4) { &names[..50] } else { &names[50..] };
        Member { copartition: if decl {declared(&[])} else {Copartition::Automatic}, ..Member::new(format!("m{n:03}"), own) }
    };
    t("KAFKA-15106", problem(&counts, (0..500).map(member).collect()));
    }
}
