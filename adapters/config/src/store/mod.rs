//! [`Store`]: the configuration file, `servers.json`.
//!
//! The file is an object with the members `version` (1) and `servers`, a list of [`McpConfig`]. It may contain comments. Several
//! processes can use it at the same time: a writer holds the lock `servers.lock` while it reads, changes and replaces the file,
//! and readers see either the old file or the new one. `servers.json.bak` is the file before the last change.
//!
//! A change of one entry keeps the other entries, unknown members and comments. An unreadable file is never overwritten, and
//! never counts as empty.
//!
//! ```no_run
//! # mod mcpwire { pub mod hub { pub mod config { pub use mcpwire_config::config::McpConfig; } pub mod store { pub use
//! # mcpwire_config::store::Store; } } }
//! use mcpwire::hub::config::McpConfig;
//! use mcpwire::hub::store::Store;
//!
//! let store = Store::new("/home/me/.config/example/mcp/servers.json");
//! store.create(&McpConfig::npm("everything", "@modelcontextprotocol/server-everything"))?;
//! for config in store.load()?.configs {
//!     println!("{}", config.name);
//! }
//! # Ok::<(), mcpwire_config::HubError>(())
//! ```

mod document;
mod draft;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpwire_files::{Fs, SystemFs, remove_leftovers, replace};
use uuid::Uuid;

use crate::HubError;
use crate::config::McpConfig;
use crate::disk::unavailable;
use document::Document;
pub use document::{BrokenEntry, Loaded, Revision};
pub use draft::Draft;

/// Default maximum time to wait for the lock of the configuration file. Other processes hold the lock for milliseconds, unless
/// their disk hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The configuration file `servers.json`, which contains the configurations of all servers.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    fs: Box<dyn Fs>,
    lock_timeout: Duration,
}

