//! [`Import`]: what a file of another program contains, and how it is read.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Dialect;
use crate::HubError;
use crate::config::{McpConfig, McpPackage, McpPackageType};
use crate::secrets::{Secret, SecretRef, SecretStore};

/// How a file is to be read.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Whose file it is; found out by default.
    pub dialect: Option<Dialect>,
    /// Where the file is, which tells of its dialect, and of the folder that it belongs to.
    pub path: Option<PathBuf>,
    /// What `${workspaceFolder}` stands for; the folder that the file belongs to by default.
    pub workspace: Option<PathBuf>,
    /// What `${userHome}` stands for; the home directory of this user by default.
    pub home: Option<PathBuf>,
    /// What the user gave for inputs of VS Code, by their id, and for variables, headers and arguments of a registry's entry,
    /// by their name.
    pub answers: BTreeMap<String, Secret>,
    /// How a file is read that an entry names: the `envFile` of VS Code and Cursor. By default none is read, and a warning says so.
    pub read_file: Option<fn(&Path) -> io::Result<String>>,
    /// Whether servers are taken over that get a secret as an argument, where every user of the machine can read it.
    pub secrets_in_args: bool,
}

/// What a file held.
#[derive(Clone, Debug)]
pub struct Import {
    /// Whose file it was.
    pub dialect: Dialect,
    /// The servers, by name.
    pub servers: Vec<Imported>,
    /// The entries that are no servers for us, and why.
    pub refused: Vec<Refused>,
    /// What was not taken over as it was.
    pub warnings: Vec<Warning>,
}

/// A server of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its configuration, with a new id. It needs the user's consent before it is started.
    pub config: McpConfig,
    /// Secrets that stood in the file, or were given as answers. The configuration refers to them.
    pub secrets: Vec<(SecretRef, Secret)>,
    /// What is missing before it can be kept: values that nobody has given yet.
    pub missing: Option<HubError>,
}

impl Imported {
    /// Keeps its secrets. To be called before the configuration is kept, which is of no use without them.
    ///
    /// # Errors
    ///
    /// Those of the store. What was kept before the error is removed again.
    pub fn keep_secrets(&self, store: &dyn SecretStore) -> Result<(), HubError> {
        for (kept, (secret, value)) in self.secrets.iter().enumerate() {
            if let Err(error) = store.set(secret, value) {
                for (secret, _) in &self.secrets[..kept] {
                    // The error that is told is the first.
                    let _ = store.remove(secret);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// An entry that is no server for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name in the file.
    pub name: String,
    /// Why. Its field begins with the name of the entry's member.
    pub error: HubError,
}

/// Something that was not taken over as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// In which entry, by its name; `None` for the file as a whole.
    pub server: Option<String>,
    /// Which member of it, as a path.
    pub field: String,
    /// What came of it, in a sentence. It holds no values.
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
