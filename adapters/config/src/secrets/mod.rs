//! Secrets: where they are stored, and how configurations refer to them.
//!
//! A configuration contains references to secrets, [`SecretRef`], and a [`SecretStore`] returns the values of the secrets. Each
//! store supports one kind of references: [`FileSecrets`] has private files, [`EnvSecrets`] the environment variables,
//! [`MemorySecrets`] the memory of a hub without files, and `KeyringSecrets` (feature `keyring`) the keyring of the system.
//! [`Secrets`] combines these stores. A secret that is missing in its store is not searched for in another store.

mod file;
mod guess;
#[cfg(feature = "keyring")]
mod keyring;
mod secret;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

pub use file::FileSecrets;
pub(crate) use guess::{
    HIDDEN, hide_in_args, hide_in_url, is_placeholder, is_secret_name, scheme, secrets_in_args, split_secret,
};
pub use guess::{is_secret, proxy_secrets};
#[cfg(feature = "keyring")]
pub use keyring::KeyringSecrets;
pub use secret::{NotASecretRef, Secret, SecretRef, SecretStore};
use secret::{not_kept_here, of_server};

use crate::HubError;

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

    mcpwire_client::setters! {
        /// Sets the store for secret references of the form `env:NAME`.
        fn with_environment(environment: impl SecretStore + 'static) => environment = Box::new(environment);

        /// Sets the store for secret references of the form `keyring:service/account`.
        fn with_keyring(keyring: impl SecretStore + 'static) => keyring = Some(Box::new(keyring));
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

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A store that reads secrets of the form `env:NAME` from environment variables. It cannot change them.
pub struct EnvSecrets(Box<Lookup>);

impl EnvSecrets {
    /// Creates a store that reads the environment variables of this process. A variable that is not UTF-8 counts as not set.
    pub fn of_process() -> Self {
        EnvSecrets::from_fn(|name| env::var(name).ok())
    }

    /// Creates a store that calls `lookup` in place of reading environment variables. `lookup` returns `None` for a variable
    /// that is not set.
    pub fn from_fn(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        EnvSecrets(Box::new(lookup))
    }
}

impl SecretStore for EnvSecrets {
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError> {
        match secret {
            SecretRef::Env { name } => Ok((self.0)(name).map(Secret::new)),
            _ => Err(not_kept_here(secret)),
        }
    }

    fn set(&self, secret: &SecretRef, _: &Secret) -> Result<(), HubError> {
        Err(read_only(secret))
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        Err(read_only(secret))
    }
}

fn read_only(secret: &SecretRef) -> HubError {
    let message = format!("`{secret}` cannot be changed by the hub. Set the variable where the hub is started");
    HubError::validation("secret_ref", message)
}

impl fmt::Debug for EnvSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvSecrets").finish_non_exhaustive()
    }
}

/// A store that keeps the secrets of servers, whose references have the form `mcp_{uuid}#NAME`, in memory. It is used by hubs
/// that write no files.
#[derive(Debug, Default)]
pub struct MemorySecrets(Mutex<BTreeMap<(Uuid, String), Secret>>);

impl MemorySecrets {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Uuid, String), Secret>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(secret: &SecretRef) -> Result<(Uuid, String), HubError> {
    of_server(secret).map(|(id, name)| (id, name.to_owned()))
}

impl SecretStore for MemorySecrets {
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError> {
        Ok(self.lock().get(&key(secret)?).cloned())
    }

    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError> {
        self.lock().insert(key(secret)?, value.clone());
        Ok(())
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        Ok(self.lock().remove(&key(secret)?).is_some())
    }

    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        Ok(self.lock().keys().filter(|(of, _)| *of == id).map(|(_, name)| name.clone()).collect())
    }

    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        let names = self.names(id)?;
        self.lock().retain(|(of, _), _| *of != id);
        Ok(names)
    }
}
