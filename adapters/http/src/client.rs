//! [`Client`]: makes the requests.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use mcpwire_driver::core::http::{Exchange, Failure, FailureKind, Verb};
use mcpwire_driver::http::{HttpClient, HttpResponse, Net, ResponseFuture};
use mcpwire_driver::{HttpSetupError, McpServerDef};

use crate::body::{Rest, Whole};
use crate::connect::Connector;
use crate::line::Lines;
use crate::pool::Pool;
use crate::proxy::Proxies;
use crate::redirect;
use crate::tls::Tls;

/// How many requests are under way over one HTTP/2 connection. 1,024: a server says itself how many it takes, mostly 100 to 250, and
/// what is more waits for that.
const STREAMS: usize = 1024;

/// The limits of a client. Make one with [`ClientOptions::default`] and change what is to be other.
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// How long looking up a host and connecting to it may take. 10 s by default: packets that are lost twice are sent again
    /// by then.
    pub connect_timeout: Duration,
    /// How long the handshakes with a proxy and of TLS may take. 10 s by default.
    pub handshake_timeout: Duration,
    /// How many connections by HTTP/1.1 carry requests at the same time, and how many are kept that carry none. 64 by default.
    /// Streams that are meant to stay open come on top.
    pub max_connections: usize,
    /// How long a connection is kept that nothing goes over. 60 s by default: many servers keep it for 75 s or less.
    pub idle_timeout: Duration,
    /// How large the head of a response may be, in bytes. 64 KiB by default; 100 headers at most.
    pub max_head: usize,
    trusted: Vec<Vec<u8>>,
    proxy: Option<String>,
    unix_socket: Option<PathBuf>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            connect_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(10),
            max_connections: 64,
            idle_timeout: Duration::from_secs(60),
            max_head: 64 * 1024,
            trusted: Vec::new(),
            proxy: None,
            unix_socket: None,
        }
    }
}

impl ClientOptions {
    /// The defaults, for a client that makes requests to this server: by its Unix socket, if it has one.
    pub fn of(def: &McpServerDef) -> Self {
        ClientOptions { unix_socket: def.unix_socket.clone(), ..ClientOptions::default() }
    }

    /// Makes all connections to this Unix socket, whatever the address says. Proxies are not asked.
    pub fn unix_socket(mut self, socket: impl Into<PathBuf>) -> Self {
        self.unix_socket = Some(socket.into());
        self
    }

    /// Trusts another certificate authority, given as DER.
    pub fn trust(mut self, certificate: impl Into<Vec<u8>>) -> Self {
        self.trusted.push(certificate.into());
        self
    }

    /// Sets a proxy for all requests, whatever the environment says: `http://` or `https://`, with user and password if it wants
    /// them.
    pub fn proxy(mut self, address: impl Into<String>) -> Self {
        self.proxy = Some(address.into());
        self
    }
}

impl fmt::Debug for ClientOptions {
    /// Without the proxy: its address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("connect_timeout", &self.connect_timeout)
            .field("handshake_timeout", &self.handshake_timeout)
            .field("max_connections", &self.max_connections)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_head", &self.max_head)
            .field("trusted", &self.trusted.len())
            .field("unix_socket", &self.unix_socket)
            .finish_non_exhaustive()
    }
}

/// An HTTP client with its own connections, on any runtime.
pub struct Client {
    shared: Arc<Inner>,
    max_connections: usize,
}

struct Inner {
    pool: Pool,
    proxies: Arc<Proxies>,
}

impl Client {
    /// Creates a client with these limits. It uses the proxies that the environment names now.
    ///
    /// # Errors
    /// If a certificate that is to be trusted is none.
    pub fn new(net: Arc<dyn Net>, options: ClientOptions) -> Result<Self, HttpSetupError> {
        let proxies = Arc::new(match options.unix_socket {
            Some(_) => Proxies::none(),
            None => Proxies::new(options.proxy),
        });
        let connector = Connector {
            net: Arc::clone(&net),
            proxies: Arc::clone(&proxies),
            tls: Tls::new(options.trusted).map_err(HttpSetupError::Client)?,
            connect_timeout: options.connect_timeout,
            handshake_timeout: options.handshake_timeout,
            unix_socket: options.unix_socket,
        };
        let lines = Lines::new(net, options.max_head.max(8 * 1024));
        let pool = Pool::new(connector, lines, options.max_connections, options.idle_timeout);
        let shared = Arc::new(Inner { pool, proxies });
        Ok(Client { shared, max_connections: options.max_connections })
    }
}

impl HttpClient for Client {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.run(exchange).await })
    }

    fn capacity(&self) -> usize {
        if self.shared.pool.speaks_http2() { STREAMS } else { self.max_connections }
    }
}

impl Inner {
    async fn run(&self, exchange: Exchange) -> Result<HttpResponse, Failure> {
        let Exchange { verb, uri, headers, body, .. } = exchange;
        let body = Bytes::from(body);
        let mut uri: Uri = uri.parse().map_err(|error| not_made(format!("{uri} is no address: {error}")))?;
        for _ in 0..=redirect::MOST {
            let request = self.request(verb, &uri, &headers, body.clone())?;
            let response = self.pool.send(request).await?;
            let location = response.headers().get(LOCATION).map_or(&[][..], HeaderValue::as_bytes);
            match redirect::target(verb, &uri, response.status(), location) {
                Ok(None) => return Ok(head(response)),
                Ok(Some(target)) => {
                    // One without a body leaves its connection to the next.
                    drop(response);
                    uri = target;
                }
                Err(detail) => return Err(Failure::new(FailureKind::Redirect, detail)),
            }
        }
        Err(Failure::new(FailureKind::Redirect, format!("more than {} times in a row", redirect::MOST)))
    }

    fn request(
        &self,
        verb: Verb,
        uri: &Uri,
        headers: &[(impl AsRef<str>, String)],
        body: Bytes,
    ) -> Result<Request<Whole>, Failure> {
        let mut request = Request::new(Whole(body));
        *request.method_mut() = match verb {
            Verb::Get => Method::GET,
            Verb::Delete => Method::DELETE,
            _ => Method::POST,
        };
        *request.uri_mut() = uri.clone();
        for (name, value) in headers {
            let wrong = || not_made(format!("the header `{}` cannot be sent", name.as_ref()));
            let name = HeaderName::from_bytes(name.as_ref().as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?;
            // Not to be kept in the tables of HTTP/2, where others could guess it.
            value.set_sensitive(name == http::header::AUTHORIZATION || name.as_str() == "mcp-session-id");
            request.headers_mut().append(name, value);
        }
        if let Some(value) = self.proxies.authorization(uri) {
            request.headers_mut().insert(http::header::PROXY_AUTHORIZATION, value);
        }
        Ok(request)
    }
}

fn head(response: Response<Rest>) -> HttpResponse {
    let (head, body) = response.into_parts();
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect();
    HttpResponse { status: head.status.as_u16(), headers, body: Box::pin(body) }
}

fn not_made(detail: String) -> Failure {
    Failure::new(FailureKind::NotMade, detail)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("max_connections", &self.max_connections).finish_non_exhaustive()
    }
}
