//! [`FlowRunner`]: sends the requests and creates the signatures that the state machines of `mcpwire-oauth` ask for.

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_driver::Runtime;
use mcpwire_driver::http::{HttpClient, HttpResponse};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind, Verb};
use mcpwire_oauth::{Action, Error, FetchError, Flow, Input, KeyUse, Request, Response, UnixTime};
use mcpwire_text::url::host;
use zeroize::Zeroizing;

use crate::signing_key::Signer;

/// Maximum time for one request to an authorization server, with its response. 30 s: some authorization servers ask other systems
/// before they answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The private keys that a flow signs with.
#[derive(Clone, Default)]
pub struct FlowKeys {
    /// The key by which the client authenticates (`private_key_jwt`).
    pub client: Option<Arc<dyn Signer>>,
    /// The key to which access tokens are bound (DPoP).
    pub dpop: Option<Arc<dyn Signer>>,
}

impl FlowKeys {
    /// Signs `bytes` with the key for this use. Fails if the program has set no such key.
    pub(crate) fn sign(&self, key: KeyUse, bytes: &[u8]) -> Result<Input, Error> {
        let (key, missing) = match key {
            KeyUse::ClientAssertion => {
                (&self.client, "the client authenticates with a key, and the program has set none")
            }
            _ => (&self.dpop, "the token is bound to a key, and the program has set none"),
        };
        let key = key.as_ref().ok_or_else(|| Error::misconfigured(missing))?;
        key.sign(bytes).map(Input::Signature).map_err(|error| Error::signing_failed(error.to_string()))
    }
}

impl fmt::Debug for FlowKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowKeys").field("client", &self.client.is_some()).field("dpop", &self.dpop.is_some()).finish()
    }
}

/// Runs [`Flow`]s, the state machines of `mcpwire-oauth`: sends their requests and signs with their keys.
#[derive(Clone)]
pub struct FlowRunner {
    runtime: Arc<dyn Runtime>,
    client: Arc<dyn HttpClient>,
    /// Why all requests fail without being sent. `None` if requests are sent.
    refusal: Option<Arc<str>>,
    /// The URL of the MCP server. Empty if the flows are for no server.
    server_url: Arc<str>,
    allows_private_addresses: bool,
}

impl FlowRunner {
    /// Creates a runner. The HTTP client must obey [`Exchange::follow_redirects`] and [`Exchange::public_addresses_only`], as the
    /// clients of the runtimes do.
    pub fn new(runtime: Arc<dyn Runtime>, client: Arc<dyn HttpClient>) -> Self {
        FlowRunner { runtime, client, refusal: None, server_url: "".into(), allows_private_addresses: false }
    }

    mcpwire_text::setters! {
        /// Allows requests to the host of this MCP server even if its address is private, and to this machine if the server runs
        /// on it.
        fn server_url(url: &str) => server_url = url.into();

        /// Sets whether requests may go to loopback, private and link-local addresses. Default: `false`.
        fn allow_private_addresses(allowed: bool) => allows_private_addresses = allowed;
    }

    /// Makes all requests fail with this reason, without sending them. `None`, the default, lets them be sent.
    pub(crate) fn refuse_requests(mut self, reason: Option<String>) -> Self {
        self.refusal = reason.map(Arc::from);
        self
    }

    /// Runs a flow to its end. Each request may take 30 s.
    pub async fn run<F: Flow>(&self, mut flow: F, keys: &FlowKeys) -> Result<F::Output, Error> {
        let mut action = flow.start(now(&*self.runtime))?;
        loop {
            let input = match action {
                Action::Done(output) => return Ok(output),
                Action::Fetch(request) => self.fetch_input(request).await,
                Action::Sign { key, bytes } => keys.sign(key, &bytes)?,
            };
            action = flow.resume(input, now(&*self.runtime))?;
        }
    }

    /// Sends a request, and returns the response as the input of a flow.
    pub(crate) async fn fetch_input(&self, request: Request) -> Input {
        let response = within(&*self.runtime, REQUEST_TIMEOUT, self.fetch(request)).await.unwrap_or_else(|| {
            Err(FetchError::Failed(format!("no complete response within {} seconds", REQUEST_TIMEOUT.as_secs())))
        });
        response.map_or_else(Input::FetchFailed, Input::Response)
    }

