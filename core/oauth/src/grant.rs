//! [`Grant`]: what a client exchanges for an access token.

use alloc::string::String;
use alloc::vec::Vec;

use crate::encoding::Form;
use crate::{Secret, Step};

/// What a client exchanges for an access token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The code of a login (RFC 6749, section 4.1), with PKCE.
    AuthorizationCode {
        /// The code.
        code: Secret,
        /// The redirect URI of the authorization request.
        redirect_uri: String,
        /// The PKCE verifier.
        verifier: Secret,
    },
    /// A refresh token (RFC 6749, section 6).
    RefreshToken(Secret),
    /// The credentials of the client (RFC 6749, section 4.4).
    ClientCredentials,
    /// A JWT that somebody else has issued (RFC 7523, section 2.1).
    JwtBearer {
        /// The JWT.
        assertion: Secret,
    },
    /// The identity of a user for an ID-JAG (RFC 8693, Identity Assertion JWT Authorization Grant).
    TokenExchange {
        /// The token that identifies the user.
        subject: SubjectToken,
        /// The issuer of the authorization server that takes the ID-JAG.
        audience: String,
    },
    /// The code of a device login (RFC 8628).
    DeviceCode(Secret),
}

/// A token by which an identity provider knows a user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectToken {
    /// An ID token of OpenID Connect.
    IdToken(Secret),
    /// A refresh token of the identity provider.
    RefreshToken(Secret),
}

impl Grant {
    pub(crate) const fn step(&self) -> Step {
        match self {
            Grant::RefreshToken(_) => Step::Refresh,
            _ => Step::Token,
        }
    }

    /// Returns the secrets of the grant, which an error must not show.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        match self {
            Grant::AuthorizationCode { code, verifier, .. } => [code, verifier].map(Clone::clone).into(),
            Grant::RefreshToken(secret) | Grant::JwtBearer { assertion: secret } | Grant::DeviceCode(secret) => {
                [secret.clone()].into()
            }
            Grant::TokenExchange {
                subject: SubjectToken::IdToken(secret) | SubjectToken::RefreshToken(secret),
                ..
            } => [secret.clone()].into(),
            Grant::ClientCredentials => Vec::new(),
        }
    }

    /// Adds `grant_type` and the parameters of the grant.
    pub(crate) fn apply(&self, form: Form) -> Form {
        match self {
            Grant::AuthorizationCode { code, redirect_uri, verifier } => form
                .with("grant_type", "authorization_code")
                .with("code", code.expose())
                .with("redirect_uri", redirect_uri)
                .with("code_verifier", verifier.expose()),
            Grant::RefreshToken(token) => {
                form.with("grant_type", "refresh_token").with("refresh_token", token.expose())
            }
            Grant::ClientCredentials => form.with("grant_type", "client_credentials"),
            Grant::JwtBearer { assertion } => form
                .with("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
                .with("assertion", assertion.expose()),
            Grant::TokenExchange { subject, audience } => {
                let (token, kind) = match subject {
                    SubjectToken::IdToken(token) => (token, "urn:ietf:params:oauth:token-type:id_token"),
                    SubjectToken::RefreshToken(token) => (token, "urn:ietf:params:oauth:token-type:refresh_token"),
                };
                form.with("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
                    .with("requested_token_type", ID_JAG)
                    .with("audience", audience)
                    .with("subject_token", token.expose())
                    .with("subject_token_type", kind)
            }
            Grant::DeviceCode(code) => form
                .with("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
                .with("device_code", code.expose()),
        }
    }
}

/// The token type of an Identity Assertion JWT Authorization Grant.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
