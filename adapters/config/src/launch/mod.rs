//! [`Launch`]: resolves a configuration and its secrets to a process or an address. [`McpConfig::policy`]: the policy by which the
//! supervisor runs the server.
//!
//! A command is a list of arguments, and is not interpreted by a shell:
//!
//! | package | command |
//! |---|---|
//! | npm | `npx -y <identifier>[@version] <args>` |
//! | `PyPI` | `uvx <identifier>[@version] <args>` |
//! | Docker | `docker run --rm -i --init --name mcp-… --label … -e NAME … <runtime_args> <image> <args>` |
//! | program | `<identifier> <args>` |
//! | HTTP | none; the address with its headers |
//!
//! The values of variables are only in the environment of the process. The command of a container contains only their names.

mod command;
mod login;
mod preview;
mod resolve;
mod secret_parts;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use mcpwire_client::McpServerDef;
use mcpwire_supervisor::{PackageKind, Policy, Restart};

pub(crate) use command::argv;
pub use command::{Container, Instance};
pub use login::LoginSettings;
pub use preview::{Preview, Shown};

use crate::config::{
    EnvVarConfig, McpConfig, McpPackageType, McpTransport, Origin, RestartPolicy, Timeouts, missing_values, runs,
};
use crate::redact::Redactor;
use crate::secrets::{Secret, SecretStore, proxy_secrets};
use crate::{ErrorKind, HubError};

/// Name of the environment variable that marks the processes of a server, so that the next hub finds them after a crash. The
/// value is `<id>.<generation>.<host>`: the id of the server, the number of its start, and the token of the hub's process.
pub const MARK: &str = "MCPWIRE_SERVER";

/// Everything that is needed to start a server or to connect to it, with all secrets resolved.
#[non_exhaustive]
pub struct Launch {
    /// The command or the URL of the server. Environment and headers contain secrets in plain text. Arguments contain secrets
    /// only if the configuration allows that.
    pub def: McpServerDef,
    /// The container that the command starts, or `None` if the server does not run in a container.
    pub container: Option<Container>,
    /// Maximum time from the start of the server until the MCP connection is open.
    pub start_timeout: Duration,
    /// Removes the secrets of the server from texts, such as the output and the errors of the server.
    pub redactor: Redactor,
    /// How the client logs in to the server, for `Logins::oauth` of the hub. `None` if the client does not log in: for
    /// servers with an `Authorization` header, with `"oauth": false`, on a Unix socket, or without HTTP.
    pub login: Option<LoginSettings>,
}

impl fmt::Debug for Launch {
    /// Formats the launch with `[secret]` in place of each secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let def = self.redactor.redact(&format!("{:?}", self.def));
        f.debug_struct("Launch")
            .field("def", &format_args!("{def}"))
            .field("container", &self.container)
            .field("start_timeout", &self.start_timeout)
            .finish_non_exhaustive()
    }
}

