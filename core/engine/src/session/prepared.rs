//! [`Prepared`]: a request whose parameters are already serialized.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::error::SendError;
use crate::cache::is_cacheable;
use crate::rpc::write::{self, ParamsError};
use mcpwire_text::excerpt;
use mcpwire_text::json::append::{push_raw, push_string};
use mcpwire_types::{ListTools, Method, Params};

/// A request with method `M` whose parameters are already checked and serialized.
///
/// Serializing large parameters takes time. If a lock protects the session, create this value before acquiring the
/// lock: [`Calls::request_prepared`](super::Calls::request_prepared) then only copies the serialized parameters.
pub struct Prepared<M> {
    request: PreparedRequest,
    method: PhantomData<fn() -> M>,
}

/// A request of any method whose parameters are already checked and serialized. Unlike [`Prepared`], it has no type
/// parameter, so code that uses it is compiled only once.
#[derive(Clone)]
pub struct PreparedRequest {
    text: Vec<u8>,
    pub(super) method: &'static str,
    pub(super) caching: CacheUse,
}

/// How a request uses the response cache.
#[derive(Clone, Copy)]
pub(super) enum CacheUse {
    /// The response may come from the cache, and the server's response may be stored there.
    Yes,
    /// The request is always sent to the server, and its response is not cached. Cached responses to the same method
    /// become stale.
    Invalidates,
    /// The request is always sent to the server, and its response is not cached.
    No,
}

impl CacheUse {
    pub(super) const fn of(method: &str) -> Self {
        if is_cacheable(method) { CacheUse::Yes } else { CacheUse::No }
    }
}

impl<M: Method> Prepared<M> {
    /// Checks and serializes the parameters of a request.
    ///
    /// # Errors
    /// Returns an error if the parameters do not serialize, or are not a JSON object.
    pub fn new(params: &impl Params<M>) -> Result<Self, SendError> {
        let mut text = Vec::new();
        push(&mut text, params).map_err(|error| send_error(M::NAME, error))?;
        Ok(Self::of_text(text))
    }

    fn of_text(text: Vec<u8>) -> Self {
        let request = PreparedRequest { text, method: M::NAME, caching: const { CacheUse::of(M::NAME) } };
        Prepared { request, method: PhantomData }
    }

    /// Returns the same request with another type of result. `N` has the same name and the same parameters as `M`, like
    /// [`CallToolRaw`](mcpwire_types::CallToolRaw) and [`CallTool`](mcpwire_types::CallTool).
    pub fn with_method<N: Method>(self) -> Prepared<N> {
        debug_assert_eq!(M::NAME, N::NAME, "the parameters were checked for this method");
        Prepared::of_text(self.request.text)
    }

    /// Returns the request to pass to [`Calls::send_prepared`](super::Calls::send_prepared).
    pub fn request(&self) -> &PreparedRequest {
        &self.request
    }
}

impl PreparedRequest {
    /// Creates a `tools/list` request for the page after `cursor`, or for the first page if `cursor` is `None`.
    ///
    /// The request bypasses the response cache, and makes all cached pages of the tool list stale.
    pub(crate) fn tools(cursor: Option<&str>) -> Self {
        let mut text = Vec::from(&b"{"[..]);
        if let Some(cursor) = cursor {
            push_raw(&mut text, "\"cursor\":");
            push_string(&mut text, cursor);
        }
        text.push(b'}');
        PreparedRequest { text, method: ListTools::NAME, caching: CacheUse::Invalidates }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }
}

impl<M> Clone for Prepared<M> {
    fn clone(&self) -> Self {
        Prepared { request: self.request.clone(), method: PhantomData }
    }
}

impl<M> fmt::Debug for Prepared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}

impl fmt::Debug for PreparedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("method", &self.method)
            .field("params", &excerpt(&self.text))
            .finish_non_exhaustive()
    }
}

pub(super) fn push<M: Method, P: Params<M>>(out: &mut Vec<u8>, params: &P) -> Result<(), ParamsError> {
    let start = out.len();
    write::push_object(out, params)?;
    if P::check(out, start) { Ok(()) } else { Err(ParamsError::NotAnObject) }
}

pub(super) fn send_error(method: &str, error: ParamsError) -> SendError {
    match error {
        ParamsError::Serialize(reason) => SendError::Params { method: method.into(), reason },
        ParamsError::NotAnObject => SendError::NotAnObject { method: method.into() },
    }
}
