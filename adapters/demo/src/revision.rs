//! [`Revision`]: the protocol revision of a request, and the differences between the answers of the revisions.

use serde_json::{Value, json};

use crate::rpc::{Failure, Params, object};

pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The key in `_meta` for the id of a subscription. All messages of the subscription contain it; the id is the id of its
/// `subscriptions/listen` request.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Time for which clients may cache results that do not change while the server runs, in milliseconds.
const TTL_MS: u32 = 60_000;

/// A protocol revision that the server supports. Older revisions are less than newer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// All revisions that the server supports, newest first.
    pub(crate) const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision for the answer to `initialize`: the requested revision if it is a known legacy revision, or else the
    /// newest legacy revision.
    pub(crate) fn negotiate(requested: &str) -> Self {
        let known = Self::ALL.into_iter().find(|revision| revision.as_str() == requested);
        known.filter(|known| !known.is_modern()).unwrap_or(Self::V2025_11_25)
    }

    pub(crate) fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    pub(crate) fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }

    pub(crate) fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Returns whether the revision defines the capability `completions`. It is newer than the method `completion/complete`.
    pub(crate) fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    pub(crate) fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    pub(crate) fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// Removes `title` from list entries if the revision does not define it.
    pub(crate) fn without_unknown_titles(self, mut entries: Vec<Value>) -> Vec<Value> {
        if !self.has_titles() {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                entry.remove("title");
            }
        }
        entries
    }

    /// Adds the members that each result has in the modern era: its type, and the name of the server. Legacy results stay
    /// unchanged.
    pub(crate) fn complete(self, mut result: Value) -> Value {
        if self.is_modern() {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ SERVER_INFO: server_info(self) });
        }
        result
    }

    /// Completes a result as [`Revision::complete`] does. In the modern era, clients may cache it for [`TTL_MS`].
    pub(crate) fn cacheable(self, result: Value) -> Value {
        self.cacheable_for(TTL_MS, result)
    }

    /// Completes a result as [`Revision::complete`] does. In the modern era, clients may cache it for `ttl_ms` milliseconds.
    pub(crate) fn cacheable_for(self, ttl_ms: u32, mut result: Value) -> Value {
        if self.is_modern() {
            result["ttlMs"] = json!(ttl_ms);
            result["cacheScope"] = json!("public");
        }
        self.complete(result)
    }
}

/// Returns the client capabilities in the `_meta` of a modern request, or `None` if the request has none.
pub(crate) fn client_capabilities(params: &Params) -> Option<&Value> {
    params.get("_meta")?.get(CLIENT_CAPABILITIES)
}

/// Returns the protocol revision of a request: the revision in its `_meta`, or else the revision that `initialize` negotiated.
pub(crate) fn of_request(negotiated: Option<Revision>, method: &str, params: &Params) -> Result<Revision, Failure> {
    let meta = &object(params, "_meta")?;
    let says_modern = meta.contains_key(PROTOCOL_VERSION) || meta.contains_key(CLIENT_CAPABILITIES);
    match negotiated {
        Some(revision) if !says_modern && method != "server/discover" => Ok(revision),
        // A legacy client may ping before `initialize`.
        None if !says_modern && method == "ping" => Ok(Revision::V2025_11_25),
        _ => check_meta(meta),
    }
}

fn check_meta(meta: &Params) -> Result<Revision, Failure> {
    let invalid = |problem: String| Err(Failure::invalid_params(problem));
    match meta.get(PROTOCOL_VERSION).map(Value::as_str) {
        None => return invalid(format!("_meta must have {PROTOCOL_VERSION} (or call initialize first)")),
        Some(None) => return invalid(format!("{PROTOCOL_VERSION} must be a string")),
        Some(Some(version)) if version != Revision::V2026_07_28.as_str() => return Err(unsupported(version)),
        Some(Some(_)) => {}
    }
    if !meta.contains_key(CLIENT_CAPABILITIES) {
        return invalid(format!("_meta must have {CLIENT_CAPABILITIES}"));
    }
    object(meta, CLIENT_CAPABILITIES)?;
    object(meta, CLIENT_INFO)?;
    Ok(Revision::V2026_07_28)
}

pub(crate) fn unsupported(requested: &str) -> Failure {
    Failure::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(json!({
        "supported": Revision::ALL.map(Revision::as_str),
        "requested": requested,
    }))
}

/// Returns the name and the version of the server as an `Implementation`, in the form of a revision.
pub(crate) fn server_info(revision: Revision) -> Value {
    let mut info = json!({ "name": "mcpwire-demo", "version": env!("CARGO_PKG_VERSION") });
    if revision.has_titles() {
        info["title"] = json!("mcpwire demo server");
    }
    info
}