impl Launch {
    /// Reads the secrets that `config` refers to from the store `secrets`, and composes the command or the URL of the server.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if the configuration is not valid, or if required values are missing: `field` names the first missing
    /// value, and the message names all of them. `CONFLICT` with the field `consent` if the user did not write the
    /// configuration and has not agreed to it: see [`McpConfig::has_consent`]. `SERVICE_UNAVAILABLE` if the store of secrets
    /// does not work.
    pub fn compose(config: &McpConfig, secrets: &dyn SecretStore, instance: &Instance) -> Result<Launch, HubError> {
        config.validate()?;
        check_consent(config, &preview(config, secrets))?;
        let mut resolved = resolve::resolve(config, secrets, resolve::Reads::All);
        // The check is repeated with the values that are started, because an environment variable may have changed since the
        // preview.
        check_consent(config, &resolved.preview)?;
        resolved.check()?;
        let mut known = std::mem::take(&mut resolved.secrets);
        if let McpTransport::Http { .. } = config.transport {
            known.extend(proxy_secrets(config.proxy.as_deref()));
        }
        let redactor = Redactor::new(known);
        let start_timeout = start_timeout(config, instance);
        let (mut def, container) = match &config.transport {
            McpTransport::Http { .. } => {
                let mut def = McpServerDef::http(resolved.url.take().unwrap_or_default());
                def.headers = exposed(&resolved.headers);
                def.unix_socket.clone_from(&config.unix_socket);
                def.ca_file.clone_from(&config.ca_file);
                def.client_certificate.clone_from(&config.client_certificate);
                def.client_key.clone_from(&config.client_key);
                def.proxy.clone_from(&config.proxy);
                (def, None)
            }
            McpTransport::Stdio => definition(config, &resolved, instance),
        };
        let login = may_log_in(config, &def).then_some(resolved.login);
        def.name = Some(config.name.trim().to_owned());
        def.timeout = Some(config.timeouts.call.unwrap_or(Timeouts::CALL));
        def.connect_timeout = Some(start_timeout);
        Ok(Launch { def, container, start_timeout, redactor, login })
    }

    /// Returns the paths of the required values of `config` that are missing, such as `env_vars.TOKEN`. A program can ask the
    /// user for them before it starts the server.
    pub fn missing(config: &McpConfig, secrets: &dyn SecretStore) -> Result<Vec<String>, HubError> {
        let resolved = resolve::resolve(config, secrets, resolve::Reads::All);
        resolved.error.map_or(Ok(resolved.missing), Err)
    }
}

/// Returns whether the client may log in to the server `def` with OAuth. A server with an `Authorization` header needs no login.
fn may_log_in(config: &McpConfig, def: &McpServerDef) -> bool {
    let has_credentials = def.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    // An authorization server cannot be reached over the Unix socket of the MCP server.
    config.oauth.enabled && def.url.is_some() && def.unix_socket.is_none() && !has_credentials
}

/// Returns the maximum time for a start of the server. The first start of a package has more time, because the package may have
/// to be downloaded. That also applies to commands that run a package themselves, such as `npx`.
pub fn start_timeout(config: &McpConfig, instance: &Instance) -> Duration {
    if let Some(timeout) = config.timeouts.start {
        return timeout;
    }
    let downloads = match config.package.package_type {
        McpPackageType::Npm | McpPackageType::Pypi | McpPackageType::Docker => true,
        McpPackageType::Binary => runs(&config.package.identifier, DOWNLOADERS).is_some(),
        McpPackageType::Http => false,
    };
    if downloads && instance.is_first { Timeouts::FIRST_START } else { Timeouts::START }
}

