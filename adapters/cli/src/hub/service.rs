//! [`HubService`]: answers the requests of commands with a hub in this process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpwire_hub::config::{McpConfig, Timeouts};
use mcpwire_hub::service::{AvailableTools, CallOptions, StatusDetail, Usage};
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{ErrorKind, Hub, HubError, McpService, Uuid};
use mcpwire_tokio::protocol::{Json, Progress, Tool};
use serde_json::Value;
use tokio::sync::{Mutex, Notify};
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::timeout;

use super::advice::is_starting;
use super::advice::{refusal, refusal_after_start, still_starting, with_login_command};
use super::find_in;
use super::notices::{Notice, OnNotice, listen, task};
use super::protocol::{CallMode, Called, Previewed, Request, Row, json};
use crate::text;

/// Time for which a measurement of memory usage is reused. Each measurement scans all processes of the machine.
const USAGE_LIFETIME: Duration = Duration::from_millis(500);

/// Maximum number of servers to list in the error for an unknown tool. These servers are not running, and may have the tool.
const MOST_ABSENT: usize = 5;

/// A hub in this process that answers the requests of commands. Clones share the hub.
#[derive(Clone)]
pub(crate) struct HubService {
    pub(crate) hub: Hub,
    usage: Arc<Mutex<Option<Measurement>>>,
    /// Notified when a command wants the hub to end.
    pub(super) end: Arc<Notify>,
}

/// The memory usage of all servers, and the time at which it was measured.
type Measurement = (Instant, Vec<(Uuid, Usage)>);

impl HubService {
    pub(crate) fn new(hub: Hub) -> Self {
        Self { hub, usage: Arc::default(), end: Arc::default() }
    }

    /// Performs a request and returns the result as JSON. Calls `tell` with the notifications of a call, a task or a
    /// subscription.
    pub(super) async fn answer(&self, request: Request, tell: OnNotice<'_>) -> Result<Json, HubError> {
        let hub = &self.hub;
        match request {
            Request::Status => json(&self.rows().await),
            Request::Start { server } => done(hub.start(find(hub, &server)?.id).await),
            Request::Stop { server } => done(hub.stop(find(hub, &server)?.id).await),
            Request::Restart { server } => done(hub.restart(find(hub, &server)?.id).await),
            Request::Try { timeout_ms } => {
                try_all(hub, timeout_ms.map_or(Timeouts::CALL_MAX, Duration::from_millis)).await;
                json(&self.rows().await)
            }
            Request::Add { configs, start } => {
                let configs = configs.iter().map(McpConfig::from_json).collect::<Result<Vec<_>, _>>()?;
                let added: Vec<(Uuid, bool)> =
                    configs.iter().map(|config| (config.id, start && config.enabled)).collect();
                let results = hub.create_all(configs).await?;
                for ((id, starts), result) in added.into_iter().zip(&results) {
                    if starts && result.is_ok() {
                        let hub = hub.clone();
                        tokio::spawn(async move { hub.boot_server(id).await });
                    }
                }
                json(&results.into_iter().map(Result::err).collect::<Vec<Option<HubError>>>())
            }
            Request::Update { config } => done(update(hub, McpConfig::from_json(&config)?).await),
            Request::Preview { config } => {
                let (config, secrets) = (McpConfig::from_json(&config)?, hub.secrets());
                let previewed = spawn_blocking(move || Previewed::new(&config, &*secrets)).await;
                json(&previewed.map_err(|error| HubError::unavailable(format!("the preview failed: {error}")))?)
            }
            Request::Remove { server } => done(hub.delete(find(hub, &server)?.id).await),
            // Only the running hub passes requests of servers to commands, and it takes their answers itself.
            Request::Answer { .. } => json(&()),
            Request::End => {
                self.end.notify_one();
                json(&())
            }
            Request::Reload => done(hub.reload().await),
            Request::Tools { server, timeout_ms } => {
                let only = server.map(|server| find(hub, &server)).transpose()?.map(|config| config.id);
                self.wait_for_starts(only, timeout_ms.map_or(Timeouts::CALL_MAX, Duration::from_millis)).await;
                if let Some(detail) = only.and_then(|id| hub.status_detail(id))
                    && let Some(refusal) = refusal(&detail).or_else(|| still_starting(&detail))
                {
                    return Err(refusal);
                }
                json(&exposed_tools(&hub.available_tools(), only))
            }
            Request::Tool { tool, server, timeout_ms } => {
                let id = self.server_of(&tool, server, timeout_ms).await?;
                let tools = hub.available_tools();
                let found = tools.of_server(id).find(|offered| offered.name == tool || offered.tool.name == tool);
                json(&found.map(|found| found.tool))
            }
            Request::Info { server, timeout_ms } => {
                let id = self.running(&server, timeout_ms).await?;
                json(&hub.server_info(id).await?)
            }
            Request::Ping { server, timeout_ms } => {
                let id = self.running(&server, timeout_ms).await?;
                done(hub.ping(id, timeout_ms.map(Duration::from_millis)).await)
            }
            Request::Send { server, method, params, timeout_ms } => {
                let id = self.running(&server, timeout_ms).await?;
                let params = params.as_ref().map(json).transpose()?;
                hub.request(id, &method, params.as_ref(), timeout_ms.map(Duration::from_millis)).await
            }
            Request::Call { tool, server, arguments, mode, timeout_ms } => {
                let asked = Instant::now();
                let is_named = server.is_some();
                let id = self.server_of(&tool, server, timeout_ms).await?;
                let only = Some(id).filter(|_| is_named);
                // Progress does not extend the timeout: the user does not want to wait longer.
                let left = timeout_ms.map(|limit| Duration::from_millis(limit).saturating_sub(asked.elapsed()));
                let with_login = |error| match hub.status_detail(id) {
                    Some(detail) => with_login_command(&detail.name, error),
                    None => error,
                };
                let result = self.call(id, &tool, &arguments, mode, left, tell).await;
                result.map_err(|error| with_login(explained(hub, only, &tool, error)))
            }
            Request::Task { server, action, handle, timeout_ms } => {
                let limit = timeout_ms.map(Duration::from_millis);
                let id = self.running(&server, timeout_ms).await?;
                let server = hub.running_server(id, None, limit.unwrap_or(Timeouts::CALL_MAX)).await?;
                server.run(task(server.client(), action, handle, limit, tell)).await
            }
            Request::Listen { server, resources, timeout_ms } => {
                let id = self.running(&server, timeout_ms).await?;
                let limit = timeout_ms.map_or(Timeouts::CALL_MAX, Duration::from_millis);
                let server = hub.running_server(id, None, limit).await?.for_long();
                let client = server.client();
                done(server.run(listen(client, client.notifications(), &resources, tell)).await)
            }
        }
    }

