//! What clients do not send, with the revisions of the protocol that have it. The table of what they send is the engine's.

use mcpwire_core::ProtocolVersion::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// What an entry of a table describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ClientRequest,
    ClientNotification,
    /// A request from the server to the client. From protocol revision 2026-07-28 on, it is in an `input_required` result
    /// (basic/patterns/mrtr).
    ServerRequest,
    ServerNotification,
    /// A type in the official schema of the protocol, such as `Icon`, or a property of a type, such as `Tool.title`.
    Definition,
}

/// The first and the last revision.
pub(crate) type Revisions = (ProtocolVersion, ProtocolVersion);

const ALL: Revisions = (V2024_11_05, V2026_07_28);
const LEGACY: Revisions = (V2024_11_05, V2025_11_25);
const MODERN: Revisions = (V2026_07_28, V2026_07_28);
const FIRST_TASKS: Revisions = (V2025_11_25, V2025_11_25);

/// The requests and notifications that servers send, and the schema definitions that some protocol revisions do not have.
pub(crate) const WITHOUT_CLIENT_METHODS: &[(Kind, &str, Revisions)] = &[
    // Requests of servers.
    (Kind::ServerRequest, "ping", LEGACY),
    (Kind::ServerRequest, "sampling/createMessage", ALL),
    (Kind::ServerRequest, "roots/list", ALL),
    (Kind::ServerRequest, "elicitation/create", (V2025_06_18, V2026_07_28)),
    (Kind::ServerRequest, "tasks/get", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/result", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/list", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/cancel", FIRST_TASKS),
    // Notifications of servers.
    (Kind::ServerNotification, "notifications/message", ALL),
    (Kind::ServerNotification, "notifications/progress", ALL),
    (Kind::ServerNotification, "notifications/cancelled", ALL),
    (Kind::ServerNotification, "notifications/tools/list_changed", ALL),
    (Kind::ServerNotification, "notifications/prompts/list_changed", ALL),
    (Kind::ServerNotification, "notifications/resources/list_changed", ALL),
    (Kind::ServerNotification, "notifications/resources/updated", ALL),
    (Kind::ServerNotification, "notifications/elicitation/complete", FIRST_TASKS),
    (Kind::ServerNotification, "notifications/tasks/status", FIRST_TASKS),
    (Kind::ServerNotification, "notifications/tasks", MODERN),
    (Kind::ServerNotification, "notifications/subscriptions/acknowledged", MODERN),
    // Parts of messages. The client reads them in every revision, and sends them only in the revisions that have them.
    (Kind::Definition, "JSONRPCBatchRequest", (V2025_03_26, V2025_03_26)),
    (Kind::Definition, "AudioContent", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ToolAnnotations", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ServerCapabilities.completions", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ResourceLink", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "CallToolResult.structuredContent", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool.outputSchema", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool.title", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool._meta", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "ClientCapabilities.elicitation", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "CompleteRequestParams.context", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Icon", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "Implementation.description", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "CreateMessageRequestParams.tools", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "ElicitRequestURLParams", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "ElicitRequestURLParams.elicitationId", FIRST_TASKS),
    (Kind::Definition, "ServerCapabilities.tasks", FIRST_TASKS),
    (Kind::Definition, "ClientCapabilities.tasks", FIRST_TASKS),
    (Kind::Definition, "Tool.execution", FIRST_TASKS),
    (Kind::Definition, "ServerCapabilities.extensions", MODERN),
    (Kind::Definition, "ClientCapabilities.extensions", MODERN),
    (Kind::Definition, "InputRequiredResult", MODERN),
    (Kind::Definition, "CacheableResult", MODERN),
];
