//! [`HttpOptions`]: what a connection by HTTP may have of its own.

use std::fmt;
use std::sync::Arc;

use mcpwire_core::http::Flavour;

use super::HttpClient;
use super::token::{AnyToken, TokenProvider};

/// Options of a connection by HTTP; of no effect on others.
#[non_exhaustive]
pub struct HttpOptions {
    /// Whether to open a stream on which legacy servers say what belongs to no request; true by default.
    pub listen: bool,
    /// Which shape of the transport the server speaks; `None`, the default, to find out.
    pub flavour: Option<Flavour>,
    pub(super) client: Option<Arc<dyn HttpClient>>,
    pub(super) tokens: Option<Arc<dyn AnyToken>>,
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
