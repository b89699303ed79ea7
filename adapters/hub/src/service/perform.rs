//! Performs the actions that the supervisor requests.
//!
//! Each requested operation leads to exactly one event. The operation runs in a task or on a thread, and reports the event to the
//! [`HubState`], which passes it to the supervisor.

use std::sync::Arc;

use mcpwire_supervisor::{Action, Effect, Event, ServerId, State as Lifecycle};

use super::attempt::Attempt;
use super::attempt_task::AttemptTask;
use super::events::HubEvent;
use super::hub_state::HubState;
use super::servers::{BootReport, ManagedServer, Servers};
use super::session::Session;
use super::tools::uuid;

impl HubState {
    /// Begins to perform an action that the supervisor requests. The caller holds the lock of the hub's state, so this must not
    /// block.
    pub(super) fn perform(self: &Arc<Self>, servers: &mut Servers, action: Action) {
        match action {
            Action::Perform { .. } | Action::Persist { .. } if servers.is_ended => {}
            Action::Perform { server, effect } => self.perform_effect(servers, server, effect),
            Action::Reply { command, result } => servers.reply(command, result),
            Action::Persist { server, enabled, revision } => {
                let current = servers.get(server).filter(|current| current.spec.revision == revision);
                let config = current.map(|current| Arc::clone(&current.config));
                let hub = Arc::clone(self);
                self.settings.tasks.spawn(async move { hub.save_enabled(server, config, enabled).await });
            }
            Action::CatalogueChanged => {
                let catalogue = servers.supervisor.catalogue();
                servers.emit(HubEvent::Tools { count: catalogue.len() });
                self.set_catalogue(catalogue);
            }
            Action::ToolsRedefined { server, changes } => {
                let Some(name) = servers.get(server).map(|server| server.name().to_owned()) else { return };
                let (id, changes, more) = (uuid(server), changes.tools, changes.more);
                servers.emit(HubEvent::ToolChanged { id, name, changes, more });
            }
            Action::Booted { ready, failed, cancelled } => servers.booted(BootReport { ready, failed, cancelled }),
            Action::Removed { server } => {
                let removed = servers.remove(server);
                // Dropping the attempts of the server kills their processes. This may block, so another thread does it.
                self.settings.tasks.block_detached(move || drop(removed));
            }
            _ => {}
        }
    }

    fn perform_effect(self: &Arc<Self>, servers: &mut Servers, id: ServerId, effect: Effect) {
        let Some(server) = servers.get_mut(id) else { return };
        let task = |server: &ManagedServer, generation| AttemptTask::new(self, server, generation);
        match effect {
            Effect::Resolve { generation } => {
                let is_first = server.begin_attempt(generation);
                task(server, generation).resolve(is_first);
            }
            Effect::Launch { generation } => {
                let launch = server.attempts.get_mut(&generation).and_then(Attempt::take_launch);
                task(server, generation).launch(launch);
            }
            Effect::Negotiate { generation, .. } => {
                task(server, generation).begin(server, Session::negotiate, Event::Failed);
            }
            Effect::List { generation } => task(server, generation).begin(server, Session::list, Event::Failed),
            Effect::Refresh { generation } => {
                task(server, generation).begin(server, Session::refresh, |_| Event::RefreshFailed);
            }
            Effect::Probe { generation } => {
                task(server, generation).begin(server, Session::probe, |_| Event::ProbeFailed);
            }
            Effect::FailCalls { generation, error } => {
                if let Some(attempt) = server.attempts.get_mut(&generation) {
                    attempt.fail_calls(error);
                }
            }
            Effect::Stop { generation } => {
                let remains = server.attempts.get_mut(&generation).map(Attempt::stop).unwrap_or_default();
                task(server, generation).stop(remains);
            }
            Effect::Kill { generation } => {
                let remains = server.attempts.get_mut(&generation).map(|attempt| {
                    attempt.is_killed = true;
                    attempt.stop()
                });
                task(server, generation).kill(remains.unwrap_or_default());
            }
            Effect::StopFailed { .. } => {
                server.logs.push("the process could not be ended; it may still run");
                servers.emit(HubEvent::Abandoned { id: uuid(id) });
            }
            Effect::Changed { state } => {
                let name = server.name().to_owned();
                let Some(detail) = servers.supervisor.detail(id) else { return };
                let error = detail.last_error.filter(|_| state != Lifecycle::Running);
                servers.emit(HubEvent::Status { id: uuid(id), name, state, error });
            }
            _ => {}
        }
    }
}
