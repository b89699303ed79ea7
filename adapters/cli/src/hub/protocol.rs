//! The protocol between commands and the running hub (`mcpwire hub run`): one JSON document per line.
//!
//! The hub sends one final [`Response`] for each [`Request`], in the order of the requests. The notifications of a server
//! precede the final response.

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::launch::preview;
use mcpwire_hub::secrets::SecretStore;
use mcpwire_hub::service::{StatusDetail, Usage};
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{ErrorKind, HubError};
use mcpwire_tokio::protocol::{Json, TaskHandle};
use mcpwire_tokio::{RunningTask, TaskOrResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::notices::Notice;
use crate::args::{Options, TaskAction};
use crate::console::agrees;
use crate::failure::Failure;
use crate::text;

/// A request of a command to a hub. The field `server` is the name or id of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Returns the status of all servers, as a list of [`Row`].
    Status,
    /// Starts all enabled servers that are not running, except those that the user has stopped. Then returns the status of all
    /// servers. Waits until each server runs or has failed, but at most for the timeout.
    Try {
        timeout_ms: Option<u64>,
    },
    Start {
        server: String,
    },
    Stop {
        server: String,
    },
    Restart {
        server: String,
    },
    /// Adds servers with one write of `servers.json`. Returns a list with one item per server: the error if the server was not
    /// added, or else `null`.
    Add {
        configs: Vec<Value>,
        /// Whether to start the servers after they were added. The response does not wait until the servers have started.
        start: bool,
    },
    Update {
        config: Value,
    },
    /// Returns the command or URL that the hub would use for a server now, as a [`Previewed`]. The server need not be
    /// configured yet.
    Preview {
        config: Value,
    },
    Remove {
        server: String,
    },
    /// Answers a question of a server, such as elicitation. The hub has sent the question to this command as [`Asked`], during a tool
    /// call. The command sends the answer over a second connection, because the first one waits for the result of the call.
    Answer {
        id: u64,
        answer: Answer,
    },
    /// Ends the running hub and its servers. The response comes before they have ended. Changes nothing for a hub in the process of
    /// the command, which ends with the command.
    End,
    /// Reads the configuration file `servers.json` again.
    Reload,
    /// Returns the tools of one server or of all servers. The name of each tool is its exposed name, `<server>__<tool>`.
    ///
    /// Waits until the servers that are starting run or have failed.
    Tools {
        server: Option<String>,
        timeout_ms: Option<u64>,
    },
    /// Returns the definition of a tool, or `null` if its server does not list the tool. Waits until the server runs.
    Tool {
        tool: String,
        server: Option<String>,
        timeout_ms: Option<u64>,
    },
    /// Returns what a server has said about itself, as a `ServerInfo`. Waits until the server runs.
    Info {
        server: String,
        timeout_ms: Option<u64>,
    },
    /// Checks that a server responds. Waits until the server runs.
    Ping {
        server: String,
        timeout_ms: Option<u64>,
    },
    /// Sends a request other than a tool call to a server, and returns its result as the server sent it. Waits until the server
    /// runs.
    Send {
        server: String,
        method: String,
        params: Option<Value>,
        timeout_ms: Option<u64>,
    },
    /// Calls a tool. Returns the result as the server sent it, or with [`CallMode::Detach`], a [`Called`].
    Call {
        tool: String,
        server: Option<String>,
        arguments: Value,
        #[serde(default)]
        mode: CallMode,
        timeout_ms: Option<u64>,
    },
    /// Asks a server about a task. Returns its status, the result of its call, or `null` for [`TaskAction::Cancel`].
    Task {
        server: String,
        action: TaskAction,
        handle: TaskHandle,
        timeout_ms: Option<u64>,
    },
    /// Passes on the notifications of a server, until it ends the subscription. `timeout_ms` limits the wait for the server.
    Listen {
        server: String,
        resources: Vec<String>,
        timeout_ms: Option<u64>,
    },
}

/// Whether the server may run a tool call as an MCP task, and whether the command waits for the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallMode {
    #[default]
    Call,
    /// Lets the server run the tool call as an MCP task, and waits for the result.
    Task,
    /// Lets the server run the tool call as an MCP task, and does not wait for the result.
    Detach,
}

impl CallMode {
    /// Returns the mode of a call with the options `--task` and `--detach`.
    pub(crate) fn new(task: bool, detach: bool) -> Self {
        match (task, detach) {
            (_, true) => CallMode::Detach,
            (true, false) => CallMode::Task,
            (false, false) => CallMode::Call,
        }
    }
}

/// The outcome of a tool call: the result, or a task that will produce the result.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Called {
    /// The result of the tool call, as the server sent it.
    Result(Json),
    /// The handle of the task that runs the tool call. The task has not ended yet.
    Task(TaskHandle),
}

impl Called {
    /// Converts the outcome of a call that the server may run as a task.
    pub(crate) fn new<R>(started: TaskOrResult<R>) -> Self {
        match started.into_task().map(RunningTask::into_handle) {
            Ok(handle) => Called::Task(handle),
            // A result always serializes.
            Err(result) => Called::Result(Json::from_value(&result).unwrap_or_default()),
        }
    }
}

/// A message from the running hub to a command, sent as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Response {
    /// A notification of the server, such as the progress of the tool call. `Done` or `Error` follows later.
    Notice(Notice),
    /// A request of a server, such as elicitation, for the user of the command. `Done` or `Error` follows later.
    Asked(Asked),
    /// A text for the user of the command. `Done` or `Error` follows later.
    Note(String),
    Done(Json),
    Error(ErrorWithKind),
}

