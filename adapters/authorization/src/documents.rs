//! [`Documents`]: the documents of one account on one server, in a [`TokenStore`].

use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth::{ClientInformation, StoredToken, TokenKey};
use serde::{Deserialize, Serialize};

use crate::signing_key::{KeyError, SigningKey};
use crate::store::{StoreFailed, StoreLock, TokenStore};
use mcpwire_oauth::SigningAlgorithm;

/// The documents of one account on one server.
#[derive(Clone)]
pub(crate) struct Documents {
    store: Arc<dyn TokenStore>,
    runtime: Arc<dyn Runtime>,
    /// Begins the names of the documents.
    name: String,
}

/// A token with the client that has requested it. Refreshes use the same client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) token: StoredToken,
    /// `None` for grants without a user, whose client is configured.
    pub(crate) client: Option<ClientInformation>,
}

impl Documents {
    pub(crate) fn new(store: Arc<dyn TokenStore>, runtime: Arc<dyn Runtime>, server_url: &str, account: &str) -> Self {
        let name = TokenKey::new(server_url, account).file_name();
        Documents { store, runtime, name }
    }

    pub(crate) async fn lock(&self) -> Result<StoreLock, StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| store.lock(&name)).await
    }

    pub(crate) async fn load(&self) -> Result<Option<Grant>, StoreFailed> {
        let name = self.token_name();
        let document = self.blocking(move |store| store.load(&name)).await?;
        document.map(|document| read(&document)).transpose()
    }

    pub(crate) async fn save(&self, grant: &Grant) -> Result<(), StoreFailed> {
        let (name, document) = (self.token_name(), write(grant)?);
        self.blocking(move |store| store.save(&name, &document)).await
    }

    pub(crate) async fn remove(&self) -> Result<(), StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| store.remove(&name)).await
    }

    /// Returns the login that waits for the user. One that cannot be read is as none.
    pub(crate) async fn load_attempt<T: for<'de> Deserialize<'de>>(&self) -> Result<Option<T>, StoreFailed> {
        let name = self.attempt_name();
        let document = self.blocking(move |store| store.load(&name)).await?;
        Ok(document.and_then(|document| read(&document).ok()))
    }

    pub(crate) async fn save_attempt(&self, attempt: &impl Serialize) -> Result<(), StoreFailed> {
        let (name, document) = (self.attempt_name(), write(attempt)?);
        self.blocking(move |store| store.save(&name, &document)).await
    }

    pub(crate) async fn remove_attempt(&self) -> Result<(), StoreFailed> {
        let name = self.attempt_name();
        self.blocking(move |store| store.remove(&name)).await
    }

    /// Returns the registration that was used last at this issuer.
    pub(crate) async fn load_client(&self, issuer: &str) -> Result<Option<ClientInformation>, StoreFailed> {
        let name = client_name(issuer);
        let document = self.blocking(move |store| store.load(&name)).await?;
        // A registration that cannot be read is replaced.
        Ok(document.and_then(|document| read(&document).ok()))
    }

    pub(crate) async fn save_client(&self, client: &ClientInformation) -> Result<(), StoreFailed> {
        let (name, document) = (client_name(&client.issuer), write(client)?);
        self.blocking(move |store| store.save(&name, &document)).await
    }

    pub(crate) async fn remove_client(&self, issuer: &str) -> Result<(), StoreFailed> {
        let name = client_name(issuer);
        self.blocking(move |store| store.remove(&name)).await
    }

    /// Returns the key of this account, and creates it at the first time.
    pub(crate) async fn dpop_key(&self) -> Result<SigningKey, StoreFailed> {
        let _lock = self.lock().await?;
        let name = format!("key-{}", self.name);
        self.blocking(move |store| {
            let failed = |error: KeyError| StoreFailed(error.to_string());
            if let Some(document) = store.load(&name)? {
                return SigningKey::from_pkcs8(&document, SigningAlgorithm::Es256).map_err(failed);
            }
            let (key, document) = SigningKey::generate().map_err(failed)?;
            store.save(&name, &document)?;
            Ok(key)
        })
        .await
    }

    fn token_name(&self) -> String {
        format!("token-{}", self.name)
    }

    fn attempt_name(&self) -> String {
        format!("login-{}", self.name)
    }

    /// Runs a function on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        function: impl FnOnce(&dyn TokenStore) -> Result<T, StoreFailed> + Send + 'static,
    ) -> Result<T, StoreFailed> {
        let (sender, receiver) = oneshot::channel();
        let store = Arc::clone(&self.store);
        self.runtime.spawn_blocking(Box::new(move || {
            // Nobody waits any more if the receiver is gone.
            let _ = sender.send(function(&*store));
        }));
        receiver
            .await
            .unwrap_or_else(|_| Err(StoreFailed("the store was not called, because no thread could be started".into())))
    }
}

fn client_name(issuer: &str) -> String {
    format!("client-{}", TokenKey::new(issuer, "").file_name())
}

fn read<T: for<'de> Deserialize<'de>>(document: &[u8]) -> Result<T, StoreFailed> {
    // The error would quote the document, which is secret.
    serde_json::from_slice(document).map_err(|_| StoreFailed("the stored login cannot be read. Log in again".into()))
}

fn write(document: &impl Serialize) -> Result<Vec<u8>, StoreFailed> {
    serde_json::to_vec(document).map_err(|_| StoreFailed("the login cannot be written as JSON".into()))
}
