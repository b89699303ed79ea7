//! [`ImportOptions`], [`Import`]: the options and the result of an import.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use super::Dialect;
use crate::HubError;
use crate::config::McpConfig;
use crate::secrets::{Secret, SecretRef, SecretStore};

/// The options for importing the configuration file of another program.
#[derive(Clone, Debug, Default)]
#[must_use = "options have no effect until they are used"]
#[non_exhaustive]
pub struct ImportOptions {
    /// The program whose format the file has. By default, the program is detected from the file.
    pub dialect: Option<Dialect>,
    /// The path of the file to import. It helps to detect the program that the file belongs to, and the project folder.
    pub path: Option<PathBuf>,
    /// The path that replaces `${workspaceFolder}` in the file. The default is the project folder that contains the file.
    pub workspace: Option<PathBuf>,
    /// The path that replaces `${userHome}` in the file. The default is the home directory of this user.
    pub home: Option<PathBuf>,
    /// The values that the user has entered for the import. The keys are the ids of `inputs` in a file of VS Code, or the names
    /// of variables, headers and arguments in a `server.json` of a registry.
    pub answers: BTreeMap<String, Secret>,
    /// A function that reads the `envFile` of a server of VS Code or Cursor, usually [`read_file`](super::read_file). Without
    /// this function, no `envFile` is read, and a warning says so.
    pub read_file: Option<fn(&Path) -> io::Result<String>>,
    /// Whether to import servers that have secrets in their arguments. Every user of the machine can read the arguments of a
    /// process.
    pub secrets_in_args: bool,
}

impl ImportOptions {
    mcpwire_client::setters! {
        /// Sets the program whose format the file has.
        fn dialect(dialect: Dialect) => dialect = Some(dialect);

        /// Sets the path of the file to import.
        fn path(path: impl Into<PathBuf>) => path = Some(path.into());

        /// Sets the path that replaces `${workspaceFolder}` in the file.
        fn workspace(path: impl Into<PathBuf>) => workspace = Some(path.into());

        /// Sets the path that replaces `${userHome}` in the file.
        fn home(path: impl Into<PathBuf>) => home = Some(path.into());

        /// Sets the function that reads the `envFile` of a server, usually [`read_file`](super::read_file).
        fn read_file(read: fn(&Path) -> io::Result<String>) => read_file = Some(read);

        /// Sets whether to import servers that have secrets in their arguments.
        fn secrets_in_args(import: bool) => secrets_in_args = import;
    }

    /// Adds a value that the user has entered for the import. `id` is the key in [`answers`](Self::answers).
    pub fn answer(mut self, id: impl Into<String>, value: Secret) -> Self {
        self.answers.insert(id.into(), value);
        self
    }
}

/// The result of importing the configuration file of another program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Import {
    /// The program whose format the imported file has.
    pub dialect: Dialect,
    /// The servers that were imported.
    pub servers: Vec<Imported>,
    /// The servers in the file that cannot be imported, with the reasons.
    pub refused: Vec<Refused>,
    /// The settings in the file that were omitted or changed by the import.
    pub warnings: Vec<Warning>,
}

impl Import {
    pub(super) fn new(dialect: Dialect) -> Self {
        Import { dialect, servers: Vec::new(), refused: Vec::new(), warnings: Vec::new() }
    }

    /// Adds the outcome of importing the server `name`: the server with its warnings, or the reason why it cannot be imported.
    pub(super) fn add(&mut self, name: &str, outcome: Result<(Imported, Vec<Warning>), HubError>) {
        match outcome {
            Ok((server, warnings)) => {
                self.servers.push(server);
                self.warnings.extend(warnings);
            }
            Err(error) => self.refused.push(Refused { name: name.to_owned(), error }),
        }
    }

    /// Adds a warning about the whole file, or about the server `server` in it.
    pub(super) fn warn(&mut self, server: Option<&str>, field: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Warning::new(server, field, message));
    }
}

/// A server that was imported from the configuration file of another program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The configuration of the server, with a new id. The user must approve the configuration before the server can be
    /// started.
    pub config: McpConfig,
    /// The secrets that were found in the file or entered by the user. The configuration contains only references to them.
    pub secrets: Vec<(SecretRef, Secret)>,
    /// An error that names the missing required values, or `None` if no value is missing. The configuration cannot be saved until
    /// they are set.
    pub missing: Option<HubError>,
}

impl Imported {
    /// Stores the secrets of the imported server in `store`. Call this before you save the configuration, which only contains
    /// references to the secrets.
    ///
    /// # Errors
    ///
    /// Returns the error of `store` if a secret cannot be stored. The secrets of this server that were already stored are
    /// removed then.
    pub fn keep_secrets(&self, store: &dyn SecretStore) -> Result<(), HubError> {
        for (kept, (secret, value)) in self.secrets.iter().enumerate() {
            if let Err(error) = store.set(secret, value) {
                for (secret, _) in &self.secrets[..kept] {
                    // The first error is returned, so errors of the removal are ignored.
                    let _ = store.remove(secret);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Number of threads that store the secrets of imported servers. Storing a secret waits for the disk, and a disk serves several
/// requests at once.
const THREADS: usize = 8;

/// Stores the secrets of several imported servers in `store`, on several threads. Calls [`Imported::keep_secrets`] for each
/// server, and returns the results in the order of `servers`.
pub fn keep_all_secrets(servers: &[Imported], store: &dyn SecretStore) -> Vec<Result<(), HubError>> {
    let chunk = servers.len().div_ceil(THREADS).max(1);
    let keep = |servers: &[Imported]| servers.iter().map(|server| server.keep_secrets(store)).collect::<Vec<_>>();
    let panicked = |_| Err(HubError::unavailable("the store of secrets panicked"));
    thread::scope(|scope| {
        let chunks = servers.chunks(chunk);
        let threads: Vec<_> = chunks.map(|servers| (servers, scope.spawn(move || keep(servers)))).collect();
        let results = threads
            .into_iter()
            .flat_map(|(servers, thread)| thread.join().unwrap_or_else(|_| servers.iter().map(panicked).collect()));
        results.collect()
    })
}

/// A server in an imported file that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The name of the server in the file.
    pub name: String,
    /// The reason why the server cannot be imported. The field of the error is the path of the wrong member in the entry of the
    /// server.
    pub error: HubError,
}

/// A setting of an imported file that was omitted or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The name of the server that has the setting, or `None` if the setting applies to the whole file.
    pub server: Option<String>,
    /// The path of the JSON member that contains the setting, such as `env.TOKEN`.
    pub field: String,
    /// A message for the user that says what was done with the setting. The message contains no values of the file.
    pub message: String,
}

impl Warning {
    pub(super) fn new(server: Option<&str>, field: impl Into<String>, message: impl Into<String>) -> Self {
        Warning { server: server.map(str::to_owned), field: field.into(), message: message.into() }
    }
}
