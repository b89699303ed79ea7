//! [`Inner`]: what the clones of an [`OAuth`](super::OAuth) share.

use std::future::Future;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth as oauth;
use mcpwire_oauth::{Discovered, Discovery, Entropy, Error, Flow, OAuthSettings, Scopes, StoredToken, UnixTime};

use super::machine_grants::MachineGrant;
use super::state::{Shared, Task};
use crate::documents::Documents;
use crate::error::{LoginError, LoginRequired};
use crate::flow_runner::{FlowKeys, FlowRunner, now, within};
use crate::in_flight::{InFlight, InFlightRequest, OneUseRequest, Owner, SETTLE_TIMEOUT, UnsettledLogin};
use crate::prompt::LoginPrompt;
use crate::signing_key::{KeyError, Signer, random_seed};

/// Why a login is required.
pub(super) const NO_PROMPT: &str = "this program cannot ask a user";
pub(super) const NO_TOKEN: &str = "no token is stored";

/// What the clones of an [`OAuth`](super::OAuth) share.
pub(super) struct Inner {
    pub(super) server_url: String,
    pub(super) account: String,
    pub(super) settings: OAuthSettings,
    pub(super) runner: FlowRunner,
    /// The runtime of the connections and of the user's prompt.
    pub(super) runtime: Arc<dyn Runtime>,
    /// The runtime of what must not be lost when `runtime` ends.
    pub(super) process_runtime: Arc<dyn Runtime>,
    /// The name of the server in the program.
    pub(super) name: Option<String>,
    pub(super) owner: Owner,
    pub(super) documents: Documents,
    pub(super) prompt: Option<Arc<dyn LoginPrompt>>,
    pub(super) grant: Option<MachineGrant>,
    pub(super) client_key: Option<(oauth::ClientKey, Arc<dyn Signer>)>,
    /// The key of the program to which tokens are bound. Without it, one is created and kept in the store.
    pub(super) dpop_key: Option<Arc<dyn Signer>>,
    pub(super) uses_dpop: bool,
    pub(super) shared: Shared,
}

impl Inner {
    /// Loads the stored token and the key at the first time.
    pub(super) async fn ensure_loaded(&self) -> Result<(), LoginError> {
        self.load(false).await
    }

    /// Loads the key at the first time, and the stored token if it can be read: a login replaces a token that cannot.
    pub(super) async fn ensure_loaded_for_login(&self) -> Result<(), LoginError> {
        // A login that cannot be stored is not begun.
        self.documents.check_save().await?;
        self.documents.check_versions().await?;
        self.load(true).await
    }

    /// Loads the key and the stored token at the first time. `is_damage_ignored` says whether a stored token that cannot be read is
    /// treated as missing.
    pub(super) async fn load(&self, is_damage_ignored: bool) -> Result<(), LoginError> {
        while !self.shared.lock().is_loaded {
            match self.shared.begin(Task::Load) {
                Ok(_running) => {
                    let key = if self.uses_dpop { Some(self.load_dpop_key().await?) } else { None };
                    let grant = match self.documents.load().await {
                        Err(_) if is_damage_ignored => None,
                        loaded => loaded?,
                    };
                    self.shared.change(|state| state.set_loaded(key, grant));
                }
                Err(ended) => {
                    let _ = ended.await;
                }
            }
        }
        Ok(())
    }

    async fn load_dpop_key(&self) -> Result<Arc<dyn Signer>, LoginError> {
        let Some(key) = &self.dpop_key else { return Ok(Arc::new(self.documents.dpop_key().await?)) };
        // Without its public key, tokens would silently not be bound.
        if key.public_key().is_none() {
            return Err(KeyError::NotForDpop.into());
        }
        Ok(Arc::clone(key))
    }

    pub(super) fn keys(&self) -> FlowKeys {
        FlowKeys {
            client: self.client_key.as_ref().map(|(_, key)| Arc::clone(key)),
            dpop: self.shared.lock().dpop_key.clone(),
        }
    }

