//! [`Documents`]: the documents of one account on one server, in a [`TokenStore`].
//!
//! | document | content |
//! |---|---|
//! | `token-HASH` | the login of an account on a server: its token and client, with the issuer of both |
//! | `login-HASH` | the unfinished login of that account, which waits for the user |
//! | `key-HASH` | the private key to which the tokens of that account are bound |
//! | `client-HASH` | the registrations at one issuer |
//! | `issuer-HASH` | the issuer at which a pre-registered client was used; a logout keeps this document |
//! | `identity-HASH` | no document, only a lock: a process holds it while it uses a user's login at an identity provider |
//!
//! A refresh token belongs to one account, server and issuer. The name of a login's document depends on account and server only,
//! because the issuer is known after the document is read. The document contains the issuer, and the refresh token is sent to
//! this issuer only.

use std::io;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_driver::Runtime;
use mcpwire_oauth::{ClientInformation, SigningAlgorithm, StoreError, StoredToken, TokenKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::signing_key::SigningKey;
use crate::store::{StoreFailed, StoreLock, TokenStore};

/// The version of the documents that this crate writes. Documents without a version have version 1, too.
const VERSION: u32 = 1;

/// Prefix of the names of documents that contain private keys.
pub(crate) const KEY_PREFIX: &str = "key-";

/// Maximum number of registrations to store for one issuer. The oldest is dropped. 16: each registration has another redirect
/// URI, and few servers need a redirect URI of their own.
const MAX_REGISTRATIONS: usize = 16;

/// The documents of one account on one server. The methods run store accesses on threads for blocking work.
pub(crate) struct Documents {
    runtime: Arc<dyn Runtime>,
    account: Arc<Account>,
}

/// The store, and the names of the documents of one account on one server. The methods may block.
pub(crate) struct Account {
    store: Arc<dyn TokenStore>,
    server_url: String,
    /// The hash of server and account, with which the names of the documents end.
    hash: String,
}

/// Returns the name of the document that contains the login of an account on a server. With [`TokenStore::revision`], a program
/// can notice when another process changes the login.
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

/// The registrations at one issuer, the last used registration first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Registrations {
    clients: Vec<ClientInformation>,
}

/// The content of an `issuer-HASH` document: the issuer at which a pre-registered client was used.
#[derive(Serialize, Deserialize)]
struct IssuerBinding {
    /// For people who read the file. The name of the document contains only a hash of the identifier.
    client_id: String,
    issuer: String,
}

/// Adds the version to a document that is written.
#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// The version of a document that is read. It is a member of the document or of the document's token.
#[derive(Deserialize)]
struct Header {
    version: Option<Value>,
    token: Option<TokenHeader>,
}

#[derive(Deserialize)]
struct TokenHeader {
    version: Option<Value>,
}

impl Documents {
    pub(crate) fn new(store: Arc<dyn TokenStore>, runtime: Arc<dyn Runtime>, server_url: &str, account: &str) -> Self {
        let hash = TokenKey::new(server_url, account).file_name();
        Documents { runtime, account: Arc::new(Account { store, server_url: server_url.to_owned(), hash }) }
    }

    /// Waits for the lock of the login, which all processes with this store share. Dropping the result releases the lock.
    pub(crate) async fn lock(&self) -> Result<StoreLock, StoreFailed> {
        self.run(|account| account.store.lock(&account.token_name())).await
    }

    /// Waits for the lock of a user's login at an identity provider, so that no other process uses the login. Dropping the result
    /// releases the lock.
    pub(crate) async fn lock_identity(&self, provider_url: &str, client_id: &str) -> Result<StoreLock, StoreFailed> {
        let name = format!("identity-{}", TokenKey::new(provider_url, client_id).file_name());
        self.run(move |account| account.store.lock(&name)).await
    }

    /// Returns the stored login, or `None` if no login is stored.
    ///
    /// # Errors
    /// If the store fails, the document is damaged, or the client belongs to another issuer than the token.
    pub(crate) async fn load(&self) -> Result<Option<Grant>, StoreFailed> {
        self.run(Account::load_grant).await
    }

    /// Writes the login. If the login has a refresh token, the caller must hold the lock, and load the document after it has
    /// taken the lock.
    pub(crate) async fn save(&self, grant: &Grant) -> Result<(), StoreFailed> {
        let document = write(grant)?;
        self.run(move |account| account.store.save(&account.token_name(), &document)).await
    }

    /// Checks that the login can be written now. Called before a request uses up a credential.
    pub(crate) async fn check_save(&self) -> Result<(), StoreFailed> {
        self.run(|account| account.store.check_save(&account.token_name())).await
    }

    /// Checks that this version may replace or delete the documents of this account.
    ///
    /// # Errors
    /// If a document is of a later version, or cannot be read.
    pub(crate) async fn check_versions(&self) -> Result<(), StoreFailed> {
        self.run(|account| {
            let names = [account.token_name(), account.attempt_name()];
            names.iter().try_for_each(|name| load(&*account.store, name).map(drop))
        })
        .await
    }

