//! [`McpConfig`]: the configuration of one server.
//!
//! In a file, a configuration is a JSON object whose members have the names of the fields. [`McpConfig::validate`] checks it.
//!
//! ```
//! # mod mcpwire { pub mod hub { pub mod config { pub use mcpwire_config::config::{EnvVarConfig, McpConfig}; } pub mod secrets
//! # { pub use mcpwire_config::secrets::SecretRef; } } }
//! use mcpwire::hub::config::{EnvVarConfig, McpConfig};
//! use mcpwire::hub::secrets::SecretRef;
//!
//! let mut config = McpConfig::npm("github", "@modelcontextprotocol/server-github@2025.4.8");
//! let token = SecretRef::stored(config.id, "GITHUB_TOKEN")?;
//! config.env_vars.insert("GITHUB_TOKEN".into(), EnvVarConfig::secret("GITHUB_TOKEN", token));
//! config.validate()?;
//! # Ok::<(), mcpwire_config::HubError>(())
//! ```

mod hash;
mod oauth;
mod package;
mod settings;
mod shown;
mod validate;
mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::HubError;
pub(crate) use hash::hex;
pub use oauth::{OAuthConfig, Redirect};
pub use package::{McpPackage, McpPackageType, McpSource, McpTransport};
use settings::is_default;
pub use settings::{Limits, Origin, RestartPolicy, Timeouts, ToolFilter};
pub(crate) use validate::{check_literal, check_text, is_dangerous, missing_values, runs, split_version};
pub use value::{EnvVarConfig, EnvVarSpec, InputFormat};
pub(crate) use value::{ValueGroup, fill, is_variable_name, names_in};

/// The configuration of one MCP server: its package or URL, its environment, and its limits.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[must_use = "a configuration has no effect until it is used"]
#[non_exhaustive]
pub struct McpConfig {
    /// The permanent id of the server. The id stays the same if the server is renamed.
    pub id: Uuid,
    /// The name of the server. The name differs from the names of all other servers, ignoring case.
    pub name: String,
    /// Whether the server is enabled. A disabled server is never started.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The registry that the configuration comes from, if any.
    #[serde(default)]
    pub source: McpSource,
    /// The package, program or URL of the server.
    pub package: McpPackage,
    /// The transport of the server: HTTP if the type of the package is `http`, otherwise standard input and output.
    pub transport: McpTransport,
    /// The environment variables that the process of the server gets, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_vars: BTreeMap<String, EnvVarConfig>,
    /// Data of the program that embeds the hub. The hub stores the data, but does not read it. The data must not contain secrets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub config: Value,

