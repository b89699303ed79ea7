//! [`HttpOptions`]: what a connection by HTTP may have of its own.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use crate::{Error, HttpSetupError, McpServerDef};
use mcpwire_core::http::{Flavour, Settings, SettingsError};

use super::HttpClient;
use super::token::{AnyToken, Authorized, TokenProvider};

/// What requests say of who makes them, unless the definition has another.
const AGENT: &str = concat!("mcpwire/", env!("CARGO_PKG_VERSION"));

/// Options of a connection by HTTP; of no effect on others.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Whether to open a stream on which legacy servers say what belongs to no request; true by default.
    pub listen: bool,
    /// Which shape of the transport the server speaks; `None`, the default, to find out.
    pub flavour: Option<Flavour>,
    client: Option<Arc<dyn HttpClient>>,
    tokens: Option<Arc<dyn AnyToken>>,
}

impl HttpOptions {
    /// Sets who makes the requests, in place of the runtime's own HTTP client.
    pub fn client(mut self, client: impl HttpClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Sets who gives the token that requests are sent with. It goes before an `Authorization` among the headers of the
    /// definition, and to the server's origin only.
    pub fn token(mut self, tokens: impl TokenProvider) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// What the definition says of a server that is spoken to by HTTP, with these options.
    ///
    /// # Errors
    /// If its address, or a header, is none that requests can be made with.
    pub fn settings(&self, def: &McpServerDef) -> Result<Settings, Error> {
        let wrong = |error: SettingsError| Error::Http {
            server: def.display_name().into(),
            error: HttpSetupError::Settings(error.to_string()),
        };
        let mut settings = Settings::new(def.url.as_deref().unwrap_or_default()).map_err(wrong)?;
        settings.listen = self.listen;
        settings.flavour = self.flavour;
        settings.seed = RandomState::new().build_hasher().finish();
        settings.header("User-Agent", AGENT).map_err(wrong)?;
        for (name, value) in &def.headers {
            settings.header(name, value).map_err(wrong)?;
        }
        Ok(settings)
    }

    /// Who makes the requests: the client that was set, or this one, and the tokens with it.
    ///
    /// # Errors
    /// If the other client is wanted and there is none.
    pub fn into_client(
        self,
        or: impl FnOnce() -> Result<Arc<dyn HttpClient>, HttpSetupError>,
    ) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let client = self.client.map_or_else(or, Ok)?;
        Ok(match self.tokens {
            Some(tokens) => Arc::new(Authorized { tokens, client }),
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
