//! [`Index`]: the list of logins to servers that are not configured.

use mcpwire_authorization::{FileStore, StoreFailed, TokenStore as _};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Name of the document that contains the list.
const DOCUMENT: &str = "servers";

/// The list of logins to servers that are not configured, so that `mcpwire whoami` finds them. The names of the other documents
/// in the store do not contain the URLs.
pub(super) struct Index<'a>(pub(super) &'a FileStore);

/// The list of a later version of this program. In this version, the document is a list of entries.
#[derive(Deserialize)]
struct Later {
    version: u64,
}

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
