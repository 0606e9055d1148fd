//! What all tests share: a second reading of the rules, and one checker that holds plans against it.
//!
//! * [`view`] reads a problem anew: which claims count, which groups there are, who has copies.
//! * [`objectives`] gives the values of the ranked objectives of a placement, in integers.
//! * [`certificate`] proves a placement optimal, or names the exchange that would better it.
//! * [`invariants`] is the checker; [`moves`] is its part that reads the report's list of moves.
//! * [`cluster`] builds problems and lets members claim what a plan gave them.

pub mod certificate;
pub mod claims;
pub mod cluster;
pub mod invariants;
pub mod moves;
pub mod objectives;
pub mod random;
pub mod report;
pub mod sets;
pub mod view;
