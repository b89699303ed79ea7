//! [`ScriptedResponse`]: the steps with which a server responds to a request.

use std::fmt::Display;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError};
use serde::Serialize;

use crate::wire;

/// The steps with which a [`ScriptedServer`](crate::ScriptedServer) responds to a request. The server runs them in order.
///
/// Handlers can also return text, an [`RpcError`], or a `Result` whose error becomes the text of a failed tool call. Without a
/// step that sends a result or an error, such as [`ScriptedResponse::new`], the request has no response. The server drops the
/// remaining steps when the client cancels the request.
///
/// ```
/// use std::time::Duration;
///
/// use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
///
/// let server = ScriptedServer::new()
///     .tool("echo", |args| args.member::<String>("message").unwrap_or_default())
///     .tool("slow", |_| ScriptedResponse::new().wait(Duration::from_secs(60)).progress(1, 2).wait(Duration::from_secs(60)).text("done"))
///     .tool("divide", |args| match args.member::<i64>("by") {
///         Some(0) | None => Err("cannot divide by that"),
///         Some(by) => Ok((42 / by).to_string()),
///     })
///     .tool("black_hole", |_| ScriptedResponse::new())
///     .tool("crash", |_| ScriptedResponse::new().raw(r#"{"jsonrpc":"2.0","id"#).close());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "the server sends a response that a handler returns"]
pub struct ScriptedResponse {
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Wait(Duration),
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    /// Sends a result, with `resultType` if the client is modern.
    Complete(Json),
    /// Sends a result without changes.
    Result(Json),
    Error(RpcError),
    Line(String),
    Raw(Vec<u8>),
    Close,
}

impl ScriptedResponse {
    /// Creates a response without steps: the server never responds.
    pub fn new() -> Self {
        ScriptedResponse::default()
    }

    /// Waits before the next step.
    pub fn wait(self, duration: Duration) -> Self {
        self.then(Step::Wait(duration))
    }

    /// Sends a progress notification with a total, if the request has a progress token.
    pub fn progress(self, progress: impl Into<f64>, total: impl Into<f64>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: Some(total.into()), message: None })
    }

    /// Sends a progress notification with a message and without a total, if the request has a progress token.
    pub fn progress_message(self, progress: impl Into<f64>, message: impl Into<String>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: None, message: Some(message.into()) })
    }

    /// Sends the result of a tool call with one text block.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), false)))
    }

    /// Sends the result of a failed tool call (`isError: true`) with one text block.
    pub fn error(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), true)))
    }

    /// Sends a result without changes: a [`Json`], or a value that serialises as the result.
    ///
    /// # Panics
    /// If the value cannot be serialised as JSON.
    pub fn result(self, result: impl Serialize) -> Self {
        self.then(Step::Result(wire::json(&result)))
    }

    /// Sends an `input_required` result (2026-07-28, basic/patterns/mrtr): the client must provide input first.
    ///
    /// `input_requests` is an object of requests by name, and may be empty. The client sends the request again with its answers
    /// and with `request_state`. A handler for the method ([`ScriptedServer::on`](crate::ScriptedServer::on)) finds them in the
    /// parameters as `inputResponses` and `requestState`.
    ///
    /// ```
    /// # use mcpwire_driver::protocol::Json;
    /// # use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
    /// let wanted = Json::parse(r#"{"where": {"method": "roots/list"}}"#).unwrap();
    /// let server = ScriptedServer::new().on("tools/call", move |params| match params.member::<Json>("inputResponses") {
    ///     Some(answers) => ScriptedResponse::new().text(answers.get()),
    ///     None => ScriptedResponse::new().input_required(&wanted, Some("asked")),
    /// });
    /// ```
    ///
    /// # Panics
    /// If the requests cannot be serialised as JSON.
    pub fn input_required(self, input_requests: impl Serialize, request_state: Option<&str>) -> Self {
        self.then(Step::Result(wire::input_required(&wire::json(&input_requests), request_state)))
    }

    /// Sends a JSON-RPC error.
    pub fn refuse(self, error: RpcError) -> Self {
        self.then(Step::Error(error))
    }

    /// Sends a notification. `()` means no parameters.
    ///
    /// # Panics
    /// If the parameters cannot be serialised as JSON.
    pub fn notify(self, method: &str, params: impl Serialize) -> Self {
        self.then(Step::Line(wire::notification(method, &wire::json(&params))))
    }

    /// Sends a line of text, which need not be valid JSON.
    pub fn line(self, line: impl Into<String>) -> Self {
        self.then(Step::Line(line.into()))
    }

    /// Sends bytes without changes, and without a line end.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Raw(bytes.into()))
    }

    /// Closes the connection, after the output of the earlier steps.
    pub fn close(self) -> Self {
        self.then(Step::Close)
    }

    pub(crate) fn complete(self, result: Json) -> Self {
        self.then(Step::Complete(result))
    }

    fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl From<&str> for ScriptedResponse {
    fn from(text: &str) -> Self {
        ScriptedResponse::new().text(text)
    }
}

impl From<String> for ScriptedResponse {
    fn from(text: String) -> Self {
        ScriptedResponse::new().text(text)
    }
}

impl From<RpcError> for ScriptedResponse {
    fn from(error: RpcError) -> Self {
        ScriptedResponse::new().refuse(error)
    }
}

impl<T: Into<ScriptedResponse>, E: Display> From<Result<T, E>> for ScriptedResponse {
    /// Converts an error to the result of a failed tool call (`isError: true`).
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => value.into(),
            Err(error) => ScriptedResponse::new().error(error.to_string()),
        }
    }
}
