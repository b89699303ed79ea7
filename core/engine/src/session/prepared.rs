//! [`Prepared`]: a request whose parameters are already serialized.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::error::SendError;
use super::request_keys::RequestKey;
use super::ticket::Ticket;
use crate::cache::is_cacheable;
use crate::json::append::{push_raw, push_string};
use crate::method::{ListTools, Method, Params};
use crate::revisions;
use crate::rpc::write::{self, ParamsError};
use crate::text::excerpt;

/// A request of the method `M` whose parameters are checked and serialized.
///
/// If a session is behind a lock, prepare requests outside of the lock: parameters may be large, and their serialization may
/// run code of the program. [`Calls::request_prepared`](super::Calls::request_prepared) only copies the text.
pub struct Prepared<M> {
    request: PreparedRequest,
    method: PhantomData<fn() -> M>,
}

/// A prepared request of any method. Its functions are compiled once, and not for each method.
#[derive(Clone)]
pub struct PreparedRequest {
    text: Vec<u8>,
    pub(super) method: &'static str,
    /// The bit of the method in the table of revisions.
    pub(super) bit: u32,
    pub(super) caching: CacheUse,
}

/// How a request uses the cache.
#[derive(Clone, Copy)]
pub(super) enum CacheUse {
    /// The response may come from the cache, and is stored there.
    Yes,
    /// The request is sent, its response is not stored, and the cached responses of its method become stale.
    Invalidates,
    /// The request does not use the cache.
    No,
}

impl CacheUse {
    /// Returns how requests of a method use the cache. A `const fn`, so that other methods pay nothing for the check.
    pub(super) const fn of(method: &str) -> Self {
        if is_cacheable(method) { CacheUse::Yes } else { CacheUse::No }
    }
}

impl<M: Method> Prepared<M> {
    /// Serializes the parameters of a request.
    ///
    /// # Errors
    /// If the parameters do not serialize, or are not a JSON object.
    pub fn new(params: &impl Params<M>) -> Result<Self, SendError> {
        // Enough for most calls. Growing the buffer step by step would cost more than writing the text.
        let mut text = Vec::with_capacity(256);
        push(&mut text, params).map_err(|error| send_error(M::NAME, error))?;
        let request = PreparedRequest {
            text,
            method: M::NAME,
            bit: const { revisions::bit(M::NAME) },
            caching: const { CacheUse::of(M::NAME) },
        };
        Ok(Prepared { request, method: PhantomData })
    }

    /// Returns the request for [`Calls::send_prepared`](super::Calls::send_prepared).
    pub fn request(&self) -> &PreparedRequest {
        &self.request
    }

    /// Returns the ticket of this request, which was sent under the key.
    pub fn ticket(&self, key: RequestKey) -> Ticket<M> {
        Ticket::new(key)
    }
}

impl PreparedRequest {
    /// Creates a request for a page of the tool list. The request bypasses the cache and makes cached pages stale.
    pub(crate) fn tools(cursor: Option<&str>) -> Self {
        const METHOD: &str = ListTools::NAME;
        let mut text = Vec::from(&b"{"[..]);
        if let Some(cursor) = cursor {
            push_raw(&mut text, "\"cursor\":");
            push_string(&mut text, cursor);
        }
        text.push(b'}');
        PreparedRequest { text, method: METHOD, bit: const { revisions::bit(METHOD) }, caching: CacheUse::Invalidates }
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

/// Appends the parameters of a request of `M`.
pub(super) fn push<M: Method, P: Params<M>>(out: &mut Vec<u8>, params: &P) -> Result<(), ParamsError> {
    write::push_object(out, params)?;
    if P::check(out) { Ok(()) } else { Err(ParamsError::NotAnObject) }
}

/// Returns the error of a message whose parameters could not be written.
pub(super) fn send_error(method: &str, error: ParamsError) -> SendError {
    match error {
        ParamsError::Serialize(reason) => SendError::Params { method: method.into(), reason },
        ParamsError::NotAnObject => SendError::NotAnObject { method: method.into() },
    }
}
