//! The configuration files of other programs: [`import`] parses them, [`export()`] writes one.
//!
//! This module only converts text. The calling program reads the file ([`read_file`]), and the files that its entries name
//! ([`ImportOptions::read_file`]). It shows the result to the user, and saves the servers that the user approves. An invalid
//! entry does not affect the others. A [`Warning`] reports each setting that is not imported.
//!
//! | dialect | file | references, and the value of an unset one |
//! |---|---|---|
//! | `claude-desktop` | `mcpServers` | none: text is literal |
//! | `claude-code` | `mcpServers` | `${VAR}`: unchanged, and `${VAR:-default}` |
//! | `cursor`, `windsurf` | `mcpServers` | `${env:VAR}`: empty; Cursor also `${userHome}`, `${workspaceFolder}` |
//! | `cline`, `amazon-q` | `mcpServers` | `${env:VAR}`: unchanged, or `${VAR}` for Amazon Q |
//! | `lm-studio` | `mcpServers` | none |
//! | `gemini` | `mcpServers` | `$VAR`, `${VAR}`, and `%VAR%` on Windows: empty |
//! | `mcp-servers` | `mcpServers` of any other program | `${VAR}`, `${env:VAR}`: the start fails, `${VAR:-default}` |
//! | `vscode` | `servers`, `inputs`, with comments | `${env:VAR}`: empty; `${input:id}`: the user's answer; `${userHome}`, `${workspaceFolder}` |
//! | `zed` | `context_servers`, with comments | none |
//! | `codex` | `mcp_servers`, TOML | none: other members name the variables |
//! | `opencode` | `mcp`, with comments | `{env:VAR}`: empty |
//! | `goose` | `extensions`, YAML | in URLs and headers `$VAR`, `${VAR}`: the start fails |
//! | `server-json` | an entry of the registry | `{name}`: unchanged if the entry does not define it |
//!
//! References become a `secret_ref` or a variable of the [`McpConfig`](crate::config::McpConfig), and are resolved at each start.
//! Secrets in plain text are not part of the imported configuration: they are in [`Imported::secrets`], for a store of secrets.
//!
//! ```
//! # mod mcpwire { pub mod hub { pub mod import { pub use mcpwire_config::import::{ImportOptions, import}; } } }
//! use mcpwire::hub::import::{ImportOptions, import};
//!
//! let text = r#"{"mcpServers": {
//!     "github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"],
//!                "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_0123456789abcdefghij"}},
//!     "broken": {"command": "x", "url": "https://example.com"}
//! }}"#;
//! let import = import(text, &ImportOptions::default())?;
//! let github = &import.servers[0];
//! assert_eq!(github.config.package.identifier, "@modelcontextprotocol/server-github");
//! assert_eq!(github.secrets.len(), 1, "the token is not part of the configuration");
//! assert_eq!(import.refused[0].error.field(), "url");
//! # Ok::<(), mcpwire_config::HubError>(())
//! ```

mod builder;
mod codex;
mod command;
mod dialect;
mod directories;
mod entry;
mod env_file;
mod export;
mod json_files;
mod login;
mod members;
mod model;
mod parsing;
mod references;
mod server_json;

use std::io;
use std::path::Path;

pub use dialect::Dialect;
pub use export::{Exported, export};
use mcpwire_files::read_regular;
pub use model::{Import, ImportOptions, Imported, Refused, Warning, keep_all_secrets};

use crate::HubError;
pub use crate::secrets::is_secret;
use members::wrong;
use parsing::{parse_object, parse_toml, parse_yaml};

/// Maximum size of a configuration file to import: 16 MiB. A file with a thousand servers is about 1 MiB large.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads the text of a configuration file to import. Refuses files of more than 16 MiB, and anything but regular files: reading
/// a named pipe or a device could block the program forever.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not a regular file, is too large, or is not UTF-8.
pub fn read_file(path: &Path) -> io::Result<String> {
    let bytes = read_regular(path, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Converts the configuration file of another program, such as Claude Desktop, to server configurations. `text` is the content
/// of the file.
///
/// # Errors
///
/// `VALIDATION_ERROR` if `text` cannot be parsed, or if the program that the file belongs to is neither set in `options` nor
/// detected.
pub fn import(text: &str, options: &ImportOptions) -> Result<Import, HubError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(dialect) = options.dialect.or_else(|| Dialect::detect(text, options.path.as_deref())) else {
        // Most programs have JSON files, so the reason is that of a file that begins as one.
        if text.trim_start().starts_with('{') {
            parse_object(text).or_else(|reason| wrong("", format!("it is not valid JSON: {reason}")))?;
        }
        let message = "cannot detect which program this file belongs to. Name the format: ".to_owned();
        return wrong("dialect", message + &Dialect::names());
    };
    let parse = match dialect {
        Dialect::CodexToml => parse_toml,
        Dialect::Goose => parse_yaml,
        _ => parse_object,
    };
    let whole =
        parse(text).or_else(|reason| wrong("", format!("this is not a file of `{}`: {reason}", dialect.name())))?;
    let mut import = Import::new(dialect);
    let read = match dialect {
        Dialect::VsCode => json_files::read_vs_code,
        Dialect::Zed => json_files::read_zed,
        Dialect::CodexToml => codex::read,
        Dialect::ServerJson => server_json::read,
        Dialect::Opencode => json_files::read_opencode,
        Dialect::Goose => json_files::read_goose,
        _ => json_files::read_mcp_servers,
    };
    read(&whole, options, &mut import)?;
    Ok(import)
}
