//! The methods, notifications and definitions of each revision of the protocol.
//!
//! Before a session sends a typed request, it looks up the method among the [`rows`]. The request fails at once if the
//! negotiated revision does not have the method (`SendError::NotInRevision`), or if the server does not declare the
//! required capability (`SendError::NotOffered`). Methods that are not in the table belong to vendors or extensions:
//! the session sends them without a check. The same holds for raw requests.
//!
//! ```
//! # mod mcpwire { pub mod types { pub use mcpwire_types::{ProtocolVersion, revisions}; } }
//! use mcpwire::types::ProtocolVersion;
//! use mcpwire::types::revisions::{self, Kind};
//!
//! let ping = revisions::find(Kind::ClientRequest, "ping").unwrap();
//! assert!(ping.is_in(ProtocolVersion::V2025_11_25) && !ping.is_in(ProtocolVersion::V2026_07_28));
//! assert_eq!(ping.instead, "`server/discover`");
//! ```

use core::fmt;

use crate::ProtocolVersion::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use crate::ServerCapabilities;

/// A method, notification or schema definition of the protocol, and the protocol revisions that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Whether this is a schema definition, or a request or notification of the client or of the server.
    pub kind: Kind,
    /// Name of the method or notification, such as `tools/call`.
    ///
    /// For a schema definition: the name of a type, such as `Icon`, or of a property, such as `Tool.title`.
    pub name: &'static str,
    /// First protocol revision that has this method, notification or definition.
    pub from: ProtocolVersion,
    /// Last protocol revision that has this method, notification or definition.
    pub until: ProtocolVersion,
    /// Capability that the server must declare before the client may send this request. [`Requirement::Nothing`] if
    /// none is required, and for everything that is not a request from the client.
    pub requires: Requirement,
    /// What to use in protocol revisions that do not have this method, notification or definition: a text for error
    /// messages. Empty if there is no replacement.
    pub instead: &'static str,
}

impl Row {
    /// Returns whether the protocol revision `version` has this method, notification or definition.
    pub fn is_in(&self, version: ProtocolVersion) -> bool {
        self.from <= version && version <= self.until
    }
}

/// What a [`Row`] describes: a request, a notification or a schema definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A request from the client to the server.
    ClientRequest,
    /// A notification from the client to the server.
    ClientNotification,
    /// A request from the server to the client.
    ///
    /// From protocol revision 2026-07-28 on, the server does not send the request as a JSON-RPC message of its own, but
    /// in an `input_required` result (basic/patterns/mrtr).
    ServerRequest,
    /// A notification from the server to the client.
    ServerNotification,
    /// A type in the official schema of the protocol, or a property of such a type.
    Definition,
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

/// Iterates over all methods and notifications of the protocol, and the schema definitions that only some protocol
/// revisions have.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    CLIENT_TABLE.iter().chain(OTHER_TABLE)
}

/// Finds the method, notification or schema definition with this kind and name. Returns `None` if [`rows`] does not
/// contain it.
pub fn find(kind: Kind, name: &str) -> Option<&'static Row> {
    rows().find(|row| row.kind == kind && row.name == name)
}

const fn row(
    kind: Kind,
    name: &'static str,
    (from, until): (ProtocolVersion, ProtocolVersion),
    requires: Requirement,
    instead: &'static str,
) -> Row {
    Row { kind, name, from, until, requires, instead }
}

const fn request(
    name: &'static str,
    in_revisions: (ProtocolVersion, ProtocolVersion),
    requires: Requirement,
    instead: &'static str,
) -> Row {
    row(Kind::ClientRequest, name, in_revisions, requires, instead)
}

const fn other(
    kind: Kind,
    name: &'static str,
    in_revisions: (ProtocolVersion, ProtocolVersion),
    instead: &'static str,
) -> Row {
    row(kind, name, in_revisions, Requirement::Nothing, instead)
}

const ALL: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2026_07_28);
const LEGACY: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2025_11_25);
const MODERN: (ProtocolVersion, ProtocolVersion) = (V2026_07_28, V2026_07_28);
const TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2026_07_28);
const FIRST_TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2025_11_25);

