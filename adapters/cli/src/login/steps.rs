//! The three ways to log in: with a browser on this machine, with a browser elsewhere, and with a code on another device.

use std::io::{self, BufRead as _, Read as _};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, thread};

use mcpwire_authorization::{
    Browser, DeviceCode, LoginError, LoginPrompt, LoginRequest, LoginRequired, LoginStatus, PasteBack,
};
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::{ConnectOptions, McpClient};
use owo_colors::OwoColorize as _;
use serde::Serialize;

use super::{ServerLogin, Way};
use crate::args::Options;
use crate::console::{Console, is_at_terminal};
use crate::failure::Failure;
use crate::text;
use crate::time::{local_of_unix, utc_of_unix};

/// Default time limit for the user to log in with a browser. `--timeout` overrides it.
const TIME_TO_LOG_IN: Duration = Duration::from_secs(300);

/// Maximum number of bytes of an address that the user pastes.
const LONGEST_ADDRESS: u64 = 64 * 1024;

/// A step of a login that the user or a program must take. With `--json`, each step is one line of JSON on standard error.
#[derive(Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Step<'a> {
    OpenUrl {
        url: &'a str,
    },
    EnterCode {
        user_code: &'a str,
        verification_uri: &'a str,
        verification_uri_complete: Option<&'a str>,
        expires_at: Option<String>,
    },
}

impl ServerLogin {
    /// Logs the user in, and returns the new login. If only the MCP server has named the authorization server, asks the user
    /// before the secret of a client is sent there.
    pub(crate) fn log_in(
        &self,
        way: Way,
        request: &LoginRequest,
        timeout: Option<Duration>,
        options: &Options,
    ) -> Result<LoginStatus, Failure> {
        let done = match self.try_log_in(way, request, timeout, options)? {
            Err(LoginError::ClientIssuerRequired(required)) if self.agrees_to(&required, options)? => {
                let request = request.clone().trust_issuer(required.issuer);
                self.try_log_in(way, &request, timeout, options)?
            }
            done => done,
        };
        let status = done.map_err(|error| self.failed(&error))?;
        // A failure is only a warning, because the user is logged in.
        if let Err(failure) = self.list(true) {
            let console = Console::new(options);
            console.warn(&format!("mcpwire whoami will not list this login: {}", failure.message()));
        }
        Ok(status)
    }

    fn try_log_in(
        &self,
        way: Way,
        request: &LoginRequest,
        timeout: Option<Duration>,
        options: &Options,
    ) -> Result<Result<LoginStatus, LoginError>, Failure> {
        let guide = Guide {
            console: Console::new(options),
            json: options.json,
            title: self.title_with_host(),
            secret_variables: self.settings.secret_variables().map(str::to_owned).collect(),
            has_asked: AtomicBool::new(false),
        };
        let console = guide.console.clone();
        let time = timeout.unwrap_or(TIME_TO_LOG_IN);
        let (host, port, path) = match self.settings.config().redirect() {
            Some(redirect) => (redirect.host, redirect.port, redirect.path),
            None => ("127.0.0.1", 0, "/callback"),
        };
        let with = |prompt: &dyn LoginPrompt| {
            self.wait(Some(time), async { self.oauth.login_with(prompt, wanted(self, request).await?).await })
        };
        let done = match way {
            Way::Browser => {
                let prompt = Browser::new(move |url| guide.open(url)).host(host).port(port).path(path);
                // The time limit of `wait` is shorter, and has a better error message.
                with(&prompt.timeout(time.saturating_mul(2)))
            }
            Way::Paste => {
                let prompt = PasteBack::new(move |url| guide.read_address(url)).host(host).port(port).path(path);
                with(&prompt)
            }
            Way::Device => self.wait(timeout, async {
                let request = wanted(self, request).await?;
                self.oauth.login_by_device(request, |code| guide.show_code(code)).await
            }),
        };
        console.finish();
        done
    }
}

/// Connects to the server, to learn from its refusal where to log in and which scopes it wants. Returns the request with these
/// scopes. Fails if the server needs no login.
async fn wanted(login: &ServerLogin, request: &LoginRequest) -> Result<LoginRequest, LoginError> {
    let options = ConnectOptions::default().http(login.authorize(HttpOptions::default()));
    let scopes = match McpClient::connect_and_initialize_with(&login.def, options).await {
        Ok(client) => {
            // Errors are ignored: the server may have ended already.
            let _ = client.shutdown().await;
            // Some servers accept connections without a login, and want a login only for calls. Such servers name their
            // authorization server.
            if let (Ok(None), Ok(false)) = (login.oauth.status().await, login.oauth.has_authorization_server().await) {
                return Err(LoginError::NotNeeded);
            }
            None
        }
        // Other errors are ignored: they occur again during the login, or the login does not need this connection.
        Err(error) => LoginRequired::find(&error).and_then(|required| required.scopes.clone()),
    };
    let is_chosen = request.scopes.is_some() || !login.settings.config().scopes.is_empty();
    Ok(match scopes.filter(|scopes| !is_chosen && !scopes.is_empty()) {
        Some(scopes) => request.clone().scopes(scopes),
        None => request.clone(),
    })
}