    /// The arguments of the server's program or package. `{name}` is replaced by the variable of that name in
    /// [`McpConfig::variables`]; other braces stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The arguments of the program that runs the package, such as `--volume` and its value for `docker run`. They come before
    /// the package or image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_args: Vec<String>,
    /// The headers that are sent with each HTTP request to the server, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, EnvVarConfig>,
    /// The variables, by name. The value of the variable `name` replaces `{name}` in arguments, in the URL, and in literal
    /// values of environment variables and headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, EnvVarConfig>,
    /// The path of the Unix socket on which the HTTP server listens. The URL still supplies the path and the `Host` header of
    /// requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<PathBuf>,
    /// PEM file with CA certificates that may sign the certificate of this HTTP server, in addition to the default CA
    /// certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client certificate for mutual TLS with this HTTP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<PathBuf>,
    /// PEM file with the private key of `client_certificate`. By default, the key is read from the file of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    /// URL of the proxy for requests to this HTTP server, in place of the proxy in the environment variables. It must not
    /// contain a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// How the client logs in to this HTTP server. A server with an `Authorization` header in [`headers`](McpConfig::headers)
    /// needs no login.
    #[serde(default, skip_serializing_if = "is_default")]
    pub oauth: OAuthConfig,
    /// Whether arguments may contain variables that are secret. Every user of the machine can read the arguments of a process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub secrets_in_args: bool,
    /// The names of environment variables of the hub's process that the server inherits, if they are set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherit_env: Vec<String>,
    /// The working directory of the server's process. By default, the working directory of the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The timeouts for starting the server, listing its tools and calling its tools.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeouts: Timeouts,
    /// Selects which tools of the server the hub offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tools: ToolFilter,
    /// Whether the hub restarts the server after the server has failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub restart: RestartPolicy,
    /// Whether the server starts only when one of its tools is called, as soon as its tools are known. By default, `Hub::boot`
    /// starts the server.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lazy: bool,
    /// Time without tool calls after which the hub stops the server until the next call. By default, the server keeps running.
    /// In files: `idle_ms`, in milliseconds.
    #[serde(default, rename = "idle_ms", with = "settings::millis", skip_serializing_if = "Option::is_none")]
    pub idle: Option<Duration>,
    /// The limits for the number of calls to the server and for the size of their results.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// Who wrote the configuration: the user, another program, or a registry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: Origin,
    /// The [`hash`](McpConfig::hash) of the configuration at the time when the user agreed to start it. No consent is
    /// needed if the user wrote the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
    /// The members of the JSON object that this version of the hub does not know. The hub preserves these members.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl McpConfig {
    /// Creates the configuration of an enabled server named `name`, with a random id and default settings.
    pub fn new(name: impl Into<String>, package: McpPackage, transport: McpTransport) -> Self {
        McpConfig {
            id: Uuid::new_v4(),
            name: name.into(),
            enabled: true,
            source: McpSource::Manual,
            package,
            transport,
            env_vars: BTreeMap::new(),
            config: Value::Null,
            args: Vec::new(),
            runtime_args: Vec::new(),
            headers: BTreeMap::new(),
            variables: BTreeMap::new(),
            unix_socket: None,
            ca_file: None,
            client_certificate: None,
            client_key: None,
            proxy: None,
            oauth: OAuthConfig::default(),
            secrets_in_args: false,
            inherit_env: Vec::new(),
            cwd: None,
            timeouts: Timeouts::default(),
            tools: ToolFilter::default(),
            restart: RestartPolicy::default(),
            lazy: false,
            idle: None,
            limits: Limits::default(),
            origin: Origin::User,
            consent: None,
            other: Map::new(),
        }
    }

