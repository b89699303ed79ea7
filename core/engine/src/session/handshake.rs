//! The opening of a connection, in both eras, as one table (specification 2026-07-28, basic/transports/stdio, "Backward
//! Compatibility"; 2025-11-25, basic/lifecycle).
//!
//! ```text
//! state         what happens                                 next            what is done
//! ───────────── ──────────────────────────────────────────── ─────────────── ─────────────────────────────
//! New           start, any era                               Probing         send server/discover
//!               start, modern only                           Discovering     send server/discover
//!               start, legacy only                           Initializing    send initialize
//! Probing       discovered, a modern version in common       Ready
//!               discovered, only a legacy one in common      Initializing    send initialize with it
//!               discovered, or -32022: nothing in common     Failed
//!               -32020, -32021: modern, and it refuses       Failed
//! Probing,      -32022 with a modern version in common,      Discovering,    send server/discover with it
//! Racing,       for the first time                           Racing
//! Discovering
//! Probing       -32022 with a legacy version in common       Initializing    send initialize with it
//!               any other answer                             Initializing    send initialize
//!               silence for the probe time                   Racing          send initialize
//! Racing        discovered                                   Ready
//!               discover fails                               Initializing
//!               initialized                                  Ready           send notifications/initialized
//!               initialize fails                             Discovering
//! Discovering   discovered, a modern version in common       Ready
//!               anything else                                Failed
//! Initializing  initialized, a version that we speak         Ready           send notifications/initialized
//!               anything else                                Failed
//! Probing,      end of the stream                            Failed          Event::Restart: start the server
//! Racing,                                                                    again and speak legacy
//! Initializing
//! after a probe
//! any           the deadline, a cancel                       Failed
//! ```

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::closed::ConnectError;
use super::config::Negotiate;
use super::fault::RequestFault;
use crate::json::Json;
use crate::json::from_json;
use crate::rpc::RpcError;
use crate::types::{DiscoverResult, Era, InitializeResult, ProtocolVersion};

/// The response to `server/discover` or `initialize`, or why there is none.
pub(super) type Outcome<R> = Result<R, RequestFault>;

/// Returns the error of an opening whose request failed.
fn refused(fault: RequestFault, method: &'static str) -> ConnectError {
    match fault {
        RequestFault::Server(error) => ConnectError::Refused { method, error },
        RequestFault::Invalid(error) => ConnectError::Invalid { method, error },
        #[cfg(feature = "http")]
        RequestFault::Http(error) => ConnectError::Http { method, error: Box::new(error) },
    }
}

/// The next action of the opening.
#[derive(Debug)]
pub(super) enum Action {
    Nothing,
    SendDiscover(ProtocolVersion),
    SendInitialize(ProtocolVersion),
    OpenModern(ProtocolVersion, DiscoverResult),
    OpenLegacy(ProtocolVersion, InitializeResult),
    Fail(ConnectError),
    Restart,
}

/// The state of the handshake, as in the table above. `Done` stands for Ready and Failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Probing,
    Racing,
    Discovering,
    Initializing,
    Done,
}

/// The state machine of the handshake.
#[derive(Debug)]
pub(super) struct Handshake {
    negotiate: Negotiate,
    state: State,
    /// Whether `server/discover` was sent to a server that may be legacy, which may end the stream instead of responding.
    probed: bool,
    /// Whether `server/discover` was sent again with a version that the server suggested. That happens once.
    retried: bool,
    /// The error of `initialize`, kept while `server/discover` may still succeed. Set on the way from `Racing` to `Discovering`.
    refused: Option<ConnectError>,
}

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

impl Handshake {
    pub(super) fn new(negotiate: Negotiate) -> Self {
        Handshake { negotiate, state: State::New, probed: false, retried: false, refused: None }
    }

    /// Returns whether the probe is the only pending request.
    pub(super) fn is_probing(&self) -> bool {
        self.state == State::Probing
    }

