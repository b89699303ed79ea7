//! [`DeviceLogin`]: a login with a code that the user enters on another device (RFC 8628).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use mcpwire_types::printable;

use crate::encoding::Form;
use crate::token_request::ClientRequest;
use crate::token_response;
use crate::url::is_secure_for;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Grant, Input, KeyUse, Request, Response,
    Scopes, Secret, Step, TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

/// Default interval between two token requests, and the increase after the error `slow_down` (RFC 8628, section 3.5).
const INTERVAL: Duration = Duration::from_secs(5);

/// Maximum interval between two token requests, even if the server asks for a longer one.
const MAX_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Time for which a device code is valid if the server does not say.
const LIFE: Duration = Duration::from_secs(10 * 60);

/// Maximum time for which a device code is used, even if the server names a longer time.
const MAX_LIFE: Duration = Duration::from_secs(60 * 60);

/// Maximum number of characters of the code that a user must type. A login with a longer code fails.
const MAX_USER_CODE: usize = 64;

/// A login for users without a browser on this device. The user enters a code on another device, such as a phone.
///
/// The program shows an address and a code, and waits until the user has entered the code at that address. To cancel
/// the login, drop this value.
#[derive(Debug)]
pub struct DeviceLogin {
    endpoint: TokenEndpoint,
    client: ClientAuthentication,
    resource: Option<String>,
    scopes: Scopes,
    dpop: Option<Dpop>,
    entropy: Entropy,
    url: String,
    state: State,
}

/// An operation that a [`DeviceLogin`] asks the program to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceAction {
    /// Send this request, and resume with [`DeviceInput::Network`].
    Fetch(Request),
    /// Sign `bytes` with `key`, and resume with [`DeviceInput::Network`].
    Sign {
        /// The private key with which to sign.
        key: KeyUse,
        /// The bytes to sign.
        bytes: Vec<u8>,
    },
    /// Show the address and the code to the user, and resume with [`DeviceInput::Done`] without waiting for the user.
    ShowCode(DeviceCode),
    /// Wait until this time before the next token request, and resume with [`DeviceInput::Done`].
    Wait(UnixTime),
    /// The user has logged in. Contains the issued token.
    Done(TokenResponse),
}

/// The result of a [`DeviceAction`], with which the program resumes a [`DeviceLogin`].
#[derive(Debug)]
#[non_exhaustive]
pub enum DeviceInput {
    /// The code is shown, or the time to wait for has come.
    Done,
    /// The result of [`DeviceAction::Fetch`] or [`DeviceAction::Sign`].
    Network(Input),
}

/// The code that a user enters on another device to log in, and the address at which to enter it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceCode {
    /// The code for the user to enter. It contains no control or invisible characters.
    pub user_code: String,
    /// The URL at which the user enters the code: `https`, or `http` to this machine if the authorization server runs
    /// on it.
    pub verification_uri: String,
    /// The URL with the code in it, for example for a QR code. `None` if the server sent no such URL.
    pub verification_uri_complete: Option<String>,
    /// When the code expires. The login then fails.
    pub expires_at: UnixTime,
}

#[derive(Debug)]
enum State {
    New,
    Authorizing(ClientRequest),
    Showing(Polling),
    Waiting(Polling),
    Requesting(Polling, TokenRequest),
    Finished,
}

#[derive(Debug)]
struct Polling {
    device_code: Secret,
    interval: Duration,
    expires_at: UnixTime,
}

impl DeviceLogin {
    /// Creates a login. `url` is the `device_authorization_endpoint` of the authorization server. The client must be
    /// registered for the grant type `urn:ietf:params:oauth:grant-type:device_code`.
    pub fn new(
        url: impl Into<String>,
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        resource: Option<String>,
        scopes: Scopes,
        entropy: Entropy,
    ) -> Self {
        DeviceLogin { endpoint, client, resource, scopes, dpop: None, entropy, url: url.into(), state: State::New }
    }

