//! Converts a configuration to the part that the supervisor needs: the policy (timeouts and restarts), the tool filter
//! and the rate limit.

use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_supervisor::{Failure, Filter, PackageKind, Policy, Rate, Restart, ServerSpec};

use super::options::Settings;
use crate::HubError;
use crate::config::{EnvVarConfig, McpConfig, McpPackageType, RestartPolicy, Timeouts};
use crate::launch::{Instance, start_timeout};
use crate::tasks::panicked;

/// Idle timeout of a server that must never be stopped for being idle. One year is longer than any hub runs, and does
/// not overflow a timestamp.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Creates the supervisor's specification of a server, with revision number 1. Calls the program's callback of
/// `HubOptions::policy`, so the caller must not hold a lock.
///
/// # Errors
/// Fails if the callback panics.
pub(super) fn server_spec(config: &McpConfig, settings: &Settings) -> Result<ServerSpec, HubError> {
    let mut policy = policy(config);
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

pub(super) fn package_kind(config: &McpConfig) -> PackageKind {
    match config.package.package_type {
        McpPackageType::Npm => PackageKind::Npm,
        McpPackageType::Pypi => PackageKind::Pypi,
        McpPackageType::Docker => PackageKind::Docker,
        McpPackageType::Http => PackageKind::Http,
        McpPackageType::Binary => PackageKind::Binary,
    }
}

/// Returns the policy of a server (timeouts, restarts and idle time) from its configuration. The result does not
/// contain the changes that the callback of `HubOptions::policy` makes.
pub(super) fn policy(config: &McpConfig) -> Policy {
    let mut policy = Policy::new(package_kind(config));
    let times = &config.timeouts;
    policy.negotiate_timeout = times.start.unwrap_or(Timeouts::START);
    policy.first_start_timeout = start_timeout(config, &Instance { is_first: true, ..Instance::default() });
    policy.list_timeout = times.list.unwrap_or(Timeouts::LIST);
    policy.restart = match config.restart {
        RestartPolicy::Never => Restart::Never,
        RestartPolicy::OnFailure => Restart::OnFailure,
    };
    policy.lazy = config.lazy || config.idle.is_some();
    policy.idle_after = config.idle.unwrap_or(NEVER);
    policy
}

/// Checks that a configuration contains all values that the server requires, such as an API key. A reference to a
/// stored secret counts as a value.
pub(super) fn check_required_values(config: &McpConfig) -> Result<(), HubError> {
    let is_missing = |value: &&EnvVarConfig| {
        let required = value.spec.as_ref().is_some_and(|spec| spec.is_required);
        required && value.secret_ref.is_none() && value.literal().is_none_or(str::is_empty)
    };
    for (group, values) in
        [("env_vars", &config.env_vars), ("headers", &config.headers), ("variables", &config.variables)]
    {
        let missing = values.iter().filter(|(_, value)| is_missing(value));
        let names: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
        if let Some(first) = names.first() {
            let field = format!("{group}.{first}");
            return Err(Failure::missing_credentials(names).error.at(field));
        }
    }
    Ok(())
}
