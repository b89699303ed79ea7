//! [`Dialect`]: the formats of the configuration files that can be imported, and how they are detected.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

use super::directories::{Root, System, User, expanded};
use super::members::text_of;
use super::parsing::{parse_toml, parse_yaml};
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
    /// The format of Cline, an extension of VS Code: `cline_mcp_settings.json`.
    Cline,
    /// The format of LM Studio: `mcp.json`.
    LmStudio,
    /// The format of Amazon Q Developer: `mcp.json`, and the files of its agents.
    AmazonQ,
    /// The format of opencode: `opencode.json` or `opencode.jsonc`, with the member `mcp`.
    Opencode,
    /// The format of Goose: `config.yaml` with the member `extensions`.
    Goose,
    /// The format of the official MCP registry: `server.json`, which describes one server.
    ServerJson,
    /// The format of any other program: a JSON file with the member `mcpServers`.
    McpServers,
}

/// Each format with its name on command lines, and with names of files and directories: if one of them is in the path of a file
/// with `mcpServers`, the file has this format.
const FORMATS: [(Dialect, &str, &[&str]); 15] = [
    (Dialect::ClaudeDesktop, "claude-desktop", &["claude_desktop_config.json"]),
    (Dialect::ClaudeCode, "claude-code", &[".mcp.json", ".claude.json"]),
    (Dialect::Cursor, "cursor", &[".cursor"]),
    (Dialect::Windsurf, "windsurf", &["mcp_config.json", ".codeium"]),
    (Dialect::VsCode, "vscode", &[]),
    (Dialect::Zed, "zed", &[]),
    (Dialect::GeminiCli, "gemini", &[".gemini"]),
    (Dialect::CodexToml, "codex", &[]),
    (Dialect::Cline, "cline", &["cline_mcp_settings.json"]),
    (Dialect::LmStudio, "lm-studio", &[".lmstudio", "lm-studio"]),
    (Dialect::AmazonQ, "amazon-q", &[".amazonq", "amazonq"]),
    (Dialect::Opencode, "opencode", &[]),
    (Dialect::Goose, "goose", &[]),
    (Dialect::ServerJson, "server-json", &[]),
    (Dialect::McpServers, "mcp-servers", &[]),
];