/// The requests and notifications that clients send. The index of an entry is the number of its bit in
/// [`UnavailableMethods`].
static CLIENT_TABLE: &[Row] = &[
    // basic/lifecycle. Revision 2026-07-28 has server/discover and basic/versioning instead.
    request("initialize", LEGACY, Requirement::Nothing, "`server/discover`"),
    request("server/discover", MODERN, Requirement::Nothing, "`initialize`"),
    request("ping", LEGACY, Requirement::Nothing, "`server/discover`"),
    request("tools/list", ALL, Requirement::Tools, ""),
    request("tools/call", ALL, Requirement::Tools, ""),
    request("resources/list", ALL, Requirement::Resources, ""),
    request("resources/templates/list", ALL, Requirement::Resources, ""),
    request("resources/read", ALL, Requirement::Resources, ""),
    request("resources/subscribe", LEGACY, Requirement::ResourcesSubscribe, "`subscriptions/listen`"),
    request("resources/unsubscribe", LEGACY, Requirement::ResourcesSubscribe, "the end of `subscriptions/listen`"),
    request(
        "subscriptions/listen",
        MODERN,
        Requirement::Nothing,
        "`resources/subscribe`, and notifications that come unasked",
    ),
    request("prompts/list", ALL, Requirement::Prompts, ""),
    request("prompts/get", ALL, Requirement::Prompts, ""),
    request("completion/complete", ALL, Requirement::Completions, ""),
    request("logging/setLevel", LEGACY, Requirement::Logging, "the log level in the `_meta` of each request"),
    // Tasks are experimental in revision 2025-11-25 (basic/utilities/tasks), and the extension
    // io.modelcontextprotocol/tasks from revision 2026-07-28 on. `tasks/get` requires no capability, because a client
    // that knows a task may always request its status.
    request("tasks/get", TASKS, Requirement::Nothing, ""),
    request("tasks/cancel", TASKS, Requirement::TasksCancel, ""),
    request("tasks/result", FIRST_TASKS, Requirement::Nothing, "`tasks/get`"),
    request("tasks/list", FIRST_TASKS, Requirement::TasksList, "`tasks/get` for each task"),
    request("tasks/update", MODERN, Requirement::Nothing, "answers to the server's own requests"),
    other(Kind::ClientNotification, "notifications/initialized", LEGACY, "nothing: there is no handshake"),
    other(Kind::ClientNotification, "notifications/cancelled", ALL, ""),
    other(Kind::ClientNotification, "notifications/progress", LEGACY, ""),
    other(
        Kind::ClientNotification,
        "notifications/roots/list_changed",
        LEGACY,
        "the roots in the answer to each `roots/list`",
    ),
    other(Kind::ClientNotification, "notifications/tasks/status", FIRST_TASKS, ""),
];

/// The requests and notifications that servers send, and the schema definitions that some protocol revisions do not
/// have.
static OTHER_TABLE: &[Row] = &[
    // Requests of servers.
    other(Kind::ServerRequest, "ping", LEGACY, ""),
    other(Kind::ServerRequest, "sampling/createMessage", ALL, ""),
    other(Kind::ServerRequest, "roots/list", ALL, ""),
    other(Kind::ServerRequest, "elicitation/create", (V2025_06_18, V2026_07_28), ""),
    other(Kind::ServerRequest, "tasks/get", FIRST_TASKS, ""),
    other(Kind::ServerRequest, "tasks/result", FIRST_TASKS, ""),
    other(Kind::ServerRequest, "tasks/list", FIRST_TASKS, ""),
    other(Kind::ServerRequest, "tasks/cancel", FIRST_TASKS, ""),
    // Notifications of servers.
    other(Kind::ServerNotification, "notifications/message", ALL, ""),
    other(Kind::ServerNotification, "notifications/progress", ALL, ""),
    other(Kind::ServerNotification, "notifications/cancelled", ALL, ""),
    other(Kind::ServerNotification, "notifications/tools/list_changed", ALL, ""),
    other(Kind::ServerNotification, "notifications/prompts/list_changed", ALL, ""),
    other(Kind::ServerNotification, "notifications/resources/list_changed", ALL, ""),
    other(Kind::ServerNotification, "notifications/resources/updated", ALL, ""),
    other(
        Kind::ServerNotification,
        "notifications/elicitation/complete",
        FIRST_TASKS,
        "the result of the request that is sent again",
    ),
    other(Kind::ServerNotification, "notifications/tasks/status", FIRST_TASKS, "`notifications/tasks`"),
    other(Kind::ServerNotification, "notifications/tasks", MODERN, "`notifications/tasks/status`"),
    other(
        Kind::ServerNotification,
        "notifications/subscriptions/acknowledged",
        MODERN,
        "the answer to `resources/subscribe`",
    ),
    // Parts of messages. The client reads them in every revision, and sends them only in the revisions that have them.
    other(Kind::Definition, "JSONRPCBatchRequest", (V2025_03_26, V2025_03_26), "one message a line"),
    other(Kind::Definition, "AudioContent", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Definition, "ToolAnnotations", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Definition, "ServerCapabilities.completions", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Definition, "ResourceLink", (V2025_06_18, V2026_07_28), "an embedded resource"),
    other(Kind::Definition, "CallToolResult.structuredContent", (V2025_06_18, V2026_07_28), "text"),
    other(Kind::Definition, "Tool.outputSchema", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Definition, "Tool.title", (V2025_06_18, V2026_07_28), "the title in the annotations, from 2025-03-26"),
    other(Kind::Definition, "Tool._meta", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Definition, "ClientCapabilities.elicitation", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Definition, "CompleteRequestParams.context", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Definition, "Icon", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Definition, "Implementation.description", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Definition, "CreateMessageRequestParams.tools", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Definition, "ElicitRequestURLParams", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Definition, "ElicitRequestURLParams.elicitationId", FIRST_TASKS, "an identifier in `requestState`"),
    other(Kind::Definition, "ServerCapabilities.tasks", FIRST_TASKS, "the extension io.modelcontextprotocol/tasks"),
    other(Kind::Definition, "ClientCapabilities.tasks", FIRST_TASKS, "the extension io.modelcontextprotocol/tasks"),
    other(Kind::Definition, "Tool.execution", FIRST_TASKS, ""),
    other(Kind::Definition, "ServerCapabilities.extensions", MODERN, "`experimental`"),
    other(Kind::Definition, "ClientCapabilities.extensions", MODERN, "`experimental`"),
    other(Kind::Definition, "InputRequiredResult", MODERN, "requests of the server"),
    other(Kind::Definition, "CacheableResult", MODERN, ""),
];

