//! [`Problems`]: the errors that the validation of a configuration has found.

use mcpwire_supervisor::Failure;

use crate::HubError;

#[derive(Default)]
pub(super) struct Problems(Vec<HubError>);

impl Problems {
    pub(super) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(HubError::validation(field, message));
    }

    /// Adds an error that lists the required values `names` that are missing. `field` is the path of the first missing value in
    /// the configuration.
    pub(super) fn add_missing(&mut self, field: String, names: &[&str]) {
        self.0.push(Failure::missing_credentials(names.iter().copied()).error.at(field));
    }

    pub(super) fn into_errors(self) -> Vec<HubError> {
        self.0
    }
}
