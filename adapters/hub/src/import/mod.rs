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
//! References stay references: they become a `secret_ref` of [`McpConfig`](crate::config::McpConfig), or a variable of it, and are resolved at each start.
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
mod members;
mod model;
mod references;
mod server_json;
mod vscode;
mod zed;

use std::io;
use std::path::Path;

use mcpwire_client::regular_file::read_regular;
use serde_json::Value;

pub use dialect::Dialect;
pub use export::{Exported, export};
pub use model::{Import, ImportOptions, Imported, Refused, Warning};

use crate::HubError;
use crate::jsonc::parse_json;
pub use crate::secrets::is_secret;

/// Maximum size of a file to import, in bytes. A thousand servers take 1 MiB.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Returns the text of a file to import. Only regular files of at most 16 MiB are read, so that no path can stop the program.
///
/// # Errors
///
/// If the file cannot be read, is not regular, is too large, or is not UTF-8.
pub fn read_file(path: &Path) -> io::Result<String> {
    let bytes = read_regular(path, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Parses the text of a file of another program.
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
