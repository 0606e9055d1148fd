//! From the target to this round: what is still owned elsewhere is held back, and kept warm where it is to go.
//!
//! | | owns | target | this round |
//! |---|---|---|---|
//! | A | `orders 0,1` | `orders 0` | `orders 0` |
//! | B | | `orders 1` | standby of `counts 1`, `orders 1` withheld |
//!
//! A has to give `orders 1` up before B may have it. B gets the tables that belong to it as standbys meanwhile: in the
//! round that follows it claims the copy, and so gets the active that was meant for it.
use std::collections::BTreeMap;

use rdkafka_assignor_engine as engine;
use rdkafka_assignor_protocol::PartitionSet;

use crate::assignor::{Group, Member, RebalanceProtocol, TopicPartitions};
use crate::cooperative::hold_back;
use crate::led::Share;
use crate::partitions::{contains, difference, numbers_to_lists, numbers_to_sets, to_sets};

/// Every member's share of this round.
pub(super) fn shares(
    group: &Group,
    protocol: RebalanceProtocol,
    members: &[engine::Member],
    plan: &engine::Plan,
) -> BTreeMap<String, Share> {
    let granted = granted(group, protocol, members, plan);
    let declared: BTreeMap<_, _> = members.iter().map(|m| (&m.id, &m.tables)).collect();
    let tables = Tables::of(plan);
    let mut shares = BTreeMap::new();
    for (id, target) in &plan.members {
        let active = granted.get(id).map(to_sets).unwrap_or_default();
        let mut share = Share {
            withheld: difference(&numbers_to_sets(&target.active), &active),
            active,
            standby: numbers_to_sets(&target.standby),
            global: target.global.clone(),
            host: None,
        };
        let declared = declared.get(id).map(|tables| tables.as_slice());
        tables.keep_warm(&mut share, declared.unwrap_or_default());
        shares.insert(id.clone(), share);
    }
    shares
}

fn granted(
    group: &Group,
    protocol: RebalanceProtocol,
    members: &[engine::Member],
    plan: &engine::Plan,
) -> BTreeMap<String, TopicPartitions> {
    let lists = plan.members.iter();
    let targets = lists
        .map(|(id, member)| (id.clone(), numbers_to_lists(&member.active)))
        .collect();
    match protocol {
        RebalanceProtocol::Eager => targets,
        RebalanceProtocol::Cooperative => hold_back(targets, &dated(group, members)),
    }
}

/// Who owns what: owned lists that carry no generation of their own are dated by what the user data says.
fn dated(group: &Group, members: &[engine::Member]) -> Group {
    let said: BTreeMap<_, _> = members
        .iter()
        .map(|m| (&m.id, m.active.generation))
        .collect();
    let owner = |member: &Member| Member {
        id: member.id.clone(),
        owned: member.owned.clone(),
        generation: member
            .generation
            .or(said.get(&member.id).copied().flatten()),
        ..Member::default()
    };
    Group {
        generation: group.generation,
        members: group.members.iter().map(owner).collect(),
        ..Group::default()
    }
}

/// Tables by the topics that they go together with.
struct Tables<'a> {
    by_topic: BTreeMap<&'a str, &'a [String]>,
}

impl<'a> Tables<'a> {
    fn of(plan: &'a engine::Plan) -> Self {
        let topics = |group: &'a engine::CopartitionGroup| {
            group
                .topics
                .iter()
                .map(|topic| (topic.as_str(), group.tables.as_slice()))
        };
        Tables {
            by_topic: plan.groups.iter().flat_map(topics).collect(),
        }
    }

    fn keep_warm(&self, share: &mut Share, declared: &[engine::Table]) {
        for (topic, partitions) in &share.withheld {
            let tables = self
                .by_topic
                .get(topic.as_str())
                .copied()
                .unwrap_or_default();
            for table in declared.iter().filter(|table| tables.contains(&table.name)) {
                let fed = |p: &u32| {
                    i32::try_from(*p).is_ok_and(|p| contains(&share.active, &table.source, p))
                };
                let warm: PartitionSet = partitions.iter().filter(|p| !fed(p)).collect();
                let copies = share.standby.entry(table.name.clone()).or_default();
                *copies = copies.union(&warm);
            }
        }
        share.standby.retain(|_, copies| !copies.is_empty());
    }
}
