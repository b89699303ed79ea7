//! [`OAuth`]: an [`Authorizer`] that gets, refreshes and stores the tokens of one server.

mod login;
mod machine_grants;
mod renewal;
mod state;

use std::fmt;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_driver::http::{
    AfterRefusal, AuthorizeFuture, AuthorizedRequest, Authorizer, Credentials, HttpClient, Refusal, RefusalFuture,
    ResponseHead, TokenError,
};
use mcpwire_oauth as oauth;
use mcpwire_oauth::{BearerChallenge, Decision, Entropy, OAuthSettings, Scopes};

use self::state::{Next, Shared};
use crate::browser::LoginPrompt;
use crate::documents::Documents;
use crate::machine::MachineGrant;
use crate::run::{FlowKeys, FlowRunner, now};
use crate::signing_key::{SigningKey, random_seed};
use crate::store::{MemoryStore, TokenStore};

/// Authorizes the requests to one MCP server with OAuth.
///
/// It sends the stored token, refreshes it before it expires and when the server refuses it, and logs a user in if a
/// [`LoginPrompt`] is set. Without a prompt, requests that need a login fail at once. Use one value for all connections to a
/// server: they then share one token, and refresh it once. Clones are the same value.
#[derive(Clone)]
pub struct OAuth(Arc<Inner>);

struct Inner {
    server_url: String,
    settings: OAuthSettings,
    runner: FlowRunner,
    runtime: Arc<dyn Runtime>,
    documents: Documents,
    prompt: Option<Arc<dyn LoginPrompt>>,
    grant: Option<MachineGrant>,
    client_key: Option<(oauth::ClientKey, Arc<SigningKey>)>,
    uses_dpop: bool,
    shared: Shared,
}

/// Builds an [`OAuth`].
pub struct OAuthBuilder {
    server_url: String,
    account: String,
    settings: OAuthSettings,
    store: Arc<dyn TokenStore>,
    prompt: Option<Arc<dyn LoginPrompt>>,
    grant: Option<MachineGrant>,
    client_key: Option<(oauth::ClientKey, Arc<SigningKey>)>,
    uses_dpop: bool,
}

impl OAuth {
    /// Begins an authorizer for the server at this URL. `client_name` is shown to users who log in.
    pub fn builder(server_url: impl Into<String>, client_name: impl Into<String>) -> OAuthBuilder {
        OAuthBuilder {
            server_url: server_url.into(),
            account: String::new(),
            settings: OAuthSettings::new(client_name, ""),
            store: Arc::new(MemoryStore::new()),
            prompt: None,
            grant: None,
            client_key: None,
            uses_dpop: false,
        }
    }

    /// Logs the user in now, whether or not there is a token.
    ///
    /// # Errors
    /// If there is no [`LoginPrompt`], or the login fails.
    pub async fn login(&self) -> Result<(), LoginError> {
        self.0.ensure_loaded().await?;
        Inner::login(&self.0, None, None).await
    }

    /// Deletes the token. The registration of the client is kept for the next login.
    ///
    /// # Errors
    /// If the token cannot be deleted.
    pub async fn logout(&self) -> Result<(), LoginError> {
        self.0.shared.lock().access.forget();
        Ok(self.0.documents.remove().await?)
    }
}

impl OAuthBuilder {
    /// Changes the settings of the flows: the client, its scopes, and what to do about servers that deviate from the specification.
    pub fn settings(mut self, change: impl FnOnce(OAuthSettings) -> OAuthSettings) -> Self {
        self.settings = change(self.settings);
        self
    }

