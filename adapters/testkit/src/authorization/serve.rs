//! The two ways in which clients reach the servers of a test: [`SimulatedNetwork`], an HTTP client that needs no network, and
//! [`Serving`], real HTTP on this machine.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONNECTION, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use mcpwire_driver::http::{HttpClient, HttpResponse, ResponseFuture};
use mcpwire_driver::protocol::http::{Exchange, FailureKind, Verb};
use mcpwire_driver::{Reader, Runtime};
use mcpwire_tokio::Tokio;
use tokio::sync::oneshot;

use super::resource::ProtectedServer;
use super::server::AuthorizationServer;
use super::url::origin;
use crate::http::{HttpAnswer, HttpRequest, respond};

/// Maximum length of a request's body, in bytes. 16 MiB: more than any message of a test.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// An error that closes the connection before its response is complete.
type Broken = Box<dyn std::error::Error + Send + Sync>;

/// A running HTTP server at `127.0.0.1`, for programs that need a real connection. It stops when this value is dropped.
///
/// Connections stay open until the client closes them, sends `Connection: close`, or speaks HTTP/1.0.
pub struct Serving {
    address: SocketAddr,
    /// Ends the server's thread and all connections when it is dropped.
    _end: oneshot::Sender<()>,
}

impl Serving {
    /// Returns the origin of the server, such as `http://127.0.0.1:3000`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Starts a thread that accepts connections and forwards their requests to the servers of a simulated network. `network`
    /// creates this network for the runtime of the thread.
    fn start(listener: TcpListener, network: impl FnOnce(Arc<dyn Runtime>) -> SimulatedNetwork) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (end, ended) = oneshot::channel();
        let serving = Serving { address: listener.local_addr()?, _end: end };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = Arc::new(network(Arc::new(Tokio::new(runtime.handle().clone()))));
        let url = serving.url();
        thread::Builder::new().name("testkit-http".into()).spawn(move || {
            runtime.spawn(accept(listener, client, url));
            // Dropping the runtime ends all its tasks, and with them all connections.
            let _ = runtime.block_on(ended);
        })?;
        Ok(serving)
    }
}

impl AuthorizationServer {
    /// Serves this server over real HTTP at a port of `127.0.0.1`, and makes this address the origin of the issuer. Port 0
    /// selects a free port.
    ///
    /// # Errors
    /// If the port cannot be bound, or no thread can be started.
    pub fn serve(&self, port: u16) -> io::Result<Serving> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        self.move_to(&format!("http://{}", listener.local_addr()?));
        Serving::start(listener, |runtime| SimulatedNetwork::new(runtime).authorization_server(self))
    }
}

impl ProtectedServer {
    /// Serves this server over real HTTP at a port of `127.0.0.1`, and makes this address the origin of its URL. Port 0 selects a
    /// free port.
    ///
    /// An authorization server with the same origin as this server, as in protocol revision 2025-03-26, is served at the same
    /// port. Serve other authorization servers with [`AuthorizationServer::serve`].
    ///
    /// # Errors
    /// If the port cannot be bound, or no thread can be started.
    pub fn serve(&self, port: u16) -> io::Result<Serving> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let served_at = format!("http://{}", listener.local_addr()?);
        let url = self.url();
        for server in self.servers() {
            if origin(&server.issuer()) == origin(&url) {
                server.move_to(&served_at);
            }
        }
        self.move_to_origin(&served_at);
        Serving::start(listener, |runtime| self.client_on(runtime))
    }
}