    /// Starts the handshake.
    pub(super) fn start(&mut self) -> Action {
        match self.negotiate {
            Negotiate::Auto => {
                self.state = State::Probing;
                self.probed = true;
                Action::SendDiscover(ProtocolVersion::LATEST)
            }
            Negotiate::Modern => self.discover(ProtocolVersion::LATEST),
            Negotiate::Version(version) if version.era() == Era::Modern => self.discover(version),
            Negotiate::Legacy => self.initialize(ProtocolVersion::LATEST_LEGACY),
            Negotiate::Version(version) => self.initialize(version),
        }
    }

    /// Handles that the server has not responded to the probe in time.
    pub(super) fn silence(&mut self) -> Action {
        if self.state != State::Probing {
            return Action::Nothing;
        }
        self.state = State::Racing;
        Action::SendInitialize(ProtocolVersion::LATEST_LEGACY)
    }

    /// Handles the response to `server/discover`.
    pub(super) fn discovered(&mut self, outcome: Outcome<DiscoverResult>) -> Action {
        if let Some(version) = self.suggested_version(&outcome) {
            self.retried = true;
            if self.state == State::Probing {
                self.state = State::Discovering;
            }
            return Action::SendDiscover(version);
        }
        match (self.state, outcome) {
            (State::Probing | State::Racing | State::Discovering, Ok(result)) => self.choose(result),
            (State::Probing, Err(RequestFault::Server(error))) => self.probe_refused(error),
            (State::Probing, Err(RequestFault::Invalid(_))) => self.initialize(ProtocolVersion::LATEST_LEGACY),
            #[cfg(feature = "http")]
            (State::Probing, Err(RequestFault::Http(error))) if !error.is_final() => {
                self.initialize(ProtocolVersion::LATEST_LEGACY)
            }
            #[cfg(feature = "http")]
            (State::Probing, Err(fault @ RequestFault::Http(_))) => self.fail(refused(fault, DISCOVER)),
            (State::Racing, Err(_)) => {
                self.state = State::Initializing;
                Action::Nothing
            }
            (State::Discovering, Err(fault)) => {
                let error = match self.refused.take() {
                    Some(error) => error,
                    None => self.discover_refused(fault),
                };
                self.fail(error)
            }
            (State::New | State::Initializing | State::Done, _) => Action::Nothing,
        }
    }

    /// Handles the response to `initialize`.
    pub(super) fn initialized(&mut self, outcome: Outcome<InitializeResult>) -> Action {
        if !matches!(self.state, State::Racing | State::Initializing) {
            return Action::Nothing;
        }
        let error = match outcome {
            Ok(result) => match self.accept(result.protocol_version.as_deref()) {
                Ok(version) => {
                    self.state = State::Done;
                    return Action::OpenLegacy(version, result);
                }
                Err(error) => error,
            },
            Err(fault) => refused(fault, INITIALIZE),
        };
        if self.state == State::Racing {
            self.state = State::Discovering;
            self.refused = Some(error);
            return Action::Nothing;
        }
        self.fail(error)
    }

    /// Handles that the stream has ended.
    pub(super) fn ended(&mut self) -> Action {
        match self.state {
            State::Done => Action::Nothing,
            State::Probing | State::Racing | State::Initializing if self.probed => {
                self.state = State::Done;
                Action::Restart
            }
            _ => self.fail(ConnectError::Closed),
        }
    }

    /// Ends the handshake with an error.
    pub(super) fn fail(&mut self, error: ConnectError) -> Action {
        self.state = State::Done;
        Action::Fail(error)
    }

    fn discover(&mut self, version: ProtocolVersion) -> Action {
        self.state = State::Discovering;
        Action::SendDiscover(version)
    }

    fn initialize(&mut self, version: ProtocolVersion) -> Action {
        self.state = State::Initializing;
        Action::SendInitialize(version)
    }

