//! [`Flow`]: the interface of all state machines that need only HTTP requests and signatures, with their [`Request`]s
//! and [`Response`]s.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use mcpwire_text::url::without_query;
use mcpwire_types::ProtocolVersion;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Error, Step, UnixTime};

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

/// An HTTP request that the program sends for a [`Flow`](crate::Flow).
///
/// The program must not follow redirects, but return them as responses. It must not connect to private, loopback and
/// link-local addresses unless the user has allowed it, and reads at most [`Request::MAX_RESPONSE`] bytes of the body.
///
/// `Debug` omits the body, the values of the headers and the query of the URL, because they may contain secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The step of the flow that sends the request, for error messages and logs.
    pub step: Step,
    /// The absolute URL: `https`, or `http` to this machine.
    pub url: String,
    /// Headers to send in addition to the headers of the HTTP client. Names are in lower case.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body of a `POST` request. `None` means a `GET` request.
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// Maximum size of the body of a response, in bytes (64 KiB). Report a longer body as [`FetchError::TooLarge`].
    pub const MAX_RESPONSE: usize = 64 * 1024;

    /// Creates a `GET` request for a JSON document. It names the protocol revision, because servers of revision
    /// 2025-03-26 expect that header.
    pub(crate) fn get(step: Step, url: &str) -> Self {
        let headers = [
            (Cow::Borrowed("accept"), String::from("application/json")),
            (Cow::Borrowed("mcp-protocol-version"), String::from(ProtocolVersion::LATEST.as_str())),
        ];
        Request { step, url: url.into(), headers: headers.into(), body: None }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        let method = if self.body.is_some() { "POST" } else { "GET" };
        f.debug_struct("Request")
            .field("step", &self.step)
            .field("method", &method)
            .field("url", &without_query(&self.url))
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

/// The response to a [`Request`]. Its body is erased from memory when it is dropped.
///
/// `Debug` omits the body, because it may contain tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// The headers as pairs of name and value. Names are in lower case. A header that was sent twice appears twice.
    pub headers: Vec<(String, String)>,
    /// The body, at most [`Request::MAX_RESPONSE`] bytes.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns all values of a header. `name` must be in lower case.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        self.body.zeroize();
    }
}

impl ZeroizeOnDrop for Response {}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The reason why a request got no response. The texts are for error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The program refused to connect to the address, for example because it is private.
    Refused(String),
    /// The request was not sent for another reason. For example, the HTTP client cannot apply a setting of the server.
    NotSent(String),
    /// The connection failed, or no complete response arrived in time.
    Failed(String),
    /// The body of the response is longer than [`Request::MAX_RESPONSE`].
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn a_response_is_erased_when_it_is_dropped() {
        fn is_erased_on_drop<T: ZeroizeOnDrop>() {}
        is_erased_on_drop::<Response>();
    }

    #[test]
    fn t4_debug_of_requests_and_responses_shows_no_values() {
        let header = ("authorization".into(), "Basic c2VjcmV0".to_string());
        let body = Some(b"code=secret".to_vec());
        let request = Request {
            step: Step::Token,
            url: "https://as.example/token?key=secret".to_string(),
            headers: [header].into(),
            body,
        };
        let response =
            Response { status: 200, headers: [("x".into(), "secret".into())].into(), body: b"secret".to_vec() };
        let debug = format!("{request:?} {response:?}");
        assert!(
            debug.contains("https://as.example/token") && debug.contains("authorization") && debug.contains("200"),
            "{debug}"
        );
        assert!(!debug.contains("secret") && !debug.contains("c2Vj") && !debug.contains("115, 101"), "{debug}");
    }
}