    /// Writes a new login, and replaces a stored login, even a damaged one. Sets the generation of the new login.
    ///
    /// Other processes use the stored login if its generation is greater than that of the login they know. After a logout, the
    /// store no longer contains that generation, so the new generation is at least the time in microseconds. A refresh adds one
    /// to the generation and takes longer than a microsecond, so generations do not overtake the clock.
    pub(crate) async fn save_login(&self, grant: &mut Grant) -> Result<(), StoreFailed> {
        let _lock = self.lock().await?;
        self.check_versions().await?;
        let stored = self.load().await.ok().flatten();
        let after_stored = stored.map_or(0, |stored| stored.token.generation.saturating_add(1));
        let now = u64::try_from(self.runtime.unix_time().as_micros()).unwrap_or_default();
        grant.token.generation = grant.token.generation.max(after_stored).max(now);
        self.save(grant).await
    }

    /// Deletes the stored login. Succeeds if no login is stored.
    pub(crate) async fn remove(&self) -> Result<(), StoreFailed> {
        self.run(|account| account.store.remove(&account.token_name())).await
    }

    /// Returns the login that waits for the user, or `None` if no login waits, or its document cannot be read.
    pub(crate) async fn load_attempt<T: DeserializeOwned + Send + 'static>(&self) -> Result<Option<T>, StoreFailed> {
        self.run(|account| {
            let document = load(&*account.store, &account.attempt_name())?;
            Ok(document.and_then(|document| read(&document).ok()))
        })
        .await
    }

    /// Writes the login that waits for the user, and replaces an earlier one. Fails if a later version of this crate has written
    /// the earlier one.
    pub(crate) async fn save_attempt(&self, attempt: &impl Serialize) -> Result<(), StoreFailed> {
        let document = write_versioned(attempt)?;
        self.run(move |account| {
            let name = account.attempt_name();
            load(&*account.store, &name)?;
            account.store.save(&name, &document)
        })
        .await
    }

    /// Deletes the login that waits for the user.
    pub(crate) async fn remove_attempt(&self) -> Result<(), StoreFailed> {
        self.run(|account| account.store.remove(&account.attempt_name())).await
    }

    /// Returns the registration at this issuer with this redirect URI, or else the last used registration. Returns `None` if the
    /// issuer has registered no client.
    pub(crate) async fn load_client(
        &self,
        issuer: &str,
        redirect_uri: Option<&str>,
    ) -> Result<Option<ClientInformation>, StoreFailed> {
        let (issuer, redirect_uri) = (issuer.to_owned(), redirect_uri.map(str::to_owned));
        self.run(move |account| {
            let mut clients = account.load_registrations(&issuer)?.clients;
            let wanted = clients.iter().position(|client| Some(&client.redirect_uri) == redirect_uri.as_ref());
            Ok((!clients.is_empty()).then(|| clients.swap_remove(wanted.unwrap_or(0))))
        })
        .await
    }

    /// Stores a registration for the next login. Replaces the registration with the same redirect URI.
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
        self.run(move |account| {
            let name = client_name(&issuer);
            let _lock = account.store.lock(&name)?;
            let mut registrations = account.load_registrations(&issuer)?;
            change(&mut registrations.clients);
            if registrations.clients.is_empty() {
                return account.store.remove(&name);
            }
            account.store.save(&name, &write_versioned(&registrations)?)
        })
        .await
    }

    /// Returns the issuer at which a pre-registered client was used for this server, by any account of the user. Returns `None`
    /// if the client was not used.
    pub(crate) async fn load_issuer(&self, client_id: &str) -> Result<Option<String>, StoreFailed> {
        let client_id = client_id.to_owned();
        self.run(move |account| account.load_issuer(&client_id)).await
    }

    /// Stores the issuer at which a pre-registered client is used for this server, so that its secret is sent to no other issuer
    /// later.
    pub(crate) async fn save_issuer(&self, client_id: &str, issuer: &str) -> Result<(), StoreFailed> {
        let binding = IssuerBinding { client_id: client_id.to_owned(), issuer: issuer.to_owned() };
        self.run(move |account| {
            if account.load_issuer(&binding.client_id)?.as_ref() == Some(&binding.issuer) {
                return Ok(());
            }
            let name = account.issuer_name(&binding.client_id);
            let _lock = account.store.lock(&name)?;
            account.store.save(&name, &write_versioned(&binding)?)
        })
        .await
    }

    /// Returns the private key to which the tokens of this account are bound (DPoP). The first call creates and stores the key.
    pub(crate) async fn dpop_key(&self) -> Result<SigningKey, StoreFailed> {
        self.run(|account| {
            let _lock = account.store.lock(&account.token_name())?;
            let name = format!("{KEY_PREFIX}{}", account.hash);
            if let Some(document) = load(&*account.store, &name)? {
                return SigningKey::from_pkcs8(&document, SigningAlgorithm::Es256).map_err(|_| {
                    let place = account.store.locate(&name);
                    StoreFailed(format!("the key in {place} is damaged. Remove it and log in again"))
                });
            }
            let (key, document) = SigningKey::generate().map_err(|error| StoreFailed(error.to_string()))?;
            account.store.save(&name, &Zeroizing::new(document))?;
            Ok(key)
        })
        .await
    }

    /// Runs a function on a thread for blocking work, and returns its result.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        function: impl FnOnce(&Account) -> Result<T, StoreFailed> + Send + 'static,
    ) -> Result<T, StoreFailed> {
        let (sender, receiver) = oneshot::channel();
        let account = Arc::clone(&self.account);
        self.runtime.spawn_blocking(Box::new(move || {
            // Fails if the caller has dropped the receiver.
            let _ = sender.send(function(&account));
        }));
        receiver
            .await
            .unwrap_or_else(|_| Err(StoreFailed("the store was not called, because no thread could be started".into())))
    }
}

