//! The handshake with modern servers (from revision 2026-07-28) and legacy servers, as one state table. [`ServerInfo`]: the
//! description that a server sends in the handshake.
//!
//! Specification: basic/versioning and basic/transports/stdio, "Backward Compatibility" (revision 2026-07-28), and
//! basic/lifecycle (revision 2025-11-25).
//!
//! A version is *in common* if the server names it and [`Negotiate`] allows it.
//!
//! ```text
//! state         input                                        next            action
//! ───────────── ──────────────────────────────────────────── ─────────────── ─────────────────────────────
//! New           start: any era                               Probing         send server/discover
//!               start: a modern version, or modern only      Discovering     send server/discover
//!               start: a legacy version, or legacy only      Initializing    send initialize
//! Probing       result: a modern version in common           Ready
//!               result: only a legacy version in common      Initializing    send initialize with it
//!               result, or -32022: no version in common      Failed
//!               -32022: only a legacy version in common      Initializing    send initialize with it
//!               -32020 or -32021, with data                  Failed
//!               HTTP error that any request would get        Failed
//!               any other answer                             Initializing    send initialize
//!               no answer within the probe timeout           Racing          send initialize
//! Racing        result: a modern version in common           Discovered
//!               result: only a legacy version in common      Initializing
//!               result: no version in common                 Failed
//!               any other answer to server/discover          Initializing
//!               initialize succeeds                          Ready           send notifications/initialized
//!               initialize fails                             Discovering
//! Discovered    initialize succeeds                          Ready (legacy)  send notifications/initialized
//!               initialize fails, or connect deadline        Ready (modern)
//! Discovering   result: a modern version in common           Ready
//!               result: only a legacy version in common      Initializing    send initialize with it
//!               any other answer                             Failed
//! Initializing  initialize succeeds                          Ready           send notifications/initialized
//!               initialize fails                             Failed
//! Probing,      -32022 with a modern version in common,      Discovering     send server/discover with it
//! Discovering   for the first time
//! Racing        the same                                     Racing          send server/discover with it
//! any, after    end of the stream, except in Discovering     Failed          restart the server, and open the
//! a probe       and Discovered                                               connection in the legacy era
//! any           end of the stream, deadline, cancel          Failed
//! ```
//!
//! *Result* is a result of `server/discover`. *Initialize succeeds* means that the server responds with a legacy version
//! in common, or with no version. A server of both eras that gets `initialize` is a legacy server from then on, also if it
//! has responded to `server/discover` before. So once `initialize` was sent, its success decides.
//!
//! A server that supports `server/discover` may still have only a legacy version in common with the client. That version
//! requires `initialize`. In state Racing, `initialize` was already sent. If `initialize` fails in that state, and the
//! server then names a legacy version, the client sends `initialize` once more with the named version.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::config::Negotiate;
use super::error::{ConnectError, RequestFault};
use crate::own_requests::{DiscoverResult, InitializeResult};
use crate::rpc::RpcError;
use mcpwire_text::json::{Json, JsonText, from_json};
use mcpwire_types::{Era, Implementation, ProtocolVersion, ServerCapabilities};

pub(super) type HandshakeReply<R> = Result<R, RequestFault>;

/// What the session must do next in the handshake.
#[derive(Debug)]
pub(super) enum HandshakeAction {
    Nothing,
    SendDiscover(ProtocolVersion),
    SendInitialize(ProtocolVersion),
    /// The handshake has succeeded. If the server is a legacy server (up to revision 2025-11-25), the session must send
    /// `notifications/initialized`.
    Open(Arc<ServerInfo>),
    Fail(Arc<ConnectError>),
    Restart,
}

// The table at the beginning of this file lists the transitions.
#[derive(Debug)]
enum HandshakeState {
    New,
    /// Only `server/discover` was sent. The session sends `initialize` if it turns out that the server does not support
    /// `server/discover`.
    Probing,
    /// Both `server/discover` and `initialize` were sent, `initialize` with the latest legacy version.
    Racing {
        discovers: Discovers,
    },
    /// The session waits for the response to `initialize`, and `server/discover` has succeeded: the connection is opened
    /// with its result unless `initialize` succeeds, too.
    Discovered(Arc<ServerInfo>),
    /// The session waits only for the response to `server/discover`. It has not sent `initialize`, or `initialize` has
    /// failed for the reason `refused`, which is reported if `server/discover` fails, too.
    Discovering {
        discovers: Discovers,
        refused: Option<Arc<ConnectError>>,
    },
    /// The session waits only for the response to `initialize`. It has not sent `server/discover`, or that request did
    /// not open the connection. `requested` is the version in `initialize`, which a response without a version accepts.
    Initializing {
        requested: ProtocolVersion,
    },
    /// The handshake has ended, successfully or with an error.
    Done,
}

