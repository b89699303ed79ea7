//! [`Shared`]: what the connections to one server share.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use mcpwire_driver::http::{AuthorizationContext, Credentials, Refusal};
use mcpwire_oauth as oauth;
use mcpwire_oauth::{
    Access, Authorization, BearerChallenge, ClientInformation, Decision, Dpop, Entropy, RenewalId, Secret, TokenId,
    UnixTime,
};

use crate::documents::Grant;
use crate::error::LoginError;
use crate::signer::Signer;
use crate::signing_key::random_seed;
use crate::status::LoginStatus;

/// Maximum number of secrets that are known at a time. A login has at most four. The server knows those that were replaced, too.
const MAX_SECRETS: usize = 32;

/// A value that resolves when another task has ended what it does.
pub(super) type Ended = oneshot::Receiver<()>;

/// What the connections to one server share, behind a lock that nobody holds while he waits.
pub(super) struct Shared(Mutex<State>);

pub(super) struct State {
    pub(super) access: Access,
    /// Tells the connections when [`Access::context`] changes.
    pub(super) context: AuthorizationContext,
    seen_context: u64,
    pub(super) dpop_key: Option<Arc<dyn Signer>>,
    /// The client that has requested the token.
    pub(super) client: Option<ClientInformation>,
    /// The challenge of the last refusal.
    pub(super) challenge: Option<BearerChallenge>,
    /// Whether a login was asked for more scopes, so that the success of an operation must be counted.
    pub(super) has_stepped_up: bool,
    load: Load,
    /// The tokens and client secrets of this authorizer, the newest last, with some that were replaced.
    secrets: VecDeque<Secret>,
    pub(super) is_logging_in: bool,
    /// How the last login has ended, for those who waited for it.
    pub(super) last_login: Option<Result<LoginStatus, LoginError>>,
    waiting: Vec<oneshot::Sender<()>>,
}

/// Whether the stored token has been loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Needed,
    Running,
    Done,
}

/// What a caller does that needs the stored token.
pub(super) enum Next<'s> {
    /// It is loaded.
    Ready,
    /// Another task loads it.
    Wait(Ended),
    /// The caller loads it.
    Start(Loading<'s>),
}

/// The right to load the stored token. Dropping it lets another task do it.
pub(super) struct Loading<'s>(&'s Shared);

/// How a request is sent.
pub(super) enum Answer {
    /// With these credentials.
    Send { credentials: Credentials, renewal_to_start: Option<RenewalId> },
    /// When the renewal has ended.
    Wait { renewal_to_start: Option<RenewalId>, waiting: Ended },
}

impl Shared {
    pub(super) fn new(server_url: &str, renews_by_grant: bool) -> Self {
        Shared(Mutex::new(State {
            access: Access::new(server_url).renews_by_grant(renews_by_grant),
            context: AuthorizationContext::new(),
            seen_context: 0,
            dpop_key: None,
            client: None,
            challenge: None,
            has_stepped_up: false,
            load: Load::Needed,
            secrets: VecDeque::new(),
            is_logging_in: false,
            last_login: None,
            waiting: Vec::new(),
        }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all who wait.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (result, waiting) = {
            let mut state = self.lock();
            let result = change(&mut state);
            state.collect_secrets();
            state.tell_context();
            (result, std::mem::take(&mut state.waiting))
        };
        // Woken without the lock: a waker may run code of the program.
        for sender in waiting {
            let _ = sender.send(());
        }
        result
    }

    /// Returns the credentials of a request if the stored token has been loaded, and nobody has to do anything else first.
    pub(super) fn ready_credentials(&self, method: &str, url: &str, now: UnixTime) -> Option<Credentials> {
        let mut state = self.lock();
        if state.load != Load::Done || !state.access.is_ready(now) {
            return None;
        }
        match state.credentials(method, url, now) {
            Ok(Answer::Send { credentials, renewal_to_start: None }) => Some(credentials),
            _ => None,
        }
    }

    pub(super) fn begin_load(&self) -> Next<'_> {
        let mut state = self.lock();
        match state.load {
            Load::Done => Next::Ready,
            Load::Running => Next::Wait(state.wait()),
            Load::Needed => {
                state.load = Load::Running;
                Next::Start(Loading(self))
            }
        }
    }
}

impl Loading<'_> {
    pub(super) fn finish(self, key: Option<Arc<dyn Signer>>, grant: Option<Grant>) {
        self.0.change(|state| {
            let dpop = key.as_ref().and_then(Signer::public_key).map(Dpop::new);
            state.access.set_dpop(dpop);
            state.dpop_key = key;
            if let Some(Grant { token, client }) = grant
                // A token that cannot be used is as none: the server then asks for a login.
                && state.access.replace(token).is_ok()
            {
                state.client = client;
            }
            state.load = Load::Done;
        });
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            if state.load == Load::Running {
                state.load = Load::Needed;
            }
        });
    }
}

