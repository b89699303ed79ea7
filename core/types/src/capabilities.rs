//! Capabilities: the optional features that a client or server declares to its peer, and which of them a method requires.

use core::fmt;

use crate::ProtocolVersion::{self, V2025_03_26, V2025_11_25};
use crate::elicitation::FORM;
use crate::tasks::{TASKS_EXTENSION, TasksCapability};
use mcpwire_text::json::object::to_json;
use mcpwire_text::json::{Extra, Json, JsonText, scan};
use mcpwire_text::object;

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
    /// Returns whether these capabilities of a client contain the tasks extension
    /// ([`TASKS_EXTENSION`](crate::TASKS_EXTENSION)).
    pub fn has_tasks(&self) -> bool {
        self.extensions.as_ref().and_then(|extensions| extensions.member_text(TASKS_EXTENSION)).is_some()
    }

    /// Declares that the client supports elicitation: servers may ask the user to fill in a form (if `form` is `true`)
    /// or to visit a URL (if `url` is `true`).
    ///
    /// `false` does not revoke what an earlier call declared. If neither is declared, servers assume forms.
    /// Specification: client/elicitation, "Capabilities".
    #[must_use]
    pub fn with_elicitation(mut self, form: bool, url: bool) -> Self {
        // An empty object means form mode, but some servers do not know that. So `form` is always written.
        let had_form = self.elicitation.as_ref().is_some_and(|declared| allows_mode(declared, FORM));
        self.elicitation = Some(declare(self.elicitation.as_ref(), [("form", form || had_form), ("url", url)]));
        self
    }

    /// Declares that the client supports sampling: servers may send requests to the client's language model.
    ///
    /// If `tools` is `true`, a request may offer tools to the model. If `context` is `true`, a request may ask the
    /// client to add information from its MCP servers to the prompt (`includeContext`). `false` does not revoke an
    /// option that an earlier call declared.
    ///
    /// The specification deprecates sampling from revision 2026-07-28 on. Specification: client/sampling,
    /// "Capabilities".
    #[must_use]
    pub fn with_sampling(mut self, tools: bool, context: bool) -> Self {
        self.sampling = Some(declare(self.sampling.as_ref(), [("tools", tools), ("context", context)]));
        self
    }

    /// Declares that the client supports roots: servers may request the client's root directories.
    ///
    /// If `list_changed` is `true`, also declares that the client notifies servers when its roots change. `false` does
    /// not revoke an earlier declaration.
    ///
    /// From revision 2026-07-28 on, the specification deprecates roots and has no such notification.
    ///
    /// Specification of revision 2025-11-25: client/roots, "Capabilities".
    #[must_use]
    pub fn with_roots(mut self, list_changed: bool) -> Self {
        if list_changed {
            let mut roots = members_without(self.roots.as_ref(), "listChanged");
            roots.push("listChanged", Json::trusted("true"));
            self.roots = Some(to_json(&roots));
        } else if self.roots.is_none() {
            self.roots = Some(Json::trusted("{}"));
        }
        self
    }

    /// Returns whether the client declares that it notifies servers when its root directories change
    /// (`roots.listChanged`).
    pub fn declares_roots_list_changed(&self) -> bool {
        self.roots.as_ref().and_then(|roots| roots.member_text("listChanged")) == Some("true")
    }

    /// Returns the settings that the client declares for the extension `name`: a JSON object, which is often empty.
    ///
    /// Returns `None` if the client does not declare the extension, or if the settings are not an object.
    pub fn extension(&self, name: &str) -> Option<Json> {
        extension(self.extensions.as_ref(), name)
    }

    /// Declares that the client supports the extension `name`. `settings` must be a JSON object; `{}` means no
    /// settings.
    ///
    /// Replaces earlier settings of the same extension.
    pub fn declare_extension(&mut self, name: &str, settings: Json) {
        let mut extensions = members_without(self.extensions.as_ref(), name);
        extensions.push(name, settings);
        self.extensions = Some(to_json(&extensions));
    }
}

/// Returns whether the client supports the elicitation mode `mode`, which is `form` or `url`. `declared` is the
/// client's `elicitation` capability.
///
/// A capability that names neither mode means `form`, because protocol revision 2025-06-18 has only forms and no modes.
pub(crate) fn allows_mode(declared: &Json, mode: &str) -> bool {
    has_member(declared, mode) || mode == FORM && !has_member(declared, "url")
}

/// Returns whether `object` has the member `name` with a value other than `null`.
pub(crate) fn has_member(object: &Json, name: &str) -> bool {
    object.member_text(name).is_some_and(|text| text != "null")
}

