//! Admits tool calls, and records their end.

use super::Supervisor;
use crate::{Event, Generation, HubError, ServerId, TooManyCalls};
use mcpwire_core::Timestamp;

/// The reason why a tool call is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallRejection {
    /// The server or tool does not exist. Contains the error for the user.
    Error(HubError),
    /// The call exceeds the rate limit of the server.
    TooManyCalls(TooManyCalls),
    /// The server does not run.
    ///
    /// Send [`Command::PrepareCall`](crate::Command::PrepareCall) to wait for the server. If that command succeeds, try
    /// the call again. Otherwise its error contains the reason.
    NotRunning,
}

impl CallRejection {
    /// Converts the rejection to the error to show to the user.
    pub fn contract(&self) -> HubError {
        match self {
            CallRejection::Error(error) => error.clone(),
            CallRejection::TooManyCalls(error) => error.contract(),
            CallRejection::NotRunning => HubError::unavailable("the MCP server is not running; start it first"),
        }
    }
}

impl Supervisor {
    /// Admits and counts a tool call. Returns the generation of the current attempt to run the server.
    ///
    /// `tool` is the name that the server uses for the tool, without the prefix `<slug>__`. Report the end of each
    /// admitted call with [`end_call`](Self::end_call), even if the call fails.
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

    /// Reports that a tool call has ended, with any outcome. `generation` is the one that
    /// [`begin_call`](Self::begin_call) returned.
    pub fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.event(id, generation, Event::CallEnded, now);
    }
}
