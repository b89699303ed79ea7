//! The logout of a user.

use mcpwire_oauth::{ClientAuthentication, ClientSource, Revocation, RevokedTokens, TokenEndpoint};

use super::{OAuth, new_entropy};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::status::{LoggedOut, RevocationOutcome};

impl OAuth {
    /// Deletes the token and the login that waits for the user, and asks the authorization server to revoke the token if `revoke`.
    ///
    /// The token is deleted even if the revocation fails. The registration of the client is kept for the next login.
    ///
    /// # Errors
    /// If the token cannot be deleted.
    pub async fn logout(&self, revoke: bool) -> Result<LoggedOut, LoginError> {
        // A login that cannot be loaded is deleted, too.
        let _ = self.load(true).await;
        let (grant, removed) = {
            let _lock = self.0.documents.lock().await?;
            self.0.documents.check_versions().await?;
            // A token that cannot be read is deleted, too.
            let grant = self.0.documents.load().await.ok().flatten();
            if let Some(grant) = &grant {
                self.remember_issuer_of(grant).await?;
            }
            let removed = self.0.documents.remove().await;
            // Without this, a login that waits for the user could undo the logout.
            let removed = removed.and(self.0.documents.remove_attempt().await);
            (grant, removed)
        };
        let known = self.change(|state| {
            let known = state.grant();
            state.forget();
            known
        });
        let grant = grant.or(known);
        let had_token = grant.is_some();
        // The tokens are revoked even if they could not be deleted.
        let revocation = match grant {
            Some(grant) if revoke => {
                let outcome = self.revoke(&grant).await;
                outcome.unwrap_or_else(|error| RevocationOutcome::Failed(error.into_flow_error()))
            }
            _ => RevocationOutcome::NotRequested,
        };
        removed?;
        Ok(LoggedOut { had_token, revocation })
    }

    async fn revoke(&self, grant: &Grant) -> Result<RevocationOutcome, LoginError> {
        let token = &grant.token;
        let discovered = self.discover(Some(token)).await?;
        // Tokens are never sent to another authorization server than theirs.
        let methods = discovered.metadata.revocation_endpoint_auth_methods_supported;
        let endpoint = discovered.metadata.revocation_endpoint;
        let Some(url) = endpoint.filter(|_| discovered.metadata.issuer == token.endpoint.issuer) else {
            return Ok(RevocationOutcome::Unsupported);
        };
        let client = self.client_of(grant, &token.endpoint).await?.at_endpoint(methods.as_deref());
        Ok(match self.run(Revocation::new(url, token, client, new_entropy()?)).await? {
            RevokedTokens::RefreshTokenOnly(error) => RevocationOutcome::RefreshTokenOnly(error),
            _ => RevocationOutcome::Revoked,
        })
    }

    /// Returns how the client that has requested the token authenticates at this endpoint.
    pub(super) async fn client_of(
        &self,
        grant: &Grant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
        Ok(match (&grant.client, &self.0.grant) {
            (Some(client), _) => {
                self.check_stored_client(client, &endpoint.issuer).await?;
                let mut client = client.clone();
                // The setting may have changed since the login.
                if client.source != ClientSource::Registered {
                    client.auth_method = self.0.settings.auth_method_of_client().or(client.auth_method);
                }
                client.authentication(endpoint, self.0.client_key.as_ref())?
            }
            (None, Some(machine)) => self.machine_client(machine, endpoint).await?,
            (None, None) => ClientAuthentication::public(grant.token.client_id.clone().unwrap_or_default()),
        })
    }
}
