//! What a configuration means for the supervisor.

use std::time::Duration;

use mcpwire_supervisor::{Failure, Filter, PackageKind, Policy, Rate, Restart};

use crate::HubError;
use crate::config::{EnvVarConfig, Limits, McpConfig, McpPackageType, RestartPolicy, Timeouts};
use crate::launch::{Instance, start_timeout};

/// A server that never sleeps. A year: longer than any host runs, and no number that overflows.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3_600);

pub(super) fn kind(package: McpPackageType) -> PackageKind {
    match package {
        McpPackageType::Npm => PackageKind::Npm,
        McpPackageType::Pypi => PackageKind::Pypi,
        McpPackageType::Docker => PackageKind::Docker,
        McpPackageType::Http => PackageKind::Http,
        McpPackageType::Binary => PackageKind::Binary,
    }
}

pub(super) fn policy(config: &McpConfig) -> Policy {
    let mut policy = Policy::new(kind(config.package.package_type));
    let times = &config.timeouts;
    let start = times.start.unwrap_or(Timeouts::START);
    policy.negotiate_timeout = start;
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

pub(super) fn filter(config: &McpConfig) -> Filter {
    Filter { allow: config.tools.allow.clone(), deny: config.tools.deny.clone() }
}

pub(super) fn rate(config: &McpConfig) -> Option<Rate> {
    match config.limits.calls_per_minute.unwrap_or(Limits::CALLS_PER_MINUTE) {
        0 => None,
        calls => Some(Rate { calls, per: Duration::from_secs(60) }),
    }
}

/// Whether everything that a registry requires is there, or it is said where it is: what is not does not get saved.
pub(super) fn check_provided(config: &McpConfig) -> Result<(), HubError> {
    let lacks = |value: &&EnvVarConfig| {
        let required = value.spec.as_ref().is_some_and(|spec| spec.is_required);
        required && value.secret_ref.is_none() && value.literal().is_none_or(str::is_empty)
    };
    for (group, values) in
        [("env_vars", &config.env_vars), ("headers", &config.headers), ("variables", &config.variables)]
    {
        let names: Vec<&str> = values.iter().filter(|(_, value)| lacks(value)).map(|(name, _)| name.as_str()).collect();
        if let Some(first) = names.first() {
            let field = format!("{group}.{first}");
            return Err(Failure::missing_credentials(names).error.at(field));
        }
    }
    Ok(())
}
