//! The requests that open a connection: `initialize` (legacy era) and `server/discover` (modern era).

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::result::result;
use super::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::json::{Json, from_json};

object! {
    /// Parameters of `initialize`.
    ///
    /// Specification of revision 2025-11-25: basic/lifecycle, "Initialization".
    pub struct InitializeParams("an object") {
        /// Protocol version that the client prefers, usually the latest it supports.
        required protocol_version: String = "protocolVersion",
        /// Capabilities of the client.
        required capabilities: ClientCapabilities = "capabilities",
        /// Name and version of the client.
        required client_info: Implementation = "clientInfo",
    }
}

object! {
    /// Result of `initialize`.
    ///
    /// All members are optional, because some servers omit required ones. Specification of revision 2025-11-25:
    /// basic/lifecycle, "Initialization".
    pub struct InitializeResult("an object") {
        /// Protocol version that the server chose for the session.
        optional protocol_version: String = "protocolVersion",
        /// Capabilities of the server.
        optional capabilities: ServerCapabilities = "capabilities",
        /// Name and version of the server.
        optional server_info: Implementation = "serverInfo",
        /// Instructions on the use of the server, for a language model.
        optional instructions: String = "instructions",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

result! {
    /// Result of `server/discover`: the protocol versions and capabilities of a server.
    ///
    /// Specification: server/discover.
    pub cacheable struct DiscoverResult {
        /// Protocol versions that the server supports.
        ///
        /// This member is required: some servers answer every unknown method with an empty object, which must not count
        /// as a discovery.
        required supported_versions: Vec<String> = "supportedVersions",
        /// Capabilities of the server.
        optional capabilities: ServerCapabilities = "capabilities",
        /// Instructions on the use of the server, for a language model.
        optional instructions: String = "instructions",
        /// Name and version of the server, if the server sends them in this member instead of `_meta`.
        optional server_info: Implementation = "serverInfo",
    }
}

impl DiscoverResult {
    /// Returns the name and version of the server, from `_meta` or else from `serverInfo`.
    pub fn implementation(&self) -> Option<Implementation> {
        self.implementation_in_meta().or_else(|| self.server_info.clone())
    }

    /// Returns the name and version of the server from `_meta`, where the specification places them.
    pub(crate) fn implementation_in_meta(&self) -> Option<Implementation> {
        let info = self.meta.as_ref()?.member_text("io.modelcontextprotocol/serverInfo")?;
        from_json::from_str(info)
    }
}
