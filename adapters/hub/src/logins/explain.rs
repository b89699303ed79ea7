//! Converts the errors of logins to errors for users, in the terms of the configuration.

use mcpwire_authorization::oauth::Scopes;
use mcpwire_authorization::{LoginError, LoginErrorKind, LoginRequired};
use mcpwire_driver::Error;
use serde::{Deserialize, Serialize};

use crate::redact::Redactor;
use crate::{ErrorKind, HubError};

/// The settings that an error names as its cure: the name in the error, and the path in the configuration.
const SETTINGS: [(&str, &str); 8] = [
    ("auth_method", "oauth.auth_method"),
    ("scopes", "oauth.scopes"),
    ("omit_resource", "oauth.omit_resource"),
    ("assume_pkce", "oauth.assume_pkce"),
    ("lenient_issuer", "oauth.lenient_issuer"),
    ("accept_parent_resource", "oauth.accept_parent_resource"),
    ("allow_private_addresses", "oauth.allow_private_addresses"),
    ("client_issuer", "oauth.issuer"),
];

/// Converts the error of a login to an error for the user.
///
/// If a setting of the server cures the error, the field is the path of this setting, such as `oauth.assume_pkce`. The message
/// contains no secrets.
pub fn login_error(error: &LoginError) -> HubError {
    let (kind, field) = match error.kind() {
        LoginErrorKind::Temporary | LoginErrorKind::Store => (ErrorKind::Unavailable, ""),
        LoginErrorKind::LoginRequired => (ErrorKind::LoginRequired, "login"),
        LoginErrorKind::NotCompleted => (ErrorKind::Cancelled, ""),
        LoginErrorKind::ClientIdRequired => (ErrorKind::InvalidConfiguration, "oauth.client_id"),
        LoginErrorKind::ClientIssuerRequired => (ErrorKind::InvalidConfiguration, "oauth.issuer"),
        LoginErrorKind::Misconfigured => (ErrorKind::InvalidConfiguration, "oauth"),
        _ => (ErrorKind::Unauthorized, "authorization"),
    };
    let is_temporary = error.kind() == LoginErrorKind::Temporary;
    let text = error.to_string();
    let setting = SETTINGS.into_iter().find(|(setting, _)| text.contains(&quoted(setting)));
    let message = in_terms_of_configuration(&text);
    match setting {
        Some((_, path)) => HubError::validation(path, message),
        None => HubError::new(kind, message).at(field).with_retryable(is_temporary),
    }
}

/// Returns the error of a login that a client's error reports, as an error for the user. Returns `None` if there is none.
pub(crate) fn find_login_error(error: &Error) -> Option<HubError> {
    error.authorization_error()?.downcast_ref().map(login_error)
}

/// Names settings by their paths in the configuration: `oauth.assume_pkce` instead of `assume_pkce`.
pub(crate) fn in_terms_of_configuration(text: &str) -> String {
    let with_path = |text: String, (setting, path): (&str, &str)| text.replace(&quoted(setting), &quoted(path));
    SETTINGS.into_iter().fold(text.to_owned(), with_path)
}

fn quoted(setting: &str) -> String {
    format!("`{setting}`")
}

/// The login that a server in the state `needs-login` waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequiredLogin {
    /// The URL of the server, without its query.
    pub server_url: String,
    /// The account of the user. Empty for the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
    /// The scopes that the server wants. Empty if it named none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl RequiredLogin {
    /// Returns the login that a request of a client needs, or `None` if `error` is not about a login.
    pub(crate) fn find(error: &Error) -> Option<RequiredLogin> {
        let required = LoginRequired::find(error)?;
        let server_url = required.server_url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let scopes = required.scopes.iter().flat_map(Scopes::iter).map(str::to_owned).collect();
        Some(RequiredLogin { server_url, account: required.account.clone(), scopes })
    }

    /// Replaces secrets in the scopes, which the server has named.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        self.scopes = self.scopes.iter().map(|scope| redactor.redact(scope)).collect();
        self
    }
}
