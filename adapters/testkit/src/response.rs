//! [`ScriptedResponse`]: the steps in which a scripted server answers a request.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError};
use serde::Serialize;

use crate::wire;

/// The steps in which a [`ScriptedServer`](crate::ScriptedServer) answers a request, in order.
///
/// Texts, [`RpcError`]s, and `Result`s whose error implements `Display` convert to a response. Without a step that answers, as in
/// [`ScriptedResponse::new`], the request is never answered. After a cancellation, the remaining steps are skipped.
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
    /// A result, which gets a `resultType` in the modern era.
    Complete(Json),
    /// A result that is sent unchanged.
    Result(Json),
    Refuse(RpcError),
    /// A request to the client, and the steps after its response.
    Ask {
        method: String,
        params: Json,
        then: Then,
    },
    /// Output that does not answer the request.
    Send(Output),
}

/// The output of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    Line(String),
    /// The response to a request. It is the last line of a response over HTTP.
    Response(String),
    Raw(Vec<u8>),
    Close,
}

/// A function that returns the steps after the client's response to a request.
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

    /// Waits before the next step.
    pub fn wait(self, duration: Duration) -> Self {
        self.then(Step::Wait(duration))
    }

    /// Reports progress with a total, if the request has a progress token.
    pub fn progress(self, progress: impl Into<f64>, total: impl Into<f64>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: Some(total.into()), message: None })
    }

    /// Reports progress with a message and without a total, if the request has a progress token.
    pub fn progress_message(self, progress: impl Into<f64>, message: impl Into<String>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: None, message: Some(message.into()) })
    }

    /// Answers with one block of text, as tools do.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), false)))
    }

    /// Answers with a tool error (`isError`) and one block of text.
    pub fn error(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), true)))
    }

    /// Answers with this result, unchanged: a [`Json`], or any value that serializes to the result.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    pub fn result(self, result: impl Serialize) -> Self {
        self.then(Step::Result(wire::json(&result)))
    }

    /// Answers with an `input_required` result (2026-07-28, basic/patterns/mrtr). `input_requests` is an object of requests by
    /// key, and may be empty.
    ///
    /// The client sends the request again with the answers and the state. A handler of its method
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
    /// `roots/list`, `ping` or any other method. `()` stands for no parameters.
    ///
    /// After the client's response, the server takes the steps that `then` returns, and then the steps after this one. Over HTTP,
    /// the request is an event in the response. Clients do not answer requests of modern servers; use
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

    /// Answers with a JSON-RPC error.
    pub fn refuse(self, error: RpcError) -> Self {
        self.then(Step::Refuse(error))
    }

    /// Sends a notification. `()` stands for no parameters.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be serialized as JSON.
    pub fn notify(self, method: &str, params: impl Serialize) -> Self {
        self.then(Step::Send(Output::Line(wire::notification(method, &wire::json(&params)))))
    }

    /// Sends a line of any text.
    pub fn line(self, line: impl Into<String>) -> Self {
        self.then(Step::Send(Output::Line(line.into())))
    }

    /// Sends bytes unchanged and without a line end.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Send(Output::Raw(bytes.into())))
    }

    /// Closes the connection.
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
    /// Converts the error to a tool error (`isError`).
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(answer) => answer.into(),
            Err(error) => ScriptedResponse::new().error(error.to_string()),
        }
    }
}
