//! Capabilities: the optional features that a client or server declares to its peer.

use crate::json::Json;
use crate::object::object;
use crate::tasks::{TASKS_EXTENSION, TasksCapability};

object! {
    /// The optional features that a client declares to servers.
    ///
    /// A feature that the client does not support is `None`. The value of a supported feature is a JSON object with
    /// options, which is often empty.
    pub struct ClientCapabilities("an object of capabilities") {
        /// Present if servers may request the client's root directories (`roots/list`), otherwise `None`. The JSON
        /// value is an object of options.
        ///
        /// The specification deprecates roots from revision 2026-07-28 on.
        optional roots: Json = "roots",
        /// Present if servers may send requests to the client's language model (`sampling/createMessage`), otherwise
        /// `None`. The JSON value is an object of options.
        ///
        /// The specification deprecates sampling from revision 2026-07-28 on.
        optional sampling: Json = "sampling",
        /// Present if servers may request input from the user (`elicitation/create`), otherwise `None`. The JSON value
        /// is an object of options, such as the supported modes.
        optional elicitation: Json = "elicitation",
        /// Present if the client supports tasks as an experimental feature of protocol revision 2025-11-25, otherwise
        /// `None`. In later revisions, the extension [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) replaces this
        /// capability.
        optional tasks: Json = "tasks",
        /// Extensions that the client supports: a JSON object with extension identifiers as keys and the settings of
        /// each extension as values (from protocol revision 2026-07-28). `None` if the client declares no extensions.
        optional extensions: Json = "extensions",
        /// Features of the client that the specification does not define: a JSON object with the names of the features
        /// as keys. `None` if the client declares no such features.
        optional experimental: Json = "experimental",
    }
}

impl ClientCapabilities {
    /// Declares the tasks extension, so that the server may respond to `tools/call` with a task.
    ///
    /// Users call `Config::declare_tasks` instead, which also makes the session poll
    /// each task until the task ends. Specification: extension `io.modelcontextprotocol/tasks`, "Capability
    /// Negotiation".
    #[doc(hidden)]
    pub fn declare_tasks(&mut self) {
        self.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
    }

    /// Returns whether these capabilities of a client contain the tasks extension
    /// ([`TASKS_EXTENSION`](crate::TASKS_EXTENSION)).
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }
}

object! {
    /// The optional features that a server declares to its clients.
    ///
    /// A feature that the server does not support is `None`. The value of a supported feature is a JSON object with
    /// options, which is often empty.
    pub struct ServerCapabilities("an object of capabilities") {
        /// Options for tools, such as list change notifications. `None` if the server offers no tools.
        optional tools: ListCapability = "tools",
        /// Options for resources, such as subscriptions. `None` if the server offers no resources.
        optional resources: ResourcesCapability = "resources",
        /// Options for prompts, such as list change notifications. `None` if the server offers no prompts.
        optional prompts: ListCapability = "prompts",
        /// Present if the server suggests values for the arguments of prompts and resource templates
        /// (`completion/complete`), otherwise `None`. The JSON value is an object of options.
        optional completions: Json = "completions",
        /// Present if the server sends log messages to the client, otherwise `None`. The JSON value is an object of
        /// options.
        optional logging: Json = "logging",
        /// Present if the server supports tasks as an experimental feature of protocol revision 2025-11-25, otherwise
        /// `None`. In later revisions, the extension [`TASKS_EXTENSION`](crate::TASKS_EXTENSION) replaces this
        /// capability.
        optional tasks: TasksCapability = "tasks",
        /// Extensions that the server supports: a JSON object with extension identifiers as keys and the settings of
        /// each extension as values (from protocol revision 2026-07-28). `None` if the server declares no extensions.
        optional extensions: Json = "extensions",
        /// Features of the server that the specification does not define: a JSON object with the names of the features
        /// as keys. `None` if the server declares no such features.
        optional experimental: Json = "experimental",
    }
}

object! {
    /// Options of the capabilities by which a server declares that it offers tools or prompts.
    pub struct ListCapability("an object") {
        /// Whether the server sends a notification when its list of tools (or of prompts) changes. `false` if the
        /// server did not say.
        or_default list_changed: bool = "listChanged",
    }
}

object! {
    /// Options of the capability by which a server declares that it offers resources.
    pub struct ResourcesCapability("an object") {
        /// Whether the server sends a notification when its list of resources changes. `false` if the server did not
        /// say.
        or_default list_changed: bool = "listChanged",
        /// Whether the server accepts subscriptions, by which a client is notified of changes to individual resources.
        /// `false` if the server did not say.
        or_default subscribe: bool = "subscribe",
    }
}