    /// Sends a request, and reads the whole response.
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let verb = if request.body.is_some() { Verb::Post } else { Verb::Get };
        let mut exchange = Exchange::new(verb, request.url);
        let is_public_only = !self.allows_private_addresses && !may_be_private(&exchange.uri, &self.server_url);
        exchange.public_addresses_only = is_public_only;
        exchange.headers = request.headers;
        exchange.body = request.body.unwrap_or_default();
        if let Some(reason) = &self.refusal {
            return Err(FetchError::NotSent(reason.to_string()));
        }
        let sent = self.client.send(exchange).await.map_err(|failure| fetch_error(failure, is_public_only));
        let HttpResponse { status, headers, mut body, .. } = sent?;
        let headers = headers.into_iter().map(|(mut name, value)| {
            name.make_ascii_lowercase();
            (name, String::from_utf8_lossy(&value).into_owned())
        });
        let headers = headers.collect();
        // The buffer never grows: that would leave copies of the tokens in memory. Both buffers are erased when they are dropped.
        let mut text = Zeroizing::new(Vec::with_capacity(Request::MAX_RESPONSE));
        let mut buffer = Zeroizing::new([0; 4096]);
        loop {
            match poll_fn(|cx| body.as_mut().poll_read(cx, &mut *buffer)).await {
                Ok(0) => return Ok(Response { status, headers, body: mem::take(&mut *text) }),
                Ok(count) if text.len() + count > Request::MAX_RESPONSE => return Err(FetchError::TooLarge),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(error) => return Err(FetchError::Failed(error.to_string())),
            }
        }
    }
}

/// Converts the failure of a request. `is_public_only` says whether the client had to refuse private addresses.
fn fetch_error(failure: Failure, is_public_only: bool) -> FetchError {
    match failure.kind {
        FailureKind::NotMade if is_public_only => FetchError::Refused(failure.detail),
        FailureKind::NotMade | FailureKind::Unauthorized => FetchError::NotSent(failure.detail),
        _ => FetchError::Failed(failure.to_string()),
    }
}

/// Returns the time by the runtime's clock.
pub(crate) fn now(runtime: &dyn Runtime) -> UnixTime {
    UnixTime::from_secs(runtime.unix_time().as_secs())
}

/// Waits for a future, at most for the time `limit`. Returns `None` if the future has not resolved by then.
pub(crate) async fn within<F: Future>(runtime: &dyn Runtime, limit: Duration, future: F) -> Option<F::Output> {
    let mut timer = runtime.timer();
    timer.reset(limit);
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.poll(cx).map(|()| None),
    })
    .await
}

impl fmt::Debug for FlowRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRunner").finish_non_exhaustive()
    }
}

/// Returns whether the host of a URL may have a loopback, private or link-local address: it is the host of the MCP server, or
/// this machine if the server runs on it.
///
/// An MCP server chooses the URLs of its authorization server, so it could make the client send requests to hosts in the user's
/// network. The URL of the MCP server itself was chosen by the user (security best practices, "SSRF").
fn may_be_private(url: &str, server_url: &str) -> bool {
    host(server_url).zip(host(url)).is_some_and(|(server, asked)| {
        server.eq_ignore_ascii_case(asked) || (is_loopback(server) && is_loopback(asked))
    })
}

fn is_loopback(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None => {
            host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(server: &str, url: &str) -> bool {
        may_be_private(url, server)
    }

    #[test]
    fn b3_only_hosts_that_the_user_has_chosen_may_be_private() {
        let local = "http://127.0.0.1:3000/mcp";
        for url in ["http://127.0.0.1:4000/token", "https://localhost/x", "http://[::1]:9/", "http://127.9.9.9"] {
            assert!(allows(local, url), "{url}");
            assert!(!allows("https://mcp.example.com/mcp", url), "{url}");
        }
        assert!(!allows(local, "http://10.0.0.1/"));
        assert!(!allows(local, "http://169.254.169.254/latest/meta-data"));
        let intranet = "https://mcp.corp.example/mcp";
        assert!(allows(intranet, "https://MCP.corp.example:8443/.well-known/oauth-protected-resource"));
        assert!(!allows(intranet, "https://auth.corp.example/"));
        assert!(!allows(intranet, "https://mcp.corp.example.evil.example/"));
        assert!(!allows(intranet, "https://mcp.corp.example@10.0.0.1/"));
        assert!(!allows("", local), "there is no server");
    }
}
