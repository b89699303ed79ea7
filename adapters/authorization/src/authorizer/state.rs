//! [`State`]: the state that all connections to one server share.

use std::mem;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::http::{AuthorizationContext, Credentials, Refusal};
use mcpwire_oauth as oauth;
use mcpwire_oauth::{
    Access, Authorization, BearerChallenge, ClientInformation, Decision, Dpop, RenewalId, Secret, TokenId, UnixTime,
};

use super::login_request::LoginStatus;
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::Waiters;
use crate::signing_key::{Signer, new_entropy};

/// Maximum number of tokens and client secrets to remember, so that programs can redact them. A login has at most four, but the
/// server also knows the replaced ones.
const MAX_SECRETS: usize = 32;

/// A future that resolves when a load, a renewal or a login has ended.
pub(super) type Ended = oneshot::Receiver<()>;

/// The state that all connections to one server share, behind a lock that no task holds while it waits.
pub(super) struct State {
    pub(super) access: Access,
    /// Notifies the connections when [`Access::context`] changes.
    pub(super) context: AuthorizationContext,
    pub(super) dpop_key: Option<Arc<dyn Signer>>,
    /// The client that has requested the token. `None` without a token, and for grants without a user.
    client: Option<ClientInformation>,
    /// The challenge of the last refusal, or `None` if the server has sent no challenge.
    pub(super) challenge: Option<BearerChallenge>,
    /// Whether a request has needed a login with more scopes. From then on, `access` must know which operations succeed.
    pub(super) has_stepped_up: bool,
    /// Number of consecutive failed renewals. It decides when the discovery runs again.
    pub(super) failed_renewals: u32,
    /// Whether the stored token and the DPoP key have been loaded.
    pub(super) is_loaded: bool,
    /// The tokens and client secrets of this authorizer, also replaced ones, the newest last. At most [`MAX_SECRETS`].
    pub(super) secrets: Vec<Secret>,
    /// The tasks that run now, so that no task runs twice at a time.
    pub(super) running: Vec<Task>,
    /// The result of the last login, for the tasks that have waited for that login. `None` before the first login, while a login
    /// runs, and after a login that was given up.
    pub(super) last_login: Option<Result<LoginStatus, LoginError>>,
    /// The tasks that wait for the end of a load, a renewal or a login.
    pub(super) waiters: Waiters,
}

/// A task that runs once at a time for all connections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Loads the stored token and the DPoP key.
    Load,
    /// Logs the user in.
    Login,
    /// Renews the token. [`Access`] lets one renewal run at a time.
    Renewal(RenewalId),
}

impl State {
    pub(super) fn new(server_url: &str, renews_by_grant: bool) -> Self {
        State {
            access: Access::new(server_url).renews_by_grant(renews_by_grant),
            context: AuthorizationContext::new(),
            dpop_key: None,
            client: None,
            challenge: None,
            has_stepped_up: false,
            failed_renewals: 0,
            is_loaded: false,
            secrets: Vec::new(),
            running: Vec::new(),
            last_login: None,
            waiters: Waiters::default(),
        }
    }

    /// Adds the secrets of the current login to `secrets`, so that programs can redact them.
    pub(super) fn collect_secrets(&mut self) {
        let token = self.access.token().map(|token| [Some(&token.access_token), token.refresh_token.as_ref()]);
        let client = self.client.as_ref();
        let client = client.map(|client| [client.client_secret.as_ref(), client.registration_access_token.as_ref()]);
        for secret in token.into_iter().chain(client).flatten().flatten() {
            if !self.secrets.contains(secret) {
                self.secrets.push(secret.clone());
            }
        }
        self.secrets.drain(..self.secrets.len().saturating_sub(MAX_SECRETS));
    }

    /// Sets the DPoP key and the stored login that were loaded. Each is `None` if it does not exist.
    ///
    /// A second call has no effect, because the state may then be newer than the store.
    pub(super) fn set_loaded(&mut self, key: Option<Arc<dyn Signer>>, grant: Option<Grant>) {
        if mem::replace(&mut self.is_loaded, true) {
            return;
        }
        self.access.set_dpop(key.as_ref().and_then(Signer::public_key).map(Dpop::new));
        self.dpop_key = key;
        // A stored token that cannot be used is ignored: the server then asks for a login.
        let _ = grant.map(|grant| self.replace(grant));
    }