/// How often `server/discover` was sent. It is sent again at most once, with a version that the server listed as supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discovers {
    Once,
    Twice,
}

/// The state machine of the handshake. It sends nothing itself: each method returns a [`HandshakeAction`] for the
/// session.
#[derive(Debug)]
pub(super) struct Handshake {
    negotiate: Negotiate,
    state: HandshakeState,
}

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

impl Handshake {
    pub(super) fn new(negotiate: Negotiate) -> Self {
        Handshake { negotiate, state: HandshakeState::New }
    }

    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, HandshakeState::Probing)
    }

    /// Starts the handshake. Returns the first request to send.
    pub(super) fn start(&mut self) -> HandshakeAction {
        match self.negotiate {
            Negotiate::Auto => {
                self.state = HandshakeState::Probing;
                HandshakeAction::SendDiscover(ProtocolVersion::LATEST)
            }
            Negotiate::Modern => self.discover(ProtocolVersion::LATEST),
            Negotiate::Version(version) if version.era() == Era::Modern => self.discover(version),
            Negotiate::Legacy => self.initialize(ProtocolVersion::LATEST_LEGACY),
            Negotiate::Version(version) => self.initialize(version),
        }
    }

    /// Handles the expiry of the probe timeout: the server has not responded to `server/discover`. Returns the next
    /// action.
    pub(super) fn silence(&mut self) -> HandshakeAction {
        if !self.is_probing() {
            return HandshakeAction::Nothing;
        }
        self.state = HandshakeState::Racing { discovers: Discovers::Once };
        HandshakeAction::SendInitialize(ProtocolVersion::LATEST_LEGACY)
    }

    pub(super) fn discovered(&mut self, outcome: HandshakeReply<DiscoverResult>) -> HandshakeAction {
        if let Some(version) = self.suggested_version(&outcome) {
            match &mut self.state {
                HandshakeState::Racing { discovers } | HandshakeState::Discovering { discovers, .. } => {
                    *discovers = Discovers::Twice;
                }
                state => *state = HandshakeState::Discovering { discovers: Discovers::Twice, refused: None },
            }
            return HandshakeAction::SendDiscover(version);
        }
        match (&mut self.state, outcome) {
            (
                HandshakeState::Probing | HandshakeState::Racing { .. } | HandshakeState::Discovering { .. },
                Ok(result),
            ) => self.choose(result),
            (HandshakeState::Probing, Err(RequestFault::Server(error))) => self.probe_refused(error),
            (HandshakeState::Probing, Err(RequestFault::Invalid(_))) => self.initialize(ProtocolVersion::LATEST_LEGACY),
            #[cfg(feature = "http")]
            (HandshakeState::Probing, Err(RequestFault::Http(error))) if !error.is_final() => {
                self.initialize(ProtocolVersion::LATEST_LEGACY)
            }
            #[cfg(feature = "http")]
            (HandshakeState::Probing, Err(fault @ RequestFault::Http(_))) => {
                self.fail(fault.into_connect_error(DISCOVER))
            }
            (HandshakeState::Racing { .. }, Err(_)) => self.wait_for_initialize(),
            (HandshakeState::Discovering { refused, .. }, Err(fault)) => {
                let error = match refused.take() {
                    Some(error) => error,
                    None => Arc::new(self.discover_refused(fault)),
                };
                self.fail(error)
            }
            (
                HandshakeState::New
                | HandshakeState::Discovered(_)
                | HandshakeState::Initializing { .. }
                | HandshakeState::Done,
                _,
            ) => HandshakeAction::Nothing,
        }
    }

    pub(super) fn initialized(&mut self, outcome: HandshakeReply<InitializeResult>) -> HandshakeAction {
        let requested = match self.state {
            HandshakeState::Racing { .. } | HandshakeState::Discovered(_) => ProtocolVersion::LATEST_LEGACY,
            HandshakeState::Initializing { requested } => requested,
            _ => return HandshakeAction::Nothing,
        };
        let error = match outcome {
            Ok(result) => match self.accept(result.protocol_version.as_deref(), requested) {
                Ok(version) => {
                    self.state = HandshakeState::Done;
                    return HandshakeAction::Open(legacy_server(version, result));
                }
                Err(error) => error,
            },
            Err(fault) => fault.into_connect_error(INITIALIZE),
        };
        if let HandshakeState::Racing { discovers } = self.state {
            self.state = HandshakeState::Discovering { discovers, refused: Some(Arc::new(error)) };
            return HandshakeAction::Nothing;
        }
        self.open_or_fail(error)
    }

    /// Handles the end of the server's output. Returns [`HandshakeAction::Restart`] if the server may have exited
    /// because it does not know `server/discover`.
    pub(super) fn ended(&mut self) -> HandshakeAction {
        match self.state {
            HandshakeState::Done => HandshakeAction::Nothing,
            // Only with this setting, a server that may be legacy gets a probe.
            HandshakeState::Probing | HandshakeState::Racing { .. } | HandshakeState::Initializing { .. }
                if self.negotiate == Negotiate::Auto =>
            {
                self.state = HandshakeState::Done;
                HandshakeAction::Restart
            }
            _ => self.fail(ConnectError::Closed),
        }
    }

    /// Ends the handshake because `initialize` has failed, or because there is no more time: with the result of
    /// `server/discover` if there is one, otherwise with `error`.
    pub(super) fn open_or_fail(&mut self, error: ConnectError) -> HandshakeAction {
        match core::mem::replace(&mut self.state, HandshakeState::Done) {
            HandshakeState::Discovered(server) => HandshakeAction::Open(server),
            _ => self.fail(error),
        }
    }

    /// Ends the handshake with `error`.
    #[cold]
    pub(super) fn fail(&mut self, error: impl Into<Arc<ConnectError>>) -> HandshakeAction {
        self.state = HandshakeState::Done;
        HandshakeAction::Fail(error.into())
    }

    fn discover(&mut self, version: ProtocolVersion) -> HandshakeAction {
        self.state = HandshakeState::Discovering { discovers: Discovers::Once, refused: None };
        HandshakeAction::SendDiscover(version)
    }

    fn initialize(&mut self, version: ProtocolVersion) -> HandshakeAction {
        self.state = HandshakeState::Initializing { requested: version };
        HandshakeAction::SendInitialize(version)
    }

    /// Waits for the response to the `initialize` that was sent in state Racing.
    fn wait_for_initialize(&mut self) -> HandshakeAction {
        self.state = HandshakeState::Initializing { requested: ProtocolVersion::LATEST_LEGACY };
        HandshakeAction::Nothing
    }

    /// Continues with the newest protocol version that both client and server support: opens the connection for a
    /// modern version (from revision 2026-07-28), or sends `initialize` for a legacy version.
    fn choose(&mut self, result: DiscoverResult) -> HandshakeAction {
        let common = |era| newest(&result.supported_versions, &|v| v.era() == era && self.allows(v));
        if let Some(version) = common(Era::Modern) {
            let server = modern_server(version, result);
            if matches!(self.state, HandshakeState::Racing { .. }) {
                self.state = HandshakeState::Discovered(server);
                return HandshakeAction::Nothing;
            }
            self.state = HandshakeState::Done;
            return HandshakeAction::Open(server);
        }
        match common(Era::Legacy) {
            Some(_) if matches!(self.state, HandshakeState::Racing { .. }) => self.wait_for_initialize(),
            Some(version) => self.initialize(version),
            None => {
                let error = self.unsupported(result.supported_versions);
                self.fail(error)
            }
        }
    }

    /// Decides whether an error response to `server/discover` leads to `initialize`, or fails the handshake because
    /// only a modern server (from revision 2026-07-28) returns such an error.
    fn probe_refused(&mut self, error: RpcError) -> HandshakeAction {
        if error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION
            && let Some(versions) = supported(&error)
        {
            if let Some(version) = newest(&versions, &|v| v.era() == Era::Legacy && self.allows(v)) {
                return self.initialize(version);
            }
            let error = self.unsupported(versions);
            return self.fail(error);
        }
        match error.code {
            RpcError::HEADER_MISMATCH | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY if error.data.is_some() => {
                self.fail(ConnectError::Refused { method: DISCOVER, error: Arc::new(error) })
            }
            _ => self.initialize(ProtocolVersion::LATEST_LEGACY),
        }
    }

    /// Returns the modern version with which to send `server/discover` again after a version error, or `None` if it
    /// must not be sent again.
    ///
    /// May return the rejected version, because a server may reject a version that it lists as supported
    /// (basic/versioning, "Protocol Version Negotiation").
    fn suggested_version(&self, outcome: &HandshakeReply<DiscoverResult>) -> Option<ProtocolVersion> {
        let may_ask = match self.state {
            HandshakeState::Probing => true,
            HandshakeState::Racing { discovers } | HandshakeState::Discovering { discovers, .. } => {
                discovers == Discovers::Once
            }
            _ => false,
        };
        match outcome {
            Err(RequestFault::Server(error)) if may_ask && error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION => {
                newest(&supported(error)?, &|v| v.era() == Era::Modern && self.allows(v))
            }
            _ => None,
        }
    }

    fn discover_refused(&self, fault: RequestFault) -> ConnectError {
        let RequestFault::Server(error) = fault else { return fault.into_connect_error(DISCOVER) };
        match supported(&error) {
            Some(versions) if error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION => self.unsupported(versions),
            _ => ConnectError::Refused { method: DISCOVER, error: Arc::new(error) },
        }
    }

    /// Returns the protocol version to use after a successful `initialize`. `answered` is the version in the response,
    /// or `None` if the response contains no version: that accepts the `requested` version.
    ///
    /// Returns an error if `answered` is not a legacy version (up to revision 2025-11-25), or if [`Negotiate`] does not
    /// allow it.
    fn accept(&self, answered: Option<&str>, requested: ProtocolVersion) -> Result<ProtocolVersion, ConnectError> {
        let Some(answered) = answered else { return Ok(requested) };
        match answered.parse::<ProtocolVersion>() {
            Ok(version) if version.era() == Era::Legacy && self.allows(version) => Ok(version),
            _ => Err(self.unsupported(alloc::vec![answered.into()])),
        }
    }

    fn allows(&self, version: ProtocolVersion) -> bool {
        match self.negotiate {
            Negotiate::Auto => true,
            Negotiate::Modern => version.era() == Era::Modern,
            Negotiate::Legacy => version.era() == Era::Legacy,
            Negotiate::Version(only) => version == only,
        }
    }

    #[cold]
    fn unsupported(&self, server: Vec<String>) -> ConnectError {
        let allowed = ProtocolVersion::ALL.into_iter().filter(|version| self.allows(*version));
        let client = allowed.map(|version| version.as_str().into()).collect();
        ConnectError::UnsupportedVersion { server, client }
    }
}

