//! Whether a call may be sent.

use super::Supervisor;
use crate::{ErrorContract, Event, Generation, ServerId, TooManyCalls};
use mcpwire_core::Timestamp;

/// A call is not to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing can be done about it.
    Error(ErrorContract),
    /// The server has been sent as many calls as it may.
    TooManyCalls(TooManyCalls),
    /// The server does not run. [`Command::Reach`](crate::Command::Reach) says whether it will, or why not; when
    /// that is answered with success, ask again.
    NotRunning,
}

impl Refusal {
    /// As hosts show it.
    pub fn contract(&self) -> ErrorContract {
        match self {
            Refusal::Error(error) => error.clone(),
            Refusal::TooManyCalls(error) => error.contract(),
            Refusal::NotRunning => ErrorContract::unavailable("the MCP server is not running"),
        }
    }
}

impl Supervisor {
    /// Asks whether a call may be sent to a server, and to which attempt of it. The tool is named as its server names it. If
    /// it may, the call is counted, and is to be ended with [`end_call`](Self::end_call), however it ends.
    pub fn begin_call(&mut self, id: ServerId, tool: &str, now: Timestamp) -> Result<Generation, Refusal> {
        let Some(managed) = self.servers.get_mut(&id) else {
            return Err(Refusal::Error(ErrorContract::unknown_server(id)));
        };
        // Which tools a server has that does not run is not known. That it does not run is, and says more.
        let Some(tools) = managed.server.tools() else { return Err(Refusal::NotRunning) };
        if tools.get(tool).is_none() || !managed.filter.permits(tool) {
            return Err(Refusal::Error(ErrorContract::unknown_tool(tool)));
        }
        if !managed.server.is_ready() {
            return Err(Refusal::NotRunning);
        }
        managed.rate.take(now).map_err(Refusal::TooManyCalls)?;
        let generation = managed.server.generation();
        self.event(id, generation, Event::CallStarted, now);
        Ok(generation)
    }

    /// A call has ended.
    pub fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.event(id, generation, Event::CallEnded, now);
    }
}
