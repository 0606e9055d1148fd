//! Members' bytes to engine members. What one member sent wrong costs that member its history, never the group.
//!
//! | user data | believed of it | its actives |
//! |---|---|---|
//! | readable | everything | cooperative: the owned list; eager: its claims |
//! | missing, damaged, of another application | nothing, it is a newcomer | cooperative: the owned list; eager: none |
//! | too new to read | nothing | cooperative: the owned list; eager: what this leader gave it last |
use std::collections::BTreeMap;

use rdkafka_assignor_engine as engine;
use rdkafka_assignor_protocol::{Claims, ReadUserDataError, SubscriptionUserData};

use super::Memory;
use crate::assignor::{Group, Member, RebalanceProtocol};
use crate::config::Settings;
use crate::led::LeaderWarning;
use crate::partitions::{lists_to_ranges, sets_to_ranges};

/// All members as the engine takes them, with what the engine does not ask for.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) members: Vec<engine::Member>,
    /// Where each member can be reached, by member id.
    pub(super) hosts: BTreeMap<String, String>,
    pub(super) warnings: Vec<LeaderWarning>,
    /// Places of members in the list that were not understood.
    unread: Vec<usize>,
}

impl Reading {
    pub(super) fn of(group: &Group, settings: &Settings, memory: &Memory) -> Self {
        let mut reading = Reading::default();
        for member in &group.members {
            reading.read(member, settings, memory);
        }
        reading.abstain();
        reading
    }

    /// Members that were not understood want as many standby replicas as anybody does.
    fn abstain(&mut self) {
        let most = self
            .members
            .iter()
            .map(|member| member.standby_replicas)
            .max();
        for unread in &self.unread {
            if let Some(member) = self.members.get_mut(*unread) {
                member.standby_replicas = most.unwrap_or_default();
            }
        }
    }

    fn read(&mut self, member: &Member, settings: &Settings, memory: &Memory) {
        let mut read = newcomer(member);
        match understand(member, &settings.app_id) {
            Ok(said) => {
                read.active = to_claims(&said.active);
                if let Some(host) = &said.host {
                    self.hosts.insert(member.id.clone(), host.clone());
                }
                believe(&mut read, said);
            }
            Err(unread) => {
                if unread.too_new {
                    read.active = memory.claims_of(&member.id);
                }
                self.unread.push(self.members.len());
                self.warnings.push(unread.warning);
            }
        }
        if settings.protocol == RebalanceProtocol::Cooperative {
            let said = read.active.generation;
            owned(&mut read, member, said);
        }
        self.members.push(read);
    }
}

struct Unread {
    too_new: bool,
    warning: LeaderWarning,
}

fn understand(member: &Member, app_id: &str) -> Result<SubscriptionUserData, Unread> {
    let unread = |kind, detail: String, too_new| Unread {
        too_new,
        warning: LeaderWarning::of(&member.id, kind, detail),
    };
    let Some(bytes) = &member.user_data else {
        return Err(unread(
            "no-user-data",
            "sent no user data".to_owned(),
            false,
        ));
    };
    match SubscriptionUserData::decode(bytes) {
        Ok(said) if said.app_id == app_id => Ok(said),
        Ok(said) => {
            let detail = format!(
                "belongs to the application {:?}, not to {app_id:?}",
                said.app_id
            );
            Err(unread("other-application", detail, false))
        }
        Err(error @ ReadUserDataError::Unsupported { .. }) => {
            Err(unread("newer-user-data", error.to_string(), true))
        }
        Err(error) => Err(unread("unreadable-user-data", error.to_string(), false)),
    }
}

fn newcomer(member: &Member) -> engine::Member {
    let mut read = engine::Member::new(&member.id, &member.topics);
    read.instance = member.instance.clone();
    read.rack = member.rack.clone();
    read
}

fn believe(read: &mut engine::Member, said: SubscriptionUserData) {
    read.rack = said.rack.or(read.rack.take());
    read.capacity = said.capacity;
    read.standby = to_claims(&said.standby);
    read.local_state = sets_to_ranges(&said.local_state);
    read.standby_replicas = said.standby_replicas;
    read.tables = said.tables.into_iter().map(to_table).collect();
    read.global_tables = said
        .global_tables
        .into_iter()
        .map(to_global_table)
        .collect();
    read.copartition = match said.copartition {
        Some(sets) => engine::Copartition::Declared(sets),
        None => engine::Copartition::Automatic,
    };
}

/// In cooperative mode the consumer protocol itself says what a member owns, whatever else can be read.
fn owned(read: &mut engine::Member, member: &Member, said: Option<i32>) {
    if let Some(owned) = &member.owned {
        read.active = engine::Claims {
            generation: member.generation.or(said),
            partitions: lists_to_ranges(owned),
        };
    }
}

fn to_claims(claims: &Claims) -> engine::Claims {
    engine::Claims {
        generation: claims.generation,
        partitions: sets_to_ranges(&claims.partitions),
    }
}

fn to_table(table: rdkafka_assignor_protocol::Table) -> engine::Table {
    engine::Table {
        name: table.name,
        source: table.source,
    }
}

fn to_global_table(table: rdkafka_assignor_protocol::GlobalTable) -> engine::GlobalTable {
    engine::GlobalTable {
        name: table.name,
        partitions: table.partitions,
    }
}
