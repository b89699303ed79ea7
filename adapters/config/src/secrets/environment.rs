//! [`EnvSecrets`]: secrets in the environment of the hub.

use std::env;
use std::fmt;

use uuid::Uuid;

use super::secret::{Secret, SecretRef, SecretStore, not_kept_here};
use crate::HubError;

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

    fn names(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }

    fn remove_all(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
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
