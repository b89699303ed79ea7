//! Secrets in the environment of the hub.

use std::env;
use std::fmt;

use uuid::Uuid;

use super::store::not_kept_here;
use super::{Secret, SecretRef, SecretStore};
use crate::HubError;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// `env:NAME`: variables of the environment. They can be read, and nothing else.
pub struct EnvSecrets(Box<Lookup>);

impl EnvSecrets {
    /// The environment of this process. A variable that is not text counts as not set.
    pub fn of_process() -> Self {
        EnvSecrets::from_fn(|name| env::var(name).ok())
    }

    /// Another environment.
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
        Err(HubError::validation("secret_ref", format!("`{secret}` is set where the hub is started, not by it")))
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        Err(HubError::validation("secret_ref", format!("`{secret}` is set where the hub is started, not by it")))
    }

    fn names(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }

    fn remove_all(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }
}

impl fmt::Debug for EnvSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvSecrets").finish_non_exhaustive()
    }
}
