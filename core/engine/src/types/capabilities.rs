//! What client and server say that they can do.

use super::object::object;
use super::tasks::{TASKS_EXTENSION, TasksCapability};
use crate::json::Json;

object! {
    /// What the client offers to servers (`ClientCapabilities`). The members are open objects of the specification; an
    /// empty object declares the feature without options.
    pub struct ClientCapabilities("an object of capabilities") {
        /// Lists of root folders.
        optional roots: Json = "roots",
        /// Requests to a language model.
        optional sampling: Json = "sampling",
        /// Questions to the user.
        optional elicitation: Json = "elicitation",
        /// Tasks, in the form of 2025-11-25.
        optional tasks: Json = "tasks",
        /// Extensions by name, with their settings (from 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features outside the specification.
        optional experimental: Json = "experimental",
    }
}

impl ClientCapabilities {
    /// Declares that answers of `tools/call` may be tasks (the extension `io.modelcontextprotocol/tasks`, "Capability
    /// Negotiation"): for [`Config::declare_tasks`](crate::Config::declare_tasks), which sees to it that they are followed.
    pub(crate) fn declare_tasks(&mut self) {
        self.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
    }

    /// Whether that was declared.
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }
}

object! {
    /// What a server offers (`ServerCapabilities`).
    pub struct ServerCapabilities("an object of capabilities") {
        /// It has tools.
        optional tools: ListCapability = "tools",
        /// It has resources.
        optional resources: ResourcesCapability = "resources",
        /// It has prompt templates.
        optional prompts: ListCapability = "prompts",
        /// It completes arguments.
        optional completions: Json = "completions",
        /// It sends log messages.
        optional logging: Json = "logging",
        /// It runs tasks, in the form of 2025-11-25.
        optional tasks: TasksCapability = "tasks",
        /// Extensions by name, with their settings (from 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features outside the specification.
        optional experimental: Json = "experimental",
    }
}

object! {
    /// A list that may change.
    pub struct ListCapability("an object") {
        /// The server tells when the list changes.
        or_default list_changed: bool = "listChanged",
    }
}

object! {
    /// Resources, whose list and contents may change.
    pub struct ResourcesCapability("an object") {
        /// The server tells when the list changes.
        or_default list_changed: bool = "listChanged",
        /// The server tells when a resource that was subscribed to changes.
        or_default subscribe: bool = "subscribe",
    }
}
