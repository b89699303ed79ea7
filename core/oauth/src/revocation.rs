//! [`Revocation`]: revokes the tokens of a login when the user logs out (RFC 7009).

use alloc::string::String;
use core::mem;

use crate::encoding::Form;
use crate::token_request::ClientRequest;
use crate::token_response;
use crate::{
    Action, ClientAuthentication, Entropy, Error, Flow, Input, Response, Secret, Step, StoredToken, TokenEndpoint,
    UnixTime,
};

/// The flow that revokes the tokens of a login when the user logs out: first the refresh token, then the access token.
///
/// A server that revokes a refresh token should also revoke its access tokens (RFC 7009, section 2.1). Since some
/// servers do not, the flow revokes both.
#[derive(Debug)]
pub struct Revocation {
    request: ClientRequest,
    /// The access token to revoke after the refresh token. `None` while and after the access token is revoked.
    access_token: Option<Secret>,
    /// Whether the refresh token was revoked and the flow has not ended. An error then concerns the access token alone.
    has_revoked_refresh_token: bool,
}

/// The tokens of a login that the authorization server has revoked, as [`Revocation`] reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevokedTokens {
    /// All tokens of the login were revoked.
    All,
    /// Only the refresh token was revoked. Contains the error for the access token, which may stay valid until it
    /// expires.
    RefreshTokenOnly(Error),
}

impl Revocation {
    /// Creates a flow. `url` is the `revocation_endpoint` of the authorization server that issued `token`. `client` is
    /// the client that requested it.
    pub fn new(url: impl Into<String>, token: &StoredToken, client: ClientAuthentication, entropy: Entropy) -> Self {
        let endpoint = TokenEndpoint::new(token.endpoint.issuer.clone(), url);
        let (form, access_token) = match &token.refresh_token {
            Some(refresh_token) => (form(refresh_token, "refresh_token"), Some(token.access_token.clone())),
            None => (form(&token.access_token, "access_token"), None),
        };
        let secrets = token.refresh_token.iter().chain([&token.access_token]).cloned().collect();
        let request = ClientRequest::new(Step::Revocation, endpoint, client, form, secrets, entropy);
        Revocation { request, access_token, has_revoked_refresh_token: false }
    }

    fn next(&mut self, result: Result<Action<Response>, Error>, now: UnixTime) -> Result<Action<RevokedTokens>, Error> {
        let result = result.and_then(|action| action.and_then(|response| self.receive(&response, now)));
        match result {
            Err(error) if mem::take(&mut self.has_revoked_refresh_token) => {
                Ok(Action::Done(RevokedTokens::RefreshTokenOnly(error)))
            }
            result => result,
        }
    }

    fn receive(&mut self, response: &Response, now: UnixTime) -> Result<Action<RevokedTokens>, Error> {
        self.check(response)?;
        let access_token = self.access_token.take();
        self.has_revoked_refresh_token = access_token.is_some();
        let Some(access_token) = access_token else { return Ok(Action::Done(RevokedTokens::All)) };
        self.request.reset(form(&access_token, "access_token"));
        self.request.start(now)?.and_then(|response| self.receive(&response, now))
    }

    fn check(&self, response: &Response) -> Result<(), Error> {
        // A successful response needs no body.
        if response.status == 200 {
            return Ok(());
        }
        let answer = token_response::read_object(response, Step::Revocation, &self.request.url);
        answer.map(drop).map_err(|error| self.request.explain(error))
    }
}

fn form(token: &Secret, hint: &str) -> Form {
    Form::new().with("token", token.expose()).with("token_type_hint", hint)
}

impl Flow for Revocation {
    type Output = RevokedTokens;

