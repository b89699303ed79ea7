//! Parameters that are text already.

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

/// Parameters of a request, checked and turned into text before there is a session at hand.
///
/// Where a session is behind a lock, parameters that are large, or that are the caller's own code, are better serialised
/// outside of it. What is left for [`Calls::request_prepared`](super::Calls::request_prepared) is to copy the text.
pub struct Prepared<M> {
    request: PreparedRequest,
    method: PhantomData<fn() -> M>,
}

/// The same, whatever its method: what is done with it is compiled once, and not for each method.
#[derive(Clone)]
pub struct PreparedRequest {
    text: Vec<u8>,
    pub(super) method: &'static str,
    /// Its place in the table of revisions.
    pub(super) bit: u32,
    pub(super) caching: Caching,
}

/// What a request does with the cache.
#[derive(Clone, Copy)]
pub(super) enum Caching {
    /// It is answered from the cache, and its answer is cached.
    Yes,
    /// It goes to the server, its answer is not cached, and the cached answers of its method become stale.
    Invalidates,
    No,
}

impl Caching {
    /// Returns what requests of a method do. `const`, so that requests that are never cached pay nothing.
    pub(super) const fn of(method: &str) -> Self {
        if is_cacheable(method) { Caching::Yes } else { Caching::No }
    }
}

impl<M: Method> Prepared<M> {
    /// Serialises parameters.
    ///
    /// # Errors
    /// If they do not serialise, or are no JSON object.
    pub fn new(params: &impl Params<M>) -> Result<Self, SendError> {
        // What most calls need: growing step by step would cost more than writing.
        let mut text = Vec::with_capacity(256);
        push(&mut text, params).map_err(|error| send_error(M::NAME, error))?;
        let request = PreparedRequest {
            text,
            method: M::NAME,
            bit: const { revisions::bit(M::NAME) },
            caching: const { Caching::of(M::NAME) },
        };
        Ok(Prepared { request, method: PhantomData })
    }

    /// The request, for [`Calls::send_prepared`](super::Calls::send_prepared).
    pub fn request(&self) -> &PreparedRequest {
        &self.request
    }

    /// The ticket for what comes of it, once it was sent under this key.
    pub fn ticket(&self, key: RequestKey) -> Ticket<M> {
        Ticket::new(key)
    }
}

impl PreparedRequest {
    /// A request for a page of the list of tools. It is not answered by a page that was kept, nor kept itself, and what was
    /// kept is doubted from now on.
    pub(crate) fn tools(cursor: Option<&str>) -> Self {
        const METHOD: &str = ListTools::NAME;
        let mut text = Vec::from(&b"{"[..]);
        if let Some(cursor) = cursor {
            push_raw(&mut text, "\"cursor\":");
            push_string(&mut text, cursor);
        }
        text.push(b'}');
        PreparedRequest { text, method: METHOD, bit: const { revisions::bit(METHOD) }, caching: Caching::Invalidates }
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

/// Appends parameters that `M` takes.
pub(super) fn push<M: Method, P: Params<M>>(out: &mut Vec<u8>, params: &P) -> Result<(), ParamsError> {
    write::push_object(out, params)?;
    if P::check(out) { Ok(()) } else { Err(ParamsError::NotAnObject) }
}

pub(super) fn send_error(method: &str, error: ParamsError) -> SendError {
    match error {
        ParamsError::Serialize(reason) => SendError::Params { method: method.into(), reason },
        ParamsError::NotAnObject => SendError::NotAnObject { method: method.into() },
    }
}
