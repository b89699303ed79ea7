//! Gets tokens without a user, with a [`MachineGrant`]. The task of a renewal calls these methods.

use std::sync::Arc;

use mcpwire_oauth::{
    ClientAuthentication, Discovered, IdJag, IdJagRequest, Scopes, StoredToken, TokenEndpoint, TokenRequest,
    WorkloadGrant,
};

use super::machine_grant::{Enterprise, Kind, MachineGrant};
use super::oauth::OAuth;
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::signing_key::new_entropy;

impl OAuth {
    /// Gets a token with `grant`, without asking a user, and stores the token.
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
        // An error is ignored: the program can request another token at any time, so this one need not be stored.
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
        // Two processes must not use the same token: the identity provider may replace it, and a second use of the old token may
        // end the user's login.
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
        // `to_the_end` is not needed: the caller is the task of a renewal, which continues when the request that needed the token
        // is dropped.
        let _in_flight = self.begin_request(OneUseRequest::IdentityToken)?;
        let mut id_jag = self.run(request.scopes(scopes)).await?;
        if let Some(token) = id_jag.replaced_subject.take() {
            let replace = Arc::clone(&enterprise.replace_subject);
            let replaced = self.0.documents.run(move |_| Ok(replace(token))).await?;
            replaced.map_err(|error| LoginError::SubjectNotStored(error.to_string()))?;
        }
        Ok(id_jag)
    }

    /// Returns how the client of `grant` authenticates at the token endpoint `endpoint`.
    ///
    /// # Errors
    /// If the credentials of the client must not be sent to this authorization server.
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
