//! Tokens without a user.

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{Discovered, EnterpriseGrant, Scopes, TokenRequest, TokenResponse, WorkloadGrant};

use super::{Inner, LoginError, new_entropy};
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
        let resource = discovered.resource.clone();
        let prompt = |error: TokenError| LoginError::Prompt(error.to_string());
        match &grant.kind {
            Kind::ClientCredentials { client_id, secret } => {
                let client = self.configured_client(client_id, secret.as_ref(), &endpoint)?;
                let request = TokenRequest::client_credentials(endpoint, client, Some(resource), scopes, entropy)?;
                Ok(self.run(request.dpop(self.dpop())).await?)
            }
            Kind::Workload { jwt, audience } => {
                let jwt = jwt().map_err(prompt)?;
                let mut flow = WorkloadGrant::new(endpoint, jwt, Some(resource), entropy).scopes(scopes);
                if let Some(audience) = audience {
                    flow = flow.audience(audience);
                }
                Ok(self.run(flow.dpop(self.dpop())).await?)
            }
            Kind::Enterprise(enterprise) => {
                let client = &enterprise.client_id;
                let client = self.configured_client(client, enterprise.client_secret.as_ref(), &endpoint)?;
                let provider = (enterprise.identity_provider.clone(), enterprise.identity_client.clone());
                let subject = (enterprise.subject)().map_err(prompt)?;
                let flow = EnterpriseGrant::new(provider, subject, endpoint, client, resource, entropy);
                Ok(self.run(flow.scopes(scopes).dpop(self.dpop())).await?.token)
            }
        }
    }
}
