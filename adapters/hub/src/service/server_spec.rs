//! Converts a configuration to what the supervisor knows of a server: the policy (timeouts and restarts), the tool filter and the
//! rate limit.

use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_supervisor::{Filter, Rate, ServerSpec};

use super::options::Settings;
use crate::HubError;
use crate::config::McpConfig;
use crate::tasks::panicked;

/// Creates the supervisor's specification of a server, with revision number 1. Calls the program's callback of
/// `HubOptions::policy`, so the caller must not hold a lock.
///
/// # Errors
/// Fails if the callback panics.
pub(super) fn server_spec(config: &McpConfig, settings: &Settings) -> Result<ServerSpec, HubError> {
    let mut policy = config.policy();
    if let Some(adjust) = &settings.adjust_policy {
        catch_panic(|| adjust(config, &mut policy)).map_err(|message| panicked("`HubOptions::policy`", &message))?;
    }
    let mut spec = ServerSpec::new(config.name.trim(), policy);
    spec.enabled = config.enabled;
    spec.filter = Filter { allow: config.tools.allow.clone(), deny: config.tools.deny.clone() };
    spec.rate = match config.limits.calls_per_minute.unwrap_or_default() {
        0 => None,
        calls => Some(Rate { calls, per: Duration::from_secs(60) }),
    };
    spec.revision = 1;
    Ok(spec)
}
