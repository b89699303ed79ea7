//! [`Actions`] performs the actions that the supervisor requests.
//!
//! Each operation that the supervisor requests leads to exactly one event. The modules below begin the operation in a
//! task or on a thread, and report the event to the [`State`](super::state::State) of the hub.

mod context;
mod session;
mod start;
mod stop;

use std::sync::Arc;

use mcpwire_supervisor::{Action, Effect, Event, ServerId, State as Lifecycle};

pub(super) use self::context::Context;
use super::available_tools::uuid;
use super::configuration::Configuration;
use super::events::HubEvent;
use super::state::{ActionPerformer, Servers};

/// Performs the actions that the supervisor requests. This struct has no state: [`Attempts`](super::attempts::Attempts)
/// holds the clients and processes of the servers.
pub(super) struct Actions {
    context: Context,
    configuration: Arc<Configuration>,
}

impl Actions {
    pub(super) fn new(context: Context, configuration: Arc<Configuration>) -> Self {
        Actions { context, configuration }
    }

    fn perform_effect(&self, servers: &mut Servers, id: ServerId, effect: Effect) {
        let context = &self.context;
        match effect {
            Effect::Resolve { generation } => start::resolve(context, servers, (id, generation)),
            Effect::Launch { generation } => start::launch(context, servers, (id, generation)),
            Effect::Negotiate { generation, .. } => {
                session::begin(context, servers, (id, generation), session::negotiate, Event::Failed);
            }
            Effect::List { generation } => {
                session::begin(context, servers, (id, generation), session::list, Event::Failed);
            }
            Effect::Refresh { generation } => {
                session::begin(context, servers, (id, generation), session::refresh, |_| Event::RefreshFailed);
            }
            Effect::Probe { generation } => {
                session::begin(context, servers, (id, generation), session::probe, |_| Event::ProbeFailed);
            }
            Effect::FailCalls { generation, error } => context.attempts.fail_calls((id, generation), error),
            Effect::Stop { generation } => stop::stop(context, (id, generation)),
            Effect::Kill { generation } => stop::kill(context, (id, generation)),
            Effect::StopFailed { .. } => {
                if let Some(logs) = servers.logs(id) {
                    logs.push("the process could not be ended; it may still run");
                }
                servers.emit(HubEvent::Abandoned { id: uuid(id) });
            }
            Effect::Changed { state } => {
                let (Ok(config), Some(detail)) = (servers.config(id), servers.detail(id)) else { return };
                let error = detail.last_error.filter(|_| state != Lifecycle::Running);
                servers.emit(HubEvent::Status { id: uuid(id), name: config.name.trim().to_owned(), state, error });
            }
            _ => {}
        }
    }
}

impl ActionPerformer for Actions {
    fn perform(&self, servers: &mut Servers, action: Action) {
        match action {
            Action::Perform { server, effect } => self.perform_effect(servers, server, effect),
            Action::Persist { server, enabled, revision } => {
                let config = servers.config_at(server, revision);
                let configuration = Arc::clone(&self.configuration);
                self.context.settings.tasks.spawn(async move {
                    configuration.save_enabled(server, config, enabled).await;
                });
            }
            Action::Removed { server } => {
                let removed = self.context.attempts.remove_server(server);
                // Killing a process may block, and the caller holds the lock of the hub's state.
                self.context.settings.tasks.block_detached(move || drop(removed));
            }
            _ => {}
        }
    }
}
