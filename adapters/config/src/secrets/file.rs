//! [`FileSecrets`]: secrets in private files, `mcp_{uuid}.key`, one for each server.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use mcpwire_files::{
    FileError, Fs, SystemFs, check_private_directory, check_private_file, read_private, remove_leftovers, replace,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

use super::store::not_kept_here;
use super::{Secret, SecretRef, SecretStore};
use crate::HubError;
use crate::disk::{check_version, unavailable};

/// The version of the file that this program writes.
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
        let Some(bytes) = read_private(&path, MAX_BYTES).map_err(refused)? else { return Ok(Values::default()) };
        let bytes = Zeroizing::new(bytes);
        if let Ok(Header { v }) = serde_json::from_slice(&bytes) {
            check_version(&path, v, VERSION).map_err(|error| error.at("secrets"))?;
        }
        // The error of the JSON parser is left out, because it may contain a part of a secret.
        Values::parse(&bytes).ok_or_else(|| {
            let message = format!(
                "{} is not a valid file of secrets. Restore it, or remove it and set the secrets again",
                path.display()
            );
            HubError::unavailable(message).at("secrets")
        })
    }

    fn change<T>(&self, id: Uuid, change: impl FnOnce(&mut Values) -> T) -> Result<T, HubError> {
        let failed = |what: &'static str, path: &Path, error: &io::Error| unavailable(what, path, error).at("secrets");
        self.check_directory()?;
        self.fs.create_directory(&self.directory).map_err(|error| failed("created", &self.directory, &error))?;
        self.check_directory()?;
        let lock = self.directory.join(format!("mcp_{id}.lock"));
        let _held = self.fs.lock(&lock, self.lock_timeout).map_err(|error| failed("locked", &lock, &error))?;
        self.remove_leftovers.call_once(|| remove_leftovers(&self.directory.join("mcp_")));
        let mut values = self.read(id)?;
        let result = change(&mut values);
        let path = self.path(id);
        if values.0.is_empty() {
            return match self.fs.remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removed", &path, &error)),
                _ => Ok(result),
            };
        }
        let bytes = values.to_bytes();
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

    /// Checks that only this user can enter the directory of secrets, and that it is not a symbolic link. A missing directory
    /// is no error.
    fn check_directory(&self) -> Result<(), HubError> {
        check_private_directory(&self.directory).map(|_| ()).map_err(refused)
    }
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
        let SecretRef::Stored { id, name } = secret else { return Err(not_kept_here(secret)) };
        Ok(self.read(*id)?.0.remove(name))
    }

    fn set(&self, secret: &SecretRef, value: &Secret) -> Result<(), HubError> {
        let SecretRef::Stored { id, name } = secret else { return Err(not_kept_here(secret)) };
        self.change(*id, |values| {
            values.0.insert(name.clone(), value.clone());
        })
    }

    fn remove(&self, secret: &SecretRef) -> Result<bool, HubError> {
        let SecretRef::Stored { id, name } = secret else { return Err(not_kept_here(secret)) };
        if !self.read(*id)?.0.contains_key(name) {
            return Ok(false);
        }
        self.change(*id, |values| values.0.remove(name).is_some())
    }

    fn names(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        Ok(self.read(id)?.0.into_keys().collect())
    }

    fn remove_all(&self, id: Uuid) -> Result<Vec<String>, HubError> {
        let names = if self.names(id)?.is_empty() {
            Vec::new()
        } else {
            self.change(id, |values| std::mem::take(&mut values.0).into_keys().collect())?
        };
        let tokens = self.oauth_path(id);
        match self.fs.remove(&tokens) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unavailable("removed", &tokens, &error).at("secrets"));
            }
            _ => {}
        }
        // The server is deleted, so no other process needs the lock.
        let _ = self.fs.remove(&self.directory.join(format!("mcp_{id}.lock")));
        Ok(names)
    }
}

impl fmt::Debug for FileSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSecrets").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The version of a file of secrets, which is read before the rest.
#[derive(Deserialize)]
struct Header {
    v: u64,
}

/// The content of a file of secrets: the secrets of one server by their names.
#[derive(Default)]
struct Values(BTreeMap<String, Secret>);

impl Values {
    fn parse(bytes: &[u8]) -> Option<Values> {
        let Ok(Value::Object(mut members)) = serde_json::from_slice::<Value>(bytes) else { return None };
        if members.get("v").and_then(Value::as_u64) != Some(VERSION) {
            return None;
        }
        let Some(Value::Object(values)) = members.remove("values") else { return None };
        let secret = |(name, value): (String, Value)| match value {
            Value::String(value) => Some((name, Secret::new(value))),
            _ => None,
        };
        values.into_iter().map(secret).collect::<Option<_>>().map(Values)
    }

    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let values: Map<String, Value> =
            self.0.iter().map(|(name, value)| (name.clone(), Value::from(value.expose()))).collect();
        let mut members = Map::new();
        members.insert("v".into(), VERSION.into());
        members.insert("values".into(), Value::Object(values));
        let bytes = Zeroizing::new(serde_json::to_vec(&members).unwrap_or_default());
        if let Some(Value::Object(values)) = members.get_mut("values") {
            for value in values.values_mut() {
                if let Value::String(value) = value {
                    value.zeroize();
                }
            }
        }
        bytes
    }
}
