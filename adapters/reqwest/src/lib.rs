//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `reqwest`; its API may change in any release.
//!
//! [`ReqwestClient`] sends the HTTP requests of mcpwire's clients with [reqwest], for programs that already use it.
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_driver::ConnectOptions; pub mod http { pub use mcpwire_driver::http::HttpOptions; } pub
//! # mod reqwest { pub use mcpwire_reqwest::ReqwestClient; } }
//! use mcpwire::ConnectOptions;
//! use mcpwire::http::HttpOptions;
//! use mcpwire::reqwest::ReqwestClient;
//!
//! # fn run() -> Result<(), reqwest::Error> {
//! let http = HttpOptions::default().client(ReqwestClient::from_builder(reqwest::Client::builder())?);
//! let options = ConnectOptions::default().http(http);
//! # Ok(())
//! # }
//! ```
//!
//! * Requests need a tokio runtime. On other runtimes, they fail with an error that says this.
//! * The client follows redirects to the same origin only, so that headers and tokens never reach another origin
//!   ([`ReqwestClient::from_builder`]).
//! * Do not set [`reqwest::ClientBuilder::timeout`] or `read_timeout`, because these timeouts also end event streams. mcpwire has
//!   its own timeouts.
//! * reqwest does not tell a failed TLS handshake from any other failed connection. Both fail with
//!   [`Unreachable`](FailureKind::Unreachable).
//! * The client does not apply the settings `unix_socket`, `proxy`, `ca_file`, `client_certificate` and `client_key` of a
//!   server's definition. If the definition contains one of them, the connection fails. Configure the `ClientBuilder` instead.
//! * Some requests must go to public addresses only ([`Exchange::public_addresses_only`]). This crate resolves and checks the
//!   host of such a request, and then reqwest resolves the host again. A DNS server that answers differently the second time is
//!   not noticed. `mcpwire::http::Client` checks the address to which it connects.
//! * A user agent that the `ClientBuilder` sets ([`reqwest::ClientBuilder::user_agent`]) is sent, unless the definition of the
//!   server contains that header. Without either, requests carry the name of the program
//!   ([`ConnectOptions::client_info`](mcpwire_driver::ConnectOptions::client_info)).
//! * reqwest does not limit the data that a server sends outside of responses. `mcpwire::http::Client` does.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use bytes::Bytes;
use mcpwire_driver::http::{
    HttpClient, HttpResponse, MAX_REDIRECTS, ResponseFuture, error_chain, is_public_address, is_secret_header,
    redirect_target,
};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind, Verb};
use reqwest::header::{HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Request, Url};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::body::BodyReader;

/// An HTTP client of mcpwire that sends requests with a
/// [`reqwest::Client`](https://docs.rs/reqwest/latest/reqwest/struct.Client.html). Clones share its connections.
#[derive(Clone)]
pub struct ReqwestClient {
    client: Client,
    has_user_agent: bool,
}

impl ReqwestClient {
    /// Builds a client. Replaces the redirect policy of the builder, because mcpwire itself follows redirects, to the same origin
    /// only.
    ///
    /// # Errors
    /// If reqwest cannot build the client, for example because TLS cannot be set up.
    pub fn from_builder(builder: ClientBuilder) -> reqwest::Result<Self> {
        Ok(Self::without_redirects(builder.redirect(Policy::none()).build()?))
    }

    /// Wraps an existing client, which must have been built with the redirect policy
    /// [`Policy::none`](https://docs.rs/reqwest/latest/reqwest/redirect/struct.Policy.html#method.none).
    ///
    /// A client with another policy sends request headers to other origins, except for `Authorization` and cookies. This function
    /// cannot check the policy, because reqwest does not expose it. If reqwest has followed a redirect, the request fails with
    /// [`FailureKind::Redirect`], but the other origin has already received the headers.
    pub fn without_redirects(client: Client) -> Self {
        ReqwestClient { has_user_agent: has_user_agent(&client), client }
    }
}

