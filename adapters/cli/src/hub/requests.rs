//! What a command asks of a hub, in the same process or in another.

use std::time::Duration;

use mcpwire_blocking::protocol::{Json, Progress, Tool};
use mcpwire_hub::config::{McpConfig, folded};
use mcpwire_hub::service::{CallOptions, StatusDetail, Usage};
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{Hub, HubError, McpService, Uuid};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinSet;

use super::advice::refusal;

/// What a command asks. Servers are named by their name or id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Request {
    /// How all servers are: a list of [`Row`].
    Status,
    /// The same whenever something has changed.
    Watch,
    /// The same, once all servers have been tried that do not run although nobody has stopped them.
    Try,
    Start {
        server: String,
    },
    Stop {
        server: String,
    },
    Restart {
        server: String,
    },
    Add {
        config: Value,
        /// Whether it is also started, which nobody waits for.
        #[serde(default)]
        start: bool,
    },
    Update {
        config: Value,
    },
    Remove {
        server: String,
    },
    /// The file was changed by somebody else.
    Reload,
    /// The tools of one server, or of all, by the names to call them by.
    Tools {
        server: Option<String>,
    },
    /// The result of a call, as its server gave it; before it, how far the call is.
    Call {
        tool: String,
        server: Option<String>,
        arguments: Value,
        timeout_ms: Option<u64>,
    },
}

/// What a hub answers.
#[cfg(unix)]
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Response {
    /// Of a call that goes on.
    Progress(Progress),
    Done(Json),
    Error(HubError),
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) detail: StatusDetail,
    pub(super) usage: Option<Usage>,
}

/// Who is told how far a call is.
pub(super) type OnProgress<'a> = &'a mut (dyn FnMut(&Progress) + Send);

/// The answer to all but [`Request::Watch`], which has many.
pub(super) async fn answer(hub: &Hub, request: Request, on_progress: OnProgress<'_>) -> Result<Json, HubError> {
    match request {
        Request::Status | Request::Watch => json(&rows(hub)),
        Request::Start { server } => done(hub.start(find(hub, &server)?.id).await),
        Request::Stop { server } => done(hub.stop(find(hub, &server)?.id).await),
        Request::Restart { server } => done(hub.restart(find(hub, &server)?.id).await),
        Request::Try => {
            try_all(hub).await;
            json(&rows(hub))
        }
        Request::Add { config, start } => {
            let config = McpConfig::from_json(&config)?;
            let starts = start && config.enabled;
            let id = config.id;
            hub.create(config).await?;
            if starts {
                let hub = hub.clone();
                tokio::spawn(async move { hub.boot_server(id).await });
            }
            json(&())
        }
        Request::Update { config } => done(hub.update(McpConfig::from_json(&config)?).await),
        Request::Remove { server } => done(hub.delete(find(hub, &server)?.id).await),
        Request::Reload => done(hub.reload().await),
        Request::Tools { server } => {
            let only = server.map(|server| find(hub, &server)).transpose()?.map(|config| config.id);
            let tools = hub.available_tools();
            let wanted = tools.iter().filter(|tool| only.is_none_or(|id| id == tool.mcp_id));
            let named = wanted.map(|offered| {
                let mut tool = offered.tool.clone();
                offered.name.clone_into(&mut tool.name);
                tool
            });
            json(&named.collect::<Vec<Tool>>())
        }
        Request::Call { tool, server, arguments, timeout_ms } => {
            let id = match server {
                Some(server) => find(hub, &server)?.id,
                None => server_of(hub, &tool)?,
            };
            if let Some(refusal) = hub.status_detail(id).as_ref().and_then(refusal) {
                return Err(refusal);
            }
            let mut options = CallOptions::new().on_progress(on_progress);
            if let Some(timeout) = timeout_ms.map(Duration::from_millis) {
                // Reports of progress do not put it off: it is how long somebody wants to wait.
                options = options.timeout(timeout).total_timeout(timeout);
            }
            json(&hub.call_tool_full(id, &tool, &arguments, options).await?.result)
        }
    }
}

pub(super) fn rows(hub: &Hub) -> Vec<Row> {
    let usage = hub.usage();
    let of = |id: Uuid| usage.iter().find(|(of, _)| *of == id).map(|(_, usage)| *usage);
    hub.details().into_iter().map(|detail| Row { usage: of(detail.id), detail }).collect()
}

/// The server of this name or id.
pub(super) fn find(hub: &Hub, server: &str) -> Result<McpConfig, HubError> {
    find_in(hub.list(), server)
}

pub(super) fn find_in(configs: Vec<McpConfig>, server: &str) -> Result<McpConfig, HubError> {
    let name = folded(server);
    let names: Vec<String> = configs.iter().map(|config| config.name.trim().to_owned()).collect();
    let is_it = |config: &McpConfig| config.folded_name() == name || server.parse() == Ok(config.id);
    configs.into_iter().find(is_it).ok_or_else(|| {
        let all =
            if names.is_empty() { "none is configured".into() } else { format!("there are: {}", names.join(", ")) };
        HubError::not_found("server", format!("No server is called `{server}`; {all}"))
    })
}

/// Starts each server that does not run and that nobody has stopped, and waits until it runs or has failed.
async fn try_all(hub: &Hub) {
    let mut starts = JoinSet::new();
    for StatusDetail { id, enabled, state, .. } in hub.details() {
        let is_settled = matches!(state, State::Running | State::Stopped | State::Stopping);
        if enabled && !is_settled {
            let hub = hub.clone();
            starts.spawn(async move { hub.boot_server(id).await });
        }
    }
    starts.join_all().await;
}

/// So many servers without tools are named where a tool is not found: more than fit a line are not read.
const MOST_ABSENT: usize = 5;

/// The server that the name of a tool belongs to.
fn server_of(hub: &Hub, tool: &str) -> Result<Uuid, HubError> {
    hub.find_tool_server(tool).ok_or_else(|| {
        let mut error = HubError::unknown_tool(tool);
        let tools = hub.available_tools();
        let alike: Vec<&str> =
            tools.iter().filter(|offered| offered.tool.name == tool).map(|offered| offered.name).collect();
        if !alike.is_empty() {
            error.message.push_str(". Several servers have one of that name: ");
            error.message.push_str(&alike.join(", "));
            return error;
        }
        let absent = hub.details().into_iter().filter(|detail| detail.enabled && lacks_tools(detail));
        let mut absent: Vec<String> = absent.map(|detail| format!("{} ({})", detail.name, detail.state)).collect();
        if absent.len() > MOST_ABSENT {
            let more = format!("{} more", absent.len() - MOST_ABSENT);
            absent.splice(MOST_ABSENT.., [more]);
        }
        if !absent.is_empty() {
            let note = format!(". Servers that do not run may have it: {}. See mcpwire status", absent.join(", "));
            error.message.push_str(&note);
        }
        error
    })
}

/// Whether the tools of a server are not offered because it does not run.
pub(super) fn lacks_tools(detail: &StatusDetail) -> bool {
    !matches!(detail.state, State::Running | State::Sleeping)
}

fn done(result: Result<(), HubError>) -> Result<Json, HubError> {
    result.and_then(|()| json(&()))
}

pub(super) fn json(value: &impl Serialize) -> Result<Json, HubError> {
    Json::from_value(value).map_err(|error| HubError::unavailable(error.to_string()))
}