const _: () = assert!(CLIENT_TABLE.len() <= 32, "a bit each");

/// Returns the bit of the client's request or notification `name` in the sets of [`UnavailableMethods`]. Returns 0 for
/// any other name.
pub const fn bit(name: &str) -> u32 {
    let mut at = 0;
    while at < CLIENT_TABLE.len() {
        if is_equal(CLIENT_TABLE[at].name.as_bytes(), name.as_bytes()) {
            return 1 << at;
        }
        at += 1;
    }
    0
}

/// Returns the client's request or notification that has this bit in [`UnavailableMethods`].
///
/// `bit` must be a value other than 0 that the function [`bit`] returned.
pub fn client_row(bit: u32) -> &'static Row {
    &CLIENT_TABLE[bit.trailing_zeros() as usize]
}

/// The requests and notifications that a client must not send to a server, as sets of bits. The function [`bit`]
/// returns the bit of each method.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnavailableMethods {
    /// Bits of all methods that the client must not send: the session's protocol revision does not have the method, or
    /// the server did not declare the required capability.
    pub all: u32,
    /// Bits of the methods whose required capability the server did not declare. A subset of `all`.
    pub undeclared: u32,
}

impl UnavailableMethods {
    /// Determines what a client must not send to a server of the protocol revision `version` that declared the
    /// capabilities `declared`.
    ///
    /// If the server sent no capabilities object at all (`None`), it is assumed to have all capabilities.
    pub fn new(version: ProtocolVersion, declared: Option<&ServerCapabilities>) -> Self {
        let mut methods = UnavailableMethods::default();
        for (at, row) in CLIENT_TABLE.iter().enumerate() {
            if !row.requires.is_met(declared, version) {
                methods.undeclared |= 1 << at;
            }
            if !row.is_in(version) {
                methods.all |= 1 << at;
            }
        }
        methods.all |= methods.undeclared;
        methods
    }
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_clients_come_first_and_no_row_occurs_twice() {
        assert!(OTHER_TABLE.iter().all(|row| !matches!(row.kind, Kind::ClientRequest | Kind::ClientNotification)));
        for (at, row) in rows().enumerate() {
            assert!(row.from <= row.until, "{}", row.name);
            let twins = rows().filter(|other| (other.kind, other.name) == (row.kind, row.name));
            assert_eq!(twins.count(), 1, "{}", row.name);
            if at < CLIENT_TABLE.len() {
                assert_eq!(bit(row.name), 1 << at, "{}", row.name);
            }
        }
        assert_eq!((bit("acme/reindex"), bit(""), bit("tools/lis")), (0, 0, 0));
    }
}