/// Returns a copy of the object `before`, with an added member `{}` for each name whose flag is `true`. Existing
/// members are left unchanged.
fn declare<const N: usize>(before: Option<&Json>, names: [(&str, bool); N]) -> Json {
    let mut object = members_without(before, "");
    for (name, wanted) in names {
        if wanted && object.get(name).is_none() {
            object.push(name, Json::trusted("{}"));
        }
    }
    to_json(&object)
}

fn members_without(object: Option<&Json>, left_out: &str) -> Extra {
    let mut members = Extra::default();
    let all = object.iter().flat_map(|object| scan::members(object.get().as_bytes()));
    for member in all.filter(|member| !member.is(left_out)) {
        members.push(member.key(), member.json());
    }
    members
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

impl ServerCapabilities {
    /// Returns the settings of the extension `name`: a JSON object, which is often empty.
    ///
    /// Returns `None` if the server does not declare the extension, or if the settings are not an object.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{Json, ServerCapabilities}; } }
    /// use mcpwire::types::{Json, ServerCapabilities};
    ///
    /// let declared = r#"{"extensions":{"com.example/search":{"maxResults":5}}}"#;
    /// let declared: ServerCapabilities = Json::parse(declared)?.decode()?;
    /// let search = declared.extension("com.example/search").unwrap();
    /// assert_eq!(search.member::<u32>("maxResults"), Some(5));
    /// assert!(declared.extension("com.example/other").is_none());
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    pub fn extension(&self, name: &str) -> Option<Json> {
        extension(self.extensions.as_ref(), name)
    }
}

/// Returns the settings of the extension `name`, if they are an object. `declared` is the member `extensions` of a
/// client's or server's capabilities.
fn extension(declared: Option<&Json>, name: &str) -> Option<Json> {
    declared?.member_text(name).map(Json::trusted).filter(Json::is_object)
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

/// A capability that a server must declare before a client may send certain requests ([`ServerCapabilities`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Requirement {
    /// The method requires no capability.
    Nothing,
    /// The server capability `tools`.
    Tools,
    /// The server capability `resources`.
    Resources,
    /// The server capability `resources.subscribe`.
    ResourcesSubscribe,
    /// The server capability `prompts`.
    Prompts,
    /// The server capability `completions`. Servers of protocol revision 2024-11-05 cannot declare it, and are assumed
    /// to have it.
    Completions,
    /// The server capability `logging`.
    Logging,
    /// The server capability `tasks.list` (protocol revision 2025-11-25 only).
    TasksList,
    /// The server capability `tasks.cancel` (protocol revision 2025-11-25). Servers of later revisions need not declare
    /// it: every server with the tasks extension can cancel tasks.
    TasksCancel,
}

impl Requirement {
    /// Returns the path of the capability within the server's capabilities, such as `resources.subscribe`. Returns an
    /// empty string for [`Requirement::Nothing`].
    pub fn as_str(self) -> &'static str {
        match self {
            Requirement::Nothing => "",
            Requirement::Tools => "tools",
            Requirement::Resources => "resources",
            Requirement::ResourcesSubscribe => "resources.subscribe",
            Requirement::Prompts => "prompts",
            Requirement::Completions => "completions",
            Requirement::Logging => "logging",
            Requirement::TasksList => "tasks.list",
            Requirement::TasksCancel => "tasks.cancel",
        }
    }

    /// Returns whether a server of the protocol revision `version` that declared the capabilities `declared` meets this
    /// requirement.
    ///
    /// If the server sent no capabilities object at all (`None`), it is assumed to meet every requirement.
    pub fn is_met(self, declared: Option<&ServerCapabilities>, version: ProtocolVersion) -> bool {
        let Some(server) = declared else { return true };
        let tasks = server.tasks.as_ref();
        match self {
            Requirement::Nothing => true,
            Requirement::Tools => server.tools.is_some(),
            Requirement::Resources => server.resources.is_some(),
            Requirement::ResourcesSubscribe => server.resources.as_ref().is_some_and(|resources| resources.subscribe),
            Requirement::Prompts => server.prompts.is_some(),
            Requirement::Completions => version < V2025_03_26 || server.completions.is_some(),
            Requirement::Logging => server.logging.is_some(),
            Requirement::TasksList => tasks.is_some_and(|tasks| tasks.list.is_some()),
            Requirement::TasksCancel => version > V2025_11_25 || tasks.is_some_and(|tasks| tasks.cancel.is_some()),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
