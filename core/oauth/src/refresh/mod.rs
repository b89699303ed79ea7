//! [`Refresh`]: renews a token that several tasks and processes share, without losing it.

#[cfg(test)]
mod races;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Grant, Input, KeyUse, Request, Step,
    StoredToken, TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

/// Renews a token by its refresh token (RFC 6749, section 6), as a transaction on the store.
///
/// Many authorization servers accept a refresh token once, and revoke all tokens of the user if it comes again. So the
/// transaction takes a lock that all processes share, and loads the token again. If another process has renewed it, it
/// adopts that token. Otherwise it asks for a new token, and writes it before anybody uses it.
///
/// Run the transaction in a task of its own: it must go on when the caller that needed the token gives up. Only
/// `invalid_grant` deletes the token, and only if no other process has written another one.
///
/// ```
/// # mod mcpwire { pub mod oauth { pub mod oauth { pub use mcpwire_oauth::{Error, Input, Refresh, RefreshAction,
/// # RefreshInput, Refreshed}; } } }
/// use mcpwire::oauth::oauth::{Error, Input, Refresh, RefreshAction, RefreshInput, Refreshed};
/// # use mcpwire_oauth::{FetchError, KeyUse, Request, Response, StoredToken, UnixTime};
/// # struct Store;
/// # impl Store {
/// #     fn lock(&mut self) -> Result<(), String> { Ok(()) }
/// #     fn load(&mut self) -> Result<Option<StoredToken>, String> { Ok(None) }
/// #     fn write(&mut self, _: &StoredToken) -> Result<(), String> { Ok(()) }
/// #     fn delete(&mut self, _: u64) -> Result<(), String> { Ok(()) }
/// #     fn delete_registration(&mut self) -> Result<(), String> { Ok(()) }
/// #     fn unlock(&mut self) {}
/// # }
/// # fn send(_: Request) -> Result<Response, FetchError> { Err(FetchError::TooLarge) }
/// # fn sign(_: KeyUse, _: &[u8]) -> Vec<u8> { Vec::new() }
/// # fn now() -> UnixTime { UnixTime::from_secs(0) }
///
/// fn run(mut refresh: Refresh, store: &mut Store) -> Result<Refreshed, Error> {
///     let input = |result: Result<(), String>| match result {
///         Ok(()) => RefreshInput::Done,
///         Err(reason) => RefreshInput::Failed(reason),
///     };
///     let mut action = refresh.start();
///     loop {
///         let input = match action {
///             RefreshAction::Lock => input(store.lock()),
///             RefreshAction::Load => match store.load() {
///                 Ok(token) => RefreshInput::Loaded(token.map(Box::new)),
///                 Err(reason) => RefreshInput::Failed(reason),
///             },
///             RefreshAction::Store(token) => input(store.write(&token)),
///             RefreshAction::Delete { generation } => input(store.delete(generation)),
///             RefreshAction::DeleteRegistration => input(store.delete_registration()),
///             RefreshAction::Fetch(request) => {
///                 RefreshInput::Network(send(request).map_or_else(Input::FetchFailed, Input::Response))
///             }
///             RefreshAction::Sign { key, bytes } => RefreshInput::Network(Input::Signature(sign(key, &bytes))),
///             RefreshAction::Done(result) => {
///                 store.unlock();
///                 return result.map(|refreshed| *refreshed);
///             }
///             _ => RefreshInput::Failed("this program does not know the action".into()),
///         };
///         action = refresh.resume(input, now());
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Refresh {
    known: StoredToken,
    client: ClientAuthentication,
    client_is_dynamic: bool,
    dpop: Option<Dpop>,
    moved_to: Option<TokenEndpoint>,
    entropy: Entropy,
    state: State,
}

/// An operation that a program performs for a [`Refresh`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefreshAction {
    /// Take the lock of the token, and resume with [`RefreshInput::Done`].
    Lock,
    /// Load the token, and resume with [`RefreshInput::Loaded`].
    Load,
    /// Send this request, and resume with [`RefreshInput::Network`].
    Fetch(Request),
    /// Sign `bytes` with `key`, and resume with [`RefreshInput::Network`].
    Sign {
        /// The key that signs.
        key: KeyUse,
        /// The bytes that the signature covers.
        bytes: Vec<u8>,
    },
    /// Write the token so that it survives a crash, and resume with [`RefreshInput::Done`].
    Store(Box<StoredToken>),
    /// Delete the token if the stored one has this generation, and resume with [`RefreshInput::Done`].
    Delete {
        /// The generation of the token that the authorization server has refused.
        generation: u64,
    },
    /// Delete the registration of the client, and resume with [`RefreshInput::Done`].
    DeleteRegistration,
    /// Release the lock. The transaction has ended with this result.
    Done(Result<Box<Refreshed>, Error>),
}

