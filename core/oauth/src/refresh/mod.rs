//! [`Refresh`]: renews a token that several tasks and processes share, without losing the token.

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

/// Renews a token with its refresh token (RFC 6749, section 6), as a transaction on the token store.
///
/// Many authorization servers accept a refresh token only once, and revoke all tokens of the user if it is sent again.
/// The transaction therefore takes a lock that all processes share, and loads the stored token. If another process has
/// already renewed the token, the transaction returns that token. Otherwise it requests a new token, and stores the new
/// token before the program uses it.
///
/// Run the transaction in a separate task, so that it continues if the caller that needed the token gives up. A token
/// is deleted only after `invalid_grant`, or if the authorization server no longer knows a dynamically registered
/// client. A newer token of another process is never deleted.
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

/// An operation that a [`Refresh`] asks the program to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefreshAction {
    /// Take the lock of the stored token, and resume with [`RefreshInput::Done`].
    Lock,
    /// Load the stored token, and resume with [`RefreshInput::Loaded`].
    Load,
    /// Send this request, and resume with [`RefreshInput::Network`].
    Fetch(Request),
    /// Sign `bytes` with `key`, and resume with [`RefreshInput::Network`].
    Sign {
        /// The private key with which to sign.
        key: KeyUse,
        /// The bytes to sign.
        bytes: Vec<u8>,
    },
    /// Write the token to durable storage, so that it survives a crash, and resume with [`RefreshInput::Done`].
    Store(Box<StoredToken>),
    /// Delete the stored token if it still has this generation, and resume with [`RefreshInput::Done`].
    Delete {
        /// The generation of the token that the authorization server refused.
        generation: u64,
    },
    /// Delete the stored registration of the client, which the authorization server no longer knows. Resume with
    /// [`RefreshInput::Done`].
    DeleteRegistration,
    /// Release the lock. The transaction has ended with this result.
    Done(Result<Box<Refreshed>, Error>),
}

/// The result of a [`RefreshAction`], with which the program resumes a [`Refresh`].
#[derive(Debug)]
#[non_exhaustive]
pub enum RefreshInput {
    /// The action succeeded and has no result.
    Done,
    /// The stored token, or `None` if no token is stored.
    Loaded(Option<Box<StoredToken>>),
    /// The result of [`RefreshAction::Fetch`] or [`RefreshAction::Sign`].
    Network(Input),
    /// The action failed, for example because the lock was not free or the store cannot be written. Contains the
    /// reason.
    Failed(String),
}

/// The result of a [`Refresh`]: a renewed token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// The renewed token, which can be sent to the MCP server.
    pub token: StoredToken,
    /// How the token was obtained, and whether it is stored.
    pub source: RefreshSource,
}

/// How a [`Refresh`] obtained the renewed token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefreshSource {
    /// Another task or process had already renewed the token. It was loaded from the store.
    Adopted,
    /// The authorization server issued the token, and the token was stored.
    Issued,
    /// The authorization server issued the token, but the token could not be stored. Contains the reason.
    ///
    /// The token works until the program ends. The next refresh tries to store it again.
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
    /// The new token could not be stored. The old token is being written again, so that the store stays valid.
    Restoring {
        new: Box<StoredToken>,
        reason: String,
    },
    /// The authorization server refused the refresh token. The stored token is loaded again, because another process
    /// may have renewed it.
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
    /// Creates a transaction that renews `known`, the token that expires or was refused.
    ///
    /// `client` must be the client that requested the token, with its authentication at the issuer of the token.
    pub const fn new(known: StoredToken, client: ClientAuthentication, entropy: Entropy) -> Self {
        Refresh { known, client, client_is_dynamic: false, dpop: None, moved_to: None, entropy, state: State::New }
    }

    /// Sets whether the client was registered dynamically. If so, and the authorization server no longer knows the
    /// client, the registration and the token are deleted. The next login then registers again.
    pub const fn client_is_dynamic(mut self, is_dynamic: bool) -> Self {
        self.client_is_dynamic = is_dynamic;
        self
    }

    mcpwire_text::setters! {
        /// Sets the DPoP key to which the token is bound, with the nonces of the servers. `None`, the default, for a
        /// token that is not bound.
        fn dpop(dpop: Option<Dpop>) => dpop = dpop;

        /// Sets another token endpoint of the same authorization server, because its metadata has changed. An endpoint
        /// of another issuer is ignored, so that the refresh token is never sent to another authorization server.
        fn moved_to(endpoint: TokenEndpoint) => moved_to = Some(endpoint);
    }

    /// Starts the transaction, and returns the first action to perform. Call this function once.
    pub fn start(&mut self) -> RefreshAction {
        match mem::replace(&mut self.state, State::Finished) {
            State::New => self.enter(State::Locking, RefreshAction::Lock),
            _ => RefreshAction::Done(Err(Error::misuse(Step::Refresh))),
        }
    }

    /// Continues the transaction with the result of the last action, and returns the next action to perform.
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

    /// Returns the stored token if another process has renewed it. Otherwise requests a new token.
    fn begin(&mut self, stored: Option<Box<StoredToken>>, now: UnixTime) -> Result<RefreshAction, Error> {
        let stored = stored.ok_or_else(|| Error::login_required("the token is not stored any more"))?;
        if stored.generation > self.known.generation && stored.refresh_at().is_none_or(|at| at > now) {
            return Ok(finished(stored, RefreshSource::Adopted));
        }
        // The known token is newer than the stored one if an earlier refresh could not store it.
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
        // Without the parameter `scope`, the token keeps its scopes (RFC 6749, section 6). Some servers refuse the
        // parameter.
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
        // Some authorization servers refuse the parameter `resource`. That refusal does not use up the refresh token,
        // so the request is repeated without the parameter.
        let is_refusal =
            error.http_status() == Some(400) && error.code().is_some() && error.kind() != ErrorKind::Temporary;
        if !is_refusal || base.no_resource_on_refresh {
            return Err(error);
        }
        base.no_resource_on_refresh = true;
        self.dpop = request.into_dpop();
        self.request(base, now)
    }

    /// Handles a refused refresh token: returns the newer token of another process, or else deletes the refused token.
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
