//! [`ImportOptions`], [`Import`]: the options and the result of an import.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use super::Dialect;
use crate::HubError;
use crate::config::{McpConfig, McpPackage, McpPackageType};
use crate::secrets::{Secret, SecretRef, SecretStore};

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The program that the file belongs to. By default, it is detected.
    pub dialect: Option<Dialect>,
    /// The path of the file. It helps to detect the dialect and the project folder.
    pub path: Option<PathBuf>,
    /// The value of `${workspaceFolder}`. The default is the project folder of the file.
    pub workspace: Option<PathBuf>,
    /// The value of `${userHome}`. The default is the home directory of this user.
    pub home: Option<PathBuf>,
    /// The user's answers: to the inputs of VS Code by their ids, and for variables, headers and arguments of a registry's entry
    /// by their names.
    pub answers: BTreeMap<String, Secret>,
    /// Reads the `envFile` of an entry of VS Code and Cursor, usually [`read_file`](super::read_file). Without it, the file is not
    /// read, and a warning says so.
    pub read_file: Option<fn(&Path) -> io::Result<String>>,
    /// Whether to import servers with secrets in their arguments, which every user of the machine can read.
    pub secrets_in_args: bool,
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The program that the file belongs to.
    pub dialect: Dialect,
    /// The servers.
    pub servers: Vec<Imported>,
    /// The entries that cannot be imported.
    pub refused: Vec<Refused>,
    /// The settings that were omitted or changed.
    pub warnings: Vec<Warning>,
}

/// An imported server.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The configuration, with a new id. The user must approve it before the server can be started.
    pub config: McpConfig,
    /// The secrets of the file and of the answers. The configuration refers to them.
    pub secrets: Vec<(SecretRef, Secret)>,
    /// The error for required values that are missing. The configuration cannot be saved without them.
    pub missing: Option<HubError>,
}

impl Imported {
    /// Stores the secrets. Call this before you save the configuration, which is useless without them.
    ///
    /// # Errors
    ///
    /// Those of the store. Then the secrets that were already stored are removed.
    pub fn keep_secrets(&self, store: &dyn SecretStore) -> Result<(), HubError> {
        for (kept, (secret, value)) in self.secrets.iter().enumerate() {
            if let Err(error) = store.set(secret, value) {
                for (secret, _) in &self.secrets[..kept] {
                    // The first error is returned.
                    let _ = store.remove(secret);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Number of threads that store secrets. Each secret waits for the disk, which can serve several at once.
const THREADS: usize = 8;

/// Stores the secrets of several servers at once, as [`Imported::keep_secrets`] does for one. Returns a result for each server, in
/// their order.
pub fn keep_all_secrets(servers: &[Imported], store: &dyn SecretStore) -> Vec<Result<(), HubError>> {
    let chunk = servers.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        let keep = |servers: &[Imported]| servers.iter().map(|server| server.keep_secrets(store)).collect::<Vec<_>>();
        let threads: Vec<_> =
            servers.chunks(chunk).map(|servers| (servers, scope.spawn(move || keep(servers)))).collect();
        let panicked = || Err(HubError::unavailable("the store of secrets panicked"));
        let results = threads
            .into_iter()
            .map(|(servers, thread)| thread.join().unwrap_or_else(|_| servers.iter().map(|_| panicked()).collect()));
        results.flatten().collect()
    })
}

/// An entry that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The name in the file.
    pub name: String,
    /// The reason. The field is the path of a member of the entry.
    pub error: HubError,
}

/// A setting that was omitted or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The name of the entry, or `None` for the whole file.
    pub server: Option<String>,
    /// The path of the member.
    pub field: String,
    /// What was done. It contains no values of the file.
    pub message: String,
}

/// The package that a command starts, with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) package: McpPackage,
    pub(super) runtime_args: Vec<String>,
    pub(super) args: Vec<String>,
    /// Variables that the command itself sets. Those without a value are passed on from the environment.
    pub(super) env: Vec<(String, Option<String>)>,
    pub(super) warning: Option<&'static str>,
}

/// Returns the program that runs a package, if it is not the usual one.
pub(super) fn hint(program: &str, runner: &str, package_type: McpPackageType) -> Option<String> {
    let is_usual = program == runner && package_type.runtimes().first() == Some(&runner);
    (!is_usual).then(|| program.to_owned())
}
