//! A server that answers a request with a flood: it writes as fast as the client reads, until the connection has ended.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures_rustls::pki_types::PrivateKeyDer;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use mcpwire_driver::McpServerDef;

use super::http2;

/// What a server sends instead of an answer.
pub(super) struct Flood {
    pub(super) name: &'static str,
    pub(super) version: Version,
    /// What is sent once, and what is sent again and again. HTTP/2 has the number of the request's stream in its frames.
    pub(super) bytes: fn(stream: u32) -> (Vec<u8>, Vec<u8>),
    /// What the error of the call says.
    pub(super) error: &'static str,
    /// When the call ends if nothing else ends it.
    pub(super) deadline: Duration,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Version {
    Http1,
    /// Over TLS.
    Http2,
}

/// A server that floods until it is dropped.
pub(super) struct Flooding {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// What the client has to trust.
    pub(super) certificate: Vec<u8>,
    is_secure: bool,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// How many bytes went over the connection that brought most.
    most_sent: AtomicU64,
}

impl Flooding {
    pub(super) fn start(flood: &Flood) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (of_thread, bytes, version) = (Arc::clone(&shared), flood.bytes, flood.version);
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (config, shared) = (Arc::clone(&config), Arc::clone(&of_thread));
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                // An error is the end of a connection.
                thread::spawn(move || match version {
                    Version::Http1 => over_http1(&socket, bytes, &shared),
                    Version::Http2 => over_http2(&socket, config, bytes, &shared),
                });
            }
        });
        let is_secure = version == Version::Http2;
        Flooding { address, shared, certificate: made.cert.der().to_vec(), is_secure }
    }

    pub(super) fn def(&self) -> McpServerDef {
        let scheme = if self.is_secure { "https" } else { "http" };
        McpServerDef::http(format!("{scheme}://localhost:{}/mcp", self.address.port()))
    }

    /// How many bytes the client and the system took of one connection at most.
    pub(super) fn most_sent(&self) -> u64 {
        self.shared.most_sent.load(Ordering::SeqCst)
    }
}

impl Drop for Flooding {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

fn over_http1(socket: &TcpStream, bytes: fn(u32) -> (Vec<u8>, Vec<u8>), shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    // The body of the request is discarded with whatever else comes.
    while line.trim_end() != "" || line.is_empty() {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
    }
    let (first, again) = bytes(0);
    (&*socket).write_all(&first)?;
    socket.set_nonblocking(true)?;
    let mut at = 0;
    shared.flood(
        || discard(&mut &*socket, |_| {}),
        || {
            let n = (&*socket).write(&again[at..])?;
            at = (at + n) % again.len();
            Ok(n)
        },
    )
}

fn over_http2(
    socket: &TcpStream,
    config: Arc<ServerConfig>,
    bytes: fn(u32) -> (Vec<u8>, Vec<u8>),
    shared: &Shared,
) -> io::Result<()> {
    let tls = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(tls, socket.try_clone()?);
    let mut window = http2::Window::default();
    let id = window.first_request(&mut stream)?;
    let (first, again) = bytes(id);
    let takes = http2::length_of_data(&again);
    stream.write_all(&[http2::greeting(), first].concat())?;
    stream.flush()?;
    socket.set_nonblocking(true)?;
    stream.conn.set_buffer_limit(None);
    // Not by the stream: it reads nothing while something is still to be written.
    let (tls, window) = (RefCell::new(stream.conn), RefCell::new(window));
    shared.flood(
        || {
            let mut tls = tls.borrow_mut();
            match tls.read_tls(&mut &*socket) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            tls.process_new_packets().map_err(io::Error::other)?;
            discard(&mut tls.reader(), |bytes| window.borrow_mut().received(bytes))
        },
        || {
            let mut tls = tls.borrow_mut();
            if !tls.wants_write() {
                if !window.borrow_mut().take(takes) {
                    return Err(ErrorKind::WouldBlock.into());
                }
                tls.writer().write_all(&again)?;
            }
            tls.write_tls(&mut &*socket)
        },
    )
}

impl Shared {
    /// Reads and writes in turns until the connection ends or the server does.
    fn flood(
        &self,
        mut discard: impl FnMut() -> io::Result<()>,
        mut send: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut sent = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            discard()?;
            match send() {
                Ok(n) => sent += n as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_micros(100)),
                Err(error) => return Err(error),
            }
            self.most_sent.fetch_max(sent, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Reads what there is, and lets somebody look at it.
fn discard(reader: &mut impl Read, mut look: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => look(&buffer[..n]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
