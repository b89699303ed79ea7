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

mod address;
mod body;
#[cfg(test)]
mod tests;
mod user_agent;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use mcpwire_driver::http::{
    HttpClient, HttpResponse, MAX_REDIRECTS, ResponseFuture, error_chain, is_secret_header, redirect_target,
};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind, Verb};
use reqwest::header::{HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Request, Url};
use tokio::runtime::Handle;

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
        ReqwestClient { has_user_agent: user_agent::is_set(&client), client }
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
            address::check_public(&target).await?;
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

impl fmt::Debug for ReqwestClient {
    /// Omits the `reqwest::Client`, because its default headers may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestClient").finish_non_exhaustive()
    }
}
