//! [`Flow`]: the interface of all state machines that need only HTTP requests and signatures.

use alloc::vec::Vec;

use crate::{Error, FetchError, Request, Response, UnixTime};

/// A state machine that reaches a result, for example a token, by several requests.
///
/// Call [`start`](Self::start) once, perform the returned [`Action`], and pass the result to [`resume`](Self::resume).
/// Repeat this until [`Action::Done`] or an error. Any later call returns an error.
pub trait Flow {
    /// The value that the flow returns at its end, for example a token.
    type Output;

    /// Starts the flow, and returns the first action to perform. `now` is the current time.
    fn start(&mut self, now: UnixTime) -> Result<Action<Self::Output>, Error>;

    /// Continues the flow with the result of the last action, and returns the next action to perform.
    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<Self::Output>, Error>;
}

/// An operation that a [`Flow`] asks the program to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<T> {
    /// Send this request, and resume with [`Input::Response`] or [`Input::FetchFailed`].
    Fetch(Request),
    /// Sign `bytes` with `key`, and resume with [`Input::Signature`].
    Sign {
        /// The private key with which to sign.
        key: KeyUse,
        /// The bytes to sign.
        bytes: Vec<u8>,
    },
    /// The flow has ended with this result.
    Done(T),
}

impl<T> Action<T> {
    /// Passes the result of an inner flow to `next`. Actions other than [`Action::Done`] stay unchanged.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<Action<U>, Error>) -> Result<Action<U>, Error> {
        match self {
            Action::Fetch(request) => Ok(Action::Fetch(request)),
            Action::Sign { key, bytes } => Ok(Action::Sign { key, bytes }),
            Action::Done(output) => next(output),
        }
    }
}

/// The private key with which the program signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyUse {
    /// The key with which the client authenticates at the authorization server (`private_key_jwt`).
    ClientAssertion,
    /// The key to which access tokens are bound, for DPoP proofs.
    DpopProof,
}

/// The result of an [`Action`], with which the program resumes a [`Flow`].
#[derive(Debug)]
pub enum Input {
    /// The response to [`Action::Fetch`].
    Response(Response),
    /// [`Action::Fetch`] got no response, for example because the connection failed.
    FetchFailed(FetchError),
    /// The signature for [`Action::Sign`], encoded as in JSON Web Signature: for ES256, the 64 bytes of `r` and `s`.
    Signature(Vec<u8>),
}
