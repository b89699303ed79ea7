//! [`Layout`]: the paths of the directories and files of a hub.

use std::env;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The directories in which a hub stores its files. `<app>` is the name of the application.
///
/// | directory | Linux and other Unixes | macOS | Windows |
/// |---|---|---|---|
/// | [`config`](Layout::config) | `$XDG_CONFIG_HOME/<app>/mcp` | `~/Library/Application Support/<app>/mcp` | `%APPDATA%\<app>\mcp` |
/// | [`secrets`](Layout::secrets) | `$XDG_DATA_HOME/<app>/secrets` | `~/Library/Application Support/<app>/secrets` | `%APPDATA%\<app>\secrets` |
/// | [`cache`](Layout::cache) | `$XDG_CACHE_HOME/<app>/mcp` | `~/Library/Caches/<app>/mcp` | `%LOCALAPPDATA%\<app>\mcp\cache` |
/// | [`state`](Layout::state) | `$XDG_STATE_HOME/<app>/mcp` | `~/Library/Application Support/<app>/mcp` | `%LOCALAPPDATA%\<app>\mcp` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    config: PathBuf,
    secrets: PathBuf,
    cache: PathBuf,
    state: PathBuf,
}

impl Layout {
    /// Returns the usual directories of the operating system for the application `name`. Returns `None` if the home directory, or
    /// the `APPDATA` directories of Windows, are unknown.
    pub fn of_application(name: &str) -> Option<Self> {
        let directory = |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = env::home_dir().filter(|path| path.is_absolute());
        let or_home = |variable: &str, below: &str| directory(variable).or_else(|| Some(home.as_ref()?.join(below)));
        if cfg!(windows) {
            let roaming = directory("APPDATA")?.join(name);
            let local = directory("LOCALAPPDATA")?.join(name).join("mcp");
            let (config, secrets) = (roaming.join("mcp"), roaming.join("secrets"));
            return Some(Layout { config, secrets, cache: local.join("cache"), state: local });
        }
        if cfg!(target_os = "macos") {
            let library = home?.join("Library");
            let support = library.join("Application Support").join(name);
            let config = support.join("mcp");
            let cache = library.join("Caches").join(name).join("mcp");
            return Some(Layout { state: config.clone(), config, secrets: support.join("secrets"), cache });
        }
        Some(Layout {
            config: or_home("XDG_CONFIG_HOME", ".config")?.join(name).join("mcp"),
            secrets: or_home("XDG_DATA_HOME", ".local/share")?.join(name).join("secrets"),
            cache: or_home("XDG_CACHE_HOME", ".cache")?.join(name).join("mcp"),
            state: or_home("XDG_STATE_HOME", ".local/state")?.join(name).join("mcp"),
        })
    }

    /// Creates a layout whose four directories are subdirectories of `directory`, for example for tests or portable programs.
    pub fn below(directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        let below = |name: &str| directory.join(name);
        Layout { config: below("mcp"), secrets: below("secrets"), cache: below("cache"), state: below("state") }
    }

    /// Returns the directory that contains the configuration file `servers.json`.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Returns the directory of the secrets of the servers, such as API keys.
    pub fn secrets(&self) -> &Path {
        &self.secrets
    }

    /// Returns the directory of the OAuth logins of HTTP servers, for [`Logins::new`](crate::logins::Logins::new).
    pub fn logins(&self) -> PathBuf {
        self.secrets.join("logins")
    }

    /// Returns the directory of cached files, such as tool lists. Users may delete these files, because the hub recreates them.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns the directory of files that are useful only on this machine, such as logs and the list of running server
    /// processes.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the path of the configuration file `servers.json`, for [`Store::new`](crate::store::Store::new).
    pub fn servers(&self) -> PathBuf {
        self.config.join("servers.json")
    }

    /// Returns the path of the file that lists the running server processes, for
    /// [`ProcessRegistry::new`](crate::process_registry::ProcessRegistry::new). The next hub reads the file after a crash.
    pub fn process_registry(&self) -> PathBuf {
        self.state.join("ledger.json")
    }

    /// Returns the path of the current log file of the server `id`. The file contains what the server writes to standard error.
    pub fn log(&self, id: Uuid) -> PathBuf {
        self.state.join("logs").join(format!("{id}.log"))
    }

    /// Returns the path of the file in which the hub caches the tool list of the server `id`.
    pub fn catalog(&self, id: Uuid) -> PathBuf {
        self.cache.join("catalog").join(format!("{id}.json"))
    }
}
