//! [`MachineGrant`]: how a program gets a token without a user.

use std::fmt;
use std::sync::Arc;

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{
    ClientAuthentication, Discovered, IdJag, IdJagRequest, Scopes, Secret, StoredToken, SubjectToken, TokenEndpoint,
    TokenRequest, WorkloadGrant,
};

use super::{OAuth, new_entropy};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;

/// How a program gets a token without a user.
#[derive(Clone)]
#[must_use = "a grant has no effect until it is used"]
pub struct MachineGrant {
    kind: Kind,
    scopes: Option<Scopes>,
}

#[derive(Clone)]
enum Kind {
    ClientCredentials { client_id: String, secret: Option<Secret> },
    Workload { jwt: Arc<dyn Fn() -> Result<Secret, TokenError> + Send + Sync>, audience: Option<String> },
    Enterprise(Enterprise),
}

/// The settings of [`MachineGrant::enterprise`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Enterprise {
    /// The token endpoint of the identity provider.
    pub identity_provider: TokenEndpoint,
    /// The client that is registered at the identity provider.
    pub identity_client: ClientAuthentication,
    /// Returns the token of the user's login at the identity provider. Called for each new token, on a thread that may block, while
    /// no other process with the same [`TokenStore`](crate::TokenStore) uses that login.
    pub subject: Arc<dyn Fn() -> Result<SubjectToken, TokenError> + Send + Sync>,
    /// Stores the refresh token that the identity provider has issued in the place of the one that `subject` returned, which may be
    /// invalid from now on. Called before the token is used for anything, on a thread that may block.
    pub replace_subject: Arc<dyn Fn(Secret) -> Result<(), TokenError> + Send + Sync>,
    /// The client that is registered at the authorization server of the MCP server: its identifier and secret.
    pub client_id: String,
    /// The secret of `client_id`. Default: none.
    pub client_secret: Option<Secret>,
}

impl Enterprise {
    /// Creates the settings of a grant. The fields of the same names describe the arguments.
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

    /// Creates the grant of a program that sends the JWT of its platform (workload identity federation). `jwt` is called for each new
    /// token.
    pub fn workload(jwt: impl Fn() -> Result<Secret, TokenError> + Send + Sync + 'static) -> Self {
        MachineGrant { kind: Kind::Workload { jwt: Arc::new(jwt), audience: None }, scopes: None }
    }

    /// Creates the grant of a program that acts for a user who has logged in at the identity provider of an enterprise.
    pub fn enterprise(enterprise: Enterprise) -> Self {
        MachineGrant { kind: Kind::Enterprise(enterprise), scopes: None }
    }

    /// Sets the scopes. Default: those of the server's challenge, or else all that its metadata names.
    pub fn scopes_to_ask(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Accepts a workload's JWT for this audience, too.
    pub fn audience(mut self, accepted: impl Into<String>) -> Self {
        if let Kind::Workload { audience, .. } = &mut self.kind {
            *audience = Some(accepted.into());
        }
        self
    }

    /// Returns the identifier and the secret of the client at the authorization server of the MCP server, or `None` if the grant has
    /// no client.
    fn client(&self) -> Option<(&str, Option<&Secret>)> {
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

impl OAuth {
    /// Gets a token for the program without a user, and stores it.
    pub(super) async fn get_by_grant(&self, grant: &MachineGrant) -> Result<Grant, LoginError> {
        let previous = self.token();
        let discovered = self.discover(previous.as_ref()).await?;
        let challenge = self.lock().challenge.clone();
        let challenged = challenge.as_ref().and_then(|challenge| challenge.scopes.as_ref());
        let scopes = discovered.scopes_without_user(grant.scopes.as_ref(), challenged);
        let (endpoint, asked, entropy) = (discovered.token_endpoint(), scopes.clone(), new_entropy()?);
        let resource = discovered.resource_parameter(&self.0.settings);
        let response = match &grant.kind {
            Kind::ClientCredentials { .. } => {
                let client = self.machine_client(grant, &endpoint).await?;
                let request = TokenRequest::client_credentials(endpoint, client, resource, asked, entropy)?;
                self.run(request.dpop(self.dpop())).await?
            }
            Kind::Workload { jwt, audience } => {
                let jwt = jwt().map_err(|error| LoginError::Subject(error.to_string()))?;
                let mut flow = WorkloadGrant::new(endpoint, jwt, resource, entropy).scopes(asked);
                if let Some(audience) = audience {
                    flow = flow.audience(audience);
                }
                self.run(flow.dpop(self.dpop())).await?
            }
            Kind::Enterprise(enterprise) => {
                let client = self.machine_client(grant, &endpoint).await?;
                let id_jag = self.id_jag(enterprise, &discovered, asked).await?;
                self.run(id_jag.token_request(endpoint, client, entropy).dpop(self.dpop())).await?
            }
        };
        let (endpoint, client_id) = (discovered.token_endpoint(), grant.client().map(|(client_id, _)| client_id));
        let token = StoredToken::new(endpoint, discovered.resource, client_id, scopes, response, previous.as_ref());
        let grant = Grant { token, client: None };
        // The token can be had again, so it does not matter if it cannot be stored.
        let _ = self.0.documents.save(&grant).await;
        Ok(grant)
    }

    /// Gets an ID-JAG (identity assertion authorization grant) for the user from the identity provider.
    async fn id_jag(
        &self,
        enterprise: &Enterprise,
        discovered: &Discovered,
        scopes: Scopes,
    ) -> Result<IdJag, LoginError> {
        let provider = enterprise.identity_provider.clone();
        // The identity provider may replace the token, and a second use of the old one may end the user's login.
        let _lock = self
            .0
            .documents
            .lock_identity(&provider.url, enterprise.identity_client.client_id().unwrap_or_default())
            .await?;
        let subject = Arc::clone(&enterprise.subject);
        let subject = self
            .0
            .documents
            .run(move |_| Ok(subject()))
            .await?
            .map_err(|error| LoginError::Subject(error.to_string()))?;
        let request = IdJagRequest::new(
            provider,
            enterprise.identity_client.clone(),
            subject,
            discovered.metadata.issuer.clone(),
            discovered.resource.clone(),
            new_entropy()?,
        );
        // The caller is a renewal, which goes on when its request is given up.
        let _in_flight = self.begin_request(OneUseRequest::IdentityToken)?;
        let mut id_jag = self.run(request.scopes(scopes)).await?;
        if let Some(token) = id_jag.replaced_subject.take() {
            let replace = Arc::clone(&enterprise.replace_subject);
            let replaced = self.0.documents.run(move |_| Ok(replace(token))).await?;
            replaced.map_err(|error| LoginError::SubjectNotStored(error.to_string()))?;
        }
        Ok(id_jag)
    }

    /// Returns how the client of a grant authenticates at an authorization server.
    ///
    /// # Errors
    /// If the credentials of the client must not be sent there.
    pub(super) async fn machine_client(
        &self,
        grant: &MachineGrant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
        let Some((client_id, secret)) = grant.client() else { return Ok(ClientAuthentication::anonymous()) };
        self.check_client(client_id, secret.is_some(), &endpoint.issuer, None).await?;
        self.remember_issuer(client_id, &endpoint.issuer).await?;
        let (method, supported) = (self.0.settings.auth_method_of_client(), endpoint.auth_methods.as_deref());
        Ok(ClientAuthentication::choose(client_id, secret, self.0.client_key.as_ref(), method, supported)?)
    }
}
