//! [`Logins`]: the OAuth logins of a program, one for each server and account. Login errors name the setting of the configuration
//! that solves the problem.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use mcpwire_authorization::oauth::{AuthMethod, OAuthSettings, Scopes, Secret as OAuthSecret, Setting};
use mcpwire_authorization::{
    FileStore, LoginError, LoginErrorKind, LoginRequired, MachineGrant, MemoryStore, OAuth, OAuthBuilder, TokenStore,
    login_document,
};
use mcpwire_client::McpServerDef;
pub use mcpwire_config::launch::LoginSettings;
use mcpwire_driver::http::HttpClient;
use mcpwire_driver::{Error, Runtime};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::redact::Redactor;
use crate::secrets::Secret;
use crate::{ErrorKind, HubError};

/// The OAuth logins of a program to its HTTP servers. Cheap to clone: all clones share the logins.
///
/// All connections to one server under one account share one [`OAuth`], so that a token is refreshed once for all of them.
/// Several programs can share the files in which the logins are stored.
#[derive(Clone)]
pub struct Logins(Arc<Inner>);

struct Inner {
    store: Arc<dyn TokenStore>,
    client_name: String,
    shared: Mutex<Vec<SharedLogin>>,
}

/// The authorizer that all connections to one server under one account share.
struct SharedLogin {
    key: LoginKey,
    /// The URL, the CA file and the proxy of the server. Requests to the authorization server use the same CA file and proxy.
    server: McpServerDef,
    settings: LoginSettings,
    oauth: OAuth,
}

/// Identifies a login by the server's URL and the user's account on that server. The account is empty if the user has only one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LoginKey {
    server_url: String,
    account: String,
}

impl LoginKey {
    pub(crate) fn new(def: &McpServerDef, settings: &LoginSettings) -> Self {
        LoginKey { server_url: def.url.clone().unwrap_or_default(), account: settings.account().to_owned() }
    }
}

impl Logins {
    /// Creates logins that are stored in private files in the directory [`Layout::logins`]. Users who log in see `client_name` as
    /// the name of the program.
    ///
    /// The first login creates this directory.
    pub fn new(layout: &Layout, client_name: impl Into<String>) -> Self {
        Self::in_store(FileStore::new(layout.logins()), client_name)
    }

    /// Creates logins that are stored only in memory. They are lost when the program ends, and users must then log in again.
    pub fn in_memory(client_name: impl Into<String>) -> Self {
        Self::in_store(MemoryStore::new(), client_name)
    }

    /// Creates logins that are stored in `store`. Users who log in see `client_name` as the name of the program.
    pub fn in_store(store: impl TokenStore, client_name: impl Into<String>) -> Self {
        Logins(Arc::new(Inner { store: Arc::new(store), client_name: client_name.into(), shared: Mutex::default() }))
    }

    /// Returns the authorizer for connections to the HTTP server `def`. Callers with the same server, account and settings get
    /// clones of the same authorizer.
    ///
    /// The authorizer sends the stored token and refreshes it. It never asks the user: if a login is needed, requests fail. Call
    /// the login methods of the returned [`OAuth`] to log in. `client` sends the requests to the authorization server; without
    /// `client`, the HTTP client of the runtime sends them.
    ///
    /// # Errors
    /// If the runtime has no HTTP client for the server, for example because a certificate cannot be read.
    pub fn oauth(
        &self,
        def: &McpServerDef,
        settings: &LoginSettings,
        runtime: &Arc<dyn Runtime>,
        client: Option<Arc<dyn HttpClient>>,
    ) -> Result<OAuth, HubError> {
        let key = LoginKey::new(def, settings);
        let mut server = McpServerDef::http(&key.server_url);
        server.ca_file.clone_from(&def.ca_file);
        server.proxy.clone_from(&def.proxy);
        let mut shared = self.shared();
        let is_same = |login: &&SharedLogin| login.server == server && login.settings == *settings;
        if let Some(login) = shared.iter().find(is_same) {
            return Ok(login.oauth.clone());
        }
        let client = match client {
            Some(client) => client,
            // If the runtime can end before the program, uses a runtime that lives as long as the program. A token refresh is
            // then not lost.
            None => runtime
                .process_runtime()
                .unwrap_or_else(|| Arc::clone(runtime))
                .http_client(&server)
                .map_err(|error| HubError::validation("transport", error.to_string()))?,
        };
        let oauth = self.build(def, settings).build(Arc::clone(runtime), client);
        // The old authorizer has other settings for the same login. Connections that still use the old authorizer keep it.
        shared.retain(|login| login.key != key);
        shared.push(SharedLogin { key, server, settings: settings.clone(), oauth: oauth.clone() });
        Ok(oauth)
    }

