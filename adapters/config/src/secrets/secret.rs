//! [`Secret`], [`SecretRef`] and [`SecretStore`]: a secret, the reference to a secret, and the stores of secrets.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;
use zeroize::Zeroizing;

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

/// The reference to a secret, which says where the secret is stored: `mcp_{uuid}#NAME`, `env:NAME` or
/// `keyring:service/account`.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod secrets { pub use mcpwire_config::secrets::SecretRef; } } }
/// use mcpwire::hub::secrets::SecretRef;
///
/// let text = "mcp_67e55044-10b1-426f-9247-bb680e5fe0c8#GITHUB_TOKEN";
/// assert_eq!(text.parse::<SecretRef>()?.to_string(), text);
/// assert!("../../etc/passwd".parse::<SecretRef>().is_err());
/// # Ok::<(), mcpwire_config::secrets::NotASecretRef>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SecretRef {
    /// A secret of one server, in the hub's own store of secrets.
    Stored {
        /// The id of the server that the secret belongs to.
        id: Uuid,
        /// The name of the secret. It is unique among the secrets of the server.
        name: String,
    },
    /// An environment variable of the hub's process.
    Env {
        /// The name of the environment variable.
        name: String,
    },
    /// An entry of the system's keyring.
    Keyring {
        /// The name of the service in the keyring entry.
        service: String,
        /// The name of the account in the keyring entry.
        account: String,
    },
}

impl SecretRef {
    /// Creates the reference to the secret `name` of the server `id`, in the hub's own store of secrets.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if the name is empty, longer than 200 bytes, or contains control characters.
    pub fn stored(id: Uuid, name: impl Into<String>) -> Result<SecretRef, HubError> {
        let name = name.into();
        if is_name(&name) {
            Ok(SecretRef::Stored { id, name })
        } else {
            Err(HubError::validation(
                "secret_ref",
                "the name of a secret must be one line of at most 200 bytes, and must not be empty",
            ))
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control)
}

impl FromStr for SecretRef {
    type Err = NotASecretRef;

    fn from_str(text: &str) -> Result<Self, NotASecretRef> {
        let secret = if let Some(name) = text.strip_prefix("env:") {
            let is_variable = is_name(name) && !name.contains('=');
            is_variable.then(|| SecretRef::Env { name: name.to_owned() })
        } else if let Some(entry) = text.strip_prefix("keyring:") {
            let (service, account) = entry.split_once('/').ok_or(NotASecretRef(()))?;
            let (service, account) = (service.to_owned(), account.to_owned());
            (is_name(&service) && is_name(&account)).then_some(SecretRef::Keyring { service, account })
        } else if let Some(entry) = text.strip_prefix("mcp_") {
            let (id, name) = entry.split_once('#').ok_or(NotASecretRef(()))?;
            // Only the usual spelling of an id, so that each secret has one reference.
            let id = (id.len() == 36).then(|| Uuid::parse_str(id).ok()).flatten().ok_or(NotASecretRef(()))?;
            is_name(name).then(|| SecretRef::Stored { id, name: name.to_owned() })
        } else {
            None
        };
        secret.ok_or(NotASecretRef(()))
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretRef::Stored { id, name } => write!(f, "mcp_{id}#{name}"),
            SecretRef::Env { name } => write!(f, "env:{name}"),
            SecretRef::Keyring { service, account } => write!(f, "keyring:{service}/{account}"),
        }
    }
}

/// The error for a text that is not a valid [`SecretRef`]. It does not contain the text, because the user may have typed the
/// secret itself in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the reference to a secret. Use `mcp_{{uuid}}#NAME`, `env:NAME` or `keyring:service/account`")]
pub struct NotASecretRef(());

/// A store of secrets, which are found by their [`SecretRef`].
///
/// Errors have the code `SERVICE_UNAVAILABLE` if the store does not work or is not safe to use, and `VALIDATION_ERROR` if the
/// store does not support this kind of reference. Errors never contain the value of a secret.
pub trait SecretStore: Send + Sync {
    /// Returns the value of the secret, or `None` if the secret is not stored.
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError>;

    /// Stores `value` under the reference `secret`. Replaces an earlier value.
    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError>;

    /// Removes the secret. Returns whether the secret was stored.
    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError>;

    /// Returns the names of all stored secrets of the server `id`. By default, returns no names: for stores whose secrets belong to
    /// no server.
    fn names(&self, _id: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }

    /// Removes all secrets of the server `id`. Returns the names of the removed secrets. By default, removes nothing.
    fn remove_all(&self, _id: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }
}

/// Creates the error for a secret reference of a kind that the store does not support.
pub(super) fn not_kept_here(secret: &SecretRef) -> HubError {
    HubError::validation("secret_ref", format!("this store does not have secrets like `{secret}`"))
}

/// Returns the server and the name of a secret in the hub's own store.
///
/// # Errors
/// `VALIDATION_ERROR` for other secrets.
pub(super) fn of_server(secret: &SecretRef) -> Result<(Uuid, &str), HubError> {
    match secret {
        SecretRef::Stored { id, name } => Ok((*id, name)),
        _ => Err(not_kept_here(secret)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_three_kinds_are_references() {
        let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        for text in [format!("mcp_{id}#A"), format!("mcp_{id}#a/../b"), "env:HOME".into(), "keyring:a/b/c".into()] {
            assert_eq!(text.parse::<SecretRef>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "../../etc/passwd",
            "mcp_../../etc/passwd#A",
            "mcp_#A",
            "env:",
            "env:A=B",
            "keyring:a",
            "keyring:/b",
            "keyring:a/",
            "file:/etc/passwd",
            "env:A\0",
            "hunter2",
        ] {
            let error = text.parse::<SecretRef>().expect_err(text);
            assert!(!error.to_string().contains("hunter2"));
        }
        assert!(format!("mcp_{id}#").parse::<SecretRef>().is_err());
        assert!(format!("mcp_{}#A", id.replace('-', "")).parse::<SecretRef>().is_err());
    }
}
