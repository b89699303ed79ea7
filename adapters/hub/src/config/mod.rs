//! [`McpConfig`]: all that is configured of one server.
//!
//! In a file it is a JSON object with the members that are named here. What a member needs to be is in [`McpConfig::validate`].
//!
//! ```
//! use mcpwire_hub::config::{EnvVarConfig, McpConfig};
//! use mcpwire_hub::secrets::SecretRef;
//!
//! let mut config = McpConfig::npm("github", "@modelcontextprotocol/server-github@2025.4.8");
//! let token = SecretRef::stored(config.id, "GITHUB_TOKEN")?;
//! config.env_vars.insert("GITHUB_TOKEN".into(), EnvVarConfig::secret("GITHUB_TOKEN", token));
//! config.validate()?;
//! # Ok::<(), mcpwire_hub::HubError>(())
//! ```

mod hash;
mod package;
mod read;
mod settings;
mod text;
mod validate;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

pub use package::{McpPackage, McpPackageType, McpSource, McpTransport};
pub use settings::{Limits, Origin, RestartPolicy, Timeouts, ToolFilter};
pub(crate) use text::{fill, is_address, names_in, shown_address};
pub(crate) use validate::{MISSING, check_literal, is_dangerous, runs, split_version};
pub use value::{EnvVarConfig, EnvVarSpec, InputFormat};

/// One server: what it is, how it is started, what it is given, what it may do.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct McpConfig {
    /// Its identity, which never changes.
    pub id: Uuid,
    /// What people call it; no two servers have the same, whatever the case of letters.
    pub name: String,
    /// Whether it may be started.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Where it comes from.
    #[serde(default)]
    pub source: McpSource,
    /// What is started, or spoken to.
    pub package: McpPackage,
    /// How it is spoken to: by HTTP if its package is of that type, by standard streams otherwise.
    pub transport: McpTransport,
    /// The environment variables that it is given, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_vars: BTreeMap<String, EnvVarConfig>,
    /// Whatever the host wants to keep with it. Nothing here is read, and no secrets belong here.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub config: Value,

    /// The arguments of the program or the package, each passed as it is. `{name}` stands for a variable of
    /// [`McpConfig::variables`]; braces around anything else are just braces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Arguments of what runs the package, such as `--volume` and its value for `docker run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_args: Vec<String>,
    /// Headers for all requests, of servers that are spoken to by HTTP.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, EnvVarConfig>,
    /// What `{name}` stands for in arguments, in the address, and in the literal values of variables and headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, EnvVarConfig>,
    /// The Unix socket that a server listens on which is spoken to by HTTP. Its address says the path, and what the server is
    /// told as its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<PathBuf>,
    /// PEM file with CA certificates that this server's certificate may be signed by, in addition to the default ones. For servers
    /// over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client certificate (mutual TLS). For servers over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<PathBuf>,
    /// PEM file with the private key of `client_certificate`. The default is the file of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    /// URL of the proxy, in place of the proxies of the environment. It contains no password. For servers over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Whether secret variables may stand in arguments, where every user of the machine can read them in the list of processes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub secrets_in_args: bool,
    /// Variables of this process to pass on by name, where they are set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherit_env: Vec<String>,
    /// The working directory; that of the hub by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// How long things may take.
    #[serde(default, skip_serializing_if = "Timeouts::is_default")]
    pub timeouts: Timeouts,
    /// Which of its tools are offered.
    #[serde(default, skip_serializing_if = "ToolFilter::is_default")]
    pub tools: ToolFilter,
    /// What happens when it ends by itself.
    #[serde(default, skip_serializing_if = "RestartPolicy::is_default")]
    pub restart: RestartPolicy,
    /// Whether it is started only when one of its tools is called.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lazy: bool,
    /// After which time without a call it is stopped until the next. In files: `idle_ms`, milliseconds. Never by default.
    #[serde(default, rename = "idle_ms", with = "settings::millis", skip_serializing_if = "Option::is_none")]
    pub idle: Option<Duration>,
    /// How much it may be used.
    #[serde(default, skip_serializing_if = "Limits::is_default")]
    pub limits: Limits,
    /// Who wrote this.
    #[serde(default, skip_serializing_if = "Origin::is_default")]
    pub origin: Origin,
    /// The [`hash`](McpConfig::hash) of what the user agreed to start; not needed for what the user wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
    /// Members that this version does not know. They are kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl McpConfig {
    /// A server with a new id, enabled, and nothing else settled.
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

    /// A package of npm, with or without a version.
    pub fn npm(name: impl Into<String>, identifier: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Npm, identifier), McpTransport::Stdio)
    }

    /// A package of `PyPI`, with or without a version.
    pub fn pypi(name: impl Into<String>, identifier: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Pypi, identifier), McpTransport::Stdio)
    }

    /// An image of a container, with or without a tag.
    pub fn docker(name: impl Into<String>, image: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Docker, image), McpTransport::Stdio)
    }

    /// A program of this machine: a path, or a name that is looked up in `PATH`.
    pub fn binary(name: impl Into<String>, program: impl Into<String>) -> Self {
        McpConfig::new(name, McpPackage::new(McpPackageType::Binary, program), McpTransport::Stdio)
    }

    /// A server at this address.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        let url = url.into();
        McpConfig::new(name, McpPackage::new(McpPackageType::Http, url.clone()), McpTransport::Http { url })
    }

    /// Adds arguments.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable of its environment.
    pub fn env(mut self, value: EnvVarConfig) -> Self {
        self.env_vars.insert(value.name.clone(), value);
        self
    }

    /// Adds a header.
    pub fn header(mut self, value: EnvVarConfig) -> Self {
        self.headers.insert(value.name.clone(), value);
        self
    }

    /// Adds a variable for texts.
    pub fn variable(mut self, value: EnvVarConfig) -> Self {
        self.variables.insert(value.name.clone(), value);
        self
    }

    /// The name as names are compared: without white space around it, in lower case.
    pub fn folded_name(&self) -> String {
        folded(&self.name)
    }
}

/// A name of a server as names are compared.
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

impl fmt::Debug for McpConfig {
    /// Shows no values of variables and headers, nothing of the host's own data, and of an address neither user nor query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match &self.transport {
            McpTransport::Http { url } => Some(shown_address(url)),
            McpTransport::Stdio => None,
        };
        let mut shown = f.debug_struct("McpConfig");
        shown.field("id", &self.id).field("name", &self.name).field("enabled", &self.enabled);
        shown.field("source", &self.source).field("package_type", &self.package.package_type.as_str());
        match url {
            Some(url) => shown.field("url", &url).field("unix_socket", &self.unix_socket),
            None => shown.field("identifier", &self.package.identifier).field("version", &self.package.version),
        };
        shown.field("args", &self.args).field("env_vars", &self.env_vars).field("headers", &self.headers);
        shown.field("variables", &self.variables).field("cwd", &self.cwd).field("origin", &self.origin);
        shown.finish_non_exhaustive()
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}