    async fn call(
        &self,
        id: Uuid,
        tool: &str,
        arguments: &Value,
        mode: CallMode,
        limit: Option<Duration>,
        tell: OnNotice<'_>,
    ) -> Result<Json, HubError> {
        let on_progress = |progress: &Progress| tell(Notice::new(Notice::PROGRESS, progress));
        if mode == CallMode::Call {
            let mut options = CallOptions::new().on_progress(on_progress);
            if let Some(limit) = limit {
                options = options.timeout(limit).total_timeout(limit);
            }
            return json(&self.hub.call_tool_full(id, tool, arguments, options).await?.result);
        }
        let server = self.hub.running_server(id, Some(tool), limit.unwrap_or(Timeouts::CALL_MAX)).await?;
        let mut call = server.client().call_tool(server.tool(), arguments);
        if let Some(limit) = limit {
            call = call.timeout(limit).total_timeout(limit);
        }
        if mode == CallMode::Detach {
            return json(&Called::new(server.run(call.as_task()).await?));
        }
        let call = call.on_progress(on_progress).on_status(|task| tell(Notice::new(Notice::TASK, task)));
        server.run(call.follow_task().raw()).await
    }

    /// Waits until no server is starting, or not the server `only`, but at most for `limit`.
    async fn wait_for_starts(&self, only: Option<Uuid>, limit: Duration) {
        let is_starting = |detail: &StatusDetail| is_starting(detail.state) && only.is_none_or(|id| id == detail.id);
        let started = async {
            let mut events = self.hub.events();
            while self.hub.details().iter().any(is_starting) && events.next().await.is_some() {}
        };
        let _ = timeout(limit, started).await;
    }