    /// Waits until pending requests that use up a credential, such as token refreshes, have ended and their results are stored.
    /// Waits for at most 10 s: see [`OAuth::settle`].
    ///
    /// # Errors
    /// If such a request has not ended in time. The message names the server.
    pub async fn settle(&self) -> Result<(), HubError> {
        let all: Vec<OAuth> = self.shared().iter().map(|login| login.oauth.clone()).collect();
        let results = join_all(all.iter().map(OAuth::settle)).await;
        results.into_iter().collect::<Result<(), _>>().map_err(|error| login_error(&error).at("login"))
    }

    /// Returns a number that changes when the stored login changes. Returns `None` if no login is stored. Reads a file, so this
    /// may block.
    pub(crate) fn revision(&self, key: &LoginKey) -> Result<Option<u64>, HubError> {
        let name = login_document(&key.server_url, &key.account);
        self.0.store.revision(&name).map_err(|error| HubError::unavailable(error.to_string()))
    }

    /// Removes the authorizer of a login that another process has deleted, because the authorizer still contains the deleted
    /// token. The next connection gets a new authorizer.
    pub(crate) fn forget(&self, key: &LoginKey) {
        let forgotten: Vec<SharedLogin> = self.shared().extract_if(.., |login| login.key == *key).collect();
        drop(forgotten);
    }

    fn build(&self, def: &McpServerDef, settings: &LoginSettings) -> OAuthBuilder {
        let config = settings.config();
        let secret = settings.secret().map(|secret| OAuthSecret::new(secret.expose()));
        let scopes: Option<Scopes> =
            (!config.scopes.is_empty()).then(|| config.scopes.iter().map(String::as_str).collect());
        let mut builder = OAuth::for_server(def, &self.0.client_name)
            .store(Arc::clone(&self.0.store))
            .account(settings.account())
            .dpop(config.dpop)
            .allow_private_addresses(config.allow_private_addresses)
            .settings(|mut oauth| {
                oauth = oauth
                    .omit_resource(config.omit_resource)
                    .assume_pkce(config.assume_pkce)
                    .lenient_issuer(config.lenient_issuer)
                    .accept_parent_resource(config.accept_parent_resource);
                let method = config.auth_method.as_deref().and_then(AuthMethod::from_name);
                oauth = config.client_id.iter().fold(oauth, OAuthSettings::client_id);
                oauth = secret.clone().into_iter().fold(oauth, OAuthSettings::client_secret);
                oauth = config.issuer.iter().fold(oauth, OAuthSettings::client_issuer);
                oauth = method.into_iter().fold(oauth, OAuthSettings::auth_method);
                oauth = config.client_metadata_url.iter().fold(oauth, OAuthSettings::client_metadata_url);
                scopes.clone().into_iter().fold(oauth, OAuthSettings::scopes)
            });
        if config.client_credentials {
            let mut grant = MachineGrant::client_credentials(config.client_id.clone().unwrap_or_default(), secret);
            if let Some(scopes) = scopes {
                grant = grant.scopes_to_ask(scopes);
            }
            builder = builder.machine_grant(grant);
        }
        builder
    }

    fn shared(&self) -> MutexGuard<'_, Vec<SharedLogin>> {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins").field("client_name", &self.0.client_name).finish_non_exhaustive()
    }
}

/// Returns a function that lists the current tokens and client secrets of a login. Pass it to
/// [`Redactor::also`](crate::redact::Redactor::also), so that logs and errors contain none of them, also after a token refresh.
pub fn login_secrets(oauth: &OAuth) -> impl Fn() -> Vec<Secret> + Send + Sync + use<> {
    let oauth = oauth.clone();
    move || oauth.secrets().iter().map(|secret| Secret::new(secret.expose())).collect()
}

