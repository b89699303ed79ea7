//! Checks the tokens of requests to a protected MCP server, and creates the challenges for refused requests.

use std::time::Duration;

use mcpwire_driver::protocol::Json;

use super::proofs::ProofError;
use super::resource::{ProtectedServer, ResourceDeviation, State};
use super::url::origin;
use crate::http::{HttpAnswer, HttpRequest};

/// The reason why a protected MCP server refuses a request.
pub(super) enum Refusal {
    NoToken,
    InvalidToken,
    InvalidProof,
    NonceWanted,
    MissingScopes(String),
}

impl ProtectedServer {
    /// Checks whether a request has a valid token with the required scopes, and a valid DPoP proof if it needs one.
    pub(super) fn check(&self, request: &HttpRequest, now: Duration) -> Result<(), Refusal> {
        let (servers, resource) = (self.servers(), self.resource());
        let authorization = request.header("Authorization").ok_or(Refusal::NoToken)?;
        let (scheme, token) = authorization.split_once(' ').ok_or(Refusal::NoToken)?;
        let permission = servers.iter().find_map(|server| server.lock().tokens.permission(token, now).cloned());
        let mut state = self.lock();
        let permission = permission.filter(|_| !state.deviates(&ResourceDeviation::RefuseAllTokens));
        let permission = permission.ok_or(Refusal::InvalidToken)?;
        // A token without a resource comes from an authorization server that does not know resources.
        if permission.resource.as_ref().is_some_and(|audience| *audience != resource) {
            return Err(Refusal::InvalidToken);
        }
        let is_bound = permission.key.is_some();
        if scheme != if is_bound { "DPoP" } else { "Bearer" } || state.wants_proofs && !is_bound {
            return Err(Refusal::InvalidToken);
        }
        if is_bound {
            let State { url, proofs, .. } = &mut *state;
            match proofs.check(request, origin(url), Some(token), now) {
                Ok(key) if key == permission.key => {}
                Ok(_) | Err(ProofError::Invalid(_)) => return Err(Refusal::InvalidProof),
                Err(ProofError::NonceWanted) => return Err(Refusal::NonceWanted),
            }
        }
        let required = state.required_scopes(request);
        let has = |scope| permission.scopes.iter().any(|granted| granted == scope);
        let lacks_scopes = !required.split_ascii_whitespace().all(has);
        if lacks_scopes || state.deviates(&ResourceDeviation::WantMoreScopes) {
            return Err(Refusal::MissingScopes(required));
        }
        Ok(())
    }

    /// Returns the error response for a refused request, with a `WWW-Authenticate` challenge.
    pub(super) fn refuse(&self, refusal: &Refusal) -> HttpAnswer {
        let metadata_url = self.metadata_url();
        let state = self.lock();
        let (status, error, scopes) = match refusal {
            Refusal::NoToken => (401, None, state.required_scopes_of("")),
            Refusal::InvalidToken => (401, Some("invalid_token"), state.required_scopes_of("")),
            Refusal::InvalidProof => (401, Some("invalid_dpop_proof"), String::new()),
            Refusal::NonceWanted => (401, Some("use_dpop_nonce"), String::new()),
            Refusal::MissingScopes(scopes) => {
                let status = if state.deviates(&ResourceDeviation::MissingScopesAs401) { 401 } else { 403 };
                let is_named = !state.deviates(&ResourceDeviation::OmitMissingScopes);
                (status, Some("insufficient_scope"), if is_named { scopes.clone() } else { String::new() })
            }
        };
        let hides_metadata = [ResourceDeviation::OmitMetadataUrl, ResourceDeviation::NoMetadata];
        let names_metadata = !hides_metadata.iter().any(|deviation| state.deviates(deviation));
        let mut parameters = Vec::new();
        parameters.extend(names_metadata.then(|| format!("resource_metadata=\"{metadata_url}\"")));
        parameters.extend(error.map(|error| format!("error=\"{error}\"")));
        parameters.extend((!scopes.is_empty()).then(|| format!("scope=\"{scopes}\"")));
        parameters.extend(state.wants_proofs.then(|| "algs=\"ES256 EdDSA\"".to_owned()));
        let scheme = if state.wants_proofs { "DPoP" } else { "Bearer" };
        let mut challenge = Some(format!("{scheme} {}", parameters.join(", ")).trim_end().to_owned());
        for deviation in &state.deviations {
            challenge = match deviation {
                ResourceDeviation::OmitChallenge => None,
                ResourceDeviation::Challenge(other) => Some(other.clone()),
                ResourceDeviation::ChallengeBefore(other) => challenge.map(|challenge| format!("{other}, {challenge}")),
                _ => challenge,
            };
        }
        let answer = HttpAnswer::status(status);
        match challenge {
            Some(challenge) => answer.header("WWW-Authenticate", challenge),
            None => answer,
        }
    }
}

impl State {
    /// Returns the scopes that the token of a request must have, separated by spaces.
    fn required_scopes(&self, request: &HttpRequest) -> String {
        let params = request.message.member::<Json>("params");
        let name = params.and_then(|params| params.member::<String>("name"));
        let method = request.method();
        match name {
            Some(name) => self.required_scopes_of(&format!("{method} {name}")),
            None => self.required_scopes_of(&method),
        }
    }

    fn required_scopes_of(&self, operation: &str) -> String {
        let scopes = self.required.iter().filter(|(of, _)| of.is_empty() || of == operation);
        scopes.map(|(_, scopes)| scopes.as_str()).collect::<Vec<_>>().join(" ")
    }
}
