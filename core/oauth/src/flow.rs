//! [`Flow`]: how a program drives a state machine of this crate.

use alloc::vec::Vec;

use crate::{Error, FetchError, Request, Response, UnixTime};

/// A state machine that gets something in several requests, for example a token.
///
/// Call [`start`](Self::start) once, carry out the [`Action`], pass the result to [`resume`](Self::resume), and so on,
/// until [`Action::Done`] or an error. After that the flow must not be used again: it then returns an error.
pub trait Flow {
    /// The result of the flow.
    type Output;

    /// Returns the first action.
    fn start(&mut self, now: UnixTime) -> Result<Action<Self::Output>, Error>;

    /// Takes the result of the last action, and returns the next one.
    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<Self::Output>, Error>;
}

/// An operation that a program performs for a [`Flow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<T> {
    /// Send this request, and resume with [`Input::Response`] or [`Input::FetchFailed`].
    Fetch(Request),
    /// Sign `bytes` with `key`, and resume with [`Input::Signature`].
    Sign {
        /// The key that signs.
        key: KeyUse,
        /// The bytes that the signature covers.
        bytes: Vec<u8>,
    },
    /// The flow is done.
    Done(T),
}

impl<T> Action<T> {
    /// Passes the result of a flow to `next`, for the flow around it. Requests and signatures stay as they are.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<Action<U>, Error>) -> Result<Action<U>, Error> {
        match self {
            Action::Fetch(request) => Ok(Action::Fetch(request)),
            Action::Sign { key, bytes } => Ok(Action::Sign { key, bytes }),
            Action::Done(output) => next(output),
        }
    }
}

/// The key of the program that signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyUse {
    /// The key by which the client authenticates at the authorization server (`private_key_jwt`).
    ClientAssertion,
    /// The key to which access tokens are bound (DPoP).
    DpopProof,
}

/// The result of an [`Action`].
#[derive(Debug)]
pub enum Input {
    /// The response to [`Action::Fetch`].
    Response(Response),
    /// [`Action::Fetch`] got no response.
    FetchFailed(FetchError),
    /// The signature for [`Action::Sign`], as JSON Web Signature encodes it: for ES256 the 64 bytes of `r` and `s`.
    Signature(Vec<u8>),
}