impl Store {
    /// Creates a store for the configuration file `path`, usually named `servers.json`. The file need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Store { path: path.into(), fs: Box::new(SystemFs), lock_timeout: LOCK_TIMEOUT }
    }

    #[cfg(test)]
    pub(crate) fn with_fs(path: impl Into<PathBuf>, fs: impl Fs + 'static) -> Self {
        Store { path: path.into(), fs: Box::new(fs), lock_timeout: LOCK_TIMEOUT }
    }

    /// Sets the maximum time to wait while another process changes the configuration file. The default is 10 s.
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// Returns the path of the configuration file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the backup, which contains the configuration file before its last change.
    pub fn backup_path(&self) -> PathBuf {
        self.with_ending(".bak")
    }

    /// Reads the configuration file. A missing file counts as a file without servers.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if the file is not a configuration file, and `SERVICE_UNAVAILABLE` if it cannot be read. Servers
    /// whose configuration is unreadable are not an error: they are in [`Loaded::broken`].
    pub fn load(&self) -> Result<Loaded, HubError> {
        Ok(self.read()?.loaded())
    }

    /// Adds the configuration of a server to the configuration file. Returns the new content of the file.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if `config` is invalid; `CONFLICT` with the field `id` or `name` if another server has the same id or
    /// name; the errors of [`Store::load`]; `SERVICE_UNAVAILABLE` if the file cannot be written. After an error, the file is
    /// unchanged.
    pub fn create(&self, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.create(config)).map(|((), loaded)| loaded)
    }

    /// Adds the configurations of several servers to the configuration file, with one write. Returns a result for each
    /// configuration, in their order. An invalid configuration, or one whose id or name is in use, is not added, but does not
    /// affect the others.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`], and `SERVICE_UNAVAILABLE` if the file cannot be written. After such an error, nothing was
    /// added.
    pub fn create_all(&self, configs: &[McpConfig]) -> Result<Vec<Result<(), HubError>>, HubError> {
        self.modify(|draft| Ok(configs.iter().map(|config| draft.create(config)).collect())).map(|(results, _)| results)
    }

    /// Replaces the configuration of the server that has the id of `config`. Returns the new content of the configuration file.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if no server has this id, and the errors of [`Store::create`].
    pub fn update(&self, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.update(config)).map(|((), loaded)| loaded)
    }

    /// Replaces the configuration of a server, if the file still contains `was`, the configuration that the caller has read
    /// before.
    ///
    /// # Errors
    ///
    /// `CONFLICT` with the field `revision` if the configuration in the file is no longer equal to `was`, and the errors of
    /// [`Store::update`].
    pub fn update_from(&self, was: &McpConfig, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| {
            if draft.get(was.id) != Some(was) {
                draft.known(was.id)?;
                let message = format!(
                    "the configuration of `{}` was changed by somebody else meanwhile. Read it again",
                    was.name
                );
                return Err(HubError::conflict("revision", message));
            }
            draft.update(config)
        })
        .map(|((), loaded)| loaded)
    }

    /// Removes the configuration of the server `id` from the configuration file. The secrets of the server are not removed: see
    /// [`SecretStore`](crate::secrets::SecretStore).
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if no server has this id; the errors of [`Store::load`]; `SERVICE_UNAVAILABLE` if the file cannot be
    /// written.
    pub fn delete(&self, id: Uuid) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.delete(id)).map(|((), loaded)| loaded)
    }

    /// Changes the configuration file while its lock is held: reads the file, calls `change` with a [`Draft`] of it, and writes
    /// the result. Writes nothing if `change` returns an error or changes nothing.
    pub fn modify<T>(&self, change: impl FnOnce(&mut Draft) -> Result<T, HubError>) -> Result<(T, Loaded), HubError> {
        let _held = self.lock()?;
        let before = self.read()?;
        let mut draft = Draft::new(&before);
        let value = change(&mut draft)?;
        let after = draft.text()?;
        // Check that the changed file is readable before it is written.
        let document = Document::parse(after.as_bytes()).map_err(|reason| {
            let message = format!("the change was not saved, because with it {} {reason}", self.path.display());
            HubError::validation("servers", message)
        })?;
        if after != before.text() {
            self.replace(after.as_bytes(), &self.backup_path())?;
        }
        Ok((value, document.loaded()))
    }

    /// Replaces an unreadable configuration file by its backup. The unreadable file is renamed to `servers.json.broken`.
    ///
    /// # Errors
    ///
    /// `CONFLICT` with the field `servers` if the file is readable; `NOT_FOUND` if there is no readable backup; and
    /// `SERVICE_UNAVAILABLE` if the file cannot be written.
    pub fn restore(&self) -> Result<Loaded, HubError> {
        let _held = self.lock()?;
        if self.read().is_ok() {
            return Err(HubError::conflict("servers", "the file is readable, so nothing was restored"));
        }
        let backup = self.backup_path();
        let bytes = self.fs.read(&backup).map_err(|error| unavailable("read", &backup, &error))?;
        let Some(document) = bytes.and_then(|bytes| Document::parse(&bytes).ok()) else {
            let message = format!("{} is missing or unreadable, so nothing was restored", backup.display());
            return Err(HubError::not_found("servers", message));
        };
        self.replace(document.text().as_bytes(), &self.with_ending(".broken"))?;
        Ok(document.loaded())
    }

    /// Replaces the configuration file. The old file stays under the name `backup`.
    fn replace(&self, bytes: &[u8], backup: &Path) -> Result<(), HubError> {
        replace(&*self.fs, &self.path, bytes, Some(backup)).map_err(|error| unavailable("written", &self.path, &error))
    }

    fn lock(&self) -> Result<File, HubError> {
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory {
            self.fs.create_directory(directory).map_err(|error| unavailable("created", directory, &error))?;
        }
        let lock = self.path.with_extension("lock");
        let held = self.fs.lock(&lock, self.lock_timeout).map_err(|error| unavailable("locked", &lock, &error))?;
        remove_leftovers(&self.path);
        if let Ok(target) = self.fs.resolve(&self.path)
            && target != self.path
        {
            remove_leftovers(&target);
        }
        Ok(held)
    }

    fn read(&self) -> Result<Document, HubError> {
        let Some(bytes) = self.fs.read(&self.path).map_err(|error| unavailable("read", &self.path, &error))? else {
            return Ok(Document::empty());
        };
        Document::parse(&bytes).map_err(|reason| {
            let backup = self.backup_path();
            let is_readable = matches!(self.fs.read(&backup), Ok(Some(bytes)) if Document::parse(&bytes).is_ok());
            let advice = is_readable.then(|| format!(". The file before the last change is {}", backup.display()));
            let message = format!("{} {reason}. Correct the file{}", self.path.display(), advice.unwrap_or_default());
            HubError::validation("servers", message)
        })
    }

    fn with_ending(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or_default());
        name.push(ending);
        self.path.with_file_name(name)
    }
}
