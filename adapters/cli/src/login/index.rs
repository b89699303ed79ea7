//! [`Index`]: the list of logins to servers that are not configured.

use mcpwire_authorization::{FileStore, StoreFailed, TokenStore as _};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Name of the document that contains the list.
const DOCUMENT: &str = "servers";

/// The list of logins to servers that are not configured, so that `mcpwire whoami` finds them. The names of the other documents
/// in the store do not contain the URLs.
pub(super) struct Index<'a>(pub(super) &'a FileStore);

/// A login to a server that is not configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) url: String,
    /// The account, or an empty text for a login without a name.
    #[serde(default)]
    pub(super) account: String,
}

impl Index<'_> {
    /// Returns all entries. A list that cannot be read is treated as empty: it can be written again.
    pub(super) fn entries(self) -> Result<Vec<Entry>, Failure> {
        self.read().map_err(|error| Failure::login_store(&error))
    }

    /// Adds the entry of a login, or removes it.
    pub(super) fn set(self, url: &str, account: &str, is_listed: bool) -> Result<(), Failure> {
        self.write(url, account, is_listed).map_err(|error| Failure::login_store(&error))
    }

    fn read(&self) -> Result<Vec<Entry>, StoreFailed> {
        let document = self.0.load(DOCUMENT)?;
        Ok(document.and_then(|document| serde_json::from_slice(&document).ok()).unwrap_or_default())
    }

    fn write(&self, url: &str, account: &str, is_listed: bool) -> Result<(), StoreFailed> {
        let entry = Entry { url: url.to_owned(), account: account.to_owned() };
        if self.read()?.contains(&entry) == is_listed {
            return Ok(());
        }
        let _lock = self.0.lock(DOCUMENT)?;
        let mut entries = self.read()?;
        entries.retain(|other| *other != entry);
        if is_listed {
            entries.push(entry);
        }
        let document = serde_json::to_vec(&entries).map_err(|error| StoreFailed(error.to_string()))?;
        self.0.save(DOCUMENT, &document)
    }
}
