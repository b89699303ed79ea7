//! [`Inner`]: what the clones of an [`OAuth`](super::OAuth) share.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use mcpwire_driver::Runtime;
use mcpwire_oauth as oauth;
use mcpwire_oauth::{Discovered, Discovery, Entropy, Error, Flow, OAuthSettings, Scopes, UnixTime};

use super::state::{Next, Shared};
use crate::browser::LoginPrompt;
use crate::documents::Documents;
use crate::error::{LoginError, LoginRequired};
use crate::machine::MachineGrant;
use crate::run::{FlowKeys, FlowRunner, now};
use crate::signer::Signer;
use crate::signing_key::{KeyError, random_seed};

/// Why a login is required.
pub(super) const NO_PROMPT: &str = "this program cannot ask a user";
pub(super) const NO_TOKEN: &str = "there is no stored login";
pub(super) const TOKEN_REFUSED: &str = "the server refuses the stored token";
pub(super) const MORE_SCOPES: &str = "the stored token lacks them";

/// What the clones of an [`OAuth`](super::OAuth) share.
pub(super) struct Inner {
    pub(super) server_url: String,
    pub(super) account: String,
    pub(super) settings: OAuthSettings,
    pub(super) runner: FlowRunner,
    pub(super) runtime: Arc<dyn Runtime>,
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