/// The result of a [`RefreshAction`].
#[derive(Debug)]
#[non_exhaustive]
pub enum RefreshInput {
    /// The action succeeded.
    Done,
    /// The stored token, or `None` if there is none.
    Loaded(Option<Box<StoredToken>>),
    /// The result of a request or signature.
    Network(Input),
    /// The lock or the store failed, for this reason.
    Failed(String),
}

/// A token that is fresh.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// The fresh token.
    pub token: StoredToken,
    /// The source of the token.
    pub source: RefreshSource,
}

/// The source of a fresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefreshSource {
    /// Another task or process had renewed the token.
    Adopted,
    /// The authorization server has issued the token, and the token is stored.
    Issued,
    /// The authorization server has issued the token, which could not be stored, for this reason. The token works until
    /// the program ends. The next refresh tries to store it again.
    Unsaved(String),
}

#[derive(Debug)]
enum State {
    New,
    Locking,
    Loading,
    Requesting {
        request: Box<TokenRequest>,
        base: Box<StoredToken>,
    },
    Storing {
        new: Box<StoredToken>,
        old: Box<StoredToken>,
    },
    /// The new token could not be written. The old one is being written again.
    Restoring {
        new: Box<StoredToken>,
        reason: String,
    },
    /// The authorization server has refused the token. It may be that another process was faster.
    LoadingAgain {
        base: Box<StoredToken>,
        refusal: Error,
    },
    DeletingRegistration {
        generation: u64,
        refusal: Error,
    },
    Deleting {
        refusal: Error,
    },
    Finished,
}

impl Refresh {
    /// Creates a transaction for `known`, the token that expires or was refused.
    ///
    /// `client` must be the client that has requested the token, as it is registered at the token's issuer.
    pub const fn new(known: StoredToken, client: ClientAuthentication, entropy: Entropy) -> Self {
        Refresh { known, client, client_is_dynamic: false, dpop: None, moved_to: None, entropy, state: State::New }
    }

    /// Says that the client has registered dynamically. If the authorization server no longer knows it, registration and
    /// token are deleted, so that the next login registers again.
    pub const fn client_is_dynamic(mut self, is_dynamic: bool) -> Self {
        self.client_is_dynamic = is_dynamic;
        self
    }

