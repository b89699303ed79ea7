//! [`OAuth`]: the authorizer of one account on one server, its state, and the tasks that change the state.

use std::fmt;
use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth as oauth;
use mcpwire_oauth::{Discovered, Discovery, Error, Flow, OAuthSettings, Scopes, Secret, StoredToken, UnixTime};
use mcpwire_text::url::without_query;

use super::login_request::LoginStatus;
use super::machine_grant::MachineGrant;
use super::state::{Ended, State, Task};
use crate::documents::Documents;
use crate::error::{LoginError, LoginRequired};
use crate::flow_runner::{FlowKeys, FlowRunner, now, within};
use crate::in_flight::{InFlightRequest, OF_PROCESS, OneUseRequest, Owner, SETTLE_TIMEOUT, UnsettledLogin};
use crate::prompt::LoginPrompt;
use crate::signing_key::{KeyError, Signer};

/// Authorizes the requests to one MCP server with OAuth.
///
/// It sends the stored token, refreshes it before it expires and when the server refuses it, and logs a user in if a
/// [`LoginPrompt`] is set. Without a prompt, requests that need a login fail at once. Use one `OAuth` for all connections to a
/// server, so that they share one token and refresh it once. Clones share their state.
#[derive(Clone)]
pub struct OAuth(pub(super) Arc<Inner>);

impl OAuth {
    /// Returns the status of the stored login, or `None` if no login is stored. This reads the store only, and sends no request.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn status(&self) -> Result<Option<LoginStatus>, LoginError> {
        let grant = self.0.documents.load().await?;
        Ok(grant.map(|grant| LoginStatus::new(&grant, &self.0.options.account)))
    }

    /// Asks whether the MCP server, or the origin of its URL, publishes the metadata of an authorization server.
    ///
    /// If `false`, and the server answers requests without a token, no login is needed.
    ///
    /// # Errors
    /// If the metadata cannot be read, or is not trusted.
    pub async fn has_authorization_server(&self) -> Result<bool, LoginError> {
        Ok(!self.discover(None).await?.is_assumed())
    }

    /// Waits until this authorizer has stored the responses to all requests that use up a credential, such as a token refresh.
    /// Waits at most 10 s.
    ///
    /// Many authorization servers accept a refresh token once, and revoke the login if they receive it again. Call this before
    /// the program ends, or [`settle_logins`](crate::settle_logins) for all logins. The `shutdown` of a client with this
    /// authorizer calls it, too. Dropping clients or their runtime loses nothing, as long as the process runs.
    ///
    /// # Errors
    /// If a request has not ended in time. The request goes on, but the login is lost if the program ends before its response is
    /// stored.
    pub async fn settle(&self) -> Result<(), LoginError> {
        let all_ended = async {
            while let Some(end) = OF_PROCESS.next_end(self.0.owner) {
                let _ = end.await;
            }
        };
        match within(&*self.0.runtime, SETTLE_TIMEOUT, all_ended).await {
            Some(()) => Ok(()),
            None => OF_PROCESS.give_up(self.0.owner).map_or(Ok(()), |login| Err(LoginError::Unsettled(login))),
        }
    }

    /// Returns the tokens and client secrets that this authorizer uses, and replaced ones, at most 32 in all. Programs redact
    /// them in their output, because servers may repeat secrets in messages.
    pub fn secrets(&self) -> Vec<Secret> {
        self.lock().secrets.clone()
    }

    /// Returns the URL of the MCP server.
    pub fn server_url(&self) -> &str {
        &self.0.server_url
    }

    /// Returns the name of the user's account. Empty if the user has one account on the server.
    pub fn account(&self) -> &str {
        &self.0.options.account
    }
}

/// The reason for a required login if the store contains no token.
pub(super) const NO_TOKEN: &str = "no token is stored";

