//! [`ServerLogin`]: the user's login to one server over HTTP. Its tokens are stored on this machine.

mod steps;
mod store;

use std::time::Duration;

use mcpwire_authorization::{
    ClientIssuerRequired, FileStore, LoggedOut, LoginError, LoginErrorKind, LoginRequest, LoginRequired, LoginStatus,
    OAuth, Scopes, StoreFailed, TokenStore as _,
};
use mcpwire_hub::import::is_secret;
use mcpwire_hub::logins::{LoginSettings, login_error, login_secrets};
use mcpwire_hub::redact::Redactor;
use mcpwire_hub::secrets::{Secret, proxy_secrets};
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::{Error, McpServerDef};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use url::Url;

pub(crate) use self::store::LoginStore;
use crate::args::Options;
use crate::console::{Console, Foreground, agrees, is_at_terminal};
use crate::failure::Failure;
use crate::text;

/// How the user logs in to an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// With a browser on this machine. At the end, the browser sends a request to a port of this machine.
    Browser,
    /// With a browser on any machine. At the end, the user pastes the address of the last page into the terminal.
    Paste,
    /// With a code that the user enters on another device.
    Device,
}

/// The login of a user to one server over HTTP. The token is stored on this machine.
pub(crate) struct ServerLogin {
    /// The name of the configured server, or `None` for the server of `--url`.
    name: Option<String>,
    /// The account of `--account`. If it is `None`, the account in the server's configuration is used.
    account: Option<String>,
    settings: LoginSettings,
    oauth: OAuth,
    /// The definition of the server, to connect to it before a login and learn which scopes it wants.
    def: McpServerDef,
    list: LoginList,
    foreground: Foreground,
}

impl ServerLogin {
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Returns a redactor that hides the secrets of this login and of the connection to the server in messages.
    fn redactor(&self) -> Redactor {
        let redactor = Redactor::new(secrets_of(&self.def));
        redactor.also(login_secrets(&self.oauth));
        redactor
    }

    /// Describes for the user where the login is stored, such as `the files in DIRECTORY`.
    pub(crate) fn kept_in(&self) -> String {
        self.list.0.describe()
    }

    /// Adds this login to the list for `mcpwire whoami` if `is_listed` is true, or else removes it from the list. A login of a
    /// configured server is added only if the command line names an account.
    fn list(&self, is_listed: bool) -> Result<(), Failure> {
        // `mcpwire whoami` finds the login of a configured server by the configuration, unless `--account` names another account.
        if is_listed && self.name.is_some() && self.account.is_none() {
            return Ok(());
        }
        Ok(self.list.set(self.url(), self.account(), is_listed)?)
    }

    /// Returns the name of the account, or an empty text if there is none.
    pub(crate) fn account(&self) -> &str {
        self.settings.account()
    }

    /// Returns whether this login is to the same URL as `other`.
    pub(crate) fn is_to(&self, other: &Self) -> bool {
        self.url() == other.url()
    }

    /// Returns the command line that deletes this login.
    pub(crate) fn logout_command(&self) -> String {
        text::login_command("logout", self.name.as_deref(), self.url(), self.account.as_deref(), &[])
    }

    fn url(&self) -> &str {
        self.def.url.as_deref().unwrap_or_default()
    }

    /// Returns the URL of the server for messages, without its query and fragment, which may contain a secret.
    pub(crate) fn shown_url(&self) -> String {
        text::line(self.url().split(['?', '#']).next().unwrap_or_default())
    }

