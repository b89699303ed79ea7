//! [`Hub`]: manages many MCP servers as one service.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::Era;
use mcpwire_supervisor::{Command, State as Lifecycle};
use mcpwire_tool_client::CallOptions;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::attempt::{Attempt, Connection};
use super::call_builder::Call;
use super::call_hooks::arguments_to_json;
use super::events::Events;
use super::hub_state::{HubState, OpenHub};
use super::mcp_service::{McpService, McpStatus, ServiceFuture};
use super::options::{HubOptions, Settings};
use super::servers::BootReport;
use super::status::{StatusDetail, Usage, millis, usage_of_groups};
use super::tools::{AvailableTools, ToolOutcome, server_id, uuid};
use super::{background_tasks, containers};
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::{Launch, Preview, preview};
use crate::process_registry::Reaped;
use crate::secrets::SecretStore;
use crate::store::BrokenEntry;
use crate::tasks::Client;

/// Maximum number of the last lines from a server's standard error that a [`StatusDetail`] contains.
const STDERR_TAIL: usize = 12;

/// Maximum time for server processes that a killed hub has left to end after a request to do so: 2 s. Processes that
/// are still running after this time are killed.
const REAP_TIMEOUT: Duration = Duration::from_secs(2);

/// Manages many MCP servers as one service: stores their configurations, supervises them, and calls their tools. Cheap to clone:
/// all clones share the servers.
///
/// The hub runs on the tokio runtime in which it is opened, or on the runtime that the program passes to [`HubOptions::on`]. When
/// the last clone is dropped, the hub kills all servers and the processes that the servers have started. To stop the servers
/// gracefully, call [`shutdown_all`](McpService::shutdown_all) first. The [module](super) contains an example.
#[derive(Clone)]
pub struct Hub(pub(super) Arc<OpenHub>);

impl Hub {
    /// Opens a hub: reads the configurations of the servers, and ends the server processes that a killed hub has left. Does not
    /// start a server: [`boot`](Self::boot) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::load`](crate::store::Store::load), for example if the configuration file cannot be read.
    /// Also fails if a later version of this program has written the list of server processes.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, unless [`HubOptions::on`] or [`HubOptions::in_memory_on`] has set a runtime.
    pub async fn open(options: HubOptions) -> Result<Hub, HubError> {
        let settings = Settings::from(options);
        let (store, registry) = (settings.store.clone(), settings.process_registry.clone());
        let loaded = settings.tasks.block(move || {
            let loaded = store.map(|store| store.load()).transpose()?;
            if let Some(registry) = &registry {
                registry.check()?;
            }
            // Errors are ignored: processes that cannot be ended do not prevent the start of servers.
            let reaped = registry.and_then(|registry| registry.reap(REAP_TIMEOUT).ok());
            Ok::<_, HubError>((loaded, reaped.unwrap_or_default()))
        });
        let (loaded, reaped) = loaded.await??;
        for container in &reaped.containers {
            containers::remove(container.clone(), &settings.tasks).await;
        }
        if let (Some(registry), false) = (settings.process_registry.clone(), reaped.containers.is_empty()) {
            let reaped = reaped.clone();
            // Errors are ignored: if this hub cannot remove the records, the next hub removes them.
            let _ = settings.tasks.block(move || registry.forget_reaped(&reaped)).await;
        }
        let state = HubState::new(settings, RandomState::new().build_hasher().finish());
        let tasks = &state.settings.tasks;
        tasks.spawn(background_tasks::call_supervisor(Arc::downgrade(&state), tasks.timer()));
        tasks.spawn(background_tasks::watch_logins(Arc::downgrade(&state), tasks.timer()));
        let (configs, mut broken) = loaded.map(|loaded| (loaded.configs, loaded.broken)).unwrap_or_default();
        for (index, config) in configs.into_iter().enumerate() {
            if let Err(error) = state.restore(config.clone()).await {
                broken.push(BrokenEntry::unusable(index, &config, error));
            }
        }
        Ok(Hub(Arc::new(OpenHub { state, reaped, broken })))
    }

