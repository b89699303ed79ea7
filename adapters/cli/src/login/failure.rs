//! Converts errors of logins to [`Failure`]s.

use mcpwire_authorization::{LoginError, LoginErrorKind};

use super::ServerLogin;
use crate::failure::{Failure, LoginFailure};
use crate::text;

impl ServerLogin {
    /// Converts the error of a login to the failure of a command.
    pub(super) fn failed(&self, error: &LoginError) -> Failure {
        let kind = match error.kind() {
            LoginErrorKind::Temporary => LoginFailure::Network,
            LoginErrorKind::LoginRequired => return self.required(&text::line(&error.to_string()), None),
            LoginErrorKind::Misconfigured | LoginErrorKind::ClientIdRequired => LoginFailure::Configuration,
            LoginErrorKind::Store => LoginFailure::Store,
            _ => LoginFailure::Refused,
        };
        let failure = Failure::login(kind, format!("{}: {}", self.title(), text::line(&error.to_string())));
        if error.kind() != LoginErrorKind::ClientIdRequired {
            return failure;
        }
        failure.with_hint(match &self.name {
            Some(_) => "Register a client there, and set `oauth.client_id` of the server in servers.json",
            None => "Register a client there, and name it with --client-id",
        })
    }
}
