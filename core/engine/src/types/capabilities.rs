//! Capabilities: the optional features that a client or server declares to its peer.

use super::object::object;
use super::tasks::{TASKS_EXTENSION, TasksCapability};
use crate::json::Json;

object! {
    /// The optional features that the client supports (`ClientCapabilities`).
    ///
    /// A present member declares the feature. Its value is an object with options, which may be empty.
    pub struct ClientCapabilities("an object of capabilities") {
        /// The server may request the client's roots (`roots/list`).
        ///
        /// The specification deprecates roots from revision 2026-07-28 on.
        optional roots: Json = "roots",
        /// The server may request completions from the client's language model (`sampling/createMessage`).
        ///
        /// The specification deprecates sampling from revision 2026-07-28 on.
        optional sampling: Json = "sampling",
        /// The server may request input from the user (`elicitation/create`).
        optional elicitation: Json = "elicitation",
        /// Experimental tasks of revision 2025-11-25. Later revisions have the extension
        /// [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) instead.
        optional tasks: Json = "tasks",
        /// Supported extensions: an object with extension identifiers as keys and settings as values (from revision
        /// 2026-07-28).
        optional extensions: Json = "extensions",
        /// Experimental features that the specification does not define.
        optional experimental: Json = "experimental",
    }
}

impl ClientCapabilities {
    /// Declares the tasks extension: the server may then answer `tools/call` with a task.
    ///
    /// Only [`Config::declare_tasks`](crate::Config::declare_tasks) calls this function, because the engine must also
    /// follow those tasks. Specification: extension `io.modelcontextprotocol/tasks`, "Capability Negotiation".
    pub(crate) fn declare_tasks(&mut self) {
        self.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
    }

    /// Returns whether the client declares the tasks extension.
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }
}

object! {
    /// The optional features that a server supports (`ServerCapabilities`).
    ///
    /// An absent member means that the server does not support the feature.
    pub struct ServerCapabilities("an object of capabilities") {
        /// The server offers tools.
        optional tools: ListCapability = "tools",
        /// The server offers resources.
        optional resources: ResourcesCapability = "resources",
        /// The server offers prompts.
        optional prompts: ListCapability = "prompts",
        /// The server suggests values for arguments of prompts and resource templates (`completion/complete`).
        optional completions: Json = "completions",
        /// The server sends log messages to the client.
        optional logging: Json = "logging",
        /// Experimental tasks of revision 2025-11-25. Later revisions have the extension
        /// [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) instead.
        optional tasks: TasksCapability = "tasks",
        /// Supported extensions: an object with extension identifiers as keys and settings as values (from revision
        /// 2026-07-28).
        optional extensions: Json = "extensions",
        /// Experimental features that the specification does not define.
        optional experimental: Json = "experimental",
    }
}

object! {
    /// Options of the capabilities `tools` and `prompts`.
    pub struct ListCapability("an object") {
        /// Whether the server sends a notification when the list changes.
        or_default list_changed: bool = "listChanged",
    }
}

object! {
    /// Options of the capability `resources`.
    pub struct ResourcesCapability("an object") {
        /// Whether the server sends a notification when the list changes.
        or_default list_changed: bool = "listChanged",
        /// Whether the client can subscribe to changes of single resources.
        or_default subscribe: bool = "subscribe",
    }
}
