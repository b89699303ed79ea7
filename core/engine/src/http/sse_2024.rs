//! HTTP+SSE, the transport of 2024-11-05 (basic/transports, "HTTP with SSE"): a stream of events on which the server sends
//! everything, and an endpoint that it names there for the messages of the client.

use alloc::boxed::Box;
use alloc::string::String;
use core::mem;

use super::request::Request;
use crate::session::RequestFault;
use crate::text::excerpt;
use crate::transport_error::HttpError;
use crate::url;

/// The state of HTTP+SSE.
#[derive(Debug, Default)]
pub(super) enum Sse2024 {
    /// The server is spoken to by Streamable HTTP.
    #[default]
    Unused,
    /// The stream of events was requested, and `initialize` waits for the endpoint.
    Connecting {
        initialize: Box<Request>,
        /// How `initialize` was refused over Streamable HTTP, where that was tried first.
        refusal: Option<RequestFault>,
    },
    /// The endpoint is known.
    Open {
        endpoint: String,
        /// The id of `initialize`.
        initialize: u64,
    },
}

/// What the end of the stream of events means.
#[derive(Debug)]
pub(super) enum SseStreamEnd {
    /// `initialize` fails.
    NotOpened { initialize: u64, fault: RequestFault },
    /// The connection ends; `initialize` fails if it waits for its answer.
    Closed { initialize: u64, error: HttpError },
    /// Nothing: the stream was given up before.
    Ignored,
}

impl Sse2024 {
    pub(super) fn is_unused(&self) -> bool {
        matches!(self, Sse2024::Unused)
    }

    /// Whether nothing can be sent yet.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self, Sse2024::Connecting { .. })
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Sse2024::Open { .. })
    }

    /// Returns the URL for messages.
    pub(super) fn endpoint(&self) -> Option<&str> {
        match self {
            Sse2024::Open { endpoint, .. } => Some(endpoint),
            _ => None,
        }
    }

    /// Handles that the stream of events was requested.
    pub(super) fn connect(&mut self, initialize: Request, refusal: Option<RequestFault>) {
        *self = Sse2024::Connecting { initialize: Box::new(initialize), refusal };
    }

    /// Handles the endpoint that the server names, in the document at `base`. Returns `initialize`, to be sent now.
    ///
    /// # Errors
    /// If the endpoint has another origin than the stream: a server could make the client send messages, with its credentials,
    /// to anybody. `initialize`, with the id that is returned, fails.
    pub(super) fn endpoint_named(&mut self, named: &[u8], base: &str) -> Option<Result<Request, (u64, HttpError)>> {
        let Sse2024::Connecting { initialize, .. } = mem::take(self) else { return None };
        let endpoint = core::str::from_utf8(named.trim_ascii()).ok().and_then(|named| url::resolve(base, named));
        match endpoint.filter(|endpoint| url::same_origin(base, endpoint)) {
            Some(endpoint) => {
                *self = Sse2024::Open { endpoint, initialize: initialize.id };
                Some(Ok(*initialize))
            }
            None => Some(Err((initialize.id, HttpError::Endpoint { uri: excerpt(named) }))),
        }
    }

    /// Handles the end of the stream of events.
    pub(super) fn stream_ended(&mut self, error: HttpError) -> SseStreamEnd {
        match mem::take(self) {
            Sse2024::Unused => SseStreamEnd::Ignored,
            Sse2024::Connecting { initialize, refusal } => {
                // The first refusal says more, except where the server asks for authorization.
                let fault = match (refusal, error) {
                    (_, error @ HttpError::Unauthorized { .. }) => RequestFault::Http(error),
                    (Some(refusal), _) => refusal,
                    (None, error) => RequestFault::Http(error),
                };
                SseStreamEnd::NotOpened { initialize: initialize.id, fault }
            }
            Sse2024::Open { endpoint, initialize } => {
                *self = Sse2024::Open { endpoint, initialize };
                SseStreamEnd::Closed { initialize, error }
            }
        }
    }
}
