//! What an answer is kept under ("Cache Key").

use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, scan};

/// Whether answers to a method may be kept ("Cacheable Results"). `const`, so that a request of any other method does not
/// pay for the question.
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

/// What an answer is kept under: the method, and the parameters that it depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheKey {
    method: String,
    /// Their members in the order of their names, as JSON text.
    params: Vec<u8>,
}

/// Longer parameters are not kept. 16 KiB: beyond any address or cursor.
pub(super) const LONGEST_PARAMS: usize = 16 * 1024;

/// Members of `_meta` on which no answer depends: each request has its own (2026-07-28, basic/index, "`_meta`").
const VOLATILE: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];

impl CacheKey {
    /// The key of a request: its method, its parameters without `_meta` (the text of an object), and what the caller puts
    /// into `_meta`. `None` for what may not be kept: other methods, and requests that carry what a user has answered
    /// ("Cache Key").
    pub fn new(method: &str, params: &str, meta: Option<&Json>) -> Option<CacheKey> {
        let long = |text: &str| text.len() > LONGEST_PARAMS;
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

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether it is a page of a list other than the first.
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

/// Appends the members of an object in the order of their names, but for some. `false` if there is one that is not to be.
fn push_members(out: &mut Vec<u8>, object: &str, but: &[&str], never: &[&str]) -> bool {
    // A heap sorts in a tenth of the code that the sorts of slices come with.
    let mut members = BinaryHeap::new();
    for member in scan::members(object.as_bytes()) {
        if never.iter().any(|name| member.is(name)) {
            return false;
        }
        if !but.iter().any(|name| member.is(name)) {
            members.push((member.key(), member.value));
        }
    }
    for (name, value) in members.into_sorted_vec() {
        push_member(out, &name, value);
    }
    true
}

/// A name and a value, each behind its length: no text of one member can pass for another.
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
    /// Whether it is for what was read of a resource that such an update may touch.
    pub(crate) fn reads(&self, updated: &str) -> bool {
        self.method == "resources/read"
            && self.member("uri").is_none_or(|uri| is_within(updated, &uri) || is_within(&uri, updated))
    }
}

/// Whether an address is another one, or lies within it.
pub(crate) fn is_within(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#']))
}