/// Accepts connections, and serves each in a task. `url` is the origin of the server.
async fn accept(listener: TcpListener, client: Arc<SimulatedNetwork>, url: String) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let (client, url) = (Arc::clone(&client), url.clone());
        tokio::spawn(async move {
            // An error is ignored: `TCP_NODELAY` only affects the speed.
            let _ = stream.set_nodelay(true);
            let service = service_fn(|request| answer(request, &client, &url));
            let mut http = http1::Builder::new();
            // If the server's clock differs from the clients' clock, the response already has a `Date`.
            http.auto_date_header(false).title_case_headers(true);
            // An error is ignored: the end of a connection concerns only its client.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Forwards a request to the simulated network, and returns the response. An error closes the connection.
async fn answer(
    request: Request<Incoming>,
    client: &SimulatedNetwork,
    url: &str,
) -> Result<Response<ResponseBody>, Broken> {
    let (head, body) = request.into_parts();
    let verb = [Verb::Post, Verb::Get, Verb::Delete].into_iter().find(|verb| verb.as_str() == head.method);
    let mut exchange = Exchange::new(verb.unwrap_or(Verb::Get), format!("{url}{}", head.uri));
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    exchange.headers.extend(head.headers.iter().map(|(name, value)| (name.to_string().into(), text(value))));
    exchange.body = Limited::new(body, MAX_BODY).collect().await?.to_bytes().into();
    let HttpResponse { status, headers, body, .. } = match verb {
        Some(_) => client.send(exchange).await.map_err(|_| io::Error::from(io::ErrorKind::ConnectionAborted))?,
        None => HttpResponse::new(405, Vec::new(), &[][..]),
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    if head.version < Version::HTTP_11 || asks_to_close(&head.headers) {
        response = response.header(CONNECTION, "close");
    }
    Ok(response.body(ResponseBody(body))?)
}

/// Returns whether the client asks with the header `Connection` to close the connection after the response.
fn asks_to_close(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}

/// A response body that is read from the simulated network. An error of the reader closes the connection.
struct ResponseBody(Reader);

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut buffer = vec![0; 16 * 1024];
        let count = ready!(self.0.as_mut().poll_read(cx, &mut buffer))?;
        buffer.truncate(count);
        Poll::Ready((count > 0).then(|| Ok(Frame::data(buffer.into()))))
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("url", &self.url()).finish_non_exhaustive()
    }
}

/// An HTTP client that reaches the authorization servers and protected servers of a test instead of a network.
///
/// The origin of a URL selects the server. Requests to other origins fail as unreachable. Delays use the time of the runtime.
#[derive(Clone)]
pub struct SimulatedNetwork {
    runtime: Arc<dyn Runtime>,
    protected: Vec<ProtectedServer>,
    authorization: Vec<AuthorizationServer>,
}

impl SimulatedNetwork {
    /// Creates a network without servers. The current date and all delays are those of `runtime`.
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        SimulatedNetwork { runtime, protected: Vec::new(), authorization: Vec::new() }
    }

    /// Adds a protected MCP server to the network, so that clients reach it and the authorization servers that it knows.
    pub fn protected_server(mut self, server: &ProtectedServer) -> Self {
        self.protected.push(server.clone());
        self
    }

    /// Adds an authorization server, for example a server that no protected server of the network names.
    pub fn authorization_server(mut self, server: &AuthorizationServer) -> Self {
        self.authorization.push(server.clone());
        self
    }

    /// Returns the authorization server whose issuer has this origin, or `None` if there is none.
    fn authorization_at(&self, origin: &str) -> Option<AuthorizationServer> {
        let reachable = self.protected.iter().flat_map(ProtectedServer::reachable);
        let mut all = self.authorization.iter().cloned().chain(reachable);
        all.find(|server| self::origin(&server.issuer()) == origin)
    }
}

impl ProtectedServer {
    /// Returns an HTTP client that reaches this MCP server and its authorization servers. Delays use the time of `runtime`.
    pub fn client_on(&self, runtime: Arc<dyn Runtime>) -> SimulatedNetwork {
        SimulatedNetwork::new(runtime).protected_server(self)
    }
}