fn modern_server(version: ProtocolVersion, result: DiscoverResult) -> Arc<ServerInfo> {
    let implementation = result.implementation();
    let DiscoverResult { capabilities, instructions, .. } = result;
    Arc::new(ServerInfo { era: Era::Modern, protocol_version: version, implementation, capabilities, instructions })
}

fn legacy_server(version: ProtocolVersion, result: InitializeResult) -> Arc<ServerInfo> {
    let InitializeResult { server_info: implementation, capabilities, instructions, .. } = result;
    Arc::new(ServerInfo { era: Era::Legacy, protocol_version: version, implementation, capabilities, instructions })
}

/// Returns the newest supported protocol version that `offered` contains and that `is_allowed` accepts, or `None` if there
/// is none. `offered` contains the names of the server's versions, such as `2026-07-28`.
fn newest(offered: &[String], is_allowed: &dyn Fn(ProtocolVersion) -> bool) -> Option<ProtocolVersion> {
    let is_offered = |version: &ProtocolVersion| offered.iter().any(|name| name == version.as_str());
    ProtocolVersion::ALL.into_iter().rev().find(|version| is_offered(version) && is_allowed(*version))
}

fn supported(error: &RpcError) -> Option<Vec<String>> {
    let data: &Json = error.data.as_ref()?;
    from_json::from_str(data.member_text("supported")?)
}