impl State {
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.iter()
    }

    /// Tells the connections if the authorization has changed. Nobody gets the new credentials before: the state is locked.
    fn tell_context(&mut self) {
        let context = self.access.context();
        if std::mem::replace(&mut self.seen_context, context) != context {
            self.context.change();
        }
    }

    /// Adds the secrets of the current login to those that are known.
    fn collect_secrets(&mut self) {
        let token = self.access.token();
        let tokens = token.into_iter().flat_map(|token| [Some(&token.access_token), token.refresh_token.as_ref()]);
        let client = self.client.iter();
        let of_client =
            client.flat_map(|client| [client.client_secret.as_ref(), client.registration_access_token.as_ref()]);
        for secret in tokens.chain(of_client).flatten() {
            if !self.secrets.contains(secret) {
                self.secrets.push_back(secret.clone());
            }
        }
        while self.secrets.len() > MAX_SECRETS {
            self.secrets.pop_front();
        }
    }

    /// Returns the token with its client.
    pub(super) fn grant(&self) -> Option<Grant> {
        Some(Grant { token: self.access.token()?.clone(), client: self.client.clone() })
    }

    fn wait(&mut self) -> Ended {
        let (sender, receiver) = oneshot::channel();
        self.waiting.retain(|sender| !sender.is_canceled());
        self.waiting.push(sender);
        receiver
    }

    /// Returns a future that resolves when a renewal, a login or a load has ended.
    pub(super) fn wait_for_renewal(&mut self) -> Ended {
        self.wait()
    }

    pub(super) fn credentials(&mut self, method: &str, url: &str, now: UnixTime) -> Result<Answer, LoginError> {
        let (id, header, start_renewal) = match self.access.authorize(now) {
            Authorization::Anonymous => {
                return Ok(Answer::Send { credentials: Credentials::none(), renewal_to_start: None });
            }
            Authorization::Wait { start_renewal } => {
                return Ok(Answer::Wait { renewal_to_start: self.started(start_renewal), waiting: self.wait() });
            }
            Authorization::Failed(error) => return Err(error.into()),
            Authorization::Send { credential, start_renewal } if !credential.needs_proof => {
                let mut credentials =
                    Credentials::bearer(without_scheme(credential.header)).map_err(|error| invalid_token(&*error))?;
                credentials.id = credential.id.get();
                return Ok(Answer::Send { credentials, renewal_to_start: self.started(start_renewal) });
            }
            Authorization::Send { credential, start_renewal } => {
                (credential.id, credential.header.clone(), start_renewal)
            }
            _ => return Err(unknown_step()),
        };
        let key = self.dpop_key.as_ref().ok_or_else(unknown_step)?;
        let mut entropy = Entropy::new(random_seed()?);
        let proof = self.access.begin_proof(method, url, now, &mut entropy).ok_or_else(unknown_step)?;
        let signature = key.sign(proof.signing_input())?;
        let mut credentials = Credentials::dpop(without_scheme(&header), &proof.finish(&signature))
            .map_err(|error| invalid_token(&*error))?;
        credentials.id = id.get();
        Ok(Answer::Send { credentials, renewal_to_start: self.started(start_renewal) })
    }

    /// Returns the renewal that the caller must run, if one has just been started.
    pub(super) fn started(&self, start_renewal: bool) -> Option<RenewalId> {
        self.access.running_renewal().filter(|_| start_renewal)
    }

    pub(super) fn refused(
        &mut self,
        refusal: &Refusal<'_>,
        challenge: Option<&BearerChallenge>,
        has_new_nonce: bool,
        operation: &str,
        now: UnixTime,
    ) -> Decision {
        self.challenge = challenge.cloned().or(self.challenge.take());
        let refusal = oauth::Refusal {
            status: refusal.response.status,
            challenge,
            sent: (refusal.sent.id != 0).then(|| TokenId::from_number(refusal.sent.id)),
            repeats: refusal.attempts - 1,
            has_new_nonce,
            operation,
        };
        let decision = self.access.refused(&refusal, now);
        self.has_stepped_up |= matches!(decision, Decision::StepUp { .. });
        decision
    }
}

/// Returns the token in the value of a header `Authorization`.
fn without_scheme(header: &Secret) -> &str {
    header.expose().split_once(' ').unwrap_or_default().1
}

fn invalid_token(error: &dyn Error) -> LoginError {
    oauth::Error::login_required(error.to_string()).into()
}

/// The error of a step that this version of the program does not know.
fn unknown_step() -> LoginError {
    oauth::Error::temporary("this version does not know the next step").into()
}
