//! The directories below which the programs of a user have their configuration files, on each system.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory below which a program has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Project,
    Home,
    /// The directory of this system for settings: `%APPDATA%`, `~/Library/Application Support`, or as [`Root::Xdg`].
    Config,
    /// `XDG_CONFIG_HOME` or `~/.config`, which some programs use on all systems.
    Xdg,
    /// `%APPDATA%`, on Windows only.
    AppData,
    /// `CODEX_HOME` or `~/.codex`.
    CodexHome,
}

/// The kinds of systems, by where programs keep their settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    MacOs,
    Windows,
}

impl System {
    pub(super) const THIS: System = if cfg!(windows) {
        System::Windows
    } else if cfg!(target_os = "macos") {
        System::MacOs
    } else {
        System::Linux
    };
}

/// The directories of a user below which programs keep their configuration files.
pub(super) struct User<'a> {
    pub(super) system: System,
    pub(super) project: &'a Path,
    pub(super) home: PathBuf,
    /// Returns the path in an environment variable.
    pub(super) variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl User<'_> {
    /// Returns the path of a file below the directory `root`. Returns `None` if this system has no such directory.
    pub(super) fn file(&self, root: Root, file: &str) -> Option<PathBuf> {
        let in_home = |path: &str| self.home.join(path);
        let directory = match (root, self.system) {
            (Root::Project, _) => self.project.to_owned(),
            (Root::Home, _) => self.home.clone(),
            (Root::Config | Root::AppData, System::Windows) => {
                (self.variable)("APPDATA").unwrap_or_else(|| in_home("AppData/Roaming"))
            }
            (Root::AppData, _) => return None,
            (Root::Config, System::MacOs) => in_home("Library/Application Support"),
            (Root::Xdg, _) | (Root::Config, System::Linux) => {
                (self.variable)("XDG_CONFIG_HOME").unwrap_or_else(|| in_home(".config"))
            }
            (Root::CodexHome, _) => (self.variable)("CODEX_HOME").unwrap_or_else(|| in_home(".codex")),
        };
        // The parts are joined one by one, with the separator of this system.
        Some(directory.join(file.split('/').collect::<PathBuf>()))
    }
}

/// Returns the JSON files in a directory, sorted, if `pattern` ends in `*.json`. Returns any other path unchanged.
pub(super) fn expanded(pattern: &Path) -> Vec<PathBuf> {
    if !pattern.ends_with("*.json") {
        return vec![pattern.to_owned()];
    }
    let entries = pattern.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_json_files_of_a_directory_of_agents_are_found() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.json", "notes.md"] {
            fs::write(directory.path().join(name), "{}").unwrap();
        }
        let found = expanded(&directory.path().join("*.json"));
        assert_eq!(found, ["a.json", "b.json"].map(|name| directory.path().join(name)));
        assert!(expanded(&directory.path().join("missing").join("*.json")).is_empty());
    }
}
