//! [`Script`]: the steps of a simulated server that client code is tested against.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_driver::protocol::{Era, Json, ProtocolVersion, RpcError, Tool};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::MAX_STEPS;
use crate::server::PIPE_CAPACITY;
use crate::strategies::{
    call_tool_result, create_message_params, delay, elicit_params, nearly_valid, notification, number, rpc_error,
    server_message,
};
use crate::{ScriptedResponse, ScriptedServer, lock, wire};

/// The script of a simulated server: the steps that it takes while a client calls its tools. The server opens connections and
/// lists its tools as usual.
///
/// Each call takes the next steps, up to a step that answers the call, leaves it unanswered or closes the connection. When no
/// step is left, the answer to a call is an empty text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Script {
    /// The only revision that the server speaks.
    pub version: ProtocolVersion,
    /// The tools that the server lists.
    pub tools: Vec<Tool>,
    /// The steps of the server, in order.
    pub steps: Vec<Step>,
    /// Number of unread bytes that the pipe holds in each direction. Longer messages arrive in parts.
    pub pipe: usize,
}

/// A step of a [`Script`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Waits for this time before the next step of the same call.
    Wait(Duration),
    /// Reports this progress, if the client has sent a progress token with the call.
    Progress(f64),
    /// Sends a notification.
    Notify {
        /// The method of the notification.
        method: String,
        /// The parameters of the notification.
        params: Json,
    },
    /// Sends a request to the client during the call. From revision 2026-07-28 on, the call instead returns an `input_required`
    /// result, and the client repeats the call.
    Ask(Ask),
    /// Sends a line that may be an invalid message.
    Garbage(String),
    /// Answers the call with this result.
    Answer(Json),
    /// Answers the call with a JSON-RPC error.
    Refuse(RpcError),
    /// Leaves the call unanswered, so that it times out.
    Silence,
    /// Closes the connection.
    Close,
}

/// A request that a simulated server sends to its client, such as an elicitation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// The method of the request, such as `elicitation/create`.
    pub method: String,
    /// The parameters of the request.
    pub params: Json,
}

/// Generates scripts of a server that has tools with these names and speaks one revision. Scripts shrink to the latest revision.
pub fn script<N: Into<String>>(tools: impl IntoIterator<Item = N>) -> impl Strategy<Value = Script> {
    let tools: Vec<Tool> = tools.into_iter().map(|name| Tool::new(name, Json::default())).collect();
    // The latest revision comes first, because values shrink to the first element.
    let versions: Vec<_> = ProtocolVersion::ALL.into_iter().rev().collect();
    select(versions).prop_flat_map(move |version| script_of(version, tools.clone()))
}

/// Generates scripts of a server that has these tools and speaks this revision.
pub fn script_of(version: ProtocolVersion, tools: Vec<Tool>) -> impl Strategy<Value = Script> {
    // A pipe of up to 64 bytes holds a part of a message. A pipe of up to 512 bytes often holds a message and a part of the next
    // one.
    let pipe = prop_oneof![3 => Just(PIPE_CAPACITY), 1 => Just(1), 1 => 2..64_usize, 2 => 64..512_usize];
    (vec(step(version), 0..MAX_STEPS), pipe).prop_map(move |(steps, pipe)| Script {
        version,
        tools: tools.clone(),
        steps,
        pipe,
    })
}

/// Generates a step of a server's script, with data that is valid in this revision except for invalid lines.
pub fn step(version: ProtocolVersion) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => call_tool_result(version).prop_map(|result| Step::Answer(wire::json(&result))),
        2 => rpc_error().prop_map(Step::Refuse),
        2 => delay().prop_map(Step::Wait),
        1 => number().prop_map(|number| Step::Progress(number.as_f64())),
        2 => notification().prop_map(|(method, params)| Step::Notify { method, params }),
        1 => ask(version).prop_map(Step::Ask),
        1 => nearly_valid(server_message(version, 3)).prop_map(|line| Step::Garbage(line.replace(['\n', '\r'], " "))),
        1 => Just(Step::Silence),
        1 => Just(Step::Close),
    ]
}

/// Generates a request of a server to its client, of a kind that the revision defines.
pub(crate) fn ask(version: ProtocolVersion) -> BoxedStrategy<Ask> {
    let new = |method: &str, params| Ask { method: method.to_owned(), params };
    let roots = Just(new("roots/list", wire::json(&json!({}))));
    let sampling =
        create_message_params(version).prop_map(move |params| new("sampling/createMessage", wire::json(&params)));
    if version < ProtocolVersion::V2025_06_18 {
        return prop_oneof![roots, sampling].boxed();
    }
    let elicitation = elicit_params(version).prop_map(move |params| new("elicitation/create", wire::json(&params)));
    prop_oneof![1 => roots, 1 => sampling, 2 => elicitation].boxed()
}

