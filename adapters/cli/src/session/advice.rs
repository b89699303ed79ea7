//! Suggests what the user can do about an error of a server.

use mcpwire_tokio::protocol::http::{FailureKind, HttpError};
use mcpwire_tokio::protocol::{CallError, ConnectError};
use mcpwire_tokio::{Cause, Error, HttpSetupError};

use crate::args::Target;
use crate::failure::{Failure, MORE_TIME, http_error};
use crate::text;

/// Converts an error of the server that `target` selects to the failure that a command reports. `has_token` says whether the
/// client has sent a token. If `hide_stderr` is true, the message omits the output of the server on standard error.
pub(super) fn failure_of(error: &Error, target: &Target, has_token: bool, hide_stderr: bool) -> Failure {
    Failure::from_client(error, advice(error, target, has_token), &target.command("info", ""), hide_stderr)
}

/// Returns a suggestion for how the user can solve an error of the server that `target` selects. Returns `None` if there is none.
/// `has_token` says whether the client has sent a token.
fn advice(error: &Error, target: &Target, has_token: bool) -> Option<String> {
    // A configured server has its URL and its command in `servers.json`.
    let shown = target.server.as_ref().map(|_| target.command("server show", ""));
    let url = shown.clone().or(target.url.as_deref().map(text::url_without_query)).unwrap_or_default();
    let program = shown.or_else(|| target.program());
    // What the server wrote on stderr says why it has ended.
    let is_silent = error.process().is_none_or(|process| process.stderr_tail().is_empty());
    match error.cause() {
        Cause::Connect(cause)
            if program.is_some()
                && (error.invalid_messages().is_some() || is_silent && matches!(cause, ConnectError::Closed)) =>
        {
            return program.map(|program| format!("Is it an MCP server? See what it does: {program}"));
        }
        Cause::Connect(ConnectError::Timeout { .. }) | Cause::Call(CallError::Timeout { .. }) => {
            return Some(MORE_TIME.to_owned());
        }
        Cause::Http(HttpSetupError::Client(_)) => {
            return Some("Check the files and addresses of --ca, --client-cert, --client-key and --proxy".to_owned());
        }
        Cause::Connect(ConnectError::Refused { .. }) if target.url.is_some() => {
            return Some("The server itself reports this: try again later, or tell whoever runs it".to_owned());
        }
        _ => {}
    }
    Some(match http_error(error)? {
        HttpError::Unauthorized { status, .. } => {
            let what = match (has_token, status) {
                (false, _) => "No token was sent",
                (true, 401) => "The token that was sent is not accepted",
                (true, _) => "The token that was sent does not allow this",
            };
            let (server, account) = (target.server.as_deref(), target.http.account.as_deref());
            let login = text::login_command("login", server, target.url.as_deref().unwrap_or_default(), account, &[]);
            let or = if server.is_none() {
                "\nOr give it a token, with --bearer-env NAME or --header NAME:VALUE"
            } else {
                ""
            };
            format!("{what}. Log in, if the server has logins: {login}{or}")
        }
        HttpError::Failed(failure) => match failure.kind {
            FailureKind::Unreachable => format!("Check that the server is running, and that the URL is right: {url}"),
            FailureKind::Tls => {
                format!("Check the URL: {url}. For a private certificate authority, name its certificate: --ca FILE")
            }
            FailureKind::Redirect => "If you trust the address that it redirects to, use that as the URL".to_owned(),
            FailureKind::Broken | FailureKind::Invalid => {
                format!("Check that an MCP server listens at this URL: {url}")
            }
            _ => return None,
        },
        HttpError::Status { status: 404 | 405, .. } | HttpError::ContentType { .. } => {
            format!("The URL may be wrong: {url}. Most servers are at /mcp, older ones at /sse")
        }
        HttpError::Status { status: 500.., .. } => "The server or a proxy has a problem: try again later".to_owned(),
        _ => return None,
    })
}