    /// Returns the server that has a tool, or the server with the given name. Waits until the server runs.
    async fn server_of(&self, tool: &str, server: Option<String>, timeout_ms: Option<u64>) -> Result<Uuid, HubError> {
        let Some(server) = server else {
            let asked = Instant::now();
            let timeout = timeout_ms.map_or(Timeouts::CALL_MAX, Duration::from_millis);
            // This also waits for servers that are starting and may have the tool.
            let found = self.hub.wait_for_tool_server(tool, timeout).await;
            let id = found.map_err(|error| explained(&self.hub, None, tool, error))?;
            return self.started(id, timeout.saturating_sub(asked.elapsed())).await;
        };
        self.running(&server, timeout_ms).await
    }

    /// Returns the id of the server with this name or id, as soon as the server runs.
    async fn running(&self, server: &str, timeout_ms: Option<u64>) -> Result<Uuid, HubError> {
        let timeout = timeout_ms.map_or(Timeouts::CALL_MAX, Duration::from_millis);
        self.started(find(&self.hub, server)?.id, timeout).await
    }

    /// Waits until a server runs, but at most for `limit`. A server that cannot run is refused at once, with advice.
    async fn started(&self, id: Uuid, limit: Duration) -> Result<Uuid, HubError> {
        if let Some(refusal) = self.hub.status_detail(id).as_ref().and_then(refusal) {
            return Err(refusal);
        }
        self.hub.wait_for_server(id, limit).await.map(|()| id).map_err(|error| match self.hub.status_detail(id) {
            Some(detail) => refusal_after_start(&detail, error),
            None => error,
        })
    }

    /// Returns the status of all servers, with their memory usage.
    ///
    /// Callers are served one at a time, and other tasks run in between. Therefore, clients that request the status in a loop
    /// delay each other, but do not delay tool calls.
    pub(crate) async fn rows(&self) -> Vec<Row> {
        let mut measured = self.usage.lock().await;
        yield_now().await;
        measured.take_if(|(at, _)| at.elapsed() >= USAGE_LIFETIME);
        let usage = if let Some((_, usage)) = &*measured {
            usage
        } else {
            let hub = self.hub.clone();
            let usage = spawn_blocking(move || hub.usage()).await.unwrap_or_default();
            &measured.insert((Instant::now(), usage)).1
        };
        let row = |detail: StatusDetail| {
            let usage = usage.iter().find(|(id, _)| *id == detail.id).map(|(_, usage)| *usage);
            Row::new(detail, usage)
        };
        self.hub.details().into_iter().map(row).collect()
    }
}

/// Changes the configuration of a server.
///
/// If another program has changed `servers.json` since the hub read the file, the hub reads it again and repeats the change.
/// The command that sent `config` has already read the newer file.
async fn update(hub: &Hub, config: McpConfig) -> Result<(), HubError> {
    match hub.update(config.clone()).await {
        Err(error) if error.kind() == ErrorKind::Conflict && error.field() == "revision" => {
            hub.reload().await?;
            hub.update(config).await
        }
        result => result,
    }
}

/// Returns the configuration of the hub's server with this name or id.
pub(super) fn find(hub: &Hub, server: &str) -> Result<McpConfig, HubError> {
    find_in(hub.list(), server)
}

/// Starts each enabled server that is not running, except servers that the user has stopped. Waits until each server is running
/// or has failed, but at most for `limit`. The starts go on afterwards.
async fn try_all(hub: &Hub, limit: Duration) {
    let mut starts = JoinSet::new();
    for StatusDetail { id, enabled, state, .. } in hub.details() {
        let is_settled = matches!(state, State::Running | State::Stopped | State::Stopping);
        if enabled && !is_settled {
            let hub = hub.clone();
            starts.spawn(async move { hub.boot_server(id).await });
        }
    }
    let _ = timeout(limit, async { while starts.join_next().await.is_some() {} }).await;
    starts.detach_all();
}

