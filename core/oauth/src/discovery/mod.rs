//! [`Discovery`]: finds the authorization server of an MCP server (basic/authorization/authorization-server-discovery).

mod metadata;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::mem;

use mcpwire_text::url::same_origin;
use serde::{Deserialize, Serialize};

pub use metadata::{AuthorizationServerMetadata, ProtectedResourceMetadata};

use metadata::{is_issuer, read_resource, read_server, resource_places, server_places};

use crate::error::quoted;
use crate::token_response::fetch_failed;
use crate::url::{canonical_resource, is_secure, origin};
use crate::{
    Action, BearerChallenge, Error, ErrorKind, FetchError, Flow, Input, OAuthSettings, Request, Response, Step,
    UnixTime,
};

/// Maximum number of authorization servers that are tried for one MCP server. Further ones in its metadata are ignored.
const MAX_SERVERS: usize = 8;

/// An MCP server and its authorization server, as found by [`Discovery`].
///
/// The program can store this value. Discover again if a challenge names another metadata URL, or if a request to the
/// authorization server fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Discovered {
    /// The URL of the MCP server, as it was passed to [`Discovery::new`].
    pub server_url: String,
    /// The resource for which tokens are requested: the `resource` of the server's metadata, or else the canonical URI
    /// of the server.
    pub resource: String,
    /// The metadata of the MCP server. `None` for a server of protocol revision 2025-03-26, which has none.
    pub resource_metadata: Option<ProtectedResourceMetadata>,
    /// The metadata of the authorization server, which issues the tokens for the MCP server.
    pub metadata: AuthorizationServerMetadata,
}

impl Discovered {
    /// Returns whether neither the MCP server nor the authorization server published metadata. The endpoints are then
    /// the default paths of protocol revision 2025-03-26.
    pub fn is_assumed(&self) -> bool {
        self.resource_metadata.is_none() && self.metadata == AuthorizationServerMetadata::assumed(&self.metadata.issuer)
    }
}

/// The flow that finds the authorization server of an MCP server.
///
/// The flow reads the metadata of the MCP server, from the URL in the challenge or from the well-known URLs. It then
/// reads the metadata of each authorization server that is named there, and takes the first that can be used. An MCP
/// server without metadata counts as a server of protocol revision 2025-03-26, which is its own authorization server.
#[derive(Debug)]
pub struct Discovery {
    server_url: String,
    settings: OAuthSettings,
    preferred_issuer: Option<String>,
    challenged: Option<String>,
    state: State,
}

#[derive(Debug)]
enum State {
    New,
    Resource(Search),
    Server(ServerSearch),
    Ended,
}

/// The search for the first authorization server with usable metadata.
#[derive(Debug)]
struct ServerSearch {
    resource: Option<ProtectedResourceMetadata>,
    /// The issuer whose metadata is being requested.
    issuer: String,
    search: Search,
    remaining: vec::IntoIter<String>,
    /// Whether the issuer is the origin of the MCP server, as protocol revision 2025-03-26 assumes. It may have no
    /// metadata.
    is_assumed: bool,
}

impl Discovery {
    /// Creates a flow for the MCP server at `server_url`. `challenge` is the challenge of the refused request, or
    /// `None` if no request was refused.
    pub fn new(server_url: &str, challenge: Option<&BearerChallenge>, settings: &OAuthSettings) -> Self {
        Discovery {
            server_url: server_url.to_string(),
            settings: settings.clone(),
            preferred_issuer: settings.client_issuer.clone(),
            challenged: challenge.and_then(|challenge| challenge.resource_metadata.clone()),
            state: State::New,
        }
    }

    /// Sets the authorization server to try first, for example the issuer of a stored token. Has no effect if the MCP
    /// server does not name it.
    pub fn prefer_issuer(mut self, issuer: &str) -> Self {
        self.preferred_issuer = Some(issuer.to_string());
        self
    }

