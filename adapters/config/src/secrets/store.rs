//! [`SecretStore`]: the trait of the stores of secrets.

use uuid::Uuid;

use super::{Secret, SecretRef};
use crate::HubError;

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
pub(super) fn not_kept_here(secret: &SecretRef) -> HubError {
    HubError::validation("secret_ref", format!("this store does not have secrets like `{secret}`"))
}
