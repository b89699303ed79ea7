//! A ticket is what the caller holds of a request; a reply is what comes of it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use super::error::CallError;
use super::request_keys::RequestKey;
use crate::method::Method;
use crate::rpc::decode::{self, Answer};

/// The caller's half of a request. It fixes the type that the answer is decoded into.
#[must_use = "the reply can only be decoded with its ticket"]
pub struct Ticket<M> {
    key: RequestKey,
    method: PhantomData<fn() -> M>,
}

impl<M> Ticket<M> {
    pub(crate) fn new(key: RequestKey) -> Self {
        Ticket { key, method: PhantomData }
    }

    /// The request's name within the session.
    pub fn key(&self) -> RequestKey {
        self.key
    }
}

impl<M: Method> Ticket<M> {
    /// Reads the reply, in one pass, where the caller is.
    ///
    /// # Errors
    /// Whatever ended the request without an answer, the server's error, or what is wrong with its answer. A reply to
    /// another ticket is an error too.
    pub fn decode(self, mut reply: Reply) -> Result<M::Result, CallError> {
        self.decode_mut(&mut reply)
    }

    /// As [`Ticket::decode`], and leaves the reply to be given to [`Engine::recycle`](crate::stdio::Engine::recycle). An
    /// error that it holds is taken out of it.
    ///
    /// # Errors
    /// As [`Ticket::decode`].
    pub fn decode_mut(self, reply: &mut Reply) -> Result<M::Result, CallError> {
        match &reply.outcome {
            Outcome::Answered { message, id } if reply.key == self.key => {
                match decode::answer_with(message, *id, M::read) {
                    Ok(Answer::Result(result)) if reply.mirrored => Ok(M::over_http(result)),
                    Ok(Answer::Result(result)) => Ok(result),
                    Ok(Answer::Error(error)) => Err(CallError::Server { method: reply.method.clone(), error }),
                    Err(error) => Err(CallError::Invalid { method: reply.method.clone(), error }),
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

/// The end of a request, for its ticket to read.
#[derive(Clone, PartialEq)]
pub struct Reply {
    pub(crate) key: RequestKey,
    pub(crate) method: Cow<'static, str>,
    pub(crate) outcome: Outcome,
    /// It came over HTTP, in the modern era: more is asked of tools there.
    pub(crate) mirrored: bool,
    /// It came from the cache.
    pub(crate) cached: bool,
}

#[derive(Clone, PartialEq)]
pub(crate) enum Outcome {
    /// A message of the server's that answers the request, not read yet.
    Answered { message: Vec<u8>, id: u64 },
    /// It ended without one.
    Failed(Failure),
}

/// Why a request ended without an answer. Gone once the ticket has taken it.
///
/// Whatever may hold a reply may hold one. Dropped by one function, it makes their own drops, of which a program has many
/// copies, small.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure(ManuallyDrop<Option<Box<CallError>>>);

impl Failure {
    pub(crate) fn new(error: CallError) -> Self {
        Failure(ManuallyDrop::new(Some(Box::new(error))))
    }

    pub(crate) fn error(&self) -> Option<&CallError> {
        self.0.as_deref()
    }
}

impl Drop for Failure {
    #[inline]
    fn drop(&mut self) {
        free(self);
    }
}

/// Functions of this kind are known not to unwind: around their calls there is nothing to be cleaned up.
#[inline(never)]
extern "C" fn free(failure: &mut Failure) {
    drop(failure.0.take());
}

impl Reply {
    pub(crate) fn failed(key: RequestKey, error: CallError) -> Self {
        let method = error.method().clone();
        let outcome = Outcome::Failed(Failure::new(error));
        Reply { key, method, outcome, mirrored: false, cached: false }
    }

    /// A reply with the server's message, which answers the request of this id.
    pub(crate) fn answered(key: RequestKey, method: Cow<'static, str>, message: Vec<u8>, id: u64) -> Self {
        Reply { key, method, outcome: Outcome::Answered { message, id }, mirrored: false, cached: false }
    }

    /// Takes out why there is no answer for the ticket.
    #[cold]
    fn take_error(&mut self, key: RequestKey, method: &'static str) -> CallError {
        match &mut self.outcome {
            Outcome::Failed(error) if self.key == key => error.0.take().map(|error| *error),
            _ => None,
        }
        .unwrap_or(CallError::WrongTicket { method: Cow::Borrowed(method) })
    }

    /// Which request it ends.
    pub fn key(&self) -> RequestKey {
        self.key
    }

    /// Whether the answer came from the cache.
    pub fn is_cached(&self) -> bool {
        self.cached
    }

    /// The method of the request.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The server's message as it came, if there is one.
    pub fn message(&self) -> Option<&[u8]> {
        match &self.outcome {
            Outcome::Answered { message, .. } => Some(message),
            Outcome::Failed(_) => None,
        }
    }

    pub(crate) fn into_message(self) -> Option<Vec<u8>> {
        match self.outcome {
            Outcome::Answered { message, .. } => Some(message),
            Outcome::Failed(_) => None,
        }
    }

    /// Why there is none.
    pub fn error(&self) -> Option<&CallError> {
        match &self.outcome {
            Outcome::Answered { .. } => None,
            Outcome::Failed(failure) => failure.error(),
        }
    }
}

impl fmt::Debug for Reply {
    /// Bounded: what matters of it, and the beginning of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut s = f.debug_struct("Reply");
        s.field("key", &self.key.0).field("method", &self.method);
        match &self.outcome {
            Outcome::Answered { message, .. } => {
                let shown: String = crate::text::excerpt(message);
                s.field("message", &shown).finish_non_exhaustive()
            }
            Outcome::Failed(_) => s.field("failed", &self.error()).finish_non_exhaustive(),
        }
    }
}