impl Account {
    fn token_name(&self) -> String {
        token_name(&self.hash)
    }

    fn attempt_name(&self) -> String {
        format!("login-{}", self.hash)
    }

    fn issuer_name(&self, client_id: &str) -> String {
        format!("issuer-{}", TokenKey::new(&self.server_url, client_id).file_name())
    }

    fn load_grant(&self) -> Result<Option<Grant>, StoreFailed> {
        let name = self.token_name();
        let Some(document) = load(&*self.store, &name)? else { return Ok(None) };
        let grant = read(&document).and_then(|grant: Grant| match &grant.client {
            // A refresh token is sent only to the issuer at which its client is registered.
            Some(client) if client.issuer != grant.token.endpoint.issuer => Err(StoreError::Damaged),
            _ => Ok(grant),
        });
        grant
            .map(Some)
            .map_err(|error| StoreFailed(format!("the login in {} cannot be used: {error}", self.store.locate(&name))))
    }

    fn load_issuer(&self, client_id: &str) -> Result<Option<String>, StoreFailed> {
        let name = self.issuer_name(client_id);
        let Some(document) = load(&*self.store, &name)? else { return Ok(None) };
        let binding = read(&document).map_err(|error| {
            let place = self.store.locate(&name);
            StoreFailed(format!("{place} cannot be used, which names the authorization server of a client: {error}"))
        });
        binding.map(|binding: IssuerBinding| Some(binding.issuer))
    }

    /// Loads the registrations at this issuer. A document that cannot be read is replaced at the next login, which registers
    /// again.
    fn load_registrations(&self, issuer: &str) -> Result<Registrations, StoreFailed> {
        let document = load(&*self.store, &client_name(issuer))?;
        let mut registrations: Registrations = document.and_then(|document| read(&document).ok()).unwrap_or_default();
        registrations.clients.retain(|client| client.issuer == issuer);
        Ok(registrations)
    }
}

/// Loads a document, or returns `None` if the store has no such document. The document is erased from memory when it is dropped.
///
/// # Errors
/// If the store fails, or the document is of a later version than this crate knows.
fn load(store: &dyn TokenStore, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, StoreFailed> {
    let Some(document) = store.load(name)?.map(Zeroizing::new) else { return Ok(None) };
    // A document that is not JSON has no version: a damaged document, or a private key.
    let Ok(Header { version, token }) = serde_json::from_slice(&document) else { return Ok(Some(document)) };
    let versions = [version, token.and_then(|token| token.version)];
    match versions.into_iter().flatten().find(|version| version.as_u64().is_none_or(|it| it > VERSION.into())) {
        Some(version) => Err(StoreFailed(format!(
            "{} has version {version}, which this program does not know; use a later version of this program, or remove the \
             file and log in again",
            store.locate(name)
        ))),
        None => Ok(Some(document)),
    }
}

fn client_name(issuer: &str) -> String {
    format!("client-{}", TokenKey::new(issuer, "").file_name())
}

fn read<'d, T: Deserialize<'d>>(document: &'d [u8]) -> Result<T, StoreError> {
    // The errors of the JSON reader are left out, because they may quote a secret.
    serde_json::from_slice(document).map_err(|_| StoreError::Damaged)
}

/// Serializes a document. The bytes are erased from memory when they are dropped.
fn write(document: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, StoreFailed> {
    let failed = |_| StoreFailed("the login cannot be written as JSON".into());
    let mut length = Length(0);
    serde_json::to_writer(&mut length, document).map_err(failed)?;
    // The buffer never grows: that would leave copies of the secrets in memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(length.0));
    serde_json::to_writer(&mut *bytes, document).map_err(failed)?;
    Ok(bytes)
}

/// Serializes a document with its version.
fn write_versioned(content: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, StoreFailed> {
    write(&Versioned { version: VERSION, content })
}

/// A writer that only counts its bytes, to find the length of a document.
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