impl HttpClient for SimulatedNetwork {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let now = self.runtime.unix_time();
        let request = HttpRequest::new(self.runtime.clock().now().since_origin(), &exchange);
        let origin = origin(&exchange.uri);
        let authorization = self.authorization_at(origin);
        let protected = self.protected.iter().find(|server| self::origin(&server.url()) == origin);
        let answer = match (protected, &authorization) {
            // Both servers may have the same origin, as in protocol revision 2025-03-26.
            (Some(_), Some(server)) if server.has_endpoint(&exchange.uri) => server.respond(&request, now),
            (Some(server), _) => match server.respond(&request, now) {
                Some(answer) => answer,
                None => return pass_on(server, exchange, &self.runtime),
            },
            (None, Some(server)) => server.respond(&request, now),
            (None, None) => HttpAnswer::failure(FailureKind::Unreachable, format!("there is no server at {origin}")),
        };
        respond(answer, None, request, &*self.runtime, Arc::default())
    }
}

/// Forwards a request with a valid token to the MCP server, and adds the current DPoP nonce to the response.
fn pass_on(server: &ProtectedServer, exchange: Exchange, runtime: &Arc<dyn Runtime>) -> ResponseFuture {
    let nonce = server.nonce_header();
    let response = server.http().client_on(Arc::clone(runtime)).send(exchange);
    Box::pin(async move {
        let mut response = response.await?;
        response.headers.extend(nonce);
        Ok(response)
    })
}

impl AuthorizationServer {
    /// Returns whether the server has an endpoint at this URL.
    fn has_endpoint(&self, url: &str) -> bool {
        self.lock().endpoint_of(url).is_some()
    }
}

impl fmt::Debug for SimulatedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedNetwork")
            .field("protected", &self.protected)
            .field("authorization", &self.authorization)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;
    use crate::ScriptedServer;

    /// Maximum time for which a failing test waits.
    const WATCHDOG: Duration = Duration::from_secs(50);

    /// Sends requests, and returns what the server sends until it closes the connection.
    fn read_to_end(url: &str, requests: &str) -> String {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").expect("a URL")).expect("the server listens");
        stream.set_read_timeout(Some(WATCHDOG)).expect("it is not zero");
        stream.write_all(requests.as_bytes()).expect("the server reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("the server closes the connection");
        response
    }

    #[test]
    fn connections_are_closed_if_the_client_asks_for_that() {
        let serving = AuthorizationServer::new().serve(0).expect("a port is free");
        let path = "/.well-known/oauth-authorization-server";
        for connection in ["close", "Close", "TE, close"] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: {connection}\r\n\r\n");
            let response = read_to_end(&serving.url(), &request);
            assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
            assert!(response.contains("\r\nConnection: close\r\n"), "{response}");
            assert!(response.ends_with("\r\n0\r\n\r\n"), "{response}");
        }
        let response = read_to_end(&serving.url(), "PUT / HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 405 "), "{response}");
    }

    #[test]
    fn other_connections_stay_open() {
        let serving = AuthorizationServer::new().serve(0).expect("a port is free");
        let first = "GET /nothing HTTP/1.1\r\nHost: test\r\n\r\n";
        let last = "GET /nothing HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
        let responses = read_to_end(&serving.url(), &format!("{first}{first}{last}"));
        assert_eq!(responses.matches("HTTP/1.1 404 ").count(), 3, "{responses}");
        assert_eq!(responses.matches("Connection: close").count(), 1, "{responses}");
    }

    /// HTTP/1.0 has no chunked encoding, so the end of the connection ends the body.
    #[test]
    fn http_1_0_gets_a_body_until_the_end() {
        let server = AuthorizationServer::new().protect(ScriptedServer::new());
        let serving = server.serve(0).expect("a port is free");
        let request = "GET /.well-known/oauth-protected-resource/mcp HTTP/1.0\r\n\r\n";
        let response = read_to_end(&serving.url(), request);
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        assert!(!head.contains("Transfer-Encoding"), "{response}");
        let metadata: serde_json::Value = serde_json::from_str(body).expect("the body is JSON");
        assert_eq!(metadata["resource"], server.url());
    }
}
