//! [`Opening`]: performs the actions of the [handshake](super::handshake), and monitors its deadlines.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::config::Config;
use super::error::{CloseReason, ConnectError, RequestFault};
use super::handshake::{Handshake, HandshakeAction};
use super::meta::{protocol_fields, to_json};
use super::outbox::{Outbox, RequestHead};
use super::requests::{OpeningRequest, Owner, Requests};
use super::server_info::ServerInfo;
use crate::own_requests::{Discover, Initialize};
use crate::rpc::write::{self, Meta, ParamsWriter};
use crate::rpc::{Response, RpcError, decode};
use crate::time::Timestamp;
use mcpwire_text::json::append::{push, push_raw, push_string};
use mcpwire_types::Method;
use mcpwire_types::{Era, ProtocolVersion};

/// The state of a connection that is being opened: the handshake and its deadlines.
#[derive(Debug)]
pub(super) struct Opening {
    handshake: Handshake,
    /// Time at which the attempt to open the connection fails (see [`Config::connect_timeout`]).
    connect_by: Timestamp,
    /// Time at which the session also sends `initialize` if the server has not responded to `server/discover` (see
    /// [`Config::probe_timeout`]). `None` if this timeout is not running.
    probe_by: Option<Timestamp>,
}

/// How the opening of a connection ended.
#[derive(Debug)]
pub(super) enum OpeningEnd {
    /// The connection is open.
    Connected(Arc<ServerInfo>),
    Failed(Arc<ConnectError>),
    Restart,
}

pub(super) struct OpeningContext<'a> {
    pub(super) now: Timestamp,
    pub(super) outbox: &'a mut Outbox,
    pub(super) requests: &'a mut Requests,
    pub(super) config: &'a Config,
}

impl Opening {
    /// Starts the handshake and sends its first request.
    pub(super) fn begin(context: &mut OpeningContext<'_>) -> Self {
        let mut opening = Opening {
            handshake: Handshake::new(context.config.negotiate),
            connect_by: context.now + context.config.connect_timeout,
            probe_by: None,
        };
        let action = opening.handshake.start();
        // The first action sends a request, and never ends the opening.
        let _ = opening.perform(action, context);
        opening
    }

    /// Returns the time at which [`Self::handle_timeout`] must be called.
    pub(super) fn poll_timeout(&self) -> Timestamp {
        self.probe_by.map_or(self.connect_by, |at| at.min(self.connect_by))
    }

    pub(super) fn handle_timeout(&mut self, context: &mut OpeningContext<'_>) -> Option<OpeningEnd> {
        let action = if self.connect_by <= context.now {
            self.handshake.fail(ConnectError::Timeout { after: context.config.connect_timeout })
        } else if self.probe_by.is_some_and(|at| at <= context.now) {
            self.probe_by = None;
            self.handshake.silence()
        } else {
            HandshakeAction::Nothing
        };
        self.perform(action, context)
    }

    pub(super) fn receive(
        &mut self,
        request: OpeningRequest,
        response: Response,
        message: &[u8],
        context: &mut OpeningContext<'_>,
    ) -> Option<OpeningEnd> {
        let action = match request {
            OpeningRequest::Discover => self.handshake.discovered(decode::answer(message, response)),
            OpeningRequest::Initialize => self.handshake.initialized(decode::answer(message, response)),
        };
        self.perform(action, context)
    }

    pub(super) fn fail(
        &mut self,
        request: OpeningRequest,
        fault: RequestFault,
        context: &mut OpeningContext<'_>,
    ) -> Option<OpeningEnd> {
        let action = match request {
            OpeningRequest::Discover => self.handshake.discovered(Err(fault)),
            OpeningRequest::Initialize => self.handshake.initialized(Err(fault)),
        };
        self.perform(action, context)
    }

    /// Returns whether the session has sent only `server/discover`, and may still send `initialize`. An error response
    /// without an id then belongs to `server/discover`.
    pub(super) fn is_probing(&self) -> bool {
        self.handshake.is_probing()
    }

    /// Handles an error response without an id as the response to `server/discover`. Call only while
    /// [`Self::is_probing`] returns `true`.
    pub(super) fn probe_failed(&mut self, error: RpcError, context: &mut OpeningContext<'_>) -> Option<OpeningEnd> {
        context.requests.remove_opening(OpeningRequest::Discover);
        self.fail(OpeningRequest::Discover, RequestFault::Server(error), context)
    }

    /// Returns the outcome to report if the connection is closed before it is open, or `None` for
    /// [`CloseReason::NotOpened`], which already contains the error to report.
    pub(super) fn close(&mut self, reason: &CloseReason) -> Option<OpeningEnd> {
        Some(OpeningEnd::Failed(match reason {
            CloseReason::ByServer => match self.handshake.ended() {
                HandshakeAction::Restart => return Some(OpeningEnd::Restart),
                HandshakeAction::Fail(error) => error,
                _ => Arc::new(ConnectError::Closed),
            },
            CloseReason::ByClient => Arc::new(ConnectError::Cancelled),
            CloseReason::Failed(why) => Arc::new(ConnectError::Failed(Arc::clone(why))),
            _ => return None,
        }))
    }

    fn perform(&mut self, action: HandshakeAction, context: &mut OpeningContext<'_>) -> Option<OpeningEnd> {
        if !matches!(action, HandshakeAction::Nothing) {
            self.probe_by = None;
        }
        match action {
            HandshakeAction::Nothing => None,
            HandshakeAction::SendDiscover(version) => {
                self.probe_by = self.handshake.is_probing().then(|| context.now + context.config.probe_timeout);
                let fields = protocol_fields(context.config, version);
                let no_params: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, &());
                context.send(OpeningRequest::Discover, Some(version), no_params, &fields);
                None
            }
            HandshakeAction::SendInitialize(version) => {
                let config = context.config;
                let params = |out: &mut Vec<u8>| {
                    push_initialize(out, config, version);
                    Ok(())
                };
                context.send(OpeningRequest::Initialize, None, &params, "");
                None
            }
            HandshakeAction::Open(server) => {
                if server.era == Era::Legacy {
                    // Empty parameters cannot fail to serialize.
                    let _ = context
                        .outbox
                        .notification("notifications/initialized", &|out: &mut Vec<u8>| write::push_object(out, &()));
                }
                Some(OpeningEnd::Connected(server))
            }
            HandshakeAction::Fail(error) => Some(OpeningEnd::Failed(error)),
            HandshakeAction::Restart => Some(OpeningEnd::Restart),
        }
    }
}

impl OpeningContext<'_> {
    fn send(
        &mut self,
        request: OpeningRequest,
        version: Option<ProtocolVersion>,
        params: ParamsWriter<'_>,
        protocol: &str,
    ) {
        let method = match request {
            OpeningRequest::Discover => Discover::NAME,
            OpeningRequest::Initialize => Initialize::NAME,
        };
        let id = self.requests.next_id();
        let head = RequestHead { id, method: &Cow::Borrowed(method), version, is_repeatable: false };
        // These parameters cannot fail to serialize.
        let _ = self.outbox.request(head, params, Meta { protocol, ..Meta::default() });
        self.requests.insert(Owner::Opening(request));
    }
}

fn push_initialize(out: &mut Vec<u8>, config: &Config, version: ProtocolVersion) {
    push(out, b"{\"protocolVersion\":");
    push_string(out, version.as_str());
    push(out, b",\"capabilities\":");
    push_raw(out, to_json(&config.capabilities).get());
    push(out, b",\"clientInfo\":");
    push_raw(out, to_json(&config.client_info).get());
    push(out, b"}");
}