impl HttpClient for ReqwestClient {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let client = self.client.clone();
        Box::pin(async move {
            let mut exchange = exchange;
            let body = Bytes::from(std::mem::take(&mut exchange.body));
            send(&client, &exchange, body).await
        })
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        let client = self.client.clone();
        Box::pin(async move {
            let body = SharedBody(Arc::clone(&exchange));
            send(&client, &exchange, Bytes::from_owner(body)).await
        })
    }

    fn has_user_agent(&self) -> bool {
        self.has_user_agent
    }
}

/// Shares the body of a request with its caller, which may send the request again. This saves a copy of the body.
struct SharedBody(Arc<Exchange>);

impl AsRef<[u8]> for SharedBody {
    fn as_ref(&self) -> &[u8] {
        &self.0.body
    }
}

/// Sends the request `exchange` with this body. Follows redirects to the same origin, if the exchange allows redirects.
async fn send(client: &Client, exchange: &Exchange, body: Bytes) -> Result<HttpResponse, Failure> {
    if Handle::try_current().is_err() {
        return Err(not_made("reqwest needs a tokio runtime, and this task runs on another one".into()));
    }
    let Exchange { verb, uri, headers, follow_redirects, public_addresses_only, .. } = exchange;
    let mut url = Cow::Borrowed(&**uri);
    for _ in 0..=MAX_REDIRECTS {
        let request = build_request(*verb, &url, headers, body.clone())?;
        let target = request.url().clone();
        if *public_addresses_only {
            check_public(&target).await?;
        }
        let response = client.execute(request).await.map_err(send_failure)?;
        if *response.url() != target {
            let detail = "reqwest has followed a redirect. Create the client with `ReqwestClient::from_builder`";
            return Err(Failure::new(FailureKind::Redirect, detail));
        }
        if !follow_redirects {
            return Ok(into_http_response(response));
        }
        let location = response.headers().get(LOCATION).map_or(&[][..], HeaderValue::as_bytes);
        match redirect_target(*verb, &url, response.status().as_u16(), location)? {
            None => return Ok(into_http_response(response)),
            Some(target) => url = Cow::Owned(target),
        }
    }
    Err(Failure::new(FailureKind::Redirect, format!("more than {MAX_REDIRECTS} times in a row")))
}

fn build_request(
    verb: Verb,
    url: &str,
    headers: &[(impl AsRef<str>, String)],
    body: Bytes,
) -> Result<Request, Failure> {
    let method = match verb {
        Verb::Get => Method::GET,
        Verb::Delete => Method::DELETE,
        _ => Method::POST,
    };
    let url = Url::parse(url).map_err(|error| not_made(format!("invalid URL: {url}: {error}")))?;
    let mut request = Request::new(method, url);
    for (name, value) in headers {
        let name = name.as_ref();
        let invalid = || not_made(format!("invalid header `{name}`"));
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid())?;
        // Keeps the value out of logs, and out of the compression table of HTTP/2.
        value.set_sensitive(is_secret_header(name));
        request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value);
    }
    if verb == Verb::Post {
        *request.body_mut() = Some(body.into());
    }
    Ok(request)
}

fn into_http_response(response: reqwest::Response) -> HttpResponse {
    let (head, body) = http::Response::from(response).into_parts();
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect();
    HttpResponse::new(head.status.as_u16(), headers, BodyReader::new(body))
}

fn send_failure(error: reqwest::Error) -> Failure {
    // Omits the URL, because its query may contain a secret.
    let error = error.without_url();
    let kind = if error.is_builder() {
        FailureKind::NotMade
    } else if error.is_connect() {
        FailureKind::Unreachable
    } else if body::is_invalid_http(&error) {
        FailureKind::Invalid
    } else {
        FailureKind::Broken
    };
    Failure::new(kind, error_chain(&error))
}

fn not_made(detail: String) -> Failure {
    Failure::new(FailureKind::NotMade, detail)
}

/// Returns an error if the host of the URL has an address of this machine, of a private network, or in a reserved range.
///
/// Accepts a host that cannot be resolved. A proxy may be able to resolve it, or else reqwest reports the error.
async fn check_public(url: &Url) -> Result<(), Failure> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let addresses = match host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => spawn_blocking(move || resolve(&host)).await.unwrap_or_default(),
    };
    match addresses.into_iter().find(|address| !is_public_address(*address)) {
        Some(address) => Err(not_made(format!("{address} is an address of this machine or of a private network"))),
        None => Ok(()),
    }
}

