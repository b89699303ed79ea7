//! [`HttpOptions`]: options of a connection over HTTP.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use crate::{Error, HttpSetupError, McpServerDef};
use mcpwire_core::http::{Flavour, Settings, SettingsError};

use super::HttpClient;
use super::token::{AuthorizingClient, TokenProvider};

/// The `User-Agent` header of requests, unless the definition of the server has another.
const USER_AGENT: &str = concat!("mcpwire/", env!("CARGO_PKG_VERSION"));

/// Options of a connection over HTTP. They have no effect on other connections.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Whether to open a stream for the messages of a legacy server that belong to no request. The default is `true`.
    pub listen: bool,
    /// The version of the HTTP transport that the server uses. `None`, the default, detects it.
    pub flavour: Option<Flavour>,
    client: Option<Arc<dyn HttpClient>>,
    tokens: Option<Arc<dyn TokenProvider>>,
}

impl HttpOptions {
    /// Uses this HTTP client instead of the runtime's own.
    pub fn client(mut self, client: impl HttpClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Sends requests with the tokens of this provider.
    ///
    /// The token replaces an `Authorization` header of the definition, and goes to the server's origin only.
    pub fn token(mut self, tokens: impl TokenProvider) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Returns the engine's settings for this server and these options.
    ///
    /// # Errors
    /// If the URL or a header of the definition is invalid.
    pub fn settings(&self, def: &McpServerDef) -> Result<Settings, Error> {
        let wrong = |error: SettingsError| Error::new(def.display_name(), HttpSetupError::Settings(error));
        let mut settings = Settings::new(def.url.as_deref().unwrap_or_default()).map_err(wrong)?;
        settings.listen = self.listen;
        settings.flavour = self.flavour;
        settings.seed = RandomState::new().build_hasher().finish();
        settings.header("User-Agent", USER_AGENT).map_err(wrong)?;
        for (name, value) in &def.headers {
            settings.header(name, value).map_err(wrong)?;
        }
        Ok(settings)
    }

    /// Returns the HTTP client of these options, which adds the tokens of the provider. Calls `default` if no client was set.
    ///
    /// # Errors
    /// If `default` fails.
    pub fn into_client(
        self,
        default: impl FnOnce() -> Result<Arc<dyn HttpClient>, HttpSetupError>,
    ) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let client = self.client.map_or_else(default, Ok)?;
        Ok(match self.tokens {
            Some(tokens) => Arc::new(AuthorizingClient { tokens, client }),
            None => client,
        })
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions { listen: true, flavour: None, client: None, tokens: None }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("listen", &self.listen)
            .field("flavour", &self.flavour)
            .field("has_client", &self.client.is_some())
            .field("has_tokens", &self.tokens.is_some())
            .finish()
    }
}
