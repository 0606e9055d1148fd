//! The part of the checker that reads the report's figures and the warnings.
use rdkafka_assignor_engine::{Copartition, Member, Plan};

use super::invariants::spread;
use super::objectives::{self, Actives, Standbys};
use super::view::View;

pub fn check_figures(view: &View, plan: &Plan, active: &Actives, standby: &Standbys) {
    let [.., cold, moved] = objectives::of_actives(view, active);
    let [.., new] = objectives::of_standbys(view, active, standby);
    let subscribing = |loads: Vec<i64>| -> i64 {
        let asks = |m: &usize| !view.members[*m].topics.is_empty();
        spread(
            &(0..loads.len())
                .filter(asks)
                .map(|m| loads[m])
                .collect::<Vec<i64>>(),
        )
    };
    let expected = [
        ("active_cold", cold, plan.report.active_cold),
        ("active_moved", moved, plan.report.active_moved),
        ("standby_moved", new, plan.report.standby_moved),
        (
            "active_spread",
            subscribing(objectives::loads(view, active, |_| true)),
            plan.report.active_spread,
        ),
        (
            "standby_spread",
            subscribing(objectives::standby_loads(view, standby)),
            plan.report.standby_spread,
        ),
    ];
    for (name, value, reported) in expected {
        assert_eq!(
            i128::from(value),
            i128::from(reported),
            "the report's {name} (ours, theirs)"
        );
    }
}

pub fn check_warnings(view: &View, plan: &Plan) {
    for m in &view.doubtful {
        let id = &view.members[*m].id;
        let warned = plan.warnings.iter().any(|w| w.member.as_ref() == Some(id));
        assert!(
            warned,
            "{id} claimed what cannot be believed, and nobody was warned"
        );
    }
    assert!(
        plan.warnings.iter().all(|w| !w.detail.is_empty()),
        "a warning is a sentence"
    );
    assert!(
        plan.errors.iter().all(|e| !e.detail.is_empty()),
        "an error is a sentence"
    );
    assert!(
        !view.has_twins || !plan.warnings.is_empty(),
        "two members share an id, and nobody was warned"
    );
}

/// Invariant I10: the answer is no larger than the question allows.
pub fn check_bounds(view: &View, plan: &Plan) {
    let said: usize = view.problem.members.iter().map(words).sum();
    assert!(
        plan.warnings.len() <= 2 * said,
        "{} warnings about {said} words",
        plan.warnings.len()
    );
    let partitions: usize = view
        .problem
        .topics
        .values()
        .map(|t| t.partitions as usize)
        .sum();
    let tables: usize = view.groups.iter().map(|g| g.tables.len()).sum();
    let changes = 2 * partitions * (1 + tables) * view.members.len();
    assert!(
        plan.report.moves.len() <= changes,
        "{} moves",
        plan.report.moves.len()
    );
}

/// How many things a member says.
fn words(member: &Member) -> usize {
    let claims = [
        &member.active.partitions,
        &member.standby.partitions,
        &member.local_state,
    ];
    let ranges: usize = claims
        .iter()
        .flat_map(|c| c.values())
        .map(|ranges| ranges.len() + 1)
        .sum();
    let sets = match &member.copartition {
        Copartition::Automatic => 0,
        Copartition::Declared(sets) => sets.iter().map(|set| set.len() + 1).sum(),
    };
    4 + ranges + sets + member.topics.len() + member.tables.len() + member.global_tables.len()
}
