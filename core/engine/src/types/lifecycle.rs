//! Opening a connection: `initialize` (legacy) and `server/discover` (modern).

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::result::result;
use super::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::json::{Json, from_json};

object! {
    /// Parameters of `initialize` (2025-11-25, basic/lifecycle).
    pub struct InitializeParams("an object") {
        /// The protocol version that the client prefers.
        required protocol_version: String = "protocolVersion",
        /// The client's capabilities.
        required capabilities: ClientCapabilities = "capabilities",
        /// The client's name and version.
        required client_info: Implementation = "clientInfo",
    }
}

object! {
    /// Result of `initialize`. Every member is optional, because servers leave some out.
    pub struct InitializeResult("an object") {
        /// The protocol version that the server chose.
        optional protocol_version: String = "protocolVersion",
        /// The server's capabilities.
        optional capabilities: ServerCapabilities = "capabilities",
        /// The server's name and version.
        optional server_info: Implementation = "serverInfo",
        /// How to use the server, in words for a language model.
        optional instructions: String = "instructions",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

result! {
    /// Result of `server/discover` (2026-07-28, server/discover).
    pub cacheable struct DiscoverResult {
        /// The protocol versions that the server speaks. Required, because some servers answer any unknown method with an empty
        /// object.
        required supported_versions: Vec<String> = "supportedVersions",
        /// The server's capabilities.
        optional capabilities: ServerCapabilities = "capabilities",
        /// How to use the server, in words for a language model.
        optional instructions: String = "instructions",
        /// The server's name and version, if it sends them outside of `_meta`.
        optional server_info: Implementation = "serverInfo",
    }
}

impl DiscoverResult {
    /// Returns the server's name and version, from `_meta` or from `serverInfo`.
    pub fn implementation(&self) -> Option<Implementation> {
        self.implementation_in_meta().or_else(|| self.server_info.clone())
    }

    /// Returns the server's name and version from `_meta`, where the specification puts them.
    pub(crate) fn implementation_in_meta(&self) -> Option<Implementation> {
        let info = self.meta.as_ref()?.member_text("io.modelcontextprotocol/serverInfo")?;
        from_json::from_str(info)
    }
}
