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

/// What a client sends.
enum Incoming {
    Request(Exchange),
    /// A request with a method that nothing supports.
    OtherMethod,
    Closed,
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

    /// Serves requests until the client closes the connection.
    fn serve(&mut self, client: &dyn HttpClient, origin: &str) -> io::Result<()> {
        while !self.ends.load(Ordering::Relaxed) {
            let exchange = match self.read_request(origin)? {
                Incoming::Closed => return Ok(()),
                Incoming::OtherMethod => {
                    self.stream.write_all(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")?;
                    continue;
                }
                Incoming::Request(exchange) => exchange,
            };
            let response = block_on(client.send(exchange), || self.is_wanted());
            // A failure is a connection that breaks.
            let Some(Ok(response)) = response else { return Ok(()) };
            self.write_response(response)?;
        }
        Ok(())
    }

    /// Reads a request.
    fn read_request(&mut self, origin: &str) -> io::Result<Incoming> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(Incoming::Closed);
        }
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let mut words = line.split_ascii_whitespace();
        let (method, target) = (words.next().ok_or_else(invalid)?, words.next().ok_or_else(invalid)?);
        let verb = [Verb::Post, Verb::Get, Verb::Delete].into_iter().find(|verb| verb.as_str() == method);
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
            exchange.headers.push((name.to_owned().into(), value.to_owned()));
        }
        if length > MAX_BODY {
            return Err(invalid());
        }
        exchange.body = vec![0; length];
        self.reader.read_exact(&mut exchange.body)?;
        Ok(verb.map_or(Incoming::OtherMethod, |_| Incoming::Request(exchange)))
    }

    fn write_response(&mut self, response: HttpResponse) -> io::Result<()> {
        let HttpResponse { status, headers, mut body, .. } = response;
        let has_body = status != 204;
        let mut head = format!("HTTP/1.1 {status} \r\n").into_bytes();
        for (name, value) in &headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(if has_body { b"Transfer-Encoding: chunked\r\n\r\n" } else { b"\r\n" });
        self.stream.write_all(&head)?;
        if !has_body {
            return self.stream.flush();
        }
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = poll_fn(|cx| body.as_mut().poll_read(cx, &mut buffer));
            // Without the end of the body, the client knows that the connection broke.
            let count = block_on(read, || self.is_wanted()).ok_or(io::ErrorKind::ConnectionAborted)??;
            self.stream.write_all(format!("{count:x}\r\n").as_bytes())?;
            self.stream.write_all(buffer.get(..count).unwrap_or_default())?;
            self.stream.write_all(b"\r\n")?;
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

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("url", &self.url()).finish_non_exhaustive()
    }
}