/// Converts the error of a login to an error for the user of the hub.
///
/// If the user can solve the problem with a setting of the server, the error's field is the path of this setting, such as
/// `oauth.assume_pkce`. The message contains no secrets.
pub fn login_error(error: &LoginError) -> HubError {
    let (kind, field) = match error.kind() {
        LoginErrorKind::Temporary | LoginErrorKind::Store => (ErrorKind::Unavailable, ""),
        LoginErrorKind::LoginRequired => (ErrorKind::LoginRequired, "login"),
        LoginErrorKind::NotCompleted => (ErrorKind::Cancelled, ""),
        LoginErrorKind::ClientIdRequired => (ErrorKind::InvalidConfiguration, "oauth.client_id"),
        LoginErrorKind::ClientIssuerRequired => (ErrorKind::InvalidConfiguration, "oauth.issuer"),
        LoginErrorKind::Misconfigured => (ErrorKind::InvalidConfiguration, "oauth"),
        _ => (ErrorKind::Unauthorized, "authorization"),
    };
    let is_temporary = error.kind() == LoginErrorKind::Temporary;
    let Some(setting) = error.setting() else {
        return HubError::new(kind, error.to_string()).at(field).with_retryable(is_temporary);
    };
    // Most settings have the same name in the configuration as in [`Setting`].
    let path = match setting {
        Setting::ClientIssuer => "oauth.issuer".to_owned(),
        setting => format!("oauth.{setting}"),
    };
    let message = error.to_string_with_setting(&path);
    HubError::validation(path, message)
}

/// Returns the login error that `error` contains, as an error for the user. Returns `None` if `error` contains no login error.
pub(crate) fn find_login_error(error: &Error) -> Option<HubError> {
    error.authorization_error()?.downcast_ref().map(login_error)
}

/// Describes the login that a server in the state `needs-login` waits for, so that a program can ask the user to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequiredLogin {
    /// The URL of the server, without its query and fragment.
    pub server_url: String,
    /// The account of the user on this server. Empty if the user has only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
    /// The OAuth scopes that the server asks for. Empty if the server has named none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl RequiredLogin {
    /// Returns the login without which a request of a client has failed, or `None` if `error` is not about a missing login.
    pub(crate) fn find(error: &Error) -> Option<RequiredLogin> {
        let required = LoginRequired::find(error)?;
        let server_url = required.server_url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let scopes = required.scopes.iter().flat_map(Scopes::iter).map(str::to_owned).collect();
        Some(RequiredLogin { server_url, account: required.account.clone(), scopes })
    }

    /// Removes secrets from the scopes, because the server has chosen the text of the scopes.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        self.scopes = self.scopes.iter().map(|scope| redactor.redact(scope)).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use mcpwire_authorization::oauth::{self, Discovery, FetchError, Flow, Input, UnixTime};

    use super::*;

    #[test]
    fn a_setting_that_only_a_server_names_is_no_cure() {
        let text = "the server says: set `assume_pkce`";
        let error = login_error(&LoginError::from(oauth::Error::misconfigured(text)));
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidConfiguration, "oauth"));
        assert!(error.message().ends_with(text), "{error}");
    }

    #[test]
    fn a_setting_that_cures_an_error_is_named_by_its_path() {
        let settings = OAuthSettings::new("mcpwire", "http://127.0.0.1/callback");
        let other_issuer = settings.check_client_issuer("c", false, Some("https://old.example"), "https://new.example");
        let mut discovery = Discovery::new("https://a.example/mcp", None, &settings);
        discovery.start(UnixTime::from_secs(0)).expect("it begins with a request");
        let private = Input::FetchFailed(FetchError::Refused("the address is private".into()));
        let private = discovery.resume(private, UnixTime::from_secs(0)).map(drop);
        for (result, path, text) in [
            (other_issuer, "oauth.issuer", "set its identifier and `oauth.issuer`"),
            (private, "oauth.allow_private_addresses", "the setting `oauth.allow_private_addresses` allows it"),
        ] {
            let error = login_error(&result.expect_err("it is refused").into());
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidConfiguration, path));
            assert!(error.message().ends_with(text), "{error}");
        }
    }
}
