//! [`Error`]: the error of a flow, with the step that failed and the action that may help.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use mcpwire_text::url::without_query;
use mcpwire_types::printable;

/// The step of a flow during which a request is sent or an error occurs. Error messages begin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Requesting the metadata of the MCP server (RFC 9728).
    ResourceMetadata,
    /// Requesting the metadata of the authorization server (RFC 8414 or OpenID Connect Discovery).
    ServerMetadata,
    /// Registering the client (RFC 7591).
    Registration,
    /// Asking the user to log in, with the URL of the authorization endpoint.
    Authorization,
    /// Requesting a code for a login on another device (RFC 8628).
    DeviceAuthorization,
    /// Exchanging a grant, such as an authorization code, for a token.
    Token,
    /// Exchanging a refresh token for a new access token.
    Refresh,
    /// Revoking a token (RFC 7009).
    Revocation,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Step::ResourceMetadata => "the metadata of the server",
            Step::ServerMetadata => "the metadata of the authorization server",
            Step::Registration => "the registration of the client",
            Step::Authorization => "the login",
            Step::DeviceAuthorization => "the request for a device code",
            Step::Token => "the request for a token",
            Step::Refresh => "the refresh of the token",
            Step::Revocation => "the revocation of the token",
        })
    }
}

/// The kind of an [`Error`], from which a program decides how to react.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The failure is temporary. Try again later, and keep the stored token.
    Temporary,
    /// The user must log in, for the first time or again.
    LoginRequired,
    /// The user or the authorization server refused the request.
    Refused,
    /// A setting is missing or wrong, or the server does not follow the specification. A repetition does not help.
    Misconfigured,
    /// The authorization server does not let clients register. The user must supply the identifier of a registered
    /// client.
    ClientIdRequired,
    /// A client with a secret is configured, but not the issuer at which it is registered. The secret was not sent.
    ClientIssuerRequired,
    /// A response was discarded because it may come from an attacker.
    Untrusted,
}

mcpwire_text::named_enum! {
    /// A setting of the client that can cure an error. Programs use it to name the option in their own configuration.
    ///
    /// Each setting is a method of [`OAuthSettings`](crate::OAuthSettings), except [`Setting::AllowPrivateAddresses`],
    /// which is an option of the program's HTTP client. `Display` writes the name in snake case.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Setting {
        /// The scopes that the client requests.
        Scopes = "scopes",
        /// The issuer of the authorization server at which the client is registered.
        ClientIssuer = "client_issuer",
        /// The method by which the client authenticates at the token endpoint.
        AuthMethod = "auth_method",
        /// Whether requests omit the parameter `resource`.
        OmitResource = "omit_resource",
        /// Whether to assume that the authorization server supports PKCE if its metadata does not say so.
        AssumePkce = "assume_pkce",
        /// Whether the issuer in the metadata of an authorization server may be missing, or differ by a slash at its
        /// end.
        LenientIssuer = "lenient_issuer",
        /// Whether the metadata of an MCP server may describe a parent of its URL, such as the origin.
        AcceptParentResource = "accept_parent_resource",
        /// Whether the program may send requests to authorization servers at private addresses.
        AllowPrivateAddresses = "allow_private_addresses",
    }

    /// Returns the name of the setting in snake case, such as `assume_pkce`.
    pub const fn as_str;
}

/// The error of a flow. Its text names the failed step, the URL, the HTTP status, the OAuth error code and the action
/// that may help.
///
/// The text contains no secrets. Terminal sequences and invisible characters in texts of servers are removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Text(&self.0, None))]
pub struct Error(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    kind: ErrorKind,
    step: Step,
    reason: String,
    url: Option<String>,
    status: Option<u16>,
    code: Option<String>,
    description: Option<String>,
    advice: Option<Advice>,
    retry_after: Option<Duration>,
}

/// The advice at the end of an error's text: what the user can do about the error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Advice {
    text: String,
    /// The setting whose name is written after `text`, and the text that follows the name. `None` if no setting helps.
    setting: Option<(Setting, &'static str)>,
}

impl Error {
    /// Creates an error. `reason` says what is wrong, for example `it was refused`.
    pub(crate) fn new(kind: ErrorKind, step: Step, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Error(Box::new(Details {
            kind,
            step,
            reason,
            url: None,
            status: None,
            code: None,
            description: None,
            advice: None,
            retry_after: None,
        }))
    }

    /// Creates the error of a flow that the program has not driven as [`Flow`](crate::Flow) requires.
    pub(crate) fn misuse(step: Step) -> Self {
        Error::new(ErrorKind::Misconfigured, step, "the program resumed the flow with an input that it did not ask for")
    }

    /// Adds the URL of the request. Its query and fragment are removed, because they may contain codes and tokens.
    pub(crate) fn at(mut self, url: &str) -> Self {
        self.0.url = Some(without_query(url).into());
        self
    }

    /// Adds the HTTP status code of the response.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Adds the members `error` and `error_description` of the response.
    pub(crate) fn with_code(mut self, code: &str, description: Option<&str>) -> Self {
        // Invisible characters could hide a secret from `without`.
        self.0.code = Some(printable(code).to_string());
        self.0.description = description.map(|text| printable(text).to_string());
        self
    }

    /// Sets the advice for the user, which is written at the end of the text.
    pub(crate) fn with_advice(mut self, text: impl Into<String>) -> Self {
        self.0.advice = Some(Advice { text: text.into(), setting: None });
        self
    }

    /// Sets the advice to change a setting. The text is `before`, the name of the setting, and `after`.
    pub(crate) fn with_setting(mut self, before: impl Into<String>, setting: Setting, after: &'static str) -> Self {
        self.0.advice = Some(Advice { text: before.into(), setting: Some((setting, after)) });
        self
    }