/// The usual files of the programs, in the order in which they are listed. `*.json` stands for all such files of a directory.
const FILES: [(Dialect, Root, &str); 31] = [
    (Dialect::ClaudeDesktop, Root::Config, "Claude/claude_desktop_config.json"),
    (Dialect::ClaudeCode, Root::Project, ".mcp.json"),
    (Dialect::ClaudeCode, Root::Home, ".claude.json"),
    (Dialect::Cursor, Root::Project, ".cursor/mcp.json"),
    (Dialect::Cursor, Root::Home, ".cursor/mcp.json"),
    (Dialect::Windsurf, Root::Home, ".codeium/windsurf/mcp_config.json"),
    (Dialect::VsCode, Root::Project, ".vscode/mcp.json"),
    (Dialect::VsCode, Root::Config, "Code/User/mcp.json"),
    (Dialect::Zed, Root::Xdg, "zed/settings.json"),
    (Dialect::Zed, Root::AppData, "Zed/settings.json"),
    (Dialect::GeminiCli, Root::Project, ".gemini/settings.json"),
    (Dialect::GeminiCli, Root::Home, ".gemini/settings.json"),
    (Dialect::CodexToml, Root::CodexHome, "config.toml"),
    (Dialect::Cline, Root::Config, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    (Dialect::Cline, Root::Home, ".cline/data/settings/cline_mcp_settings.json"),
    (Dialect::LmStudio, Root::Home, ".lmstudio/mcp.json"),
    (Dialect::LmStudio, Root::Home, ".cache/lm-studio/mcp.json"),
    (Dialect::AmazonQ, Root::Project, ".amazonq/mcp.json"),
    (Dialect::AmazonQ, Root::Project, ".amazonq/default.json"),
    (Dialect::AmazonQ, Root::Project, ".amazonq/cli-agents/*.json"),
    (Dialect::AmazonQ, Root::Home, ".aws/amazonq/mcp.json"),
    (Dialect::AmazonQ, Root::Home, ".aws/amazonq/default.json"),
    (Dialect::AmazonQ, Root::Home, ".aws/amazonq/agents/*.json"),
    (Dialect::AmazonQ, Root::Home, ".aws/amazonq/cli-agents/*.json"),
    (Dialect::Opencode, Root::Project, "opencode.json"),
    (Dialect::Opencode, Root::Project, "opencode.jsonc"),
    (Dialect::Opencode, Root::Xdg, "opencode/opencode.json"),
    (Dialect::Opencode, Root::Xdg, "opencode/opencode.jsonc"),
    (Dialect::Goose, Root::Xdg, "goose/config.yaml"),
    (Dialect::Goose, Root::AppData, "Block/goose/config/config.yaml"),
    (Dialect::ServerJson, Root::Project, "server.json"),
];

impl Dialect {
    /// All file formats that can be imported.
    pub const ALL: [Dialect; 15] = {
        let mut all = [Dialect::McpServers; 15];
        let mut at = 0;
        while at < all.len() {
            all[at] = FORMATS[at].0;
            at += 1;
        }
        all
    };

    /// Returns the name of the file format as it is written on command lines, such as `claude-desktop`.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(dialect, ..)| *dialect == self).map_or("", |(_, name, _)| *name)
    }

    /// Returns the names of all file formats, for an error.
    pub(super) fn names() -> String {
        Dialect::ALL.map(Dialect::name).join(", ")
    }

    /// Detects the format of a configuration file from its content `text` and its path. Returns `None` if no format matches.
    pub fn detect(text: &str, path: Option<&Path>) -> Option<Dialect> {
        match path.and_then(Path::extension).and_then(|end| end.to_str()) {
            Some("toml") => return Some(Dialect::CodexToml),
            Some("yaml" | "yml") => return Some(Dialect::Goose),
            _ => {}
        }
        let whole = parse_json(text).and_then(Result::ok).unwrap_or_default();
        let Some(members) = whole.as_object() else {
            let is_codex = parse_toml(text).is_ok_and(|value| value.get("mcp_servers").is_some());
            let is_goose = || parse_yaml(text).is_ok_and(|value| value.get("extensions").is_some());
            return is_codex.then_some(Dialect::CodexToml).or_else(|| is_goose().then_some(Dialect::Goose));
        };
        let is_object = |name: &str| members.get(name).is_some_and(Value::is_object);
        if is_object("mcpServers") {
            return Some(path.map_or(Dialect::McpServers, of_path));
        }
        let has_any = |value: &Value, names: [&str; 2]| names.iter().any(|name| value.get(name).is_some());
        let is_typed = |value: &Value| matches!(text_of(value, "type"), Some("local" | "remote"));
        let is_opencode = |servers: &Value| servers.as_object().is_some_and(|servers| servers.values().any(is_typed));
        let is_entry = |value: &Value| has_any(value, ["packages", "remotes"]);
        if is_object("context_servers") {
            Some(Dialect::Zed)
        } else if ["/mcp", "/mcp/servers"].iter().any(|path| whole.pointer(path).is_some_and(is_opencode)) {
            Some(Dialect::Opencode)
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

    /// Returns the usual paths of the program's configuration files on this system: first the files in the working directory,
    /// then the files of the user. The files need not exist.
    pub fn default_paths(self) -> Vec<PathBuf> {
        self.paths_in(Path::new(""))
    }

    /// Returns the usual paths of the program's configuration files, as [`default_paths`](Self::default_paths) does, with those in
    /// the project folder `folder` instead of the working directory.
    pub fn paths_in(self, folder: &Path) -> Vec<PathBuf> {
        let variable = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = env::home_dir().unwrap_or_default();
        let user = User { system: System::THIS, project: folder, home, variable: &variable };
        self.files_of(&user).flat_map(|path| expanded(&path)).collect()
    }

    fn files_of(self, user: &User<'_>) -> impl Iterator<Item = PathBuf> {
        let files = FILES.iter().filter(move |(dialect, ..)| *dialect == self);
        files.filter_map(|(_, root, file)| user.file(*root, file))
    }
}

/// Detects the program that a file with `mcpServers` belongs to from the path of the file.
fn of_path(path: &Path) -> Dialect {
    let is_in = |mark: &&str| path.components().any(|part| part.as_os_str() == *mark);
    let found = FORMATS.iter().find(|(_, _, marks)| marks.iter().any(is_in));
    found.map_or(Dialect::McpServers, |(dialect, ..)| *dialect)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of a program on a system, for a user with the home directory `/h` in the project folder `/p`.
    fn paths(system: System, dialect: Dialect, variables: &[(&str, &str)]) -> Vec<PathBuf> {
        let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, path)| PathBuf::from(path));
        let user = User { system, project: Path::new("/p"), home: "/h".into(), variable: &variable };
        dialect.files_of(&user).collect()
    }

    #[test]
    fn files_are_where_the_program_has_them_on_each_system() {
        use System::{Linux, MacOs, Windows};
        let cline = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
        let cases = [
            (Linux, Dialect::ClaudeDesktop, "/h/.config/Claude/claude_desktop_config.json".to_owned()),
            (MacOs, Dialect::ClaudeDesktop, "/h/Library/Application Support/Claude/claude_desktop_config.json".into()),
            (Windows, Dialect::ClaudeDesktop, "/h/AppData/Roaming/Claude/claude_desktop_config.json".into()),
            (Linux, Dialect::VsCode, "/h/.config/Code/User/mcp.json".into()),
            (MacOs, Dialect::VsCode, "/h/Library/Application Support/Code/User/mcp.json".into()),
            (Windows, Dialect::VsCode, "/h/AppData/Roaming/Code/User/mcp.json".into()),
            (Linux, Dialect::Cline, format!("/h/.config/{cline}")),
            (MacOs, Dialect::Cline, format!("/h/Library/Application Support/{cline}")),
            (Windows, Dialect::Cline, format!("/h/AppData/Roaming/{cline}")),
            (MacOs, Dialect::Zed, "/h/.config/zed/settings.json".into()),
            (Windows, Dialect::Zed, "/h/AppData/Roaming/Zed/settings.json".into()),
            (Linux, Dialect::Goose, "/h/.config/goose/config.yaml".into()),
            (MacOs, Dialect::Goose, "/h/.config/goose/config.yaml".into()),
            (Windows, Dialect::Goose, "/h/AppData/Roaming/Block/goose/config/config.yaml".into()),
            (MacOs, Dialect::Opencode, "/h/.config/opencode/opencode.jsonc".into()),
            (Windows, Dialect::Opencode, "/h/.config/opencode/opencode.json".into()),
        ];
        let everywhere = [
            (Dialect::ClaudeCode, "/p/.mcp.json"),
            (Dialect::ClaudeCode, "/h/.claude.json"),
            (Dialect::Cursor, "/h/.cursor/mcp.json"),
            (Dialect::Cursor, "/p/.cursor/mcp.json"),
            (Dialect::Windsurf, "/h/.codeium/windsurf/mcp_config.json"),
            (Dialect::GeminiCli, "/h/.gemini/settings.json"),
            (Dialect::CodexToml, "/h/.codex/config.toml"),
            (Dialect::LmStudio, "/h/.lmstudio/mcp.json"),
            (Dialect::AmazonQ, "/h/.aws/amazonq/mcp.json"),
            (Dialect::AmazonQ, "/p/.amazonq/mcp.json"),
            (Dialect::AmazonQ, "/h/.aws/amazonq/cli-agents/*.json"),
            (Dialect::Opencode, "/p/opencode.json"),
        ];
        let everywhere = everywhere
            .into_iter()
            .flat_map(|(dialect, path)| [Linux, MacOs, Windows].map(|system| (system, dialect, path.to_owned())));
        for (system, dialect, path) in cases.into_iter().chain(everywhere) {
            let found = paths(system, dialect, &[]);
            assert!(found.contains(&PathBuf::from(&path)), "{system:?} {dialect}: {path} is not in {found:?}");
        }
        for system in [Linux, MacOs] {
            let zed_and_goose = [Dialect::Zed, Dialect::Goose].map(|dialect| paths(system, dialect, &[]).len());
            assert_eq!(zed_and_goose, [1, 1], "%APPDATA% is a directory of Windows");
        }
    }

    #[test]
    fn variables_move_the_directories_of_settings() {
        let variables = [("XDG_CONFIG_HOME", "/x"), ("APPDATA", "/a"), ("CODEX_HOME", "/c")];
        for (system, dialect, path) in [
            (System::Linux, Dialect::ClaudeDesktop, "/x/Claude/claude_desktop_config.json"),
            (System::Windows, Dialect::ClaudeDesktop, "/a/Claude/claude_desktop_config.json"),
            (System::MacOs, Dialect::Opencode, "/x/opencode/opencode.json"),
            (System::Windows, Dialect::CodexToml, "/c/config.toml"),
        ] {
            assert!(paths(system, dialect, &variables).contains(&path.into()), "{system:?} {dialect}");
        }
    }
}
