//! The capabilities that client and server declare.

use super::object::object;
use super::tasks::{TASKS_EXTENSION, TasksCapability};
use crate::json::Json;

object! {
    /// The features that the client offers to servers (`ClientCapabilities`).
    ///
    /// The members are open objects. An empty object declares the feature without options.
    pub struct ClientCapabilities("an object of capabilities") {
        /// Lists of root folders.
        optional roots: Json = "roots",
        /// Requests to a language model.
        optional sampling: Json = "sampling",
        /// Requests for input from the user.
        optional elicitation: Json = "elicitation",
        /// Tasks, in the form of 2025-11-25.
        optional tasks: Json = "tasks",
        /// Extensions by name, with their settings (from 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features outside of the specification.
        optional experimental: Json = "experimental",
    }
}

impl ClientCapabilities {
    /// Declares the extension for tasks (`io.modelcontextprotocol/tasks`, "Capability Negotiation"): results of `tools/call` may be
    /// tasks. Call [`Config::declare_tasks`](crate::Config::declare_tasks), which also makes the engine follow them.
    pub(crate) fn declare_tasks(&mut self) {
        self.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
    }

    /// Returns whether the extension for tasks is declared.
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }
}

object! {
    /// The features that a server offers (`ServerCapabilities`). A feature that is absent is not offered.
    pub struct ServerCapabilities("an object of capabilities") {
        /// Tools.
        optional tools: ListCapability = "tools",
        /// Resources.
        optional resources: ResourcesCapability = "resources",
        /// Prompt templates.
        optional prompts: ListCapability = "prompts",
        /// Completion of arguments.
        optional completions: Json = "completions",
        /// Log messages.
        optional logging: Json = "logging",
        /// Tasks, in the form of 2025-11-25.
        optional tasks: TasksCapability = "tasks",
        /// Extensions by name, with their settings (from 2026-07-28).
        optional extensions: Json = "extensions",
        /// Features outside of the specification.
        optional experimental: Json = "experimental",
    }
}

object! {
    /// A list of tools or prompts.
    pub struct ListCapability("an object") {
        /// Whether the server notifies clients when the list changes.
        or_default list_changed: bool = "listChanged",
    }
}

object! {
    /// A list of resources, and their contents.
    pub struct ResourcesCapability("an object") {
        /// Whether the server notifies clients when the list changes.
        or_default list_changed: bool = "listChanged",
        /// Whether clients can subscribe to changes of a resource.
        or_default subscribe: bool = "subscribe",
    }
}