    fn resource_found(&mut self, resource: Option<ProtectedResourceMetadata>) -> Result<Action<Discovered>, Error> {
        let mut issuers = resource.as_ref().map(|found| found.authorization_servers.clone()).unwrap_or_default();
        let is_assumed = issuers.is_empty();
        if is_assumed {
            issuers.extend(origin(&self.server_url).map(ToString::to_string));
        }
        if let Some(preferred) = issuers.iter().position(|issuer| Some(issuer) == self.preferred_issuer.as_ref()) {
            issuers[..=preferred].rotate_right(1);
        }
        issuers.truncate(MAX_SERVERS);
        let search = ServerSearch {
            resource,
            issuer: String::new(),
            search: Search::new(Step::ServerMetadata, Vec::new()),
            remaining: issuers.into_iter(),
            is_assumed,
        };
        self.next_server(search)
    }

    fn next_server(&mut self, mut search: ServerSearch) -> Result<Action<Discovered>, Error> {
        loop {
            if let Some(request) = search.search.next() {
                self.state = State::Server(search);
                return Ok(Action::Fetch(request));
            }
            let Some(issuer) = search.remaining.next() else {
                if !search.is_assumed || !search.search.is_all_missing() {
                    return Err(search.search.into_error());
                }
                let metadata = AuthorizationServerMetadata::assumed(&search.issuer);
                return Ok(Action::Done(self.discovered(search.resource, metadata)));
            };
            if is_issuer(&issuer, &self.server_url) {
                search.search.extend(server_places(&issuer));
            } else {
                let issuer = quoted(&issuer);
                let reason = format!("the issuer `{issuer}` is not an https URL without query and fragment");
                search.search.failed(Error::new(ErrorKind::Untrusted, Step::ServerMetadata, reason));
            }
            search.issuer = issuer;
        }
    }

    fn discovered(
        &self,
        resource_metadata: Option<ProtectedResourceMetadata>,
        metadata: AuthorizationServerMetadata,
    ) -> Discovered {
        let resource = match &resource_metadata {
            Some(document) => document.resource.clone(),
            None => canonical_resource(&self.server_url).unwrap_or_default(),
        };
        Discovered { server_url: self.server_url.clone(), resource, resource_metadata, metadata }
    }
}

impl Flow for Discovery {
    type Output = Discovered;

    fn start(&mut self, _now: UnixTime) -> Result<Action<Discovered>, Error> {
        if !matches!(self.state, State::New) {
            return Err(Error::misuse(Step::ResourceMetadata));
        }
        if !is_secure(&self.server_url) {
            let reason = "the URL of the server is not a plain https URL, so its tokens could be read on the way";
            return Err(Error::new(ErrorKind::Misconfigured, Step::ResourceMetadata, reason)
                .at(&self.server_url)
                .with_advice("use the https URL of the server; http is accepted only for servers on this machine"));
        }
        let places = resource_places(&self.server_url, self.challenged.as_deref());
        let mut search = Search::new(Step::ResourceMetadata, places);
        let Some(request) = search.next() else { return Err(search.into_error()) };
        self.state = State::Resource(search);
        Ok(Action::Fetch(request))
    }

    fn resume(&mut self, input: Input, _now: UnixTime) -> Result<Action<Discovered>, Error> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Resource(mut search) => {
                if let Some((body, url)) = search.receive(input)? {
                    match read_resource(&body, &url, &self.server_url)? {
                        Some(found) => match found.check_parent(&url, &self.server_url) {
                            // Another URL may have a metadata document that describes exactly this server.
                            Err(error) if !self.settings.accept_parent_resource => search.failed(error),
                            _ => return self.resource_found(Some(found)),
                        },
                        None => search.unreadable(&url),
                    }
                }
                if let Some(request) = search.next() {
                    self.state = State::Resource(search);
                    return Ok(Action::Fetch(request));
                }
                if search.is_all_missing() { self.resource_found(None) } else { Err(search.into_error()) }
            }
            State::Server(mut search) => {
                if let Some((body, url)) = search.search.receive(input)? {
                    let (is_guessed, is_lenient) = (search.is_assumed, self.settings.lenient_issuer);
                    match read_server(&body, &url, &search.issuer, is_guessed, is_lenient, &self.server_url) {
                        Ok(Some(metadata)) => return Ok(Action::Done(self.discovered(search.resource, metadata))),
                        Ok(None) => search.search.unreadable(&url),
                        Err(error) => search.search.failed(error),
                    }
                }
                self.next_server(search)
            }
            State::New | State::Ended => Err(Error::misuse(Step::ResourceMetadata)),
        }
    }
}

