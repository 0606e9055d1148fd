//! A node for whatever is all the same to the members behind it.
//!
//! Units that reach a hub leave it by its arcs, and which unit took which does not matter to the cost; so they are
//! handed out in order, which gives members runs of partitions.
//!
//! ```text
//! hub -2-> m1, -0-> m2, -1-> m3        units m1 m1 m3, to the hub's first, second and third task
//! ```
use crate::flow::{Arc, Flow, Node};
use crate::index::MemberIx;

/// A node and the way to each of its members.
pub(crate) struct Hub {
    pub(crate) node: Node,
    pub(crate) arcs: Vec<(Arc, MemberIx)>,
}

impl Hub {
    /// The members that the hub's units went to, each as often as it got one.
    pub(crate) fn units<'f>(&'f self, flow: &'f Flow) -> impl Iterator<Item = MemberIx> + 'f {
        let units = |&(arc, m): &(Arc, MemberIx)| (0..flow.on(arc)).map(move |_| m);
        self.arcs.iter().flat_map(units)
    }
}
