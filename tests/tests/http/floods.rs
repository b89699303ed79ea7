//! Servers that send without end: nobody else waits for that, it ends, and it costs little memory.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ::smol::future::zip;
use futures_rustls::pki_types::PrivateKeyDer;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, McpClient, McpServerDef};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_tests::asynchronous::{Host, Smol, TokioCurrent};
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Blocking, Call, OverHttp, WATCHDOG, allocated, watched};

const MIB: usize = 1 << 20;

/// How many calls to another server are answered during each flood.
const CALLS: usize = 10;

/// The most that a flooded connection takes: the limit, and what the system keeps for a socket on both sides.
const MOST_SENT: u64 = 16 * MIB as u64;

/// The most memory that two clients take, one of them flooded.
const MOST_MEMORY: usize = 32 * MIB;

/// Options whose deadlines are those of the flood.
fn config(flood: &Flood) -> Config {
    let mut config = Config::new("test", "1");
    (config.probe_timeout, config.request_timeout, config.connect_timeout) =
        (flood.deadline, flood.deadline, flood.deadline);
    config
}

/// Floods a client until another has made its calls, and at least once.
struct Case<'c> {
    flood: &'c Flood,
    web: Web,
    flooding: Flooding,
    is_done: AtomicBool,
}

impl<'c> Case<'c> {
    /// Starts the servers, lets somebody run the clients, and looks at what it cost.
    fn run(flood: &'c Flood, clients: impl FnOnce(&Self)) {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
        let case = Case { flood, web, flooding: Flooding::start(flood), is_done: AtomicBool::new(false) };
        let ((), memory) = allocated(|| clients(&case));
        let (name, sent) = (flood.name, case.flooding.most_sent());
        // A response has no limit.
        assert!(sent < MOST_SENT || flood.error.is_empty(), "{name}: {sent} bytes");
        assert!(memory.peak < MOST_MEMORY, "{name}: {} bytes of memory", memory.peak);
    }

    /// The options of the client that is flooded.
    fn http<H: Host>(&self) -> HttpOptions {
        let options = ClientOptions::default().trust(self.flooding.certificate.clone());
        HttpOptions::default().client(Client::new(H::net(), options).expect("there is a client"))
    }

    /// A flood has ended. Whether it was the last.
    fn ended(&self, error: &str) -> bool {
        assert!(error.contains(self.flood.error), "{}: {error}", self.flood.name);
        self.is_done.load(Ordering::SeqCst)
    }

    fn is_done(&self) {
        self.is_done.store(true, Ordering::SeqCst);
    }
}

fn beside_others<H: Host>(flood: &Flood) {
    Case::run(flood, |case| {
        H::start().block_on(zip(calls::<H>(case), floods::<H>(case)));
    });
}

async fn calls<H: Host>(case: &Case<'_>) {
    let client = McpClient::<H::Runtime>::connect_and_initialize(&case.web.def()).await.expect("it opens");
    for _ in 0..CALLS {
        let result = client.call_tool("echo", ()).timeout(WATCHDOG).await;
        assert_eq!(result.expect(case.flood.name).text().into_string(), "fine");
    }
    case.is_done();
}

async fn floods<H: Host>(case: &Case<'_>) {
    loop {
        let options = ConnectOptions::new(config(case.flood)).http(case.http::<H>());
        let client = McpClient::<H::Runtime>::connect_with(&case.flooding.def(), options).expect("it is made");
        if case.ended(&client.initialize().await.expect_err(case.flood.name).to_string()) {
            return;
        }
    }
}

/// The same with blocking clients, which share a thread in the background.
fn beside_other_threads(flood: &Flood) {
    Case::run(flood, |case| {
        thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let options = OverHttp { config: config(flood), http: case.http::<Smol>(), ..OverHttp::default() };
                    let mut client = Blocking::over_http(&case.flooding.def(), options).expect("it is made");
                    if case.ended(&client.initialize().expect_err(flood.name).to_string()) {
                        return;
                    }
                }
            });
            let mut client = Blocking::over_http(&case.web.def(), OverHttp::default()).expect("it is made");
            client.initialize().expect("it opens");
            for _ in 0..CALLS {
                let result = client.call(Call::new("echo").timeout(WATCHDOG));
                assert_eq!(result.expect(flood.name).text().into_string(), "fine");
            }
            case.is_done();
        });
    });
}

