//! Capabilities: the optional features that a client or server declares to its peer.

use crate::json::Json;
use crate::object::object;
use crate::tasks::{TASKS_EXTENSION, TasksCapability};

object! {
    /// The optional features that the client supports (`ClientCapabilities`).
    ///
    /// A feature that the client does not support is `None`. The value of a supported feature is an object with
    /// options, which is often empty.
    pub struct ClientCapabilities("an object of capabilities") {
        /// Servers may request the client's root directories (`roots/list`).
        ///
        /// The specification deprecates roots from revision 2026-07-28 on.
        optional roots: Json = "roots",
        /// Servers may send requests to the client's language model (`sampling/createMessage`).
        ///
        /// The specification deprecates sampling from revision 2026-07-28 on.
        optional sampling: Json = "sampling",
        /// Servers may request input from the user (`elicitation/create`).
        optional elicitation: Json = "elicitation",
        /// The client supports tasks, an experimental feature of revision 2025-11-25. In later revisions, the extension
        /// [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) replaces this member.
        optional tasks: Json = "tasks",
        /// Extensions that the client supports: an object with extension identifiers as keys and the settings of each
        /// extension as values (from revision 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features of the client that the specification does not define: an object with the names of the features as
        /// keys.
        optional experimental: Json = "experimental",
    }
}

impl ClientCapabilities {
    /// Declares the tasks extension, so that the server may respond to `tools/call` with a task.
    ///
    /// Users call [`Config::declare_tasks`](crate::Config::declare_tasks) instead, which also makes the session poll
    /// each task until the task ends. Specification: extension `io.modelcontextprotocol/tasks`, "Capability
    /// Negotiation".
    #[doc(hidden)]
    pub fn declare_tasks(&mut self) {
        self.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
    }

    /// Returns whether the client declares the tasks extension ([`TASKS_EXTENSION`](crate::TASKS_EXTENSION)).
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }
}

object! {
    /// The optional features that a server supports (`ServerCapabilities`).
    ///
    /// A feature that the server does not support is `None`. The value of a supported feature is an object with
    /// options, which is often empty.
    pub struct ServerCapabilities("an object of capabilities") {
        /// The server offers tools.
        optional tools: ListCapability = "tools",
        /// The server offers resources.
        optional resources: ResourcesCapability = "resources",
        /// The server offers prompts.
        optional prompts: ListCapability = "prompts",
        /// The server suggests values for the arguments of prompts and resource templates (`completion/complete`).
        optional completions: Json = "completions",
        /// The server sends log messages to the client.
        optional logging: Json = "logging",
        /// The server supports tasks, an experimental feature of revision 2025-11-25. In later revisions, the extension
        /// [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) replaces this member.
        optional tasks: TasksCapability = "tasks",
        /// Extensions that the server supports: an object with extension identifiers as keys and the settings of each
        /// extension as values (from revision 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features of the server that the specification does not define: an object with the names of the features as
        /// keys.
        optional experimental: Json = "experimental",
    }
}

object! {
    /// Options of the server capabilities `tools` and `prompts`.
    pub struct ListCapability("an object") {
        /// Whether the server notifies the client when its list of tools (or of prompts) changes.
        or_default list_changed: bool = "listChanged",
    }
}

object! {
    /// Options of the server capability `resources`.
    pub struct ResourcesCapability("an object") {
        /// Whether the server notifies the client when its list of resources changes.
        or_default list_changed: bool = "listChanged",
        /// Whether the client can subscribe to changes of individual resources.
        or_default subscribe: bool = "subscribe",
    }
}
