//! The methods, notifications and definitions that each revision of the protocol has.
//!
//! A session looks a method up in the table before it sends a typed request. The request fails at once if the negotiated revision
//! does not have the method ([`SendError::NotInRevision`]) or if the server did not declare the capability
//! ([`SendError::NotOffered`]). Methods that are not in the table belong to vendors and extensions, and are sent. So are raw
//! requests.
//!
//! ```
//! use mcpwire_core::ProtocolVersion;
//! use mcpwire_core::revisions::{self, Kind};
//!
//! let ping = revisions::find(Kind::Request, "ping").unwrap();
//! assert!(ping.is_in(ProtocolVersion::V2025_11_25) && !ping.is_in(ProtocolVersion::V2026_07_28));
//! assert_eq!(ping.instead, "`server/discover`");
//! ```
//!
//! [`SendError::NotInRevision`]: crate::SendError::NotInRevision
//! [`SendError::NotOffered`]: crate::SendError::NotOffered

use core::fmt;

use crate::types::ProtocolVersion::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use crate::types::ServerCapabilities;

/// A row of the table: something that at least one revision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What the row is about.
    pub kind: Kind,
    /// The name: a method, or for a [`Kind::Member`] a definition of the official schema or `Definition.property`.
    pub name: &'static str,
    /// The first revision that has it.
    pub from: ProtocolVersion,
    /// The last revision that has it. All revisions between the two have it.
    pub until: ProtocolVersion,
    /// The capability that the server must declare.
    pub needs: Need,
    /// What other revisions have instead, in words; empty if there is nothing.
    pub instead: &'static str,
}

impl Entry {
    /// Returns whether a revision has it.
    pub fn is_in(&self, version: ProtocolVersion) -> bool {
        self.from <= version && version <= self.until
    }
}

/// What a row of the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A request that clients send.
    Request,
    /// A notification that clients send.
    Notice,
    /// A request that servers send; from 2026-07-28 on within a result (basic/patterns/mrtr).
    Ask,
    /// A notification that servers send.
    Told,
    /// A definition of the schema, or a member of one.
    Member,
}

/// A capability that servers declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// No capability: all servers have it.
    Nothing,
    /// `tools`.
    Tools,
    /// `resources`.
    Resources,
    /// `resources.subscribe`.
    ResourcesSubscribe,
    /// `prompts`.
    Prompts,
    /// `completions`, which exists from 2025-03-26; servers of 2024-11-05 had no way to say so.
    Completions,
    /// `logging`.
    Logging,
    /// `tasks.list` (2025-11-25).
    TasksList,
    /// `tasks.cancel` (2025-11-25; the extension of later revisions always has it).
    TasksCancel,
}

impl Need {
    /// Returns the path of the capability among those that a server declares.
    pub fn as_str(self) -> &'static str {
        match self {
            Need::Nothing => "",
            Need::Tools => "tools",
            Need::Resources => "resources",
            Need::ResourcesSubscribe => "resources.subscribe",
            Need::Prompts => "prompts",
            Need::Completions => "completions",
            Need::Logging => "logging",
            Need::TasksList => "tasks.list",
            Need::TasksCancel => "tasks.cancel",
        }
    }

    /// Returns whether a server that declared these capabilities has this one. A server that declared none at all (`None`, not an
    /// empty object) is assumed to have everything.
    pub fn is_met(self, declared: Option<&ServerCapabilities>, version: ProtocolVersion) -> bool {
        let Some(server) = declared else { return true };
        let tasks = server.tasks.as_ref();
        match self {
            Need::Nothing => true,
            Need::Tools => server.tools.is_some(),
            Need::Resources => server.resources.is_some(),
            Need::ResourcesSubscribe => server.resources.as_ref().is_some_and(|resources| resources.subscribe),
            Need::Prompts => server.prompts.is_some(),
            Need::Completions => version < V2025_03_26 || server.completions.is_some(),
            Need::Logging => server.logging.is_some(),
            Need::TasksList => tasks.is_some_and(|tasks| tasks.list.is_some()),
            Need::TasksCancel => version > V2025_11_25 || tasks.is_some_and(|tasks| tasks.cancel.is_some()),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the row of this kind and name.
pub fn find(kind: Kind, name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.kind == kind && entry.name == name)
}

const fn row(
    kind: Kind,
    name: &'static str,
    (from, until): (ProtocolVersion, ProtocolVersion),
    needs: Need,
    instead: &'static str,
) -> Entry {
    Entry { kind, name, from, until, needs, instead }
}

const fn request(
    name: &'static str,
    in_revisions: (ProtocolVersion, ProtocolVersion),
    needs: Need,
    instead: &'static str,
) -> Entry {
    row(Kind::Request, name, in_revisions, needs, instead)
}

const fn other(
    kind: Kind,
    name: &'static str,
    in_revisions: (ProtocolVersion, ProtocolVersion),
    instead: &'static str,
) -> Entry {
    row(kind, name, in_revisions, Need::Nothing, instead)
}

const ALL: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2026_07_28);
const LEGACY: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2025_11_25);
const MODERN: (ProtocolVersion, ProtocolVersion) = (V2026_07_28, V2026_07_28);
const TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2026_07_28);
const FIRST_TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2025_11_25);

