//! [`LoginAttempt`]: a login that waits for the user, and the URL at which the user logs in.

use alloc::format;
use alloc::string::String;

use mcpwire_text::url::without_fragment;

use serde::{Deserialize, Serialize};

use crate::encoding::{Form, decode};
use crate::pkce;
use crate::scopes::has_offline_access;
use crate::url::with_query;
use crate::{ClientInformation, Discovered, Error, ErrorKind, Scopes, Secret, Step, TokenEndpoint, UnixTime};

/// Maximum number of bytes of the URL of a login. 8 KiB: widely used servers, such as nginx and Apache, read no longer one.
pub(crate) const MAX_LOGIN_URL: usize = 8192;

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
    /// Returns whether the authorization server still has the endpoints with which the login began. `url` is that of the login.
    ///
    /// The metadata may have changed since: a login goes on only at the server that the metadata names now.
    pub fn is_at(&self, discovered: &Discovered, url: &str) -> bool {
        let endpoint = discovered.metadata.authorization_endpoint.as_deref();
        self.endpoint == discovered.token_endpoint()
            && self.requires_iss == discovered.metadata.authorization_response_iss_parameter_supported
            && endpoint.is_some_and(|endpoint| self.authorization_url(endpoint).as_deref() == Ok(url))
    }

    /// Returns the URL at which the user logs in.
    ///
    /// Fails if the endpoint contains a parameter of the login already: programs would read different ones. Fails if the URL is
    /// longer than [`MAX_LOGIN_URL`].
    pub(crate) fn authorization_url(&self, authorization_endpoint: &str) -> Result<String, Error> {
        // OpenID Connect Core, section 11: without `prompt=consent` the authorization server ignores `offline_access`.
        let (_, query) = without_fragment(authorization_endpoint).split_once('?').unwrap_or_default();
        let has_prompt = decode(query).any(|(name, _)| name == "prompt");
        let prompt = (has_offline_access(&self.scopes) && !has_prompt).then_some("consent");
        let parameters = Form::new()
            .with("response_type", "code")
            .with("client_id", &self.client.client_id)
            .with("redirect_uri", &self.redirect_uri)
            .with_optional("scope", self.scopes.parameter().as_deref())
            .with("state", self.state.expose())
            .with("code_challenge", &pkce::challenge(self.verifier.expose()))
            .with("code_challenge_method", pkce::METHOD)
            .with_optional("resource", self.resource.as_deref())
            .with_optional("prompt", prompt)
            .into_string();
        let error = |kind, reason: String| Error::new(kind, Step::Authorization, reason).at(authorization_endpoint);
        let is_own = |name: &str| decode(&parameters).any(|(own, _)| own == name);
        if let Some((name, _)) = decode(query).find(|(name, _)| is_own(name)) {
            let reason = format!("the authorization endpoint of the metadata contains the parameter `{name}` already");
            return Err(error(ErrorKind::Untrusted, reason));
        }
        let url = with_query(authorization_endpoint, &parameters);
        if url.len() > MAX_LOGIN_URL {
            let (length, scopes) = (url.len(), self.scopes.len());
            let reason = format!("the URL of its page has {length} bytes, and the maximum is {MAX_LOGIN_URL}");
            let error = error(ErrorKind::Misconfigured, reason);
            return Err(error.with_advice(format!("if the {scopes} scopes are the reason, set `scopes` to fewer")));
        }
        Ok(url)
    }
}