impl Script {
    /// Creates a [`ScriptedServer`] that follows the script.
    pub fn server(&self) -> ScriptedServer {
        let steps = Arc::new(Mutex::new(VecDeque::from(self.steps.clone())));
        let version = self.version;
        let server = ScriptedServer::new().versions([version.as_str()]);
        self.tools.iter().fold(server, |server, tool| {
            let steps = Arc::clone(&steps);
            server.tool_with(tool, move |_| next_response(&mut lock(&steps), version.era()))
        })
    }
}

/// Removes the steps of the next tool call from the script, and converts them to the response.
fn next_response(steps: &mut VecDeque<Step>, era: Era) -> ScriptedResponse {
    let mut response = ScriptedResponse::new();
    while let Some(step) = steps.pop_front() {
        response = match step {
            Step::Wait(duration) => response.wait(duration),
            Step::Progress(progress) => response.progress_message(progress, "working"),
            Step::Notify { method, params } => response.notify(&method, params),
            Step::Ask(ask) if era == Era::Modern => {
                let request = json!({ "method": ask.method, "params": ask.params });
                return response.input_required(json!({ "asked": request }), Some("state"));
            }
            Step::Ask(ask) => response.ask(ask.method, ask.params, |_| ScriptedResponse::new()),
            Step::Garbage(line) => response.line(line),
            Step::Answer(result) => return response.result(result),
            Step::Refuse(error) => return response.refuse(error),
            Step::Silence => return response,
            Step::Close => return response.close(),
        };
    }
    response.text("")
}

/// A script for tests of request handlers: the requests that a simulated server sends to its client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Asks {
    /// The requests, in order.
    pub asks: Vec<Ask>,
    /// Whether all requests are sent in one write, so that the handlers run at the same time. If `false`, each request is sent
    /// after the previous one was answered.
    pub at_once: bool,
}

/// Generates up to four requests of a server of revision 2025-11-25 to its client: forms, URLs, sampling and roots. They are sent
/// one after the other, or all at once.
pub fn asks() -> impl Strategy<Value = Asks> {
    (vec(ask(ProtocolVersion::V2025_11_25), 0..5), any::<bool>()).prop_map(|(asks, at_once)| Asks { asks, at_once })
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
        write!(f, "a server of revision {} with the tools {}", self.version, tools.join(", "))?;
        if self.pipe < PIPE_CAPACITY {
            write!(f, ", behind a pipe of {} bytes", self.pipe)?;
        }
        write_steps(f, &self.steps)
    }
}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a server of revision {}", ProtocolVersion::V2025_11_25)?;
        if self.at_once {
            f.write_str(" that asks all in one write")?;
        }
        write_steps(f, &self.asks)
    }
}

/// Maximum number of characters of JSON in a printed step. 300 characters show most values of a shrunk script, and fill a few
/// lines of a terminal.
const MAX_PRINTED: usize = 300;

/// Returns the text of a JSON value. If it is longer than [`MAX_PRINTED`], its end is replaced by its length.
pub(super) fn shorten(json: &Json) -> String {
    let text = json.get();
    match text.char_indices().nth(MAX_PRINTED) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Writes the steps as a numbered list, with one step per line.
fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[impl fmt::Display]) -> fmt::Result {
    for (index, step) in steps.iter().enumerate() {
        write!(f, "\n  {}. {step}", index + 1)?;
    }
    Ok(())
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Wait(duration) => write!(f, "waits {duration:?}"),
            Step::Progress(progress) => write!(f, "reports the progress {progress}"),
            Step::Notify { method, params } => write!(f, "sends the notification {method} {}", shorten(params)),
            Step::Ask(ask) => write!(f, "{ask}"),
            Step::Garbage(line) => write!(f, "sends the line {line:?}"),
            Step::Answer(result) => write!(f, "answers {}", shorten(result)),
            Step::Refuse(error) => write!(f, "answers with the error {} {:?}", error.code, error.message),
            Step::Silence => f.write_str("leaves the call unanswered"),
            Step::Close => f.write_str("closes the connection"),
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "asks {} {}", self.method, shorten(&self.params))
    }
}
