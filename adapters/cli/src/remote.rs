//! Servers that are an address: what `--url` and its company mean, and what to do when it does not work out.

use std::convert::Infallible;
use std::env;
use std::fmt;
use std::str::FromStr;

use mcpwire_blocking::http::{EnvToken, HttpOptions};
use mcpwire_blocking::protocol::http::{FailureKind, HttpError, SettingsError};
use mcpwire_blocking::protocol::{CallError, ConnectError};
use mcpwire_blocking::{Cause, Error, HttpSetupError, McpServerDef};

use crate::args::{Connection, Options};
use crate::failure::Failure;
use crate::text;

/// A header of the command line. It may be a secret, so nothing of it but its name is ever shown.
#[derive(Clone)]
pub(crate) struct Header {
    /// `None` if there is no colon: then what stands there may be a value.
    parts: Option<(String, String)>,
}

impl FromStr for Header {
    /// What is wrong is told later, and without the text, which errors of the command line have.
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        Ok(Header { parts })
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Header").field(&self.parts.as_ref().map(|(name, _)| name)).finish()
    }
}

/// The server at an address.
pub(crate) fn definition(url: &str, connection: &Connection, options: &Options) -> Result<McpServerDef, Failure> {
    if !options.variables.is_empty() {
        return Err(Failure::usage("env", "--env is for a server that is started; one at an address has its own"));
    }
    if options.cwd.is_some() {
        return Err(Failure::usage("cwd", "--cwd is for a server that is started; one at an address has its own"));
    }
    let mut definition = McpServerDef::http(url);
    definition.unix_socket.clone_from(&connection.unix_socket);
    for header in &connection.headers {
        match &header.parts {
            Some((name, value)) if !name.is_empty() => definition = definition.header(name, value),
            _ => return Err(Failure::usage("header", "a header is NAME:VALUE, as in --header 'X-Team: blue'")),
        }
    }
    Ok(definition)
}

/// What the requests are made with.
pub(crate) fn options(connection: &Connection) -> Result<HttpOptions, Failure> {
    let Some(name) = &connection.bearer_env else { return Ok(HttpOptions::default()) };
    if env::var(name).is_ok_and(|token| !token.trim().is_empty()) {
        return Ok(HttpOptions::default().token(EnvToken(name.clone())));
    }
    let name = text::line(name);
    Err(Failure::usage(
        "bearer-env",
        format!("the variable {name}, which is to have the token, is not set, or is empty"),
    ))
}

/// The part of the command line that is to blame for an address that cannot be spoken to.
pub(crate) fn culprit(error: &HttpSetupError) -> &'static str {
    match error {
        HttpSetupError::Settings(SettingsError::HeaderName { .. } | SettingsError::HeaderValue { .. }) => "header",
        _ => "url",
    }
}

/// What to do about an error of HTTP, if it is one.
pub(crate) fn advice(error: &Error) -> Option<&'static str> {
    Some(match of_http(error)? {
        HttpError::Unauthorized { status: 401, .. } => {
            "authorization is needed: give a token with --bearer-env NAME, or what else the server wants with --header"
        }
        HttpError::Unauthorized { .. } => {
            "authorization is needed: the token or header that was sent, if any, is not enough"
        }
        HttpError::Failed(failure) => match failure.kind {
            FailureKind::Unreachable => "check that the server is running, and that the address is right",
            FailureKind::Tls => {
                "check that the address is right, and that the server's certificate is one to be trusted"
            }
            FailureKind::Redirect => "give --url the address that it is redirected to, if that is to be trusted",
            FailureKind::Broken | FailureKind::Invalid => "check that what listens there is a server of this protocol",
            _ => return None,
        },
        HttpError::Status { status: 404 | 405, .. } => {
            "check the path of the address: servers are at /mcp, or at /sse if they are old, as a rule"
        }
        HttpError::Status { status: 500.., .. } => {
            "the server, or what is in front of it, is in trouble: try again later"
        }
        _ => return None,
    })
}

/// Whether the server wants to know who asks.
pub(crate) fn wants_authorization(error: &Error) -> bool {
    matches!(of_http(error), Some(HttpError::Unauthorized { .. }))
}

fn of_http(error: &Error) -> Option<&HttpError> {
    match error.cause() {
        Cause::Connect(ConnectError::Http { error, .. }) | Cause::Call(CallError::Http { error, .. }) => Some(error),
        _ => None,
    }
}
