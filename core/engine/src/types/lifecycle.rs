//! The opening of a connection: `initialize` (legacy) and `server/discover` (modern).

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::result_type::complete;
use super::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::json::Json;
use crate::json::from_json;

object! {
    /// Parameters of `initialize` (2025-11-25, basic/lifecycle).
    pub struct InitializeParams("an object") {
        /// The version that the client would like.
        required protocol_version: String = "protocolVersion",
        /// What the client can do.
        required capabilities: ClientCapabilities = "capabilities",
        /// Who the client is.
        required client_info: Implementation = "clientInfo",
    }
}

object! {
    /// Result of `initialize`. What a server left out has safe defaults.
    pub struct InitializeResult("an object") {
        /// The version that the server chose.
        optional protocol_version: String = "protocolVersion",
        /// What it can do.
        optional capabilities: ServerCapabilities = "capabilities",
        /// Who it is.
        optional server_info: Implementation = "serverInfo",
        /// How to use it, in words for a language model.
        optional instructions: String = "instructions",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// Result of `server/discover` (2026-07-28, server/discover).
    pub struct DiscoverResult(
        "an object",
        finish |result: DiscoverResult| complete(result.result_type.as_deref()).map(|()| result)
    ) {
        /// The versions that the server speaks. An answer without them is none: some servers answer whatever they do not
        /// know with an empty object.
        required supported_versions: Vec<String> = "supportedVersions",
        /// What it can do.
        optional capabilities: ServerCapabilities = "capabilities",
        /// How to use it, in words for a language model.
        optional instructions: String = "instructions",
        /// Who it is, where a server says so outside of `_meta`.
        optional server_info: Implementation = "serverInfo",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata; holds the name and version of the server.
        optional meta: Json = "_meta",
    }
}

impl DiscoverResult {
    /// Who the server says it is.
    pub fn implementation(&self) -> Option<Implementation> {
        self.implementation_in_meta().or_else(|| self.server_info.clone())
    }

    /// The same, where it says so in its place.
    pub(crate) fn implementation_in_meta(&self) -> Option<Implementation> {
        let told = self.meta.as_ref().and_then(|meta| meta.member_text("io.modelcontextprotocol/serverInfo"));
        told.and_then(from_json::from_str)
    }
}