const DOWNLOADERS: &[&str] =
    &["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "uv", "pipx", "docker", "podman", "nerdctl", "dnx", "deno"];

/// Idle timeout of a server that is never stopped when it is idle. One year is longer than any hub runs, and does not overflow a
/// timestamp.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3_600);

impl McpConfig {
    /// Returns the kind of the server's package, as the type that the supervisor uses.
    pub fn package_kind(&self) -> PackageKind {
        match self.package.package_type {
            McpPackageType::Npm => PackageKind::Npm,
            McpPackageType::Pypi => PackageKind::Pypi,
            McpPackageType::Docker => PackageKind::Docker,
            McpPackageType::Http => PackageKind::Http,
            McpPackageType::Binary => PackageKind::Binary,
        }
    }

    /// Returns the policy by which the supervisor runs the server: its timeouts, restarts and idle time.
    pub fn policy(&self) -> Policy {
        let mut policy = Policy::new(self.package_kind());
        let times = &self.timeouts;
        policy.negotiate_timeout = times.start.unwrap_or(Timeouts::START);
        policy.first_start_timeout = start_timeout(self, &Instance { is_first: true, ..Instance::default() });
        policy.list_timeout = times.list.unwrap_or(Timeouts::LIST);
        policy.restart = match self.restart {
            RestartPolicy::Never => Restart::Never,
            RestartPolicy::OnFailure => Restart::OnFailure,
        };
        policy.lazy = self.lazy || self.idle.is_some();
        policy.idle_after = self.idle.unwrap_or(NEVER);
        policy
    }

    /// Checks that the configuration contains all values that the server's registry requires, such as an API key. A reference to
    /// a stored secret counts as a value.
    ///
    /// # Errors
    /// `field` is the path of the first missing value. The message names all values that are missing in the same part of the
    /// configuration, such as `env_vars`.
    pub fn check_required_values(&self) -> Result<(), HubError> {
        let is_missing = |value: &EnvVarConfig| {
            let required = value.spec.as_ref().is_some_and(|spec| spec.is_required);
            required && value.secret_ref.is_none() && value.literal().is_none_or(str::is_empty)
        };
        for (group, values) in self.value_groups() {
            let missing = values.iter().filter(|(_, value)| is_missing(value)).map(|(name, _)| group.path(name));
            if let Some(error) = missing_values(&missing.collect::<Vec<_>>()) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns whether the hub may start the server: the user wrote the configuration, or has agreed to it and nothing that
    /// determines what is started has changed since then. The environment variables come from `secrets`.
    pub fn has_consent(&self, secrets: &dyn SecretStore) -> bool {
        check_consent(self, &preview(self, secrets)).is_ok()
    }

    /// Records that the user has agreed to start this server, as `preview` shows it: its command, environment and URL. The consent
    /// ends when one of these changes.
    pub fn give_consent(&mut self, preview: &Preview) {
        self.consent = Some(preview.hash.clone());
    }
}

/// Returns an error if the user has not agreed to what `preview` shows. The error contains the preview.
fn check_consent(config: &McpConfig, preview: &Preview) -> Result<(), HubError> {
    let consent = config.consent.as_deref().unwrap_or_default();
    if config.origin == Origin::User || consent == preview.hash {
        return Ok(());
    }
    let name = config.name.trim();
    let why = match preview.changes_since(consent) {
        Some(changed) => {
            let changed: Vec<&str> = changed.into_iter().collect();
            format!("`{name}` needs your approval again: since the last one, {} changed here", changed.join(", "))
        }
        None => format!("`{name}` was imported and needs your approval"),
    };
    let what = if preview.url.is_some() { "connects to" } else { "runs" };
    Err(HubError::new(ErrorKind::NeedsConsent, format!("{why}. It {what}: {preview}")).at("consent"))
}

/// Describes how the hub would start or contact the server of `config`, for the user to approve. Reads environment variables from
/// `secrets`. Reads stored secrets only for variables that make programs load code, such as `PATH`.
pub fn preview(config: &McpConfig, secrets: &dyn SecretStore) -> Preview {
    resolve::resolve(config, secrets, resolve::Reads::Shown).preview
}

/// Returns the command and the environment of a server that runs as a process. Also returns the container that the command
/// starts, or `None` if it starts no container.
fn definition(
    config: &McpConfig,
    resolved: &resolve::Resolved,
    instance: &Instance,
) -> (McpServerDef, Option<Container>) {
    let container = Container::of(config, instance);
    let options = container.as_ref().map(|container| container.options(config, instance)).unwrap_or_default();
    let names = resolved.env.keys();
    let mut command = argv(config, &resolved.runtime_args, &resolved.args, names, options).into_iter();
    let mut def = McpServerDef::new(command.next().unwrap_or_default()).args(command);
    def.env = exposed(&resolved.env);
    def.env.insert(MARK.to_owned(), format!("{}.{}.{}", config.id, instance.generation, instance.host));
    def.inherit_env.clone_from(&config.inherit_env);
    if container.is_some() {
        def.inherit_env.extend(command::CLIENT_VARIABLES.iter().map(|name| (*name).to_owned()));
    }
    def.cwd.clone_from(&config.cwd);
    (def, container)
}

fn exposed(values: &BTreeMap<String, Secret>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}
