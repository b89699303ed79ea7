//! Converts the configuration of a server to the [`Policy`] by which the supervisor runs the server.

use std::time::Duration;

use mcpwire_supervisor::{PackageKind, Policy, Restart};

use crate::HubError;
use crate::config::{EnvVarConfig, McpConfig, McpPackageType, RestartPolicy, Timeouts, missing_values};
use crate::launch::{Instance, start_timeout};

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
}
