//! [`Grant`]: what a client exchanges for an access token.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::encoding::Form;
use crate::{Secret, Step};

/// The credential that a client exchanges for an access token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The code of a login (RFC 6749, section 4.1), with PKCE.
    AuthorizationCode {
        /// The code of the authorization response.
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

    /// Returns the secrets of the grant, which an error must not show.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let parameters = self.parameters().into_iter();
        parameters
            .filter_map(|(_, value)| if let Parameter::Hidden(secret) = value { Some(secret.clone()) } else { None })
            .collect()
    }

    /// Returns a form with `grant_type` and the parameters of the grant.
    pub(crate) fn to_form(&self) -> Form {
        self.parameters().into_iter().fold(Form::new(), |form, (name, value)| match value {
            Parameter::Plain(text) => form.with(name, text),
            Parameter::Hidden(secret) => form.with(name, secret.expose()),
        })
    }
}

/// The value of a parameter.
enum Parameter<'a> {
    Plain(&'a str),
    Hidden(&'a Secret),
}

/// The grant type of a device login (RFC 8628).
pub(crate) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The token type of an Identity Assertion JWT Authorization Grant.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
