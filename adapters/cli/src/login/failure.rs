//! Converts errors of logins to [`Failure`]s.

use mcpwire_authorization::{LoginError, LoginErrorKind};
use mcpwire_hub::logins::login_error;

use super::server_login::ServerLogin;
use crate::failure::{Failure, LoginFailure};
use crate::text;

impl ServerLogin {
    /// Converts the error of a login to the failure of a command.
    pub(super) fn failed(&self, error: &LoginError) -> Failure {
        let kind = match error.kind() {
            LoginErrorKind::LoginRequired => {
                return error.login_required().map_or_else(|| self.missing(), |required| self.required(required));
            }
            LoginErrorKind::Temporary => LoginFailure::Network,
            LoginErrorKind::Misconfigured | LoginErrorKind::ClientIdRequired | LoginErrorKind::ClientIssuerRequired => {
                LoginFailure::Configuration
            }
            LoginErrorKind::Store => LoginFailure::Store,
            _ => LoginFailure::Refused,
        };
        // Names settings as servers.json does.
        let told = login_error(error);
        let failure = Failure::login(kind, format!("{}: {}", self.title(), text::line(told.message())));
        let failure = failure.redacted(&self.redactor());
        match (error, error.kind()) {
            (LoginError::NoDeviceLogin(_), _) => {
                failure.with_hint("For a browser on another machine, use --no-browser instead of --device")
            }
            (_, LoginErrorKind::ClientIdRequired) if self.name.is_some() => {
                failure.with_hint("Register a client there, and set `oauth.client_id` of the server in servers.json")
            }
            (_, LoginErrorKind::ClientIdRequired) => {
                failure.with_hint("Register a client there, and name it with --client-id")
            }
            (_, LoginErrorKind::ClientIssuerRequired) => failure.with_hint(
                "Name the authorization server that has issued the secret with --issuer URL, or as `oauth.issuer` in servers.json",
            ),
            _ if self.name.is_none() && told.field() == "oauth.auth_method" => {
                failure.with_hint("Name the method of the client with --client-auth-method")
            }
            _ if self.name.is_none() && told.field().starts_with("oauth.") => failure.with_hint(
                "Configure the server first (mcpwire server add NAME --url URL), and change this setting in servers.json",
            ),
            _ => failure,
        }
    }
}