// Async clients share a thread, and so do blocking clients.

#[test]
fn floods_of_http1_end_and_hold_up_nobody() {
    watched(|| HTTP1.iter().for_each(beside_others::<TokioCurrent>));
}

#[test]
fn floods_of_http1_end_and_hold_up_nobody_beside_blocking_clients() {
    watched(|| HTTP1.iter().for_each(beside_other_threads));
}

#[test]
fn floods_of_http2_responses_end_and_hold_up_nobody() {
    watched(|| HTTP2_RESPONSES.iter().for_each(beside_others::<TokioCurrent>));
}

#[test]
fn floods_of_http2_responses_end_and_hold_up_nobody_beside_blocking_clients() {
    watched(|| HTTP2_RESPONSES.iter().for_each(beside_other_threads));
}

#[test]
fn floods_of_http2_frames_end_and_hold_up_nobody() {
    watched(|| HTTP2_FRAMES.iter().for_each(beside_others::<TokioCurrent>));
}

#[test]
fn floods_of_http2_frames_end_and_hold_up_nobody_beside_blocking_clients() {
    watched(|| HTTP2_FRAMES.iter().for_each(beside_other_threads));
}

#[test]
fn endless_responses_hold_up_nobody() {
    watched(|| BODIES.iter().for_each(beside_others::<TokioCurrent>));
}

#[test]
fn endless_responses_hold_up_nobody_beside_blocking_clients() {
    watched(|| BODIES.iter().for_each(beside_other_threads));
}

// Everything that a server may send without end.

/// What is sent of a flood at once.
const PIECE: usize = 64 * 1024;

/// How long a response goes on of which every byte may count.
const SHORT: Duration = Duration::from_millis(200);

/// What the error of a flood says that is no part of a response.
const UNUSED: &str = "no part of a response";

/// The error if the limit may be reached before or after hyper has read a GOAWAY frame.
const LOST: &str = "the connection to the server was lost";

fn again(bytes: &[u8]) -> Vec<u8> {
    bytes.repeat(PIECE.div_ceil(bytes.len()))
}

const fn http1(name: &'static str, error: &'static str, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version: Version::Http1, bytes, error, deadline: WATCHDOG }
}

const fn http2(name: &'static str, error: &'static str, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version: Version::Http2, bytes, error, deadline: WATCHDOG }
}

/// A response of which every byte is allowed, and which never ends: a call of it has its deadline.
const fn endless(name: &'static str, version: Version, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version, bytes, error: "", deadline: SHORT }
}

/// The names of HPACK's static table.
const STATUS: u8 = 8;
const CONTENT_TYPE: u8 = 31;

fn stream_of_events(stream: u32) -> Vec<u8> {
    let headers = [header(STATUS, "200"), header(CONTENT_TYPE, "text/event-stream")].concat();
    frame(HEADERS, END_HEADERS, stream, &headers)
}

