//! Suggestions for how users can solve errors of configured servers. Most suggestions are commands of this tool.

use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{ErrorCode, ErrorKind, HubError, ToolChange};

use crate::failure::{Failure, hub_message};
use crate::text;
use crate::text::{login_command, word};

/// Returns a suggestion for how the user can solve an error of the server `name`.
pub(crate) fn advice(name: &str, error: &HubError) -> String {
    use ErrorKind as Kind;
    match error.kind() {
        Kind::NeedsConsent => {
            format!("Review and approve it: {} (without a terminal, add --trust)", server_command("enable", name))
        }
        Kind::Disabled => format!("Enable it: {}", server_command("enable", name)),
        Kind::LoginRequired => format!("Log in: {}", login_command("login", Some(name), "", None, error.scopes())),
        Kind::Unauthorized if error.field() == "authorization" => {
            let login = login_command("login", Some(name), "", None, error.scopes());
            format!("Log in, if the server has logins: {login}. Or give it a header with a token, in servers.json")
        }
        Kind::EndpointNotFound => format!("Check its URL: {}", server_command("show", name)),
        Kind::Unauthorized if error.code() == ErrorCode::ValidationError => {
            "Give it credentials: a header with a token, or a secret variable".into()
        }
        Kind::MissingValue => {
            format!("Set its secret: {}", secret_command(name, error.field()))
        }
        // The program that runs the package (npx, uvx, docker) is missing. The package itself may exist.
        Kind::Start if error.code() == ErrorCode::NotFound && error.field() == "package.package_type" => {
            "Install the program that runs such packages (Node.js for npx, uv for uvx, Docker), or add it to the PATH"
                .into()
        }
        Kind::Start | Kind::PackageNotFound if error.code() == ErrorCode::NotFound => {
            format!("Check the spelling: {}", server_command("show", name))
        }
        Kind::Timeout => {
            format!(
                "A first start may have to download much: try again, or allow more time with timeouts.start_ms in servers.json. \
                 See its output: {}",
                server_command("logs", name)
            )
        }
        Kind::RateLimited => "Try again later".into(),
        Kind::Start if error.code() == ErrorCode::ServiceUnavailable => when_solved(),
        Kind::Unavailable => when_solved(),
        _ => match error.code() {
            ErrorCode::NetworkError => when_solved(),
            ErrorCode::ValidationError | ErrorCode::Conflict => "Correct it in servers.json".into(),
            _ => format!("See its output: {}", server_command("logs", name)),
        },
    }
}

/// Appends a full stop to the text, unless the text already ends with `.`, `?` or `!`.
pub(crate) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

fn when_solved() -> String {
    "Solve that, and then check: mcpwire server doctor".into()
}

/// Returns the suggestion to start the server `name` in the running hub with `mcpwire server start`.
pub(crate) fn start_advice(name: &str) -> String {
    format!("Start it: {}", server_command("start", name))
}

/// Returns the command line that sets a secret of a server. `path` is the path of the value in the configuration, such as
/// `env_vars.TOKEN`.
pub(crate) fn secret_command(server: &str, path: &str) -> String {
    let (_, secret) = path.split_once('.').unwrap_or(("", path));
    format!("mcpwire secret set {} {}", word(server.trim()), word(secret))
}

/// Returns the command line `mcpwire server ACTION NAME`. With the action `enable`, the user reviews and approves what the server
/// runs. With `restart`, a running server receives the new values of its secrets.
pub(crate) fn server_command(action: &str, name: &str) -> String {
    format!("mcpwire server {action} {}", word(name))
}

/// Appends the command line `mcpwire login NAME` to the message of a `LoginRequired` error. Returns other errors unchanged.
pub(crate) fn with_login_command(name: &str, error: HubError) -> HubError {
    if error.kind() != ErrorKind::LoginRequired {
        return error;
    }
    let command = login_command("login", Some(name), "", None, error.scopes());
    let message = error.message();
    let message = match message.strip_suffix(&command) {
        Some(_) => message.to_owned(),
        None => format!("{message}: {command}"),
    };
    error.with_message(message)
}

/// Returns the error for a tool call to a server whose state does not allow calls, for example a stopped server. The message
/// contains a suggestion for the user.
///
/// Returns `None` if the server can receive the call now, or after it has started. Calls to a server in the state `NeedsLogin`
/// are allowed, because the hub checks at each call whether the user has logged in.
pub(crate) fn refusal(detail: &StatusDetail) -> Option<HubError> {
    let name = &detail.name;
    let not_running = || HubError::new(ErrorKind::NotRunning, "").at("server");
    let then_start = |error: &HubError| match error.kind() {
        // `mcpwire server enable` starts the server too.
        ErrorKind::NeedsConsent => advice(name, error),
        _ => format!("{}. Then start it: {}", advice(name, error), server_command("start", name)),
    };
    let (what, advice, kind) = match (detail.state, &detail.last_error) {
        (State::Disabled, _) => {
            let disabled = HubError::disabled();
            ("is disabled".to_owned(), advice(name, &disabled), disabled)
        }
        (State::Stopped, _) => ("is stopped".to_owned(), start_advice(name), not_running()),
        (State::Backoff, Some(error)) => {
            let wait = detail.retry_in_ms.unwrap_or_default().div_ceil(1_000);
            let what = format!("has failed, and is started again in {wait} s: {}", hub_message(error));
            (what, advice(name, error), not_running())
        }
        // A server that has failed is stopping until its process has ended.
        (State::Failed | State::Stopping, Some(error)) => {
            (format!("has failed: {}", hub_message(error)), then_start(error), not_running())
        }
        (State::NeedsInput | State::NeedsAuth, Some(error)) => {
            (format!("cannot be started: {}", hub_message(error)), then_start(error), error.clone())
        }
        _ => return None,
    };
    Some(kind.with_message(format!("server `{name}` {} {advice}", sentence(&what))))
}

