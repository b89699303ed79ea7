//! Admission and end of tool calls.

use super::Supervisor;
use crate::{Event, Generation, HubError, ServerId, TooManyCalls};
use mcpwire_core::Timestamp;

/// The reason why a call is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallRejection {
    /// The server or tool does not exist.
    Error(HubError),
    /// The call exceeds the rate limit of the server.
    TooManyCalls(TooManyCalls),
    /// The server does not run.
    ///
    /// Send [`Command::PrepareCall`](crate::Command::PrepareCall) to wait for the server. If its reply is a success,
    /// try the call again; otherwise the reply contains the reason.
    NotRunning,
}

impl CallRejection {
    /// Returns the error to show to the user.
    pub fn contract(&self) -> HubError {
        match self {
            CallRejection::Error(error) => error.clone(),
            CallRejection::TooManyCalls(error) => error.contract(),
            CallRejection::NotRunning => HubError::unavailable("the MCP server is not running; start it first"),
        }
    }
}

impl Supervisor {
    /// Admits and counts a call to a server, and returns the generation that handles it.
    ///
    /// `tool` is the name that the server gives the tool. Report the end of every admitted call with
    /// [`end_call`](Self::end_call), whatever its outcome.
    pub fn begin_call(&mut self, id: ServerId, tool: &str, now: Timestamp) -> Result<Generation, CallRejection> {
        let Some(managed) = self.servers.get_mut(&id) else {
            return Err(CallRejection::Error(HubError::unknown_server(id)));
        };
        // The tools of a stopped server are unknown, so `NotRunning` is the more precise error.
        let Some(tools) = managed.server.tools() else { return Err(CallRejection::NotRunning) };
        if tools.get(tool).is_none() || !managed.filter.permits(tool) {
            return Err(CallRejection::Error(HubError::unknown_tool(tool)));
        }
        if !managed.server.is_ready() {
            return Err(CallRejection::NotRunning);
        }
        managed.rate.take(now).map_err(CallRejection::TooManyCalls)?;
        let generation = managed.server.generation();
        self.event(id, generation, Event::CallStarted, now);
        Ok(generation)
    }

    /// Reports the end of an admitted call, with any outcome.
    pub fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.event(id, generation, Event::CallEnded, now);
    }
}