    /// Names the account of the user, for users with several accounts on one server.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.account = account.into();
        self
    }

    /// Sets where tokens are kept. Default: in memory.
    pub fn store(mut self, store: impl TokenStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Lets users log in when a request needs it.
    pub fn prompt(mut self, prompt: impl LoginPrompt) -> Self {
        self.prompt = Some(Arc::new(prompt));
        self
    }

    /// Gets tokens without a user.
    pub fn machine_grant(mut self, grant: MachineGrant) -> Self {
        self.grant = Some(grant);
        self
    }

    /// Sets the key by which the client authenticates (`private_key_jwt`).
    pub fn client_key(mut self, description: oauth::ClientKey, key: SigningKey) -> Self {
        self.client_key = Some((description, Arc::new(key)));
        self
    }

    /// Binds tokens to a key (DPoP), and never sends one that is not bound. The key is created and kept in the store.
    pub fn dpop(mut self, dpop: bool) -> Self {
        self.uses_dpop = dpop;
        self.settings = self.settings.dpop_bound_tokens(dpop);
        self
    }

    /// Builds the authorizer on a runtime. `client` sends the requests to the authorization server, as
    /// [`FlowRunner::new`] describes.
    pub fn build(self, runtime: Arc<dyn Runtime>, client: Arc<dyn HttpClient>) -> OAuth {
        let documents = Documents::new(self.store, Arc::clone(&runtime), &self.server_url, &self.account);
        OAuth(Arc::new(Inner {
            shared: Shared::new(&self.server_url, self.grant.is_some()),
            server_url: self.server_url,
            settings: self.settings,
            runner: FlowRunner::new(Arc::clone(&runtime), client),
            runtime,
            documents,
            prompt: self.prompt,
            grant: self.grant,
            client_key: self.client_key,
            uses_dpop: self.uses_dpop,
        }))
    }
}

