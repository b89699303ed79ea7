//! How a secret is named in a configuration.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::HubError;

/// Where a secret is kept: `mcp_{uuid}#NAME`, `env:NAME` or `keyring:service/account`.
///
/// ```
/// use mcpwire_hub::secrets::SecretRef;
///
/// let text = "mcp_67e55044-10b1-426f-9247-bb680e5fe0c8#GITHUB_TOKEN";
/// assert_eq!(text.parse::<SecretRef>()?.to_string(), text);
/// assert!("../../etc/passwd".parse::<SecretRef>().is_err());
/// # Ok::<(), mcpwire_hub::secrets::NotASecretRef>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SecretRef {
    /// In the store of the hub, among the secrets of a server.
    Stored {
        /// The server.
        id: Uuid,
        /// The name among its secrets.
        name: String,
    },
    /// In the environment of the hub.
    Env {
        /// The name of the variable.
        name: String,
    },
    /// In the keyring of the system.
    Keyring {
        /// Under which service.
        service: String,
        /// Under which account.
        account: String,
    },
}

impl SecretRef {
    /// A secret of a server.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if it cannot be a name: it is empty, longer than 200 characters, or holds control characters.
    pub fn stored(id: Uuid, name: impl Into<String>) -> Result<SecretRef, HubError> {
        let name = name.into();
        if is_name(&name) {
            Ok(SecretRef::Stored { id, name })
        } else {
            Err(HubError::validation("secret_ref", "The name of a secret is a short line of text"))
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
            // No other way to write an id than the usual one.
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

/// A text is no [`SecretRef`]. The text is not shown: it may be a secret that stands in the wrong place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASecretRef(());

impl fmt::Display for NotASecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("A secret is named by `mcp_{uuid}#NAME`, `env:NAME` or `keyring:service/account`")
    }
}

impl std::error::Error for NotASecretRef {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_24_only_the_three_kinds_are_references() {
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