    /// Starts all enabled servers, a few at a time, and waits until each server has started or failed. The failure of one server
    /// does not affect the others. A lazy server whose tools are known is not started until one of its tools is called.
    pub async fn boot(&self) -> Result<BootReport, HubError> {
        self.0.state.boot().await
    }

    /// Starts one server in the same way as [`boot`](Self::boot), and waits until it has started or failed. If too many servers
    /// are already starting, the server waits for its turn. A lazy server whose tools are known is not started until one of its
    /// tools is called.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::start`].
    pub async fn boot_server(&self, id: Uuid) -> Result<(), HubError> {
        self.0.state.command(server_id(id), Command::Boot).await
    }

    /// Creates a call of a tool of any server. Awaiting the returned [`Call`] sends it.
    ///
    /// `name` is the exposed name of the tool (`<server>__<tool>`), or a tool name that only one server uses. `arguments`
    /// serializes to a JSON object, or to a list of pairs of a name and a value. The arguments are serialized at once, so the
    /// call does not borrow them, nor the name or the hub. It can therefore be spawned:
    /// `set.spawn(hub.call(&name, &arguments).send())`. If the serialization fails, the sent call returns the error.
    ///
    /// If the server sleeps, the call starts the server and waits for it. If the server is already starting, the call waits for
    /// at most [`Policy::call_wait_start`](mcpwire_supervisor::Policy::call_wait_start). It then fails with
    /// [`ErrorKind::Starting`](crate::ErrorKind::Starting).
    ///
    /// ```no_run
    /// # async fn run(hub: mcpwire_hub::Hub) -> Result<(), mcpwire_hub::HubError> {
    /// let outcome = hub.call("everything__echo", [("message", "hi")]).await?;
    /// println!("{}", outcome.text());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`HubError::kind`] says why the call has no result. A tool that ran and failed has a result, so this is not an error.
    pub fn call<'c>(&self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<'c> {
        Call::new(Arc::clone(&self.0), name.as_ref(), &arguments)
    }

    /// Adds a server, or replaces the configuration of the server that has the same name. Returns the id of the server.
    ///
    /// A new server is not started: [`boot`](Self::boot) starts it. If the hub has already booted, call
    /// [`boot_server`](Self::boot_server). A running server restarts if its program or address has changed. Otherwise it
    /// continues to run.
    ///
    /// A program that configures its servers in code calls this function at each start. An existing server keeps its id and the
    /// consent of the user. A new server gets the id [`McpConfig::id_of_name`], which is the same in each run, unless a renamed
    /// server already has this id. If a disabled server becomes enabled, it is started as [`McpService::update`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::create`] and [`McpService::update`].
    pub async fn upsert(&self, config: McpConfig) -> Result<Uuid, HubError> {
        // Boxed, because the future is large: it contains several configurations.
        Box::pin(self.0.state.upsert(config)).await
    }

    /// Returns the id of the server to which a tool name belongs. [`call`](Self::call) finds the server in the same way.
    ///
    /// Until a server has listed its tools, a tool name without the prefix of the server is unknown. The search therefore waits
    /// for servers that are starting. It waits as long as their
    /// [`Policy::call_wait_start`](mcpwire_supervisor::Policy::call_wait_start) allows, but at most for `timeout`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ToolNotFound`](crate::ErrorKind::ToolNotFound) if no server has the tool.
    /// [`ErrorKind::Starting`](crate::ErrorKind::Starting) if a server that is still starting may have the tool.
    pub async fn wait_for_tool_server(&self, tool_name: &str, timeout: Duration) -> Result<Uuid, HubError> {
        self.0.state.find_tool(tool_name, timeout).await.map(|(id, _)| uuid(id))
    }