/// The table. Requests and notifications of clients come first.
pub const TABLE: &[Entry] = &[
    // basic/lifecycle; 2026-07-28 has server/discover and basic/versioning.
    request("initialize", LEGACY, Need::Nothing, "`server/discover`"),
    request("server/discover", MODERN, Need::Nothing, "`initialize`"),
    request("ping", LEGACY, Need::Nothing, "`server/discover`"),
    request("tools/list", ALL, Need::Tools, ""),
    request("tools/call", ALL, Need::Tools, ""),
    request("resources/list", ALL, Need::Resources, ""),
    request("resources/templates/list", ALL, Need::Resources, ""),
    request("resources/read", ALL, Need::Resources, ""),
    request("resources/subscribe", LEGACY, Need::ResourcesSubscribe, "`subscriptions/listen`"),
    request("resources/unsubscribe", LEGACY, Need::ResourcesSubscribe, "the end of `subscriptions/listen`"),
    request(
        "subscriptions/listen",
        MODERN,
        Need::Nothing,
        "`resources/subscribe`, and notifications that come unasked",
    ),
    request("prompts/list", ALL, Need::Prompts, ""),
    request("prompts/get", ALL, Need::Prompts, ""),
    request("completion/complete", ALL, Need::Completions, ""),
    request("logging/setLevel", LEGACY, Need::Logging, "the log level in the `_meta` of each request"),
    // Experimental in 2025-11-25 (basic/utilities/tasks), the extension io.modelcontextprotocol/tasks from 2026-07-28. A client
    // that has a task may ask for it, whatever the server declared.
    request("tasks/get", TASKS, Need::Nothing, ""),
    request("tasks/cancel", TASKS, Need::TasksCancel, ""),
    request("tasks/result", FIRST_TASKS, Need::Nothing, "`tasks/get`"),
    request("tasks/list", FIRST_TASKS, Need::TasksList, "`tasks/get` for each task"),
    request("tasks/update", MODERN, Need::Nothing, "answers to the server's own requests"),
    other(Kind::Notice, "notifications/initialized", LEGACY, "nothing: there is no handshake"),
    other(Kind::Notice, "notifications/cancelled", ALL, ""),
    other(Kind::Notice, "notifications/progress", LEGACY, ""),
    other(Kind::Notice, "notifications/roots/list_changed", LEGACY, "the roots in the answer to each `roots/list`"),
    other(Kind::Notice, "notifications/tasks/status", FIRST_TASKS, ""),
    // Requests of servers.
    other(Kind::Ask, "ping", LEGACY, ""),
    other(Kind::Ask, "sampling/createMessage", ALL, ""),
    other(Kind::Ask, "roots/list", ALL, ""),
    other(Kind::Ask, "elicitation/create", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Ask, "tasks/get", FIRST_TASKS, ""),
    other(Kind::Ask, "tasks/result", FIRST_TASKS, ""),
    other(Kind::Ask, "tasks/list", FIRST_TASKS, ""),
    other(Kind::Ask, "tasks/cancel", FIRST_TASKS, ""),
    // Notifications of servers.
    other(Kind::Told, "notifications/message", ALL, ""),
    other(Kind::Told, "notifications/progress", ALL, ""),
    other(Kind::Told, "notifications/cancelled", ALL, ""),
    other(Kind::Told, "notifications/tools/list_changed", ALL, ""),
    other(Kind::Told, "notifications/prompts/list_changed", ALL, ""),
    other(Kind::Told, "notifications/resources/list_changed", ALL, ""),
    other(Kind::Told, "notifications/resources/updated", ALL, ""),
    other(
        Kind::Told,
        "notifications/elicitation/complete",
        FIRST_TASKS,
        "the result of the request that is sent again",
    ),
    other(Kind::Told, "notifications/tasks/status", FIRST_TASKS, "`notifications/tasks`"),
    other(Kind::Told, "notifications/tasks", MODERN, "`notifications/tasks/status`"),
    other(Kind::Told, "notifications/subscriptions/acknowledged", MODERN, "the answer to `resources/subscribe`"),
    // Parts of messages. They are read in any revision, and sent only in the revisions that have them.
    other(Kind::Member, "JSONRPCBatchRequest", (V2025_03_26, V2025_03_26), "one message a line"),
    other(Kind::Member, "AudioContent", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Member, "ToolAnnotations", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Member, "ServerCapabilities.completions", (V2025_03_26, V2026_07_28), ""),
    other(Kind::Member, "ResourceLink", (V2025_06_18, V2026_07_28), "an embedded resource"),
    other(Kind::Member, "CallToolResult.structuredContent", (V2025_06_18, V2026_07_28), "text"),
    other(Kind::Member, "Tool.outputSchema", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Member, "Tool.title", (V2025_06_18, V2026_07_28), "the title in the annotations, from 2025-03-26"),
    other(Kind::Member, "Tool._meta", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Member, "ClientCapabilities.elicitation", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Member, "CompleteRequestParams.context", (V2025_06_18, V2026_07_28), ""),
    other(Kind::Member, "Icon", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Member, "Implementation.description", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Member, "CreateMessageRequestParams.tools", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Member, "ElicitRequestURLParams", (V2025_11_25, V2026_07_28), ""),
    other(Kind::Member, "ElicitRequestURLParams.elicitationId", FIRST_TASKS, "an identifier in `requestState`"),
    other(Kind::Member, "ServerCapabilities.tasks", FIRST_TASKS, "the extension io.modelcontextprotocol/tasks"),
    other(Kind::Member, "ClientCapabilities.tasks", FIRST_TASKS, "the extension io.modelcontextprotocol/tasks"),
    other(Kind::Member, "Tool.execution", FIRST_TASKS, ""),
    other(Kind::Member, "ServerCapabilities.extensions", MODERN, "`experimental`"),
    other(Kind::Member, "ClientCapabilities.extensions", MODERN, "`experimental`"),
    other(Kind::Member, "InputRequiredResult", MODERN, "requests of the server's"),
    other(Kind::Member, "CacheableResult", MODERN, ""),
];

