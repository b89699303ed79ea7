//! [`Grant`]: the credential that a client exchanges for an access token, such as an authorization code.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::encoding::Form;
use crate::{Secret, Step};

/// The credential that a client exchanges for an access token, as the grant types of OAuth define it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The authorization code of a login in a browser (RFC 6749, section 4.1), protected by PKCE.
    AuthorizationCode {
        /// The authorization code from the authorization response.
        code: Secret,
        /// The redirect URI that the authorization request contained.
        redirect_uri: String,
        /// The PKCE verifier, which belongs to the challenge in the authorization request.
        verifier: Secret,
    },
    /// A refresh token, which renews an access token without the user (RFC 6749, section 6).
    RefreshToken(Secret),
    /// The credentials of the client itself, for a program that acts without a user (RFC 6749, section 4.4).
    ClientCredentials,
    /// A JWT of another issuer, such as an identity provider or a platform (RFC 7523, section 2.1).
    JwtBearer {
        /// The JWT to exchange.
        assertion: Secret,
    },
    /// The identity of a user, to exchange for an ID-JAG (RFC 8693, Identity Assertion JWT Authorization Grant).
    TokenExchange {
        /// The token with which the identity provider identifies the user.
        subject: SubjectToken,
        /// The issuer of the authorization server at which the ID-JAG will be used.
        audience: String,
    },
    /// The device code of a login on another device (RFC 8628).
    DeviceCode(Secret),
}

/// A token of an identity provider that identifies a user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectToken {
    /// An ID token of OpenID Connect.
    IdToken(Secret),
    /// A refresh token that the identity provider issued to the client.
    RefreshToken(Secret),
}

impl Grant {
    pub(crate) const fn step(&self) -> Step {
        match self {
            Grant::RefreshToken(_) => Step::Refresh,
            _ => Step::Token,
        }
    }

    fn parameters(&self) -> Vec<(&str, Parameter<'_>)> {
        use Parameter::{Hidden, Plain};
        match self {
            Grant::AuthorizationCode { code, redirect_uri, verifier } => vec![
                ("grant_type", Plain("authorization_code")),
                ("code", Hidden(code)),
                ("redirect_uri", Plain(redirect_uri)),
                ("code_verifier", Hidden(verifier)),
            ],
            Grant::RefreshToken(token) => {
                vec![("grant_type", Plain("refresh_token")), ("refresh_token", Hidden(token))]
            }
            Grant::ClientCredentials => vec![("grant_type", Plain("client_credentials"))],
            Grant::JwtBearer { assertion } => vec![
                ("grant_type", Plain("urn:ietf:params:oauth:grant-type:jwt-bearer")),
                ("assertion", Hidden(assertion)),
            ],
            Grant::TokenExchange { subject, audience } => {
                let (token, kind) = match subject {
                    SubjectToken::IdToken(token) => (token, "urn:ietf:params:oauth:token-type:id_token"),
                    SubjectToken::RefreshToken(token) => (token, "urn:ietf:params:oauth:token-type:refresh_token"),
                };
                vec![
                    ("grant_type", Plain("urn:ietf:params:oauth:grant-type:token-exchange")),
                    ("requested_token_type", Plain(ID_JAG)),
                    ("audience", Plain(audience)),
                    ("subject_token", Hidden(token)),
                    ("subject_token_type", Plain(kind)),
                ]
            }
            Grant::DeviceCode(code) => vec![("grant_type", Plain(DEVICE_CODE)), ("device_code", Hidden(code))],
        }
    }

    /// Returns the secrets of the grant, to remove them from error messages.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let parameters = self.parameters().into_iter();
        parameters
            .filter_map(|(_, value)| if let Parameter::Hidden(secret) = value { Some(secret.clone()) } else { None })
            .collect()
    }

    /// Returns the form of a token request: `grant_type` and the parameters of the grant.
    pub(crate) fn to_form(&self) -> Form {
        self.parameters().into_iter().fold(Form::new(), |form, (name, value)| match value {
            Parameter::Plain(text) => form.with(name, text),
            Parameter::Hidden(secret) => form.with(name, secret.expose()),
        })
    }
}

/// The value of a form parameter. `Hidden` values are secrets, which error messages must not contain.
enum Parameter<'a> {
    Plain(&'a str),
    Hidden(&'a Secret),
}

/// The grant type of a device login (RFC 8628), for token requests and registrations.
pub(crate) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The token type of an ID-JAG (Identity Assertion JWT Authorization Grant), for a token exchange.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
