//! [`MachineGrant`]: how a program gets tokens without asking a user to log in.

use std::fmt;
use std::sync::Arc;

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{ClientAuthentication, Scopes, Secret, SubjectToken, TokenEndpoint};

/// How a program gets tokens without asking a user to log in. [`OAuthBuilder::machine_grant`](crate::OAuthBuilder::machine_grant)
/// takes this value.
#[derive(Clone)]
#[must_use = "a grant has no effect until it is used"]
pub struct MachineGrant {
    pub(super) kind: Kind,
    pub(super) scopes: Option<Scopes>,
}

#[derive(Clone)]
pub(super) enum Kind {
    ClientCredentials { client_id: String, secret: Option<Secret> },
    Workload { jwt: Arc<dyn Fn() -> Result<Secret, TokenError> + Send + Sync>, audience: Option<String> },
    Enterprise(Enterprise),
}

/// The settings of [`MachineGrant::enterprise`]: how to exchange a user's login at the identity provider of an enterprise for a
/// token of the MCP server.
#[derive(Clone)]
#[non_exhaustive]
pub struct Enterprise {
    /// The token endpoint of the identity provider.
    pub identity_provider: TokenEndpoint,
    /// The client that is registered at the identity provider, and how it authenticates there.
    pub identity_client: ClientAuthentication,
    /// Returns the token of the user's login at the identity provider. Called for each new token, on a thread that may block.
    /// During the call, no other process with the same [`TokenStore`](crate::TokenStore) uses that login.
    pub subject: Arc<dyn Fn() -> Result<SubjectToken, TokenError> + Send + Sync>,
    /// Stores the new refresh token of the identity provider, which replaces the token that `subject` returned. The replaced
    /// token may be invalid from now on. Called right after the exchange at the identity provider, on a thread that may block.
    pub replace_subject: Arc<dyn Fn(Secret) -> Result<(), TokenError> + Send + Sync>,
    /// The identifier of the client at the authorization server of the MCP server.
    pub client_id: String,
    /// The secret of `client_id`. Default: none.
    pub client_secret: Option<Secret>,
}

impl Enterprise {
    /// Creates the settings, without a client secret. The fields of the same names describe the arguments.
    pub fn new(
        identity_provider: TokenEndpoint,
        identity_client: ClientAuthentication,
        client_id: impl Into<String>,
        subject: impl Fn() -> Result<SubjectToken, TokenError> + Send + Sync + 'static,
        replace_subject: impl Fn(Secret) -> Result<(), TokenError> + Send + Sync + 'static,
    ) -> Self {
        Enterprise {
            identity_provider,
            identity_client,
            subject: Arc::new(subject),
            replace_subject: Arc::new(replace_subject),
            client_id: client_id.into(),
            client_secret: None,
        }
    }

    /// Sets the secret of the client that is registered at the authorization server of the MCP server.
    #[must_use]
    pub fn client_secret(mut self, secret: Secret) -> Self {
        self.client_secret = Some(secret);
        self
    }
}

impl MachineGrant {
    /// Creates the grant of a program that acts for itself (`client_credentials`). Without a secret, the client needs a key
    /// ([`OAuthBuilder::client_key`](crate::OAuthBuilder::client_key)). With a secret, the settings must name the issuer of the
    /// client: see [`OAuthSettings::client_issuer`](mcpwire_oauth::OAuthSettings::client_issuer).
    pub fn client_credentials(client_id: impl Into<String>, secret: Option<Secret>) -> Self {
        MachineGrant { kind: Kind::ClientCredentials { client_id: client_id.into(), secret }, scopes: None }
    }

    /// Creates the grant of a program that sends the JWT of its platform (workload identity federation). `jwt` is called for
    /// each new token.
    pub fn workload(jwt: impl Fn() -> Result<Secret, TokenError> + Send + Sync + 'static) -> Self {
        MachineGrant { kind: Kind::Workload { jwt: Arc::new(jwt), audience: None }, scopes: None }
    }

    /// Creates the grant of a program that acts for a user who has logged in at the identity provider of an enterprise.
    pub fn enterprise(enterprise: Enterprise) -> Self {
        MachineGrant { kind: Kind::Enterprise(enterprise), scopes: None }
    }

    /// Sets the scopes to request. Default: the scopes of the server's challenge, or else all scopes that the server's metadata
    /// names.
    pub fn scopes_to_ask(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets an audience for which the JWT of a workload may be issued, in addition to the URLs of the authorization server. Some
    /// authorization servers require another audience. Ignored for other grants.
    pub fn audience(mut self, accepted: impl Into<String>) -> Self {
        if let Kind::Workload { audience, .. } = &mut self.kind {
            *audience = Some(accepted.into());
        }
        self
    }

    /// Returns the identifier and the secret of the client at the authorization server of the MCP server, or `None` if the grant
    /// has no client.
    pub(super) fn client(&self) -> Option<(&str, Option<&Secret>)> {
        match &self.kind {
            Kind::ClientCredentials { client_id, secret } => Some((client_id, secret.as_ref())),
            Kind::Workload { .. } => None,
            Kind::Enterprise(enterprise) => Some((&enterprise.client_id, enterprise.client_secret.as_ref())),
        }
    }
}

impl fmt::Debug for MachineGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::ClientCredentials { .. } => "ClientCredentials",
            Kind::Workload { .. } => "Workload",
            Kind::Enterprise(_) => "Enterprise",
        };
        f.debug_struct("MachineGrant").field("kind", &kind).field("scopes", &self.scopes).finish()
    }
}

impl fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enterprise")
            .field("identity_provider", &self.identity_provider)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