#[cfg(test)]
mod tests;

/// Description of a server, and the protocol version of the connection.
///
/// Serde names the members as the result of `initialize` does, for example `protocolVersion` and `serverInfo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerInfo {
    /// The era of the protocol version: legacy (up to revision 2025-11-25) or modern (from revision 2026-07-28).
    ///
    /// A program can store the era of a server. With [`Negotiate::Legacy`], the next
    /// connection to a legacy server opens faster, because the client sends `initialize` without trying
    /// `server/discover` first.
    pub era: Era,
    /// The protocol version that client and server have agreed on.
    pub protocol_version: ProtocolVersion,
    /// The name and version of the server. `None` if the server did not send them.
    #[serde(rename = "serverInfo")]
    pub implementation: Option<Implementation>,
    /// The capabilities that the server declared. `None` if the server sent no capabilities at all: then the client
    /// may call every method.
    pub capabilities: Option<ServerCapabilities>,
    /// Instructions for using the server, written for a language model. `None` if the server sent none.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// Returns the name of the server, or an empty string if the server did not send its name.
    pub fn name(&self) -> &str {
        self.implementation.as_ref().map_or("", |implementation| &implementation.name)
    }

    /// Returns whether the client may send the parameter `task` with `tools/call`, to request that the tool call runs
    /// as a task.
    ///
    /// `true` only if the server uses revision 2025-11-25 and declares this capability (specification:
    /// basic/utilities/tasks, "Capabilities"). With later revisions, the server decides whether a tool call becomes a
    /// task.
    pub fn takes_tasks(&self) -> bool {
        let tasks = self.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.protocol_version == ProtocolVersion::V2025_11_25 && tasks.is_some_and(|tasks| tasks.covers("tools/call"))
    }
}