const HTTP1: &[Flood] = &[
    http1("interim responses", UNUSED, |_| (vec![], again(b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"))),
    http1("interim responses without headers", UNUSED, |_| (vec![], again(b"HTTP/1.1 102 \r\n\r\n"))),
    http1("headers", "", |_| (b"HTTP/1.1 200 OK\r\n".to_vec(), again(b"X: y\r\n"))),
    http1("a header", "", |_| (b"HTTP/1.1 200 OK\r\nX: ".to_vec(), again(b"y"))),
    http1("an extension of a chunk", "", |_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;";
        (head.to_vec(), again(b"y"))
    }),
    http1("trailers", "", |_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        (head.to_vec(), again(b"X: y\r\n"))
    }),
];

const HTTP2_RESPONSES: &[Flood] = &[
    http2("interim responses", UNUSED, |id| (vec![], again(&frame(HEADERS, END_HEADERS, id, &header(STATUS, "103"))))),
    http2("interim responses of many headers", UNUSED, |id| {
        // Two entries of the dynamic table, which are then a byte each: the status is 0x80 + 63, the header 0x80 + 62.
        let indexed = [&[0x48, 3][..], b"103", &[0x40, 1], b"x", &[1], b"y"].concat();
        // The long ones are only for the bytes: a test without optimization takes a microsecond for each header.
        let long = [&[0, 1, b'x', 120][..], &[b'y'; 120]].concat().repeat(30);
        let many = [&[0xbf][..], &[0xbe; 1000], &long].concat();
        (frame(HEADERS, END_HEADERS, id, &indexed), again(&frame(HEADERS, END_HEADERS, id, &many)))
    }),
    http2("empty DATA", "", |id| (stream_of_events(id), again(&frame(DATA, 0, id, &[])))),
    http2("DATA of padding", "", |id| (stream_of_events(id), again(&frame(DATA, PADDED, id, &[1, 0])))),
    http2("CONTINUATION", "", |id| (frame(HEADERS, 0, id, &[]), again(&frame(CONTINUATION, 0, id, &[])))),
    http2("CONTINUATION of headers", "", |id| {
        let headers = header(STATUS, "200").repeat(1000);
        (frame(HEADERS, 0, id, &headers), again(&frame(CONTINUATION, 0, id, &headers)))
    }),
];

const HTTP2_FRAMES: &[Flood] = &[
    http2("PRIORITY", UNUSED, |id| (vec![], again(&frame(PRIORITY, 0, id, &[0, 0, 0, 0, 1])))),
    http2("SETTINGS", UNUSED, |_| (vec![], again(&frame(SETTINGS, 0, 0, &[])))),
    http2("SETTINGS that change something", UNUSED, |_| {
        (
            vec![],
            again(&[frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 1, 0]), frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])].concat()),
        )
    }),
    http2("PING", UNUSED, |_| (vec![], again(&frame(PING, 0, 0, &[0; 8])))),
    http2("answers to no PING", UNUSED, |_| (vec![], again(&frame(PING, ACK, 0, &[0; 8])))),
    http2("GOAWAY", LOST, |_| {
        (vec![], again(&frame(GOAWAY, 0, 0, &[&[0x7f, 0xff, 0xff, 0xff][..], &[0; 100]].concat())))
    }),
    http2("WINDOW_UPDATE", UNUSED, |id| {
        let updates = [frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), frame(WINDOW_UPDATE, 0, id, &[0, 0, 0, 1])];
        (vec![], again(&updates.concat()))
    }),
    http2("frames that nobody knows", UNUSED, |_| (vec![], again(&frame(0xaa, 0, 0, &[])))),
    http2("long frames that nobody knows", UNUSED, |_| (vec![], again(&frame(0xaa, 0, 0, &[0; 16384])))),
];

const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

const BODIES: &[Flood] = &[
    endless("comments", Version::Http1, |_| ([EVENTS, b"\r\n"].concat(), again(b":\n\n"))),
    endless("chunks of a byte", Version::Http1, |_| {
        ([EVENTS, b"Transfer-Encoding: chunked\r\n\r\n"].concat(), again(b"1\r\n\n\r\n"))
    }),
    endless("messages", Version::Http1, |_| {
        let event = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
        ([EVENTS, b"\r\n"].concat(), again(event))
    }),
    endless("comments", Version::Http2, |id| (stream_of_events(id), again(&frame(DATA, 0, id, b":\n\n")))),
    endless("long comments", Version::Http2, |id| {
        (stream_of_events(id), again(&frame(DATA, 0, id, &b":\n\n".repeat(5000))))
    }),
];

// A server that answers a request with a flood: it writes as fast as the client reads, until the connection has ended.

/// What a server sends instead of an answer.
struct Flood {
    name: &'static str,
    version: Version,
    /// What is sent once, and what is sent again and again. HTTP/2 has the number of the request's stream in its frames.
    bytes: fn(stream: u32) -> (Vec<u8>, Vec<u8>),
    /// What the error of the call says.
    error: &'static str,
    /// When the call ends if nothing else ends it.
    deadline: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    Http1,
    /// Over TLS.
    Http2,
}

