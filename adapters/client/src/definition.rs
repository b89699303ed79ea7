//! [`McpServerDef`]: defines how to reach a server, by the command that starts it or by its URL.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpwire_core::Config;
use mcpwire_text::url;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::package_name::package_name;

/// The definition of a server: the command that starts it, or its URL.
///
/// A server with a `url` needs the feature `http` of the library. Without this feature, the connection fails. The fields
/// `unix_socket`, `ca_file`, `client_certificate`, `client_key`, `proxy` and `headers` have an effect only together with a `url`.
/// The HTTP client of the runtime applies all of them. An HTTP client of the program may not apply some of them
/// (`HttpClient::applies`). If the definition sets such a field, the connection fails.
///
/// An entry of an `mcpServers` file can be deserialized into this type. The entry must have either a `command` or a `url`.
/// Unknown members are ignored. The member `type` is ignored too: a `url` means HTTP, and the client detects the version of
/// the HTTP transport.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::McpServerDef; }
/// use mcpwire::McpServerDef;
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
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a definition has no effect until it is used"]
pub struct McpServerDef {
    /// Name of the server in messages. If it is `None`, [`McpServerDef::display_name`] derives a name from the command or URL.
    pub name: Option<String>,
    /// The program to start: a path, or a name to look up in `PATH`. The client uses no shell. Empty for a server that is reached
    /// over HTTP.
    pub command: String,
    /// Arguments of the program. The client passes each argument unchanged, without expanding variables.
    pub args: Vec<String>,
    /// Environment variables to set for the server. They take precedence over inherited variables.
    pub env: BTreeMap<String, String>,
    /// Names of environment variables to inherit in addition to those of [`McpServerDef::env_policy`].
    pub inherit_env: Vec<String>,
    /// The environment variables of this process that the server inherits.
    pub env_policy: EnvPolicy,
    /// Working directory of the server's process. Default: the working directory of this process.
    pub cwd: Option<PathBuf>,
    /// Maximum time that a request waits for a response or for the next progress notification. In JSON: milliseconds. Default: 30
    /// s.
    pub timeout: Option<Duration>,
    /// Maximum time to start the server and to open the connection. In JSON: milliseconds. Default: 60 s.
    pub connect_timeout: Option<Duration>,
    /// Absolute URL of a server that is reached over HTTP, with the scheme `http` or `https`. Needs the feature `http`.
    pub url: Option<String>,
    /// Path of the Unix socket on which a server is reached over HTTP. `None` uses TCP. Needs the feature `http`.
    ///
    /// [`McpServerDef::url`] provides the path of the requests and the `Host` header. The connection uses no proxy. The scheme
    /// `http` is safe, because the messages do not leave the machine.
    pub unix_socket: Option<PathBuf>,
    /// PEM file with CA certificates to trust for HTTPS, in addition to the CA certificates of the HTTP client. Not part of
    /// `mcpServers` files. Needs the feature `http`.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that the client presents for HTTPS, and the chain to its CA (mutual TLS). Not part of
    /// `mcpServers` files. Needs the feature `http`.
    pub client_certificate: Option<PathBuf>,
    /// PEM file with the private key of `client_certificate`. Default: the file of the certificate, which then contains both. Not
    /// part of `mcpServers` files. Needs the feature `http`.
    pub client_key: Option<PathBuf>,
    /// URL of the HTTP proxy for connections to the server. Default: the proxy that `HTTP_PROXY` and similar variables set. The
    /// URL may contain a password, which `{:?}` does not show. Not part of `mcpServers` files. Needs the feature `http`.
    pub proxy: Option<String>,
    /// Headers to add to all HTTP requests to the server. `{:?}` omits the values, which may be secrets. Needs the feature
    /// `http`.
    pub headers: BTreeMap<String, String>,
}

/// The members of [`McpServerDef`] in JSON. This type is private, because it deserializes a definition without checking it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", remote = "McpServerDef")]
struct Members {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    command: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inherit_env: Vec<String>,
    #[serde(default, skip_serializing_if = "EnvPolicy::is_default")]
    env_policy: EnvPolicy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    #[serde(default, with = "millis", skip_serializing_if = "Option::is_none")]
    timeout: Option<Duration>,
    #[serde(default, with = "millis", skip_serializing_if = "Option::is_none")]
    connect_timeout: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unix_socket: Option<PathBuf>,
    #[serde(skip)]
    ca_file: Option<PathBuf>,
    #[serde(skip)]
    client_certificate: Option<PathBuf>,
    #[serde(skip)]
    client_key: Option<PathBuf>,
    #[serde(skip)]
    proxy: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

/// The environment variables of this process that a server inherits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EnvPolicy {
    /// The server inherits only the variables in [`inherited_env_names`], which programs need and which contain no secrets.
    #[default]
    AllowList,
    /// The server inherits all variables, which may include secrets.
    Inherit,
    /// The server inherits no variables, not even `PATH`.
    Clear,
}

impl EnvPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_default(&self) -> bool {
        *self == EnvPolicy::AllowList
    }
}

