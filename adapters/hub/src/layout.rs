//! [`Layout`]: where the hub keeps what it keeps.

use std::env;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The directories of one application.
///
/// | what | Linux and other Unixes | macOS | Windows |
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
    /// The usual directories for an application of this name. `None` if it is not known where this user's files are.
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

    /// All of it below one directory.
    pub fn below(directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        let below = |name: &str| directory.join(name);
        Layout { config: below("mcp"), secrets: below("secrets"), cache: below("cache"), state: below("state") }
    }

    /// The directory of the configurations.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The directory of the secrets.
    pub fn secrets(&self) -> &Path {
        &self.secrets
    }

    /// The directory of what can be had again.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The directory of what is true of this machine only.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The file of configurations, for [`Store::new`](crate::store::Store::new).
    pub fn servers(&self) -> PathBuf {
        self.config.join("servers.json")
    }

    /// The list of the processes that run, for [`Ledger::new`](crate::ledger::Ledger::new).
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger.json")
    }

    /// The file for what a server writes on standard error.
    pub fn log(&self, id: Uuid) -> PathBuf {
        self.state.join("logs").join(format!("{id}.log"))
    }

    /// The file for the tools that a server had.
    pub fn catalog(&self, id: Uuid) -> PathBuf {
        self.cache.join("catalog").join(format!("{id}.json"))
    }
}
