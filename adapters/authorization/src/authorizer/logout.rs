//! Logs users out: deletes the stored token, and revokes it at the authorization server.

use mcpwire_oauth::{Error, Revocation, RevokedTokens};

use super::client_issuer::used_at;
use super::oauth::OAuth;
use super::state::State;
use crate::documents::Grant;
use crate::error::LoginError;
use crate::signing_key::new_entropy;

/// The result of a logout. The stored token is deleted in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedOut {
    /// Whether there was a token to delete, in the store or in use.
    pub had_token: bool,
    /// Whether the authorization server has revoked the token.
    pub revocation: RevocationOutcome,
}

/// The result of the revocation of a token at a logout (RFC 7009).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevocationOutcome {
    /// The caller did not ask for a revocation, or there was no token.
    NotRequested,
    /// The authorization server has revoked all tokens of the login.
    Revoked,
    /// The authorization server has revoked the refresh token, but not the access token, which may be valid until it expires.
    RefreshTokenOnly(Error),
    /// The authorization server cannot revoke tokens. The token is valid until it expires.
    Unsupported,
    /// The revocation failed. The token may be valid until it expires.
    Failed(Error),
}

impl OAuth {
    /// Logs out: deletes the stored token and the login that waits for the user. If `revoke` is `true`, also asks the
    /// authorization server to revoke the token.
    ///
    /// The token is deleted even if the revocation fails. The registration of the client is kept for the next login.
    ///
    /// # Errors
    /// If the token cannot be deleted.
    pub async fn logout(&self, revoke: bool) -> Result<LoggedOut, LoginError> {
        // The error is ignored, because a login that cannot be loaded is deleted, too.
        let _ = self.load(true).await;
        let (grant, removed) = {
            let _lock = self.0.documents.lock().await?;
            self.0.documents.check_versions().await?;
            // A token that cannot be read is deleted, too.
            let grant = self.0.documents.load().await.ok().flatten();
            // Earlier versions did not store the issuer in a document of its own. The logout must not forget the issuer.
            if let Some((client_id, issuer)) = grant.as_ref().and_then(used_at)
                && self.0.documents.load_issuer(client_id).await?.is_none()
            {
                self.0.documents.save_issuer(client_id, issuer).await?;
            }
            let removed = self.0.documents.remove().await;
            // Without this, a login that waits for the user could undo the logout.
            let removed = removed.and(self.0.documents.remove_attempt().await);
            (grant, removed)
        };
        let grant = grant.or(self.change(State::forget));
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
        // A token is sent only to the authorization server that has issued it.
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
}
