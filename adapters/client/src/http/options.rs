//! [`HttpOptions`]: options of a connection over HTTP.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use crate::{Error, HttpSetupError, McpServerDef};
use mcpwire_core::Implementation;
use mcpwire_core::http::{Flavour, Settings, SettingsError};

use super::authorization_context::AuthorizationContext;
use super::authorizer::{Authorizer, BearerTokens};
use super::repeat_after_401::{AuthorizingClient, LastAuthorization};
use super::token::TokenProvider;
use super::{DefinitionSetting, HttpClient};

/// The name and version of this library in the `User-Agent` header (a "product" of RFC 9110).
const PRODUCT: &str = concat!("mcpwire/", env!("CARGO_PKG_VERSION"));

/// Options of a connection over HTTP, such as the HTTP client and the access token. They have no effect on other connections.
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "options have no effect until they are used"]
pub struct HttpOptions {
    /// Whether to open a stream for messages that a legacy server (up to revision 2025-11-25) sends outside of responses, such as
    /// notifications. Default: `true`.
    pub listen: bool,
    /// The version of the HTTP transport: Streamable HTTP or HTTP+SSE. Default: `None`, which detects the version.
    pub flavour: Option<Flavour>,
    client: Option<Arc<dyn HttpClient>>,
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Tells the connection when its requests have another authorization. `None` without an authorizer.
    context: Option<AuthorizationContext>,
    /// Detects another authorization by the header `Authorization`. `None` if the authorizer reports changes itself, or without
    /// one.
    last_sent: Option<Arc<LastAuthorization>>,
}

impl HttpOptions {
    /// Sets the HTTP client that sends the requests. Default: the HTTP client of the runtime.
    pub fn client(mut self, client: impl HttpClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Sets the provider of the access token that each request carries in its `Authorization` header.
    ///
    /// The token replaces an `Authorization` header of the definition. Only the origin of the server receives the token.
    pub fn token(self, tokens: impl TokenProvider) -> Self {
        self.authorizer(BearerTokens(Arc::new(tokens)))
    }

    /// Sets the authorizer, which adds credentials to the requests and reacts when the server refuses a request. It replaces the
    /// provider that [`token`](Self::token) has set.
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        let context = authorizer.context();
        self.last_sent = context.is_none().then(Arc::default);
        self.context = context.or_else(|| Some(self.last_sent.as_ref()?.context.clone()));
        self.authorizer = Some(Arc::new(authorizer));
        self
    }

    /// Returns the HTTP client that the program has set, or `None` if it uses that of the runtime.
    #[doc(hidden)]
    pub fn own_client(&self) -> Option<Arc<dyn HttpClient>> {
        self.client.clone()
    }

    /// Returns the authorizer that the program has set. For a token provider, this is an authorizer that sends its tokens.
    pub(crate) fn shared_authorizer(&self) -> Option<Arc<dyn Authorizer>> {
        self.authorizer.clone()
    }

    /// Returns the value that tells the connection when its requests have another authorization, or `None` without an authorizer.
    pub(crate) fn authorization_context(&self) -> Option<AuthorizationContext> {
        self.context.clone()
    }

    /// Returns whether the program has set an authorizer or a token provider.
    #[doc(hidden)]
    pub fn has_authorizer(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Creates the HTTP settings of the engine from a server's definition and these options.
    ///
    /// The `User-Agent` header contains the name and version in `client`, unless the definition or the program's own HTTP client
    /// sets the header.
    ///
    /// # Errors
    /// If the URL or a header of the definition is invalid.
    pub fn settings(&self, def: &McpServerDef, client: &Implementation) -> Result<Settings, Error> {
        let setup_error = |error: SettingsError| Error::new(def.display_name(), HttpSetupError::Settings(error));
        let mut settings = Settings::new(def.url.as_deref().unwrap_or_default()).map_err(setup_error)?;
        settings.listen = self.listen;
        settings.flavour = self.flavour;
        settings.seed = RandomState::new().build_hasher().finish();
        if self.client.as_ref().is_none_or(|http| !http.has_user_agent()) {
            settings.header("User-Agent", user_agent(client)).map_err(setup_error)?;
        }
        for (name, value) in &def.headers {
            settings.header(name, value).map_err(setup_error)?;
        }
        Ok(settings)
    }

    /// Returns the HTTP client to use for the connection. If these options contain an authorizer, the client adds its credentials
    /// to each request. If the program has set no client, `default` creates one.
    ///
    /// # Errors
    /// If `default` fails.
    pub fn into_client(
        self,
        default: impl FnOnce() -> Result<Arc<dyn HttpClient>, HttpSetupError>,
    ) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let client = self.client.map_or_else(default, Ok)?;
        Ok(match self.authorizer {
            Some(authorizer) => Arc::new(AuthorizingClient { authorizer, client, last_sent: self.last_sent }),
            None => client,
        })
    }
}

/// Returns the value of the `User-Agent` header (RFC 9110, section 10.1.5), such as `my-app/1.0 mcpwire/0.1.0`.
///
/// A character that the header does not allow in a name or version becomes `-`.
fn user_agent(client: &Implementation) -> String {
    let product = |text: &str| -> String {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        text.trim().chars().map(|c| if is_allowed(c) { c } else { '-' }).collect()
    };
    let (name, version) = (product(&client.name), product(&client.version));
    match (name.as_str(), version.as_str()) {
        ("" | "mcpwire", _) => PRODUCT.into(),
        (name, "") => format!("{name} {PRODUCT}"),
        (name, version) => format!("{name}/{version} {PRODUCT}"),
    }
}

/// Checks that an HTTP client applies all settings of a server's definition. Otherwise, it would connect elsewhere or trust other
/// certificates.
///
/// # Errors
/// [`HttpSetupError::SettingNotApplied`] with the first setting that the client does not apply.
pub fn check_applied(def: &McpServerDef, client: &dyn HttpClient) -> Result<(), HttpSetupError> {
    match DefinitionSetting::all_of(def).find(|setting| !client.applies(*setting)) {
        Some(setting) => Err(HttpSetupError::SettingNotApplied(setting.name())),
        None => Ok(()),
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions { listen: true, flavour: None, client: None, authorizer: None, context: None, last_sent: None }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("listen", &self.listen)
            .field("flavour", &self.flavour)
            .field("has_client", &self.client.is_some())
            .field("has_authorizer", &self.authorizer.is_some())
            .finish_non_exhaustive()
    }
}
