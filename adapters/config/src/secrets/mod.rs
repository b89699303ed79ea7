//! Secrets: where they are stored, and how configurations refer to them.
//!
//! A configuration contains references to secrets, [`SecretRef`], and a [`SecretStore`] returns the values of the secrets. Each
//! store supports one kind of references: [`FileSecrets`] has private files, [`EnvSecrets`] the environment variables,
//! [`MemorySecrets`] the memory of a hub without files, and `KeyringSecrets` (feature `keyring`) the keyring of the system.
//! [`Secrets`] combines these stores. A secret that is missing in its store is not searched for in another store.

mod environment;
mod file;
mod guess;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod reference;

use std::fmt;
use std::path::PathBuf;

use uuid::Uuid;
use zeroize::Zeroizing;

pub use environment::EnvSecrets;
pub use file::FileSecrets;
pub(crate) use guess::{
    HIDDEN, hide_in_args, hide_in_url, is_placeholder, is_secret_name, scheme, secrets_in_args, split_secret,
};
pub use guess::{is_secret, proxy_secrets};
#[cfg(feature = "keyring")]
pub use keyring::KeyringSecrets;
pub use memory::MemorySecrets;
pub use reference::{NotASecretRef, SecretRef};

use crate::HubError;

/// A secret text. `{:?}` does not show the text, and `Display` is not implemented. The memory of the text is overwritten on
/// drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Creates a secret from its text.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(value.into()))
    }

    /// Returns the text of the secret. Do not show it to anyone or write it to a log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text of the secret is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl<S: Into<String>> From<S> for Secret {
    fn from(value: S) -> Self {
        Secret::new(value)
    }
}

/// A store of secrets, which are found by their [`SecretRef`].
///
/// Errors have the code `SERVICE_UNAVAILABLE` if the store does not work or is not safe to use, and `VALIDATION_ERROR` if the
/// store does not support this kind of reference. Errors never contain the value of a secret.
pub trait SecretStore: Send + Sync {
    /// Returns the value of the secret, or `None` if it is not stored.
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError>;

    /// Stores `value` under the reference `secret`. Replaces an earlier value.
    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError>;

    /// Removes the secret. Returns `true` if it was stored.
    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError>;

    /// Returns the names of all stored secrets of the server `id`.
    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError>;

    /// Removes all secrets of the server `id`. Returns the names of the removed secrets.
    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError>;
}

/// Creates the error for a secret reference of a kind that the store does not support.
fn not_kept_here(secret: &SecretRef) -> HubError {
    HubError::validation("secret_ref", format!("this store does not have secrets like `{secret}`"))
}

/// A [`SecretStore`] for all kinds of secret references. It passes each reference to the store for that kind.
pub struct Secrets {
    stored: Box<dyn SecretStore>,
    environment: Box<dyn SecretStore>,
    keyring: Option<Box<dyn SecretStore>>,
}

impl Secrets {
    /// Creates a store that keeps secrets of servers in files in `directory`, and reads `env:NAME` from the environment of this
    /// process. It has no keyring.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Secrets::new(FileSecrets::new(directory))
    }

    /// Creates a store that keeps the secrets of servers, `mcp_{uuid}#NAME`, in `stored`, and reads `env:NAME` from the
    /// environment of this process. It has no keyring.
    pub fn new(stored: impl SecretStore + 'static) -> Self {
        Secrets { stored: Box::new(stored), environment: Box::new(EnvSecrets::of_process()), keyring: None }
    }

    /// Sets the store for secret references of the form `env:NAME`.
    pub fn with_environment(mut self, environment: impl SecretStore + 'static) -> Self {
        self.environment = Box::new(environment);
        self
    }

    /// Sets the store for secret references of the form `keyring:service/account`.
    pub fn with_keyring(mut self, keyring: impl SecretStore + 'static) -> Self {
        self.keyring = Some(Box::new(keyring));
        self
    }

    fn store(&self, secret: &SecretRef) -> Result<&dyn SecretStore, HubError> {
        match secret {
            SecretRef::Stored { .. } => Ok(&*self.stored),
            SecretRef::Env { .. } => Ok(&*self.environment),
            SecretRef::Keyring { .. } => self.keyring.as_deref().ok_or_else(|| {
                HubError::unavailable("this program was built or started without a keyring").at("secrets")
            }),
        }
    }
}

impl SecretStore for Secrets {
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError> {
        self.store(secret)?.get(secret)
    }

    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError> {
        self.store(secret)?.set(secret, value)
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        self.store(secret)?.remove(secret)
    }

    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        self.stored.names(id)
    }

    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        self.stored.remove_all(id)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("keyring", &self.keyring.is_some()).finish_non_exhaustive()
    }
}
