//! [`MemorySecrets`]: secrets in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::secret::{Secret, SecretRef, SecretStore, of_server};
use crate::HubError;

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