/// The settings and the state that all clones of an [`OAuth`] share.
pub(super) struct Inner {
    pub(super) server_url: String,
    pub(super) options: Options,
    pub(super) runner: FlowRunner,
    /// The runtime that runs the connections and the login prompt.
    pub(super) runtime: Arc<dyn Runtime>,
    /// The runtime for work that must go on when `runtime` ends, such as token refreshes.
    pub(super) process_runtime: Arc<dyn Runtime>,
    /// The name of the server in the program, for errors. `None` if the server has no name.
    pub(super) name: Option<String>,
    pub(super) owner: Owner,
    pub(super) documents: Documents,
    pub(super) state: Mutex<State>,
}

/// What the program has set for its logins, as the methods of [`OAuthBuilder`](super::OAuthBuilder) describe it.
pub(super) struct Options {
    pub(super) account: String,
    pub(super) settings: OAuthSettings,
    pub(super) prompt: Option<Arc<dyn LoginPrompt>>,
    pub(super) grant: Option<MachineGrant>,
    /// The key by which the client authenticates, with its description.
    pub(super) client_key: Option<(oauth::ClientKey, Arc<dyn Signer>)>,
    /// The key to which tokens are bound (DPoP), if the program has set one. `None`: the authorizer creates a key and keeps it in
    /// the store.
    pub(super) dpop_key: Option<Arc<dyn Signer>>,
    pub(super) uses_dpop: bool,
}

impl Options {
    pub(super) fn new(settings: OAuthSettings) -> Self {
        let (account, prompt, grant, client_key, dpop_key) = (String::new(), None, None, None, None);
        Options { account, settings, prompt, grant, client_key, dpop_key, uses_dpop: false }
    }

    /// Returns the description of the key by which the client authenticates, or `None` without a key.
    pub(super) fn client_key(&self) -> Option<&oauth::ClientKey> {
        self.client_key.as_ref().map(|(description, _)| description)
    }
}

impl OAuth {
    /// Prepares a login: checks that the store can be written, and loads the DPoP key and the stored token. A stored token that
    /// cannot be read is ignored, because the login replaces it.
    pub(super) async fn load_for_login(&self) -> Result<(), LoginError> {
        // Fails before the user logs in, if the result of the login could not be stored.
        self.0.documents.check_save().await?;
        self.0.documents.check_versions().await?;
        self.load(true).await
    }

