//! [`LoginRequest`]: what a login asks for.

use mcpwire_oauth::{BearerChallenge, Scopes};

/// What an explicit login asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a request has no effect until it is sent"]
pub struct LoginRequest {
    /// The scopes to ask for. `None`: those of the settings, or those that the server names.
    pub scopes: Option<Scopes>,
    /// Whether to begin anew: with another registration of the client, and without the login that waits for the user. It helps when
    /// the page of the login does not know the client any more.
    pub anew: bool,
    /// The issuer to which the secret of the configured client may be sent, if no setting names its issuer and the client was not
    /// used before. It is remembered.
    pub trusted_issuer: Option<String>,
}

impl LoginRequest {
    /// Asks for these scopes, and no others.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets whether to begin anew.
    pub fn anew(mut self, anew: bool) -> Self {
        self.anew = anew;
        self
    }

    /// Lets the secret of the configured client be sent to this issuer, for example because the user has agreed to that after a
    /// [`ClientIssuerRequired`](crate::LoginError::ClientIssuerRequired).
    pub fn trust_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.trusted_issuer = Some(issuer.into());
        self
    }
}

/// What a login asks for.
#[derive(Clone, Default)]
pub(super) struct LoginParameters {
    pub(super) challenge: Option<BearerChallenge>,
    /// The scopes of the last login and of the challenge, which are asked for in any case.
    pub(super) requested_before: Option<Scopes>,
    /// The scopes that the caller chose.
    pub(super) chosen_scopes: Option<Scopes>,
    pub(super) anew: bool,
    /// The issuer to which the secret of the configured client may be sent.
    pub(super) trusted_issuer: Option<String>,
}

impl From<LoginRequest> for LoginParameters {
    fn from(request: LoginRequest) -> Self {
        LoginParameters {
            chosen_scopes: request.scopes,
            anew: request.anew,
            trusted_issuer: request.trusted_issuer,
            ..LoginParameters::default()
        }
    }
}