/// A server that floods until it is dropped.
struct Flooding {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// What the client has to trust.
    certificate: Vec<u8>,
    is_secure: bool,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// How many bytes went over the connection that brought most.
    most_sent: AtomicU64,
}

impl Flooding {
    fn start(flood: &Flood) -> Self {
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

    fn def(&self) -> McpServerDef {
        let scheme = if self.is_secure { "https" } else { "http" };
        McpServerDef::http(format!("{scheme}://localhost:{}/mcp", self.address.port()))
    }

    /// How many bytes the client and the system took of one connection at most.
    fn most_sent(&self) -> u64 {
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
    let mut window = Window::default();
    let id = window.first_request(&mut stream)?;
    let (first, again) = bytes(id);
    let takes = length_of_data(&again);
    stream.write_all(&[greeting(), first].concat())?;
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
        let mut total = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            discard()?;
            match send() {
                Ok(n) => total += n as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_micros(100)),
                Err(error) => return Err(error),
            }
            self.most_sent.fetch_max(total, Ordering::SeqCst);
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

// HTTP/2 as bytes (RFC 9113), as far as a flood needs it.

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

const PREFACE: usize = 24;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What a server sends first: its settings, and that it has those of the client.
fn greeting() -> Vec<u8> {
    [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat()
}

/// A header as it stands, with a name of HPACK's table (RFC 7541, 6.2.2).
fn header(name: u8, value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    let name = if name < 15 { vec![name] } else { vec![15, name - 15] };
    [&name, &[length][..], value.as_bytes()].concat()
}

/// How many bytes of a window these frames take.
fn length_of_data(mut frames: &[u8]) -> u64 {
    let mut sum = 0;
    while let Some((kind, _, payload, rest)) = next(frames) {
        sum += if kind == DATA { payload.len() as u64 } else { 0 };
        frames = rest;
    }
    sum
}

/// The kind, stream and payload of the first frame, and what follows it.
fn next(frames: &[u8]) -> Option<(u8, u32, &[u8], &[u8])> {
    let (head, rest) = frames.split_at_checked(9)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let (payload, rest) = rest.split_at_checked(length as usize)?;
    Some((head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload, rest))
}

/// How much the client lets the server send of a body. Its first settings say what a stream may have; what it adds for the stream
/// is what counts.
#[derive(Default)]
struct Window {
    left: u64,
    /// What was received, from the first frame on that is not whole.
    bytes: Vec<u8>,
    first_request: Option<u32>,
}

impl Window {
    /// Reads up to the headers of the first request. The number of its stream.
    fn first_request(&mut self, reader: &mut impl Read) -> io::Result<u32> {
        reader.read_exact(&mut [0; PREFACE])?;
        loop {
            if let Some(stream) = self.first_request {
                return Ok(stream);
            }
            let mut bytes = [0; 4096];
            match reader.read(&mut bytes)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                n => self.received(&bytes[..n]),
            }
        }
    }

    /// Whether so much may be sent, which then counts as sent.
    fn take(&mut self, bytes: u64) -> bool {
        let may = self.left >= bytes;
        self.left -= if may { bytes } else { 0 };
        may
    }

    /// Looks at what the client sends.
    fn received(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.bytes);
        let mut frames = &all[..];
        while let Some((kind, stream, payload, rest)) = next(frames) {
            match kind {
                // Pairs of a number and a value, of which 4 is the window.
                SETTINGS => {
                    let settings = payload.chunks_exact(6).filter(|setting| setting[1] == 4);
                    self.left += settings.map(|setting| u64::from(number(&setting[2..]))).sum::<u64>();
                }
                WINDOW_UPDATE if stream != 0 => self.left += u64::from(number(payload)),
                HEADERS => self.first_request = Some(stream),
                _ => {}
            }
            frames = rest;
        }
        self.bytes = frames.to_vec();
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