    /// Loads the DPoP key and the stored token, unless they are loaded already. If `is_damage_ignored`, a stored token that
    /// cannot be read is treated as missing.
    pub(super) async fn load(&self, is_damage_ignored: bool) -> Result<(), LoginError> {
        while !self.lock().is_loaded {
            match self.begin(Task::Load) {
                Ok(_running) => {
                    let key = if self.0.options.uses_dpop { Some(self.load_dpop_key().await?) } else { None };
                    let grant = match self.0.documents.load().await {
                        Err(_) if is_damage_ignored => None,
                        loaded => loaded?,
                    };
                    self.change(|state| state.set_loaded(key, grant));
                }
                Err(ended) => {
                    let _ = ended.await;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn load_dpop_key(&self) -> Result<Arc<dyn Signer>, LoginError> {
        let Some(key) = &self.0.options.dpop_key else { return Ok(Arc::new(self.0.documents.dpop_key().await?)) };
        // Without the public key of the signer, tokens would silently stay unbound.
        if key.public_key().is_none() {
            return Err(KeyError::NotForDpop.into());
        }
        Ok(Arc::clone(key))
    }

    pub(super) fn keys(&self) -> FlowKeys {
        let client = self.0.options.client_key.as_ref();
        FlowKeys { client: client.map(|(_, signer)| Arc::clone(signer)), dpop: self.lock().dpop_key.clone() }
    }

    /// Returns the current time, by the clock of the runtime.
    pub(super) fn now(&self) -> UnixTime {
        now(&*self.0.runtime)
    }

    pub(super) fn login_required(&self, scopes: Option<Scopes>, reason: &str) -> LoginRequired {
        let (server_url, account) = (self.0.server_url.clone(), self.0.options.account.clone());
        LoginRequired { server_url, account, scopes, reason: reason.to_owned() }
    }

    /// Registers a request that uses up a credential, so that the program waits for its response before it ends. Fails if the
    /// program is already ending.
    pub(super) fn begin_request(&self, request: OneUseRequest) -> Result<InFlightRequest, LoginError> {
        let login = UnsettledLogin {
            server: self.0.name.clone(),
            server_url: self.0.server_url.clone(),
            account: self.0.options.account.clone(),
            request,
        };
        OF_PROCESS.begin(self.0.owner, login).ok_or(LoginError::ProgramEnds)
    }

    /// Runs a step of a login that uses up a credential, up to the write of its result. The step continues when the caller drops
    /// this future, and when the runtime of the connections ends.
    pub(super) async fn to_the_end<T, F>(
        &self,
        request: OneUseRequest,
        part: impl FnOnce(Self) -> F,
    ) -> Result<T, LoginError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, LoginError>> + Send + 'static,
    {
        let in_flight = self.begin_request(request)?;
        let part = part(self.clone());
        let result = spawn(&*self.0.process_runtime, async move {
            let result = part.await;
            drop(in_flight);
            result
        });
        result.await.unwrap_or(Err(LoginError::ProgramEnds))
    }

    /// Returns the public key to which tokens are bound (DPoP) and the known nonces of servers, or `None` without DPoP.
    pub(super) fn dpop(&self) -> Option<oauth::Dpop> {
        self.lock().access.dpop().cloned()
    }

    /// Returns the token that requests send now, or `None` if no token is known.
    pub(super) fn token(&self) -> Option<StoredToken> {
        self.lock().access.token().cloned()
    }

    /// Finds the authorization server of the MCP server. If the MCP server names several, prefers the issuer of the token
    /// `known`.
    pub(super) async fn discover(&self, known: Option<&StoredToken>) -> Result<Discovered, LoginError> {
        let challenge = self.lock().challenge.clone();
        let mut discovery = Discovery::new(&self.0.server_url, challenge.as_ref(), &self.0.options.settings);
        if let Some(token) = known {
            discovery = discovery.prefer_issuer(&token.endpoint.issuer);
        }
        Ok(self.run(discovery).await?)
    }

    /// Runs a flow to its end, with the client's key and the DPoP key.
    pub(super) async fn run<F: Flow + Send>(&self, flow: F) -> Result<F::Output, Error> {
        self.0.runner.run(flow, &self.keys()).await
    }
}

/// Runs a future in a separate task. The receiver gets the output, and fails if the runtime ends before the future.
pub(super) fn spawn<T: Send + 'static>(
    runtime: &dyn Runtime,
    future: impl Future<Output = T> + Send + 'static,
) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    runtime.spawn(Box::pin(async move {
        // Fails if the caller has dropped the receiver.
        let _ = sender.send(future.await);
    }));
    receiver
}

/// Marks a task as running, so that no other caller runs the same task. Dropping it wakes the callers that wait for the task, and
/// allows to run the task again.
pub(super) struct Running {
    pub(super) oauth: OAuth,
    pub(super) task: Task,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.oauth.change(|state| {
            state.running.retain(|other| *other != self.task);
            if let Task::Renewal(renewal) = self.task {
                state.access.renewal_aborted(renewal);
            }
        });
    }
}

impl OAuth {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, tells the connections if the authorization has changed, and wakes all waiting tasks.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let context = state.access.context();
        let result = change(&mut state);
        state.collect_secrets();
        // No connection can get the new credentials before this line, because the state is still locked.
        if state.access.context() != context {
            state.context.change();
        }
        let waiters = mem::take(&mut state.waiters);
        drop(state);
        drop(waiters);
        result
    }

    /// Marks a task as running. The caller drops the result when the task has ended.
    ///
    /// # Errors
    /// If the task runs already. The error is a future that resolves when any task has ended.
    pub(super) fn begin(&self, task: Task) -> Result<Running, Ended> {
        let mut state = self.lock();
        if state.running.contains(&task) {
            return Err(state.waiters.wait());
        }
        state.running.push(task);
        if task == Task::Login {
            state.last_login = None;
        }
        Ok(Running { oauth: self.clone(), task })
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("server_url", &without_query(&self.0.server_url))
            .field("account", &self.0.options.account)
            .finish_non_exhaustive()
    }
}
