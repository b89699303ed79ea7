//! The requests and notifications of clients, with the revisions of the protocol that have them.
//!
//! Before a session sends a typed request, it looks up the method in this table. The request fails at once if the
//! negotiated revision does not have the method (`SendError::NotInRevision`), or if the server does not declare the
//! required capability (`SendError::NotOffered`). Methods that are not in the table belong to vendors or extensions:
//! the session sends them without a check. The same holds for raw requests.

use mcpwire_types::ProtocolVersion::{self, V2024_11_05, V2025_11_25, V2026_07_28};
use mcpwire_types::{Requirement, ServerCapabilities};

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

/// The requests and notifications that clients send. The index of an entry is the number of its bit in
/// [`UnavailableMethods`].
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

const _: () = assert!(CLIENT_METHODS.len() <= 32, "a bit each");

/// Returns the bit of the client's request or notification `name` in the sets of [`UnavailableMethods`]. Returns 0 for
/// any other name.
pub(crate) const fn bit(name: &str) -> u32 {
    let mut at = 0;
    while at < CLIENT_METHODS.len() {
        if is_equal(CLIENT_METHODS[at].name.as_bytes(), name.as_bytes()) {
            return 1 << at;
        }
        at += 1;
    }
    0
}

/// Returns the client's request or notification that has this bit in [`UnavailableMethods`].
///
/// `bit` must be a value other than 0 that the function [`bit`] returned.
pub(crate) fn client_row(bit: u32) -> &'static ClientMethod {
    &CLIENT_METHODS[bit.trailing_zeros() as usize]
}

/// The requests and notifications that a client must not send to a server, as sets of bits. The function [`bit`]
/// returns the bit of each method.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnavailableMethods {
    /// Bits of all methods that the client must not send: the session's protocol revision does not have the method, or
    /// the server did not declare the required capability.
    pub(crate) all: u32,
    /// Bits of the methods whose required capability the server did not declare. A subset of `all`.
    pub(crate) undeclared: u32,
}

impl UnavailableMethods {
    /// Determines what a client must not send to a server of the protocol revision `version` that declared the
    /// capabilities `declared`.
    ///
    /// If the server sent no capabilities object at all (`None`), it is assumed to have all capabilities.
    pub(crate) fn new(version: ProtocolVersion, declared: Option<&ServerCapabilities>) -> Self {
        let mut methods = UnavailableMethods::default();
        for (at, method) in CLIENT_METHODS.iter().enumerate() {
            if !method.requires.is_met(declared, version) {
                methods.undeclared |= 1 << at;
            }
            if !method.is_in(version) {
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
    fn no_method_occurs_twice_and_each_has_its_bit() {
        for (at, method) in CLIENT_METHODS.iter().enumerate() {
            assert!(method.from <= method.until, "{}", method.name);
            assert_eq!(bit(method.name), 1 << at, "{}", method.name);
        }
        assert_eq!((bit("acme/reindex"), bit(""), bit("tools/lis")), (0, 0, 0));
    }
}