/// Returns the names of the environment variables that a server inherits with [`EnvPolicy::AllowList`].
///
/// These variables contain the paths of programs, of the user's files and of temporary files, the locale, and the paths of CA
/// certificates. `npx` and `uvx` need the CA certificates behind a proxy that intercepts TLS.
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
    /// Creates the definition of a server that this program starts. To add arguments, use [`McpServerDef::args`].
    pub fn new(command: impl Into<String>) -> Self {
        McpServerDef { command: command.into(), ..McpServerDef::default() }
    }

    /// Creates the definition of a server that is reached over HTTP. `url` must be absolute, with the scheme `http` or `https`.
    ///
    /// The client detects whether the server uses Streamable HTTP or the HTTP+SSE transport of revision 2024-11-05.
    pub fn http(url: impl Into<String>) -> Self {
        McpServerDef { url: Some(url.into()), ..McpServerDef::default() }
    }

    /// Creates the definition of a server that is reached over HTTP on a Unix socket.
    ///
    /// `url` provides the path of the requests and the `Host` header, for example `http://localhost/mcp`. On systems without Unix
    /// sockets, the connection fails.
    pub fn http_unix(socket: impl Into<PathBuf>, url: impl Into<String>) -> Self {
        McpServerDef { unix_socket: Some(socket.into()), ..McpServerDef::http(url) }
    }

    /// Adds a header to all HTTP requests to the server. Replaces a header with the same name.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the name of the server in messages. Without a name, it is derived from the command or URL.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds an argument for the server's program.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments for the server's program, after the earlier arguments.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable for the server's process.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Lets the server inherit this environment variable of this process, in addition to those of [`McpServerDef::env_policy`].
    pub fn inherit(mut self, name: impl Into<String>) -> Self {
        self.inherit_env.push(name.into());
        self
    }

    crate::setters! {
        /// Sets which environment variables of this process the server inherits. Default: [`EnvPolicy::AllowList`].
        fn env_policy(policy: EnvPolicy) => env_policy = policy;

        /// Sets the working directory of the server's process. Default: the working directory of this process.
        fn cwd(directory: impl AsRef<Path>) => cwd = Some(directory.as_ref().to_path_buf());

        /// Sets the maximum time that a request waits for a response or for the next progress notification. Default: 30 s.
        fn timeout(timeout: Duration) => timeout = Some(timeout);

        /// Sets the maximum time to start the server and to open the connection. Default: 60 s.
        fn connect_timeout(timeout: Duration) => connect_timeout = Some(timeout);
    }

    /// Sets the timeouts of this definition in a configuration of the protocol engine. Timeouts that the definition does not set
    /// remain.
    pub fn configure(&self, mut config: Config) -> Config {
        config.request_timeout = self.timeout.unwrap_or(config.request_timeout);
        config.connect_timeout = self.connect_timeout.unwrap_or(config.connect_timeout);
        config
    }

    /// Returns the name of the server in messages: [`McpServerDef::name`] if it is set, or else the host and port of the URL.
    ///
    /// For a command without a name, returns the package that `npx`, `bunx`, `pnpm dlx`, `uvx` or `pipx run` starts, the image of
    /// `docker run`, or the script of `node` or `python`. For any other command, returns its file name.
    pub fn display_name(&self) -> &str {
        match (&self.name, &self.url) {
            (Some(name), _) => name,
            (None, Some(url)) => authority(url),
            (None, None) => package_name(&self.command, &self.args)
                .or_else(|| Path::new(&self.command).file_name()?.to_str())
                .unwrap_or(&self.command),
        }
    }

    /// Returns whether others on the network can read the messages and tokens, because the URL starts with `http://` and its host
    /// is not this machine.
    ///
    /// A program should then warn its user. Returns `false` for a Unix socket.
    pub fn is_exposed(&self) -> bool {
        let (Some(url), None) = (&self.url, &self.unix_socket) else { return false };
        let is_plain = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
        is_plain && !url::host(url).is_some_and(is_loopback)
    }
}

/// Returns the host and port of a URL, without user and password, as the name of a server.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// Returns whether the host of a URL is this machine: `localhost`, a subdomain of it, or a loopback address.
fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

/// Clones the definition, so that functions with a parameter `impl Into<McpServerDef>` also accept a reference.
impl From<&McpServerDef> for McpServerDef {
    fn from(def: &McpServerDef) -> Self {
        def.clone()
    }
}

impl Serialize for McpServerDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Members::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for McpServerDef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let def = Members::deserialize(deserializer)?;
        match (def.command.is_empty(), &def.url) {
            (true, None) => Err(D::Error::custom("a server needs a `command` or a `url`")),
            (false, None) if def.unix_socket.is_some() => {
                Err(D::Error::custom("a server with a `unixSocket` needs a `url`"))
            }
            (false, Some(_)) => Err(D::Error::custom("a server has either a `command` or a `url`, not both")),
            _ => Ok(def),
        }
    }
}

impl fmt::Debug for McpServerDef {
    /// Omits the values of variables and headers, and the user, password and query of URLs, because they may be secrets.
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
            .field("ca_file", &self.ca_file)
            .field("client_certificate", &self.client_certificate)
            .field("client_key", &self.client_key)
            .field("proxy", &self.proxy.as_deref().map(without_secrets))
            .finish()
    }
}

/// Returns the URL without user, password, query and fragment, to show it in logs.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// Serializes durations as whole milliseconds, as the configuration files of other programs do.
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
    fn debug_omits_the_values_of_variables() {
        let shown = format!("{:?}", McpServerDef::new("x").env("TOKEN", "hunter2"));
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn no_way_to_deserialize_skips_the_checks() {
        for text in ["{}", r#"{"command":"a","url":"http://h/"}"#, r#"{"unixSocket":"/s"}"#] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            // Resolves to an inherent function if there is one.
            assert!(McpServerDef::deserialize(&value).is_err(), "{text}");
        }
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
    fn an_entry_has_either_a_command_or_a_url() {
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
    fn only_http_urls_of_other_machines_are_exposed() {
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
