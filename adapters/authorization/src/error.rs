//! [`LoginError`]: why a login failed, and [`LoginRequired`]: why a request needs a login.

use std::fmt;

use mcpwire_driver::protocol::printable;
use mcpwire_oauth as oauth;
use mcpwire_oauth::{Scopes, Setting};
use mcpwire_text::url::without_query;

use crate::in_flight::{SETTLE_TIMEOUT, UnsettledLogin};
use crate::signing_key::KeyError;
use crate::store::StoreFailed;

/// Why a login, a logout or a renewal failed, or why a request needs a login. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// A request to the authorization server failed, or its response cannot be used.
    #[error(transparent)]
    Flow(#[from] oauth::Error),
    /// The [`TokenStore`](crate::TokenStore) failed. Contains its text.
    #[error("the login cannot be stored or read: {0}")]
    Store(StoreFailed),
    /// The user did not complete the login. Contains the text of the [`LoginPrompt`](crate::LoginPrompt)'s error.
    #[error("{0}")]
    Prompt(String),
    /// A user must log in, and the program has no prompt to ask a user.
    #[error(transparent)]
    LoginRequired(#[from] LoginRequired),
    /// No login waits for this response: it was finished or given up, or it began too long ago.
    #[error("no login waits for this response: it was finished, or began too long ago; log in again")]
    NotPending,
    /// The server refuses the token that the program has got without a user.
    #[error(transparent)]
    TokenRefused(#[from] TokenRefused),
    /// The server needs no login: it answers without one, and names no authorization server.
    #[error("no login is needed: the server answers without one, and names no authorization server")]
    NotNeeded,
    /// The authorization server has no login by device codes. Contains its issuer.
    #[error("the authorization server {} does not support a login with a code on another device; log in with a browser", printable(.0))]
    NoDeviceLogin(String),
    /// No setting names the authorization server of the configured client, so the secret of the client was not sent.
    #[error(transparent)]
    ClientIssuerRequired(#[from] ClientIssuerRequired),
    /// The client's key or the DPoP key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The program's callback for the token of a user or workload failed, such as
    /// [`Enterprise::subject`](crate::Enterprise::subject). Contains the text of its error.
    #[error("the program supplied no token to exchange: {0}")]
    Subject(String),
    /// The program could not store the new token of the identity provider:
    /// [`Enterprise::replace_subject`](crate::Enterprise::replace_subject) failed. Contains the text of its error.
    #[error(
        "the program could not store the new token of the identity provider: {0}; log in there again if the old one is refused"
    )]
    SubjectNotStored(String),
    /// A request was not sent, because the program is ending and the response could not be stored.
    #[error("the program ends, so the request to the authorization server was not sent")]
    ProgramEnds,
    /// A request that uses up a credential got no response in time. The request goes on.
    #[error("{}, and no answer came within {} s; log in again if the next request fails", .0, SETTLE_TIMEOUT.as_secs())]
    Unsettled(UnsettledLogin),
    /// Another task was logging in at the same time, and has given up its login.
    #[error("another task has tried to log in at the same time, and has given up; log in again")]
    OtherLoginFailed,
}

impl From<StoreFailed> for LoginError {
    // Not `#[from]`: the error would become the source, and its text would be shown twice.
    fn from(error: StoreFailed) -> Self {
        LoginError::Store(error)
    }
}

mcpwire_text::named_enum! {
    /// The kinds of [`LoginError`]s, for programs that act on them. `Display` writes the name in snake case.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum LoginErrorKind {
        /// A temporary failure: the same operation may succeed later. The stored documents stay as they are.
        Temporary = "temporary",
        /// A user must log in.
        LoginRequired = "login_required",
        /// The user did not complete the login: closed the page, waited too long, or pasted another text.
        NotCompleted = "not_completed",
        /// The user or the authorization server has refused the login.
        Refused = "refused",
        /// A setting is missing or wrong, or the server does not follow the specification. Trying again does not help.
        Misconfigured = "misconfigured",
        /// The authorization server registers no clients, so the user must supply the identifier of a client.
        ClientIdRequired = "client_id_required",
        /// No setting names the authorization server of the configured client, so the secret of the client was not sent.
        ClientIssuerRequired = "client_issuer_required",
        /// The response may come from an attacker, so it was discarded.
        Untrusted = "untrusted",
        /// The store, or a key in it, cannot be used.
        Store = "store",
    }

    /// Returns the name of the kind in snake case.
    pub const fn as_str;
}