    /// Sets the DPoP key to which the token will be bound. `None`, the default, asks for a token that is not bound.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.dpop = dpop;
        self
    }

    /// Returns the first action. Call this function once.
    pub fn start(&mut self, now: UnixTime) -> Result<DeviceAction, Error> {
        if !matches!(self.state, State::New) {
            return Err(Error::misuse(Step::DeviceAuthorization));
        }
        let form = Form::new()
            .with_optional("scope", self.scopes.parameter().as_deref())
            .with_optional("resource", self.resource.as_deref());
        let endpoint = TokenEndpoint::new(self.endpoint.issuer.clone(), self.url.clone());
        let (client, entropy) = (self.client.clone(), self.entropy.split());
        let mut request = ClientRequest::new(Step::DeviceAuthorization, endpoint, client, form, Vec::new(), entropy);
        self.state = State::Finished;
        let action = request.start(now)?;
        self.authorizing(request, action, now)
    }

    /// Continues the login with the result of the last action, and returns the next action to perform.
    pub fn resume(&mut self, input: DeviceInput, now: UnixTime) -> Result<DeviceAction, Error> {
        match (mem::replace(&mut self.state, State::Finished), input) {
            (State::Authorizing(mut request), DeviceInput::Network(input)) => {
                let action = request.resume(input, now)?;
                self.authorizing(request, action, now)
            }
            (State::Showing(polling), DeviceInput::Done) => self.wait(polling, now),
            (State::Waiting(polling), DeviceInput::Done) => self.poll(polling, now),
            (State::Requesting(polling, mut request), DeviceInput::Network(input)) => {
                let result = request.resume(input, now);
                self.requesting(polling, request, result, now)
            }
            _ => Err(Error::misuse(Step::DeviceAuthorization)),
        }
    }

    fn enter(&mut self, state: State, action: DeviceAction) -> DeviceAction {
        self.state = state;
        action
    }

    fn authorizing(
        &mut self,
        request: ClientRequest,
        action: Action<Response>,
        now: UnixTime,
    ) -> Result<DeviceAction, Error> {
        let action = match action {
            Action::Fetch(request) => DeviceAction::Fetch(request),
            Action::Sign { key, bytes } => DeviceAction::Sign { key, bytes },
            Action::Done(response) => {
                let (code, polling) = read_code(&response, &self.url, now).map_err(|error| request.explain(error))?;
                return Ok(self.enter(State::Showing(polling), DeviceAction::ShowCode(code)));
            }
        };
        Ok(self.enter(State::Authorizing(request), action))
    }

    fn wait(&mut self, polling: Polling, now: UnixTime) -> Result<DeviceAction, Error> {
        if polling.expires_at <= now {
            return Err(expired());
        }
        let until = (now + polling.interval).min(polling.expires_at);
        Ok(self.enter(State::Waiting(polling), DeviceAction::Wait(until)))
    }

    fn poll(&mut self, polling: Polling, now: UnixTime) -> Result<DeviceAction, Error> {
        let grant = Grant::DeviceCode(polling.device_code.clone());
        let mut request = TokenRequest::new(self.endpoint.clone(), self.client.clone(), &grant, self.entropy.split())
            .resource(self.resource.clone())
            .dpop(self.dpop.take());
        let action = request.start(now);
        self.requesting(polling, request, action, now)
    }

    fn requesting(
        &mut self,
        mut polling: Polling,
        request: TokenRequest,
        result: Result<Action<TokenResponse>, Error>,
        now: UnixTime,
    ) -> Result<DeviceAction, Error> {
        let action = match result {
            Ok(Action::Done(token)) => return Ok(DeviceAction::Done(token)),
            Ok(Action::Fetch(fetch)) => DeviceAction::Fetch(fetch),
            Ok(Action::Sign { key, bytes }) => DeviceAction::Sign { key, bytes },
            Err(error) => {
                match error.code() {
                    Some("authorization_pending") => {}
                    Some("slow_down") => polling.slow_down(None),
                    Some("expired_token") => return Err(expired()),
                    // The user may be about to finish the login, so a temporary error does not end it. RFC 8628 asks
                    // for longer intervals then.
                    _ if error.kind() == ErrorKind::Temporary => polling.slow_down(error.retry_after()),
                    _ => return Err(error),
                }
                self.dpop = request.into_dpop();
                return self.wait(polling, now);
            }
        };
        Ok(self.enter(State::Requesting(polling, request), action))
    }
}

impl Polling {
    fn slow_down(&mut self, retry_after: Option<Duration>) {
        self.interval = (self.interval + INTERVAL).max(retry_after.unwrap_or_default()).min(MAX_INTERVAL);
    }
}

/// Parses a device authorization response (RFC 8628, section 3.2). Returns the code for the user, and the data for the
/// token requests.
fn read_code(response: &Response, url: &str, now: UnixTime) -> Result<(DeviceCode, Polling), Error> {
    let step = Step::DeviceAuthorization;
    let body = token_response::read_object(response, step, url)?;
    let text = |name| body.text(name);
    let error = |kind, reason| Err(Error::new(kind, step, reason).at(url).with_status(response.status));
    // Some servers use the member name of an early draft, `verification_url`.
    let verification_uri = text("verification_uri").or_else(|| text("verification_url"));
    let (Some(device_code), Some(user_code), Some(verification_uri)) =
        (text("device_code"), text("user_code"), verification_uri)
    else {
        return error(ErrorKind::Temporary, "the response contains no code");
    };
    let is_shown_as_it_is = !user_code.contains(char::is_control) && printable(user_code).to_string() == user_code;
    if user_code.chars().count() > MAX_USER_CODE || !is_shown_as_it_is {
        return error(ErrorKind::Untrusted, "the code for the user is too long, or contains control characters");
    }
    if !is_secure_for(verification_uri, url) {
        return error(ErrorKind::Untrusted, "the address for the user is not an https URL");
    }
    let life = body.seconds("expires_in").unwrap_or(LIFE).min(MAX_LIFE);
    let interval = body.seconds("interval").unwrap_or(INTERVAL);
    let (interval, expires_at) = (interval.clamp(Duration::from_secs(1), MAX_INTERVAL), now + life);
    let complete = text("verification_uri_complete").filter(|uri| is_secure_for(uri, url));
    let code = DeviceCode {
        user_code: user_code.into(),
        verification_uri: verification_uri.into(),
        verification_uri_complete: complete.map(Into::into),
        expires_at,
    };
    Ok((code, Polling { device_code: Secret::new(device_code), interval, expires_at }))
}

fn expired() -> Error {
    let reason = "the code has expired before somebody has entered it";
    Error::new(ErrorKind::LoginRequired, Step::DeviceAuthorization, reason).with_advice("log in again")
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