/// A request of a server that a command answers with [`Request::Answer`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) id: u64,
    pub(crate) server: String,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
}

/// The answer of a command to a request of a server: a result, or a JSON-RPC error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Result(Json),
    Error { code: i64, message: String },
}

/// A function that answers requests of servers for the user of a command.
pub(crate) type Answerer = Box<dyn Fn(&Asked) -> Answer + Send>;

/// A [`HubError`] as the running hub sends it: with its kind, the name of the server and the name of the tool. The JSON of a
/// `HubError` alone contains none of these.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ErrorWithKind {
    #[serde(flatten)]
    error: HubError,
    kind: ErrorKind,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    tool: Option<String>,
}

impl From<HubError> for ErrorWithKind {
    fn from(error: HubError) -> Self {
        let (server, tool) = (error.server().map(str::to_owned), error.tool().map(str::to_owned));
        Self { kind: error.kind(), server, tool, error }
    }
}

impl From<ErrorWithKind> for HubError {
    fn from(ErrorWithKind { error, kind, server, tool }: ErrorWithKind) -> Self {
        let error = error.with_kind(kind);
        let error = server.iter().fold(error, |error, name| error.with_server(name));
        tool.iter().fold(error, |error, name| error.with_tool(name))
    }
}

/// The status of one server, with its memory usage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) detail: StatusDetail,
    pub(crate) usage: Option<Usage>,
    /// The kind of `detail.last_error`. The JSON of a [`HubError`] does not contain the kind.
    last_error_kind: Option<ErrorKind>,
}

impl Row {
    pub(super) fn new(detail: StatusDetail, usage: Option<Usage>) -> Self {
        let last_error_kind = detail.last_error.as_ref().map(HubError::kind);
        Row { detail, usage, last_error_kind }
    }

    /// Returns whether the server runs, or sleeps until one of its tools is called.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.detail.state, State::Running | State::Sleeping)
    }

    /// Restores the kind of the last error after this status was decoded from JSON. The JSON contains the kind only in
    /// `last_error_kind`.
    pub(super) fn with_error_kind(mut self) -> Self {
        if let (Some(error), Some(kind)) = (&mut self.detail.last_error, self.last_error_kind) {
            *error = error.clone().with_kind(kind);
        }
        self
    }
}

/// A preview of the command or URL that a server uses, for the user to review. The running hub sends this struct as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Previewed {
    /// The whole [`Preview`](mcpwire_hub::launch::Preview) as text.
    pub(crate) text: String,
    /// The URL of the server, or its command, without secrets.
    pub(crate) summary: String,
    /// The hash of the preview. The configuration stores this hash when the user approves the preview.
    hash: String,
    /// Whether the user has written this configuration, or has approved this preview of it.
    pub(crate) is_approved: bool,
}

impl Previewed {
    /// Creates the preview of a server that this process would start. `secrets` supplies the secret environment variables. Blocks
    /// while it reads files.
    pub(super) fn new(config: &McpConfig, secrets: &dyn SecretStore) -> Self {
        let shown = preview(config, secrets);
        let listed = preview(&config.without_secrets(), secrets);
        Previewed {
            text: shown.to_string(),
            summary: listed.url.unwrap_or_else(|| listed.command.join(" ")),
            is_approved: config.has_consent(secrets),
            hash: shown.hash,
        }
    }

    /// Returns what the server `config` starts, for a question to the user.
    pub(crate) fn described(&self, config: &McpConfig) -> String {
        format!("{} starts:\n{}", text::name(&config.name), self.text)
    }

    /// Records in the configuration that the user has approved this preview.
    pub(crate) fn approve(&self, config: &mut McpConfig) {
        config.consent = Some(self.hash.clone());
    }
}

/// Shows what servers start, which is in `described`, and asks the user to approve it. Returns whether the user approves. Returns
/// `false` without asking if there is no terminal or if `--json` is given.
///
/// # Errors
/// If the user presses Ctrl-C.
pub(crate) fn are_accepted(described: &[String], options: &Options) -> Result<bool, Failure> {
    let all = if described.len() > 1 { " all" } else { "" };
    Ok(!described.is_empty() && agrees(&format!("{}\nApprove{all}?", described.join("\n")), false, options)?)
}

pub(super) fn json(value: &impl Serialize) -> Result<Json, HubError> {
    Json::from_value(value).map_err(|error| HubError::unavailable(error.to_string()))
}

/// Writes a request or a response as a line of JSON.
pub(super) async fn write_line(
    writer: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await
}

/// Decodes the JSON of a response of the hub as a `T`.
pub(crate) fn decoded<T: DeserializeOwned>(json: &Json) -> Result<T, HubError> {
    json.decode().map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_error_reaches_the_command() {
        for kind in [ErrorKind::MissingValue, ErrorKind::NotRunning, ErrorKind::Start] {
            let error = HubError::new(kind, "message").at("env_vars.TOKEN").with_server("a").with_tool("b");
            let line = serde_json::to_string(&ErrorWithKind::from(error.clone())).expect("it is written");
            let received: ErrorWithKind = serde_json::from_str(&line).expect("it is read");
            let received = HubError::from(received);
            assert_eq!((received.kind(), received.to_string()), (kind, error.to_string()));
            assert_eq!(received.tool(), Some("b"));
        }
    }
}