/// Returns the bit of a method that clients send, or 0 for a method that is not in the table.
pub(crate) const fn bit(name: &str) -> u32 {
    let mut at = 0;
    while at < SENT {
        if same(TABLE[at].name.as_bytes(), name.as_bytes()) {
            return 1 << at;
        }
        at += 1;
    }
    0
}

/// The methods that a session must not send, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barred {
    /// The revision does not have the method, or the server did not declare it.
    pub(crate) all: u32,
    /// The server did not declare the method, whether the revision has it or not.
    pub(crate) undeclared: u32,
}

impl Barred {
    pub(crate) fn of(version: ProtocolVersion, declared: Option<&ServerCapabilities>) -> Self {
        let mut barred = Barred::default();
        for (at, entry) in TABLE.iter().take(SENT).enumerate() {
            if !entry.needs.is_met(declared, version) {
                barred.undeclared |= 1 << at;
            }
            if !entry.is_in(version) {
                barred.all |= 1 << at;
            }
        }
        barred.all |= barred.undeclared;
        barred
    }
}

/// The number of rows about what clients send. Each has a bit.
const SENT: usize = {
    let mut at = 0;
    while matches!(TABLE[at].kind, Kind::Request | Kind::Notice) {
        at += 1;
    }
    assert!(at <= 32, "a bit each");
    at
};

const fn same(one: &[u8], other: &[u8]) -> bool {
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
    fn what_clients_send_stands_first_and_once() {
        assert!(TABLE.iter().skip(SENT).all(|entry| !matches!(entry.kind, Kind::Request | Kind::Notice)));
        for (at, entry) in TABLE.iter().enumerate() {
            assert!(entry.from <= entry.until, "{}", entry.name);
            let twins = TABLE.iter().filter(|other| (other.kind, other.name) == (entry.kind, entry.name));
            assert_eq!(twins.count(), 1, "{}", entry.name);
            if at < SENT {
                assert_eq!(bit(entry.name), 1 << at, "{}", entry.name);
            }
        }
        assert_eq!((bit("acme/reindex"), bit(""), bit("tools/lis")), (0, 0, 0));
    }
}
