//! [`Client`]: sends HTTP requests on pooled connections, and follows redirects.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{LOCATION, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use mcpwire_driver::HttpSetupError;
use mcpwire_driver::http::{
    DefinitionSetting, HttpClient, HttpResponse, MAX_REDIRECTS, Net, ResponseFuture, is_secret_header, redirect_target,
};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind, Verb};

use crate::connect::{Connector, not_made};
use crate::connection::FullBody;
use crate::options::ClientOptions;
use crate::pool::{BodyReader, Pool};
use crate::proxy::Proxies;
use crate::tls::Tls;

/// Maximum number of requests in flight on an HTTP/2 connection. 1,024: most servers have a lower limit (100 to 250), at which
/// hyper lets further requests wait.
const MAX_HTTP2_REQUESTS: usize = 1024;

/// Minimum of [`ClientOptions::max_head`], in bytes. 8 KiB: hyper does not accept a smaller buffer.
const MIN_HEAD: usize = 8 * 1024;

/// An HTTP client for any runtime. It reuses connections, and uses HTTP/2 if the server supports it.
pub struct Client {
    pool: Arc<Pool>,
}

impl Client {
    /// Creates a client for this runtime. If the options contain no proxy and no Unix socket, reads the proxy variables of the
    /// environment, such as `HTTPS_PROXY`.
    ///
    /// # Errors
    /// If a certificate or key of the options is invalid or cannot be read.
    pub fn new(net: Arc<dyn Net>, mut options: ClientOptions) -> Result<Self, HttpSetupError> {
        options.max_head = options.max_head.max(MIN_HEAD);
        let proxies = match options.unix_socket {
            Some(_) => Proxies::none(),
            None => Proxies::new(options.proxy.clone()),
        };
        let tls = Tls::new(&options.tls).map_err(HttpSetupError::Client)?;
        let clock = net.clock();
        Ok(Client { pool: Arc::new(Pool::new(Connector { net, clock, proxies, tls, options })) })
    }
}

impl HttpClient for Client {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        self.send_shared(Arc::new(exchange))
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        let pool = Arc::clone(&self.pool);
        Box::pin(async move {
            let body = SharedBody(Arc::clone(&exchange));
            send(&pool, &exchange, Bytes::from_owner(body)).await
        })
    }

    fn capacity(&self) -> usize {
        if self.pool.is_http2() { MAX_HTTP2_REQUESTS } else { self.pool.connector.options.max_connections }
    }

    fn applies(&self, setting: DefinitionSetting<'_>) -> bool {
        self.pool.connector.options.contain(setting)
    }
}

/// Sends the request `exchange` with this body. Follows redirects to the same origin, if the exchange allows redirects.
async fn send(pool: &Arc<Pool>, exchange: &Exchange, body: Bytes) -> Result<HttpResponse, Failure> {
    let Exchange { verb, uri, headers, follow_redirects, public_addresses_only, .. } = exchange;
    let mut url = Cow::Borrowed(&**uri);
    for _ in 0..=MAX_REDIRECTS {
        let uri: Uri = url.parse().map_err(|error| not_made(format!("invalid URL: {url}: {error}")))?;
        let proxy_authorization = pool.connector.proxies.authorization(&uri);
        let mut request = request(*verb, uri, headers, body.clone())?;
        request.headers_mut().extend(proxy_authorization.map(|value| (PROXY_AUTHORIZATION, value)));
        let response = pool.send(request, *public_addresses_only).await?;
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

fn request(
    verb: Verb,
    uri: Uri,
    headers: &[(impl AsRef<str>, String)],
    body: Bytes,
) -> Result<Request<FullBody>, Failure> {
    let mut request = Request::new(FullBody(body));
    *request.uri_mut() = uri;
    *request.method_mut() = match verb {
        Verb::Get => Method::GET,
        Verb::Delete => Method::DELETE,
        _ => Method::POST,
    };
    for (name, value) in headers {
        let name = name.as_ref();
        let invalid = || not_made(format!("invalid header `{name}`"));
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid())?;
        // Keeps the value out of the compression table of HTTP/2, because an attacker could guess it from the sizes of requests.
        value.set_sensitive(is_secret_header(name));
        request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value);
    }
    Ok(request)
}

/// Shares the body of a request with its caller, which may send the request again. This saves a copy of the body.
struct SharedBody(Arc<Exchange>);

impl AsRef<[u8]> for SharedBody {
    fn as_ref(&self) -> &[u8] {
        &self.0.body
    }
}

fn into_http_response(response: Response<BodyReader>) -> HttpResponse {
    let (head, body) = response.into_parts();
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect();
    HttpResponse::new(head.status.as_u16(), headers, body)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("max_connections", &self.pool.connector.options.max_connections)
            .finish_non_exhaustive()
    }
}