    /// Chooses a version from the result of `server/discover`.
    fn choose(&mut self, result: DiscoverResult) -> Action {
        let common = |era| ProtocolVersion::newest(&result.supported_versions, &|v| v.era() == era && self.allows(v));
        if let Some(version) = common(Era::Modern) {
            self.state = State::Done;
            return Action::OpenModern(version, result);
        }
        match common(Era::Legacy) {
            // In a race, `initialize` is pending already.
            Some(_) if self.state == State::Racing => {
                self.state = State::Initializing;
                Action::Nothing
            }
            Some(version) => self.initialize(version),
            None => {
                let error = self.unsupported(result.supported_versions);
                self.fail(error)
            }
        }
    }

    /// Handles an error response to the probe, from a modern server or from a legacy server that does not know the method.
    fn probe_refused(&mut self, error: RpcError) -> Action {
        match error.code {
            RpcError::UNSUPPORTED_PROTOCOL_VERSION => match supported(&error) {
                Some(versions) => {
                    let legacy = |v: ProtocolVersion| v.era() == Era::Legacy && self.allows(v);
                    if let Some(version) = ProtocolVersion::newest(&versions, &legacy) {
                        return self.initialize(version);
                    }
                    let error = self.unsupported(versions);
                    self.fail(error)
                }
                None => self.initialize(ProtocolVersion::LATEST_LEGACY),
            },
            RpcError::HEADER_MISMATCH | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY if error.data.is_some() => {
                self.fail(ConnectError::Refused { method: DISCOVER, error })
            }
            _ => self.initialize(ProtocolVersion::LATEST_LEGACY),
        }
    }

    /// Returns the modern version that the server suggests in its refusal of a version (basic/versioning, "Protocol Version
    /// Negotiation"). If the server suggests the refused version, the client tries that version once more.
    fn suggested_version(&self, outcome: &Outcome<DiscoverResult>) -> Option<ProtocolVersion> {
        let asking = matches!(self.state, State::Probing | State::Racing | State::Discovering);
        match outcome {
            Err(RequestFault::Server(error))
                if asking && !self.retried && error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                ProtocolVersion::newest(&supported(error)?, &|v| v.era() == Era::Modern && self.allows(v))
            }
            _ => None,
        }
    }

    fn discover_refused(&self, fault: RequestFault) -> ConnectError {
        let RequestFault::Server(error) = fault else { return refused(fault, DISCOVER) };
        match supported(&error) {
            Some(versions) if error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION => self.unsupported(versions),
            _ => ConnectError::Refused { method: DISCOVER, error },
        }
    }

    /// Returns the version of a legacy session from the response to `initialize`. A response without a version accepts the
    /// requested one.
    fn accept(&self, answered: Option<&str>) -> Result<ProtocolVersion, ConnectError> {
        let asked = match self.negotiate {
            Negotiate::Version(version) => version,
            _ => ProtocolVersion::LATEST_LEGACY,
        };
        let Some(answered) = answered else { return Ok(asked) };
        match answered.parse::<ProtocolVersion>() {
            Ok(version) if version.era() == Era::Legacy && self.allows(version) => Ok(version),
            _ => Err(self.unsupported(alloc::vec![answered.into()])),
        }
    }

    /// Returns whether the configuration allows a version.
    fn allows(&self, version: ProtocolVersion) -> bool {
        match self.negotiate {
            Negotiate::Auto => true,
            Negotiate::Modern => version.era() == Era::Modern,
            Negotiate::Legacy => version.era() == Era::Legacy,
            Negotiate::Version(only) => version == only,
        }
    }

    #[cold]
    #[inline(never)]
    fn unsupported(&self, server: Vec<String>) -> ConnectError {
        let mut client = Vec::new();
        for version in ProtocolVersion::ALL {
            if self.allows(version) {
                client.push(version.as_str().into());
            }
        }
        ConnectError::UnsupportedVersion { server, client }
    }
}

/// Returns `data.supported` of an error about versions.
fn supported(error: &RpcError) -> Option<Vec<String>> {
    let data: &Json = error.data.as_ref()?;
    from_json::from_str(data.member_text("supported")?)
}
