//! [`ServerInfo`]: the server of a connection, as it describes itself.

use alloc::string::String;

use crate::types::{Era, Implementation, ProtocolVersion, ServerCapabilities};

/// The server of a connection, and the protocol version of the connection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The era of the protocol version. A program that stores the era can skip the probe next time, with
    /// [`Config::negotiate`](super::Config::negotiate).
    pub era: Era,
    /// The protocol version that client and server use.
    pub protocol_version: ProtocolVersion,
    /// The name and version of the server, if it gave them.
    pub implementation: Option<Implementation>,
    /// The capabilities of the server. `None` if the server declared nothing at all: then every method may be called.
    pub capabilities: Option<ServerCapabilities>,
    /// Instructions for using the server, addressed to a language model.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// Returns the name of the server, or an empty string if it gave none.
    pub fn name(&self) -> &str {
        self.implementation.as_ref().map_or("", |implementation| &implementation.name)
    }

    /// Returns whether `tools/call` may request a task (2025-11-25, basic/utilities/tasks, "Capabilities").
    ///
    /// Returns `false` for later versions, where the server decides by itself whether a call becomes a task.
    pub fn takes_tasks(&self) -> bool {
        let tasks = self.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.protocol_version == ProtocolVersion::V2025_11_25 && tasks.is_some_and(|tasks| tasks.covers("tools/call"))
    }
}
