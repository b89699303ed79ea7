//! [`CacheKey`]: which response belongs to which request (server/utilities/caching, "Cache Key"). [`PendingEntry`]: the key
//! of a request that waits for its response.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::json::{Json, scan};

/// Returns whether results of `method` may be cached (specification: server/utilities/caching, "Cacheable Results").
pub(crate) const fn is_cacheable(method: &str) -> bool {
    let mut at = 0;
    while at < CACHEABLE.len() {
        if is_same(method, CACHEABLE[at]) {
            return true;
        }
        at += 1;
    }
    false
}

const CACHEABLE: [&str; 6] =
    ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"];

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The key of a cached result: the request's method, and the parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CacheKey {
    method: String,
    /// The parameters that affect the result, sorted by name and encoded by `push_member`.
    ///
    /// The members of `_meta` that affect the result follow after a separator: the name `_meta` with an empty value.
    params: Vec<u8>,
}

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
        let mut of_params = Vec::new();
        if !push_members(&mut of_params, params, &[], &["inputResponses", "requestState"]) {
            return None;
        }
        let mut of_meta = Vec::new();
        push_members(&mut of_meta, meta.map_or("{}", Json::get), &VOLATILE, &[]);
        let mut params = of_params;
        if !of_meta.is_empty() {
            push_member(&mut params, "_meta", b"");
            params.append(&mut of_meta);
        }
        Some(CacheKey { method: method.into(), params })
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// Returns whether the request has a `cursor`, that is, requests a page of a list after the first page.
    pub(crate) fn has_cursor(&self) -> bool {
        self.member("cursor").is_some()
    }

    fn member(&self, name: &str) -> Option<String> {
        let mut rest = &self.params[..];
        while let Some((found, value, after)) = take_member(rest) {
            if found == name.as_bytes() {
                return scan::text(value);
            }
            rest = after;
        }
        None
    }

    pub(super) fn weight(&self) -> usize {
        self.method.len() + self.params.len()
    }
}

/// Appends the members of the JSON object `object` to a cache key, sorted by name and without the members named in
/// `excluded`.
///
/// Returns `false`, and appends nothing, if the object has a member named in `forbidden`.
fn push_members(out: &mut Vec<u8>, object: &str, excluded: &[&str], forbidden: &[&str]) -> bool {
    let mut members = Vec::new();
    for member in scan::members(object.as_bytes()) {
        if forbidden.iter().any(|name| member.is(name)) {
            return false;
        }
        if !excluded.iter().any(|name| member.is(name)) {
            // Requests have few members. A slice sort has ten times the code.
            let new = (member.key(), member.value);
            let place = members.partition_point(|other| *other < new);
            members.insert(place, new);
        }
    }
    for (name, value) in members {
        push_member(out, &name, value);
    }
    true
}

/// Appends a name and a value to `out`, each preceded by its length. So different members never have the same encoding.
fn push_member(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), value] {
        out.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(part);
    }
}

fn take_member(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let take = |bytes: &mut &[u8]| -> Option<usize> {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        *bytes = rest;
        usize::try_from(u32::from_be_bytes(*len)).ok()
    };
    let mut rest = bytes;
    let len = take(&mut rest)?;
    let (name, mut rest) = rest.split_at_checked(len)?;
    let len = take(&mut rest)?;
    let (value, rest) = rest.split_at_checked(len)?;
    Some((name, value, rest))
}

impl CacheKey {
    /// Returns whether a change of the resource with the URI `updated` may affect the response to this request. This is
    /// so if the request reads that resource, a resource within it, or a resource that contains it.
    pub(crate) fn reads(&self, updated: &str) -> bool {
        self.method == "resources/read"
            && self.member("uri").is_none_or(|uri| is_within(updated, &uri) || is_within(&uri, updated))
    }
}

/// Returns whether `uri` is equal to `whole`, or begins with `whole` and continues with a path, query or fragment.
pub(crate) fn is_within(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#']))
}

/// The cache key of a request that awaits its response, and whether the response may be cached.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    key: CacheKey,
    is_valid: bool,
    stale_if_error: bool,
}

impl PendingEntry {
    pub(crate) fn new(key: CacheKey, stale_if_error: bool) -> Self {
        PendingEntry { key, is_valid: true, stale_if_error }
    }

    pub(crate) fn key(&self) -> &CacheKey {
        &self.key
    }

    /// Returns whether the caller accepts a stale cached response if the request fails.
    pub(crate) fn stale_if_error(&self) -> bool {
        self.stale_if_error
    }

    /// Prevents the response from being cached. Called when the server's data may have changed while the request was
    /// pending, because the response may predate the change.
    pub(crate) fn invalidate(&mut self) {
        self.is_valid = false;
    }

    /// Returns the key under which to cache the response, or `None` after [`Self::invalidate`].
    pub(crate) fn into_valid_key(self) -> Option<CacheKey> {
        self.is_valid.then_some(self.key)
    }
}
