//! The version of stored documents: a document of a later version is neither used nor replaced.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::store::{StoreFailed, TokenStore};

/// The version of the documents that this crate writes. Documents without a version have this one, too.
const VERSION: u32 = 1;

/// A document with its version.
#[derive(Serialize)]
pub(crate) struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    pub(crate) fn new(content: &'a T) -> Self {
        Versioned { version: VERSION, content }
    }
}

/// What all documents have in common. The document of a login has its version in its token.
#[derive(Deserialize)]
struct Header {
    version: Option<Value>,
    token: Option<TokenHeader>,
}

#[derive(Deserialize)]
struct TokenHeader {
    version: Option<Value>,
}

/// Fails if the document with this content is of a later version than this crate knows.
pub(crate) fn check_version(store: &dyn TokenStore, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
    // A damaged document has no version. Keys are no JSON.
    let Ok(Header { version, token }) = serde_json::from_slice(document) else { return Ok(()) };
    let versions = [version, token.and_then(|token| token.version)];
    match versions.into_iter().flatten().find(|version| version.as_u64().is_none_or(|it| it > VERSION.into())) {
        Some(version) => Err(StoreFailed(format!(
            "{} has version {version}, which this program does not know; use a later version of this program, or remove the \
             file and log in again",
            store.locate(name)
        ))),
        None => Ok(()),
    }
}

/// Loads a document, which is erased from memory when it is dropped. Fails if it is of a later version.
pub(crate) fn load(store: &dyn TokenStore, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, StoreFailed> {
    let document = store.load(name)?.map(Zeroizing::new);
    if let Some(document) = &document {
        check_version(store, name, document)?;
    }
    Ok(document)
}
