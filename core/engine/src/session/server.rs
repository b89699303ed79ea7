//! What is known of the other side, and of how it goes.

use alloc::string::String;

use crate::types::{Era, Implementation, ProtocolVersion, ServerCapabilities};

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Nothing has been sent.
    New,
    /// The connection is being opened.
    Connecting,
    /// Requests can be sent.
    Ready,
    /// It has ended.
    Closed,
}

/// To whom a connection is open.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The era that is spoken: worth remembering for the next time.
    pub era: Era,
    /// The version that is spoken.
    pub protocol_version: ProtocolVersion,
    /// Who the server says it is.
    pub implementation: Option<Implementation>,
    /// What it says it can do. `None` if it said nothing about it, which is not the same as nothing.
    pub capabilities: Option<ServerCapabilities>,
    /// How to use it, in words for a language model.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// The server's name; empty if it gave none.
    pub fn name(&self) -> &str {
        self.implementation.as_ref().map_or("", |implementation| &implementation.name)
    }

    /// Whether calls of its tools may ask for a task (2025-11-25, basic/utilities/tasks, "Capabilities"). In later revisions
    /// that is not asked for.
    pub fn takes_tasks(&self) -> bool {
        let tasks = self.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.protocol_version == ProtocolVersion::V2025_11_25 && tasks.is_some_and(|tasks| tasks.covers("tools/call"))
    }
}

/// What was left aside, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lines that are no messages, and messages that cannot be read.
    pub noise: u64,
    /// Answers to requests that had ended: late ones and repeated ones.
    pub late: u64,
    /// Answers to requests that were never sent.
    pub foreign: u64,
    /// Requests that were answered with what was kept of an earlier answer.
    pub cached: u64,
    /// Requests of the server's that were refused.
    pub refused: u64,
}