impl LoginError {
    /// Returns the kind of the error, for programs that act on it.
    pub fn kind(&self) -> LoginErrorKind {
        match self {
            LoginError::Flow(error) => match error.kind() {
                oauth::ErrorKind::LoginRequired => LoginErrorKind::LoginRequired,
                oauth::ErrorKind::Refused => LoginErrorKind::Refused,
                oauth::ErrorKind::Misconfigured => LoginErrorKind::Misconfigured,
                oauth::ErrorKind::ClientIdRequired => LoginErrorKind::ClientIdRequired,
                oauth::ErrorKind::ClientIssuerRequired => LoginErrorKind::ClientIssuerRequired,
                oauth::ErrorKind::Untrusted => LoginErrorKind::Untrusted,
                _ => LoginErrorKind::Temporary,
            },
            LoginError::Store(_) | LoginError::SubjectNotStored(_) | LoginError::Key(_) => LoginErrorKind::Store,
            LoginError::Prompt(_) | LoginError::NotPending | LoginError::OtherLoginFailed => {
                LoginErrorKind::NotCompleted
            }
            LoginError::LoginRequired(_) => LoginErrorKind::LoginRequired,
            LoginError::Subject(_) | LoginError::ProgramEnds | LoginError::Unsettled(_) => LoginErrorKind::Temporary,
            LoginError::NoDeviceLogin(_) | LoginError::NotNeeded => LoginErrorKind::Misconfigured,
            LoginError::TokenRefused(_) => LoginErrorKind::Refused,
            LoginError::ClientIssuerRequired(_) => LoginErrorKind::ClientIssuerRequired,
        }
    }

    /// Returns the setting that the user must change to cure the error. `None` if the text of the error names no setting.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            LoginError::Flow(error) => error.setting(),
            LoginError::TokenRefused(refused) => refused.scopes.is_some().then_some(Setting::Scopes),
            LoginError::ClientIssuerRequired(_) => Some(Setting::ClientIssuer),
            _ => None,
        }
    }

    /// Returns the text of the error, which calls its [`setting`](Self::setting) `name`. Programs pass the name that the setting
    /// has in their own configuration.
    pub fn to_string_with_setting(&self, name: &str) -> String {
        match self {
            LoginError::Flow(error) => error.to_string_with_setting(name),
            LoginError::TokenRefused(refused) => refused.text(name),
            LoginError::ClientIssuerRequired(required) => required.text(name),
            error => error.to_string(),
        }
    }

    /// Converts the error to an [`oauth::Error`], for callers that cannot handle a `LoginError`.
    pub(crate) fn into_flow_error(self) -> oauth::Error {
        match self {
            LoginError::Flow(error) => error,
            LoginError::LoginRequired(required) => oauth::Error::login_required(required.reason),
            other => oauth::Error::temporary(other.to_string()),
        }
    }

    /// Returns the details of the required login, or `None` if the error has another cause.
    pub fn login_required(&self) -> Option<&LoginRequired> {
        match self {
            LoginError::LoginRequired(required) => Some(required),
            _ => None,
        }
    }
}

/// The error of a request that failed because a user must log in first.
///
/// [`LoginRequired::find`] finds it in a client's error of the kind
/// [`ErrorKind::LoginRequired`](mcpwire_driver::ErrorKind::LoginRequired).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginRequired {
    /// The URL of the server.
    pub server_url: String,
    /// The account that must log in. Empty if the user has one account on the server.
    pub account: String,
    /// The scopes that the server wants. `None` if the server named none.
    pub scopes: Option<Scopes>,
    /// Why the stored login does not suffice.
    pub reason: String,
}

impl LoginRequired {
    /// Finds a `LoginRequired` in an error and its sources, for example in the error of a client or in a [`LoginError`]. Returns
    /// `None` if they contain no `LoginRequired`.
    ///
    /// A client's error contains the `LoginRequired` as its [authorization error](mcpwire_driver::Error::authorization_error).
    pub fn find<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e LoginRequired> {
        let of_login = error.downcast_ref().and_then(LoginError::login_required);
        let of_client = error.downcast_ref().and_then(mcpwire_driver::Error::authorization_error);
        let found = error.downcast_ref().or(of_login).or_else(|| LoginRequired::find(of_client?));
        found.or_else(|| LoginRequired::find(error.source()?))
    }
}

impl std::error::Error for LoginRequired {}

/// The error of a login if the configured client has a secret, and no setting names the client's authorization server.
///
/// The MCP server names the authorization server. A malicious MCP server could name its own to get the secret. A program can ask
/// the user whether to trust the authorization server, and repeat the login with
/// [`LoginRequest::trust_issuer`](crate::LoginRequest::trust_issuer).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text(Setting::ClientIssuer.as_str()))]
#[non_exhaustive]
pub struct ClientIssuerRequired {
    /// The URL of the MCP server.
    pub server_url: String,
    /// The identifier of the configured client.
    pub client_id: String,
    /// The authorization server that the MCP server names.
    pub issuer: String,
}

