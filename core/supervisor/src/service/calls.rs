//! Admits or rejects tool calls, and records when they end.

use alloc::string::ToString;

use super::Supervisor;
use crate::{ErrorKind, Event, Generation, HubError, ServerId, TooManyCalls};
use mcpwire_core::{CallError, Timestamp};

/// The reason why a tool call is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallRejection {
    /// The server is unknown, or does not offer the tool. Contains the error for the user.
    Error(HubError),
    /// The call exceeds the rate limit of the server. Contains the limit and the time to wait.
    TooManyCalls(TooManyCalls),
    /// The server does not run.
    ///
    /// To wait for the server, send [`Command::PrepareCall`](crate::Command::PrepareCall). If that command succeeds,
    /// try the tool call again. If it fails, its error contains the reason.
    NotRunning,
}

impl CallRejection {
    /// Returns the error that tells the user why the tool call was rejected.
    pub fn to_hub_error(&self) -> HubError {
        match self {
            CallRejection::Error(error) => error.clone(),
            CallRejection::TooManyCalls(error) => error.to_hub_error(),
            CallRejection::NotRunning => {
                HubError::new(ErrorKind::NotRunning, "the MCP server is not running; start it first")
            }
        }
    }
}

impl Supervisor {
    /// Admits a tool call, or rejects it if the server does not run, does not offer the tool or has reached its rate
    /// limit.
    ///
    /// `tool` is the name that the server uses for the tool, without the prefix `<slug>__`. When an admitted call ends,
    /// successfully or not, pass the returned generation to [`end_call`](Self::end_call).
    pub fn begin_call(&mut self, id: ServerId, tool: &str, now: Timestamp) -> Result<Generation, CallRejection> {
        let Some(managed) = self.servers.get_mut(&id) else {
            return Err(CallRejection::Error(HubError::unknown_server(id)));
        };
        // The tools of a server that is not running are usually unknown, so `NotRunning` is more precise than an
        // unknown tool.
        let Some(tools) = managed.server.tools() else { return Err(CallRejection::NotRunning) };
        if tools.get(tool).is_none() {
            // A client whose tool list lacks the tool reports the same message.
            let error = CallError::ToolNotFound { tool: tool.into(), error: None };
            return Err(CallRejection::Error(HubError::unknown_tool(tool).with_message(error.to_string())));
        }
        if !self.catalogue.permits(id, tool) {
            return Err(CallRejection::Error(HubError::unknown_tool(tool)));
        }
        if !managed.server.is_ready() {
            return Err(CallRejection::NotRunning);
        }
        managed.rate.take(now).map_err(CallRejection::TooManyCalls)?;
        self.begin_request(id, now)
    }

    /// Admits a request other than a tool call, such as `resources/read`, or rejects it if the server does not run. Rate limits
    /// are for tool calls only.
    ///
    /// When the request ends, successfully or not, pass the returned generation to [`end_call`](Self::end_call).
    pub fn begin_request(&mut self, id: ServerId, now: Timestamp) -> Result<Generation, CallRejection> {
        let Some(managed) = self.servers.get_mut(&id) else {
            return Err(CallRejection::Error(HubError::unknown_server(id)));
        };
        if !managed.server.is_ready() {
            return Err(CallRejection::NotRunning);
        }
        let generation = managed.server.generation();
        self.event(id, generation, Event::CallStarted, now);
        Ok(generation)
    }

    /// Records that an admitted tool call has ended, successfully or not. `generation` is the value that
    /// [`begin_call`](Self::begin_call) returned for this call.
    pub fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.event(id, generation, Event::CallEnded, now);
    }
}
