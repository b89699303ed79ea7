//! [`CacheKey`]: which response belongs to which request (server/utilities/caching, "Cache Key"). [`PendingEntry`]: the key
//! of a request that waits for its response.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::json::{Json, scan};

/// Returns whether results of `method` may be cached (specification: server/utilities/caching, "Cacheable Results").
pub(crate) const fn is_cacheable(method: &str) -> bool {
    matches!(
        method.as_bytes(),
        b"server/discover"
            | b"tools/list"
            | b"prompts/list"
            | b"resources/list"
            | b"resources/templates/list"
            | b"resources/read"
    )
}

/// The key of a cached result: the request's method, and the parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CacheKey {
    pub(crate) method: String,
    /// The parameters that affect the result.
    params: Vec<Member>,
    /// The members of `_meta` that affect the result.
    meta: Vec<Member>,
}

/// The name and the JSON text of a member.
type Member = (String, Vec<u8>);

/// Maximum length of a request's parameters, in bytes: 16 KiB, far more than a URI or cursor needs. `_meta` may have
/// the same length. Responses to longer requests are not cached.
pub(super) const MAX_PARAMS: usize = 16 * 1024;

/// Members of a request's `_meta` that do not affect the result. Cache keys do not contain them (protocol revision
/// 2026-07-28, basic/index, "`_meta`").
const VOLATILE: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];

impl CacheKey {
    /// Creates the cache key of a request. `params` is a JSON object without `_meta`; `meta` is the `_meta` that the
    /// caller supplied.
    ///
    /// Returns `None` if the response must not be cached: if [`is_cacheable`] returns `false` for `method`, if `params`
    /// or `meta` is longer than [`MAX_PARAMS`], or if `params` contains answers to the server's input requests
    /// (specification: server/utilities/caching, "Cache Key").
    pub(crate) fn new(method: &str, params: &str, meta: Option<&Json>) -> Option<CacheKey> {
        let long = |text: &str| text.len() > MAX_PARAMS;
        if !is_cacheable(method) || long(params) || meta.is_some_and(|meta| long(meta.get())) {
            return None;
        }
        let params = sorted_members(params);
        if params.iter().any(|(name, _)| matches!(&**name, "inputResponses" | "requestState")) {
            return None;
        }
        let mut meta = sorted_members(meta.map_or("{}", Json::get));
        meta.retain(|(name, _)| !VOLATILE.contains(&&**name));
        Some(CacheKey { method: method.into(), params, meta })
    }

    /// Returns whether the request has a `cursor`, that is, requests a page of a list after the first page.
    pub(crate) fn has_cursor(&self) -> bool {
        self.member("cursor").is_some()
    }

    /// Returns whether a change of the resource with the URI `updated` may affect the response to this request. This is
    /// so if the request reads that resource, a resource within it, or a resource that contains it.
    pub(crate) fn reads(&self, updated: &str) -> bool {
        self.method == "resources/read"
            && self.member("uri").is_none_or(|uri| is_within(updated, &uri) || is_within(&uri, updated))
    }

    fn member(&self, name: &str) -> Option<String> {
        self.params.iter().find(|(key, _)| key == name).and_then(|(_, value)| scan::text(value))
    }

    pub(super) fn weight(&self) -> usize {
        let members = self.params.iter().chain(&self.meta);
        self.method.len() + members.map(|(name, value)| name.len() + value.len()).sum::<usize>()
    }
}

/// Returns the members of a JSON object, sorted by name.
fn sorted_members(object: &str) -> Vec<Member> {
    let members = scan::members(object.as_bytes());
    let mut members: Vec<_> = members.map(|member| (member.key().into_owned(), member.value.to_vec())).collect();
    members.sort_unstable();
    members
}

/// Returns whether `uri` is equal to `whole`, or begins with `whole` and continues with a path, query or fragment.
pub(crate) fn is_within(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#']))
}

/// The cache key of a request that awaits its response, and whether the response may be cached.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    pub(crate) key: CacheKey,
    /// Whether the response may be cached. `false` if the server's data may have changed while the request was pending,
    /// because the response may predate the change.
    pub(crate) is_valid: bool,
    /// Whether the caller accepts a stale cached response if the request fails.
    pub(crate) stale_if_error: bool,
}