impl ClientIssuerRequired {
    fn text(&self, setting: &str) -> String {
        format!(
            "the secret of the client `{}` was not sent: the server {} names the authorization server {}, and no setting says \
             that the client is registered there; set `{setting}` to the authorization server that has issued the secret",
            printable(&self.client_id),
            printable(without_query(&self.server_url)),
            printable(&self.issuer)
        )
    }
}

/// The error of a request if the server refuses a token that the program got without a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text(Setting::Scopes.as_str()))]
#[non_exhaustive]
pub struct TokenRefused {
    /// The URL of the MCP server.
    pub server_url: String,
    /// The scopes that the server wants. `None` if the server named none.
    pub scopes: Option<Scopes>,
    /// Why the token does not suffice.
    pub reason: String,
}

impl TokenRefused {
    fn text(&self, setting: &str) -> String {
        let (server, reason) = (printable(without_query(&self.server_url)), &self.reason);
        match &self.scopes {
            Some(scopes) => format!(
                "the server {server} wants the scopes `{scopes}` of this program's token: {reason}; set these `{setting}`, and \
                 have the client allowed to use them at the authorization server"
            ),
            None => format!(
                "the server {server} does not accept the token of this program: {reason}; check what the client is allowed \
                 to do at the authorization server"
            ),
        }
    }
}

impl fmt::Display for LoginRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server {} wants a login", printable(without_query(&self.server_url)))?;
        if !self.account.is_empty() {
            write!(f, " of the account `{}`", printable(&self.account))?;
        }
        if let Some(scopes) = self.scopes.as_ref().filter(|scopes| !scopes.is_empty()) {
            write!(f, " with the scopes `{scopes}`")?;
        }
        write!(f, ": {}; log in first", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required() -> LoginRequired {
        LoginRequired {
            server_url: "https://mcp.example.com/mcp?key=secret".into(),
            account: "work".into(),
            scopes: Some(Scopes::parse("a b")),
            reason: "no token is stored".into(),
        }
    }

    #[test]
    fn o21_a_missing_login_names_server_account_scopes_and_reason() {
        let expected = "the server https://mcp.example.com/mcp wants a login of the account `work` with the scopes `a b`: \
                        no token is stored; log in first";
        assert_eq!(required().to_string(), expected);
        let error = LoginError::from(required());
        assert_eq!((error.kind().to_string().as_str(), error.login_required()), ("login_required", Some(&required())));
    }

    #[test]
    fn a_setting_that_cures_an_error_can_have_the_name_of_a_configuration() {
        let (server_url, reason) = ("https://a.example/mcp?key=secret".to_owned(), "it expired".to_owned());
        let issuer = ClientIssuerRequired {
            server_url: server_url.clone(),
            client_id: "c".into(),
            issuer: "https://b.example".into(),
        };
        let refused = |scopes| TokenRefused { server_url: server_url.clone(), scopes, reason: reason.clone() };
        for (error, setting) in [
            (LoginError::from(issuer), Some(Setting::ClientIssuer)),
            (LoginError::from(refused(Some(Scopes::parse("a b")))), Some(Setting::Scopes)),
            (LoginError::from(refused(None)), None),
            (LoginError::Subject("set `scopes`".into()), None),
        ] {
            assert_eq!(error.setting(), setting);
            let renamed = error.to_string_with_setting("oauth.name");
            let own = setting.map_or(String::new(), |setting| format!("`{setting}`"));
            assert_eq!(renamed.replace("`oauth.name`", &own), error.to_string());
            assert_eq!(renamed.contains("`oauth.name`"), setting.is_some(), "{renamed}");
        }
    }

    #[test]
    fn each_text_occurs_once_in_the_chain_of_an_error() {
        let issuer = ClientIssuerRequired {
            server_url: "https://a.example".into(),
            client_id: "c".into(),
            issuer: "https://b.example".into(),
        };
        for error in [
            LoginError::from(required()),
            LoginError::from(issuer),
            LoginError::from(StoreFailed("the disk is full".into())),
            LoginError::from(KeyError::NotPem),
        ] {
            let sources = std::iter::successors(std::error::Error::source(&error), |error| error.source());
            for source in sources {
                assert!(!error.to_string().contains(&source.to_string()), "{error} contains {source}");
            }
        }
    }

    #[test]
    fn a_missing_login_is_found_among_the_sources_of_an_error() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] LoginRequired);

        assert_eq!(LoginRequired::find(&Outer(required())), Some(&required()));
        assert_eq!(LoginRequired::find(&LoginError::from(required())), Some(&required()));
        assert_eq!(LoginRequired::find(&LoginError::NotPending), None);
    }
}
