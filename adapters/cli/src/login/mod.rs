//! [`ServerLogin`]: the login of a user to one server over HTTP, which is stored on this machine.

mod failure;
mod index;
mod open;
mod steps;
mod wait;

use std::time::Duration;

use mcpwire_authorization::oauth::Scopes;
use mcpwire_authorization::{LoggedOut, LoginRequest, LoginRequired, LoginStatus, OAuth};
use mcpwire_blocking::http::HttpOptions;
use mcpwire_blocking::{Error, McpServerDef};
use mcpwire_hub::logins::LoginSettings;

pub(crate) use self::open::{ClientArgs, LoginStore};
pub(crate) use self::steps::Way;
use self::wait::wait;
use crate::args::Options;
use crate::console::{Console, Interrupt, Prompt, is_at_terminal};
use crate::failure::Failure;
use crate::hub::word;
use crate::text;

/// The login of a user to one server over HTTP. The token is stored on this machine.
#[derive(Clone, Debug)]
pub(crate) struct ServerLogin {
    /// The name of the configured server, or `None` for the server of `--url`.
    name: Option<String>,
    /// The account of the command line. The configuration of a server may name another one.
    account: Option<String>,
    settings: LoginSettings,
    oauth: OAuth,
    /// The definition of the server, to ask it which login it wants.
    def: McpServerDef,
    kept_in: String,
}

impl ServerLogin {
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the login is kept, such as `the file PATH`.
    pub(crate) fn kept_in(&self) -> &str {
        &self.kept_in
    }

    /// Returns the name of the account, or an empty text if there is none.
    pub(crate) fn account(&self) -> &str {
        self.settings.account()
    }

    fn url(&self) -> &str {
        self.def.url.as_deref().unwrap_or_default()
    }

    /// Returns the URL without its query, which may contain a secret.
    pub(crate) fn shown_url(&self) -> String {
        text::line(self.url().split(['?', '#']).next().unwrap_or_default())
    }

    /// Returns the name of the configured server, or its URL, for messages.
    pub(crate) fn title(&self) -> String {
        self.name.as_deref().map_or_else(|| self.shown_url(), text::name)
    }

    /// Adds the login to the options of a connection to the server.
    pub(crate) fn authorize(&self, options: HttpOptions) -> HttpOptions {
        options.authorizer(self.oauth.clone())
    }

    /// Returns the command line that logs in to this server: `mcpwire login NAME`.
    fn command(&self, scopes: Option<&Scopes>) -> String {
        let mut command = match &self.name {
            Some(name) => format!("mcpwire login {}", word(name)),
            None => format!("mcpwire login --url {}", word(self.url())),
        };
        let scopes = scopes.iter().flat_map(|scopes| scopes.iter()).map(|scope| ("--scope", scope));
        for (option, value) in self.account.as_deref().map(|account| ("--account", account)).into_iter().chain(scopes) {
            command.push_str(&format!(" {option} {}", word(value)));
        }
        command
    }

    /// Converts the error of a request that needs a login to the failure of a command.
    pub(crate) fn required_for(&self, error: &Error) -> Failure {
        match LoginRequired::find(error) {
            Some(required) => self.required(required),
            None => self.missing(),
        }
    }

    fn required(&self, required: &LoginRequired) -> Failure {
        Failure::login_required(&text::line(&required.to_string()), &self.command(required.scopes.as_ref()))
    }

    /// Returns the failure of a command that needs a stored login, if there is none.
    pub(crate) fn missing(&self) -> Failure {
        Failure::login_required(&format!("{}: you are not logged in; log in first", self.title()), &self.command(None))
    }

    /// Logs the user in, and returns the new login.
    pub(crate) fn log_in(
        &self,
        way: Way,
        request: LoginRequest,
        timeout: Option<Duration>,
        options: &Options,
    ) -> Result<LoginStatus, Failure> {
        steps::log_in(self, way, request, timeout, options)
    }

    /// Asks the user at the terminal whether to log in now, and does so. Returns whether the user is logged in afterwards.
    ///
    /// Returns `false` without asking if there is no terminal or if `--json` is given.
    pub(crate) fn offer(&self, options: &Options) -> Result<bool, Failure> {
        if options.json || !is_at_terminal() {
            return Ok(false);
        }
        let interrupt = Interrupt::install();
        let question = format!("{} wants you to log in. Log in now?", self.title());
        let agreed = Prompt::new(interrupt.clone()).agrees_by_default(&question);
        if interrupt.was_pressed() {
            return Err(Failure::interrupted());
        }
        if agreed {
            let status = self.log_in(Way::Browser, LoginRequest::default(), None, options)?;
            Console::new(options).note(&format!("logged in to {} at {}", self.title(), text::line(&status.issuer)));
        }
        Ok(agreed)
    }

    /// Returns the stored login, or `None` if the user is not logged in. Sends nothing.
    pub(crate) fn status(&self) -> Result<Option<LoginStatus>, Failure> {
        wait(None, self.oauth.status())?.map_err(|error| self.failed(&error))
    }

    /// Deletes the stored login.
    pub(crate) fn log_out(&self, revoke: bool, timeout: Option<Duration>) -> Result<LoggedOut, Failure> {
        wait(timeout, self.oauth.logout(revoke))?.map_err(|error| self.failed(&error))
    }
}