    /// Returns the time by the runtime's clock.
    pub(super) fn now(&self) -> UnixTime {
        now(&*self.runtime)
    }

    pub(super) fn login_required(&self, scopes: Option<Scopes>, reason: &str) -> LoginRequired {
        LoginRequired {
            server_url: self.server_url.clone(),
            account: self.account.clone(),
            scopes,
            reason: reason.to_owned(),
        }
    }

    /// Registers a request whose response replaces a credential that works once. Fails if the program ends.
    pub(super) fn begin_request(&self, request: OneUseRequest) -> Result<InFlightRequest, LoginError> {
        let login = UnsettledLogin {
            server: self.name.clone(),
            server_url: self.server_url.clone(),
            account: self.account.clone(),
            request,
        };
        InFlight::of_process().begin(self.owner, login).ok_or(LoginError::ProgramEnds)
    }

    /// Runs a part of a login that uses up a credential, with the write of its result. The part goes on when its caller gives up, and
    /// when the runtime of the connections ends.
    pub(super) async fn to_the_end<T, F>(
        self: &Arc<Self>,
        request: OneUseRequest,
        part: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, LoginError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, LoginError>> + Send + 'static,
    {
        let in_flight = self.begin_request(request)?;
        let part = part(Arc::clone(self));
        let result = spawn(&*self.process_runtime, async move {
            let result = part.await;
            drop(in_flight);
            result
        });
        result.await.unwrap_or(Err(LoginError::ProgramEnds))
    }

    /// Waits until the requests of this value have ended, but no longer than [`SETTLE_TIMEOUT`].
    pub(super) async fn settle(&self) -> Result<(), LoginError> {
        let registry = InFlight::of_process();
        let all_ended = async {
            while let Some(end) = registry.next_end(self.owner) {
                let _ = end.await;
            }
        };
        match within(&*self.runtime, SETTLE_TIMEOUT, all_ended).await {
            Some(()) => Ok(()),
            None => registry.give_up(self.owner).map_or(Ok(()), |login| Err(LoginError::Unsettled(login))),
        }
    }

    /// Returns the description of the key by which the client authenticates, or `None` if the program has set none.
    pub(super) fn client_key(&self) -> Option<&oauth::ClientKey> {
        self.client_key.as_ref().map(|(description, _)| description)
    }

    /// Returns the key of the tokens and the known nonces.
    pub(super) fn dpop(&self) -> Option<oauth::Dpop> {
        self.shared.lock().access.dpop().cloned()
    }

    /// Returns the token that requests contain now, or `None` without one.
    pub(super) fn token(&self) -> Option<StoredToken> {
        self.shared.lock().access.token().cloned()
    }

    /// Finds the authorization server. If the server names several ones, the issuer of the token `known` is preferred.
    pub(super) async fn discover(&self, known: Option<&StoredToken>) -> Result<Discovered, LoginError> {
        let challenge = self.shared.lock().challenge.clone();
        let mut discovery = Discovery::new(&self.server_url, challenge.as_ref(), &self.settings);
        if let Some(token) = known {
            discovery = discovery.prefer_issuer(&token.endpoint.issuer);
        }
        Ok(self.run(discovery).await?)
    }

    /// Runs a flow to its end, with the keys of the client and the tokens.
    pub(super) async fn run<F: Flow + Send>(&self, flow: F) -> Result<F::Output, Error> {
        self.runner.run(flow, &self.keys()).await
    }
}

/// Runs a future as a task of its own. The receiver fails if the runtime ends before the future.
pub(super) fn spawn<T: Send + 'static>(
    runtime: &dyn Runtime,
    future: impl Future<Output = T> + Send + 'static,
) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    runtime.spawn(Box::pin(async move {
        // The caller may have given up.
        let _ = sender.send(future.await);
    }));
    receiver
}

/// Returns unpredictable values for one flow.
pub(super) fn new_entropy() -> Result<Entropy, LoginError> {
    Ok(Entropy::new(random_seed()?))
}
