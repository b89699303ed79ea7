//! [`Ticket`] and [`Reply`]: the caller's handle of a request, and the outcome of the request. [`RequestKey`] and others: the
//! keys with which an embedder identifies requests and subscriptions.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;

use super::error::CallError;
use crate::frame::Message;
#[cfg(feature = "http")]
use crate::header_params::reject_invalid;
use crate::rpc::{Response, decode};
use mcpwire_text::json::scan;
use mcpwire_types::Method;

/// A handle to a request of the method `M`. It decodes the result of the request from the [`Reply`].
#[must_use = "the reply can only be decoded with its ticket"]
pub struct Ticket<M> {
    key: RequestKey,
    method: PhantomData<fn() -> M>,
}

impl<M> Ticket<M> {
    pub(crate) fn new(key: RequestKey) -> Self {
        Ticket { key, method: PhantomData }
    }

    /// Returns the key of the request. Events about the request contain this key.
    pub fn key(&self) -> RequestKey {
        self.key
    }
}

impl<M: Method> Ticket<M> {
    /// Decodes the result of the request from `reply`.
    ///
    /// # Errors
    /// Returns an error if the request failed, if the server responded with a JSON-RPC error, if the result cannot be
    /// decoded, or if `reply` belongs to another request.
    pub fn decode(self, mut reply: Reply) -> Result<M::Result, CallError> {
        self.decode_mut(&mut reply)
    }

    /// Decodes the result of the request from `reply` without consuming the reply.
    ///
    /// # Errors
    /// Returns an error if the request failed, if the server responded with a JSON-RPC error, if the result cannot be
    /// decoded, or if `reply` belongs to another request. The error of a failed request is moved out of `reply`: a
    /// second call returns [`CallError::WrongTicket`].
    pub fn decode_mut(self, reply: &mut Reply) -> Result<M::Result, CallError> {
        match &reply.outcome {
            ReplyOutcome::Answered { message, response } if reply.key == self.key => {
                match decode::answer_with(message, *response, M::read) {
                    #[cfg(feature = "http")]
                    Ok(mut result) if reply.over_modern_http => {
                        M::tools(&mut result).map(reject_invalid);
                        Ok(result)
                    }
                    Ok(result) => Ok(result),
                    Err(fault) => Err(fault.into_call_error(reply.method.clone())),
                }
            }
            _ => Err(reply.take_error(self.key, M::NAME)),
        }
    }
}

impl<M> Clone for Ticket<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Ticket<M> {}

impl<M> fmt::Debug for Ticket<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.key.0)
    }
}

/// The end of a request: a response of the server, or an error. The [`Ticket`] of the request decodes the reply.
#[derive(Clone, PartialEq)]
pub struct Reply {
    pub(crate) key: RequestKey,
    pub(crate) method: Cow<'static, str>,
    pub(crate) outcome: ReplyOutcome,
    /// Whether this is the response to a `tools/list` that was sent to a modern server (from revision 2026-07-28) over
    /// HTTP. Decoding then rejects tools with invalid `x-mcp-header` annotations.
    pub(crate) over_modern_http: bool,
    /// Whether a fresh cached response answered the request, so that nothing was sent.
    pub(crate) cached: bool,
}

#[derive(Clone, PartialEq)]
pub(crate) enum ReplyOutcome {
    /// The server responded with a result or an error. `message` is the complete JSON-RPC response, not decoded yet.
    Answered { message: Message, response: Response },
    /// The request failed with this error. `None` after [`Ticket::decode_mut`] has moved the error to its caller.
    Failed(Option<Arc<CallError>>),
}

impl Reply {
    #[cold]
    pub(crate) fn failed(key: RequestKey, error: CallError) -> Self {
        let method = error.method().clone();
        let outcome = ReplyOutcome::Failed(Some(Arc::new(error)));
        Reply { key, method, outcome, over_modern_http: false, cached: false }
    }

    /// Creates a reply from the response `message`.
    pub(crate) fn answered(key: RequestKey, method: Cow<'static, str>, message: Message, response: Response) -> Self {
        let outcome = ReplyOutcome::Answered { message, response };
        Reply { key, method, outcome, over_modern_http: false, cached: false }
    }

    /// Moves the error out of this reply. Returns [`CallError::WrongTicket`] if the reply does not belong to the
    /// request `key`, or contains no error.
    #[cold]
    fn take_error(&mut self, key: RequestKey, method: &'static str) -> CallError {
        match &mut self.outcome {
            ReplyOutcome::Failed(error) if self.key == key => error.take().map(Arc::unwrap_or_clone),
            _ => None,
        }
        .unwrap_or(CallError::WrongTicket { method: Cow::Borrowed(method) })
    }

    /// Returns the key of the request that has ended.
    pub fn key(&self) -> RequestKey {
        self.key
    }

    /// Returns whether the request was answered from the cache, so that nothing was sent to the server.
    ///
    /// Returns `false` if the request was sent and failed, and a stale cached response replaces the error (see
    /// [`RequestOptions::stale_if_error`](crate::RequestOptions::stale_if_error)).
    pub fn is_cached(&self) -> bool {
        self.cached
    }

    /// Returns the method of the request, such as `tools/call`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the complete JSON-RPC response of the server, which contains a result or an error. Returns `None` if the
    /// request failed without a response.
    pub fn message(&self) -> Option<&[u8]> {
        match &self.outcome {
            ReplyOutcome::Answered { message, .. } => Some(&**message),
            ReplyOutcome::Failed(_) => None,
        }
    }

    /// Returns the code of the JSON-RPC error with which the server responded, or `None` if it responded with a result or
    /// not at all, or if the code is not an integer.
    pub fn rpc_error_code(&self) -> Option<i64> {
        let error = scan::member(self.message()?, "error")?;
        scan::last_member(error, "code").and_then(scan::integer)
    }

    /// Returns whether this is the result of a `tools/call` that says that the tool failed.
    pub fn is_tool_failure(&self) -> bool {
        let result = self.message().filter(|_| self.method == "tools/call").and_then(|m| scan::member(m, "result"));
        result.and_then(|result| scan::member(result, "isError")) == Some(b"true")
    }

    /// Returns the error of a failed request, or `None` if the reply contains a response.
    pub fn error(&self) -> Option<&CallError> {
        match &self.outcome {
            ReplyOutcome::Answered { .. } => None,
            ReplyOutcome::Failed(error) => error.as_deref(),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut s = f.debug_struct("Reply");
        s.field("key", &self.key.0).field("method", &self.method);
        match self.message() {
            Some(message) => s.field("message", &mcpwire_text::excerpt(message)),
            None => s.field("failed", &self.error()),
        }
        .finish_non_exhaustive()
    }
}

/// Identifies a request of the client within a session.
///
/// The session may send the request several times, each time with another JSON-RPC id. The key stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

/// Identifies a request of the server within a session. The request is a JSON-RPC request, or an input that the server
/// requires before it continues a request or task of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

/// Identifies a subscription of the client within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(pub(super) u64);
