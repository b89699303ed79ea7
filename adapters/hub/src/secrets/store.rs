//! [`SecretStore`]: where secrets are kept.

use uuid::Uuid;

use super::{Secret, SecretRef};
use crate::HubError;

/// Where secrets are kept.
///
/// Errors have the code `SERVICE_UNAVAILABLE` if the store does not work, or is not safe to use, and `VALIDATION_ERROR` if
/// something cannot be a secret of it. None holds a value.
pub trait SecretStore: Send + Sync {
    /// The value; `None` if there is none.
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError>;

    /// Keeps a value, in place of an earlier one.
    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError>;

    /// Forgets a value. Whether there was one.
    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError>;

    /// The names of the secrets of a server.
    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError>;

    /// Forgets all secrets of a server, and says which there were.
    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError>;
}

/// Creates the error for a reference of a kind that the store does not keep.
pub(super) fn not_kept_here(secret: &SecretRef) -> HubError {
    HubError::validation("secret_ref", format!("This store does not keep `{secret}`"))
}
