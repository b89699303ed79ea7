//! [`LoginAttempt`]: a login that waits for the user, and the URL at which the user logs in.

use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::client::ClientInformation;
use crate::form::Form;
use crate::pkce;
use crate::scopes::{Scopes, has_offline_access};
use crate::secret::Secret;
use crate::time::UnixTime;
use crate::token_endpoint::TokenEndpoint;
use crate::url::with_query;

/// A login that waits for the user.
///
/// The program can store it, and finish the login after a restart. Everything that the response is checked against is in it:
/// metadata that changes in between changes nothing. It contains secrets; delete it when the login has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoginAttempt {
    /// Where the code is exchanged. Its issuer is the one that the response must name.
    pub endpoint: TokenEndpoint,
    /// Whether the response must name its issuer (RFC 9207).
    pub requires_iss: bool,
    /// The PKCE verifier.
    pub verifier: Secret,
    /// The value that the response must repeat.
    pub state: Secret,
    /// The server that the token is for. `None` if the settings leave the parameter out.
    pub resource: Option<String>,
    /// The scopes that were requested. Empty if none were named.
    pub scopes: Scopes,
    /// Where the response goes.
    pub redirect_uri: String,
    /// The client. Store it for the next login.
    pub client: ClientInformation,
    /// When the login began.
    pub made_at: UnixTime,
}

impl LoginAttempt {
    /// Returns the URL at which the user logs in.
    pub(crate) fn authorization_url(&self, authorization_endpoint: &str) -> String {
        let scope = (!self.scopes.is_empty()).then(|| self.scopes.to_string());
        // OpenID Connect Core, section 11: without `prompt=consent` the authorization server ignores `offline_access`.
        let prompt = has_offline_access(&self.scopes).then_some("consent");
        let parameters = Form::new()
            .with("response_type", "code")
            .with("client_id", &self.client.client_id)
            .with("redirect_uri", &self.redirect_uri)
            .with_optional("scope", scope.as_deref())
            .with("state", self.state.expose())
            .with("code_challenge", &pkce::challenge(self.verifier.expose()))
            .with("code_challenge_method", pkce::METHOD)
            .with_optional("resource", self.resource.as_deref())
            .with_optional("prompt", prompt);
        with_query(authorization_endpoint, &parameters.into_string())
    }
}
