//! [`CallHooks`]: the callbacks of the program that allow or deny tool calls.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt as _;
use mcpwire_client::catch_panic;
use mcpwire_core::{Json, JsonError, Tool, printable};
use serde::Serialize;
use uuid::Uuid;

use super::tools::ToolOutcome;
use crate::tasks::panicked;
use crate::{ErrorKind, HubError};

/// A tool call, as the callbacks of the program see it, for example [`HubOptions::before_call`](super::HubOptions::before_call).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id of the server that is called.
    pub server: Uuid,
    /// The name of the server in the configuration.
    pub server_name: String,
    /// The name that the server uses for the tool.
    pub tool: String,
    /// The definition of the tool, or `None` if the hub does not know it. The annotations in the definition come from the server,
    /// so they are not trustworthy.
    pub definition: Option<Tool>,
    /// The arguments of the call, a JSON object.
    pub arguments: Json,
}

/// The decision of a callback about a tool call. Before the call, it is about making the call; after the call, it is about
/// returning the result to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallDecision {
    /// Make the tool call. After the call: return its result to the caller.
    Allow,
    /// Let the callback of [`HubOptions::on_ask`](super::HubOptions::on_ask) decide. If the program has not set that callback,
    /// the call is denied.
    Ask,
    /// Let the call fail with [`ErrorKind::Denied`]. The text is the reason, which the error message contains.
    Deny(String),
}

/// A question to the callback of [`HubOptions::on_ask`](super::HubOptions::on_ask): may this tool call be made, or, if it was
/// made, does the caller get the result?
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallQuestion {
    /// The tool call about which to decide.
    pub call: ToolCall,
    /// The result of the tool call, or `None` if the call was not made yet.
    pub outcome: Option<ToolOutcome>,
}

type Before = dyn Fn(&ToolCall) -> CallDecision + Send + Sync;
type After = dyn Fn(&ToolCall, Result<&ToolOutcome, &HubError>) -> CallDecision + Send + Sync;
type OnAsk = dyn Fn(CallQuestion) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync;

/// The callbacks of the program that allow or deny tool calls. If a callback panics, the hub denies the call.
#[derive(Default)]
pub(super) struct CallHooks {
    pub(super) before: Option<Box<Before>>,
    pub(super) after: Option<Box<After>>,
    pub(super) on_ask: Option<Box<OnAsk>>,
}

impl CallHooks {
    /// Returns whether no tool call needs a decision, because the program has set neither `before` nor `after`.
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }

    /// Asks the callbacks whether a tool call may be made. Returns an error if they deny the call.
    pub(super) async fn before(&self, call: &ToolCall) -> Result<(), HubError> {
        let Some(before) = &self.before else { return Ok(()) };
        let decision = run("before_call", call, || before(call))?;
        self.decide(decision, call, None).await
    }

    /// Asks the callbacks whether the caller gets the result of a tool call. Returns the result, or an error if they deny it. The
    /// error of a failed call is returned unchanged.
    pub(super) async fn after(
        &self,
        call: &ToolCall,
        outcome: Result<ToolOutcome, HubError>,
    ) -> Result<ToolOutcome, HubError> {
        let Some(after) = &self.after else { return outcome };
        let decision = run("after_call", call, || after(call, outcome.as_ref()));
        let outcome = outcome?;
        self.decide(decision?, call, Some(&outcome)).await?;
        Ok(outcome)
    }

    async fn decide(
        &self,
        decision: CallDecision,
        call: &ToolCall,
        outcome: Option<&ToolOutcome>,
    ) -> Result<(), HubError> {
        let reason = match (decision, &self.on_ask) {
            (CallDecision::Allow, _) => return Ok(()),
            (CallDecision::Deny(reason), _) => reason,
            (CallDecision::Ask, None) => {
                "it needs approval, and nobody can be asked; set `HubOptions::on_ask`".to_owned()
            }
            (CallDecision::Ask, Some(on_ask)) => {
                let question = CallQuestion { call: call.clone(), outcome: outcome.cloned() };
                let answer = run("on_ask", call, || on_ask(question))?;
                match AssertUnwindSafe(answer).catch_unwind().await {
                    Ok(true) => return Ok(()),
                    Ok(false) => "it was not approved".to_owned(),
                    Err(_) => has_panicked("on_ask", "the answer could not be obtained"),
                }
            }
        };
        Err(denied(call, &reason))
    }
}

fn denied(call: &ToolCall, reason: &str) -> HubError {
    let message = format!("`tools/call` of `{}` was denied: {reason}", printable(&call.tool));
    HubError::new(ErrorKind::Denied, message).at("tool_name").with_tool(&call.tool)
}

/// Runs a callback of the program. If the callback panics, returns the error of a denied call.
fn run<T>(callback: &str, call: &ToolCall, f: impl FnOnce() -> T) -> Result<T, HubError> {
    catch_panic(f).map_err(|message| denied(call, &has_panicked(callback, &message)))
}

/// Returns the reason for denying a call whose callback has panicked.
fn has_panicked(callback: &str, message: &str) -> String {
    panicked(&format!("`HubOptions::{callback}`"), message).message().to_owned()
}

/// Serializes the arguments of a tool call to JSON. Fails if their serialization fails.
pub(super) fn arguments_to_json(arguments: &impl Serialize) -> Result<Json, HubError> {
    Json::from_value(arguments).map_err(invalid_arguments)
}

/// Converts arguments that are a list of pairs (name and value) to a JSON object. Returns other arguments unchanged.
pub(super) fn pairs_to_object(arguments: Json) -> Result<Json, HubError> {
    if !arguments.get().starts_with('[') {
        return Ok(arguments);
    }
    match arguments.decode::<Vec<(String, Json)>>() {
        Ok(pairs) => Json::from_value(&pairs.into_iter().collect::<BTreeMap<_, _>>()).map_err(invalid_arguments),
        Err(_) => Ok(arguments),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn invalid_arguments(error: JsonError) -> HubError {
    HubError::new(ErrorKind::Usage, error.to_string()).at("arguments")
}
