//! [`Launch`]: from a configuration and its secrets to what is started, or spoken to.
//!
//! A command is a list of arguments, and no shell ever sees it:
//!
//! | package | command |
//! |---|---|
//! | npm | `npx -y <identifier>[@version] <args>` |
//! | `PyPI` | `uvx <identifier>[@version] <args>` |
//! | Docker | `docker run --rm -i --init --name mcp-… --label … -e NAME … <runtime_args> <image> <args>` |
//! | program | `<identifier> <args>` |
//! | HTTP | none; the address with its headers |
//!
//! Values of variables are in the environment of the process alone: for a container, too, whose command names them and no more.

mod command;
mod container;
mod preview;
mod resolve;

use std::collections::BTreeMap;
use std::time::Duration;

use mcpwire_client::McpServerDef;

pub use container::Container;
pub(crate) use preview::argv;
pub use preview::{Preview, Shown, preview};

use crate::HubError;
use crate::config::{McpConfig, McpPackageType, McpTransport, Origin, Timeouts};
use crate::redact::Redactor;
use crate::secrets::SecretStore;

/// The variable by which the processes of a server can be told from others after the hub is gone: `<id>.<generation>.<host>`.
pub const MARK: &str = "MCPWIRE_SERVER";

/// Which start of a server it is, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Which start of this server by this hub, counted up.
    pub generation: u64,
    /// Which process the hub is: see [`crate::ledger::Host::token`].
    pub host: String,
    /// Whether this configuration has never been started with success here, so that its package may have to be downloaded.
    pub is_first: bool,
}

/// A server, ready to be started, or to be connected to.
#[derive(Debug)]
pub struct Launch {
    /// What is started, or where it is. It holds secrets, and its `{:?}` does not show them; neither do its arguments hold
    /// any, unless the configuration allows that.
    pub def: McpServerDef,
    /// The container that it will run in.
    pub container: Option<Container>,
    /// How long it may take until the connection is open.
    pub start_timeout: Duration,
    /// For all that the server writes and says.
    pub redactor: Redactor,
}

impl Launch {
    /// Resolves all references, and puts the command together.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if the configuration is not valid, or if something that is required is missing: `field` names the
    /// first that is, the message all of them. `CONFLICT` with the field `consent` if somebody else wrote it and the user has
    /// not agreed: see [`McpConfig::has_consent`]. `SERVICE_UNAVAILABLE` if a store of secrets does not work. Nothing has been
    /// started then.
    pub fn compose(config: &McpConfig, secrets: &dyn SecretStore, instance: &Instance) -> Result<Launch, HubError> {
        config.validate()?;
        if !config.has_consent() {
            let message = format!(
                "`{}` was imported and needs your approval. It starts: {}",
                config.name.trim(),
                preview(config)
            );
            return Err(HubError::conflict("consent", message));
        }
        let mut resolved = resolve::resolve(config, secrets)?;
        let redactor = Redactor::new(std::mem::take(&mut resolved.secrets));
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
            McpTransport::Stdio => command::compose(config, &resolved, instance),
        };
        def.name = Some(config.name.trim().to_owned());
        def.timeout = Some(config.timeouts.call.unwrap_or(Timeouts::CALL));
        def.connect_timeout = Some(start_timeout);
        Ok(Launch { def, container, start_timeout, redactor })
    }

    /// All that a server is given and that cannot be had, by path, such as `env_vars.TOKEN`: for a host that asks for it
    /// before it starts anything.
    pub fn missing(config: &McpConfig, secrets: &dyn SecretStore) -> Result<Vec<String>, HubError> {
        resolve::missing(config, secrets)
    }
}

fn exposed(values: &BTreeMap<String, crate::secrets::Secret>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}

/// What runs packages has to download them first; so has a command that runs one of these by itself.
pub(crate) fn start_timeout(config: &McpConfig, instance: &Instance) -> Duration {
    if let Some(timeout) = config.timeouts.start {
        return timeout;
    }
    let downloads = match config.package.package_type {
        McpPackageType::Npm | McpPackageType::Pypi | McpPackageType::Docker => true,
        McpPackageType::Binary => crate::config::runs(&config.package.identifier, DOWNLOADERS).is_some(),
        McpPackageType::Http => false,
    };
    if downloads && instance.is_first { Timeouts::FIRST_START } else { Timeouts::START }
}

const DOWNLOADERS: &[&str] =
    &["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "uv", "pipx", "docker", "podman", "nerdctl", "dnx", "deno"];

impl McpConfig {
    /// Whether the user has agreed to what it starts: they wrote it, or agreed to it as it is now.
    pub fn has_consent(&self) -> bool {
        self.origin == Origin::User || self.consent.as_deref().is_some_and(|consent| consent == self.hash())
    }

    /// Notes that the user agrees to what [`preview`] shows. It holds until that changes.
    pub fn give_consent(&mut self) {
        self.consent = Some(self.hash());
    }
}
