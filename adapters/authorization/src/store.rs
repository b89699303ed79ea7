//! [`TokenStore`]: keeps tokens, registrations and keys between runs of the program.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

/// Keeps the documents of logins: tokens, registrations, private keys. The documents are secrets.
///
/// The methods may block, because they are called on threads for blocking work. Names contain only lower-case letters, digits and
/// `-`.
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the document with this name, or `None` if there is no such document.
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed>;

    /// Writes a document so that it survives a crash. If the write fails, the previous document must still be there.
    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed>;

    /// Checks that a document can be written now. Called before a request that uses up a credential, because its response would
    /// be lost if it could not be written.
    fn check_save(&self, _name: &str) -> Result<(), StoreFailed> {
        Ok(())
    }

    /// Deletes a document. Succeeds if there is no such document.
    fn remove(&self, name: &str) -> Result<(), StoreFailed>;

    /// Waits for the lock of a document, which all processes with this store share. Dropping the result releases the lock.
    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed>;

    /// Returns a number that changes when the document changes, or `None` if there is no such document. Programs poll the number
    /// to notice logins of other processes. The default implementation reads the document.
    fn revision(&self, name: &str) -> Result<Option<u64>, StoreFailed> {
        Ok(self.load(name)?.map(|document| {
            let mut hasher = DefaultHasher::new();
            document.hash(&mut hasher);
            hasher.finish()
        }))
    }

    /// Returns where a document is kept, for errors: the path of a file, for example.
    fn locate(&self, _name: &str) -> String {
        "the store".into()
    }
}

/// Forwards each method, also the methods with a default implementation, because the store may override them.
impl<T: TokenStore + ?Sized> TokenStore for Arc<T> {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        (**self).load(name)
    }

    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
        (**self).save(name, document)
    }

    fn check_save(&self, name: &str) -> Result<(), StoreFailed> {
        (**self).check_save(name)
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        (**self).remove(name)
    }

    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed> {
        (**self).lock(name)
    }

    fn revision(&self, name: &str) -> Result<Option<u64>, StoreFailed> {
        (**self).revision(name)
    }

    fn locate(&self, name: &str) -> String {
        (**self).locate(name)
    }
}

/// A lock of a [`TokenStore`]. Dropping it releases the lock.
pub type StoreLock = Box<dyn Send>;

/// Why a [`TokenStore`] failed. The text must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreFailed(pub String);

/// A store in memory, for programs that need no login after they end. Documents are erased from memory when they are replaced or
/// removed.
#[derive(Clone, Default)]
pub struct MemoryStore {
    documents: Arc<Mutex<BTreeMap<String, Zeroizing<Vec<u8>>>>>,
    locked: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl MemoryStore {
    /// Creates an empty store. Clones share their documents.
    pub fn new() -> Self {
        MemoryStore::default()
    }
}

impl TokenStore for MemoryStore {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        Ok(lock(&self.documents).get(name).map(|document| document.to_vec()))
    }

    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
        lock(&self.documents).insert(name.to_owned(), Zeroizing::new(document.to_vec()));
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        lock(&self.documents).remove(name);
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed> {
        let (names, released) = &*self.locked;
        let mut names = lock(names);
        while names.iter().any(|other| other == name) {
            names = released.wait(names).unwrap_or_else(PoisonError::into_inner);
        }
        names.push(name.to_owned());
        Ok(Box::new(MemoryLock { locked: Arc::clone(&self.locked), name: name.to_owned() }))
    }
}

struct MemoryLock {
    locked: Arc<(Mutex<Vec<String>>, Condvar)>,
    name: String,
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        let (names, released) = &*self.locked;
        lock(names).retain(|other| *other != self.name);
        released.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for MemoryStore {
    /// Omits the documents, because they are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
