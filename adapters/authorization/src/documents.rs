//! [`Documents`]: the documents of one account on one server, in a [`TokenStore`].
//!
//! | document | content |
//! |---|---|
//! | `token-HASH` | the login of an account on a server: its token and client, with the issuer of both |
//! | `login-HASH` | the login of that account that waits for the user |
//! | `key-HASH` | the private key to which the tokens of that account are bound |
//! | `client-HASH` | the registrations at one issuer |
//! | `issuer-HASH` | the issuer at which a client that somebody has registered was used; it outlives the login |
//! | `identity-HASH` | nothing: its lock is held while the login of a user at an identity provider is used |
//!
//! A refresh token belongs to one account, server and issuer. The document of a login is named by account and server, because
//! the issuer is known only after the document is read; the document names its issuer, and the token goes to no other one.

use std::io;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth::{ClientInformation, SigningAlgorithm, StoreError, StoredToken, TokenKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::format::{self, Versioned};
use crate::signing_key::{KeyError, SigningKey};
use crate::store::{StoreFailed, StoreLock, TokenStore};

/// Begins the names of documents that are private keys.
pub(crate) const KEY_PREFIX: &str = "key-";

/// Maximum number of registrations at one issuer. Each has another redirect URI: the settings of a server can name one.
const MAX_REGISTRATIONS: usize = 16;

/// The documents of one account on one server.
#[derive(Clone)]
pub(crate) struct Documents {
    store: Arc<dyn TokenStore>,
    runtime: Arc<dyn Runtime>,
    server_url: String,
    /// Ends the names of the documents.
    hash: String,
}

/// Returns the name of the document with the login of an account on a server, for [`TokenStore::revision`].
pub fn login_document(server_url: &str, account: &str) -> String {
    token_name(&TokenKey::new(server_url, account).file_name())
}

fn token_name(hash: &str) -> String {
    format!("token-{hash}")
}

/// A token with the client that has requested it. Refreshes use the same client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) token: StoredToken,
    /// `None` for grants without a user, whose client is configured.
    pub(crate) client: Option<ClientInformation>,
}

/// A [`Grant`] as it is read. The token has a version, which is checked first.
#[derive(Deserialize)]
struct StoredGrant<'d> {
    #[serde(borrow)]
    token: &'d RawValue,
    client: Option<ClientInformation>,
}

/// The registrations at one issuer, the one that was used last in front.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Registrations {
    clients: Vec<ClientInformation>,
}

/// The issuer at which a pre-registered client was used.
#[derive(Serialize, Deserialize)]
struct IssuerBinding {
    /// For people who read the file. The name of the document contains it, too.
    client_id: String,
    issuer: String,
}

impl Documents {
    pub(crate) fn new(store: Arc<dyn TokenStore>, runtime: Arc<dyn Runtime>, server_url: &str, account: &str) -> Self {
        let hash = TokenKey::new(server_url, account).file_name();
        Documents { store, runtime, server_url: server_url.to_owned(), hash }
    }