/// Creates the error for a call of an unknown tool of the server `only`, or of any server. The error suggests a similar name, or
/// else names servers that may have the tool but are not running.
pub(crate) fn unknown_tool(hub: &Hub, only: Option<Uuid>, tool: &str) -> HubError {
    let error = HubError::unknown_tool(tool);
    let with_note = |note: String| error.clone().with_message(format!("{}. {note}", error.message()));
    let tools = hub.available_tools();
    if let Some(config) = only.and_then(|id| hub.get(id)) {
        let (id, name) = (config.id, config.name.trim());
        let names = tools.of_server(id).map(|offered| (offered.tool.name.as_str(), offered.tool.name.as_str()));
        let note = match text::nearest(tool, names) {
            Some(nearest) => format!("Did you mean {nearest}?"),
            None => format!("List its tools: mcpwire tools {}", text::word(name)),
        };
        let message = format!("server `{name}`: {}. {note}", error.message());
        return error.with_message(message);
    }
    if let Some((server, rest)) = tool.split_once("__").filter(|_| hub.find_tool_server(tool).is_none()) {
        // Starting all servers would not find such a tool.
        let configs = hub.list();
        let names: Vec<&str> = configs.iter().map(|config| config.name.trim()).collect();
        let instead = match text::nearest(server, names.iter().map(|name| (*name, name))) {
            Some(nearest) => format!("Did you mean {}__{rest}?", nearest.to_lowercase().replace(' ', "_")),
            None => format!("Configured servers: {}", names.join(", ")),
        };
        return HubError::not_found(
            "server",
            format!("no server is called `{server}`, so there is no tool `{tool}`. {instead}"),
        );
    }
    let alike: Vec<&str> =
        tools.iter().filter(|offered| offered.tool.name == tool).map(|offered| offered.name).collect();
    if !alike.is_empty() {
        return with_note(format!("Several servers have one of that name: {}", alike.join(", ")));
    }
    // The user may have typed the name of the tool with or without the prefix of the server.
    let names = tools.iter().flat_map(|offered| [offered.name, &*offered.tool.name].map(|name| (name, offered.name)));
    if let Some(nearest) = text::nearest(tool, names) {
        return with_note(format!("Did you mean {nearest}?"));
    }
    let absent = hub.details().into_iter().filter(|detail| detail.enabled && lacks_tools(detail));
    let mut absent: Vec<String> = absent.map(|detail| format!("{} ({})", detail.name, detail.state)).collect();
    if absent.len() > MOST_ABSENT {
        let more = format!("{} more", absent.len() - MOST_ABSENT);
        absent.splice(MOST_ABSENT.., [more]);
    }
    if absent.is_empty() {
        return with_note("List the tools: mcpwire tools".to_owned());
    }
    with_note(format!("Servers that do not run may have it: {}. See mcpwire status", absent.join(", ")))
}

/// Returns the tools of one server, or of all servers, with their exposed names: `<server>__<tool>`.
pub(crate) fn exposed_tools(tools: &AvailableTools, only: Option<Uuid>) -> Vec<Tool> {
    let wanted = tools.iter().filter(|tool| only.is_none_or(|id| id == tool.mcp_id));
    let named = wanted.map(|offered| {
        let mut tool = offered.tool.clone();
        offered.name.clone_into(&mut tool.name);
        tool
    });
    named.collect()
}

/// Adds a suggestion to the error of a call if the tool is unknown.
fn explained(hub: &Hub, only: Option<Uuid>, tool: &str, error: HubError) -> HubError {
    match error.kind() {
        ErrorKind::ToolNotFound => unknown_tool(hub, only, tool),
        _ => error,
    }
}

/// Returns whether the tools of a server are missing from the hub's list of tools, because the server is neither running nor
/// sleeping.
pub(crate) fn lacks_tools(detail: &StatusDetail) -> bool {
    !matches!(detail.state, State::Running | State::Sleeping)
}

fn done(result: Result<(), HubError>) -> Result<Json, HubError> {
    result.and_then(|()| json(&()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mcpwire_hub::HubOptions;
    use mcpwire_hub::layout::Layout;

    use super::*;

    #[tokio::test]
    async fn clients_that_ask_for_the_status_take_turns_with_each_other_and_not_with_calls() {
        let directory = tempfile::tempdir().unwrap();
        let hub = Hub::open(HubOptions::new(Layout::below(directory.path()))).await.unwrap();
        let service = HubService::new(hub);
        service.rows().await;
        let served = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let (service, served) = (service.clone(), Arc::clone(&served));
            tokio::spawn(async move {
                loop {
                    service.rows().await;
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // A tool call needs about 20 polls.
        for _ in 0..20 {
            yield_now().await;
        }
        let served = served.load(Ordering::Relaxed);
        assert!(served <= 40, "{served} in 20 turns");
    }
}
