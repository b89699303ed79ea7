//! [`ManagedServer`]: everything that a hub knows of one server, beside the state that the supervisor has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_supervisor::{Filter, Generation, Rate, ServerId, ServerSpec};

use super::attempt::Attempt;
use super::available_tools::server_id;
use super::login_state::LoginState;
use super::logs::Logs;
use super::options::Settings;
use crate::HubError;
use crate::config::McpConfig;

/// A server of a hub: its configuration, its logs, its login, and the attempts to run it.
pub(super) struct ManagedServer {
    pub(super) config: Arc<McpConfig>,
    /// What the supervisor knows of the configuration. Its revision number increases with each change of the configuration.
    pub(super) spec: ServerSpec,
    pub(super) logs: Logs,
    /// The login of the server, if it may have one and has been started.
    pub(super) login: Option<LoginState>,
    /// Whether the hub has already read the tool definitions of an earlier run, to detect changed definitions.
    is_compared: bool,
    /// The current attempt to run the server, and earlier attempts whose process has not ended yet.
    pub(super) attempts: BTreeMap<Generation, Attempt>,
}

impl ManagedServer {
    pub(super) fn new(checked: CheckedConfig, settings: &Settings) -> Self {
        let CheckedConfig { config, spec } = checked;
        let logs = Logs::new(settings.layout.as_ref().map(|layout| layout.log(config.id)));
        let attempts = BTreeMap::new();
        ManagedServer { config: Arc::new(config), spec, logs, login: None, is_compared: false, attempts }
    }

    pub(super) fn id(&self) -> ServerId {
        server_id(self.config.id)
    }

    pub(super) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns whether requests to this server are sent with the login of a user, or of the program itself.
    pub(super) fn has_login(&self) -> bool {
        self.config.oauth.client_credentials || self.login.as_ref().is_some_and(LoginState::is_stored)
    }

    /// Adds an attempt to run the server, in place of earlier attempts that have started no process. Returns whether the tool
    /// definitions of an earlier run must still be read, which is so for the first attempt.
    pub(super) fn begin_attempt(&mut self, generation: Generation) -> bool {
        self.attempts.retain(|_, attempt| !attempt.is_resolving());
        self.attempts.insert(generation, Attempt::new());
        !std::mem::replace(&mut self.is_compared, true)
    }
}

/// A valid configuration, with what the supervisor has to know of it.
pub(super) struct CheckedConfig {
    pub(super) config: McpConfig,
    pub(super) spec: ServerSpec,
}

impl CheckedConfig {
    /// Validates a configuration, and derives the policy (timeouts and restarts), the tool filter and the rate limit. The revision
    /// number is 1. Calls the program's callback of `HubOptions::policy`, so the caller must not hold a lock.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or if the callback panics.
    pub(super) fn new(config: McpConfig, settings: &Settings) -> Result<Self, HubError> {
        config.validate()?;
        let mut spec = ServerSpec::new(config.name.trim(), settings.policy(&config)?);
        spec.enabled = config.enabled;
        spec.filter = Filter { allow: config.tools.allow.clone(), deny: config.tools.deny.clone() };
        let calls = config.limits.calls_per_minute.filter(|calls| *calls > 0);
        spec.rate = calls.map(|calls| Rate { calls, per: Duration::from_secs(60) });
        spec.revision = 1;
        Ok(CheckedConfig { config, spec })
    }

    pub(super) fn id(&self) -> ServerId {
        server_id(self.config.id)
    }
}
