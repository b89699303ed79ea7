//! [`ManagedServer`]: one server of a hub, without the state machine that the supervisor has for it.

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

/// One server of a hub: its configuration, its logs, its login, and the attempts to run it.
pub(super) struct ManagedServer {
    pub(super) config: Arc<McpConfig>,
    /// The parts of the configuration that the supervisor needs. Their revision number increases with each change of the
    /// configuration.
    pub(super) spec: ServerSpec,
    pub(super) logs: Logs,
    /// The login of the server. `None` if the server needs no stored login, or has not been started yet.
    pub(super) login: Option<LoginState>,
    /// Whether the hub has already read the tool definitions of an earlier run. It reads them once, to detect changed
    /// definitions.
    is_compared: bool,
    /// The current attempt to run the server, and earlier attempts whose processes have not ended yet, by the number of the
    /// attempt.
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

    /// Returns whether requests to this server contain a token: of a user's login, or of the program's own credentials.
    pub(super) fn has_login(&self) -> bool {
        self.config.oauth.client_credentials || self.login.as_ref().is_some_and(LoginState::is_stored)
    }

    /// Adds an attempt to run the server, and removes earlier attempts that have not begun to start a process. Returns `true` for
    /// the first attempt: the hub must then read the tool definitions of an earlier run.
    pub(super) fn begin_attempt(&mut self, generation: Generation) -> bool {
        self.attempts.retain(|_, attempt| !attempt.is_resolving());
        self.attempts.insert(generation, Attempt::new());
        !std::mem::replace(&mut self.is_compared, true)
    }
}

/// A configuration that was validated, with the parts of it that the supervisor needs.
pub(super) struct CheckedConfig {
    pub(super) config: McpConfig,
    pub(super) spec: ServerSpec,
}

impl CheckedConfig {
    /// Validates a configuration, and derives the policy (timeouts and restarts), the tool filter and the rate limit for the
    /// supervisor. The revision number is 1. Calls the program's callback of `HubOptions::policy`, so the caller must not hold a
    /// lock.
    ///
    /// # Errors
    /// If the configuration is invalid, or if the callback panics.
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
