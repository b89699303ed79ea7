//! [`HttpSse`]: the HTTP+SSE transport of 2024-11-05 (basic/transports, "HTTP with SSE").
//!
//! The server sends all of its messages on one event stream. The first event names a separate URL, to which the client posts.

use alloc::boxed::Box;
use alloc::string::String;
use core::mem;

use super::command::ExchangeId;
use super::context::Context;
use super::purpose::Purpose;
use super::request::Request;
use super::settings::{Flavour, Settings};
use crate::session::{CloseReason, Phase, RequestFault};
use crate::text::excerpt;
use crate::transport_error::HttpError;
use crate::url;

/// How far an HTTP+SSE connection has come.
#[derive(Debug, Default)]
pub(super) enum HttpSse {
    /// The connection uses Streamable HTTP.
    #[default]
    Unused,
    /// The event stream was requested. `initialize` waits for the URL of messages.
    Connecting {
        initialize: Box<Request>,
        /// The error of `initialize` over Streamable HTTP, if that was tried first.
        refusal: Option<RequestFault>,
    },
    /// The server has named the URL for messages, which the endpoint stores.
    Open {
        /// The id of the `initialize` request.
        initialize: u64,
    },
}

impl HttpSse {
    /// Returns whether the connection may switch to HTTP+SSE after Streamable HTTP failed.
    pub(super) fn may_fall_back(&self, settings: &Settings) -> bool {
        settings.flavour != Some(Flavour::Streamable) && matches!(self, HttpSse::Unused)
    }

    /// Returns whether `initialize` needs the event stream first, because the embedder has chosen HTTP+SSE.
    pub(super) fn must_connect(&self, settings: &Settings) -> bool {
        settings.flavour == Some(Flavour::Sse) && matches!(self, HttpSse::Unused)
    }

    /// Returns whether messages wait for their URL.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self, HttpSse::Connecting { .. })
    }

    /// Requests the event stream. `refusal` is the error of `initialize` over Streamable HTTP.
    pub(super) fn connect(&mut self, initialize: Request, refusal: Option<RequestFault>, context: &mut Context) {
        *self = HttpSse::Connecting { initialize: Box::new(initialize), refusal };
        context.get(Purpose::SseStream, None);
    }

    /// Handles the event that names the URL for messages, and sends `initialize` there.
    ///
    /// `initialize` fails if the URL has another origin than the stream. A server could otherwise direct messages, with their
    /// credentials, to any other server.
    pub(super) fn receive_endpoint(&mut self, from: ExchangeId, named: &[u8], context: &mut Context) {
        let is_stream =
            context.exchanges.get(from).is_some_and(|exchange| matches!(exchange.purpose, Purpose::SseStream));
        if !is_stream || !self.is_connecting() {
            return;
        }
        let HttpSse::Connecting { initialize, .. } = mem::take(self) else { return };
        if let Some(uri) = resolve(named, &context.settings.uri) {
            *self = HttpSse::Open { initialize: initialize.id };
            context.endpoint.set_message_uri(uri);
            context.queue.resend(*initialize);
        } else {
            context.abort(from);
            context.fail(initialize.id, RequestFault::Http(HttpError::Endpoint { uri: excerpt(named) }));
        }
    }

    /// Handles the end of the event stream: `initialize` fails if it has no answer, else the connection ends.
    pub(super) fn stream_ended(&mut self, error: HttpError, context: &mut Context) {
        match mem::take(self) {
            HttpSse::Unused => {}
            HttpSse::Connecting { initialize, refusal } => {
                // The first refusal says more, except if the server asks for authorization.
                let fault = match (refusal, error) {
                    (_, error @ HttpError::Unauthorized { .. }) => RequestFault::Http(error),
                    (Some(refusal), _) => refusal,
                    (None, error) => RequestFault::Http(error),
                };
                context.fail(initialize.id, fault);
            }
            HttpSse::Open { initialize } => {
                *self = HttpSse::Open { initialize };
                if context.session.phase() == Phase::Connecting {
                    context.fail(initialize, RequestFault::Http(error));
                } else {
                    context.session.close(CloseReason::ByServer);
                }
            }
        }
    }
}

/// Resolves the URL that a server names against that of its event stream. Returns `None` if the origins differ.
fn resolve(named: &[u8], base: &str) -> Option<String> {
    let named = core::str::from_utf8(named.trim_ascii()).ok()?;
    url::resolve(base, named).filter(|uri| url::same_origin(base, uri))
}
