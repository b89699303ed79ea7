//! [`McpServerDef`]: how a server is started, or where it is.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpwire_core::Config;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a server is started (its command and environment), or where it is (its address and headers); and how long it is waited
/// for.
///
/// It reads an entry of an `mcpServers` file as it is; members that belong to other programs are passed over. An entry has
/// either a `command` or a `url`. Its `type` is passed over, too: an address tells that it is HTTP, and which shape of it the
/// server speaks is found out.
///
/// ```
/// use mcpwire_client::McpServerDef;
///
/// let def: McpServerDef = serde_json::from_str(
///     r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"], "env": {"DEBUG": "1"}}"#,
/// )?;
/// assert_eq!(def.command, "npx");
///
/// let same = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]).env("DEBUG", "1");
/// assert_eq!(def, same);
///
/// let def: McpServerDef = serde_json::from_str(
///     r#"{"type": "http", "url": "https://example.com/mcp", "headers": {"X-Team": "blue"}}"#,
/// )?;
/// assert_eq!(def, McpServerDef::http("https://example.com/mcp").header("X-Team", "blue"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
#[non_exhaustive]
pub struct McpServerDef {
    /// What errors call the server; the command's file name, or the host of the address, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program: a path, or a name that is looked up in `PATH`. No shell is involved.
    /// Empty for a server that is spoken to by HTTP.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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
    /// Where a server is that is spoken to by HTTP: absolute, `http` or `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The Unix socket that a server listens on which is spoken to by HTTP. The address says what else there is to say: the path,
    /// and what the server is told as its host. No proxy is asked, and `http` is as good as `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<PathBuf>,
    /// Headers for all requests by HTTP. They may be secrets, and are not shown by `{:?}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// Which variables of this process a server gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EnvPolicy {
    /// Those that programs need to run and that hold no secrets: see [`inherited_env_names`].
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
pub fn inherited_env_names() -> &'static [&'static str] {
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

    /// A server that is spoken to by HTTP, at this address: absolute, `http` or `https`. Which shape of the transport it speaks
    /// is found out: Streamable HTTP, or the HTTP+SSE of 2024-11-05.
    pub fn http(url: impl Into<String>) -> Self {
        McpServerDef { url: Some(url.into()), ..McpServerDef::default() }
    }

    /// A server that is spoken to by HTTP over a Unix socket; the address is as for [`McpServerDef::http`], such as
    /// `http://localhost/mcp`. On systems without such sockets it cannot be reached.
    pub fn http_unix(socket: impl Into<PathBuf>, url: impl Into<String>) -> Self {
        McpServerDef { unix_socket: Some(socket.into()), ..McpServerDef::http(url) }
    }

    /// Adds a header to all requests by HTTP.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
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

    /// What to call the server: its name, the file name of its command, or the host of its address.
    pub fn display_name(&self) -> &str {
        match (&self.name, &self.url) {
            (Some(name), _) => name,
            (None, Some(url)) => authority(url),
            (None, None) => {
                Path::new(&self.command).file_name().and_then(|name| name.to_str()).unwrap_or(&self.command)
            }
        }
    }

    /// Whether others on the way can read what is said, tokens included: the address is `http://`, and not on this machine. A
    /// program should tell its user.
    pub fn is_exposed(&self) -> bool {
        let (Some(url), None) = (&self.url, &self.unix_socket) else { return false };
        let is_plain = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
        is_plain && !is_loopback(host(authority(url)))
    }
}

/// The host and port of an address. User and password, which an address should not have, are no part of it.
fn authority(url: &str) -> &str {
    // By bytes: the search for patterns would add 1 KiB to a program that only names its servers.
    let start = url.as_bytes().windows(3).position(|text| text == b"://").map_or(0, |at| at + 3);
    let rest = &url[start..];
    let authority = &rest[..rest.bytes().position(|byte| b"/?#".contains(&byte)).unwrap_or(rest.len())];
    &authority[authority.bytes().rposition(|byte| byte == b'@').map_or(0, |at| at + 1)..]
}

/// The host without its port, and without the brackets of IPv6.
fn host(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl Serialize for McpServerDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for McpServerDef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let def = Self::deserialize(deserializer)?;
        match (def.command.is_empty(), &def.url) {
            (true, None) => Err(D::Error::custom("a server needs a `command`, or a `url`")),
            (false, None) if def.unix_socket.is_some() => {
                Err(D::Error::custom("a server at a Unix socket needs a `url`"))
            }
            (false, Some(_)) => Err(D::Error::custom("a server has either a `command` or a `url`, not both")),
            _ => Ok(def),
        }
    }
}

impl fmt::Debug for McpServerDef {
    /// Shows the names of variables and headers, never their values, and of the address neither user nor query: they
    /// are where secrets are.
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
            .field("url", &self.url.as_deref().map(without_secrets))
            .field("unix_socket", &self.unix_socket)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// An address without user, password, query and fragment.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
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
    #[test]
    fn an_entry_says_where_a_server_is_or_how_it_is_started() {
        let text = r#"{"timeout":1500,"url":"https://example.com/mcp","unixSocket":"/run/x","headers":{"A":"b"}}"#;
        let def: McpServerDef = serde_json::from_str(text).unwrap();
        assert_eq!(def.display_name(), "example.com");
        assert_eq!(serde_json::to_string(&def).unwrap(), text);
        for wrong in [
            "{}",
            r#"{"command":"a","url":"http://b"}"#,
            r#"{"command":"a","unixSocket":"/b"}"#,
            r#"{"unixSocket":"/b"}"#,
        ] {
            serde_json::from_str::<McpServerDef>(wrong).unwrap_err();
        }
        let shown = format!(
            "{:?}",
            McpServerDef::http("https://me:hunter1@a/b?key=hunter2").header("Authorization", "hunter3")
        );
        assert!(shown.contains("Authorization") && !shown.contains("hunter"), "{shown}");
    }

    #[test]
    fn only_plain_addresses_elsewhere_are_exposed() {
        for safe in [
            "https://example.com",
            "http://localhost:1",
            "http://127.0.0.9/x",
            "HTTP://[::1]:80/",
            "http://a.localhost",
        ] {
            assert!(!McpServerDef::http(safe).is_exposed(), "{safe}");
        }
        for exposed in
            ["http://example.com", "http://192.168.0.1:8080/mcp", "http://localhost.example.com", "http://[::2]/"]
        {
            assert!(McpServerDef::http(exposed).is_exposed(), "{exposed}");
        }
        assert!(!McpServerDef::new("http://x").is_exposed());
        assert!(!McpServerDef::http_unix("/run/mcp.sock", "http://example.com/").is_exposed());
    }
}
