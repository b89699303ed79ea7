//! [`Failure`]: the failure of a server, and the condition under which a retry can succeed.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::{ErrorCode, ErrorKind, HubError};

/// The condition under which a failed server start or tool call can succeed if it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// No retry can succeed until the configuration or the machine changes. For example, the package does not exist.
    Never,
    /// A retry can succeed after a delay that the supervisor chooses.
    Backoff,
    /// A retry can succeed after the delay that the server requested.
    After(Duration),
    /// A retry can succeed after the user has logged in, or has supplied other credentials.
    Login,
    /// A retry can succeed after the user has supplied a missing value, such as a secret or variable.
    Input,
}

impl Retry {
    /// Returns whether a retry can succeed after a delay, without an action of the user. The supervisor then restarts
    /// the server.
    pub const fn is_automatic(self) -> bool {
        matches!(self, Retry::Backoff | Retry::After(_))
    }
}

/// A failure of a server: the error for the user, and the condition under which a retry can succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The error to show to the user.
    pub error: HubError,
    /// The condition under which a retry can succeed.
    pub retry: Retry,
}

impl Failure {
    /// Creates a failure from the error for the user and the condition under which a retry can succeed.
    pub fn new(error: HubError, retry: Retry) -> Self {
        Failure { error, retry }
    }

    /// Creates a failure whose error names a configuration field. `field` is empty if no field caused the error.
    pub(crate) fn at_field(kind: ErrorKind, field: &str, text: impl Into<String>, retry: Retry) -> Self {
        Failure::new(HubError::new(kind, text).at(field), retry)
    }

    /// Replaces the code of the error. By default, the code is derived from its kind.
    pub(crate) fn with_code(self, code: ErrorCode) -> Self {
        Failure { error: self.error.with_code(code), ..self }
    }

    /// Creates the failure of a server that requires missing configuration values, such as API keys.
    ///
    /// `names` contains the names of the environment variables, never their values.
    pub fn missing_credentials<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let colon = if names.is_empty() { "" } else { ": " };
        let message = alloc::format!("Missing required credentials{colon}{}", names.join(", "));
        let field = names.first().map(|name| alloc::format!("env_vars.{name}")).unwrap_or_default();
        Failure::at_field(ErrorKind::MissingValue, &field, message, Retry::Input)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn missing_credentials_are_named() {
        let failure = Failure::missing_credentials(["A_TOKEN", "B_KEY"]);
        assert_eq!(failure.error.field(), "env_vars.A_TOKEN");
        assert_eq!(failure.error.message(), "Missing required credentials: A_TOKEN, B_KEY");
        assert_eq!(failure.retry, Retry::Input);
        assert_eq!(failure.to_string(), "Missing required credentials: A_TOKEN, B_KEY");
    }
}
