//! Common parts of the tests: scripted responses, fake signatures, functions that read requests, and simulated servers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use std::collections::BTreeMap;

use crate::encoding;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, FetchError, Flow, Input, KeyUse, OAuthSettings,
    PublicKey, Request, Response, Scopes, Secret, Step, StoredToken, TokenEndpoint, TokenResponse, TokenType, UnixTime,
};

pub(crate) const ISSUER: &str = "https://auth.example.com";
pub(crate) const TOKEN_URL: &str = "https://auth.example.com/token";
pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";

/// The redirect URI of [`settings`].
pub(crate) const REDIRECT: &str = "http://127.0.0.1:3000/callback";

pub(crate) const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

pub(crate) fn settings() -> OAuthSettings {
    OAuthSettings::new("Test", REDIRECT)
}

/// Returns the kind and the text of the error that a flow must fail with.
pub(crate) fn failure<T: core::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind(), error.to_string())
}

pub(crate) fn endpoint() -> TokenEndpoint {
    TokenEndpoint::new(ISSUER, TOKEN_URL)
}

pub(crate) fn public_client() -> ClientAuthentication {
    ClientAuthentication::public("client-1")
}

pub(crate) fn entropy() -> Entropy {
    Entropy::new([3; 32])
}

pub(crate) fn dpop() -> Dpop {
    Dpop::new(PublicKey::P256 { x: [1; 32], y: [2; 32] })
}

pub(crate) fn response(status: u16, body: &str) -> Response {
    Response { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
}

/// Adds a `DPoP-Nonce` header to a response.
pub(crate) fn with_nonce(mut response: Response, nonce: &str) -> Response {
    response.headers.push(("dpop-nonce".into(), nonce.into()));
    response
}

/// Returns the parameters of a form request. Panics if a parameter occurs twice.
pub(crate) fn parameters(request: &Request) -> BTreeMap<String, String> {
    let body = core::str::from_utf8(request.body.as_ref().expect("a POST request")).unwrap();
    let pairs: Vec<_> = encoding::decode(body).collect();
    let map: BTreeMap<_, _> = pairs.iter().cloned().collect();
    assert_eq!(map.len(), pairs.len(), "a parameter is there twice: {body}");
    map
}

/// Returns the pairs as a map, to compare it with the result of [`parameters`].
pub(crate) fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

pub(crate) fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let mut values = request.headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
    let first = values.next();
    assert_eq!(values.next(), None, "a header is there twice");
    first
}

/// Runs a flow until it ends. Signs with a fake signature, and passes each request to `server` for a response.
pub(crate) fn run<F: Flow>(
    flow: &mut F,
    now: UnixTime,
    mut server: impl FnMut(Request) -> Input,
) -> Result<F::Output, Error> {
    let mut action = flow.start(now)?;
    loop {
        let input = match action {
            Action::Done(output) => return Ok(output),
            Action::Sign { key, .. } => Input::Signature(signature(key).to_vec()),
            Action::Fetch(request) => server(request),
        };
        action = flow.resume(input, now)?;
    }
}

/// Returns a fake signature that shows which key was used.
pub(crate) const fn signature(key: KeyUse) -> [u8; 64] {
    match key {
        KeyUse::ClientAssertion => [1; 64],
        KeyUse::DpopProof => [2; 64],
    }
}

/// Returns a token response that contains only this access token.
pub(crate) fn issued(access_token: &str) -> TokenResponse {
    let body = serde_json::json!({ "access_token": access_token }).to_string();
    crate::token_response::read(&response(200, &body), Step::Token, TOKEN_URL, NOW).unwrap()
}

/// Returns a token with a refresh token and a lifetime of one hour, whose document has this generation.
pub(crate) fn stored(generation: u64) -> StoredToken {
    let mut response = issued(&std::format!("access-{generation}"));
    response.refresh_token = Some(Secret::new(std::format!("refresh-{generation}")));
    response.expires_at = Some(NOW + Duration::from_secs(3600));
    let mut token = StoredToken::new(endpoint(), RESOURCE, Some("client-1"), Scopes::new(), response, None);
    token.generation = generation;
    token
}

/// Returns a token like [`stored`] that is bound to the key of [`dpop`].
pub(crate) fn bound(generation: u64) -> StoredToken {
    let mut token = stored(generation);
    token.token_type = TokenType::Dpop;
    token.dpop_key = Some(dpop().key().thumbprint());
    token
}

/// Simulated servers with scripted responses by URL. All other URLs have the status 404. Requests are recorded in
/// `asked`.
#[derive(Default)]
pub(crate) struct Web {
    pages: Vec<(String, Page)>,
    pub(crate) asked: Vec<Request>,
}

enum Page {
    Response(Response),
    Failure(FetchError),
}

impl Web {
    pub(crate) fn new() -> Self {
        Web::default()
    }

    pub(crate) fn with(self, url: &str, body: &str) -> Self {
        self.with_status(url, 200, body)
    }

    pub(crate) fn with_status(mut self, url: &str, status: u16, body: &str) -> Self {
        let response = Response { status, headers: Vec::new(), body: body.into() };
        self.pages.push((url.to_string(), Page::Response(response)));
        self
    }

    pub(crate) fn with_failure(mut self, url: &str, failure: FetchError) -> Self {
        self.pages.push((url.to_string(), Page::Failure(failure)));
        self
    }

    /// Runs a flow until it ends, with the responses of these servers.
    pub(crate) fn drive<F: Flow>(&mut self, flow: &mut F) -> Result<F::Output, Error> {
        run(flow, NOW, |request| {
            let input = self.answer(&request);
            self.asked.push(request);
            input
        })
    }

    /// Returns the first response for the URL. If there are several, the response is removed, so that the next request
    /// gets the next one.
    fn answer(&mut self, request: &Request) -> Input {
        let mut same =
            self.pages.iter().enumerate().filter(|(_, (url, _))| *url == request.url).map(|(index, _)| index);
        let (first, second) = (same.next(), same.next());
        let Some(first) = first else {
            return Input::Response(Response { status: 404, headers: Vec::new(), body: b"not found".to_vec() });
        };
        let input = match &self.pages[first].1 {
            Page::Response(response) => Input::Response(response.clone()),
            Page::Failure(failure) => Input::FetchFailed(failure.clone()),
        };
        if second.is_some() {
            self.pages.remove(first);
        }
        input
    }

    pub(crate) fn asked_urls(&self) -> Vec<&str> {
        self.asked.iter().map(|request| request.url.as_str()).collect()
    }
}

/// Parses the body of a request as JSON.
pub(crate) fn json(request: &Request) -> serde_json::Value {
    serde_json::from_slice(request.body.as_ref().expect("a POST request")).unwrap()
}