    /// Returns the name of the configured server with its URL, or only the URL, for a question to the user.
    fn title_with_host(&self) -> String {
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

    /// Converts the error of a request that needs a login to the failure of a command. The message contains the command to log
    /// in.
    pub(crate) fn required_for(&self, error: &Error) -> Failure {
        LoginRequired::find(error).map_or_else(|| self.missing(), |required| self.required(required))
    }

    fn required(&self, required: &LoginRequired) -> Failure {
        let scopes = required.scopes.iter().flat_map(Scopes::iter).map(str::to_owned).collect();
        self.needed(&text::line(&required.to_string()), scopes)
    }

    /// Returns the failure of a command that needs a login to this server, if no login is stored.
    pub(crate) fn missing(&self) -> Failure {
        self.needed(&format!("{}: you are not logged in; log in first", self.title()), Vec::new())
    }

    fn needed(&self, reason: &str, scopes: Vec<String>) -> Failure {
        let command = text::login_command("login", self.name.as_deref(), self.url(), self.account.as_deref(), &scopes);
        Failure::login_required(reason, &command, scopes).redacted(&self.redactor())
    }

    /// Asks the user at the terminal whether to log in now, and if so, logs in with `scopes`. If `scopes` is empty, requests the
    /// scopes of the stored login. Returns whether the user has logged in.
    ///
    /// Returns `false` without asking if there is no terminal or if `--json` is given.
    pub(crate) fn offer(&self, scopes: &[String], options: &Options) -> Result<bool, Failure> {
        if options.json || !is_at_terminal() {
            return Ok(false);
        }
        let stored = self.status()?.map(|status| status.scopes);
        let server = self.title_with_host();
        let is_agreed = match &stored {
            None => agrees(&format!("{server} wants you to log in. Log in now?"), true, options)?,
            // The server decides when this question appears, so Enter alone must not grant it more scopes.
            Some(stored) => agrees(&step_up(&server, stored, scopes), false, options)?,
        };
        if is_agreed {
            // If the server named no scopes, requests the scopes of the stored login, which the question has shown.
            let wanted: Scopes = scopes.iter().map(String::as_str).collect();
            let wanted = if wanted.is_empty() { stored.unwrap_or_default() } else { wanted };
            let mut request = LoginRequest::default();
            if !wanted.is_empty() {
                request = request.scopes(wanted);
            }
            let status = self.log_in(Way::Browser, &request, None, options)?;
            Console::new(options).note(&format!("logged in to {} at {}", self.title(), text::line(&status.issuer)));
        }
        Ok(is_agreed)
    }

    /// Asks the user at the terminal whether the secret of the client may be sent to the authorization server that the MCP server
    /// names. Returns `false` without asking if there is no terminal or if `--json` is given.
    fn agrees_to(&self, required: &ClientIssuerRequired, options: &Options) -> Result<bool, Failure> {
        let question = format!(
            "{} names the authorization server {}. Send the secret of the client {} there? Only if it has issued that secret.",
            self.title_with_host(),
            text::url(&required.issuer),
            text::line(&required.client_id)
        );
        agrees(&question, false, options)
    }

    /// Returns the stored login, or `None` if the user is not logged in. Sends no request.
    pub(crate) fn status(&self) -> Result<Option<LoginStatus>, Failure> {
        self.wait(None, self.oauth.status())?.map_err(|error| self.failed(&error))
    }

    /// Deletes the stored login within `timeout`. If `revoke` is true, also asks the authorization server to revoke the tokens.
    pub(crate) fn log_out(&self, revoke: bool, timeout: Option<Duration>) -> Result<LoggedOut, Failure> {
        let done = self.wait(timeout, self.oauth.logout(revoke))?.map_err(|error| self.failed(&error))?;
        self.list(false)?;
        Ok(done)
    }

    /// Converts the error of a login to the failure of a command.
    fn failed(&self, error: &LoginError) -> Failure {
        if error.kind() == LoginErrorKind::LoginRequired {
            return error.login_required().map_or_else(|| self.missing(), |required| self.required(required));
        }
        // `login_error` names settings as `servers.json` does, such as `oauth.auth_method`.
        let told = login_error(error);
        let failure = Failure::login(error.kind(), format!("{}: {}", self.title(), text::line(told.message())));
        let failure = failure.redacted(&self.redactor());
        match (error, error.kind()) {
            (LoginError::NoDeviceLogin(_), _) => {
                failure.with_hint("For a browser on another machine, use --no-browser instead of --device")
            }
            (_, LoginErrorKind::ClientIdRequired) if self.name.is_some() => {
                failure.with_hint("Register a client there, and set `oauth.client_id` of the server in servers.json")
            }
            (_, LoginErrorKind::ClientIdRequired) => {
                failure.with_hint("Register a client there, and name it with --client-id")
            }
            (_, LoginErrorKind::ClientIssuerRequired) => failure.with_hint(
                "Name the authorization server that has issued the secret with --issuer URL, or as `oauth.issuer` in servers.json",
            ),
            _ if self.name.is_none() && told.field() == "oauth.auth_method" => {
                failure.with_hint("Name the method of the client with --client-auth-method")
            }
            _ if self.name.is_none() && told.field().starts_with("oauth.") => failure.with_hint(
                "Configure the server first (mcpwire server add NAME --url URL), and change this setting in servers.json",
            ),
            _ => failure,
        }
    }

    /// Waits for a future and returns its output. Drops the future and fails after an interrupt such as Ctrl-C, or after `limit`.
    fn wait<T>(&self, limit: Option<Duration>, future: impl Future<Output = T>) -> Result<T, Failure> {
        let limited = async {
            match limit {
                Some(limit) => timeout(limit, future).await.map_err(|_| Failure::login_timed_out(limit)),
                None => Ok(future.await),
            }
        };
        self.foreground.wait(limited).unwrap_or_else(|| Err(Failure::interrupted()))
    }
}

/// Formats the question whether to log in again, because the server does not accept the stored login. `wanted` contains the
/// scopes that the server asks for, or nothing if the server named no scopes.
fn step_up(server: &str, stored: &Scopes, wanted: &[String]) -> String {
    let new: Vec<&str> = wanted.iter().map(String::as_str).filter(|scope| !stored.contains(scope)).collect();
    let what = if new.is_empty() { "wants you to log in again" } else { "wants you to log in with more scopes" };
    let list = |scopes: Vec<&str>| if scopes.is_empty() { "none".to_owned() } else { text::line(&scopes.join(" ")) };
    let (stored, new) = (list(stored.iter().collect()), list(new));
    format!("{server} {what}.\n  scopes so far: {stored}\n  new scopes:    {new}\nLog in again?")
}

/// Minimum length of a header value or query value that is hidden as a secret, in bytes. Hiding shorter values would hide
/// ordinary words. Values that are known to be secrets are hidden at any length.
const SHORTEST_SECRET: usize = 8;

/// Returns the secrets that the connection to the server of `def` sends: in headers, in the query of the URL, and to the proxy.
pub(crate) fn secrets_of(def: &McpServerDef) -> Vec<Secret> {
    let url = def.url.as_ref().and_then(|url| Url::parse(url).ok());
    let query = url.iter().flat_map(Url::query_pairs).map(|(name, value)| (name.into_owned(), value.into_owned()));
    let headers = def.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let is_hidden = |(name, value): &(String, String)| value.len() >= SHORTEST_SECRET || is_secret(name, value);
    let sent = query.chain(headers).filter(is_hidden).map(|(_, value)| Secret::new(value));
    sent.chain(proxy_secrets(def.proxy.as_deref())).collect()
}

/// Name of the document with the list of logins that the configuration does not name. `mcpwire whoami` needs the list, because
/// the names of the other documents do not contain the URLs of the servers.
const DOCUMENT: &str = "servers";

/// The list of the logins that no configured server names. The store contains the list and the logins themselves.
#[derive(Clone)]
struct LoginList(FileStore);

/// The version of a document that a later version of this program has written. This version writes a list without a version.
#[derive(Deserialize)]
struct Later {
    version: u64,
}

/// A login to a server that is not configured, or to a configured server with another account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    url: String,
    /// The name of the account, or an empty text for a login without an account name.
    #[serde(default)]
    account: String,
}