fn resolve(host: &str) -> Vec<IpAddr> {
    (host, 0).to_socket_addrs().map(|addresses| addresses.map(|address| address.ip()).collect()).unwrap_or_default()
}

/// The name of the header in the `Debug` output of a reqwest client.
const USER_AGENT: &[u8] = b"\"user-agent\"";

/// Returns whether the program has built this reqwest client with a user agent.
///
/// reqwest has no function for this, but the `Debug` output of a client contains its default headers. The output is searched
/// while it is written and never stored, because it may contain secrets.
fn has_user_agent(client: &Client) -> bool {
    let mut finder = Finder { matched: 0 };
    let _ = write!(finder, "{client:?}");
    finder.matched == USER_AGENT.len()
}

/// A writer that searches the text that is written to it for [`USER_AGENT`].
struct Finder {
    /// Number of bytes at the start of [`USER_AGENT`] that the last written bytes match. Remains the length of [`USER_AGENT`]
    /// after a match.
    matched: usize,
}

impl Write for Finder {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match USER_AGENT.get(self.matched) {
                Some(expected) if *expected == byte => self.matched += 1,
                // A mismatch can only restart the match at the first byte, because this byte (`"`) occurs only at the start and
                // end of `USER_AGENT`.
                Some(_) => self.matched = usize::from(byte == USER_AGENT[0]),
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ReqwestClient {
    /// Omits the `reqwest::Client`, because its default headers may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestClient").finish_non_exhaustive()
    }
}

/// Tests of the requests that the client builds. The workspace's `tests` test complete connections.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_of_the_protocol_are_shown() {
        let headers = [
            ("Authorization", "Bearer s3cret".to_owned()),
            ("X-Api-Key", "s3cret".to_owned()),
            ("Mcp-Session-Id", "s3cret".to_owned()),
            ("Mcp-Method", "tools/call".to_owned()),
        ];
        let request =
            build_request(Verb::Post, "https://example.com/mcp", &headers, Bytes::from_static(b"{}")).unwrap();
        let shown = format!("{request:?}");
        assert!(!shown.contains("s3cret") && shown.contains("tools/call"), "{shown}");
        assert_eq!(request.headers()["x-api-key"], "s3cret");
        let mut defaults = reqwest::header::HeaderMap::new();
        defaults.insert("x-api-key", HeaderValue::from_static("s3cret"));
        let client = ReqwestClient::from_builder(Client::builder().default_headers(defaults)).unwrap();
        assert!(!format!("{client:?}").contains("s3cret"));
    }

    #[test]
    fn invalid_requests_are_not_sent() {
        let header = |name: &'static str, value: &str| [(name, value.to_owned())];
        for (url, headers) in
            [("mcp", header("A", "b")), ("http://x/", header("A b", "c")), ("http://x/", header("A", "s3cret\n"))]
        {
            let failure = build_request(Verb::Get, url, &headers, Bytes::new()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::NotMade);
            assert!(!failure.to_string().contains("s3cret"), "{failure}");
        }
    }

    #[tokio::test]
    async fn private_addresses_are_refused_for_requests_that_must_go_to_public_ones() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = ReqwestClient::from_builder(Client::builder().no_proxy()).unwrap();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254"] {
            let mut request = Exchange::new(Verb::Get, format!("http://{host}:{port}/"));
            request.public_addresses_only = true;
            let failure = client.send_shared(Arc::new(request)).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::NotMade, "{failure}");
            assert!(failure.detail.contains("of this machine or of a private network"), "{failure}");
        }
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "nothing was connected");
    }

    #[test]
    fn a_user_agent_of_the_program_is_found() {
        let has = |builder: ClientBuilder| ReqwestClient::from_builder(builder).unwrap().has_user_agent();
        assert!(!has(Client::builder()));
        assert!(has(Client::builder().user_agent("my-app/1.0")));
        let header = |name: &'static str, value| {
            let mut headers = reqwest::header::HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            Client::builder().default_headers(headers)
        };
        assert!(has(header("user-agent", "my-app/1.0")));
        assert!(!has(header("x-agent", r#"my "user-agent" is another header"#)));
    }
}
