//! The shipped assignor: user data on the wire, the engine behind it, a handle in front of it.
//!
//! [`Copartitioned`] keeps what a member has to remember from one rebalance to the next (its last assignment, and as the
//! group's leader its last plan) and hands everything else on: claims to `claims`, planning to `leader`, the
//! application's view to [`Handle`], words to `telemetry`.
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rdkafka::ClientConfig;
use rdkafka_assignor_protocol::{AssignmentUserData, Claims, SubscriptionUserData};

use crate::assignor::{
    Assigned, Assignment, Assignor, AssignorError, Group, Join, RebalanceProtocol, Revoked,
};
use crate::claims::LastAssignment;
use crate::config::{Builder, Settings};
use crate::delivered::DeliveredError;
use crate::handle::Handle;
use crate::held::Held;
use crate::leader::{self, Memory};
use crate::partitions::{PartitionSets, to_sets};
use crate::plugin::Client;
use crate::router::{self, Said};
use crate::telemetry;

use std::collections::BTreeMap;

/// Co-partitioned, sticky placement with standby copies, for one consumer.
///
/// Its [`Handle`] speaks for one consumer, so it serves one at a time; members of one process take one each.
pub struct Copartitioned {
    settings: Settings,
    handle: Handle,
    last: Mutex<LastAssignment>,
    memory: Mutex<Memory>,
}

impl Copartitioned {
    /// Settings for an application; members of one group share its id.
    pub fn builder(app_id: impl Into<String>) -> Builder {
        Builder::new(app_id.into())
    }

    pub(crate) fn new(settings: Settings) -> Self {
        Copartitioned {
            handle: Handle::new(&settings),
            settings,
            last: Mutex::default(),
            memory: Mutex::default(),
        }
    }

    /// What the application sees of its assignment.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    fn claims(&self, owned: PartitionSets, generation: Option<i32>) -> (Claims, Claims) {
        let last = lock(&self.last);
        match self.settings.protocol {
            RebalanceProtocol::Eager => last.eager(),
            RebalanceProtocol::Cooperative => {
                last.cooperative(owned, generation, &self.settings.tables)
            }
        }
    }

    fn user_data(&self, owned: PartitionSets, generation: Option<i32>) -> SubscriptionUserData {
        let settings = &self.settings;
        let (active, standby) = self.claims(owned, generation);
        SubscriptionUserData {
            generation: standby.generation,
            app_id: settings.app_id.clone(),
            host: settings.host.clone(),
            rack: settings.rack.clone(),
            capacity: settings.capacity,
            active,
            standby,
            local_state: to_sets(&settings.local_state()),
            tables: settings.tables.clone(),
            global_tables: settings.global_tables.clone(),
            standby_replicas: settings.standby_replicas,
            copartition: settings.copartition.clone(),
            lag: BTreeMap::new(),
            nonce: self.handle.nonce(),
        }
    }

    /// The member's own part of its assignment; what cannot be read leaves it with its actives.
    fn read(&self, assigned: &Assigned<'_>) -> AssignmentUserData {
        AssignmentUserData::decode(assigned.user_data).unwrap_or_else(|error| {
            telemetry::unreadable_assignment(assigned, &error);
            AssignmentUserData::default()
        })
    }
}

impl Assignor for Copartitioned {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn protocol(&self) -> RebalanceProtocol {
        self.settings.protocol
    }

    fn configure(&self, config: &mut ClientConfig) {
        if let Some(rack) = &self.settings.rack {
            config.set("client.rack", rack);
        }
    }

    fn attach(&self, client: &Arc<Client>) -> Result<(), AssignorError> {
        if self.handle.attach(Arc::clone(client) as _) {
            return Ok(());
        }
        Err(SECOND_CONSUMER.into())
    }

    fn subscription_user_data(&self, join: &Join<'_>) -> Vec<u8> {
        let owned = to_sets(join.owned);
        self.handle.joining(&owned, join.generation);
        self.user_data(owned, join.generation)
            .encode()
            .unwrap_or_else(|error| {
                telemetry::unwritable_subscription(join, &error);
                Vec::new()
            })
    }

    fn assign(&self, group: &Group) -> Result<BTreeMap<String, Assignment>, AssignorError> {
        let span = telemetry::rebalance(group);
        let _entered = span.enter();
        let started = Instant::now();
        let (assignments, led) = leader::lead(&self.settings, &mut lock(&self.memory), group);
        telemetry::led(&span, &led, &group.leader, started.elapsed());
        self.handle.led(led);
        Ok(assignments)
    }

    fn on_assignment(&self, assigned: &Assigned<'_>) {
        let own = self.read(assigned);
        let said = Said::of(&own);
        let held = Held {
            member: Some(assigned.member.to_owned()),
            generation: Some(assigned.generation),
            active: to_sets(assigned.partitions),
            standby: own.standby,
            global: own
                .global
                .into_iter()
                .map(|table| (table.name, table.partitions))
                .collect(),
            leader: false,
            errors: own
                .errors
                .into_iter()
                .map(DeliveredError::from_wire)
                .collect(),
        };
        telemetry::assigned(assigned, &held);
        *lock(&self.last) = LastAssignment {
            generation: held.generation,
            active: held.active.clone(),
            standby: held.standby.clone(),
        };
        self.handle.assigned(held.clone());
        if let Err(error) = router::arrived(&self.handle, assigned, said, held) {
            telemetry::unusable_routes(assigned, &error);
        }
    }

    fn on_revoked(&self, revoked: &Revoked<'_>) {
        self.handle
            .revoked(&to_sets(revoked.partitions), revoked.lost);
    }

    fn on_superseded(&self, _client: &Arc<Client>) {
        self.handle.superseded();
    }

    fn detach(&self, _client: &Arc<Client>) {
        self.handle.detached();
    }
}

impl fmt::Debug for Copartitioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copartitioned")
            .field("app_id", &self.settings.app_id)
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}

const SECOND_CONSUMER: &str = "this assignor serves a consumer already: its handle speaks for one, so every consumer takes its own";

/// What a panic left behind is still whole: every holder replaces values at once.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod simulation;
