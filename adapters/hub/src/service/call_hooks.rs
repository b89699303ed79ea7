//! [`CallHooks`]: callbacks of the program that allow or deny tool calls.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt as _;
use mcpwire_client::catch_panic;
use mcpwire_core::{Json, Tool};
use serde::Serialize;
use uuid::Uuid;

use super::outcome::ToolOutcome;
use crate::tasks::panicked;
use crate::{HubError, HubErrorKind};

/// A tool call, as the callbacks of the program see it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id of the server.
    pub server: Uuid,
    /// The name of the server.
    pub server_name: String,
    /// The name that the server uses for the tool.
    pub tool: String,
    /// The definition of the tool. Its annotations come from the server and are not trustworthy.
    pub definition: Option<Tool>,
    /// The arguments of the call.
    pub arguments: Json,
}

/// The decision about a tool call, or about its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallDecision {
    /// The call is made, or its outcome is returned.
    Allow,
    /// The callback of [`HubOptions::on_ask`](super::HubOptions::on_ask) decides. Without that callback, the call is
    /// denied.
    Ask,
    /// The call fails with [`HubErrorKind::Denied`]. Contains the reason, which the error shows.
    Deny(String),
}

/// The question whether a tool call may be made, or whether its outcome may be returned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallQuestion {
    /// The tool call.
    pub call: ToolCall,
    /// The outcome of the call. `None` if the call was not made yet.
    pub outcome: Option<ToolOutcome>,
}

type Before = dyn Fn(&ToolCall) -> CallDecision + Send + Sync;
type After = dyn Fn(&ToolCall, Result<&ToolOutcome, &HubError>) -> CallDecision + Send + Sync;
type OnAsk = dyn Fn(CallQuestion) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync;

/// The callbacks of the program for tool calls. A callback that panics denies the call.
#[derive(Default)]
pub(super) struct CallHooks {
    pub(super) before: Option<Box<Before>>,
    pub(super) after: Option<Box<After>>,
    pub(super) on_ask: Option<Box<OnAsk>>,
}

impl CallHooks {
    /// Returns whether no call needs a decision.
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }

    /// Decides whether a call may be made.
    pub(super) async fn before(&self, call: &ToolCall) -> Result<(), HubError> {
        let Some(before) = &self.before else { return Ok(()) };
        let decision = catch_panic(|| before(call)).map_err(|message| denied_by_panic("before_call", &message))?;
        self.decide(decision, || CallQuestion { call: call.clone(), outcome: None }).await
    }

    /// Decides whether the outcome of a call may be returned. The error of a failed call stays the same.
    pub(super) async fn after(
        &self,
        call: &ToolCall,
        outcome: Result<ToolOutcome, HubError>,
    ) -> Result<ToolOutcome, HubError> {
        let Some(after) = &self.after else { return outcome };
        let decision = catch_panic(|| after(call, outcome.as_ref()));
        let outcome = outcome?;
        let decision = decision.map_err(|message| denied_by_panic("after_call", &message))?;
        self.decide(decision, || CallQuestion { call: call.clone(), outcome: Some(outcome.clone()) }).await?;
        Ok(outcome)
    }

    async fn decide(&self, decision: CallDecision, question: impl FnOnce() -> CallQuestion) -> Result<(), HubError> {
        let reason = match decision {
            CallDecision::Allow => return Ok(()),
            CallDecision::Deny(reason) => reason,
            CallDecision::Ask => match &self.on_ask {
                None => "it needs approval, and nobody can be asked; set `HubOptions::on_ask`".into(),
                Some(on_ask) => {
                    let question = question();
                    let asked = catch_panic(|| on_ask(question));
                    let answer = asked.map_err(|message| denied_by_panic("on_ask", &message))?;
                    match AssertUnwindSafe(answer).catch_unwind().await {
                        Ok(true) => return Ok(()),
                        Ok(false) => "it was not approved".into(),
                        Err(_) => return Err(denied_by_panic("on_ask", "the answer could not be obtained")),
                    }
                }
            },
        };
        Err(denied(format!("the tool call was denied: {reason}")))
    }
}

fn denied(message: String) -> HubError {
    HubError::new(HubErrorKind::Denied, message).at("tool_name")
}

fn denied_by_panic(callback: &str, message: &str) -> HubError {
    denied(panicked(&format!("`HubOptions::{callback}`"), message).message)
}

/// Serializes the arguments of a call. Pairs of a name and a value become an object, as the client sends them.
pub(super) fn arguments_to_json(arguments: &impl Serialize) -> Result<Json, HubError> {
    let invalid = |error: mcpwire_core::JsonError| {
        HubError::new(HubErrorKind::InvalidArguments, error.to_string()).at("arguments")
    };
    let json = Json::from_value(arguments).map_err(invalid)?;
    if !json.get().starts_with('[') {
        return Ok(json);
    }
    match json.decode::<Vec<(String, Json)>>() {
        Ok(pairs) => Json::from_value(&pairs.into_iter().collect::<BTreeMap<_, _>>()).map_err(invalid),
        Err(_) => Ok(json),
    }
}
