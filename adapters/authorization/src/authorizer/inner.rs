//! [`Inner`]: what the clones of an [`OAuth`](super::OAuth) share.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::task::Poll;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth as oauth;
use mcpwire_oauth::{Discovered, Discovery, Entropy, Error, Flow, OAuthSettings, Scopes, UnixTime};

use super::state::{Next, Shared};
use crate::browser::LoginPrompt;
use crate::documents::Documents;
use crate::error::{LoginError, LoginRequired};
use crate::in_flight::{InFlight, InFlightRequest, OneUseRequest, Owner, SETTLE_TIMEOUT, UnsettledLogin};
use crate::machine::MachineGrant;
use crate::run::{FlowKeys, FlowRunner, now};
use crate::signer::Signer;
use crate::signing_key::{KeyError, random_seed};

/// Why a login is required.
pub(super) const NO_PROMPT: &str = "this program cannot ask a user";
pub(super) const NO_TOKEN: &str = "no token is stored";
pub(super) const TOKEN_REFUSED: &str = "the server refuses the stored token";
pub(super) const MORE_SCOPES: &str = "the stored token lacks them";

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
    /// Number of renewals that have failed one after the other.
    pub(super) failed_renewals: AtomicU32,
    pub(super) shared: Shared,
}

impl Inner {
    /// Loads the stored token and the key at the first time.
    pub(super) async fn ensure_loaded(&self) -> Result<(), LoginError> {
        self.load(false).await
    }

    /// Loads the key at the first time, and the stored token if it can be read: a login replaces one that cannot.
    pub(super) async fn ensure_loaded_for_login(&self) -> Result<(), LoginError> {
        // A login that cannot be stored is not begun.
        self.documents.check_save().await?;
        self.documents.check_versions().await?;
        self.load(true).await
    }

    /// Loads the key and the stored token at the first time. `is_damage_ignored` says whether a token that cannot be read is as none.
    pub(super) async fn load(&self, is_damage_ignored: bool) -> Result<(), LoginError> {
        loop {
            match self.shared.begin_load() {
                Next::Ready => return Ok(()),
                Next::Wait(receiver) => {
                    let _ = receiver.await;
                }
                Next::Start(started) => {
                    let key = if self.uses_dpop { Some(self.load_dpop_key().await?) } else { None };
                    let grant = match self.documents.load().await {
                        Err(_) if is_damage_ignored => None,
                        loaded => loaded?,
                    };
                    started.finish(key, grant);
                }
            }
        }
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
    pub(super) async fn to_the_end<T: Send + 'static>(
        &self,
        request: OneUseRequest,
        part: impl Future<Output = Result<T, LoginError>> + Send + 'static,
    ) -> Result<T, LoginError> {
        let in_flight = self.begin_request(request)?;
        let (sender, receiver) = oneshot::channel();
        self.process_runtime.spawn(Box::pin(async move {
            let result = part.await;
            drop(in_flight);
            // The caller may have given up.
            let _ = sender.send(result);
        }));
        receiver.await.unwrap_or(Err(LoginError::ProgramEnds))
    }

    /// Waits until the requests of this value have ended, but no longer than [`SETTLE_TIMEOUT`].
    pub(super) async fn settle(&self) -> Result<(), LoginError> {
        let registry = InFlight::of_process();
        let mut timer = self.runtime.timer();
        timer.reset(SETTLE_TIMEOUT);
        while let Some(mut end) = registry.next_end(self.owner) {
            let in_time = poll_fn(|cx| match Pin::new(&mut end).poll(cx) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending => timer.poll(cx).map(|()| false),
            });
            if !in_time.await {
                return registry.give_up(self.owner).map_or(Ok(()), |login| Err(LoginError::Unsettled(login)));
            }
        }
        Ok(())
    }

    /// Returns how a client that is configured authenticates.
    pub(super) fn configured_client(
        &self,
        client_id: &str,
        secret: Option<&oauth::Secret>,
        endpoint: &oauth::TokenEndpoint,
    ) -> Result<oauth::ClientAuthentication, LoginError> {
        let key = self.client_key.as_ref().map(|(description, _)| description);
        let methods = endpoint.auth_methods.as_deref();
        Ok(oauth::ClientAuthentication::choose(client_id, secret, key, self.settings.auth_method_of_client(), methods)?)
    }

    /// Returns the key of the tokens and the known nonces.
    pub(super) fn dpop(&self) -> Option<oauth::Dpop> {
        self.shared.lock().access.dpop().cloned()
    }

    /// Finds the authorization server. `prefer` is the issuer of the stored token.
    pub(super) async fn discover(&self, prefer: Option<&str>) -> Result<Discovered, LoginError> {
        let challenge = self.shared.lock().challenge.clone();
        let mut discovery = Discovery::new(&self.server_url, challenge.as_ref(), &self.settings);
        if let Some(issuer) = prefer {
            discovery = discovery.prefer_issuer(issuer);
        }
        Ok(self.run(discovery).await?)
    }

    pub(super) async fn run<F: Flow + Send>(&self, flow: F) -> Result<F::Output, Error> {
        self.runner.run(flow, &self.keys()).await
    }
}

pub(super) fn new_entropy() -> Result<Entropy, LoginError> {
    Ok(Entropy::new(random_seed()?))
}
