//! [`ClientRequest`]: a form that a client sends to its authorization server, and authenticates.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::{fmt, mem};

use crate::client_authentication::ClientAuthentication;
use crate::dpop::{Dpop, Proof};
use crate::entropy::Entropy;
use crate::error::{Error, ErrorKind, Step};
use crate::flow::{Action, Flow, Input, KeyUse};
use crate::form::{FORM_TYPE, Form, encode};
use crate::http::{Request, Response};
use crate::jwt;
use crate::secret::Secret;
use crate::time::UnixTime;
use crate::token_response::{self, ProofRefusal};
use crate::url::is_secure;

/// A flow that sends a form to an endpoint of an authorization server.
///
/// It signs the client's assertion and the DPoP proof, and repeats the request once if the server wants another
/// proof: with a nonce, or for its own time.
pub(crate) struct ClientRequest {
    pub(crate) step: Step,
    pub(crate) url: String,
    pub(crate) issuer: String,
    pub(crate) client: ClientAuthentication,
    pub(crate) form: Form,
    /// The secrets of the form, and the assertions of the client.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) dpop: Option<Dpop>,
    pub(crate) entropy: Entropy,
    pub(crate) state: State,
}

#[derive(Default)]
pub(crate) enum State {
    #[default]
    New,
    /// The client signs its assertion.
    SigningAssertion {
        input: String,
        repeated: bool,
    },
    /// The client signs the DPoP proof. The assertion is signed, if there is one.
    SigningProof {
        assertion: Option<String>,
        proof: Proof,
        repeated: bool,
    },
    Sent {
        repeated: bool,
    },
    Finished,
}

impl ClientRequest {
    /// Completes the error that a server has written: removes the secrets of this request, and says how the client authenticated if
    /// the server does not accept it.
    ///
    /// Servers repeat requests as they have received them, so the secrets are also removed in the form in which they were sent.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let error = match error.code() {
            Some("invalid_client") => error.with_advice(alloc::format!(
                "check the client's identifier and secret; it authenticated by {}, and the setting `auth_method` names another method",
                self.client.method().name()
            )),
            _ => error,
        };
        let error = match self.client.basic() {
            Some(credentials) => error.without(&credentials),
            None => error,
        };
        let secrets = self.secrets.iter().chain(self.client.secret()).map(Secret::expose);
        secrets.fold(error, |error, secret| error.without(secret).without(&encode(secret)))
    }

    /// Signs the assertion of the client if it has one, then goes on.
    fn begin(&mut self, repeated: bool, now: UnixTime) -> Action<Response> {
        match self.client.assertion_input(&self.issuer, now, &mut self.entropy) {
            Some(input) => {
                let bytes = input.as_bytes().to_vec();
                self.state = State::SigningAssertion { input, repeated };
                Action::Sign { key: KeyUse::ClientAssertion, bytes }
            }
            None => self.prove(None, repeated, now),
        }
    }

    /// Signs the DPoP proof if the token is to be bound, then goes on.
    fn prove(&mut self, assertion: Option<String>, repeated: bool, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &self.dpop else { return self.send(assertion.as_deref(), None, repeated) };
        let proof = dpop.begin_proof("POST", &self.url, None, now, &mut self.entropy);
        let bytes = proof.signing_input().to_vec();
        self.state = State::SigningProof { assertion, proof, repeated };
        Action::Sign { key: KeyUse::DpopProof, bytes }
    }

    fn send(&mut self, assertion: Option<&str>, proof: Option<String>, repeated: bool) -> Action<Response> {
        let mut headers: Vec<(Cow<'static, str>, String)> =
            [("content-type", FORM_TYPE), ("accept", "application/json")]
                .map(|(name, value)| (name.into(), value.to_string()))
                .into();
        headers.extend(proof.map(|proof| ("dpop".into(), proof)));
        let form = self.client.apply(self.form.clone(), &mut headers, assertion);
        self.secrets.extend(assertion.map(Secret::new));
        self.state = State::Sent { repeated };
        let body = Some(form.into_string().into_bytes());
        Action::Fetch(Request { step: self.step, url: self.url.clone(), headers, body })
    }

    fn receive(&mut self, response: Response, repeated: bool, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &mut self.dpop else { return Action::Done(response) };
        let nonce = response.header("dpop-nonce").next();
        let has_new_nonce = nonce.is_some_and(|nonce| dpop.take_nonce(&self.url, nonce));
        let Some(refusal) = ProofRefusal::from_response(&response) else { return Action::Done(response) };
        let has_new_time = response.header("date").next().is_some_and(|date| dpop.take_date(&self.url, date, now));
        let is_other_proof = has_new_time || (has_new_nonce && refusal == ProofRefusal::Nonce);
        if is_other_proof && !repeated { self.begin(true, now) } else { Action::Done(response) }
    }
}

impl Flow for ClientRequest {
    type Output = Response;

    fn start(&mut self, now: UnixTime) -> Result<Action<Response>, Error> {
        match self.state {
            State::New if is_secure(&self.url) => Ok(self.begin(false, now)),
            State::New => {
                let reason = "the endpoint is not an https URL";
                Err(Error::new(ErrorKind::Misconfigured, self.step, reason).at(&self.url))
            }
            _ => Err(Error::misuse(self.step)),
        }
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<Response>, Error> {
        match (mem::replace(&mut self.state, State::Finished), input) {
            (State::SigningAssertion { input, repeated }, Input::Signature(signature)) => {
                Ok(self.prove(Some(jwt::with_signature(&input, &signature)), repeated, now))
            }
            (State::SigningProof { assertion, proof, repeated }, Input::Signature(signature)) => {
                Ok(self.send(assertion.as_deref(), Some(proof.finish(&signature)), repeated))
            }
            (State::Sent { repeated }, Input::Response(response)) => Ok(self.receive(response, repeated, now)),
            (State::Sent { .. }, Input::FetchFailed(error)) => {
                Err(token_response::fetch_failed(error, self.step, &self.url))
            }
            _ => Err(Error::misuse(self.step)),
        }
    }
}

impl fmt::Debug for ClientRequest {
    /// Leaves out the form, which contains secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequest").field("step", &self.step).field("url", &self.url).finish_non_exhaustive()
    }
}