/// The URLs at which a metadata document may be, and the most important error of the requests so far.
#[derive(Debug)]
struct Search {
    step: Step,
    asked: String,
    remaining: vec::IntoIter<String>,
    /// URLs whose server could not be reached. Further URLs of the same origins are skipped.
    unreachable: Vec<String>,
    failure: Option<Error>,
}

impl Search {
    fn new(step: Step, places: Vec<String>) -> Self {
        Search { step, asked: String::new(), remaining: places.into_iter(), unreachable: Vec::new(), failure: None }
    }

    /// Replaces the URLs that remain to be tried. The errors so far stay.
    fn extend(&mut self, places: Vec<String>) {
        self.remaining = places.into_iter();
    }

    /// Returns the request for the next URL, or `None` if no URL is left. URLs of unreachable origins are skipped.
    fn next(&mut self) -> Option<Request> {
        let unreachable = &self.unreachable;
        self.asked = self.remaining.find(|place| !unreachable.iter().any(|other| same_origin(place, other)))?;
        Some(Request::get(self.step, &self.asked))
    }

    /// Handles the result of a request. Returns the document and its URL, or `None` if the request returned no
    /// document.
    fn receive(&mut self, input: Input) -> Result<Option<(Vec<u8>, String)>, Error> {
        let error = |kind, reason: String| Error::new(kind, self.step, reason).at(&self.asked);
        let failure = match input {
            Input::Response(mut response) if response.status == 200 && response.body.len() <= Request::MAX_RESPONSE => {
                return Ok(Some((mem::take(&mut response.body), self.asked.clone())));
            }
            Input::Response(Response { status: 200, .. }) | Input::FetchFailed(FetchError::TooLarge) => {
                error(ErrorKind::Misconfigured, format!("it is larger than {} bytes", Request::MAX_RESPONSE))
            }
            Input::Response(response) => {
                let (kind, reason) = match response.status {
                    300..400 => (ErrorKind::Misconfigured, "the server redirects, which is not followed"),
                    429 | 500.. => (ErrorKind::Temporary, "the server cannot answer now"),
                    _ => (ErrorKind::Misconfigured, "it was not found"),
                };
                error(kind, reason.to_string()).with_status(response.status)
            }
            Input::FetchFailed(failure) => {
                self.unreachable.push(self.asked.clone());
                let is_temporary = matches!(failure, FetchError::Failed(_));
                let kind = if is_temporary { ErrorKind::Temporary } else { ErrorKind::Untrusted };
                fetch_failed(failure, self.step, &self.asked).with_kind(kind)
            }
            Input::Signature(_) => return Err(Error::misuse(self.step)),
        };
        self.failed(failure);
        Ok(None)
    }

    /// Records that the response from `url` is not a metadata document.
    fn unreadable(&mut self, url: &str) {
        self.failed(Error::new(ErrorKind::Misconfigured, self.step, "the response is not a metadata document").at(url));
    }

    /// Records an error, and keeps only the most important one. Errors that may be an attack are most important, then
    /// temporary errors, then all others. Of equally important errors, the first is kept.
    fn failed(&mut self, error: Error) {
        let rank = |error: &Error| match error.kind() {
            ErrorKind::Untrusted => 2,
            ErrorKind::Temporary => 1,
            _ => 0,
        };
        if self.failure.as_ref().is_none_or(|before| rank(&error) > rank(before)) {
            self.failure = Some(error);
        }
    }

    /// Returns whether the document does not exist: all servers could be asked, and no document was refused as
    /// untrusted.
    fn is_all_missing(&self) -> bool {
        self.failure.as_ref().is_none_or(|failure| failure.kind() == ErrorKind::Misconfigured)
    }

    /// Returns the most important error of all requests.
    fn into_error(self) -> Error {
        self.failure
            .unwrap_or_else(|| Error::new(ErrorKind::Misconfigured, self.step, "there is no place to ask for it"))
    }
}
