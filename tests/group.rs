//! Members of a group on the mock cluster: join, leave, replace.
mod support;

use std::sync::Arc;

use rdkafka_assignor::Assignors;
use rdkafka_assignor::assignor::RebalanceProtocol::{self, Cooperative, Eager};
use support::{Event, Member, Probe, cluster, config, eventually, partitions};

#[test]
fn foreign_assignor_assigns_a_group_of_one() {
    let cluster = cluster();
    let probe = Arc::new(Probe::new("probe", Eager));
    let assignors = Assignors::new().with(Arc::clone(&probe));
    let member = Member::join(&config(&cluster), &assignors, &["t", "u"]);
    eventually("the member has everything", || member.load() == 6);
    assert_eq!(
        member.partitions(),
        partitions(&[("t", &[0, 1, 2, 3]), ("u", &[0, 1])])
    );
    member.leave();
}