/// Shows the steps of a login to the user.
struct Guide {
    console: Console,
    json: bool,
    /// The name and the URL of the server, or only its URL, for messages.
    title: String,
    /// Names of the environment variables with secrets, which the browser must not inherit.
    secret_variables: Vec<String>,
    /// Whether the user was already asked to paste the address.
    has_asked: AtomicBool,
}

impl Guide {
    /// Opens the login page in a browser. Without a terminal, only shows its URL.
    fn open(&self, url: &str) {
        let opens = is_at_terminal();
        let what =
            if opens { "Opening this page in your browser" } else { "Open this page in a browser on this machine" };
        self.show(&Step::OpenUrl { url }, || {
            format!("Log in to {}. {what}:\n\n  {}\n", self.title, text::url(url).bold())
        });
        self.console.start("waiting for the browser");
        if !opens {
            return;
        }
        let (opener, console) = (opener(url, &self.secret_variables), self.console.clone());
        // A text browser runs in the terminal until the user closes it.
        let open = move || {
            if !opener.and_then(|mut opener| opener.status()).is_ok_and(|status| status.success()) {
                console.note("no browser was opened (the variable BROWSER can name one): open the page yourself, on this machine");
                console.note("if the browser is on another machine, press Ctrl-C, and add --no-browser to the command");
            }
        };
        if let Err(error) = thread::Builder::new().spawn(open) {
            self.console.note(&format!("no browser was opened ({error}): open the page yourself, on this machine"));
        }
    }

    /// Shows the URL of the login page, and reads the address that the user pastes.
    fn read_address(&self, url: &str) -> io::Result<String> {
        if self.has_asked.swap(true, Ordering::Relaxed) {
            self.console.line("That is not the address at which this login ends. Paste the whole address:");
            return read_line();
        }
        self.show(&Step::OpenUrl { url }, || {
            format!(
                "Log in to {}. Open this page in a browser on any machine:\n\n  {}\n\n\
                 After the login, the browser shows an error, because it cannot open a page on this machine. Copy the \
                 address of that page, which begins with http://, and paste it here:",
                self.title,
                text::url(url).bold()
            )
        });
        read_line()
    }

    /// Shows the code to enter on another device, with the URL of the page and the time at which the code expires.
    fn show_code(&self, code: &DeviceCode) {
        let DeviceCode { user_code, verification_uri, verification_uri_complete, expires_at, .. } = code;
        let complete = verification_uri_complete.as_deref();
        let expires = expires_at.as_secs();
        let step = Step::EnterCode {
            user_code,
            verification_uri,
            verification_uri_complete: complete,
            expires_at: utc_of_unix(expires),
        };
        self.show(&step, || {
            let or = complete.map(|url| format!("\n  or open: {}", text::url(url))).unwrap_or_default();
            format!(
                "Log in to {}. Open this page on any device, and enter the code:\n\n  page:    {}\n  code:    {}\n  \
                 expires: {}{or}\n",
                self.title,
                text::url(verification_uri).bold(),
                text::line(user_code).bold(),
                local_of_unix(expires),
            )
        });
        self.console.start("waiting for you to enter the code");
    }

    /// Writes a step to standard error: as text, or as one JSON object on a line. `--quiet` does not hide it.
    fn show(&self, step: &Step<'_>, text: impl FnOnce() -> String) {
        match serde_json::to_string(step) {
            Ok(json) if self.json => self.console.line(&text::json_for_terminals(&json)),
            _ => self.console.line(&text()),
        }
    }
}

/// Returns the command that opens a page in the user's browser: this program with `open-page`. The browser inherits the
/// environment of that process, so the command removes the variables that contain secrets.
fn opener(url: &str, secret_variables: &[String]) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["open-page", url]);
    for name in secret_variables {
        command.env_remove(name);
    }
    Ok(command)
}

/// Reads a line of standard input.
fn read_line() -> io::Result<String> {
    let mut line = String::new();
    // Locks standard input for one line only: later lines stay in its buffer for the next attempt.
    io::stdin().lock().take(LONGEST_ADDRESS).read_line(&mut line)?;
    if line.is_empty() {
        let message = "standard input ended before the address was given";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
    }
    Ok(line)
}
