//! [`SecretKeeper`]: keeps the secrets of a [`FileStore`](crate::FileStore) apart from its files, such as in a keychain.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::store::StoreFailed;

/// Keeps refresh tokens and private keys, such as in the keychain of the system.
///
/// The methods may block. The secrets are small, because some keychains store at most 2,560 bytes in an entry: the rest of a
/// login stays in the file.
pub trait SecretKeeper: Send + Sync + 'static {
    /// Returns a secret, or `None` if there is none of this name.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed>;

    /// Writes a secret, in the place of the one before it.
    fn set(&self, name: &str, secret: &[u8]) -> Result<(), StoreFailed>;

    /// Deletes a secret. Succeeds if there is none.
    fn remove(&self, name: &str) -> Result<(), StoreFailed>;
}

/// The member of a file that says that the secret of the document is not in it.
const MARK: &str = "secret_in_keychain";

/// Takes the secret out of a document. Returns what the file contains, and the secret, or `None` if the document has no secret.
///
/// The secret of a login is its refresh token. A private key is a secret as a whole.
pub(crate) fn split(name: &str, document: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut members, secret) = if name.starts_with(crate::documents::KEY_PREFIX) {
        (Map::new(), document.to_vec())
    } else {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(document) else { return None };
        let Some(Value::String(token)) = members.get_mut("token")?.as_object_mut()?.remove("refresh_token") else {
            return None;
        };
        (members, token.into_bytes())
    };
    members.insert(MARK.into(), true.into());
    Some((serde_json::to_vec(&members).ok()?, secret))
}

/// Returns the members of a file whose secret is not in it.
pub(crate) fn marked(file: &[u8]) -> Option<Map<String, Value>> {
    /// The mark alone, so that the tokens of other files are not copied.
    #[derive(Deserialize)]
    struct Mark {
        secret_in_keychain: bool,
    }

    serde_json::from_slice(file).ok().filter(|mark: &Mark| mark.secret_in_keychain)?;
    let Ok(Value::Object(mut members)) = serde_json::from_slice(file) else { return None };
    members.remove(MARK)?;
    Some(members)
}

/// Puts the secret into the document again. Returns `None` if it does not fit.
pub(crate) fn join(name: &str, mut members: Map<String, Value>, secret: Vec<u8>) -> Option<Vec<u8>> {
    if name.starts_with(crate::documents::KEY_PREFIX) {
        return Some(secret);
    }
    let token = members.get_mut("token")?.as_object_mut()?;
    token.insert("refresh_token".into(), String::from_utf8(secret).ok()?.into());
    serde_json::to_vec(&members).ok()
}
