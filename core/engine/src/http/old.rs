//! HTTP+SSE, the transport of 2024-11-05 (basic/transports, "HTTP with SSE"): a stream of events on which the server says
//! everything, and an endpoint that it names there for what the client has to say.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::engine::Engine;
use super::error::{Failure, HttpError};
use super::exchange::{ExchangeId, Verb};
use super::open::{Asked, Open, Purpose};
use super::settings::Flavour;
use super::uri;
use crate::session::{Closed, Phase, RequestFault};

/// How the server is spoken to.
#[derive(Debug)]
pub(super) enum Way {
    Streamable,
    /// The stream of events is asked for, and `initialize` waits for it.
    Asking {
        asked: Box<Asked>,
        /// What `initialize` was refused with, where it has been tried.
        fault: Option<RequestFault>,
    },
    /// The endpoint is known.
    Sse {
        endpoint: String,
        opening: u64,
    },
}

impl Way {
    pub(super) fn is_sse(&self) -> bool {
        matches!(self, Way::Sse { .. })
    }

    /// Whether nothing can be sent yet.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Way::Asking { .. })
    }

    pub(super) fn endpoint(&self) -> Option<&str> {
        match self {
            Way::Sse { endpoint, .. } => Some(endpoint),
            _ => None,
        }
    }
}

impl Engine {
    /// `initialize` is to be sent: keeps it, and takes it where the stream of events comes first.
    pub(super) fn begin_opening(&mut self, asked: Asked, message: &[u8]) -> Option<Asked> {
        self.legacy.opening = message.into();
        if self.settings.flavour != Some(Flavour::Sse) || !matches!(self.way, Way::Streamable) {
            return Some(asked);
        }
        self.ask_for_events(Asked { message: Some(message.into()), ..asked }, None);
        None
    }

    /// `initialize` was refused in a way that a server of 2024-11-05 would (2025-11-25, basic/transports, "Backwards
    /// Compatibility"): looks whether it is one.
    pub(super) fn look_for_events(&mut self, mut asked: Asked, fault: RequestFault) {
        if self.settings.flavour == Some(Flavour::Streamable) || !matches!(self.way, Way::Streamable) {
            return self.fail(asked.id, fault);
        }
        asked.message = Some(self.legacy.opening.clone());
        self.ask_for_events(asked, Some(fault));
    }

    fn ask_for_events(&mut self, asked: Asked, fault: Option<RequestFault>) {
        self.way = Way::Asking { asked: Box::new(asked), fault };
        let headers = self.plain_headers("");
        self.start(Purpose::Events, Verb::Get, headers, Vec::new(), true);
    }

    /// The server names its endpoint. It has to be on the origin of the stream: else a server could make the client send
    /// messages, with its credentials, wherever it likes.
    pub(super) fn endpoint(&mut self, from: ExchangeId, named: &[u8]) {
        let is_stream = self.open.get(&from).is_some_and(|open| matches!(open.purpose, Purpose::Events));
        if !is_stream || !self.way.is_held() {
            return;
        }
        let endpoint = core::str::from_utf8(named.trim_ascii()).ok();
        let endpoint = endpoint.and_then(|named| uri::resolve(&self.settings.uri, named));
        let Way::Asking { asked, .. } = core::mem::replace(&mut self.way, Way::Streamable) else { return };
        if let Some(endpoint) = endpoint.filter(|endpoint| uri::same_origin(&self.settings.uri, endpoint)) {
            self.way = Way::Sse { endpoint, opening: asked.id };
            self.again.push_back(*asked);
        } else {
            self.abort(from);
            let uri = crate::text::excerpt(named);
            self.fail(asked.id, RequestFault::Http(HttpError::Endpoint { uri }));
        }
    }

    /// A message was handed to the endpoint, or was not. The answer to it comes on the stream.
    pub(super) fn delivered(&mut self, asked: &Asked, mut open: Open, failure: Option<Failure>) {
        if failure.is_some() || !(200..300).contains(&open.status) {
            let error = open.verdict(failure);
            self.fail(asked.id, RequestFault::Http(error));
        }
    }

    /// The stream has ended, and the connection with it.
    pub(super) fn events_ended(&mut self, mut open: Open, failure: Option<Failure>) {
        match core::mem::replace(&mut self.way, Way::Streamable) {
            Way::Asking { asked, fault } => {
                let error = open.verdict(failure);
                // What was tried first says more, but for a server that wants to know who asks.
                let fault = match (fault, error) {
                    (_, error @ HttpError::Unauthorized { .. }) => RequestFault::Http(error),
                    (Some(fault), _) => fault,
                    (None, error) => RequestFault::Http(error),
                };
                self.fail(asked.id, fault);
            }
            Way::Sse { endpoint, opening } => {
                self.way = Way::Sse { endpoint, opening };
                if self.session.phase() == Phase::Connecting {
                    let error = open.verdict(failure);
                    self.fail(opening, RequestFault::Http(error));
                } else {
                    self.session.close(Closed::ByServer);
                }
            }
            Way::Streamable => {}
        }
    }
}
