//! [`ClientRequest`]: a form that a client sends to an endpoint of its authorization server, with its credentials.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::{fmt, mem};

use crate::encoding::{FORM_TYPE, Form, encode};
use crate::jose;
use crate::token_response::{self, ProofRefusal};
use crate::url::is_secure;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Input, KeyUse, Proof, Request, Response,
    Secret, Setting, Step, TokenEndpoint, UnixTime,
};

/// A flow that sends a form to an endpoint of an authorization server.
///
/// The flow signs the client assertion and the DPoP proof if they are needed. It repeats the request once if the server
/// asks for a proof with a nonce, or with the time of the server's clock.
pub(crate) struct ClientRequest {
    step: Step,
    pub(crate) url: String,
    issuer: String,
    client: ClientAuthentication,
    pub(crate) form: Form,
    /// The secrets in the form and the signed client assertions. They are removed from error messages.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) dpop: Option<Dpop>,
    entropy: Entropy,
    /// Whether the request was already repeated with another DPoP proof.
    is_repeated: bool,
    state: State,
}

enum State {
    New,
    /// The program signs the client assertion. Contains the bytes to sign, as text.
    SigningAssertion(String),
    /// The program signs the DPoP proof. `assertion` is the signed client assertion, or `None` if the client needs
    /// none.
    SigningProof {
        assertion: Option<String>,
        proof: Proof,
    },
    Sent,
    Finished,
}

impl ClientRequest {
    /// Creates a request to `endpoint`. `secrets` are the secrets in the form, which are removed from error messages.
    pub(crate) fn new(
        step: Step,
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        form: Form,
        secrets: Vec<Secret>,
        entropy: Entropy,
    ) -> Self {
        let TokenEndpoint { issuer, url, .. } = endpoint;
        let (dpop, is_repeated, state) = (None, false, State::New);
        ClientRequest { step, url, issuer, client, form, secrets, dpop, entropy, is_repeated, state }
    }

    /// Resets the flow, so that it can be started again with another form.
    pub(crate) fn reset(&mut self, form: Form) {
        (self.form, self.is_repeated, self.state) = (form, false, State::New);
    }

    pub(crate) const fn step(&self) -> Step {
        self.step
    }

    /// Completes the error of a response: removes the secrets of this request, and names the client's authentication
    /// method if the server did not accept the client.
    ///
    /// Servers may quote a request as they received it, so the encoded forms of the secrets are removed, too.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let mut error = error;
        if error.code() == Some("invalid_client") {
            let before = alloc::format!(
                "check the client's identifier and secret; it authenticated by {}, and the setting ",
                self.client.method().name()
            );
            error = error.with_setting(before, Setting::AuthMethod, " names another method");
        }
        if let Some(credentials) = self.client.basic() {
            error = error.without(&credentials);
        }
        let secrets = self.secrets.iter().chain(self.client.secret()).map(Secret::expose);
        secrets.fold(error, |error, secret| error.without(secret).without(&encode(secret)))
    }

    /// Asks the program to sign the client assertion. If the client needs no assertion, continues with the DPoP proof.
    fn begin(&mut self, now: UnixTime) -> Action<Response> {
        match self.client.assertion_input(&self.issuer, now, &mut self.entropy) {
            Some(input) => {
                let bytes = input.as_bytes().to_vec();
                self.state = State::SigningAssertion(input);
                Action::Sign { key: KeyUse::ClientAssertion, bytes }
            }
            None => self.prove(None, now),
        }
    }

    /// Asks the program to sign the DPoP proof. If no DPoP key is set, continues with the request.
    fn prove(&mut self, assertion: Option<String>, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &self.dpop else { return self.send(assertion.as_deref(), None) };
        let proof = dpop.begin_proof("POST", &self.url, None, now, &mut self.entropy);
        let bytes = proof.signing_input().to_vec();
        self.state = State::SigningProof { assertion, proof };
        Action::Sign { key: KeyUse::DpopProof, bytes }
    }

    fn send(&mut self, assertion: Option<&str>, proof: Option<String>) -> Action<Response> {
        let headers = [("content-type", FORM_TYPE), ("accept", "application/json")];
        let mut headers: Vec<(Cow<'static, str>, String)> =
            headers.map(|(name, value)| (name.into(), value.to_string())).into();
        headers.extend(proof.map(|proof| ("dpop".into(), proof)));
        let form = self.client.apply(self.form.clone(), &mut headers, assertion);
        self.secrets.extend(assertion.map(Secret::new));
        self.state = State::Sent;
        let body = Some(form.into_string().into_bytes());
        Action::Fetch(Request { step: self.step, url: self.url.clone(), headers, body })
    }

    fn receive(&mut self, response: Response, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &mut self.dpop else { return Action::Done(response) };
        let nonce = response.header("dpop-nonce").next();
        let has_new_nonce = nonce.is_some_and(|nonce| dpop.take_nonce(&self.url, nonce));
        let Some(refusal) = ProofRefusal::from_response(&response) else { return Action::Done(response) };
        let has_new_time = response.header("date").next().is_some_and(|date| dpop.take_date(&self.url, date, now));
        let is_other_proof = has_new_time || (has_new_nonce && refusal == ProofRefusal::Nonce);
        if is_other_proof && !mem::replace(&mut self.is_repeated, true) {
            self.begin(now)
        } else {
            Action::Done(response)
        }
    }
}

impl Flow for ClientRequest {
    type Output = Response;

    fn start(&mut self, now: UnixTime) -> Result<Action<Response>, Error> {
        match self.state {
            State::New if is_secure(&self.url) => Ok(self.begin(now)),
            State::New => {
                let reason = "the endpoint is not an https URL";
                Err(Error::new(ErrorKind::Misconfigured, self.step, reason).at(&self.url))
            }
            _ => Err(Error::misuse(self.step)),
        }
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<Response>, Error> {
        match (mem::replace(&mut self.state, State::Finished), input) {
            (State::SigningAssertion(input), Input::Signature(signature)) => {
                Ok(self.prove(Some(jose::with_signature(&input, &signature)), now))
            }
            (State::SigningProof { assertion, proof }, Input::Signature(signature)) => {
                Ok(self.send(assertion.as_deref(), Some(proof.finish(&signature))))
            }
            (State::Sent, Input::Response(response)) => Ok(self.receive(response, now)),
            (State::Sent, Input::FetchFailed(error)) => Err(token_response::fetch_failed(error, self.step, &self.url)),
            _ => Err(Error::misuse(self.step)),
        }
    }
}

impl fmt::Debug for ClientRequest {
    /// Omits the form, because it contains secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequest").field("step", &self.step).field("url", &self.url).finish_non_exhaustive()
    }
}
