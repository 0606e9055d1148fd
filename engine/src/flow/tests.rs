//! Against the definition: a flow is cheapest if and only if no cycle of its residual network saves anything.
use proptest::prelude::*;

use super::{Arc, Cost, Network, Node};

type Costs = Cost<2>;

fn cost(first: i128, second: i128) -> Costs {
    Cost([first, second])
}

/// An arc as written down by a test: from, to, capacity, cost, growth.
type Written = (usize, usize, i64, Costs, Costs);

fn build(supply: &[i64], written: &[Written], prices: &[Costs]) -> (Network<2>, Vec<Arc>) {
    let mut network = Network::new();
    let nodes: Vec<Node> = supply.iter().map(|&s| network.node(s)).collect();
    nodes
        .iter()
        .zip(prices)
        .for_each(|(&n, &p)| network.price(n, p));
    let arcs = written
        .iter()
        .map(|&(from, to, capacity, c, g)| network.arc(nodes[from], nodes[to], capacity, c, g))
        .collect();
    (network, arcs)
}

fn total(written: &[Written], flow: &[i64]) -> Costs {
    let units = |w: &Written, f: i64| (0..f).fold(Cost::ZERO, |sum, k| sum + w.3 + w.4 * k);
    written
        .iter()
        .zip(flow)
        .fold(Cost::ZERO, |sum, (w, &f)| sum + units(w, f))
}

fn assert_carries_supply(supply: &[i64], written: &[Written], flow: &[i64]) {
    let mut left = supply.to_vec();
    for (w, &f) in written.iter().zip(flow) {
        assert!((0..=w.2).contains(&f), "{f} units on an arc of {}", w.2);
        left[w.0] -= f;
        left[w.1] += f;
    }
    assert!(left.iter().all(|&l| l == 0), "units left over: {left:?}");
}

/// Bellman and Ford: `true` when some cycle of the residual network costs less than nothing.
fn some_cycle_saves(nodes: usize, written: &[Written], flow: &[i64]) -> bool {
    let mut edges = Vec::new();
    for (w, &f) in written.iter().zip(flow) {
        if f < w.2 {
            edges.push((w.0, w.1, w.3 + w.4 * f));
        }
        if f > 0 {
            edges.push((w.1, w.0, -(w.3 + w.4 * (f - 1))));
        }
    }
    let mut distance = vec![Costs::ZERO; nodes];
    let mut improved = false;
    for _ in 0..=nodes {
        improved = false;
        for &(from, to, c) in &edges {
            if distance[from] + c < distance[to] {
                distance[to] = distance[from] + c;
                improved = true;
            }
        }
    }
    improved
}

#[test]
fn evenness_of_a_higher_rank_beats_stillness() {
    let (square, twice) = (cost(1, 0), cost(2, 0));
    let written = [
        (0, 2, 1, Cost::ZERO, Cost::ZERO),
        (0, 3, 1, cost(0, 1), Cost::ZERO),
        (1, 2, 1, Cost::ZERO, Cost::ZERO),
        (1, 3, 1, cost(0, 1), Cost::ZERO),
        (2, 4, 9, square, twice),
        (3, 4, 9, square, twice),
    ];
    let (network, arcs) = build(&[1, 1, 0, 0, -2], &written, &[]);
    let flow = network.solve().expect("feasible");
    let flow: Vec<i64> = arcs.into_iter().map(|arc| flow.on(arc)).collect();
    assert_eq!(total(&written, &flow), cost(2, 1));
}

#[test]
fn supply_without_a_way_is_infeasible() {
    let (network, _) = build(&[1, -1], &[], &[]);
    assert!(network.solve().is_err());
}

fn networks() -> impl Strategy<Value = (Vec<i64>, Vec<Written>, Vec<Costs>)> {
    (2usize..8)
        .prop_flat_map(|nodes| {
            let amount = || (0i128..4, 0i128..6).prop_map(|(a, b)| cost(a, b));
            let growth = prop_oneof![Just(Costs::ZERO), amount()];
            let arc = (0..nodes, 0..nodes, 0i64..5, amount(), growth);
            let price = (-9i128..9, -9i128..9).prop_map(|(a, b)| cost(a, b));
            (
                proptest::collection::vec(0i64..4, nodes - 1),
                proptest::collection::vec(arc, 0..24),
                proptest::collection::vec(price, nodes),
            )
        })
        .prop_map(|(mut supply, mut arcs, prices)| {
            let sink = supply.len();
            supply.push(-supply.iter().sum::<i64>());
            arcs.extend(
                (0..sink)
                    .step_by(2)
                    .map(|v| (v, sink, 9, cost(1, 0), cost(2, 1))),
            );
            arcs.retain(|arc| arc.0 != arc.1);
            (supply, arcs, prices)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_cycle_of_a_solved_network_saves_anything((supply, written, prices) in networks()) {
        let (network, arcs) = build(&supply, &written, &prices);
        let (plain, plain_arcs) = build(&supply, &written, &[]);
        match (network.solve(), plain.solve()) {
            (Ok(guessed), Ok(plain)) => {
                let guessed: Vec<i64> = arcs.into_iter().map(|arc| guessed.on(arc)).collect();
                let plain: Vec<i64> = plain_arcs.into_iter().map(|arc| plain.on(arc)).collect();
                assert_carries_supply(&supply, &written, &guessed);
                prop_assert!(!some_cycle_saves(supply.len(), &written, &guessed));
                prop_assert_eq!(total(&written, &guessed), total(&written, &plain));
            }
            (guessed, plain) => prop_assert_eq!(guessed.is_err(), plain.is_err()),
        }
    }
}
