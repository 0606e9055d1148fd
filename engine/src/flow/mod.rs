//! Min-cost flow with convex arcs and ranked costs: the one algorithm behind every placement.
//!
//! A caller builds a [`Network`] of nodes with supplies and of arcs whose `k`-th unit costs
//! `cost + (k - 1) * growth`, and [`solve`](Network::solve) finds a cheapest flow. A convex arc is how "even
//! load" is said: the sum of squares 1, 4, 9, .. is paid by units of 1, 3, 5, ..
//!
//! ```text
//! two tasks, two members, both tasks would like to stay on a:
//!
//!   task 0 --0--> a --1,3,5..--> sink       cost (1 + 1) and one stay, not (1 + 3) and two stays,
//!   task 0 --m--> b --1,3,5..--> sink       because the rank of evenness comes before the rank of moves
//! ```
//!
//! The method is the primal-dual one (Ford and Fulkerson 1962; Edmonds and Karp 1972 for the prices): prices on
//! nodes keep every residual arc's reduced cost at or above zero; shortest paths raise prices until some units
//! can flow for nothing; a depth-first pass lets them flow; and so on until no unit is left. It starts from any
//! prices, because convex arcs are first filled to where those prices say, and what that leaves over or short at
//! a node is just more supply. So a good guess makes it fast, and no guess makes it wrong.
//!
//! Termination: every phase moves at least one unit of the finite excess; a unit never becomes excess again.

mod cost;
mod network;
mod residual;
#[cfg(test)]
mod tests;

pub(crate) use cost::Cost;
pub(crate) use network::{Arc, Flow, Network, Node};
