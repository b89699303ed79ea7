//! [`McpServerDef`]: how a server is started.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpwire_core::Config;
use serde::{Deserialize, Serialize};

/// How a server is started: its command, its environment, and how long it is waited for.
///
/// It reads an entry of an `mcpServers` file as it is; members that belong to other programs are passed over.
///
/// ```
/// use mcpwire_process::McpServerDef;
///
/// let def: McpServerDef = serde_json::from_str(
///     r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"], "env": {"DEBUG": "1"}}"#,
/// )?;
/// assert_eq!(def.command, "npx");
///
/// let same = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]).env("DEBUG", "1");
/// assert_eq!(def, same);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerDef {
    /// What errors call the server; the command's file name by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program: a path, or a name that is looked up in `PATH`. No shell is involved.
    pub command: String,
    /// Its arguments, each passed as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables to set for it. They come on top of what [`McpServerDef::env_policy`] lets through.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables of this process to pass on by name, where they are set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherit_env: Vec<String>,
    /// Which variables of this process it gets without being asked for.
    #[serde(default, skip_serializing_if = "EnvPolicy::is_default")]
    pub env_policy: EnvPolicy,
    /// Its working directory; that of this process by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// How long an answer may take, counted from the request or its last progress. In JSON: milliseconds. 30 s by default.
    #[serde(default, with = "millis", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// How long starting it and opening the connection may take. In JSON: milliseconds. 60 s by default.
    #[serde(default, with = "millis", skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Duration>,
}

/// Which variables of this process a server gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EnvPolicy {
    /// Those that programs need to run and that hold no secrets: see [`inherited_names`].
    #[default]
    AllowList,
    /// All of them, secrets included.
    Inherit,
    /// None.
    Clear,
}

impl EnvPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_default(&self) -> bool {
        *self == EnvPolicy::AllowList
    }
}

/// The variables that [`EnvPolicy::AllowList`] passes on: where programs, the user's files and temporary files are, how to
/// speak to the user, and which certificate authorities are trusted (a path, without which programs that load their parts
/// over the network fail behind many a proxy).
pub fn inherited_names() -> &'static [&'static str] {
    if cfg!(windows) {
        &[
            "APPDATA",
            "COMSPEC",
            "HOMEDRIVE",
            "HOMEPATH",
            "LOCALAPPDATA",
            "PATH",
            "PATHEXT",
            "PROCESSOR_ARCHITECTURE",
            "PROGRAMDATA",
            "PROGRAMFILES",
            "SYSTEMDRIVE",
            "SYSTEMROOT",
            "TEMP",
            "TMP",
            "USERNAME",
            "USERPROFILE",
            "WINDIR",
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_DIR",
            "SSL_CERT_FILE",
        ]
    } else {
        &[
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TERM",
            "TMPDIR",
            "TZ",
            "USER",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR",
            "CURL_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "SSL_CERT_DIR",
            "SSL_CERT_FILE",
        ]
    }
}

impl McpServerDef {
    /// A server that is started with this program and no arguments.
    pub fn new(command: impl Into<String>) -> Self {
        McpServerDef { command: command.into(), ..McpServerDef::default() }
    }

    /// Sets what errors call the server.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Passes on a variable of this process, if it is set.
    pub fn inherit(mut self, name: impl Into<String>) -> Self {
        self.inherit_env.push(name.into());
        self
    }

    /// Sets which variables of this process the server gets without being asked for.
    pub fn env_policy(mut self, policy: EnvPolicy) -> Self {
        self.env_policy = policy;
        self
    }

    /// Sets the working directory.
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.cwd = Some(directory.as_ref().to_path_buf());
        self
    }

    /// Sets how long an answer may take, counted from the request or its last progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how long starting the server and opening the connection may take.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// The configuration with what the definition says about time.
    pub fn configure(&self, mut config: Config) -> Config {
        config.request_timeout = self.timeout.unwrap_or(config.request_timeout);
        config.connect_timeout = self.connect_timeout.unwrap_or(config.connect_timeout);
        config
    }

    /// What to call the server: its name, or the file name of its command.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| {
            Path::new(&self.command).file_name().and_then(|name| name.to_str()).unwrap_or(&self.command)
        })
    }
}

impl fmt::Debug for McpServerDef {
    /// Shows the names of variables, never their values: they are where secrets are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerDef")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("inherit_env", &self.inherit_env)
            .field("env_policy", &self.env_policy)
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

/// Durations as whole milliseconds, which is what the files of other programs have.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(|value| u64::try_from(value.as_millis()).unwrap_or(u64::MAX)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_values_of_variables() {
        let shown = format!("{:?}", McpServerDef::new("x").env("TOKEN", "hunter2"));
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn an_entry_of_a_file_survives_a_round_trip() {
        let text = r#"{"command":"a","args":["b"],"env":{"C":"d"},"envPolicy":"inherit","cwd":"/e","timeout":1500}"#;
        let def: McpServerDef = serde_json::from_str(text).unwrap();
        assert_eq!(def.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(serde_json::to_string(&def).unwrap(), text);
        let foreign: McpServerDef = serde_json::from_str(r#"{"command":"a","type":"stdio","disabled":false}"#).unwrap();
        assert_eq!(foreign, McpServerDef::new("a"));
    }
}
