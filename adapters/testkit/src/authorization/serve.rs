//! [`Serving`]: real HTTP on this machine, with a thread for each connection.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mcpwire_driver::Runtime;
use mcpwire_driver::http::{HttpClient, HttpResponse};
use mcpwire_driver::protocol::http::{Exchange, Verb};

use super::network::SimulatedNetwork;
use super::resource::ProtectedServer;
use super::server::AuthorizationServer;
use super::thread_runtime::{ThreadRuntime, block_on};
use super::url::split_origin;

/// Maximum length of a request's body.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A server that serves real HTTP at `127.0.0.1` until this is dropped.
///
/// Connections stay open until the client closes them, sends `Connection: close`, or speaks HTTP/1.0.
pub struct Serving {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
}

impl Serving {
    /// Returns the origin, such as `http://127.0.0.1:3000`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn start(listener: TcpListener, client: impl HttpClient) -> io::Result<Self> {
        let serving = Serving { address: listener.local_addr()?, ends: Arc::default() };
        let (client, origin): (Arc<dyn HttpClient>, _) = (Arc::new(client), serving.url());
        let ends = Arc::clone(&serving.ends);
        thread::Builder::new().name("testkit-http".into()).spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (client, origin, ends) = (Arc::clone(&client), origin.clone(), Arc::clone(&ends));
                // The connection is closed if it fails, or if there is no thread for it.
                let serve = move || drop(Connection::new(stream, ends).and_then(|mut it| it.serve(&*client, &origin)));
                drop(thread::Builder::new().name("testkit-http".into()).spawn(serve));
            }
        })?;
        Ok(serving)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        drop(TcpStream::connect(self.address));
    }
}

impl AuthorizationServer {
    /// Serves real HTTP at a port of `127.0.0.1`, and makes that the origin of the issuer. Port 0 selects a free one.
    ///
    /// # Errors
    /// If the port cannot be bound, or no thread can be started.
    pub fn serve(&self, port: u16) -> io::Result<Serving> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        self.move_to(&format!("http://{}", listener.local_addr()?));
        let runtime: Arc<dyn Runtime> = Arc::new(ThreadRuntime::new());
        Serving::start(listener, SimulatedNetwork::new(runtime).authorization_server(self))
    }
}

impl ProtectedServer {
    /// Serves real HTTP at a port of `127.0.0.1`, and makes that the origin of the URL. Port 0 selects a free one.
    ///
    /// Authorization servers that have the origin of this server, as those of protocol revision 2025-03-26, are served at the same
    /// port. Serve the others with [`AuthorizationServer::serve`].
    ///
    /// # Errors
    /// If the port cannot be bound, or no thread can be started.
    pub fn serve(&self, port: u16) -> io::Result<Serving> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let origin = format!("http://{}", listener.local_addr()?);
        let url = self.url();
        for server in self.servers() {
            if split_origin(&server.issuer()).0 == split_origin(&url).0 {
                server.move_to(&origin);
            }
        }
        self.move_to_origin(&origin);
        Serving::start(listener, self.client_on(Arc::new(ThreadRuntime::new())))
    }
}

/// A request of a client.
struct Request {
    /// `None` for a method that nothing supports.
    exchange: Option<Exchange>,
    then: Then,
}

/// What happens to a connection after a response.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    KeepAlive,
    /// The client has asked for it.
    Close,
    /// The client speaks HTTP/1.0, in which the end of a body is the end of the connection.
    CloseHttp10,
}

struct Connection {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    ends: Arc<AtomicBool>,
}

