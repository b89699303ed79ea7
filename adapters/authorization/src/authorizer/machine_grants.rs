//! Tokens without a user.

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{
    ClientAuthentication, Discovered, EnterpriseGrant, Scopes, TokenEndpoint, TokenRequest, TokenResponse,
    WorkloadGrant,
};

use super::inner::{Inner, new_entropy};
use crate::error::LoginError;
use crate::machine::{Kind, MachineGrant};

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
        let subject_failed = |error: TokenError| LoginError::Subject(error.to_string());
        match &grant.kind {
            Kind::ClientCredentials { .. } => {
                let client = self.machine_client(grant, &endpoint)?;
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
                let client = self.machine_client(grant, &endpoint)?;
                let provider = (enterprise.identity_provider.clone(), enterprise.identity_client.clone());
                let subject = (enterprise.subject)().map_err(subject_failed)?;
                let resource = discovered.resource.clone();
                let flow = EnterpriseGrant::new(provider, subject, endpoint, client, resource, entropy);
                Ok(self.run(flow.scopes(scopes).dpop(self.dpop())).await?.token)
            }
        }
    }

    /// Returns how the client of a grant authenticates at an authorization server.
    pub(super) fn machine_client(
        &self,
        grant: &MachineGrant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
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
