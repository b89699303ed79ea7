//! [`ServerInfo`]: the description that a server sends when the connection opens.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use mcpwire_types::{Era, Implementation, ProtocolVersion, ServerCapabilities};

/// Description of a server, and the protocol version of the connection.
///
/// Serde names the members as the result of `initialize` does, for example `protocolVersion` and `serverInfo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerInfo {
    /// The era of the protocol version: legacy (up to revision 2025-11-25) or modern (from revision 2026-07-28).
    ///
    /// A program can store the era of a server. With [`Negotiate::Legacy`](super::Negotiate::Legacy), the next
    /// connection to a legacy server opens faster, because the client sends `initialize` without trying
    /// `server/discover` first.
    pub era: Era,
    /// The protocol version that client and server have agreed on.
    pub protocol_version: ProtocolVersion,
    /// The name and version of the server. `None` if the server did not send them.
    #[serde(rename = "serverInfo")]
    pub implementation: Option<Implementation>,
    /// The capabilities that the server declared. `None` if the server sent no capabilities at all: then the client
    /// may call every method.
    pub capabilities: Option<ServerCapabilities>,
    /// Instructions for using the server, written for a language model. `None` if the server sent none.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// Returns the name of the server, or an empty string if the server did not send its name.
    pub fn name(&self) -> &str {
        self.implementation.as_ref().map_or("", |implementation| &implementation.name)
    }

    /// Returns whether the client may send the parameter `task` with `tools/call`, to request that the tool call runs
    /// as a task.
    ///
    /// `true` only if the server uses revision 2025-11-25 and declares this capability (specification:
    /// basic/utilities/tasks, "Capabilities"). With later revisions, the server decides whether a tool call becomes a
    /// task.
    pub fn takes_tasks(&self) -> bool {
        let tasks = self.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.protocol_version == ProtocolVersion::V2025_11_25 && tasks.is_some_and(|tasks| tasks.covers("tools/call"))
    }
}