    /// Returns the current token with its client, or `None` without a token.
    pub(super) fn grant(&self) -> Option<Grant> {
        Some(Grant { token: self.access.token()?.clone(), client: self.client.clone() })
    }

    /// Uses this token and its client from now on. Fails if the token cannot be sent to the server.
    pub(super) fn replace(&mut self, Grant { token, client }: Grant) -> Result<(), oauth::Error> {
        self.access.replace(token)?;
        self.client = client;
        Ok(())
    }

    /// Uses the result of a renewal. A result that comes after a logout or another login is dropped.
    pub(super) fn renewed(&mut self, renewal: RenewalId, result: Result<Grant, oauth::Error>, now: UnixTime) {
        let new = result.as_ref().ok().cloned();
        let is_used = self.access.renewed(renewal, result.map(|grant| grant.token), now);
        // [`Access`] does not use a token that cannot be sent to the server. The client must belong to the token in use.
        if let Some(Grant { token, client }) = new
            && is_used
            && self.access.token() == Some(&token)
        {
            self.client = client;
        }
    }

    /// Forgets the token and its client. Returns both, or `None` if there was no token.
    pub(super) fn forget(&mut self) -> Option<Grant> {
        let known = self.grant();
        self.client = None;
        self.access.forget();
        known
    }

    /// Returns the credentials of a request, or `None` if the request must wait until a renewal has ended.
    ///
    /// Also returns the renewal that the caller must start, or `None` if no renewal is to start.
    pub(super) fn credentials(
        &mut self,
        method: &str,
        url: &str,
        now: UnixTime,
    ) -> Result<(Option<Credentials>, Option<RenewalId>), LoginError> {
        let (id, needs_proof, start_renewal) = match self.access.authorize(now) {
            Authorization::Anonymous => return Ok((Some(Credentials::none()), None)),
            Authorization::Wait { start_renewal } => return Ok((None, self.started(start_renewal))),
            Authorization::Failed(error) => return Err(error.into()),
            Authorization::Send { credential, start_renewal } => (credential.id, credential.needs_proof, start_renewal),
            _ => return Err(unknown_step()),
        };
        let token = &self.access.token().ok_or_else(unknown_step)?.access_token;
        let credentials = if needs_proof {
            let key = self.dpop_key.as_ref().ok_or_else(unknown_step)?;
            let proof = self.access.begin_proof(method, url, now, &mut new_entropy()?).ok_or_else(unknown_step)?;
            let signature = key.sign(proof.signing_input())?;
            Credentials::dpop(token.expose(), &proof.finish(&signature))
        } else {
            Credentials::bearer(token.expose())
        };
        let mut credentials = credentials.map_err(|error| oauth::Error::login_required(error.to_string()))?;
        credentials.id = id.get();
        Ok((Some(credentials), self.started(start_renewal)))
    }

    /// Returns the renewal that the caller must run, or `None` if `start_renewal` is `false`.
    pub(super) fn started(&self, start_renewal: bool) -> Option<RenewalId> {
        self.access.running_renewal().filter(|_| start_renewal)
    }

    /// Decides how to react to a refused request. `challenge` is the `WWW-Authenticate` challenge of the response, if any.
    ///
    /// Remembers the challenge, the DPoP nonce and the time of the server for the next request.
    pub(super) fn refused(
        &mut self,
        refusal: &Refusal<'_>,
        challenge: Option<&BearerChallenge>,
        now: UnixTime,
    ) -> Decision {
        let value = |name| refusal.response.values(name).next();
        let url = refusal.request.url();
        let has_new_nonce = value("dpop-nonce").is_some_and(|nonce| self.access.take_nonce(url, &nonce));
        let has_new_time = value("date")
            .zip(challenge)
            .is_some_and(|(date, challenge)| self.access.take_date(url, challenge, &date, now));
        self.challenge = challenge.cloned().or(self.challenge.take());
        let refusal = oauth::Refusal {
            status: refusal.response.status,
            challenge,
            sent: (refusal.sent.id != 0).then(|| TokenId::from_number(refusal.sent.id)),
            repeats: refusal.attempts - 1,
            has_new_nonce: has_new_nonce || has_new_time,
            operation: &refusal.request.operation(),
        };
        let decision = self.access.refused(&refusal, now);
        self.has_stepped_up |= matches!(decision, Decision::StepUp { .. });
        decision
    }
}

/// Creates the error for a step that this version of the program does not know.
fn unknown_step() -> LoginError {
    oauth::Error::temporary("this version does not know the next step").into()
}
