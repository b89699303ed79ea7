//! What to do about errors of configured servers, as commands of this tool.

use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{ErrorCode, HubError, ToolChange};

use crate::failure::{Failure, NOT_RUNNING};
use crate::text;

/// Returns what to do about an error of a server.
pub(crate) fn advice(name: &str, error: &HubError) -> String {
    let server = word(name);
    let field = error.field.as_str();
    match (error.code(), field) {
        (_, "consent") => format!("Review and approve it: {} (without a terminal, add --trust)", enable_command(name)),
        (_, "enabled") => format!("Enable it: {}", enable_command(name)),
        (_, "authorization") => "Give it credentials: a header with a token, or a secret variable".into(),
        (ErrorCode::ValidationError, _) if field.starts_with("env_vars.") => {
            format!("Set it: mcpwire secret set {server} {}", word(&field["env_vars.".len()..]))
        }
        (ErrorCode::NotFound, "package.package_type") => {
            "Install the program that runs such packages (Node.js for npx, uv for uvx, Docker), or add it to the PATH"
                .into()
        }
        (ErrorCode::ServiceUnavailable, "package.package_type") => "Start Docker, and try again".into(),
        (ErrorCode::NotFound, "package.identifier") => format!("Check the spelling: mcpwire server show {server}"),
        (_, "timeout") => {
            "Try again: a first start may have to download much. Or allow more time (timeouts.start_ms)".into()
        }
        (_, "secrets") => "Make the file readable for you alone, as the message says".into(),
        (ErrorCode::ValidationError | ErrorCode::Conflict, _) => "Correct it in servers.json".into(),
        _ => format!("See its output: mcpwire server logs {server}"),
    }
}

/// Returns how to start a server of the running hub.
pub(crate) fn start_advice(name: &str) -> String {
    format!("Start it: mcpwire server start {}", word(name))
}

/// Returns the command that shows what a server starts, and asks for approval.
pub(crate) fn enable_command(name: &str) -> String {
    format!("mcpwire server enable {}", word(name))
}

/// Returns the command after which a server of the running hub uses a secret that was set.
pub(crate) fn restart_command(name: &str) -> String {
    format!("mcpwire server restart {}", word(name))
}

/// Returns why no call can be sent to a server in this state, and what to do; `None` if a call can be sent, or can wait.
pub(super) fn refusal(detail: &StatusDetail) -> Option<HubError> {
    let name = &detail.name;
    let not_running = || HubError::unavailable("").at(NOT_RUNNING);
    let then_start = |error: &HubError| match error.field.as_str() {
        // `enable` starts it.
        "consent" => advice(name, error),
        _ => format!("{}. Then start it: mcpwire server start {}", advice(name, error), word(name)),
    };
    let (what, advice, kind) = match (detail.state, &detail.last_error) {
        (State::Disabled, _) => {
            let disabled = HubError::disabled();
            ("is disabled".to_owned(), advice(name, &disabled), disabled)
        }
        (State::Stopped, _) => ("is stopped".to_owned(), start_advice(name), not_running()),
        (State::Backoff, Some(error)) => {
            let wait = detail.retry_in_ms.unwrap_or_default().div_ceil(1_000);
            let what = format!("has failed, and is started again in {wait} s: {}", error.message);
            (what, advice(name, error), not_running())
        }
        (State::Failed, Some(error)) => (format!("has failed: {}", error.message), then_start(error), not_running()),
        (State::NeedsInput | State::NeedsAuth, Some(error)) => {
            (format!("cannot be started: {}", error.message), then_start(error), error.clone())
        }
        _ => return None,
    };
    Some(HubError { message: format!("server `{name}` {what}. {advice}"), ..kind })
}

/// Creates the failure of a command that could not start a server.
pub(crate) fn not_started(server: &str, error: &HubError) -> Failure {
    let message = format!("server `{server}`: {}", error.message);
    Failure::from_hub(HubError { message, ..error.clone() }).with_hint(advice(server, error))
}

/// Returns the warning about a tool whose definition has changed. All but the words in between is the server's text.
pub(crate) fn changed_tool(server: &str, change: &ToolChange) -> String {
    let change = text::line(&change.to_string());
    format!("{}: the definition of a tool has changed: {change}; review it before you use it", text::name(server))
}

/// Returns a name as a word of a shell command.
pub(crate) fn word(name: &str) -> String {
    let name = text::line(name);
    let is_plain = |c: char| c.is_alphanumeric() || "@%+=:,./_-".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) { name } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_where_a_shell_would_part_it() {
        let cases =
            [("calc", "calc"), ("my files", "'my files'"), ("it's", r"'it'\''s'"), ("a;b", "'a;b'"), ("", "''")];
        for (name, typed) in cases {
            assert_eq!(start_advice(name), format!("Start it: mcpwire server start {typed}"));
        }
    }
}
