//! [`Hub`].

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_core::Era;
use mcpwire_supervisor::Command;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::call_failure::CallFailure;
use super::detail::{StatusDetail, millis};
use super::events::Events;
use super::interface::{Answer, McpService, McpStatus};
use super::options::{HubOptions, Settings};
use super::outcome::{CallOptions, ToolOutcome};
use super::shared::{Booted, Shared, hub_has_ended};
use super::snapshot::{AvailableTools, FoundTool, server_id, uuid};
use super::usage::{self, Usage};
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::{Launch, Preview, preview};
use crate::ledger::Reaped;
use crate::secrets::SecretStore;
use crate::store::BrokenEntry;
use crate::tasks::Client;

/// How many lines of standard error a [`StatusDetail`] shows.
const TAIL: usize = 12;

/// How long what an earlier hub left is given to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Many MCP servers: configured, supervised and called. Cheap to clone. It runs on the tokio runtime that it is
/// opened in, or on whatever [`HubOptions::on`] says.
///
/// When the last clone is dropped, all servers are ended at once, with all that they started;
/// [`shutdown_all`](McpService::shutdown_all) does it politely. See the [module](super) for an example.
#[derive(Clone)]
pub struct Hub(Arc<Alive>);

/// Ends everything when it is dropped. Tasks hold what is in it, and not this.
struct Alive {
    shared: Arc<Shared>,
    reaped: Reaped,
    broken: Vec<BrokenEntry>,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl Hub {
    /// Reads what is configured, and ends what an earlier hub that was killed has left behind. Nothing is started yet.
    ///
    /// # Errors
    ///
    /// Those of [`Store::load`](crate::store::Store::load): a file that cannot be read is never taken for an empty one.
    pub async fn open(options: HubOptions) -> Result<Hub, HubError> {
        let settings = Settings::of(options);
        let (store, ledger) = (Arc::clone(&settings.store), Arc::clone(&settings.ledger));
        let loaded = settings.tasks.block(move || {
            let loaded = store.load()?;
            // A ledger that cannot be read keeps nobody from starting servers.
            Ok((loaded, ledger.reap(GRACE).unwrap_or_default()))
        });
        let (loaded, reaped) = loaded.await??;
        for container in &reaped.containers {
            super::containers::remove(container.clone(), &settings.tasks).await;
        }
        let shared = Shared::new(settings, RandomState::new().build_hasher().finish());
        let mut broken = loaded.broken;
        for (index, config) in loaded.configs.into_iter().enumerate() {
            let (id, name) = (config.id, config.name.clone());
            if let Err(error) = shared.adopt(config).await {
                broken.push(BrokenEntry { index, id: Some(id), name: Some(name), error });
            }
        }
        Ok(Hub(Arc::new(Alive { shared, reaped, broken })))
    }

    /// Starts all servers that are enabled, a few at a time, and waits until each of them has come up or has failed. One that
    /// fails stops nobody.
    pub async fn boot(&self) -> Result<Booted, HubError> {
        let (sender, booted) = oneshot::channel();
        self.shared().act(|core, now| {
            core.booting.push(sender);
            core.supervisor.boot(now);
        });
        booted.await.map_err(|_| hub_has_ended())
    }

    /// Starts one server as [`boot`](Self::boot) does, and waits until it runs or has failed: it waits for its turn, and a lazy
    /// server whose tools are known is not started before it is called.
    ///
    /// # Errors
    ///
    /// Those of [`McpService::start`].
    pub async fn boot_server(&self, id: Uuid) -> Result<(), HubError> {
        self.shared().command(server_id(id), Command::Boot).await
    }

    /// What an earlier hub had left behind when this one was opened, and has been ended.
    pub fn reaped(&self) -> &Reaped {
        &self.0.reaped
    }

    /// The entries of the file that could not be read, or could not be used, when the hub was opened. They are still there.
    pub fn broken(&self) -> &[BrokenEntry] {
        &self.0.broken
    }

    /// Where the secrets are.
    pub fn secrets(&self) -> Arc<dyn SecretStore> {
        Arc::clone(&self.shared().settings.secrets)
    }

    /// What the processes of each server use, those that it has started included; in the order of [`McpService::list`]. Looks
    /// at all processes of the machine: not for every millisecond. Empty where the system does not tell.
    pub fn usage(&self) -> Vec<(Uuid, Usage)> {
        let pids: Vec<(Uuid, u32)> =
            self.details().into_iter().filter_map(|detail| Some((detail.id, detail.pid?))).collect();
        usage::of_groups(&pids)
    }

    /// All that is known of all servers, in the order of the file.
    pub fn details(&self) -> Vec<StatusDetail> {
        let ids = self.shared().lock().order.clone();
        ids.into_iter().filter_map(|id| self.status_detail(uuid(id))).collect()
    }

    /// Notes that somebody has looked at [`StatusDetail::changed_tools`] of a server: they are not shown there any more.
    pub fn acknowledge_changes(&self, id: Uuid) {
        self.shared().lock().supervisor.acknowledge_changes(server_id(id));
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    /// Calls a tool. The name is the server's own, or the exposed one.
    pub(super) async fn call(
        &self,
        server: Uuid,
        tool: &str,
        arguments: &(impl Serialize + Sync),
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, CallFailure> {
        self.shared().call(server, tool, arguments, options).await
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.shared().lock().order.len();
        f.debug_struct("Hub").field("servers", &servers).field("tools", &self.available_tools()).finish()
    }
}

impl McpService for Hub {
    fn list(&self) -> Vec<McpConfig> {
        let core = self.shared().lock();
        core.order.iter().filter_map(|id| Some((*core.managed.get(id)?.config).clone())).collect()
    }

    fn get(&self, id: Uuid) -> Option<McpConfig> {
        let config = self.shared().lock().config(server_id(id)).ok()?;
        Some((*config).clone())
    }

    fn status(&self, id: Uuid) -> McpStatus {
        let status = self.shared().lock().supervisor.status(server_id(id));
        status.unwrap_or_else(|| McpStatus::Error { message: HubError::unknown_server(server_id(id)).message })
    }

    fn status_detail(&self, id: Uuid) -> Option<StatusDetail> {
        let now = self.shared().now();
        let mut core = self.shared().lock();
        let server = server_id(id);
        let detail = core.supervisor.detail(server)?;
        let client = core.attempt(server, detail.generation).and_then(|attempt| attempt.client.clone());
        let changed_tools = core.supervisor.changes(server);
        let managed = core.managed.get(&server)?;
        let era = client.as_ref().and_then(Client::protocol_version).map(|version| match version.era() {
            Era::Modern => "modern".to_owned(),
            Era::Legacy => "legacy".to_owned(),
        });
        let shown = StatusDetail {
            id,
            name: managed.config.name.trim().to_owned(),
            enabled: managed.config.enabled,
            state: detail.state,
            for_ms: millis(now.duration_since(detail.since)),
            version: detail.version,
            era,
            pid: client.as_ref().and_then(Client::pid).or(detail.pid),
            tools: detail.tools,
            changed_tools,
            calls: detail.calls,
            calls_in_flight: detail.calls_in_flight,
            restarts: detail.restarts,
            attempt: detail.attempt,
            retry_in_ms: detail.retry_at.map(|at| millis(at.duration_since(now))),
            last_error: detail.last_error,
            stderr_tail: managed.logs.tail(TAIL),
        };
        drop(core);
        Some(shown)
    }

    fn start(&self, id: Uuid) -> Answer<'_, ()> {
        Box::pin(self.shared().command(server_id(id), Command::Start))
    }

    fn stop(&self, id: Uuid) -> Answer<'_, ()> {
        Box::pin(self.shared().command(server_id(id), Command::Stop))
    }

    fn restart(&self, id: Uuid) -> Answer<'_, ()> {
        Box::pin(self.shared().command(server_id(id), Command::Restart))
    }

