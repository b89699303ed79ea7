//! [`KeyringSecrets`]: secrets in the keyring of the system.

use std::fmt;
use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error};
use mcpwire_authorization::{SecretKeeper, StoreFailed};
use zeroize::Zeroize;

use super::secret::{Secret, SecretRef, SecretStore, not_kept_here};
use crate::HubError;

/// A store that keeps secrets, whose references have the form `keyring:service/account`, in a keyring of the crate
/// `keyring-core`. This can be the keyring of macOS, Windows or the Secret Service.
///
/// If the keyring is locked or missing, operations return an error. The secret is not searched for in another store.
pub struct KeyringSecrets(Arc<CredentialStore>);

impl KeyringSecrets {
    /// Creates a store that uses the keyring `store`.
    pub fn new(store: Arc<CredentialStore>) -> Self {
        KeyringSecrets(store)
    }

    /// Creates a store that uses the keyring that the program has set with `keyring_core::set_default_store`.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the program has not set a keyring.
    pub fn of_program() -> Result<Self, HubError> {
        keyring_core::get_default_store().map(KeyringSecrets).ok_or_else(|| failed(Error::NoDefaultStore))
    }

    /// Returns the keyring entry that contains the secret of the OAuth login `name`.
    fn login(&self, name: &str) -> Result<Entry, StoreFailed> {
        self.0.build("mcpwire-login", name, None).map_err(login_failed)
    }

    fn entry(&self, secret: &SecretRef) -> Result<Entry, HubError> {
        match secret {
            SecretRef::Keyring { service, account } => self.0.build(service, account, None).map_err(failed),
            _ => Err(not_kept_here(secret)),
        }
    }
}

/// Returns `None` in place of the error for an entry that does not exist.
fn if_present<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts an error of the keyring to a [`HubError`]. Drops the bytes of a secret that some errors contain.
fn failed(error: Error) -> HubError {
    let reason = match error {
        Error::NoStorageAccess(_) => "it is locked or cannot be reached. Unlock it and try again".to_owned(),
        Error::NoDefaultStore => "this program has set none".to_owned(),
        Error::Ambiguous(_) => "it has several secrets with this service and account".to_owned(),
        Error::TooLong(what, at_most) => format!("{what} is longer than {at_most} bytes"),
        Error::Invalid(what, why) => format!("{what} is not valid: {why}"),
        Error::BadEncoding(mut bytes) | Error::BadDataFormat(mut bytes, _) => {
            bytes.zeroize();
            "the stored secret is not text".to_owned()
        }
        Error::PlatformFailure(error) => error.to_string(),
        _ => "it does not support the operation".to_owned(),
    };
    HubError::unavailable(format!("the keyring failed: {reason}")).at("secrets")
}

/// The entries of a keyring belong to no server, and other programs may use them. The names of a server's secrets are therefore an
/// empty list, and the removal of a server's secrets removes nothing.
impl SecretStore for KeyringSecrets {
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError> {
        Ok(if_present(self.entry(secret)?.get_password()).map_err(failed)?.map(Secret::new))
    }

    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError> {
        self.entry(secret)?.set_password(value.expose()).map_err(failed)
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        Ok(if_present(self.entry(secret)?.delete_credential()).map_err(failed)?.is_some())
    }
}

/// Keeps the refresh tokens and private keys of logins, in entries of the service `mcpwire-login`.
///
/// ```no_run
/// # mod mcpwire { pub mod oauth { pub use mcpwire_authorization::FileStore; } pub mod hub { pub mod secrets { pub use
/// # mcpwire_config::secrets::KeyringSecrets; } } }
/// use mcpwire::hub::secrets::KeyringSecrets;
/// use mcpwire::oauth::FileStore;
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let store = FileStore::new("logins").keep_secrets_in(KeyringSecrets::of_program()?);
/// # Ok(())
/// # }
/// ```
impl SecretKeeper for KeyringSecrets {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        if_present(self.login(name)?.get_secret()).map_err(login_failed)
    }

    fn set(&self, name: &str, secret: &[u8]) -> Result<(), StoreFailed> {
        self.login(name)?.set_secret(secret).map_err(login_failed)
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        if_present(self.login(name)?.delete_credential()).map_err(login_failed).map(drop)
    }
}

fn login_failed(error: Error) -> StoreFailed {
    StoreFailed(failed(error).message().to_owned())
}

impl fmt::Debug for KeyringSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyringSecrets").field(&self.0.vendor()).finish()
    }
}

#[cfg(test)]
mod tests {
    use keyring_core::api::CredentialStoreApi;
    use keyring_core::mock;
    use mcpwire_authorization::{FileStore, TokenStore as _};

    use super::*;
    use crate::ErrorCode;
    use crate::secrets::{FileSecrets, Secrets};

    #[test]
    fn case_26_a_locked_keyring_is_an_error_and_no_other_store_is_asked() {
        let store = mock::Store::new().unwrap();
        let directory = tempfile::TempDir::new().unwrap();
        let secrets = Secrets::new(FileSecrets::new(directory.path().join("secrets")))
            .with_keyring(KeyringSecrets::new(store.clone()));
        let reference: SecretRef = "keyring:service/me".parse().unwrap();
        assert_eq!(secrets.get(&reference).unwrap(), None);
        secrets.set(&reference, &"hunter22".into()).unwrap();
        assert_eq!(secrets.get(&reference).unwrap().unwrap().expose(), "hunter22");

        let entry = store.build("service", "me", None).unwrap();
        let cred: &mock::Cred = entry.as_any().downcast_ref().unwrap();
        for error in [Error::NoStorageAccess("locked".into()), Error::BadEncoding(b"hunter22".to_vec())] {
            cred.set_error(error);
            let error = secrets.get(&reference).unwrap_err();
            assert_eq!((error.code(), error.field()), (ErrorCode::ServiceUnavailable, "secrets"));
            assert!(!error.message().contains("hunter"), "{error}");
        }
        assert!(!directory.path().join("secrets").exists());
        assert!(secrets.remove(&reference).unwrap());
        assert!(!secrets.remove(&reference).unwrap());
    }

    #[test]
    fn the_refresh_token_of_a_login_is_in_the_keyring_and_not_in_its_file() {
        let store = mock::Store::new().unwrap();
        let directory = tempfile::TempDir::new().unwrap();
        let logins =
            FileStore::new(directory.path().join("logins")).keep_secrets_in(KeyringSecrets::new(store.clone()));
        let document = br#"{"token":{"access_token":"a","refresh_token":"hunter22"}}"#;
        logins.save("token-1", document).unwrap();
        let file = std::fs::read_to_string(directory.path().join("logins").join("token-1")).unwrap();
        assert!(!file.contains("hunter22"), "{file}");
        assert_eq!(store.build("mcpwire-login", "token-1", None).unwrap().get_secret().unwrap(), b"hunter22");
        let loaded = logins.load("token-1").unwrap().unwrap();
        assert!(String::from_utf8(loaded).unwrap().contains("hunter22"));
        logins.remove("token-1").unwrap();
        let keeper: &dyn SecretKeeper = &KeyringSecrets::new(store);
        assert_eq!(keeper.get("token-1"), Ok(None));
    }
}