/// Returns the error for a tool call that waited for the start of its server, after the start has failed with `failure`.
///
/// The error is the same as for later calls, see [`refusal`]. While the failed server is still stopping, its state does not show
/// the failure yet, so the error is created from `failure`.
pub(super) fn refusal_after_start(detail: &StatusDetail, failure: HubError) -> HubError {
    // With these errors, the server has not failed: the user has stopped the server, or must log in.
    let is_for_the_user =
        matches!(failure.kind(), ErrorKind::NotRunning | ErrorKind::LoginRequired | ErrorKind::Unauthorized);
    let is_told = detail.state != State::Stopping || detail.last_error.is_some() || is_for_the_user;
    let mut detail = detail.clone();
    if !is_told {
        detail.last_error = Some(failure.clone());
    }
    refusal(&detail).or_else(|| still_starting(&detail)).unwrap_or_else(|| with_login_command(&detail.name, failure))
}

/// Returns the error for a server that is still starting when the time of a command is over.
pub(crate) fn still_starting(detail: &StatusDetail) -> Option<HubError> {
    let (what, advice) = starting(detail);
    let message = format!("server `{}` {}. {advice}", detail.name, what);
    is_starting(detail.state).then(|| HubError::new(ErrorKind::Timeout, message).at("server"))
}

/// Returns what to say of a server that is still starting, as the end of a sentence about it, and a suggestion for the user.
pub(crate) fn starting(detail: &StatusDetail) -> (String, String) {
    let what = format!("is still starting ({})", detail.state);
    match &detail.invalid_messages {
        Some(invalid) => {
            let advice = format!("Is it an MCP server? Check its command: {}", server_command("show", &detail.name));
            (format!("{what}; {}", text::line(invalid)), advice)
        }
        None => (what, "Try again later, or allow more time with --timeout; see mcpwire status".into()),
    }
}

/// Returns whether a server in this state is about to run or to fail.
pub(crate) fn is_starting(state: State) -> bool {
    matches!(state, State::Resolving | State::Launching | State::Negotiating | State::Listing)
}

/// Creates the failure for a server that could not be started, with a suggestion for how the user can solve the error.
pub(crate) fn not_started(server: &str, error: &HubError) -> Failure {
    if error.kind() == ErrorKind::LoginRequired {
        return Failure::from_hub(with_login_command(server, error.clone()));
    }
    let what = if error.kind() == ErrorKind::Disabled { "it is disabled".to_owned() } else { hub_message(error) };
    let message = format!("server `{server}`: {what}");
    Failure::from_hub(error.clone().with_message(message)).with_hint(advice(server, error))
}

/// Formats the warning that a server has changed the definition of a tool. `change` contains text of the server, so control
/// characters are removed.
pub(crate) fn changed_tool(server: &str, change: &ToolChange) -> String {
    let change = text::line(&change.to_string());
    format!("{}: the definition of a tool has changed: {change}; review it before you use it", text::name(server))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_depends_on_the_kind_of_an_error_and_not_on_its_text() {
        let advised = |kind: ErrorKind, field: &str| advice("calc", &HubError::new(kind, "").at(field));
        let missing = |field: &str| HubError::not_found(field, "").with_kind(ErrorKind::Start);
        assert_eq!(advised(ErrorKind::MissingValue, "env_vars.TOKEN"), "Set its secret: mcpwire secret set calc TOKEN");
        assert_eq!(advised(ErrorKind::MissingValue, "headers.X-Key"), "Set its secret: mcpwire secret set calc X-Key");
        // An invalid variable has the same code and field as a missing one.
        assert_eq!(advised(ErrorKind::InvalidConfiguration, "env_vars.TOKEN"), "Correct it in servers.json");
        assert!(advice("calc", &missing("package.package_type")).starts_with("Install the program"));
        assert!(advice("calc", &missing("package.identifier")).starts_with("Check the spelling"));
        assert!(advised(ErrorKind::PackageNotFound, "").starts_with("Check the spelling"));
    }

    #[test]
    fn an_error_that_asks_for_a_login_names_the_command_once() {
        let error = HubError::login_required("the server https://a.example wants a login: there is none; log in first");
        let told = with_login_command("my notes", error);
        assert!(told.message().ends_with("; log in first: mcpwire login 'my notes'"), "{told}");
        assert_eq!(with_login_command("my notes", told.clone()), told);
        let command = login_command("login", Some("notes"), "", None, &["a".into(), "b:c".into()]);
        assert_eq!(command, "mcpwire login notes --scope a --scope b:c");
        let other = HubError::unavailable("log in first");
        assert_eq!(with_login_command("notes", other.clone()), other);
    }

    #[test]
    fn a_name_is_quoted_where_a_shell_would_part_it() {
        let cases =
            [("calc", "calc"), ("my files", "'my files'"), ("it's", r"'it'\''s'"), ("a;b", "'a;b'"), ("", "''")];
        for (name, typed) in cases {
            assert_eq!(start_advice(name), format!("Start it: mcpwire server start {typed}"));
        }
    }
}
