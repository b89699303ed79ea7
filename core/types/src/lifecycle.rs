//! The requests that open a connection: `initialize` (up to revision 2025-11-25) and `server/discover` (from revision
//! 2026-07-28).

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, from_json};
use crate::object::object;
use crate::result::result;
use crate::{ClientCapabilities, Implementation, ServerCapabilities};

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
    /// from `serverInfo`. Returns `None` if both are absent.
    pub fn implementation(&self) -> Option<Implementation> {
        self.implementation_in_meta().or_else(|| self.server_info.clone())
    }

    /// Returns the name and version of the server from the member `io.modelcontextprotocol/serverInfo` of `_meta`.
    /// Returns `None` if that member is absent or invalid.
    pub fn implementation_in_meta(&self) -> Option<Implementation> {
        let info = self.meta.as_ref()?.member_text("io.modelcontextprotocol/serverInfo")?;
        from_json::from_str(info)
    }
}
