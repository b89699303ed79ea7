//! [`SecretStore`]: the trait of the stores of secrets.

use uuid::Uuid;

use super::{Secret, SecretRef};
use crate::HubError;

/// Stores secrets, and returns them by their references.
///
/// Errors have the code `SERVICE_UNAVAILABLE` if the store does not work or is not safe to use, and `VALIDATION_ERROR` if the
/// store has no references of this kind. They do not contain values.
pub trait SecretStore: Send + Sync {
    /// Returns the value of a secret, or `None` if it is not stored.
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError>;

    /// Stores a value, and replaces an earlier one.
    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError>;

    /// Removes a secret. Returns whether it was stored.
    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError>;

    /// Returns the names of the stored secrets of a server.
    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError>;

    /// Removes all secrets of a server. Returns their names.
    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError>;
}

/// Creates the error for a reference of a kind that the store does not have.
pub(super) fn not_kept_here(secret: &SecretRef) -> HubError {
    HubError::validation("secret_ref", format!("this store does not have secrets like `{secret}`"))
}
