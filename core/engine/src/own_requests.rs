//! Requests that the engine sends on its own account: their methods, and the parameters and results of those that open a
//! connection.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::json::from_json::{self, strict};
use mcpwire_text::json::read::Reader;
use mcpwire_text::json::{Json, JsonText};
use mcpwire_text::{object, result};
use mcpwire_types::{
    CallToolResult, ClientCapabilities, Implementation, ServerCapabilities, SubscribeParams, SubscriptionsListenParams,
    SubscriptionsListenResult, TaskParams, UnsubscribeParams, methods,
};

methods! {
    /// `initialize`: opens a session with a server (up to protocol revision 2025-11-25). Applications do not send this
    /// request: the engine sends it when it connects.
    Initialize = "initialize", InitializeParams => InitializeResult, strict;
    /// `server/discover`: requests the protocol versions and capabilities of a server (from protocol revision
    /// 2026-07-28). Applications need not send this request: the engine sends it when it connects.
    #[doc(alias = "DiscoverRequest")]
    Discover = "server/discover", => DiscoverResult, strict;
    /// `resources/subscribe`: subscribes to changes of a resource (up to protocol revision 2025-11-25; later revisions
    /// have [`SubscriptionsListen`]).
    Subscribe = "resources/subscribe", SubscribeParams<'_> => Json, Reader::json;
    /// `resources/unsubscribe`: ends a subscription to a resource (up to protocol revision 2025-11-25).
    Unsubscribe = "resources/unsubscribe", UnsubscribeParams<'_> => Json, Reader::json;
    /// `subscriptions/listen`: opens a subscription to change notifications (from protocol revision 2026-07-28).
    ///
    /// Send this request with `Calls::subscribe`. With
    /// `Calls::request`, the subscription would end at the timeout of the request, and the
    /// session would not report its events.
    SubscriptionsListen = "subscriptions/listen", SubscriptionsListenParams<'_> => SubscriptionsListenResult, strict;
    /// `tasks/result`: requests the result of the tool call that created a task (protocol revision 2025-11-25 only).
    /// The server responds when the task has ended.
    GetTaskResult = "tasks/result", TaskParams<'_> => CallToolResult, strict;
}

object! {
    /// Parameters of `initialize`, the first request of a connection up to revision 2025-11-25.
    ///
    /// Specification of revision 2025-11-25: basic/lifecycle, "Initialization".
    #[doc(alias("initialize", "InitializeRequest", "InitializeRequestParams"))]
    pub struct InitializeParams("an object") {
        /// Protocol version that the client prefers, usually the latest one that it supports.
        required protocol_version: String = "protocolVersion",
        /// The optional features that the client supports.
        required capabilities: ClientCapabilities = "capabilities",
        /// Name and version of the client program.
        required client_info: Implementation = "clientInfo",
    }
}

object! {
    /// Result of `initialize`: the protocol version that the server selected, and the server's capabilities.
    ///
    /// All fields are optional, because some servers omit members that the specification requires. Specification of
    /// revision 2025-11-25: basic/lifecycle, "Initialization".
    #[doc(alias = "initialize")]
    pub struct InitializeResult("an object") {
        /// Protocol version that the server selected for the connection. `None` if the server sent none.
        optional protocol_version: String = "protocolVersion",
        /// The optional features that the server supports. `None` if the server sent no capabilities.
        optional capabilities: ServerCapabilities = "capabilities",
        /// Name and version of the server program. `None` if the server sent none.
        optional server_info: Implementation = "serverInfo",
        /// Text that tells a language model how to use the server. `None` if the server sent none.
        optional instructions: String = "instructions",
        /// Metadata that the server attached to the `initialize` result (`_meta`). `None` if the server sent none.
        optional meta: Json = "_meta",
    }
}

result! {
    /// Result of `server/discover`: the protocol versions and capabilities of a server.
    ///
    /// Specification: server/discover.
    #[doc(alias("server/discover", "DiscoverResultResponse"))]
    pub cacheable struct DiscoverResult {
        // Required, because some servers answer every unknown method with an empty object, which is not a result of
        // `server/discover`.
        /// Protocol versions that the server supports. A `server/discover` result without them cannot be deserialized.
        required supported_versions: Vec<String> = "supportedVersions",
        /// The optional features that the server supports. `None` if the server sent no capabilities.
        optional capabilities: ServerCapabilities = "capabilities",
        /// Text that tells a language model how to use the server. `None` if the server sent none.
        optional instructions: String = "instructions",
        /// Name and version of the server from the member `serverInfo` of the result. `None` if that member is absent.
        ///
        /// Other servers send these values in `_meta`. [`DiscoverResult::implementation`] looks in both places.
        optional server_info: Implementation = "serverInfo",
    }
}

impl DiscoverResult {
    /// Returns the name and version of the server: from the member `_meta` of this `server/discover` result, or else
    /// from `serverInfo`. Returns `None` if both are absent or invalid.
    pub fn implementation(&self) -> Option<Implementation> {
        let in_meta = || from_json::from_str(self.meta.as_ref()?.member_text("io.modelcontextprotocol/serverInfo")?);
        in_meta().or_else(|| self.server_info.clone())
    }
}