    /// Waits until a server runs and its tools can be called. If the server sleeps, this function starts it.
    ///
    /// # Errors
    ///
    /// Returns the same error as a call that cannot be sent, without the name of a tool. This is
    /// [`ErrorKind::Starting`](crate::ErrorKind::Starting) if the server is still starting after `timeout` or after
    /// [`Policy::call_wait_start`](mcpwire_supervisor::Policy::call_wait_start).
    pub async fn wait_for_server(&self, id: Uuid, timeout: Duration) -> Result<(), HubError> {
        let hub = &self.0.state;
        hub.prepare(server_id(id), hub.now() + timeout).await
    }

    /// Returns a report about the server processes that killed hubs had left when this hub was opened, and whether they could be
    /// ended.
    pub fn reaped(&self) -> &Reaped {
        &self.0.reaped
    }

    /// Returns the entries of the configuration file that could not be read or used when the hub was opened. The hub keeps these
    /// entries in the file unchanged.
    pub fn broken(&self) -> &[BrokenEntry] {
        &self.0.broken
    }

    /// Returns the store of the servers' secrets, so that the program can add or remove secrets.
    pub fn secrets(&self) -> Arc<dyn SecretStore> {
        Arc::clone(&self.0.state.settings.secrets)
    }

    /// Returns the memory and the number of processes of each server, in the order of [`McpService::list`].
    ///
    /// Servers without a process are omitted. This function reads the state of all processes of the machine, so do not call it
    /// often. Empty on systems other than Linux.
    pub fn usage(&self) -> Vec<(Uuid, Usage)> {
        let pids: Vec<(Uuid, u32)> =
            self.details().into_iter().filter_map(|detail| Some((detail.id, detail.pid?))).collect();
        usage_of_groups(&pids)
    }

    /// Returns the detailed state of all servers, in the order of the configuration file.
    pub fn details(&self) -> Vec<StatusDetail> {
        let ids: Vec<Uuid> = self.0.state.lock().iter().map(|server| server.config.id).collect();
        ids.into_iter().filter_map(|id| self.status_detail(id)).collect()
    }

    /// Removes all changes of a server's tools from [`StatusDetail::changed_tools`]. Call this after the user has reviewed the
    /// changes.
    pub fn acknowledge_changes(&self, id: Uuid) {
        self.0.state.update(|servers, _| servers.supervisor.acknowledge_changes(server_id(id)));
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.0.state.lock().iter().count();
        f.debug_struct("Hub").field("servers", &servers).field("tools", &self.available_tools()).finish()
    }
}

impl McpService for Hub {
    fn list(&self) -> Vec<McpConfig> {
        self.0.state.lock().iter().map(|server| (*server.config).clone()).collect()
    }

    fn available_tools(&self) -> AvailableTools {
        self.0.state.refresh_expired();
        AvailableTools::new(self.0.state.catalogue())
    }

