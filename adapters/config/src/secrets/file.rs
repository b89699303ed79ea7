//! [`FileSecrets`]: secrets in private files, `mcp_{uuid}.key`, one for each server.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use mcpwire_files::{
    FileError, Fs, SystemFs, check_private_directory, check_private_file, read_private, remove_leftovers, replace,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::secret::{Secret, SecretRef, SecretStore, of_server};
use crate::HubError;
use crate::disk::{check_version, unavailable};

/// The format version of the files that this program writes.
const VERSION: u64 = 1;

/// Maximum size of the file with the secrets of one server, in bytes. The store neither writes nor reads a larger file. A private
/// key with its certificates takes only some KiB.
const MAX_BYTES: u64 = 1 << 20;

/// A store that keeps the secrets of servers, whose references have the form `mcp_{uuid}#NAME`, in private files. There is one
/// file for each server, which only this user can read, in a directory that only this user can enter.
///
/// Each file is JSON: `{"v": 1, "values": {"NAME": "value"}}`. It has at most 1 MiB: a secret that would make it larger is refused
/// with `VALIDATION_ERROR`. If other users could read or replace a file, the store refuses to use it, and the error says what to
/// do. On systems without Unix permissions, choose a directory that other users cannot enter, such as one in the user's profile.
#[derive(Debug)]
pub struct FileSecrets {
    directory: PathBuf,
    fs: Box<dyn Fs>,
    lock_timeout: Duration,
    /// Makes the removal of abandoned temporary files run only once, at the first change, because the directory may contain
    /// many files.
    remove_leftovers: Once,
}

impl FileSecrets {
    /// Creates a store whose files are in `directory`. The directory is created when the first secret is stored.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        FileSecrets {
            directory: directory.into(),
            fs: Box::new(SystemFs),
            lock_timeout: Duration::from_secs(10),
            remove_leftovers: Once::new(),
        }
    }

    /// Returns the path of the file that contains the secrets of the server `id`.
    pub fn path(&self, id: Uuid) -> PathBuf {
        self.directory.join(format!("mcp_{id}.key"))
    }

    /// Returns the path of the file for the OAuth tokens of the server `id`. [`SecretStore::remove_all`] also removes this
    /// file.
    pub fn oauth_path(&self, id: Uuid) -> PathBuf {
        self.directory.join(format!("mcp_{id}.oauth"))
    }

    /// Checks the permissions of the directory of secrets and of the files in it. Returns an error for each that other users
    /// could read or replace.
    pub fn audit(&self) -> Vec<HubError> {
        if let Err(error) = self.check_directory() {
            return vec![error];
        }
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let is_key = |path: &PathBuf| {
            let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mcp_"));
            is_ours && path.extension().is_some_and(|end| end == "key" || end == "oauth")
        };
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_key);
        paths.filter_map(|path| check_private_file(&path).err().map(refused)).collect()
    }

    fn read(&self, id: Uuid) -> Result<Values, HubError> {
        let path = self.path(id);
        self.check_directory()?;
        let Some(bytes) = read_private(&path, MAX_BYTES).map_err(refused)? else { return Ok(Values::new()) };
        let bytes = Zeroizing::new(bytes);
        if let Ok(Header { v }) = serde_json::from_slice(&bytes) {
            check_version(&path, v, VERSION).map_err(|error| error.at("secrets"))?;
        }
        // The error of the JSON parser is left out, because it may contain a part of a secret.
        parse(&bytes).ok_or_else(|| {
            let message = format!(
                "{} is not a valid file of secrets. Restore it, or remove it and set the secrets again",
                path.display()
            );
            HubError::unavailable(message).at("secrets")
        })
    }

    fn change<T>(&self, id: Uuid, change: impl FnOnce(&mut Values) -> T) -> Result<T, HubError> {
        self.check_directory()?;
        self.fs.create_directory(&self.directory).map_err(|error| failed("created", &self.directory, &error))?;
        self.check_directory()?;
        let lock = self.directory.join(format!("mcp_{id}.lock"));
        let _held = self.fs.lock(&lock, self.lock_timeout).map_err(|error| failed("locked", &lock, &error))?;
        self.remove_leftovers.call_once(|| remove_leftovers(&self.directory.join("mcp_")));
        let mut values = self.read(id)?;
        let result = change(&mut values);
        let path = self.path(id);
        if values.is_empty() {
            return self.remove_file(&path).map(|()| result);
        }
        let bytes = to_bytes(&values);
        if bytes.len() as u64 > MAX_BYTES {
            let message = format!(
                "the secrets of one server may take at most {} MiB together, so nothing was stored. Store a shorter value, \
                 or put the value in a file and tell the server the path of the file",
                MAX_BYTES >> 20
            );
            return Err(HubError::validation("secrets", message));
        }
        replace(&*self.fs, &path, &bytes, None).map_err(|error| failed("written", &path, &error))?;
        Ok(result)
    }

    /// Removes a file, which may be missing.
    fn remove_file(&self, path: &Path) -> Result<(), HubError> {
        match self.fs.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removed", path, &error)),
            _ => Ok(()),
        }
    }

    /// Checks that only this user can enter the directory of secrets, and that it is not a symbolic link. A missing directory
    /// is no error.
    fn check_directory(&self) -> Result<(), HubError> {
        check_private_directory(&self.directory).map(|_| ()).map_err(refused)
    }
}