impl Connection {
    fn new(stream: TcpStream, ends: Arc<AtomicBool>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Connection { reader: BufReader::new(stream.try_clone()?), stream, ends })
    }

    /// Serves requests until the client closes the connection, or asks for that.
    fn serve(&mut self, client: &dyn HttpClient, origin: &str) -> io::Result<()> {
        let mut then = Then::KeepAlive;
        while then == Then::KeepAlive && !self.ends.load(Ordering::Relaxed) {
            let Some(request) = self.read_request(origin)? else { return Ok(()) };
            then = request.then;
            let Some(exchange) = request.exchange else {
                let head = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n";
                self.stream.write_all(&[head, then.header(), b"\r\n"].concat())?;
                continue;
            };
            let response = block_on(client.send(exchange), || self.is_wanted());
            // A failure is a connection that breaks.
            let Some(Ok(response)) = response else { return Ok(()) };
            self.write_response(response, then)?;
        }
        Ok(())
    }

    /// Reads a request. Returns `None` if the client has closed the connection.
    fn read_request(&mut self, origin: &str) -> io::Result<Option<Request>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let mut words = line.split_ascii_whitespace();
        let (method, target) = (words.next().ok_or_else(invalid)?, words.next().ok_or_else(invalid)?);
        let verb = [Verb::Post, Verb::Get, Verb::Delete].into_iter().find(|verb| verb.as_str() == method);
        let mut then = if words.next() == Some("HTTP/1.0") { Then::CloseHttp10 } else { Then::KeepAlive };
        let mut exchange = Exchange::new(verb.unwrap_or(Verb::Get), format!("{origin}{target}"));
        let mut length = 0;
        loop {
            let mut header = String::new();
            self.reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().map_err(|_| invalid())?;
            }
            if name.eq_ignore_ascii_case("connection") && then == Then::KeepAlive && has_option(value, "close") {
                then = Then::Close;
            }
            exchange.headers.push((name.to_owned().into(), value.to_owned()));
        }
        if length > MAX_BODY {
            return Err(invalid());
        }
        exchange.body = vec![0; length];
        self.reader.read_exact(&mut exchange.body)?;
        Ok(Some(Request { exchange: verb.map(|_| exchange), then }))
    }

    fn write_response(&mut self, response: HttpResponse, then: Then) -> io::Result<()> {
        let HttpResponse { status, headers, mut body, .. } = response;
        let has_body = status != 204;
        let mut head = format!("HTTP/1.1 {status} \r\n").into_bytes();
        for (name, value) in &headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        let is_chunked = has_body && then != Then::CloseHttp10;
        head.extend_from_slice(then.header());
        head.extend_from_slice(if is_chunked { b"Transfer-Encoding: chunked\r\n\r\n" } else { b"\r\n" });
        self.stream.write_all(&head)?;
        if !has_body {
            return self.stream.flush();
        }
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = poll_fn(|cx| body.as_mut().poll_read(cx, &mut buffer));
            // Without the end of the body, the client knows that the connection broke.
            let count = block_on(read, || self.is_wanted()).ok_or(io::ErrorKind::ConnectionAborted)??;
            let bytes = buffer.get(..count).unwrap_or_default();
            if is_chunked {
                self.stream.write_all(format!("{count:x}\r\n").as_bytes())?;
                self.stream.write_all(bytes)?;
                self.stream.write_all(b"\r\n")?;
            } else {
                self.stream.write_all(bytes)?;
            }
            if count == 0 {
                break;
            }
        }
        self.stream.flush()
    }

    /// Returns whether the client still waits, and the server has not ended.
    fn is_wanted(&self) -> bool {
        if self.ends.load(Ordering::Relaxed) || self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let is_open = match self.stream.peek(&mut [0]) {
            Ok(count) => count > 0,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        self.stream.set_nonblocking(false).is_ok() && is_open
    }
}

impl Then {
    /// Returns the header of the response.
    fn header(self) -> &'static [u8] {
        if self == Then::KeepAlive { b"" } else { b"Connection: close\r\n" }
    }
}

/// Returns whether a list of options, such as `keep-alive, close`, has this one.
fn has_option(list: &str, option: &str) -> bool {
    list.split(',').any(|other| other.trim().eq_ignore_ascii_case(option))
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("url", &self.url()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
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
