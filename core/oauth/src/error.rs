//! Why a flow failed.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use mcpwire_text::url::without_query;
use mcpwire_types::printable;

/// The part of a flow to which a request or an error belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Reading the metadata of the server (RFC 9728).
    ResourceMetadata,
    /// Reading the metadata of the authorization server (RFC 8414 or OpenID Connect Discovery).
    ServerMetadata,
    /// Registering the client (RFC 7591).
    Registration,
    /// Asking the user to log in at the authorization endpoint.
    Authorization,
    /// Asking for a device code (RFC 8628).
    DeviceAuthorization,
    /// Exchanging a code, an assertion or credentials for a token.
    Token,
    /// Refreshing a token.
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

/// The kind of an [`Error`]: what a program can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Try again later. What is stored stays as it is.
    Temporary,
    /// The user must log in (again).
    LoginRequired,
    /// The user or the authorization server has refused the request.
    Refused,
    /// A setting is missing or wrong, or the server does not follow the specification. Trying again does not help.
    Misconfigured,
    /// The authorization server registers no clients, so the user must supply the identifier of a client.
    ClientIdRequired,
    /// Nothing says at which authorization server the client of the settings is registered, so its secret was not sent.
    ClientIssuerRequired,
    /// The response may come from an attacker, so it was discarded.
    Untrusted,
}

/// The error of a flow: the step that failed, the URL, the status, the error code of OAuth, and what to do.
///
/// The text contains no secrets. Text of servers is made safe to display.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0)]
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
    advice: Option<String>,
    retry_after: Option<Duration>,
}

impl Error {
    /// Creates an error. `reason` says what is wrong: `the issuer is another one`.
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

    /// Creates the error of a flow that was driven in another order than [`Flow`](crate::Flow) says.
    pub(crate) fn misuse(step: Step) -> Self {
        Error::new(ErrorKind::Misconfigured, step, "the program resumed the flow with an input that it did not ask for")
    }

    /// Names the URL that was asked, without its query and fragment, which may contain codes and tokens.
    pub(crate) fn at(mut self, url: &str) -> Self {
        self.0.url = Some(without_query(url).into());
        self
    }

    /// Names the status code of the response.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Names the `error` and the `error_description` of the response.
    pub(crate) fn with_code(mut self, code: &str, description: Option<&str>) -> Self {
        // Characters that are not shown could hide a secret from `without`.
        self.0.code = Some(printable(code).to_string());
        self.0.description = description.map(|text| printable(text).to_string());
        self
    }

    /// Says what the user can do, for example which setting to change. An empty text is no advice.
    pub(crate) fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.0.advice = Some(advice.into()).filter(|advice| !advice.is_empty());
        self
    }

    /// Says how long the server wants the client to wait. `None` if the server does not say.
    pub(crate) fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    /// Removes a secret that the server repeats in its error.
    pub(crate) fn without(mut self, secret: &str) -> Self {
        for text in [&mut self.0.code, &mut self.0.description].into_iter().flatten() {
            // A shorter one would also be found in ordinary words.
            if secret.len() >= 8 && text.contains(secret) {
                *text = text.replace(secret, "(secret)");
            }
        }
        self
    }

    /// Changes what a program can do about the error.
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Creates the error of a renewal that may succeed later. `reason` must not contain secrets.
    pub fn temporary(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Temporary, Step::Refresh, reason)
    }

    /// Creates the error of a renewal that only a login can replace. `reason` must not contain secrets.
    pub fn login_required(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::LoginRequired, Step::Refresh, reason).with_advice("log in again")
    }

    /// Creates the error of a key that cannot sign now. `reason` must not contain secrets.
    pub fn signing_failed(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Temporary, Step::Token, reason)
    }

    /// Creates the error of a setting of the program that is missing or wrong. `reason` must not contain secrets.
    pub fn misconfigured(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Misconfigured, Step::Token, reason)
    }

    /// Removes the advice at the end of the text, for programs that give one themselves.
    pub fn without_advice(mut self) -> Self {
        self.0.advice = None;
        self
    }

    /// Returns what a program can do about the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the part of the flow that failed.
    pub fn step(&self) -> Step {
        self.0.step
    }

    /// Returns the status code of the response, or `None` without a response.
    pub fn http_status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns the error code of OAuth, for example `invalid_grant`. `None` if the server sent none.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// Returns the delay that the server wants before the next request (`Retry-After`). `None` if it names none.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

/// Maximum number of bytes of a server's text in an error.
const MAX_QUOTED: usize = 200;

/// Returns the beginning of a server's text, for an error.
pub(crate) fn quoted(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUOTED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.step, printable(&self.reason))?;
        if let Some(url) = &self.url {
            write!(f, " ({}", printable(quoted(url)))?;
            if let Some(status) = self.status {
                write!(f, ", HTTP status {status}")?;
            }
            f.write_str(")")?;
        }
        for text in [&self.code, &self.description].into_iter().flatten() {
            write!(f, ": {}", printable(quoted(text)))?;
        }
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
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
    fn o21_long_texts_of_servers_are_cut_between_characters() {
        let long = "\u{e9}".repeat(1000);
        let error = Error::new(ErrorKind::Refused, Step::Revocation, "refused")
            .with_code("x", Some(&("a".to_string() + &long)));
        let text = error.to_string();
        assert!(text.starts_with("the revocation of the token failed: refused: x: a\u{e9}"), "{text}");
        assert!(text.len() < 300, "{}", text.len());
    }
}