    fn available_tools(&self) -> AvailableTools {
        self.shared().looked_at();
        AvailableTools(self.shared().catalogue())
    }

    fn find_tool_provider(&self, tool_name: &str) -> Option<Uuid> {
        self.available_tools().find(tool_name).map(|tool| tool.mcp_id)
    }

    fn find_tool_server(&self, tool_name: &str) -> Option<Uuid> {
        self.find_tool_provider(tool_name)
            .or_else(|| self.shared().lock().supervisor.server_of_tool(tool_name).map(uuid))
    }

    fn resolve(&self, tool_name: &str) -> Option<FoundTool> {
        self.available_tools().find(tool_name).map(super::snapshot::AvailableTool::found)
    }

    fn search_tools(&self, query: &str, most: usize) -> Vec<FoundTool> {
        self.available_tools().search(query, most)
    }

    fn call_tool<'a>(&'a self, mcp_id: Uuid, tool_name: &'a str, arguments: &'a Value) -> Answer<'a, String> {
        Box::pin(async move {
            let outcome = self.call(mcp_id, tool_name, arguments, CallOptions::new()).await;
            let outcome = outcome.map_err(|failure| failure.error)?;
            let text = outcome.text();
            if outcome.result.is_error { Err(HubError::unavailable(text)) } else { Ok(text) }
        })
    }

    fn call_tool_full<'a>(
        &'a self,
        mcp_id: Uuid,
        tool_name: &'a str,
        arguments: &'a Value,
        options: CallOptions<'a>,
    ) -> Answer<'a, ToolOutcome> {
        Box::pin(async move { self.call(mcp_id, tool_name, arguments, options).await.map_err(|failure| failure.error) })
    }

    fn create(&self, config: McpConfig) -> Answer<'_, ()> {
        Box::pin(self.shared().create(config))
    }

    fn update(&self, config: McpConfig) -> Answer<'_, ()> {
        Box::pin(self.shared().update(config))
    }

    fn delete(&self, id: Uuid) -> Answer<'_, ()> {
        Box::pin(self.shared().delete(id))
    }

    fn reload(&self) -> Answer<'_, ()> {
        Box::pin(self.shared().reload())
    }

    fn shutdown_all(&self) -> Answer<'_, ()> {
        let by = self.shared().now() + self.shared().settings.shutdown_within;
        Box::pin(self.shared().ask(move |core, name, now| core.supervisor.shutdown(name, by, now)))
    }

    fn events(&self) -> Events {
        self.shared().listeners.add()
    }

    fn logs(&self, id: Uuid) -> Vec<String> {
        let logs = self.shared().lock().managed.get(&server_id(id)).map(|managed| managed.logs.clone());
        logs.map(|logs| logs.lines()).unwrap_or_default()
    }

    fn preview_command(&self, id: Uuid) -> Option<Preview> {
        let config = self.shared().lock().config(server_id(id)).ok()?;
        Some(preview(&config))
    }

    fn consent<'a>(&'a self, id: Uuid, hash: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut config = (*self.shared().lock().config(server_id(id))?).clone();
            if config.hash() != hash {
                let message = "What it starts has changed since it was shown. Look at it again";
                return Err(HubError::conflict("consent", message));
            }
            config.give_consent();
            self.shared().update(config).await
        })
    }

    fn secrets_status(&self, id: Uuid) -> Answer<'_, Vec<String>> {
        Box::pin(async move {
            let config = self.shared().lock().config(server_id(id))?;
            let secrets = self.secrets();
            let missing = self.shared().tasks.block(move || Launch::missing(&config, &*secrets));
            missing.await?
        })
    }
}
