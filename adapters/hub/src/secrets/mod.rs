//! Secrets: where they are kept, how they are named, how they are got.
//!
//! A configuration holds no secrets, only where they are: a [`SecretRef`]. A [`SecretStore`] knows some kinds of these:
//! [`FileSecrets`] those in files of this user, [`EnvSecrets`] those in the environment, [`MemorySecrets`] those of hubs without files, `KeyringSecrets` (with the feature
//! `keyring`) those in the keyring of the system. [`Secrets`] puts them together. There is no falling back from one to another.

mod environment;
mod file;
mod guess;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod reference;
mod store;
mod value;

use std::fmt;
use std::path::PathBuf;

use uuid::Uuid;

pub use environment::EnvSecrets;
pub use file::FileSecrets;
pub use guess::is_secret;
pub(crate) use guess::{is_placeholder, is_secret_name, is_secret_text, scheme, secrets_in_args};
#[cfg(feature = "keyring")]
pub use keyring::KeyringSecrets;
pub use memory::MemorySecrets;
pub use reference::{NotASecretRef, SecretRef};
pub use store::SecretStore;
pub use value::Secret;

use crate::HubError;

/// A store for each kind of reference.
pub struct Secrets {
    stored: Box<dyn SecretStore>,
    environment: Box<dyn SecretStore>,
    keyring: Option<Box<dyn SecretStore>>,
}

impl Secrets {
    /// Files in this directory, the environment of this process, and no keyring.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Secrets::new(FileSecrets::new(directory))
    }

    /// This store for `mcp_{uuid}#NAME`, the environment of this process, and no keyring.
    pub fn new(stored: impl SecretStore + 'static) -> Self {
        Secrets { stored: Box::new(stored), environment: Box::new(EnvSecrets::of_process()), keyring: None }
    }

    /// Takes `env:NAME` from elsewhere.
    pub fn with_environment(mut self, environment: impl SecretStore + 'static) -> Self {
        self.environment = Box::new(environment);
        self
    }

    /// Takes `keyring:service/account` from this store.
    pub fn with_keyring(mut self, keyring: impl SecretStore + 'static) -> Self {
        self.keyring = Some(Box::new(keyring));
        self
    }

    fn store(&self, secret: &SecretRef) -> Result<&dyn SecretStore, HubError> {
        match secret {
            SecretRef::Stored { .. } => Ok(&*self.stored),
            SecretRef::Env { .. } => Ok(&*self.environment),
            SecretRef::Keyring { .. } => self.keyring.as_deref().ok_or_else(|| {
                HubError::unavailable("There is no keyring: this program was built or started without one")
                    .at("secrets")
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
