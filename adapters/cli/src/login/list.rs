//! [`LoginList`]: the list of logins that the configuration does not name, so that `mcpwire whoami` finds them.

use mcpwire_authorization::{FileStore, StoreFailed, TokenStore as _};
use serde::{Deserialize, Serialize};

/// Name of the document with the list of logins that the configuration does not name. `mcpwire whoami` needs the list, because
/// the names of the other documents do not contain the URLs of the servers.
const DOCUMENT: &str = "servers";

/// The list of the logins that no configured server names. The store contains the list and the logins themselves.
#[derive(Clone)]
pub(super) struct LoginList(pub(super) FileStore);

/// The version of a document that a later version of this program has written. This version writes a list without a version.
#[derive(Deserialize)]
struct Later {
    version: u64,
}

/// A login to a server that is not configured, or to a configured server with another account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) url: String,
    /// The name of the account, or an empty text for a login without an account name.
    #[serde(default)]
    pub(super) account: String,
}

impl LoginList {
    /// Returns the logins that the configuration does not name. An invalid document counts as an empty list, and the next login
    /// replaces it.
    ///
    /// # Errors
    /// If the document cannot be read, or if a later version of this program has written it.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, StoreFailed> {
        let Some(document) = self.0.load(DOCUMENT)? else { return Ok(Vec::new()) };
        if let Ok(Later { version }) = serde_json::from_slice(&document) {
            return Err(StoreFailed(format!(
                "{} has version {version}, which this program does not know; use a later version of this program, or remove the \
                 file",
                self.0.locate(DOCUMENT)
            )));
        }
        Ok(serde_json::from_slice(&document).unwrap_or_default())
    }

    /// Adds the login to the server at `url` to the list if `is_listed` is true, or else removes it. `account` is empty for a
    /// login without an account name.
    pub(super) fn set(&self, url: &str, account: &str, is_listed: bool) -> Result<(), StoreFailed> {
        let entry = Entry { url: url.to_owned(), account: account.to_owned() };
        if self.entries()?.contains(&entry) == is_listed {
            return Ok(());
        }
        let _lock = self.0.lock(DOCUMENT)?;
        let mut entries = self.entries()?;
        entries.retain(|other| *other != entry);
        if is_listed {
            entries.push(entry);
        }
        let document = serde_json::to_vec(&entries).map_err(|error| StoreFailed(error.to_string()))?;
        self.0.save(DOCUMENT, &document)
    }

    /// Describes for the user where the logins are stored, such as `the files in DIRECTORY`.
    pub(super) fn kept_in(&self) -> String {
        self.0.describe()
    }
}
