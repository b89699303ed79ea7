//! [`FileStore`]: keeps logins in private files, and their secrets with a [`SecretKeeper`], such as a keychain.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_files::{
    FileError, Fs, SystemFs, check_private_directory, check_private_file, check_replace, read_private,
    remove_leftovers, replace,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::documents::KEY_PREFIX;
use crate::store::{StoreFailed, StoreLock, TokenStore};

/// Maximum size of a document, in bytes. The store refuses to write or read a larger one. Logins take a few KiB, mostly for
/// access tokens with many claims.
const MAX_BYTES: u64 = 1 << 20;

/// Maximum time to wait for the lock of a document. A refresh holds the lock during its request of at most 30 s, and rarely
/// during a second one. After this time, the waiting refresh fails, and is tried again later.
const LOCK_TIMEOUT: Duration = Duration::from_secs(75);

/// Keeps refresh tokens and private keys apart from the files, for example in the keychain of the system.
///
/// The methods may block. The secrets are small, because some keychains store at most 2,560 bytes in an entry: the rest of a
/// login stays in the file.
pub trait SecretKeeper: Send + Sync + 'static {
    /// Returns the secret with this name, or `None` if there is no such secret.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed>;

    /// Writes the secret with this name, and replaces an earlier one.
    fn set(&self, name: &str, secret: &[u8]) -> Result<(), StoreFailed>;

    /// Deletes the secret with this name. Succeeds if there is no such secret.
    fn remove(&self, name: &str) -> Result<(), StoreFailed>;
}

/// Keeps logins in private files, which the processes of a user share.
///
/// Each document is a file with the mode 0600, in a directory with the mode 0700. A crash, a kill or a loss of power during a
/// write leaves the old document or the new one. If other users own a file or the directory, or can open them, the store
/// refuses them, and the error says what to do. On systems without Unix permissions, choose a directory in the profile of the
/// user.
///
/// Each document has a lock: a file whose name ends in `.lock`. The operating system gives the lock to one process, and releases
/// it when that process ends. Lock files are never deleted, because a process could otherwise lock a file that another process
/// has just removed.
///
/// A document has at most 1 MiB. A larger one is not written, and the one before it stays.
///
/// With [`keep_secrets_in`](Self::keep_secrets_in), refresh tokens and private keys of new logins are in a keychain. Until a
/// login is deleted, its secrets stay where they were first stored.
#[derive(Clone)]
pub struct FileStore {
    directory: PathBuf,
    fs: Arc<dyn Fs>,
    keeper: Option<Arc<dyn SecretKeeper>>,
    lock_timeout: Duration,
}

