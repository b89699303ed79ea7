//! [`Revocation`]: revokes the tokens of a logout (RFC 7009).

use alloc::string::String;

use crate::client_authentication::ClientAuthentication;
use crate::client_request::{ClientRequest, State};
use crate::entropy::Entropy;
use crate::error::{Error, Step};
use crate::flow::{Action, Flow, Input};
use crate::form::Form;
use crate::http::Response;
use crate::store::StoredToken;
use crate::time::UnixTime;
use crate::token_response;

/// The flow of a logout: it revokes the refresh token, or the access token if there is no refresh token.
///
/// A server that revokes a refresh token revokes its access tokens, too (RFC 7009, section 2.1).
#[derive(Debug)]
pub struct Revocation {
    request: ClientRequest,
}

impl Revocation {
    /// Creates a flow. `url` is the `revocation_endpoint` of the token's authorization server, and `client` the client that
    /// has requested the token.
    pub fn new(url: impl Into<String>, token: &StoredToken, client: ClientAuthentication, entropy: Entropy) -> Self {
        let (secret, hint) = match &token.refresh_token {
            Some(refresh_token) => (refresh_token, "refresh_token"),
            None => (&token.access_token, "access_token"),
        };
        let request = ClientRequest {
            step: Step::Revocation,
            url: url.into(),
            issuer: token.endpoint.issuer.clone(),
            client,
            form: Form::new().with("token", secret.expose()).with("token_type_hint", hint),
            secrets: [secret.clone(), token.access_token.clone()].into(),
            dpop: None,
            entropy,
            state: State::New,
        };
        Revocation { request }
    }

    fn next(&self, action: Action<Response>) -> Result<Action<()>, Error> {
        match action {
            Action::Fetch(request) => Ok(Action::Fetch(request)),
            Action::Sign { key, bytes } => Ok(Action::Sign { key, bytes }),
            // The body is of no importance, and often empty.
            Action::Done(response) if response.status == 200 => Ok(Action::Done(())),
            Action::Done(response) => {
                token_response::read_object(&response, Step::Revocation, &self.request.url)
                    .map_err(|error| self.request.redact(error))?;
                Ok(Action::Done(()))
            }
        }
    }
}

impl Flow for Revocation {
    type Output = ();

    fn start(&mut self, now: UnixTime) -> Result<Action<()>, Error> {
        let action = self.request.start(now)?;
        self.next(action)
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<()>, Error> {
        let action = self.request.resume(input, now)?;
        self.next(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_authentication::ClientKey;
    use crate::error::ErrorKind;
    use crate::jwk::SigningAlgorithm;
    use crate::testing::{NOW, entropy, map, parameters, public_client, response, run, stored};
    use alloc::format;
    use alloc::string::ToString;

    const URL: &str = "https://auth.example.com/revoke";

    fn revoke(token: &StoredToken, status: u16, body: &str) -> (Result<(), Error>, crate::http::Request) {
        let mut flow = Revocation::new(URL, token, public_client(), entropy());
        assert!(!format!("{flow:?}").contains("refresh-1"));
        let mut sent = None;
        let result = run(&mut flow, NOW, |request| {
            sent = Some(request);
            Input::Response(response(status, body))
        });
        (result, sent.unwrap())
    }

    #[test]
    fn a_logout_revokes_the_refresh_token_or_else_the_access_token() {
        let mut token = stored(1);
        let (result, request) = revoke(&token, 200, "");
        assert_eq!((result, request.url.as_str()), (Ok(()), URL));
        let expected = [("token", "refresh-1"), ("token_type_hint", "refresh_token"), ("client_id", "client-1")];
        assert_eq!(parameters(&request), map(&expected));
        token.refresh_token = None;
        let (_, request) = revoke(&token, 200, "");
        let expected = [("token", "access-1"), ("token_type_hint", "access_token"), ("client_id", "client-1")];
        assert_eq!(parameters(&request), map(&expected));
    }

    #[test]
    fn a_server_that_cannot_revoke_says_why() {
        let token = stored(1);
        assert_eq!(revoke(&token, 503, "").0.unwrap_err().kind(), ErrorKind::Temporary);
        let error = revoke(&token, 400, r#"{"error":"unsupported_token_type"}"#).0.unwrap_err();
        assert_eq!((error.kind(), error.step()), (ErrorKind::Refused, Step::Revocation));
        assert!(error.to_string().starts_with("the revocation of the token failed"), "{error}");
        assert_eq!(revoke(&token, 204, "").0.unwrap_err().kind(), ErrorKind::Temporary, "unusual and without a body");
        assert_eq!(revoke(&token, 202, "{}").0, Ok(()));
    }

    #[test]
    fn a_client_with_a_key_signs_the_revocation() {
        let client = ClientAuthentication::private_key_jwt("c", ClientKey::new(SigningAlgorithm::Es256));
        let mut flow = Revocation::new(URL, &stored(1), client, entropy());
        let result = run(&mut flow, NOW, |request| {
            assert!(parameters(&request).contains_key("client_assertion"));
            Input::Response(response(200, ""))
        });
        assert_eq!(result, Ok(()));
        assert!(flow.start(NOW).is_err(), "a flow is used once");
    }
}