    fn call_tool_full<'a>(
        &'a self,
        mcp_id: Uuid,
        tool_name: &'a str,
        arguments: &'a Value,
        options: CallOptions<'a>,
    ) -> ServiceFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let arguments = arguments_to_json(arguments)?;
            self.0.state.call(Some(server_id(mcp_id)), tool_name, arguments, options).await
        })
    }

    fn get(&self, id: Uuid) -> Option<McpConfig> {
        Some((*self.0.state.config(server_id(id)).ok()?).clone())
    }

    fn status(&self, id: Uuid) -> McpStatus {
        let id = server_id(id);
        let status = self.0.state.lock().supervisor.status(id);
        status.unwrap_or_else(|| McpStatus::Error { message: HubError::unknown_server(id).message().to_owned() })
    }

    fn status_detail(&self, id: Uuid) -> Option<StatusDetail> {
        let server = server_id(id);
        let now = self.0.state.now();
        let (detail, changed_tools, config, logs, connection, login) = {
            let servers = self.0.state.lock();
            let (server, detail) = (servers.get(server)?, servers.supervisor.detail(server)?);
            let needs_login = detail.state == Lifecycle::NeedsLogin;
            let login = server.login.as_ref().filter(|_| needs_login).and_then(|login| login.required.clone());
            let connection = server.attempts.get(&detail.generation).and_then(Attempt::connection);
            let changed_tools = servers.supervisor.changes(server.id());
            (detail, changed_tools, Arc::clone(&server.config), server.logs.clone(), connection, login)
        };
        let client = connection.as_ref().map(|connection| &connection.client);
        let invalid_messages = connection.as_ref().and_then(|Connection { client, redactor, .. }| {
            let invalid = client.invalid_messages();
            (invalid.count() > 0).then(|| redactor.redact(invalid.to_string().trim_start_matches("; ")))
        });
        let era = client.and_then(Client::protocol_version).map(|version| match version.era() {
            Era::Modern => "modern".to_owned(),
            Era::Legacy => "legacy".to_owned(),
        });
        Some(StatusDetail {
            id,
            name: config.name.trim().to_owned(),
            enabled: config.enabled,
            state: detail.state,
            for_ms: millis(now.duration_since(detail.since)),
            version: detail.version,
            era,
            pid: client.and_then(Client::pid).or(detail.pid),
            tools: detail.tools,
            changed_tools,
            calls: detail.calls,
            calls_in_flight: detail.calls_in_flight,
            restarts: detail.restarts,
            attempt: detail.attempt,
            retry_in_ms: detail.retry_at.map(|at| millis(at.duration_since(now))),
            last_error: detail.last_error,
            stderr_tail: logs.tail(STDERR_TAIL),
            invalid_messages,
            login,
        })
    }

    fn start(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.command(server_id(id), Command::Start))
    }

    fn stop(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.command(server_id(id), Command::Stop))
    }

    fn restart(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.command(server_id(id), Command::Restart))
    }

    fn find_tool_server(&self, tool_name: &str) -> Option<Uuid> {
        self.0.state.server_of(tool_name).map(uuid)
    }

    fn create(&self, config: McpConfig) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.create(config))
    }

    fn create_all(&self, configs: Vec<McpConfig>) -> ServiceFuture<'_, Vec<Result<(), HubError>>> {
        Box::pin(self.0.state.create_all(configs))
    }

    fn update(&self, config: McpConfig) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.replace(config))
    }

    fn delete(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.delete(id))
    }

    fn reload(&self) -> ServiceFuture<'_, ()> {
        Box::pin(self.0.state.reload())
    }

    fn shutdown_all(&self) -> ServiceFuture<'_, ()> {
        Box::pin(async {
            let hub = &self.0.state;
            let within = hub.settings.shutdown_within;
            let shutdown = hub.request(|supervisor, command, now| supervisor.shutdown(command, now + within, now));
            let ended = shutdown.await;
            ended.and(self.logins().settle().await)
        })
    }

    fn events(&self) -> Events {
        self.0.state.events()
    }

    fn logs(&self, id: Uuid) -> Vec<String> {
        self.0.state.logs(server_id(id)).map(|logs| logs.lines()).unwrap_or_default()
    }

    fn preview_command(&self, id: Uuid) -> Option<Preview> {
        self.get(id).map(|config| preview(&config, &*self.0.state.settings.secrets))
    }

    fn consent<'a>(&'a self, id: Uuid, hash: &'a str) -> ServiceFuture<'a, ()> {
        Box::pin(self.0.state.consent(server_id(id), hash))
    }

    fn secrets_status(&self, id: Uuid) -> ServiceFuture<'_, Vec<String>> {
        Box::pin(async move {
            let (config, secrets) = (self.0.state.config(server_id(id))?, self.secrets());
            let missing = self.0.state.settings.tasks.block(move || Launch::missing(&config, &*secrets));
            missing.await?
        })
    }
}
