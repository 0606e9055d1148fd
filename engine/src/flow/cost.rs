//! Ranked costs: a later rank never outweighs an earlier one.
use std::ops::{Add, Mul, Neg, Sub};

/// `N` ranked amounts, compared from the first on.
///
/// `[1, 0]` is dearer than `[0, 1000]`. Sums and differences go rank by rank, so costs form an ordered group,
/// which is all that shortest paths need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cost<const N: usize>(pub [i128; N]);

impl<const N: usize> Cost<N> {
    /// Costs nothing.
    pub(crate) const ZERO: Self = Cost([0; N]);

    /// `amount` at one rank, nothing at the others; a rank that does not exist costs nothing.
    pub(crate) fn at(rank: usize, amount: i128) -> Self {
        Cost(std::array::from_fn(|r| if r == rank { amount } else { 0 }))
    }
}

impl<const N: usize> Add for Cost<N> {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
        self
    }
}

impl<const N: usize> Sub for Cost<N> {
    type Output = Self;
    fn sub(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a -= b);
        self
    }
}

impl<const N: usize> Neg for Cost<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl<const N: usize> Mul<i64> for Cost<N> {
    type Output = Self;
    fn mul(mut self, times: i64) -> Self {
        self.0.iter_mut().for_each(|a| *a *= i128::from(times));
        self
    }
}
