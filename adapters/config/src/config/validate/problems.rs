//! [`Problems`]: collects the errors that the validation of a configuration finds.

use mcpwire_supervisor::Failure;

use crate::HubError;
use crate::config::{McpConfig, McpPackageType};

/// The errors that the validation of a configuration has found, in the order of the fields.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<HubError>);

impl Problems {
    pub(super) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(HubError::validation(field, message));
    }

    pub(super) fn add_if(&mut self, is_wrong: bool, field: impl Into<String>, message: &str) {
        if is_wrong {
            self.add(field, message);
        }
    }
}

/// Returns the error for required values that are missing. `paths` are their paths in the configuration, such as
/// `env_vars.TOKEN`. Returns `None` if `paths` is empty.
pub(crate) fn missing_values(paths: &[String]) -> Option<HubError> {
    let first = paths.first()?.clone();
    let names = paths.iter().map(|path| path.split_once('.').map_or(path.as_str(), |(_, name)| name));
    Some(Failure::missing_credentials(names).error.at(first))
}

impl McpConfig {
    /// Returns whether the server is reached over HTTP.
    pub(super) fn is_http(&self) -> bool {
        self.package.package_type == McpPackageType::Http
    }
}