    /// Sets the advice to omit the parameter `resource`, for authorization servers that refuse it.
    pub(crate) fn with_omit_resource(self) -> Self {
        let before = "if it does not support the parameter `resource`, use the setting ";
        self.with_setting(before, Setting::OmitResource, "")
    }

    /// Sets the delay that the server requested before the next attempt, or `None` if it requested no delay.
    pub(crate) fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    /// Replaces a secret by `(secret)` in the error code and description, in case the server quoted it.
    pub(crate) fn without(mut self, secret: &str) -> Self {
        for text in [&mut self.0.code, &mut self.0.description].into_iter().flatten() {
            // A short secret could also match a part of an ordinary word.
            if secret.len() >= 8 && text.contains(secret) {
                *text = text.replace(secret, "(secret)");
            }
        }
        self
    }

    /// Replaces the kind of the error.
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Creates the error of a refresh that may succeed later. `reason` must not contain secrets.
    pub fn temporary(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Temporary, Step::Refresh, reason)
    }

    /// Creates the error of a refresh that cannot succeed, so that the user must log in again. `reason` must not
    /// contain secrets.
    pub fn login_required(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::LoginRequired, Step::Refresh, reason).with_advice("log in again")
    }

    /// Creates the error of a key that cannot sign at the moment, for example because it is locked. `reason` must not
    /// contain secrets.
    pub fn signing_failed(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Temporary, Step::Token, reason)
    }

    /// Creates the error of a missing or wrong setting. `reason` must not contain secrets.
    pub fn misconfigured(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Misconfigured, Step::Token, reason)
    }

    /// Removes the advice at the end of the text, for programs that display their own advice.
    pub fn without_advice(mut self) -> Self {
        self.0.advice = None;
        self
    }

    /// Returns the setting that can cure the error. `None` if the advice in the text names no setting.
    pub fn setting(&self) -> Option<Setting> {
        Some(self.0.advice.as_ref()?.setting?.0)
    }

    /// Returns the text of the error, with `name` as the name of the [`setting`](Self::setting). Pass the name that the
    /// setting has in the program's own configuration.
    pub fn to_string_with_setting(&self, name: &str) -> String {
        Text(&self.0, Some(name)).to_string()
    }

    /// Returns the kind of the error, from which a program decides how to react.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the step of the flow that failed.
    pub fn step(&self) -> Step {
        self.0.step
    }

    /// Returns the HTTP status code of the response, or `None` if there was no response.
    pub fn http_status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns the OAuth error code, for example `invalid_grant`. `None` if the server sent no code.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// Returns the delay that the server requested before the next attempt (`Retry-After`). `None` if it requested no
    /// delay.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

/// Maximum length of a quoted server text in an error, in bytes. Longer texts are cut.
const MAX_QUOTED: usize = 200;

/// Returns at most the first [`MAX_QUOTED`] bytes of a server's text, for an error message.
pub(crate) fn quoted(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUOTED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Formats the text of an error. The second field replaces the name of the setting; `None` keeps the name.
struct Text<'a>(&'a Details, Option<&'a str>);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Text(error, setting_name) = self;
        write!(f, "{} failed: {}", error.step, printable(&error.reason))?;
        if let Some(url) = &error.url {
            write!(f, " ({}", printable(quoted(url)))?;
            if let Some(status) = error.status {
                write!(f, ", HTTP status {status}")?;
            }
            f.write_str(")")?;
        }
        for text in [&error.code, &error.description].into_iter().flatten() {
            write!(f, ": {}", printable(quoted(text)))?;
        }
        let Some(advice) = &error.advice else { return Ok(()) };
        write!(f, "; {}", advice.text)?;
        let Some((setting, rest)) = advice.setting else { return Ok(()) };
        write!(f, "`{}`{rest}", setting_name.unwrap_or(setting.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o21_an_error_names_step_address_status_code_and_advice() {
        let error = Error::new(ErrorKind::Refused, Step::DeviceAuthorization, "it was refused")
            .at("https://as.example/device?code=secret#secret")
            .with_status(400)
            .with_code("invalid_request", Some("no \u{1b}[2Jsuch thing"))
            .with_advice("try another way");
        assert_eq!(
            error.to_string(),
            "the request for a device code failed: it was refused (https://as.example/device, HTTP status 400): invalid_request: \
             no such thing; try another way"
        );
    }

    #[test]
    fn the_setting_that_cures_an_error_can_have_the_name_of_a_configuration() {
        let error = Error::misconfigured("set `scopes`").with_setting("set ", Setting::Scopes, " to fewer");
        assert_eq!(error.setting(), Some(Setting::Scopes));
        assert_eq!(error.to_string(), "the request for a token failed: set `scopes`; set `scopes` to fewer");
        let renamed = error.to_string_with_setting("oauth.scopes");
        assert_eq!(renamed, "the request for a token failed: set `scopes`; set `oauth.scopes` to fewer");
        let without = error.without_advice();
        assert_eq!((without.setting(), without.to_string_with_setting("x")), (None, without.to_string()));
    }

    #[test]
    fn o21_long_texts_of_servers_are_cut_between_characters() {
        let long = "\u{e9}".repeat(1000);
        let error = Error::new(ErrorKind::Refused, Step::Revocation, "refused")
            .with_code("x", Some(&("a".to_string() + &long)));
        let text = error.to_string();
        assert!(text.starts_with("the revocation of the token failed: refused: x: a\u{e9}"), "{text}");
        assert!(text.len() < 300, "{}", text.len());
    }
}
