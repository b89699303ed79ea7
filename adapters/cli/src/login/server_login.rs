//! [`ServerLogin`]: the login of a user to one server over HTTP.

use std::fmt::Write as _;

use mcpwire_authorization::{FileStore, LoginRequired, OAuth, Scopes};
use mcpwire_blocking::http::HttpOptions;
use mcpwire_blocking::{Error, McpServerDef};
use mcpwire_hub::logins::{LoginSettings, login_secrets};
use mcpwire_hub::redact::Redactor;

use super::index::Index;
use crate::failure::Failure;
use crate::hub::word;
use crate::secrets::secrets_of;
use crate::text;

/// The login of a user to one server over HTTP. The token is stored on this machine.
#[derive(Clone, Debug)]
pub(crate) struct ServerLogin {
    /// The name of the configured server, or `None` for the server of `--url`.
    pub(super) name: Option<String>,
    /// The account of the command line. The configuration of a server may name another one.
    pub(super) account: Option<String>,
    pub(super) settings: LoginSettings,
    pub(super) oauth: OAuth,
    /// The definition of the server, to ask it which login it wants.
    pub(super) def: McpServerDef,
    pub(super) files: FileStore,
}

impl ServerLogin {
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Returns a redactor for the secrets of this login.
    pub(super) fn redactor(&self) -> Redactor {
        let redactor = Redactor::new(secrets_of(&self.def));
        redactor.also(login_secrets(&self.oauth));
        redactor
    }

    /// Returns where the login is kept, such as `the files in DIRECTORY`.
    pub(crate) fn kept_in(&self) -> String {
        self.files.describe()
    }

    /// Adds the login to the list of those that are not the logins of configured servers, or removes it.
    pub(super) fn list(&self, is_listed: bool) -> Result<(), Failure> {
        // The login of a configured server is found by the configuration, unless it is another account's.
        if is_listed && self.name.is_some() && self.account.is_none() {
            return Ok(());
        }
        Index(&self.files).set(self.url(), self.account(), is_listed)
    }

    /// Returns the name of the account, or an empty text if there is none.
    pub(crate) fn account(&self) -> &str {
        self.settings.account()
    }

    pub(super) fn url(&self) -> &str {
        self.def.url.as_deref().unwrap_or_default()
    }

    /// Returns the URL without its query, which may contain a secret.
    pub(crate) fn shown_url(&self) -> String {
        text::line(self.url().split(['?', '#']).next().unwrap_or_default())
    }

    /// Returns the name of the configured server with its URL, or only the URL, for a question to the user.
    pub(super) fn title_with_host(&self) -> String {
        let url = text::url(&self.shown_url());
        self.name.as_deref().map_or_else(|| url.clone(), |name| format!("{} at {url}", text::name(name)))
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
    fn command(&self, scopes: &[String]) -> String {
        let mut command = match &self.name {
            Some(name) => format!("mcpwire login {}", word(name)),
            None => format!("mcpwire login --url {}", word(&text::url_without_query(self.url()))),
        };
        let account = self.account.iter().map(|account| ("account", account));
        for (option, value) in account.chain(scopes.iter().map(|scope| ("scope", scope))) {
            // Writing to a string cannot fail.
            let _ = write!(command, " --{option} {}", word(value));
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

    pub(super) fn required(&self, required: &LoginRequired) -> Failure {
        let scopes = required.scopes.iter().flat_map(Scopes::iter).map(str::to_owned).collect();
        self.needed(&text::line(&required.to_string()), scopes)
    }

    /// Returns the failure of a command that needs a stored login, if there is none.
    pub(crate) fn missing(&self) -> Failure {
        self.needed(&format!("{}: you are not logged in; log in first", self.title()), Vec::new())
    }

    fn needed(&self, reason: &str, scopes: Vec<String>) -> Failure {
        Failure::login_required(reason, &self.command(&scopes), scopes).redacted(&self.redactor())
    }
}