    /// Passes the state of the key to which the token is bound.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.dpop = dpop;
        self
    }

    /// Sends the request to this endpoint, because the authorization server has moved. An endpoint of another issuer is ignored:
    /// tokens are never sent to another authorization server.
    pub fn moved_to(mut self, endpoint: TokenEndpoint) -> Self {
        self.moved_to = Some(endpoint);
        self
    }

    /// Returns the first action.
    pub fn start(&mut self) -> RefreshAction {
        match mem::replace(&mut self.state, State::Finished) {
            State::New => self.enter(State::Locking, RefreshAction::Lock),
            _ => RefreshAction::Done(Err(Error::misuse(Step::Refresh))),
        }
    }

    /// Takes the result of the last action, and returns the next one.
    pub fn resume(&mut self, input: RefreshInput, now: UnixTime) -> RefreshAction {
        let state = mem::replace(&mut self.state, State::Finished);
        self.advance(state, input, now).unwrap_or_else(|error| RefreshAction::Done(Err(error)))
    }

    fn advance(&mut self, state: State, input: RefreshInput, now: UnixTime) -> Result<RefreshAction, Error> {
        use RefreshInput::{Done, Failed, Loaded, Network};
        match (state, input) {
            (State::Locking, Done) => Ok(self.enter(State::Loading, RefreshAction::Load)),
            (State::Loading, Loaded(stored)) => self.begin(stored, now),
            (State::Requesting { mut request, base }, Network(input)) => match request.resume(input, now) {
                Ok(action) => Ok(self.perform(action, request, base)),
                Err(error) => self.refused(error, *request, base, now),
            },
            (State::Storing { new, .. }, Done) => Ok(finished(new, RefreshSource::Issued)),
            (State::Storing { new, old }, Failed(reason)) => {
                Ok(self.enter(State::Restoring { new, reason }, RefreshAction::Store(old)))
            }
            (State::Restoring { new, reason }, Done | Failed(_)) => Ok(finished(new, RefreshSource::Unsaved(reason))),
            (State::LoadingAgain { base, refusal }, Loaded(stored)) => self.lost(&base, refusal, stored, now),
            (State::DeletingRegistration { generation, refusal }, Done | Failed(_)) => {
                Ok(self.enter(State::Deleting { refusal }, RefreshAction::Delete { generation }))
            }
            (State::Deleting { refusal }, Done | Failed(_)) => Err(refusal),
            (_, Failed(reason)) => Err(Error::temporary(reason)),
            _ => Err(Error::misuse(Step::Refresh)),
        }
    }

    fn enter(&mut self, state: State, action: RefreshAction) -> RefreshAction {
        self.state = state;
        action
    }

    /// Adopts the stored token if another process has renewed it. Otherwise asks for a new one.
    fn begin(&mut self, stored: Option<Box<StoredToken>>, now: UnixTime) -> Result<RefreshAction, Error> {
        let stored = stored.ok_or_else(|| Error::login_required("the token is not stored any more"))?;
        if stored.generation > self.known.generation && stored.refresh_at().is_none_or(|at| at > now) {
            return Ok(finished(stored, RefreshSource::Adopted));
        }
        // The known token is newer if it could not be stored.
        let base = if stored.generation < self.known.generation { Box::new(self.known.clone()) } else { stored };
        self.request(base, now)
    }

    fn request(&mut self, mut base: Box<StoredToken>, now: UnixTime) -> Result<RefreshAction, Error> {
        let Some(refresh_token) = base.refresh_token.clone() else {
            return Err(Error::login_required("the authorization server has issued no refresh token"));
        };
        if !base.belongs_to(&self.known.resource, &self.known.endpoint.issuer)
            || base.client_id.as_deref() != self.client.client_id()
        {
            return Err(Error::login_required("the stored token is of another authorization server or client"));
        }
        if base.dpop_key != self.dpop.as_ref().map(|dpop| dpop.key().thumbprint()) {
            return Err(Error::login_required("the token is bound to another key"));
        }
        if let Some(endpoint) = self.moved_to.take_if(|endpoint| endpoint.issuer == base.endpoint.issuer) {
            base.endpoint = endpoint;
        }
        // Without scopes: the token keeps those that it has, and some servers refuse others (RFC 6749, section 6).
        let grant = Grant::RefreshToken(refresh_token);
        let mut request = TokenRequest::new(base.endpoint.clone(), self.client.clone(), &grant, self.entropy.split())
            .resource((!base.no_resource_on_refresh).then(|| base.resource.clone()))
            .redacting(&base.access_token)
            .dpop(self.dpop.take());
        let action = request.start(now)?;
        Ok(self.perform(action, Box::new(request), base))
    }

    fn perform(
        &mut self,
        action: Action<TokenResponse>,
        request: Box<TokenRequest>,
        base: Box<StoredToken>,
    ) -> RefreshAction {
        let action = match action {
            Action::Fetch(fetch) => RefreshAction::Fetch(fetch),
            Action::Sign { key, bytes } => RefreshAction::Sign { key, bytes },
            Action::Done(response) => {
                let new = Box::new(base.refreshed(response));
                return self.enter(State::Storing { new: new.clone(), old: base }, RefreshAction::Store(new));
            }
        };
        self.enter(State::Requesting { request, base }, action)
    }

    fn refused(
        &mut self,
        error: Error,
        request: TokenRequest,
        mut base: Box<StoredToken>,
        now: UnixTime,
    ) -> Result<RefreshAction, Error> {
        if matches!(error.code(), Some("invalid_grant" | "invalid_client")) {
            return Ok(self.enter(State::LoadingAgain { base, refusal: error }, RefreshAction::Load));
        }
        // Some authorization servers do not accept the resource. Such a refusal does not use up the refresh token.
        let is_refusal =
            error.http_status() == Some(400) && error.code().is_some() && error.kind() != ErrorKind::Temporary;
        if !is_refusal || base.no_resource_on_refresh {
            return Err(error);
        }
        base.no_resource_on_refresh = true;
        self.dpop = request.into_dpop();
        self.request(base, now)
    }

    /// Adopts the token of another process that was faster, or deletes the refused one.
    fn lost(
        &mut self,
        base: &StoredToken,
        refusal: Error,
        stored: Option<Box<StoredToken>>,
        now: UnixTime,
    ) -> Result<RefreshAction, Error> {
        let generation = base.generation;
        match stored.filter(|stored| stored.generation > generation) {
            Some(stored) if !stored.is_expired(now) => Ok(finished(stored, RefreshSource::Adopted)),
            Some(_) => {
                let reason = "another process has renewed the token, which has expired since";
                Err(Error::temporary(reason).with_advice("try again"))
            }
            None if refusal.code() == Some("invalid_grant") => {
                Ok(self.enter(State::Deleting { refusal }, RefreshAction::Delete { generation }))
            }
            None if self.client_is_dynamic => {
                let refusal = refusal.with_kind(ErrorKind::LoginRequired).with_advice("log in again");
                let deleting = State::DeletingRegistration { generation, refusal };
                Ok(self.enter(deleting, RefreshAction::DeleteRegistration))
            }
            None => Err(refusal),
        }
    }
}

fn finished(token: Box<StoredToken>, source: RefreshSource) -> RefreshAction {
    RefreshAction::Done(Ok(Box::new(Refreshed { token: *token, source })))
}
