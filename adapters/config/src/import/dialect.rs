//! [`Dialect`]: the programs whose configuration files can be imported, and the usual paths of these files.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

use crate::HubError;
use crate::disk::parse_json;

/// The format of a configuration file to import, named after the program that uses the file, such as Claude Desktop or VS Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The format of Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// The format of Claude Code: `.mcp.json` in a project, or `~/.claude.json`.
    ClaudeCode,
    /// The format of Cursor: `.cursor/mcp.json`.
    Cursor,
    /// The format of Windsurf: `mcp_config.json`.
    Windsurf,
    /// The format of VS Code: `.vscode/mcp.json`.
    VsCode,
    /// The format of Zed: `settings.json` with the member `context_servers`.
    Zed,
    /// The format of Gemini CLI: `settings.json` with the member `mcpServers`.
    GeminiCli,
    /// The format of Codex: `config.toml`.
    CodexToml,
    /// The format of the official MCP registry: `server.json`, which describes one server.
    ServerJson,
    /// The format of any other program: a JSON file with the member `mcpServers`.
    McpServers,
}

impl Dialect {
    /// All file formats that can be imported.
    pub const ALL: [Dialect; 10] = [
        Dialect::ClaudeDesktop,
        Dialect::ClaudeCode,
        Dialect::Cursor,
        Dialect::Windsurf,
        Dialect::VsCode,
        Dialect::Zed,
        Dialect::GeminiCli,
        Dialect::CodexToml,
        Dialect::ServerJson,
        Dialect::McpServers,
    ];

    /// Returns the name of the file format as it is written on command lines, such as `claude-desktop`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::ClaudeDesktop => "claude-desktop",
            Dialect::ClaudeCode => "claude-code",
            Dialect::Cursor => "cursor",
            Dialect::Windsurf => "windsurf",
            Dialect::VsCode => "vscode",
            Dialect::Zed => "zed",
            Dialect::GeminiCli => "gemini",
            Dialect::CodexToml => "codex",
            Dialect::ServerJson => "server-json",
            Dialect::McpServers => "mcp-servers",
        }
    }

    /// Returns the names of all file formats, for an error.
    pub(super) fn names() -> String {
        Dialect::ALL.map(Dialect::name).join(", ")
    }

    /// Detects the format of a configuration file from its content `text` and its path. Returns `None` if no format matches.
    pub fn detect(text: &str, path: Option<&Path>) -> Option<Dialect> {
        if path.is_some_and(|path| path.extension().is_some_and(|end| end == "toml")) {
            return Some(Dialect::CodexToml);
        }
        let whole = parse_json(text).and_then(Result::ok).unwrap_or_default();
        let Some(members) = whole.as_object() else {
            let is_codex = toml::from_str::<Value>(text).is_ok_and(|value| value.get("mcp_servers").is_some());
            return is_codex.then_some(Dialect::CodexToml);
        };
        let is_object = |name: &str| members.get(name).is_some_and(Value::is_object);
        if is_object("mcpServers") {
            return Some(path.map_or(Dialect::McpServers, of_path));
        }
        let has_any = |value: &Value, names: [&str; 2]| names.iter().any(|name| value.get(name).is_some());
        let is_entry = |value: &Value| has_any(value, ["packages", "remotes"]);
        if is_object("context_servers") {
            Some(Dialect::Zed)
        } else if is_object("servers") {
            Some(Dialect::VsCode)
        } else if is_entry(&whole) || members.get("server").is_some_and(is_entry) {
            Some(Dialect::ServerJson)
        } else {
            // The file may lack `mcpServers`, and be an object of servers by name.
            let is_server = |value: &Value| has_any(value, ["command", "url"]);
            (!members.is_empty() && members.values().all(is_server)).then_some(Dialect::McpServers)
        }
    }

    /// Returns the usual paths of the program's configuration file on this system: first the file in the working directory,
    /// then the file of the user. The files need not exist.
    pub fn default_paths(self) -> Vec<PathBuf> {
        let home = env::home_dir().unwrap_or_default();
        let variable = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = if cfg!(windows) {
            variable("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
        } else if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else {
            variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        let both = |folder: &str, file: &str| vec![Path::new(folder).join(file), home.join(folder).join(file)];
        match self {
            Dialect::ClaudeDesktop => vec![config.join("Claude").join("claude_desktop_config.json")],
            Dialect::ClaudeCode => vec![".mcp.json".into(), home.join(".claude.json")],
            Dialect::Cursor => both(".cursor", "mcp.json"),
            Dialect::Windsurf => vec![home.join(".codeium").join("windsurf").join("mcp_config.json")],
            Dialect::VsCode => {
                vec![Path::new(".vscode").join("mcp.json"), config.join("Code").join("User").join("mcp.json")]
            }
            // Zed uses `~/.config` on macOS too.
            Dialect::Zed if cfg!(target_os = "macos") => vec![home.join(".config").join("zed").join("settings.json")],
            Dialect::Zed => {
                vec![config.join(if cfg!(windows) { "Zed" } else { "zed" }).join("settings.json")]
            }
            Dialect::GeminiCli => both(".gemini", "settings.json"),
            Dialect::CodexToml => {
                vec![variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml")]
            }
            Dialect::ServerJson => vec!["server.json".into()],
            Dialect::McpServers => Vec::new(),
        }
    }
}

/// Detects the program that a file with `mcpServers` belongs to from the path of the file.
fn of_path(path: &Path) -> Dialect {
    let file = path.file_name().unwrap_or_default();
    let is_in = |directory: &str| path.components().any(|part| part.as_os_str() == directory);
    if file == "claude_desktop_config.json" {
        Dialect::ClaudeDesktop
    } else if file == ".mcp.json" || file == ".claude.json" {
        Dialect::ClaudeCode
    } else if is_in(".cursor") {
        Dialect::Cursor
    } else if file == "mcp_config.json" || is_in(".codeium") {
        Dialect::Windsurf
    } else if is_in(".gemini") {
        Dialect::GeminiCli
    } else {
        Dialect::McpServers
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dialect {
    type Err = HubError;

    fn from_str(name: &str) -> Result<Self, HubError> {
        let found = Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
        let unknown = || format!("unknown format. Use one of: {}", Dialect::names());
        found.ok_or_else(|| HubError::validation("dialect", unknown()))
    }
}
