//! The logout of a user.

use mcpwire_oauth::{ClientAuthentication, ClientSource, Revocation, RevokedTokens, TokenEndpoint};

use super::inner::{Inner, new_entropy};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::status::{LoggedOut, RevocationOutcome};

impl Inner {
    /// Deletes the token, and revokes it if `revoke`.
    pub(super) async fn logout(&self, revoke: bool) -> Result<LoggedOut, LoginError> {
        let (grant, removed) = {
            let _lock = self.documents.lock().await?;
            self.documents.check_versions().await?;
            // A token that cannot be read is deleted, too.
            let grant = self.documents.load().await.ok().flatten();
            if let Some(grant) = &grant {
                self.remember_issuer_of(grant).await?;
            }
            let removed = self.documents.remove().await;
            // Without this, a login that waits for the user could undo the logout.
            let removed = removed.and(self.documents.remove_attempt().await);
            (grant, removed)
        };
        let known = self.shared.change(|state| {
            let known = state.grant();
            state.forget();
            known
        });
        let grant = grant.or(known);
        let had_token = grant.is_some();
        // The tokens are revoked even if they could not be deleted.
        let revocation = match grant {
            Some(grant) if revoke => self.revoke(&grant).await,
            _ => RevocationOutcome::NotRequested,
        };
        removed?;
        Ok(LoggedOut { had_token, revocation })
    }

    async fn revoke(&self, grant: &Grant) -> RevocationOutcome {
        match self.try_to_revoke(grant).await {
            Ok(outcome) => outcome,
            Err(LoginError::Flow(error)) => RevocationOutcome::Failed(error),
            Err(other) => RevocationOutcome::Failed(mcpwire_oauth::Error::temporary(other.to_string())),
        }
    }

    async fn try_to_revoke(&self, grant: &Grant) -> Result<RevocationOutcome, LoginError> {
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
        Ok(match (&grant.client, &self.grant) {
            (Some(client), _) => {
                self.check_stored_client(client, &endpoint.issuer).await?;
                let mut client = client.clone();
                // The setting may have changed since the login.
                if client.source != ClientSource::Registered {
                    client.auth_method = self.settings.auth_method_of_client().or(client.auth_method);
                }
                client.authentication(endpoint, self.client_key())?
            }
            (None, Some(machine)) => self.machine_client(machine, endpoint).await?,
            (None, None) => ClientAuthentication::public(grant.token.client_id.clone().unwrap_or_default()),
        })
    }
}