/// Why a login failed, or why a request needs one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// A flow failed.
    #[error("{0}")]
    Flow(#[from] oauth::Error),
    /// The store failed.
    #[error("the login cannot be stored or read: {0}")]
    Store(#[from] crate::store::StoreFailed),
    /// The user did not complete the login.
    #[error("{0}")]
    Prompt(String),
    /// A user must log in, and nobody can be asked.
    #[error("a user must log in first")]
    LoginRequired,
    /// The server wants a token with more scopes, and nobody can be asked to log in again.
    #[error("the server wants a token with other scopes: log in again with the scopes `{0}`")]
    ScopesRequired(Scopes),
    /// The key of the client or of the tokens cannot be used.
    #[error("{0}")]
    Key(#[from] crate::signing_key::KeyError),
    /// Another task has logged in at the same time, and has failed.
    #[error("another request has tried to log in at the same time, and failed")]
    OtherLoginFailed,
}

impl Inner {
    /// Loads the stored token and the key at the first time.
    async fn ensure_loaded(&self) -> Result<(), LoginError> {
        loop {
            match self.shared.begin_load() {
                Next::Ready => return Ok(()),
                Next::Wait(receiver) => {
                    let _ = receiver.await;
                }
                Next::Start(started) => {
                    let key = if self.uses_dpop { Some(Arc::new(self.documents.dpop_key().await?)) } else { None };
                    started.finish(key, self.documents.load().await?);
                }
            }
        }
    }

    fn keys(&self) -> FlowKeys {
        FlowKeys {
            client: self.client_key.as_ref().map(|(_, key)| Arc::clone(key)),
            dpop: self.shared.lock().dpop_key.clone(),
        }
    }

    async fn credentials(self: &Arc<Self>, request: AuthorizedRequest<'_>) -> Result<Credentials, LoginError> {
        self.ensure_loaded().await?;
        loop {
            let waiting = {
                let mut state = self.shared.lock();
                match state.credentials(request.verb(), request.url(), now(&*self.runtime))? {
                    state::Answer::Send { credentials, start_renewal } => {
                        drop(state);
                        if start_renewal {
                            renewal::spawn(self);
                        }
                        return Ok(credentials);
                    }
                    state::Answer::Wait { start_renewal } => {
                        let waiting = state.wait_for_renewal();
                        drop(state);
                        if start_renewal {
                            renewal::spawn(self);
                        }
                        waiting
                    }
                }
            };
            let _ = waiting.await;
        }
    }

    async fn after_refusal(self: &Arc<Self>, refusal: Refusal<'_>) -> Result<AfterRefusal, LoginError> {
        let headers: Vec<_> = refusal.response.values("www-authenticate").collect();
        let challenge = BearerChallenge::parse(headers.iter().map(|value| &**value));
        let nonce = refusal.response.values("dpop-nonce").next();
        let operation = refusal.request.operation();
        let (decision, waiting) = {
            let mut state = self.shared.lock();
            let has_new_nonce = nonce.is_some_and(|nonce| state.access.take_nonce(refusal.request.url(), &nonce));
            let decision = state.refused(&refusal, challenge.as_ref(), has_new_nonce, &operation, now(&*self.runtime));
            let waiting = matches!(decision, Decision::Renew { .. }).then(|| state.wait_for_renewal());
            (decision, waiting)
        };
        match decision {
            Decision::Repeat => {}
            Decision::Renew { start_renewal } => {
                if start_renewal {
                    renewal::spawn(self);
                }
                if let Some(waiting) = waiting {
                    let _ = waiting.await;
                }
            }
            // Another process may have logged in.
            Decision::StepUp { .. } | Decision::LoginRequired(_) if self.adopt_stored().await? => {}
            Decision::StepUp { scopes } if self.prompt.is_some() => {
                Inner::login(self, challenge.as_ref(), Some(scopes)).await?;
            }
            Decision::StepUp { scopes } => return Err(LoginError::ScopesRequired(scopes)),
            Decision::LoginRequired(_) if self.prompt.is_some() => {
                Inner::login(self, challenge.as_ref(), None).await?;
            }
            // Without a challenge the server may want something else than OAuth.
            Decision::LoginRequired(_) if challenge.is_none() => return Ok(AfterRefusal::GiveUp),
            Decision::LoginRequired(_) => return Err(LoginError::LoginRequired),
            Decision::Failed(error) => return Err(error.into()),
            _ => return Ok(AfterRefusal::GiveUp),
        }
        Ok(AfterRefusal::Repeat)
    }

    /// Returns how a client that is configured authenticates.
    fn configured_client(
        &self,
        client_id: &str,
        secret: Option<&oauth::Secret>,
        endpoint: &oauth::TokenEndpoint,
    ) -> Result<oauth::ClientAuthentication, LoginError> {
        let key = self.client_key.as_ref().map(|(description, _)| description);
        let methods = endpoint.auth_methods.as_deref();
        Ok(oauth::ClientAuthentication::choose(client_id, secret, key, None, methods)?)
    }

    /// Returns the key of the tokens and the known nonces.
    fn dpop(&self) -> Option<oauth::Dpop> {
        self.shared.lock().access.dpop().cloned()
    }
}

impl Authorizer for OAuth {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        Box::pin(async move { self.0.credentials(request).await.map_err(TokenError::from) })
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        Box::pin(async move { self.0.after_refusal(refusal).await.map_err(TokenError::from) })
    }

    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        // `refused` looks at the nonce of a refusal.
        if matches!(response.status, 401 | 403) {
            return;
        }
        let mut state = self.0.shared.lock();
        if state.dpop_key.is_some()
            && let Some(nonce) = response.values("dpop-nonce").next()
        {
            state.access.take_nonce(request.url(), &nonce);
        }
        if state.has_stepped_up && response.status < 400 {
            state.access.succeeded(&request.operation());
        }
    }
}

fn new_entropy() -> Result<Entropy, LoginError> {
    Ok(Entropy::new(random_seed()?))
}

/// A value that resolves when another task has ended what it does.
type Ended = oneshot::Receiver<()>;

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("server_url", &self.0.server_url).finish_non_exhaustive()
    }
}

impl fmt::Debug for OAuthBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthBuilder").field("server_url", &self.server_url).finish_non_exhaustive()
    }
}