impl LoginList {
    /// Returns the logins that the configuration does not name. An invalid document counts as an empty list, and the next login
    /// replaces it.
    ///
    /// # Errors
    /// If the document cannot be read, or if a later version of this program has written it.
    fn entries(&self) -> Result<Vec<Entry>, StoreFailed> {
        let Some(document) = self.0.load(DOCUMENT)? else { return Ok(Vec::new()) };
        if let Ok(Later { version }) = serde_json::from_slice(&document) {
            return Err(StoreFailed(format!(
                "{} has version {version}, which this program does not know; use a later version of this program, or remove the \
                 file",
                self.0.locate(DOCUMENT)
            )));
        }
        Ok(serde_json::from_slice(&document).unwrap_or_default())
    }

    /// Adds the login to the server at `url` to the list if `is_listed` is true, or else removes it. `account` is empty for a
    /// login without an account name.
    fn set(&self, url: &str, account: &str, is_listed: bool) -> Result<(), StoreFailed> {
        let entry = Entry { url: url.to_owned(), account: account.to_owned() };
        if self.entries()?.contains(&entry) == is_listed {
            return Ok(());
        }
        let _lock = self.0.lock(DOCUMENT)?;
        let mut entries = self.entries()?;
        entries.retain(|other| *other != entry);
        if is_listed {
            entries.push(entry);
        }
        let document = serde_json::to_vec(&entries).map_err(|error| StoreFailed(error.to_string()))?;
        self.0.save(DOCUMENT, &document)
    }
}
