//! Tokens without a user.

use std::sync::Arc;

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{
    ClientAuthentication, Discovered, IdJag, IdJagRequest, Scopes, TokenEndpoint, TokenRequest, TokenResponse,
    WorkloadGrant,
};

use super::inner::{Inner, new_entropy};
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::machine::{Enterprise, Kind, MachineGrant};

impl Inner {
    /// Gets a token from the authorization server, without a user.
    pub(super) async fn run_grant(
        &self,
        grant: &MachineGrant,
        discovered: &Discovered,
        scopes: Scopes,
    ) -> Result<TokenResponse, LoginError> {
        let endpoint = discovered.token_endpoint();
        let entropy = new_entropy()?;
        let resource = discovered.resource_parameter(&self.settings);
        match &grant.kind {
            Kind::ClientCredentials { .. } => {
                let client = self.machine_client(grant, &endpoint).await?;
                let request = TokenRequest::client_credentials(endpoint, client, resource, scopes, entropy)?;
                Ok(self.run(request.dpop(self.dpop())).await?)
            }
            Kind::Workload { jwt, audience } => {
                let jwt = jwt().map_err(subject_failed)?;
                let mut flow = WorkloadGrant::new(endpoint, jwt, resource, entropy).scopes(scopes);
                if let Some(audience) = audience {
                    flow = flow.audience(audience);
                }
                Ok(self.run(flow.dpop(self.dpop())).await?)
            }
            Kind::Enterprise(enterprise) => {
                let client = self.machine_client(grant, &endpoint).await?;
                let id_jag = self.id_jag(enterprise, discovered, scopes).await?;
                Ok(self.run(id_jag.token_request(endpoint, client, entropy).dpop(self.dpop())).await?)
            }
        }
    }

    /// Gets an ID-JAG for the user from the identity provider.
    async fn id_jag(
        &self,
        enterprise: &Enterprise,
        discovered: &Discovered,
        scopes: Scopes,
    ) -> Result<IdJag, LoginError> {
        let provider = enterprise.identity_provider.clone();
        // The identity provider may replace the token, and a second use of the old one may end the user's login.
        let _lock = self
            .documents
            .lock_identity(&provider.url, enterprise.identity_client.client_id().unwrap_or_default())
            .await?;
        let subject = Arc::clone(&enterprise.subject);
        let subject = self.documents.blocking(move |_| Ok(subject())).await?.map_err(subject_failed)?;
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
            let replaced = self.documents.blocking(move |_| Ok(replace(token))).await?;
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
        if let Some(client_id) = grant.client_id() {
            self.check_client(client_id, grant.has_secret(), &endpoint.issuer, None).await?;
            self.remember_issuer(client_id, &endpoint.issuer).await?;
        }
        match &grant.kind {
            Kind::ClientCredentials { client_id, secret } => {
                self.configured_client(client_id, secret.as_ref(), endpoint)
            }
            Kind::Enterprise(enterprise) => {
                self.configured_client(&enterprise.client_id, enterprise.client_secret.as_ref(), endpoint)
            }
            Kind::Workload { .. } => Ok(ClientAuthentication::anonymous()),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn subject_failed(error: TokenError) -> LoginError {
    LoginError::Subject(error.to_string())
}
