//! [`Answer`]: what a server does about a request, step by step.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_driver::core::{Json, RpcError};
use serde::Serialize;

use crate::server::{Handler, shared};
use crate::wire;

/// What a [`ScriptedServer`](crate::ScriptedServer) does about a request: steps, which are taken in order.
///
/// Text is an answer by itself, and so are an [`RpcError`] and a `Result` of which either is displayed. What has no step
/// that answers, [`Answer::new`] for one, leaves the request without an answer. A request that is cancelled is left where
/// it stands.
///
/// ```
/// use std::time::Duration;
///
/// use mcpwire_testkit::{Answer, ScriptedServer};
///
/// let server = ScriptedServer::new()
///     .tool("echo", |args| args.member::<String>("message").unwrap_or_default())
///     .tool("slow", |_| Answer::new().wait(Duration::from_secs(60)).progress(1, 2).wait(Duration::from_secs(60)).text("done"))
///     .tool("divide", |args| match args.member::<i64>("by") {
///         Some(0) | None => Err("cannot divide by that"),
///         Some(by) => Ok((42 / by).to_string()),
///     })
///     .tool("black_hole", |_| Answer::new())
///     .tool("crash", |_| Answer::new().raw(r#"{"jsonrpc":"2.0","id"#).close());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "an answer is given by the handler that returns it"]
pub struct Answer {
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
    /// A result of ours, which says that it is complete if the era wants that.
    Complete(Json),
    /// A result as it stands.
    Result(Json),
    Refuse(RpcError),
    /// A request to the client, and the handler of the client's response.
    Ask(Ask),
    /// A message that answers nothing.
    Line(String),
    Raw(Vec<u8>),
    Close,
}

/// A request of the server, before it has an id.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) params: Json,
    pub(crate) then: Handler,
}

impl PartialEq for Ask {
    fn eq(&self, other: &Self) -> bool {
        (&self.method, &self.params) == (&other.method, &other.params) && Arc::ptr_eq(&self.then, &other.then)
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("method", &self.method).field("params", &self.params).finish_non_exhaustive()
    }
}

impl Answer {
    /// No step at all: silence.
    pub fn new() -> Self {
        Answer::default()
    }

    /// Waits before the next step.
    pub fn wait(self, duration: Duration) -> Self {
        self.then(Step::Wait(duration))
    }

    /// Reports that so much has been done of so much, if the request asks for such reports.
    pub fn progress(self, progress: impl Into<f64>, total: impl Into<f64>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: Some(total.into()), message: None })
    }

    /// Reports what is being done, in words and without an end in sight, if the request asks for such reports.
    pub fn progress_message(self, progress: impl Into<f64>, message: impl Into<String>) -> Self {
        self.then(Step::Progress { progress: progress.into(), total: None, message: Some(message.into()) })
    }

    /// Answers with one block of text, as tools do.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), false)))
    }

    /// Answers that the tool failed, with one block of text that says why.
    pub fn error(self, text: impl AsRef<str>) -> Self {
        self.then(Step::Complete(wire::text_result(text.as_ref(), true)))
    }

    /// Answers with a result as it stands: a [`Json`], or whatever serialises as the result is to be.
    ///
    /// # Panics
    ///
    /// When the value does not serialise as JSON.
    pub fn result(self, result: impl Serialize) -> Self {
        self.then(Step::Result(wire::json(&result)))
    }

    /// Answers that input is wanted first (2026-07-28, basic/patterns/mrtr): an object of requests by the names that their
    /// answers are to have, which may be empty, and a state that is to come back. A client sends the request again with
    /// both; a script for its method ([`ScriptedServer::on`](crate::ScriptedServer::on)) finds them as `inputResponses` and
    /// `requestState` among the parameters.
    ///
    /// ```
    /// # use mcpwire_driver::core::Json;
    /// # use mcpwire_testkit::{Answer, ScriptedServer};
    /// let wanted = Json::parse(r#"{"where": {"method": "roots/list"}}"#).unwrap();
    /// let server = ScriptedServer::new().on("tools/call", move |params| match params.member::<Json>("inputResponses") {
    ///     Some(answers) => Answer::new().text(answers.get()),
    ///     None => Answer::new().input_required(&wanted, Some("asked")),
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// When the requests do not serialise as JSON.
    pub fn input_required(self, input_requests: impl Serialize, request_state: Option<&str>) -> Self {
        self.then(Step::Result(wire::input_required(&wire::json(&input_requests), request_state)))
    }

    /// Answers with an error of the protocol.
    pub fn refuse(self, error: RpcError) -> Self {
        self.then(Step::Refuse(error))
    }

    /// Sends a request to the client in the middle of the call, as servers do up to 2025-11-25, and waits for the response.
    ///
    /// `then` gets the response, which has the member `result` or `error`, and returns the steps that follow. Steps that are
    /// added after this one come after those. `()` stands for no parameters. For the modern era, see
    /// [`Answer::input_required`].
    ///
    /// ```
    /// # use mcpwire_testkit::{Answer, ScriptedServer};
    /// let server = ScriptedServer::new().tool("folders", |_| {
    ///     Answer::new().ask("roots/list", (), |response| Answer::new().text(response.get()))
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// When the parameters do not serialise as JSON.
    pub fn ask<A: Into<Answer>>(
        self,
        method: &str,
        params: impl Serialize,
        then: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        self.then(Step::Ask(Ask { method: method.to_owned(), params: wire::json(&params), then: shared(then) }))
    }

    /// Sends a notification; `()` stands for no parameters.
    ///
    /// # Panics
    ///
    /// When the parameters do not serialise as JSON.
    pub fn notify(self, method: &str, params: impl Serialize) -> Self {
        self.then(Step::Line(wire::notification(method, &wire::json(&params))))
    }

    /// Sends a line of any text.
    pub fn line(self, line: impl Into<String>) -> Self {
        self.then(Step::Line(line.into()))
    }

    /// Sends bytes as they stand, with no end of the line.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Raw(bytes.into()))
    }

    /// Closes the connection.
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

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Answer::new().text(text)
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Answer::new().text(text)
    }
}

impl From<RpcError> for Answer {
    fn from(error: RpcError) -> Self {
        Answer::new().refuse(error)
    }
}

impl<T: Into<Answer>, E: Display> From<Result<T, E>> for Answer {
    /// What is wrong is told as the tool's failure.
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(answer) => answer.into(),
            Err(error) => Answer::new().error(error.to_string()),
        }
    }
}