    pub(crate) async fn lock(&self) -> Result<StoreLock, StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| store.lock(&name)).await
    }

    /// Waits until no other process uses the login of a user at an identity provider.
    pub(crate) async fn lock_identity(&self, provider_url: &str, client_id: &str) -> Result<StoreLock, StoreFailed> {
        let name = format!("identity-{}", TokenKey::new(provider_url, client_id).file_name());
        self.blocking(move |store| store.lock(&name)).await
    }

    /// Returns the stored login.
    ///
    /// # Errors
    /// If the store fails, or the document is damaged, or its client is not one of the token's issuer.
    pub(crate) async fn load(&self) -> Result<Option<Grant>, StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| load_grant(store, &name)).await
    }

    /// Writes the login. The caller holds the lock, and has loaded the document since.
    pub(crate) async fn save(&self, grant: &Grant) -> Result<(), StoreFailed> {
        let (name, document) = (self.token_name(), write(grant)?);
        self.blocking(move |store| store.save(&name, &document)).await
    }

    /// Checks that the login can be written now.
    pub(crate) async fn check_save(&self) -> Result<(), StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| store.check_save(&name)).await
    }

    /// Checks that this version may replace or delete the documents of this account.
    ///
    /// # Errors
    /// If one of them is of a later version, or cannot be read.
    pub(crate) async fn check_versions(&self) -> Result<(), StoreFailed> {
        let names = [self.token_name(), self.attempt_name()];
        self.blocking(move |store| names.iter().try_for_each(|name| format::load(store, name).map(drop))).await
    }

    /// Writes a new login in the place of any other, also of a damaged one. Sets its generation.
    ///
    /// The generation is greater than all that other processes may know, also after a logout, so that they take the new login:
    /// it is at least the time of the login in microseconds. A refresh, which adds one, takes longer.
    pub(crate) async fn save_login(&self, grant: &mut Grant) -> Result<(), StoreFailed> {
        let name = self.token_name();
        let _lock = self.lock().await?;
        self.check_versions().await?;
        let stored = self.blocking(move |store| load_grant(store, &name)).await.ok().flatten();
        let after_stored = stored.map_or(0, |stored| stored.token.generation.saturating_add(1));
        let now = u64::try_from(self.runtime.unix_time().as_micros()).unwrap_or_default();
        grant.token.generation = grant.token.generation.max(after_stored).max(now);
        self.save(grant).await
    }

    pub(crate) async fn remove(&self) -> Result<(), StoreFailed> {
        let name = self.token_name();
        self.blocking(move |store| store.remove(&name)).await
    }

    /// Returns the login that waits for the user. One that cannot be read is as none.
    pub(crate) async fn load_attempt<T: DeserializeOwned>(&self) -> Result<Option<T>, StoreFailed> {
        let name = self.attempt_name();
        let document = self.blocking(move |store| format::load(store, &name)).await?;
        Ok(document.and_then(|document| read(&document).ok()))
    }

    pub(crate) async fn save_attempt(&self, attempt: &impl Serialize) -> Result<(), StoreFailed> {
        let (name, document) = (self.attempt_name(), write(&Versioned::new(attempt))?);
        self.blocking(move |store| {
            format::load(store, &name)?;
            store.save(&name, &document)
        })
        .await
    }

    pub(crate) async fn remove_attempt(&self) -> Result<(), StoreFailed> {
        let name = self.attempt_name();
        self.blocking(move |store| store.remove(&name)).await
    }

    /// Returns the registration at this issuer with this redirect URI, or the one that was used last if there is none.
    pub(crate) async fn load_client(
        &self,
        issuer: &str,
        redirect_uri: Option<&str>,
    ) -> Result<Option<ClientInformation>, StoreFailed> {
        let (issuer, redirect_uri) = (issuer.to_owned(), redirect_uri.map(str::to_owned));
        self.blocking(move |store| {
            let mut clients = load_registrations(store, &issuer)?.clients;
            let wanted = clients.iter().position(|client| Some(&client.redirect_uri) == redirect_uri.as_ref());
            Ok((!clients.is_empty()).then(|| clients.swap_remove(wanted.unwrap_or(0))))
        })
        .await
    }

    /// Keeps a registration for the next login, in the place of the one with the same redirect URI.
    pub(crate) async fn save_client(&self, client: &ClientInformation) -> Result<(), StoreFailed> {
        let client = client.clone();
        self.change_registrations(client.issuer.clone(), move |clients| {
            clients.retain(|other| other.redirect_uri != client.redirect_uri);
            clients.insert(0, client);
            clients.truncate(MAX_REGISTRATIONS);
        })
        .await
    }

    /// Deletes a registration that the issuer no longer knows.
    pub(crate) async fn remove_client(&self, issuer: &str, client_id: &str) -> Result<(), StoreFailed> {
        let client_id = client_id.to_owned();
        self.change_registrations(issuer.to_owned(), move |clients| {
            clients.retain(|client| client.client_id != client_id);
        })
        .await
    }

    async fn change_registrations(
        &self,
        issuer: String,
        change: impl FnOnce(&mut Vec<ClientInformation>) + Send + 'static,
    ) -> Result<(), StoreFailed> {
        self.blocking(move |store| {
            let name = client_name(&issuer);
            let _lock = store.lock(&name)?;
            let mut registrations = load_registrations(store, &issuer)?;
            change(&mut registrations.clients);
            if registrations.clients.is_empty() {
                return store.remove(&name);
            }
            store.save(&name, &write(&Versioned::new(&registrations))?)
        })
        .await
    }

    /// Returns the issuer at which a pre-registered client was used at this server, by any account of the user.
    pub(crate) async fn load_issuer(&self, client_id: &str) -> Result<Option<String>, StoreFailed> {
        let name = self.issuer_name(client_id);
        self.blocking(move |store| {
            let Some(document) = format::load(store, &name)? else { return Ok(None) };
            let failed = |error: StoreError| {
                StoreFailed(format!(
                    "{} cannot be used, which names the authorization server of a client: {error}",
                    store.locate(&name)
                ))
            };
            let binding: IssuerBinding = read(&document).map_err(failed)?;
            Ok(Some(binding.issuer))
        })
        .await
    }

    /// Remembers the issuer at which a pre-registered client is used at this server.
    pub(crate) async fn save_issuer(&self, client_id: &str, issuer: &str) -> Result<(), StoreFailed> {
        if self.load_issuer(client_id).await?.as_deref() == Some(issuer) {
            return Ok(());
        }
        let binding = IssuerBinding { client_id: client_id.to_owned(), issuer: issuer.to_owned() };
        let (name, document) = (self.issuer_name(client_id), write(&Versioned::new(&binding))?);
        self.blocking(move |store| {
            let _lock = store.lock(&name)?;
            store.save(&name, &document)
        })
        .await
    }

    /// Returns the key of this account, and creates it at the first time.
    pub(crate) async fn dpop_key(&self) -> Result<SigningKey, StoreFailed> {
        let _lock = self.lock().await?;
        let name = format!("{KEY_PREFIX}{}", self.hash);
        self.blocking(move |store| {
            if let Some(document) = format::load(store, &name)? {
                return SigningKey::from_pkcs8(&document, SigningAlgorithm::Es256).map_err(|_| {
                    StoreFailed(format!("the key in {} is damaged. Remove it and log in again", store.locate(&name)))
                });
            }
            let failed = |error: KeyError| StoreFailed(error.to_string());
            let (key, document) = SigningKey::generate().map_err(failed)?;
            let document = Zeroizing::new(document);
            store.save(&name, &document)?;
            Ok(key)
        })
        .await
    }

    fn issuer_name(&self, client_id: &str) -> String {
        format!("issuer-{}", TokenKey::new(&self.server_url, client_id).file_name())
    }

    fn token_name(&self) -> String {
        token_name(&self.hash)
    }

    fn attempt_name(&self) -> String {
        format!("login-{}", self.hash)
    }

    /// Runs a function on a thread that may block.
    pub(crate) async fn blocking<T: Send + 'static>(
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