    fn start(&mut self, now: UnixTime) -> Result<Action<RevokedTokens>, Error> {
        let action = self.request.start(now);
        self.next(action, now)
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<RevokedTokens>, Error> {
        let action = self.request.resume(input, now);
        self.next(action, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{NOW, entropy, map, parameters, public_client, response, run, stored};
    use crate::{ClientKey, ErrorKind, Request, SigningAlgorithm};
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    const URL: &str = "https://auth.example.com/revoke";

    /// Revokes a token at a server with these responses; the last one is repeated. Returns the result and the requests.
    fn revoke(token: &StoredToken, answers: &[(u16, &str)]) -> (Result<RevokedTokens, Error>, Vec<Request>) {
        let mut flow = Revocation::new(URL, token, public_client(), entropy());
        assert!(!format!("{flow:?}").contains("refresh-1") && !format!("{flow:?}").contains("access-1"));
        let mut sent = Vec::new();
        let result = run(&mut flow, NOW, |request| {
            let (status, body) = *answers.get(sent.len()).or(answers.last()).unwrap();
            sent.push(request);
            Input::Response(response(status, body))
        });
        (result, sent)
    }

    #[test]
    fn a_logout_revokes_the_refresh_token_and_then_the_access_token() {
        let mut token = stored(1);
        let refresh = [("token", "refresh-1"), ("token_type_hint", "refresh_token"), ("client_id", "client-1")];
        let access = [("token", "access-1"), ("token_type_hint", "access_token"), ("client_id", "client-1")];
        let (result, sent) = revoke(&token, &[(200, "")]);
        assert_eq!(result, Ok(RevokedTokens::All));
        assert!(sent.iter().all(|request| request.url == URL));
        assert_eq!(sent.iter().map(parameters).collect::<Vec<_>>(), [map(&refresh), map(&access)]);
        token.refresh_token = None;
        let (result, sent) = revoke(&token, &[(200, "")]);
        assert_eq!((result, sent.len()), (Ok(RevokedTokens::All), 1));
        assert_eq!(parameters(&sent[0]), map(&access));
    }

    #[test]
    fn a_server_that_revokes_only_refresh_tokens_is_said_to() {
        let refusal = (400, r#"{"error":"unsupported_token_type","error_description":"not access-1"}"#);
        let (result, sent) = revoke(&stored(1), &[(200, ""), refusal]);
        let Ok(RevokedTokens::RefreshTokenOnly(error)) = result else { panic!("{result:?}") };
        assert_eq!((error.code(), error.step(), sent.len()), (Some("unsupported_token_type"), Step::Revocation, 2));
        assert!(!error.to_string().contains("access-1"), "{error}");
    }

    #[test]
    fn a_server_that_cannot_revoke_says_why() {
        let token = stored(1);
        let refused = |status, body| {
            let (result, sent) = revoke(&token, &[(status, body)]);
            assert_eq!(sent.len(), 1, "the access token is not tried");
            result.unwrap_err()
        };
        assert_eq!(refused(503, "").kind(), ErrorKind::Temporary);
        let error = refused(400, r#"{"error":"unsupported_token_type"}"#);
        assert_eq!((error.kind(), error.step()), (ErrorKind::Refused, Step::Revocation));
        assert!(error.to_string().starts_with("the revocation of the token failed"), "{error}");
        assert_eq!(refused(204, "").kind(), ErrorKind::Temporary, "unusual and without a body");
        assert_eq!(revoke(&token, &[(202, "{}")]).0, Ok(RevokedTokens::All));
    }

    #[test]
    fn a_client_with_a_key_signs_the_revocation() {
        let client = ClientAuthentication::private_key_jwt("c", ClientKey::new(SigningAlgorithm::Es256));
        let mut flow = Revocation::new(URL, &stored(1), client, entropy());
        let result = run(&mut flow, NOW, |request| {
            assert!(parameters(&request).contains_key("client_assertion"));
            Input::Response(response(200, ""))
        });
        assert_eq!(result, Ok(RevokedTokens::All));
        assert!(flow.start(NOW).is_err(), "a flow is used once");
    }
}
