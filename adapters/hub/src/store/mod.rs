//! [`Store`]: the configurations on disk, in `servers.json`.
//!
//! The file is an object with the members `version` (1) and `servers`, a list of [`McpConfig`]. It may hold comments. Many
//! processes may use it at the same time: whoever changes it holds the lock `servers.lock` from reading it until it is
//! written, and it is replaced as a whole, so that a reader sees the old one or the new one. What was there before the last change is in
//! `servers.json.bak`.
//!
//! A change touches nothing but what it is about: other entries, unknown members and comments stay as they are. A file that
//! cannot be read is never written to, and never taken for an empty one.
//!
//! ```no_run
//! use mcpwire_hub::config::McpConfig;
//! use mcpwire_hub::store::Store;
//!
//! let store = Store::new("/home/me/.config/example/mcp/servers.json");
//! store.create(&McpConfig::npm("everything", "@modelcontextprotocol/server-everything"))?;
//! for config in store.load()?.configs {
//!     println!("{}", config.name);
//! }
//! # Ok::<(), mcpwire_hub::HubError>(())
//! ```

mod document;
mod draft;
mod loaded;
mod merge;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use uuid::Uuid;

use crate::HubError;
use crate::config::McpConfig;
use crate::disk::{Fs, SystemFs, remove_leftovers, replace, unavailable};
use document::Document;

pub use draft::Draft;
pub use loaded::{BrokenEntry, Loaded, Revision};

/// How long others may hold the lock. They hold it for milliseconds, unless their disk hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file of configurations.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    fs: Box<dyn Fs>,
    grace_periods: Duration,
}

impl Store {
    /// The store in this file, which is usually called `servers.json`, and need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Store { path: path.into(), fs: Box::new(SystemFs), grace_periods: PATIENCE }
    }

    #[cfg(test)]
    pub(crate) fn with_fs(path: impl Into<PathBuf>, fs: impl Fs + 'static) -> Self {
        Store { path: path.into(), fs: Box::new(fs), grace_periods: PATIENCE }
    }

    /// How long another process may hold the lock before a change is given up; 10 s by default.
    pub fn grace_periods(mut self, grace_periods: Duration) -> Self {
        self.grace_periods = grace_periods;
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file as it was before the last change.
    pub fn backup_path(&self) -> PathBuf {
        self.with_ending(".bak")
    }

    /// Reads the file. None at all is one without servers.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if it is there and is not what it should be, and `SERVICE_UNAVAILABLE` if it cannot be read. What
    /// is wrong with one entry spoils only that: see [`Loaded::broken`].
    pub fn load(&self) -> Result<Loaded, HubError> {
        Ok(self.read()?.loaded())
    }

    /// Adds a configuration.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if it is not valid; `CONFLICT` with the field `id` or `name` if another has it; and those of
    /// [`Store::load`] and of writing. After an error, the file is as it was.
    pub fn create(&self, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.create(config)).map(|((), loaded)| loaded)
    }

    /// Adds configurations with one write. Returns, in their order, which of them were added: one that is not valid, or whose
    /// id or name is in use, does not keep the others out.
    ///
    /// # Errors
    ///
    /// Those of [`Store::load`] and of writing. Nothing is added then.
    pub fn create_all(&self, configs: &[McpConfig]) -> Result<Vec<Result<(), HubError>>, HubError> {
        self.modify(|draft| Ok(configs.iter().map(|config| draft.create(config)).collect())).map(|(results, _)| results)
    }

    /// Replaces a configuration.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if there is none with its id; otherwise those of [`Store::create`].
    pub fn update(&self, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.update(config)).map(|((), loaded)| loaded)
    }

    /// Replaces a configuration if it is still what it was when the caller read it.
    ///
    /// # Errors
    ///
    /// `CONFLICT` with the field `revision` if it is not; otherwise those of [`Store::update`].
    pub fn update_from(&self, was: &McpConfig, config: &McpConfig) -> Result<Loaded, HubError> {
        self.modify(|draft| {
            if draft.get(was.id) != Some(was) {
                draft.known(was.id)?;
                let message = format!("`{}` has been changed by somebody else meanwhile. Read it again", was.name);
                return Err(HubError::conflict("revision", message));
            }
            draft.update(config)
        })
        .map(|((), loaded)| loaded)
    }

    /// Removes a configuration. Its secrets are elsewhere, and stay.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if there is none with this id; otherwise those of [`Store::load`] and of writing.
    pub fn delete(&self, id: Uuid) -> Result<Loaded, HubError> {
        self.modify(|draft| draft.delete(id)).map(|((), loaded)| loaded)
    }

    /// Changes the file: reads it, hands it to `change`, and writes it, all under the lock. If `change` fails, or changes nothing,
    /// nothing is written.
    pub fn modify<T>(&self, change: impl FnOnce(&mut Draft) -> Result<T, HubError>) -> Result<(T, Loaded), HubError> {
        let _held = self.lock()?;
        let document = self.read()?;
        let before = document.text().to_owned();
        let mut draft = Draft::new(document);
        let value = change(&mut draft)?;
        let after = draft.text();
        // What could not be read again must not be written.
        let document = Document::parse(after.as_bytes()).map_err(|reason| {
            HubError::validation("servers", format!("With this change, {} {reason}", self.path.display()))
        })?;
        if after != before {
            replace(&*self.fs, &self.path, after.as_bytes(), Some(&self.backup_path()))
                .map_err(|error| unavailable("written", &self.path, &error))?;
        }
        Ok((value, document.loaded()))
    }

    /// Puts the file as it was before the last change in the place of one that cannot be read, which is kept as
    /// `servers.json.broken`.
    ///
    /// # Errors
    ///
    /// `CONFLICT` with the field `servers` if the file can be read; `NOT_FOUND` if there is no earlier one that could be; and
    /// `SERVICE_UNAVAILABLE` if it cannot be written.
    pub fn restore(&self) -> Result<Loaded, HubError> {
        let _held = self.lock()?;
        if self.read().is_ok() {
            return Err(HubError::conflict("servers", "The file is as it should be, and nothing was restored"));
        }
        let backup = self.backup_path();
        let bytes = self.fs.read(&backup).map_err(|error| unavailable("read", &backup, &error))?;
        let good = bytes.and_then(|bytes| Document::parse(&bytes).ok());
        let Some(document) = good else {
            return Err(HubError::not_found("servers", format!("{} cannot be read either", backup.display())));
        };
        let written = |error| unavailable("written", &self.path, &error);
        replace(&*self.fs, &self.path, document.text().as_bytes(), Some(&self.with_ending(".broken")))
            .map_err(written)?;
        Ok(document.loaded())
    }

    fn lock(&self) -> Result<File, HubError> {
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory {
            self.fs.create_directory(directory).map_err(|error| unavailable("made", directory, &error))?;
        }
        let lock = self.path.with_extension("lock");
        let held = self.fs.lock(&lock, self.grace_periods).map_err(|error| unavailable("locked", &lock, &error))?;
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
            let advice = match self.fs.read(&backup) {
                Ok(Some(bytes)) if Document::parse(&bytes).is_ok() => {
                    format!("; it can be restored as it was before the last change, from {}", backup.display())
                }
                _ => String::new(),
            };
            let message = format!("{} {reason}. It was left as it is{advice}", self.path.display());
            HubError::validation("servers", message)
        })
    }

    fn with_ending(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or_default());
        name.push(ending);
        self.path.with_file_name(name)
    }
}