impl FileStore {
    /// Opens the store in this directory, and creates the directory if it is missing.
    ///
    /// # Errors
    /// If the directory cannot be created, or is not private to this user.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, StoreFailed> {
        let store = Self::new(directory);
        store.create_directory()?;
        Ok(store)
    }

    /// Creates a store in this directory, without access to the disk. The first write creates the directory if it is missing.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self::with_fs(directory.into(), Arc::new(SystemFs))
    }

    fn with_fs(directory: PathBuf, fs: Arc<dyn Fs>) -> Self {
        FileStore { directory, fs, keeper: None, lock_timeout: LOCK_TIMEOUT }
    }

    /// Keeps the refresh tokens and private keys of new logins in `keeper`, and the rest in the files.
    pub fn keep_secrets_in(mut self, keeper: impl SecretKeeper) -> Self {
        self.keeper = Some(Arc::new(keeper));
        self
    }

    /// Describes to users where logins are kept: "the files in PATH", or "the keychain and the files in PATH".
    pub fn describe(&self) -> String {
        let keychain = if self.keeper.is_some() { "the keychain and " } else { "" };
        format!("{keychain}the files in {}", self.directory.display())
    }

    fn create_directory(&self) -> Result<(), StoreFailed> {
        if check_private_directory(&self.directory).map_err(refused)? {
            return Ok(());
        }
        self.fs.create_directory(&self.directory).map_err(|error| failed("created", &self.directory, &error))?;
        check_private_directory(&self.directory).map(|_| ()).map_err(refused)
    }

    /// Returns the path of the file for a document. Fails if `name` contains other characters than lower-case letters, digits and
    /// `-`.
    fn path(&self, name: &str) -> Result<PathBuf, StoreFailed> {
        let is_valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if name.is_empty() || !name.bytes().all(is_valid) {
            return Err(StoreFailed(format!("`{name}` is not the name of a document")));
        }
        Ok(self.directory.join(name))
    }

    fn read(&self, path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, StoreFailed> {
        check_private_directory(&self.directory).map_err(refused)?;
        Ok(read_private(path, MAX_BYTES).map_err(refused)?.map(Zeroizing::new))
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreFailed> {
        replace(&*self.fs, path, bytes, None).map_err(|error| failed("written", path, &error))
    }
}

impl TokenStore for FileStore {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        let path = self.path(name)?;
        let Some(mut bytes) = self.read(&path)? else { return Ok(None) };
        let Some(members) = marked(&bytes) else { return Ok(Some(mem::take(&mut *bytes))) };
        let unusable = |reason: &str| StoreFailed(format!("the login in {} {reason}. Log in again", path.display()));
        let Some(keeper) = &self.keeper else {
            return Err(unusable("has its secret in the keychain, which this program does not use"));
        };
        let Some(secret) = keeper.get(name)? else { return Err(unusable("has lost its secret in the keychain")) };
        join(name, members, secret).map(Some).ok_or_else(|| unusable("is damaged"))
    }

    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
        let path = self.path(name)?;
        if document.len() as u64 > MAX_BYTES {
            return Err(StoreFailed(format!(
                "the login was not stored in {}: it takes {} bytes, and at most {MAX_BYTES} can be read again. Log in with fewer \
                 scopes, so that the tokens are smaller",
                path.display(),
                document.len()
            )));
        }
        self.create_directory()?;
        check_private_file(&path).map_err(refused)?;
        remove_leftovers(&path);
        let Some(keeper) = &self.keeper else { return self.replace(&path, document) };
        let stored = self.read(&path)?;
        let is_in_file = |stored: Zeroizing<Vec<u8>>| marked(&stored).is_none() && split(name, &stored).is_some();
        let uses_keychain = !stored.is_some_and(is_in_file);
        match split(name, document) {
            Some((rest, secret)) if uses_keychain => {
                // The secret is written first. If the process ends before it writes the file, the old login works with the new
                // refresh token.
                keeper.set(name, &secret)?;
                self.replace(&path, &rest)
            }
            _ => {
                self.replace(&path, document)?;
                if uses_keychain { keeper.remove(name) } else { Ok(()) }
            }
        }
    }

    fn check_save(&self, name: &str) -> Result<(), StoreFailed> {
        /// Number of bytes by which the next document may be larger than the stored one.
        const GROWTH: usize = 4096;

        let path = self.path(name)?;
        self.create_directory()?;
        let size = self.read(&path)?.map_or(0, |stored| stored.len());
        check_replace(&*self.fs, &path, size + GROWTH).map_err(|error| failed("written", &path, &error))?;
        // This read makes a locked keychain ask the user now, before the request.
        self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.get(name).map(|_| ()))
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        let path = self.path(name)?;
        check_private_directory(&self.directory).map_err(refused)?;
        // Files that an interrupted write has left contain the tokens, too.
        remove_leftovers(&path);
        let forgotten = self.keeper.as_ref().map_or(Ok(()), |keeper| keeper.remove(name));
        match self.fs.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removed", &path, &error)),
            _ => forgotten,
        }
    }

    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed> {
        let path = self.path(name)?.with_extension("lock");
        self.create_directory()?;
        let locked = self.fs.lock(&path, self.lock_timeout).map_err(|error| failed("locked", &path, &error))?;
        Ok(Box::new(locked))
    }

    /// Hashes the size, the modification time and the inode of the file, without reading its content. Each write replaces the
    /// file, so the hash changes.
    fn revision(&self, name: &str) -> Result<Option<u64>, StoreFailed> {
        let path = self.path(name)?;
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path, &error)),
        };
        let mut hasher = DefaultHasher::new();
        (metadata.len(), metadata.modified().ok()).hash(&mut hasher);
        #[cfg(unix)]
        std::os::unix::fs::MetadataExt::ino(&metadata).hash(&mut hasher);
        Ok(Some(hasher.finish()))
    }

    fn locate(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

fn failed(operation: &'static str, path: &Path, error: &io::Error) -> StoreFailed {
    StoreFailed(FileError::new(operation, path, error).to_string())
}

/// Creates the error for a file or directory that cannot be used.
fn refused(error: FileError) -> StoreFailed {
    StoreFailed(match error {
        FileError::NotPrivate { .. } => {
            format!(
                "{error}, so the logins there are not used. Make it private to this user, or remove it and log in again"
            )
        }
        error => error.to_string(),
    })
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The JSON member that marks a file whose secret is in the keychain.
const MARK: &str = "secret_in_keychain";

/// Splits a document into the content of its file and the secret for the keychain. Returns `None` if the document has no secret.
///
/// The secret of a login is its refresh token. A private key is secret as a whole, so that its file contains the mark only.
fn split(name: &str, document: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut members, secret) = if name.starts_with(KEY_PREFIX) {
        (Map::new(), document.to_vec())
    } else {
        let mut members: Map<String, Value> = serde_json::from_slice(document).ok()?;
        let token = members.get_mut("token")?.as_object_mut()?.remove("refresh_token")?;
        let Value::String(token) = token else { return None };
        (members, token.into_bytes())
    };
    members.insert(MARK.into(), true.into());
    Some((serde_json::to_vec(&members).ok()?, secret))
}

/// Returns the JSON members of a file whose secret is in the keychain, or `None` for another file.
fn marked(file: &[u8]) -> Option<Map<String, Value>> {
    /// Reads the mark alone, so that the tokens of other files are not copied in memory.
    #[derive(Deserialize)]
    struct Mark {
        secret_in_keychain: bool,
    }

    serde_json::from_slice(file).ok().filter(|mark: &Mark| mark.secret_in_keychain)?;
    let mut members: Map<String, Value> = serde_json::from_slice(file).ok()?;
    members.remove(MARK)?;
    Some(members)
}

/// Puts the secret from the keychain back into the document. Returns `None` if the file is damaged or the secret is not UTF-8.
fn join(name: &str, mut members: Map<String, Value>, secret: Vec<u8>) -> Option<Vec<u8>> {
    if name.starts_with(KEY_PREFIX) {
        return Some(secret);
    }
    let token = members.get_mut("token")?.as_object_mut()?;
    token.insert("refresh_token".into(), String::from_utf8(secret).ok()?.into());
    serde_json::to_vec(&members).ok()
}

#[cfg(test)]
#[path = "file_store_tests.rs"]
mod tests;
