//! The requests and notifications of clients, with the revisions of the protocol that have them.
//!
//! Before a session sends a typed request, it looks up the method in this table. The request fails at once if the
//! negotiated revision does not have the method (`SendError::NotInRevision`), or if the server does not declare the
//! required capability (`SendError::NotOffered`). Methods that are not in the table belong to vendors or extensions:
//! the session sends them without a check. The same holds for raw requests.

use mcpwire_types::ProtocolVersion::{self, V2024_11_05, V2025_11_25, V2026_07_28};
use mcpwire_types::Requirement;

/// A request or notification of clients, and the protocol revisions that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientMethod {
    /// Name of the request or notification, such as `tools/call`.
    pub name: &'static str,
    /// First protocol revision that has this request or notification.
    pub from: ProtocolVersion,
    /// Last protocol revision that has this request or notification.
    pub until: ProtocolVersion,
    /// Capability that the server must declare before the client may send this request. [`Requirement::Nothing`] if
    /// none is required.
    pub requires: Requirement,
    /// What to use in protocol revisions that do not have this request or notification: a text for error messages. Empty
    /// if there is no replacement.
    pub instead: &'static str,
}

impl ClientMethod {
    /// Returns whether the protocol revision `version` has this request or notification.
    pub fn is_in(&self, version: ProtocolVersion) -> bool {
        self.from <= version && version <= self.until
    }
}

/// Returns all requests and notifications that clients send.
pub fn client_methods() -> &'static [ClientMethod] {
    CLIENT_METHODS
}

const fn method(
    name: &'static str,
    (from, until): (ProtocolVersion, ProtocolVersion),
    requires: Requirement,
    instead: &'static str,
) -> ClientMethod {
    ClientMethod { name, from, until, requires, instead }
}

const ALL: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2026_07_28);
const LEGACY: (ProtocolVersion, ProtocolVersion) = (V2024_11_05, V2025_11_25);
const MODERN: (ProtocolVersion, ProtocolVersion) = (V2026_07_28, V2026_07_28);
const TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2026_07_28);
const FIRST_TASKS: (ProtocolVersion, ProtocolVersion) = (V2025_11_25, V2025_11_25);

/// The requests and notifications that clients send.
static CLIENT_METHODS: &[ClientMethod] = &[
    // basic/lifecycle. Revision 2026-07-28 has server/discover and basic/versioning instead.
    method("initialize", LEGACY, Requirement::Nothing, "`server/discover`"),
    method("server/discover", MODERN, Requirement::Nothing, "`initialize`"),
    method("ping", LEGACY, Requirement::Nothing, "`server/discover`"),
    method("tools/list", ALL, Requirement::Tools, ""),
    method("tools/call", ALL, Requirement::Tools, ""),
    method("resources/list", ALL, Requirement::Resources, ""),
    method("resources/templates/list", ALL, Requirement::Resources, ""),
    method("resources/read", ALL, Requirement::Resources, ""),
    method("resources/subscribe", LEGACY, Requirement::ResourcesSubscribe, "`subscriptions/listen`"),
    method("resources/unsubscribe", LEGACY, Requirement::ResourcesSubscribe, "the end of `subscriptions/listen`"),
    method(
        "subscriptions/listen",
        MODERN,
        Requirement::Nothing,
        "`resources/subscribe`, and notifications that come unasked",
    ),
    method("prompts/list", ALL, Requirement::Prompts, ""),
    method("prompts/get", ALL, Requirement::Prompts, ""),
    method("completion/complete", ALL, Requirement::Completions, ""),
    method("logging/setLevel", LEGACY, Requirement::Logging, "the log level in the `_meta` of each request"),
    // Tasks are experimental in revision 2025-11-25 (basic/utilities/tasks), and the extension
    // io.modelcontextprotocol/tasks from revision 2026-07-28 on. `tasks/get` requires no capability, because a client
    // that knows a task may always request its status.
    method("tasks/get", TASKS, Requirement::Nothing, ""),
    method("tasks/cancel", TASKS, Requirement::TasksCancel, ""),
    method("tasks/result", FIRST_TASKS, Requirement::Nothing, "`tasks/get`"),
    method("tasks/list", FIRST_TASKS, Requirement::TasksList, "`tasks/get` for each task"),
    method("tasks/update", MODERN, Requirement::Nothing, "answers to the server's own requests"),
    method("notifications/initialized", LEGACY, Requirement::Nothing, "nothing: there is no handshake"),
    method("notifications/cancelled", ALL, Requirement::Nothing, ""),
    method("notifications/progress", LEGACY, Requirement::Nothing, ""),
    method(
        "notifications/roots/list_changed",
        LEGACY,
        Requirement::Nothing,
        "the roots in the answer to each `roots/list`",
    ),
    method("notifications/tasks/status", FIRST_TASKS, Requirement::Nothing, ""),
];

/// Returns the client's request or notification `name`, or `None` if the table does not contain it.
pub(crate) fn client_method(name: &str) -> Option<&'static ClientMethod> {
    CLIENT_METHODS.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_method_occurs_twice_and_each_is_found() {
        for method in CLIENT_METHODS {
            assert!(method.from <= method.until, "{}", method.name);
            assert!(client_method(method.name).is_some_and(|found| core::ptr::eq(found, method)), "{}", method.name);
        }
        for name in ["acme/reindex", "", "tools/lis"] {
            assert_eq!(client_method(name), None);
        }
    }
}
