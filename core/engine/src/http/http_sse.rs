//! [`HttpSse`]: the HTTP+SSE transport of protocol revision 2024-11-05 (basic/transports, "HTTP with SSE").
//!
//! The server sends all of its messages on one event stream. The first event contains a separate URL, to which the
//! client posts its messages.

use alloc::boxed::Box;
use alloc::string::String;
use core::mem;

use super::command::ExchangeId;
use super::request::{Purpose, Request};
use super::settings::{Flavour, Settings};
use super::transport::Transport;
use crate::session::{CloseReason, Phase, RequestFault};
use crate::transport_error::HttpError;
use mcpwire_text::{excerpt, url};

/// The progress of opening a connection over HTTP+SSE.
#[derive(Default)]
pub(super) enum HttpSse {
    #[default]
    Unused,
    /// The client has requested the event stream of HTTP+SSE. It posts `initialize` once the server has sent the URL
    /// for messages.
    Connecting {
        initialize: Box<Request>,
        /// The error with which `initialize` failed over Streamable HTTP, before the client tried HTTP+SSE. `None` if
        /// the client did not try Streamable HTTP.
        refusal: Option<RequestFault>,
    },
    /// The server has sent the URL to which the client posts messages. The URL is stored in [`Transport::endpoint`].
    Open {
        /// The JSON-RPC id of the `initialize` request that opens the connection.
        initialize: u64,
    },
}

impl HttpSse {
    /// Returns whether the engine may try HTTP+SSE when `initialize` has failed over Streamable HTTP.
    pub(super) fn may_fall_back(&self, settings: &Settings) -> bool {
        settings.flavour != Some(Flavour::Streamable) && matches!(self, HttpSse::Unused)
    }

    /// Returns whether the engine must open the event stream of HTTP+SSE before it sends `initialize`, because the
    /// settings select this transport.
    pub(super) fn must_connect(&self, settings: &Settings) -> bool {
        settings.flavour == Some(Flavour::Sse) && matches!(self, HttpSse::Unused)
    }

    /// Returns whether the client still waits for the URL to which it posts messages. Until the server sends it, the
    /// client can send no message.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self, HttpSse::Connecting { .. })
    }

    /// Requests the event stream of HTTP+SSE. The client posts `initialize` once the server has sent a URL for messages
    /// on that stream.
    ///
    /// `refusal` is the error with which `initialize` failed over Streamable HTTP, or `None` if that transport was not
    /// tried.
    pub(super) fn connect(&mut self, initialize: Request, refusal: Option<RequestFault>, transport: &mut Transport) {
        *self = HttpSse::Connecting { initialize: Box::new(initialize), refusal };
        transport.get(Purpose::SseStream, None);
    }

    /// Handles the `endpoint` event of HTTP+SSE: stores the URL to which the client posts messages, and sends
    /// `initialize`.
    ///
    /// The URL `named` may be relative. If its origin differs from that of the event stream, `initialize` fails.
    /// Otherwise, a server could redirect the client's credentials to another server.
    pub(super) fn receive_endpoint(&mut self, from: ExchangeId, named: &[u8], transport: &mut Transport) {
        let is_stream =
            transport.exchanges.get(from).is_some_and(|exchange| matches!(exchange.purpose, Purpose::SseStream));
        if !is_stream || !self.is_connecting() {
            return;
        }
        let HttpSse::Connecting { initialize, .. } = mem::take(self) else { return };
        if let Some(uri) = resolve(named, &transport.settings.uri) {
            *self = HttpSse::Open { initialize: initialize.id };
            transport.endpoint.message_uri = Some(uri);
            transport.queue.resend.push_back(*initialize);
        } else {
            transport.abort(from);
            transport.session.fail(initialize.id, RequestFault::Http(HttpError::Endpoint { uri: excerpt(named) }));
        }
    }

    /// Handles the end of the event stream of HTTP+SSE. If `initialize` has no response yet, it fails. Otherwise, the
    /// connection closes.
    pub(super) fn stream_ended(&mut self, error: HttpError, transport: &mut Transport) {
        match mem::take(self) {
            HttpSse::Unused => {}
            HttpSse::Connecting { initialize, refusal } => {
                // The error of Streamable HTTP is more useful, except if the server requires authorization.
                let fault = match (refusal, error) {
                    (_, error @ HttpError::Unauthorized { .. }) => RequestFault::Http(error),
                    (Some(refusal), _) => refusal,
                    (None, error) => RequestFault::Http(error),
                };
                transport.session.fail(initialize.id, fault);
            }
            HttpSse::Open { initialize } => {
                *self = HttpSse::Open { initialize };
                if transport.session.phase() == Phase::Connecting {
                    transport.session.fail(initialize, RequestFault::Http(error));
                } else {
                    transport.session.close(CloseReason::ByServer);
                }
            }
        }
    }
}

/// Resolves the URL `named` against `base`, the URL of the event stream.
///
/// Returns `None` if the resolved URL is invalid or has another origin than `base`.
fn resolve(named: &[u8], base: &str) -> Option<String> {
    let named = core::str::from_utf8(named.trim_ascii()).ok()?;
    url::resolve(base, named).filter(|uri| url::same_origin(base, uri))
}
