//! [`ScriptedResponse`]: the steps in which a scripted server answers a request.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError};
use serde::Serialize;

use crate::wire;

/// The steps in which a [`ScriptedServer`](crate::ScriptedServer) answers a request, in order.
///
/// A text, an [`RpcError`], or a `Result` whose error implements `Display` converts to a response. Without a step that answers,
/// as in [`ScriptedResponse::new`], the request is never answered. After a cancellation, the remaining steps are skipped.
///
/// ```
/// # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::{ScriptedResponse, ScriptedServer}; } }
/// use std::time::Duration;
///
/// use mcpwire::testkit::{ScriptedResponse, ScriptedServer};
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
#[must_use = "an answer is given by the handler that returns it"]
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
    /// Answers with this result. In the modern era, `resultType: "complete"` is added.
    Complete(Json),
    /// Answers with this result, unchanged.
    Result(Json),
    Refuse(RpcError),
    /// Sends a request to the client. `then` gets the client's response, and returns the next steps.
    Ask {
        method: String,
        params: Json,
        then: Then,
    },
    /// Sends output that does not answer the request, such as a notification.
    Send(Output),
}

/// One piece of the output of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    Line(String),
    /// A line with the response to a request. Over HTTP, it is the last event of the stream.
    Response(String),
    Raw(Vec<u8>),
    Close,
}

/// A function that gets the client's response to a request of the server, and returns the next steps of the answer.
#[derive(Clone)]
pub(crate) struct Then(pub(crate) Arc<dyn Fn(Result<Json, RpcError>) -> ScriptedResponse + Send + Sync>);

impl fmt::Debug for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Then")
    }
}

impl PartialEq for Then {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ScriptedResponse {
    /// Creates an answer without steps, which leaves the request unanswered.
    pub fn new() -> Self {
        ScriptedResponse::default()
    }

    /// Adds a pause before the next step, for example to make the client time out.
    pub fn wait(self, duration: Duration) -> Self {
        self.then(Step::Wait(duration))
    }

    /// Reports progress and its total. Has no effect if the request has no progress token.
    pub fn progress(self, progress: impl Into<f64>, total: impl Into<f64>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: Some(total.into()), message: None })
    }

    /// Reports progress with a message and without a total. Has no effect if the request has no progress token.
    pub fn progress_message(self, progress: impl Into<f64>, message: impl Into<String>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: None, message: Some(message.into()) })
    }

    /// Answers with a tool result that consists of one text block.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), false)))
    }

    /// Answers with a tool error: a result with `isError` and one text block.
    pub fn error(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), true)))
    }

    /// Answers with this result, to which nothing is added: a [`Json`], or any value that serializes to the result.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    pub fn result(self, result: impl Serialize) -> Self {
        self.then(Step::Result(wire::json(&result)))
    }

    /// Answers with an `input_required` result, to ask for input in the modern era (2026-07-28, basic/patterns/mrtr).
    /// `input_requests` is an object of requests by key, and may be empty.
    ///
    /// The client repeats its request, with its answers and the state. A handler of the request's method
    /// ([`ScriptedServer::on`](crate::ScriptedServer::on)) finds them as `inputResponses` and `requestState` in the parameters.
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
    ///
    /// If the requests cannot be serialized as JSON.
    pub fn input_required(self, input_requests: impl Serialize, request_state: Option<&str>) -> Self {
        self.then(Step::Result(wire::input_required(&wire::json(&input_requests), request_state)))
    }

    /// Sends a request to the client before the answer, as legacy servers do: `elicitation/create`, `sampling/createMessage`,
    /// `roots/list`, `ping` or any other method. Pass `()` to send no parameters.
    ///
    /// `then` gets the client's response. The server takes the steps that `then` returns, and then the steps after this one. Over
    /// HTTP, the request is an event in the response. Clients do not respond to requests of modern servers; use
    /// [`ScriptedResponse::input_required`] there.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_driver::protocol::Era; } pub mod testkit { pub use
    /// # mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit}; } }
    /// use mcpwire::testkit::{ScriptedResponse, ScriptedServer, Testkit};
    /// use mcpwire::types::Era;
    /// use serde_json::json;
    ///
    /// let server = ScriptedServer::new().era(Era::Legacy).tool("check", |_| {
    ///     ScriptedResponse::new().ask("ping", (), |answer| match answer {
    ///         Ok(pong) => ScriptedResponse::new().text(format!("the client answered {pong}")),
    ///         Err(error) => ScriptedResponse::new().error(error.message),
    ///     })
    /// });
    /// let result = Testkit::new(server).run(async |client| client.call_tool("check", json!({})).await)?;
    /// assert_eq!(result.text().as_str(), "the client answered {}");
    /// # Ok::<(), mcpwire_driver::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the parameters cannot be serialized as JSON.
    pub fn ask<A: Into<ScriptedResponse>>(
        self,
        method: impl Into<String>,
        params: impl Serialize,
        then: impl Fn(Result<Json, RpcError>) -> A + Send + Sync + 'static,
    ) -> Self {
        let then = Then(Arc::new(move |answer| then(answer).into()));
        self.then(Step::Ask { method: method.into(), params: wire::json(&params), then })
    }

    /// Answers with a JSON-RPC error, so that the request fails. For a tool that fails, use [`ScriptedResponse::error`].
    pub fn refuse(self, error: RpcError) -> Self {
        self.then(Step::Refuse(error))
    }

    /// Sends a notification to the client that made the request. Pass `()` to send no parameters.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be serialized as JSON.
    pub fn notify(self, method: &str, params: impl Serialize) -> Self {
        self.then(Step::Send(Output::Line(wire::notification(method, &wire::json(&params)))))
    }

    /// Sends any text as a line, for example an invalid message.
    pub fn line(self, line: impl Into<String>) -> Self {
        self.then(Step::Send(Output::Line(line.into())))
    }

    /// Sends bytes unchanged and without a line end, for example the beginning of a message.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Send(Output::Raw(bytes.into())))
    }

    /// Closes the connection after the output of the earlier steps.
    pub fn close(self) -> Self {
        self.then(Step::Send(Output::Close))
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
    /// Converts an `Err` to a tool error (`isError`) with the text of the error, and an `Ok` as its value converts.
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(answer) => answer.into(),
            Err(error) => ScriptedResponse::new().error(error.to_string()),
        }
    }
}
