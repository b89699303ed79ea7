//! Opens the connection: sends what the [handshake](super::handshake) decides, and keeps its deadlines.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::Config;
use super::error::ConnectError;
use super::handshake::{Action, Handshake, Outcome};
use super::protocol_fields::{protocol_fields, to_json};
use super::requests::{OpeningRequest, Owner, Requests};
use super::server::ServerInfo;
use crate::json::append::{push, push_raw, push_string};
use crate::method::{Discover, Initialize, Method};
use crate::rpc::write::{self, Meta, Push};
use crate::time::Timestamp;
use crate::types::{DiscoverResult, Era, InitializeResult, ProtocolVersion};

/// A connection that is being opened.
#[derive(Debug)]
pub(super) struct Opening {
    handshake: Handshake,
    /// When it takes too long.
    connect_by: Timestamp,
    /// When the server has not answered the probe for too long; only while it is probed.
    silent_at: Option<Timestamp>,
}

/// How the opening ended.
#[derive(Debug)]
pub(super) enum Opened {
    To(Box<ServerInfo>),
    Failed(ConnectError),
    /// The server ended on the probe: it is to be started again and spoken to in the legacy era.
    Restart,
}

/// What the opening works with.
pub(super) struct OpeningContext<'a> {
    pub(super) now: Timestamp,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) requests: &'a mut Requests,
    pub(super) config: &'a Config,
}

impl Opening {
    /// Sends the first request. Never ends the opening.
    pub(super) fn begin(context: &mut OpeningContext<'_>) -> Self {
        let mut opening = Opening {
            handshake: Handshake::new(context.config.negotiate),
            connect_by: context.now + context.config.connect_timeout,
            silent_at: None,
        };
        let action = opening.handshake.start();
        let _ = opening.perform(action, context);
        opening
    }

    pub(super) fn poll_timeout(&self) -> Timestamp {
        self.silent_at.map_or(self.connect_by, |at| at.min(self.connect_by))
    }

    pub(super) fn handle_timeout(&mut self, context: &mut OpeningContext<'_>) -> Option<Opened> {
        let action = if self.connect_by <= context.now {
            self.handshake.fail(ConnectError::Timeout { after: context.config.connect_timeout })
        } else if self.silent_at.is_some_and(|at| at <= context.now) {
            self.silent_at = None;
            self.handshake.silence()
        } else {
            Action::Nothing
        };
        self.perform(action, context)
    }

    /// Whether only the probe was sent, so that an error without an id is the answer to it.
    pub(super) fn is_probing(&self) -> bool {
        self.handshake.is_probing()
    }

    pub(super) fn discovered(
        &mut self,
        outcome: Outcome<DiscoverResult>,
        context: &mut OpeningContext<'_>,
    ) -> Option<Opened> {
        let action = self.handshake.discovered(outcome);
        self.perform(action, context)
    }

    pub(super) fn initialized(
        &mut self,
        outcome: Outcome<InitializeResult>,
        context: &mut OpeningContext<'_>,
    ) -> Option<Opened> {
        let action = self.handshake.initialized(outcome);
        self.perform(action, context)
    }

    /// Handles the end of the stream.
    pub(super) fn stream_ended(&mut self) -> Opened {
        match self.handshake.ended() {
            Action::Restart => Opened::Restart,
            Action::Fail(error) => Opened::Failed(error),
            _ => Opened::Failed(ConnectError::Closed),
        }
    }

    fn perform(&mut self, action: Action, context: &mut OpeningContext<'_>) -> Option<Opened> {
        if !matches!(action, Action::Nothing) {
            self.silent_at = None;
        }
        match action {
            Action::Nothing => None,
            Action::SendDiscover(version) => {
                self.silent_at = self.handshake.is_probing().then(|| context.now + context.config.probe_timeout);
                let fields = protocol_fields(context.config, version);
                let no_params: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, &());
                context.send(OpeningRequest::Discover, Discover::NAME, no_params, &fields);
                None
            }
            Action::SendInitialize(version) => {
                let config = context.config;
                let params = |out: &mut Vec<u8>| {
                    push_initialize(out, config, version);
                    Ok(())
                };
                context.send(OpeningRequest::Initialize, Initialize::NAME, &params, "");
                None
            }
            Action::OpenModern(version, result) => {
                let implementation = result.implementation_in_meta();
                let DiscoverResult { capabilities, instructions, server_info, .. } = result;
                Some(Opened::To(Box::new(ServerInfo {
                    era: Era::Modern,
                    protocol_version: version,
                    implementation: implementation.or(server_info),
                    capabilities,
                    instructions,
                })))
            }
            Action::OpenLegacy(version, result) => {
                // It has no parameters that could fail to serialise.
                let _ = write::notification(context.out, "notifications/initialized", &|out: &mut Vec<u8>| {
                    write::push_object(out, &())
                });
                let InitializeResult { server_info: implementation, capabilities, instructions, .. } = result;
                Some(Opened::To(Box::new(ServerInfo {
                    era: Era::Legacy,
                    protocol_version: version,
                    implementation,
                    capabilities,
                    instructions,
                })))
            }
            Action::Fail(error) => Some(Opened::Failed(error)),
            Action::Restart => Some(Opened::Restart),
        }
    }
}

impl OpeningContext<'_> {
    fn send(&mut self, request: OpeningRequest, method: &str, params: Push<'_>, protocol: &str) {
        let meta = Meta { protocol, ..Meta::default() };
        // The parameters are written by this crate and cannot fail to serialise.
        let _ = write::request(self.out, self.requests.next_id(), method, params, meta);
        self.requests.insert(Owner::Opening(request), None);
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
