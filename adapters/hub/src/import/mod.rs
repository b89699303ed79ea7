//! The files of other programs: [`import`] reads them, [`export()`] writes one.
//!
//! Nothing is read or written here but text: a host reads the file, and those that it names
//! ([`ImportOptions::read_file`]), shows what was found, and keeps what the user agrees to.
//! One bad entry spoils only itself. Whatever cannot be taken over is said in a [`Warning`].
//!
//! | dialect | file | references, and what an unset one becomes |
//! |---|---|---|
//! | `claude-desktop` | `mcpServers` | none: texts are literal |
//! | `claude-code` | `mcpServers` | `${VAR}`, which stays as it is, and `${VAR:-default}` |
//! | `cursor`, `windsurf` | `mcpServers` | `${env:VAR}`, empty; Cursor also `${userHome}`, `${workspaceFolder}` |
//! | `gemini` | `mcpServers` | `$VAR`, `${VAR}`, and `%VAR%` on Windows: empty |
//! | `mcp-servers` | `mcpServers` of any other program | `${VAR}`, `${env:VAR}`: an error at the start, `${VAR:-default}` |
//! | `vscode` | `servers`, `inputs`, with comments | `${env:VAR}`, empty; `${input:id}`, to be answered; `${userHome}`, `${workspaceFolder}` |
//! | `zed` | `context_servers`, with comments | none |
//! | `codex` | `mcp_servers`, TOML | none; variables are named by members of their own |
//! | `server-json` | an entry of the registry | `{name}`, which stays as it is if nothing defines it |
//!
//! References stay references: they become a `secret_ref` of [`McpConfig`], or a variable of it, and are resolved at each start.
//! Secrets that stand in a file as they are do not stay there: they come apart from the configuration, as [`Imported::secrets`].
//!
//! ```
//! use mcpwire_hub::import::{ImportOptions, import};
//!
//! let text = r#"{"mcpServers": {
//!     "github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"],
//!                "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_0123456789abcdefghij"}},
//!     "broken": {"command": "x", "url": "https://example.com"}
//! }}"#;
//! let import = import(text, &ImportOptions::default())?;
//! let github = &import.servers[0];
//! assert_eq!(github.config.package.identifier, "@modelcontextprotocol/server-github");
//! assert_eq!(github.secrets.len(), 1, "it is to be kept in a store of secrets, and is not in the configuration");
//! assert_eq!(import.refused[0].error.field, "url");
//! # Ok::<(), mcpwire_hub::HubError>(())
//! ```

mod builder;
mod codex;
mod command;
mod dialect;
mod docker;
mod env_file;
mod export;
mod family;
mod literals;
mod references;
mod server_json;
mod vscode;
mod zed;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use dialect::Dialect;
pub use export::{Exported, export};
pub use literals::is_secret;

use crate::HubError;
use crate::config::McpConfig;
use crate::jsonc;
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

/// Reads a file of another program.
///
/// # Errors
///
/// `VALIDATION_ERROR` if it is no such file at all, or if it cannot be told whose it is.
pub fn import(text: &str, options: &ImportOptions) -> Result<Import, HubError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(dialect) = options.dialect.or_else(|| Dialect::detect(text, options.path.as_deref())) else {
        let message = "It cannot be told whose file this is. It should be one of: ".to_owned();
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        return Err(HubError::validation("dialect", message + &names.join(", ")));
    };
    let mut import = Import { dialect, servers: Vec::new(), refused: Vec::new(), warnings: Vec::new() };
    let whole = parse(dialect, text)?;
    match dialect {
        Dialect::VsCode => vscode::read(&whole, options, &mut import)?,
        Dialect::Zed => zed::read(&whole, options, &mut import)?,
        Dialect::CodexToml => codex::read(&whole, options, &mut import)?,
        Dialect::ServerJson => server_json::read(&whole, options, &mut import)?,
        _ => family::read(&whole, options, &mut import)?,
    }
    Ok(import)
}

fn parse(dialect: Dialect, text: &str) -> Result<Value, HubError> {
    let wrong =
        |reason: String| Err(HubError::validation("", format!("It is not a file of `{}`: {reason}", dialect.name())));
    if dialect == Dialect::CodexToml {
        return match toml::from_str::<Value>(text) {
            Ok(value) => Ok(value),
            // Without the lines of the file that the whole error shows.
            Err(error) => wrong(error.message().to_owned()),
        };
    }
    match parse_json(text) {
        Some(Ok(value @ Value::Object(_))) => Ok(value),
        Some(Ok(_)) => wrong("it is not an object".to_owned()),
        Some(Err(reason)) => wrong(reason),
        None => wrong("it is empty".to_owned()),
    }
}

/// JSON with comments and commas at ends, which all of these programs take or have in their files. `None` for nothing.
fn parse_json(text: &str) -> Option<Result<Value, String>> {
    if text.trim().is_empty() {
        return None;
    }
    Some(jsonc_parser::parse_to_serde_value::<Value>(text, &jsonc::OPTIONS).map_err(|error| error.to_string()))
}