    /// Creates the configuration of a server that is an npm package. `identifier` is the name of the package, and may contain a
    /// version.
    pub fn npm(name: impl Into<String>, identifier: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Npm, identifier), McpTransport::Stdio)
    }

    /// Creates the configuration of a server that is a `PyPI` package. `identifier` is the name of the package, and may contain
    /// a version.
    pub fn pypi(name: impl Into<String>, identifier: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Pypi, identifier), McpTransport::Stdio)
    }

    /// Creates the configuration of a server that runs in a container. `image` is the container image, and may contain a tag.
    pub fn docker(name: impl Into<String>, image: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Docker, image), McpTransport::Stdio)
    }

    /// Creates the configuration of a server that is a local program. `program` is a path, or a name to look up in `PATH`.
    pub fn binary(name: impl Into<String>, program: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Binary, program), McpTransport::Stdio)
    }

    /// Creates the configuration of a server that is reached over HTTP at `url`.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        let url = url.into();
        McpConfig::new(name, McpPackage::new(McpPackageType::Http, url.clone()), McpTransport::Http { url })
    }

    /// Adds arguments for the server's program to the configuration.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds an environment variable for the server's process to the configuration.
    pub fn env(mut self, value: EnvVarConfig) -> Self {
        self.env_vars.insert(value.name.clone(), value);
        self
    }

    /// Adds a header for the HTTP requests to the server to the configuration.
    pub fn header(mut self, value: EnvVarConfig) -> Self {
        self.headers.insert(value.name.clone(), value);
        self
    }

    /// Adds a variable to the configuration. Its value replaces `{name}` in arguments, URLs and literal values.
    pub fn variable(mut self, value: EnvVarConfig) -> Self {
        self.variables.insert(value.name.clone(), value);
        self
    }

    /// Sets how the client logs in to the server.
    pub fn oauth(mut self, oauth: OAuthConfig) -> Self {
        self.oauth = oauth;
        self
    }

    /// Reads the configuration of a server from JSON, without validating it.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if a member is missing or has the wrong type. The error names the member if it is known.
    pub fn from_json(value: &Value) -> Result<McpConfig, HubError> {
        let Value::Object(members) = value else {
            return Err(HubError::validation("", "the configuration of a server must be an object"));
        };
        for (field, pointer, message) in [
            ("name", "/name", "Name is required"),
            ("package.identifier", "/package/identifier", "Package identifier required"),
            ("transport", "/transport", "Transport required"),
        ] {
            if value.pointer(pointer).is_none_or(Value::is_null) {
                return Err(HubError::validation(field, message));
            }
        }
        let mut members = members.clone();
        // A member that is `null` counts as absent. The data in `config` may be `null`.
        members.retain(|name, value| name == "config" || !value.is_null());
        let mut config = McpConfig::deserialize(&members).map_err(|_| wrong_member(members))?;
        for values in [&mut config.env_vars, &mut config.headers, &mut config.variables] {
            for (name, value) in values {
                if value.name.is_empty() {
                    value.name.clone_from(name);
                }
            }
        }
        if let Some(secret) = config.oauth.client_secret.as_mut().filter(|secret| secret.name.is_empty()) {
            "client_secret".clone_into(&mut secret.name);
        }
        Ok(config)
    }

    /// Converts the configuration to a JSON object.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the environment variables, the headers and the variables of the configuration, each map with its group.
    pub(crate) fn value_groups(&self) -> [(ValueGroup, &BTreeMap<String, EnvVarConfig>); 3] {
        [
            (ValueGroup::EnvVars, &self.env_vars),
            (ValueGroup::Headers, &self.headers),
            (ValueGroup::Variables, &self.variables),
        ]
    }

    /// Returns the name of the first secret variable in the argument `arg`, or `None` if the argument contains none. Other users
    /// of the machine can read arguments.
    pub(crate) fn secret_variable_in<'a>(&self, arg: &'a str) -> Option<&'a str> {
        names_in(arg).find(|name| self.variables.get(*name).is_some_and(|value| value.is_secret))
    }

    /// Returns the certificate files that are set in the configuration, each with the name of its field, such as `ca_file`.
    pub(crate) fn http_files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("ca_file", &self.ca_file),
            ("client_certificate", &self.client_certificate),
            ("client_key", &self.client_key),
        ];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }

    /// Returns the id that `Hub::upsert` gives to a new server with this name. The id depends only on the
    /// name, so the id is the same in each run and on each machine.
    pub fn id_of_name(name: &str) -> Uuid {
        let digest = Sha256::digest(format!("mcpwire server {}", folded(name)));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// Returns the name of the server in the form in which names are compared: trimmed and in lower case.
    pub fn folded_name(&self) -> String {
        folded(&self.name)
    }
}

/// Converts the name of a server to the form in which names are compared: trimmed and in lower case.
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

fn yes() -> bool {
    true
}

/// Returns the error for the first of `members` that is invalid. Each member is tried alone in a valid sample configuration,
/// because serde's error does not name the member.
fn wrong_member(members: Map<String, Value>) -> HubError {
    let sample = McpConfig::binary("sample", "sample").to_json();
    let wrong = members.into_iter().find_map(|(name, value)| {
        let may_be_secret = MAY_BE_SECRET.contains(&name.as_str()) || (name == "transport" && !value.is_object());
        let mut probe = sample.clone();
        probe[name.as_str()] = value;
        let error = McpConfig::deserialize(probe).err()?;
        let message = if may_be_secret {
            "this value, or a value in it, has the wrong type".to_owned()
        } else {
            error.to_string()
        };
        Some(HubError::validation(name, message))
    });
    wrong.unwrap_or_else(|| HubError::validation("", "this is not the configuration of a server"))
}

/// Names of members that may contain secrets. For these, serde's error message is not shown, because it quotes the wrong value.
const MAY_BE_SECRET: [&str; 7] = ["env_vars", "headers", "variables", "args", "runtime_args", "config", "oauth"];
