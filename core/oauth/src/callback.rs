//! The authorization response: the address to which the authorization server redirects the user.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::url::without_fragment;

use crate::encoding;
use crate::{
    ClientKey, Entropy, Error, ErrorKind, Grant, LoginAttempt, Secret, Step, StoredToken, TokenRequest, TokenResponse,
};

/// Maximum length of the address: 16 KiB.
const MAX_CALLBACK: usize = 16 * 1024;

impl LoginAttempt {
    /// Takes the address to which the user was redirected, and returns the flow that exchanges its code for a token.
    ///
    /// `callback` is the address as it was received: the whole URL, or its path and query. `key` is that of clients that sign
    /// assertions. Fails if the response is not one to this login, or if it says that the login has failed.
    pub fn finish(&self, callback: &str, key: Option<&ClientKey>, entropy: Entropy) -> Result<TokenRequest, Error> {
        let code = self.read_callback(callback)?;
        let client = self.client.authentication(&self.endpoint, key)?;
        let grant =
            Grant::AuthorizationCode { code, redirect_uri: self.redirect_uri.clone(), verifier: self.verifier.clone() };
        Ok(TokenRequest::new(self.endpoint.clone(), client, &grant, entropy).resource(self.resource.clone()))
    }

    /// Returns the document to store after a login. `resource` is that of [`Discovered`](crate::Discovered), and `previous` the
    /// document that is stored now.
    pub fn stored_token(
        &self,
        resource: impl Into<String>,
        response: TokenResponse,
        previous: Option<&StoredToken>,
    ) -> StoredToken {
        let (client_id, scopes) = (Some(self.client.client_id.as_str()), self.scopes.clone());
        let mut token = StoredToken::new(self.endpoint.clone(), resource, client_id, scopes, response, previous);
        token.no_resource_on_refresh = self.resource.is_none();
        token
    }

    /// Returns whether an address is the response to this login: it has the `state` of the login. Use it to find the login among
    /// several.
    pub fn is_response(&self, callback: &str) -> bool {
        Callback::parse(callback).is_ok_and(|callback| callback.get("state") == Ok(Some(self.state.expose())))
    }

    /// Returns the code of a response (basic/authorization, "Authorization Response Validation").
    ///
    /// `state` and `iss` are checked before anything else is looked at, so that a response of an attacker shows the user no text.
    fn read_callback(&self, callback: &str) -> Result<Secret, Error> {
        let callback = Callback::parse(callback)?;
        if callback.get("state")? != Some(self.state.expose()) {
            return Err(untrusted("the response is not one to this login: its `state` differs"));
        }
        match callback.get("iss")? {
            Some(issuer) if issuer != self.endpoint.issuer => {
                return Err(untrusted("the response comes from another authorization server than the login"));
            }
            None if self.requires_iss => {
                return Err(untrusted("the response does not name the authorization server (`iss`), which it must"));
            }
            _ => {}
        }
        if let Some(code) = callback.get("error")? {
            return Err(self.refused(code, callback.get("error_description")?));
        }
        match callback.get("code")? {
            Some(code) if !code.is_empty() => Ok(Secret::new(code)),
            _ => Err(Error::new(
                ErrorKind::Misconfigured,
                Step::Authorization,
                "the response has neither a code nor an error",
            )),
        }
    }

    /// Returns the error that a response reports (RFC 6749, section 4.1.2.1, and OpenID Connect Core, section 3.1.2.6).
    fn refused(&self, code: &str, description: Option<&str>) -> Error {
        let (kind, reason, advice) = match code {
            "access_denied" => (ErrorKind::Refused, "the user or the authorization server has refused it", None),
            "temporarily_unavailable" | "server_error" => {
                (ErrorKind::Temporary, "the authorization server cannot answer now", None)
            }
            "login_required" | "interaction_required" | "consent_required" | "account_selection_required" => {
                (ErrorKind::LoginRequired, "the user must log in at the authorization server", None)
            }
            "invalid_target" if self.resource.is_some() => (
                ErrorKind::Misconfigured,
                "the authorization server does not know the server",
                Some("if it does not support the parameter `resource`, use the setting `omit_resource`"),
            ),
            "invalid_scope" => (
                ErrorKind::Misconfigured,
                "the authorization server does not grant the scopes",
                Some("set other scopes with the setting `scopes`"),
            ),
            _ => (ErrorKind::Misconfigured, "the authorization server has refused the request", None),
        };
        let error =
            Error::new(kind, Step::Authorization, reason).at(&self.endpoint.issuer).with_code(code, description);
        match advice {
            Some(advice) => error.with_advice(advice),
            None => error,
        }
    }
}

fn untrusted(reason: &str) -> Error {
    Error::new(ErrorKind::Untrusted, Step::Authorization, reason)
        .with_advice("start the login again, and open only the URL that it shows")
}

/// The parameters of an authorization response.
struct Callback(Vec<(String, String)>);

impl Callback {
    fn parse(address: &str) -> Result<Self, Error> {
        let address = address.trim();
        let query = without_fragment(address).split_once('?').map(|(_, query)| query);
        match query {
            Some(query) if address.len() <= MAX_CALLBACK => Ok(Callback(encoding::decode(query).collect())),
            _ => {
                Err(Error::new(ErrorKind::Misconfigured, Step::Authorization, "this is not the address of a response")
                    .with_advice("copy the whole address to which the browser was sent after the login"))
            }
        }
    }

    /// Returns the value of a parameter. Fails if the parameter is there twice (RFC 6749, section 3.1).
    fn get(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self.0.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            Some(_) => Err(untrusted("the response has a parameter twice")),
            None => Ok(value),
        }
    }
}

#[cfg(test)]
#[path = "callback_tests.rs"]
mod tests;