fn failed(what: &'static str, path: &Path, error: &io::Error) -> HubError {
    unavailable(what, path, error).at("secrets")
}

/// Creates the error for a file or directory of secrets that cannot be used.
fn refused(error: FileError) -> HubError {
    let message = match error {
        FileError::NotPrivate { .. } => format!("{error}, so the secrets there are not used"),
        error => error.to_string(),
    };
    HubError::unavailable(message).at("secrets")
}

impl SecretStore for FileSecrets {
    fn get(&self, secret: &SecretRef) -> Result<Option<Secret>, HubError> {
        let (id, name) = of_server(secret)?;
        Ok(self.read(id)?.remove(name))
    }

    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError> {
        let (id, name) = of_server(secret)?;
        self.change(id, |values| values.insert(name.to_owned(), value.clone())).map(drop)
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        let (id, name) = of_server(secret)?;
        Ok(self.read(id)?.contains_key(name) && self.change(id, |values| values.remove(name).is_some())?)
    }

    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        Ok(self.read(id)?.into_keys().collect())
    }

    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        let mut names = self.names(id)?;
        if !names.is_empty() {
            names = self.change(id, |values| std::mem::take(values).into_keys().collect())?;
        }
        self.remove_file(&self.oauth_path(id))?;
        // The server is deleted, so no other process needs the lock.
        let _ = self.fs.remove(&self.directory.join(format!("mcp_{id}.lock")));
        Ok(names)
    }
}

/// The version of a file of secrets. It is read first, because files of later versions may have another format.
#[derive(Deserialize)]
struct Header {
    v: u64,
}

/// A file of secrets: its version, and the secrets of one server by their names.
#[derive(Serialize, Deserialize)]
struct Content<T: Ord> {
    v: u64,
    values: BTreeMap<T, T>,
}

type Values = BTreeMap<String, Secret>;

/// Parses a file of secrets. Returns `None` if the file is not valid.
fn parse(bytes: &[u8]) -> Option<Values> {
    let content: Content<String> = serde_json::from_slice(bytes).ok()?;
    let values = content.values.into_iter().map(|(name, value)| (name, Secret::new(value)));
    (content.v == VERSION).then(|| values.collect())
}

fn to_bytes(values: &Values) -> Zeroizing<Vec<u8>> {
    let values = values.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    Zeroizing::new(serde_json::to_vec(&Content { v: VERSION, values }).unwrap_or_default())
}
