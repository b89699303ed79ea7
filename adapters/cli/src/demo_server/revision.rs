//! The protocol's revisions as this server sees them: which one a request speaks, and what differs in the answers.

use serde_json::{Map, Value, json};

use super::{Failure, INVALID_PARAMS, server_info};

pub(super) const MISSING_CAPABILITY: i64 = -32021;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

pub(super) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may keep what does not change while the process lives.
const TTL_MS: u32 = 60_000;

/// A revision of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Every revision, newest first.
    pub(super) const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The answer to `initialize`: the revision that was asked for, else the newest that has a handshake.
    pub(super) fn negotiate(requested: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|revision| !revision.is_modern() && revision.as_str() == requested)
            .unwrap_or(Self::V2025_11_25)
    }

    pub(super) fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    pub(super) fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }

    pub(super) fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    pub(super) fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// A finished result: as it is in the legacy era, with its type and its sender in the modern one.
    pub(super) fn complete(self, mut result: Value) -> Value {
        if self.is_modern() {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ SERVER_INFO: server_info() });
        }
        result
    }

    /// A finished result that a client may keep for a while.
    pub(super) fn cacheable(self, mut result: Value) -> Value {
        if self.is_modern() {
            result["ttlMs"] = json!(TTL_MS);
            result["cacheScope"] = json!("public");
        }
        self.complete(result)
    }
}

/// What a modern client says in its request that it can do.
pub(super) fn client_capabilities(params: &Map<String, Value>) -> Option<&Value> {
    params.get("_meta")?.get(CLIENT_CAPABILITIES)
}

/// The revision that a request speaks: the one in its `_meta`, else the one that the handshake agreed on.
pub(super) fn of_request(
    negotiated: Option<Revision>,
    method: &str,
    params: &Map<String, Value>,
) -> Result<Revision, Failure> {
    let no_meta = Map::new();
    let meta = match params.get("_meta") {
        None => &no_meta,
        Some(meta) => meta.as_object().ok_or_else(|| invalid("_meta must be an object"))?,
    };
    let says_modern = meta.contains_key(PROTOCOL_VERSION) || meta.contains_key(CLIENT_CAPABILITIES);
    match negotiated {
        Some(revision) if !says_modern && method != "server/discover" => Ok(revision),
        // A legacy client may ping before it has shaken hands.
        None if !says_modern && method == "ping" => Ok(Revision::V2025_11_25),
        _ => check_meta(meta),
    }
}

fn check_meta(meta: &Map<String, Value>) -> Result<Revision, Failure> {
    let requested = match meta.get(PROTOCOL_VERSION) {
        None => {
            return Err(invalid(format!("_meta must have {PROTOCOL_VERSION} (or call initialize first)")));
        }
        Some(version) => version.as_str().ok_or_else(|| invalid(format!("{PROTOCOL_VERSION} must be a string")))?,
    };
    if requested != Revision::V2026_07_28.as_str() {
        return Err(Failure::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(json!({
            "supported": Revision::ALL.map(Revision::as_str),
            "requested": requested,
        })));
    }
    match meta.get(CLIENT_CAPABILITIES) {
        None => return Err(invalid(format!("_meta must have {CLIENT_CAPABILITIES}"))),
        Some(capabilities) if !capabilities.is_object() => {
            return Err(invalid(format!("{CLIENT_CAPABILITIES} must be an object")));
        }
        Some(_) => {}
    }
    if meta.get(CLIENT_INFO).is_some_and(|info| !info.is_object()) {
        return Err(invalid(format!("{CLIENT_INFO} must be an object")));
    }
    Ok(Revision::V2026_07_28)
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(INVALID_PARAMS, message)
}