fn load_grant(store: &dyn TokenStore, name: &str) -> Result<Option<Grant>, StoreFailed> {
    let Some(document) = format::load(store, name)? else { return Ok(None) };
    let failed =
        |error: StoreError| StoreFailed(format!("the login in {} cannot be used: {error}", store.locate(name)));
    let stored: StoredGrant<'_> = read(&document).map_err(failed)?;
    let token = StoredToken::from_bytes(stored.token.get().as_bytes()).map_err(failed)?;
    let client: Option<ClientInformation> = stored.client;
    // The refresh token goes only to the issuer that knows the client.
    if client.as_ref().is_some_and(|client| client.issuer != token.endpoint.issuer) {
        return Err(failed(StoreError::Damaged));
    }
    Ok(Some(Grant { token, client }))
}

/// Loads the registrations at this issuer. A document that cannot be read is replaced at the next login, which registers again.
fn load_registrations(store: &dyn TokenStore, issuer: &str) -> Result<Registrations, StoreFailed> {
    let document = format::load(store, &client_name(issuer))?;
    let mut registrations: Registrations = document.and_then(|document| read(&document).ok()).unwrap_or_default();
    registrations.clients.retain(|client| client.issuer == issuer);
    Ok(registrations)
}

fn client_name(issuer: &str) -> String {
    format!("client-{}", TokenKey::new(issuer, "").file_name())
}

fn read<'d, T: Deserialize<'d>>(document: &'d [u8]) -> Result<T, StoreError> {
    // The errors of the JSON reader are left out, because they may quote a secret.
    serde_json::from_slice(document).map_err(|_| StoreError::Damaged)
}

/// Writes a document, which is erased from memory when it is dropped.
fn write(document: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, StoreFailed> {
    let failed = |_| StoreFailed("the login cannot be written as JSON".into());
    let mut length = Length(0);
    serde_json::to_writer(&mut length, document).map_err(failed)?;
    // Long enough, so that it does not grow and leave copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(length.0));
    serde_json::to_writer(&mut *bytes, document).map_err(failed)?;
    Ok(bytes)
}

/// Counts the bytes that are written.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
