//! [`Pool`]: opens connections, and reuses idle connections. [`BodyReader`]: reads the body of a response, and then returns the
//! connection to the pool.
//!
//! The pools of `hyper_util` 0.1.21 were measured with HTTP/1.1 and a local server. They are not used for these reasons:
//!
//! * `client::legacy` returns a connection only when its task has run once more after the end of the response. On a runtime with
//!   two threads, the next call therefore opens a second connection (89 us of CPU a call with chunked responses, 50 with this
//!   pool). 64 loops of calls open 78 to 128 connections, where this pool opens 64. It limits idle connections only: 500
//!   simultaneous requests opened 268 to 441. It also compiles tokio's `net`, mio and socket2 into programs on other runtimes.
//! * `client::pool::cache` returns a connection when the program drops it, which can be the end of the response. It has no idle
//!   timeout, no limit and no origins. Its types cannot be named in a struct, and it cannot discard a connection. The code around
//!   it would be longer than this file.
//!
//! Both pools would support the HTTP/2 settings, the [`Meter`] and any runtime.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_io::AsyncRead;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body::Body;
use hyper::body::Incoming;
use mcpwire_client::lock;
use mcpwire_driver::http::{Net, error_chain};
use mcpwire_driver::protocol::Timestamp;
use mcpwire_driver::protocol::http::Failure;
use tokio::sync::oneshot;

use crate::connect::Connector;
use crate::connection::{FullBody, HttpConnection, SendFailure};
use crate::meter::Meter;
use crate::time::within;

/// Maximum time to wait until an idle HTTP/1.1 connection is ready for a request. 100 ms: usually, one poll of its task suffices.
///
/// A connection takes longer if the server has responded before it has read the whole request. Such a connection is closed.
const READY_TIMEOUT: Duration = Duration::from_millis(100);

/// Sends requests on idle connections, or on new connections if no idle connection leads to the origin.
pub(crate) struct Pool {
    pub(crate) connector: Connector,
    /// The HTTP/1.1 connections without a request in flight, and all HTTP/2 connections. The connection that was
    /// returned last is at the end.
    idle: Mutex<Vec<IdleEntry>>,
    /// Ends the task that closes idle connections, when this sender is dropped. `None` if the task is not running.
    sweeper: Mutex<Option<oneshot::Sender<()>>>,
    /// Whether the most recently opened connection uses HTTP/2.
    is_http2: AtomicBool,
    /// Held while a connection is opened, if the last connection used HTTP/2. Other requests wait for the new connection and
    /// share it.
    connecting: tokio::sync::Mutex<()>,
}

struct IdleEntry {
    origin: Origin,
    connection: HttpConnection,
    since: Timestamp,
}

/// The scheme, host and port of a URL. A connection is reused only for requests to the same origin.
#[derive(Clone, PartialEq, Eq)]
struct Origin {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
    /// Whether the connection must lead to a public address. Connections without this check are not reused for such requests.
    public_address_only: bool,
}

impl Origin {
    fn new(uri: &Uri, public_address_only: bool) -> Self {
        Origin { scheme: uri.scheme().cloned(), authority: uri.authority().cloned(), public_address_only }
    }
}

/// An HTTP/1.1 connection whose response is being read. Dropping this value closes the connection.
pub(crate) struct PooledConnection {
    origin: Origin,
    connection: HttpConnection,
    pool: Weak<Pool>,
}

impl PooledConnection {
    /// Returns the connection to the pool. Call this only after the whole response has been read.
    pub(crate) fn return_to_pool(self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.put(self.origin, self.connection);
        }
    }
}

impl Pool {
    /// Creates an empty pool. The options of `connector` limit the number of idle connections and how long they stay open.
    pub(crate) fn new(connector: Connector) -> Self {
        Pool {
            connector,
            idle: Mutex::default(),
            sweeper: Mutex::default(),
            is_http2: AtomicBool::new(false),
            connecting: tokio::sync::Mutex::default(),
        }
    }

    /// Returns whether the most recently opened connection uses HTTP/2, to choose the maximum number of requests in flight.
    pub(crate) fn is_http2(&self) -> bool {
        self.is_http2.load(Ordering::Relaxed)
    }

    /// Sends a request on an idle or new connection, and waits for the head of the response. When the body has been read, an
    /// HTTP/1.1 connection returns to the pool.
    pub(crate) async fn send(
        self: &Arc<Self>,
        mut request: Request<FullBody>,
        public_address_only: bool,
    ) -> Result<Response<BodyReader>, Failure> {
        let origin = Origin::new(request.uri(), public_address_only);
        loop {
            let (mut connection, is_new) = match self.take_idle(&origin).await {
                Some(connection) => (connection, false),
                None => self.connect(request.uri(), &origin).await?,
            };
            match connection.send(request).await {
                Ok(response) => {
                    let meter = connection.meter.clone();
                    let pool = Arc::downgrade(self);
                    let pooled = (!connection.is_http2()).then_some(PooledConnection { origin, connection, pool });
                    return Ok(response.map(|body| BodyReader::new(body, meter, pooled)));
                }
                // The server has closed the idle connection before any part of the request was sent. Sending the request on
                // another connection therefore cannot make it take effect twice.
                Err(SendFailure::Unsent(unsent)) if !is_new => {
                    self.remove_failed(&origin, &connection);
                    request = *unsent;
                }
                Err(error) => return Err(error.into_failure()),
            }
        }
    }

    async fn take_idle(&self, origin: &Origin) -> Option<HttpConnection> {
        while let Some(mut connection) = self.take(origin) {
            if connection.is_ready()
                || matches!(within(&*self.connector.net, READY_TIMEOUT, connection.ready()).await, Some(true))
            {
                return Some(connection);
            }
            self.remove_failed(origin, &connection);
        }
        None
    }

    /// Opens a connection. If another request is opening an HTTP/2 connection to the origin, waits for that connection instead.
    ///
    /// Also returns whether the connection is new.
    async fn connect(self: &Arc<Self>, uri: &Uri, origin: &Origin) -> Result<(HttpConnection, bool), Failure> {
        let _connecting = if self.is_http2() {
            let connecting = self.connecting.lock().await;
            if let Some(connection) = self.take_idle(origin).await {
                return Ok((connection, false));
            }
            Some(connecting)
        } else {
            None
        };
        let io = self.connector.connect(uri, origin.public_address_only).await?;
        self.is_http2.store(io.is_http2, Ordering::Relaxed);
        let Connector { net, options, .. } = &self.connector;
        let connection = HttpConnection::handshake(io, net, options.max_head).await?;
        if let Some(shared) = connection.share() {
            self.put(origin.clone(), shared);
        }
        Ok((connection, true))
    }
}

/// Methods that manage the idle connections.
impl Pool {
    /// Returns the most recently used connection to an origin, so that the other connections expire. Removes an HTTP/1.1
    /// connection from the pool, and shares an HTTP/2 connection.
    fn take(&self, origin: &Origin) -> Option<HttpConnection> {
        let mut entries = lock(&self.idle);
        entries.retain(|entry| !entry.connection.is_closed());
        let at = entries.iter().rposition(|entry| entry.origin == *origin)?;
        if let Some(shared) = entries[at].connection.share() {
            entries[at].since = self.connector.clock.now();
            return Some(shared);
        }
        Some(entries.remove(at).connection)
    }

    fn put(self: &Arc<Self>, origin: Origin, connection: HttpConnection) {
        let mut entries = lock(&self.idle);
        if entries.len() >= self.connector.options.max_connections && !entries.is_empty() {
            entries.remove(0);
        }
        entries.push(IdleEntry { origin, connection, since: self.connector.clock.now() });
        drop(entries);
        self.start_sweeper();
    }

    /// Removes a failed connection from the pool: all HTTP/2 connections to its origin. [`Pool::take`] has already removed an
    /// HTTP/1.1 connection.
    fn remove_failed(&self, origin: &Origin, connection: &HttpConnection) {
        if connection.is_http2() {
            lock(&self.idle).retain(|entry| entry.origin != *origin);
        }
    }

    /// Closes the connections that were idle for longer than the idle timeout. Returns the time until the next connection
    /// expires, or `None` if the pool is empty.
    fn close_expired(&self) -> Option<Duration> {
        let now = self.connector.clock.now();
        let age = |entry: &IdleEntry| now.duration_since(entry.since);
        let timeout = self.connector.options.idle_timeout;
        let mut entries = lock(&self.idle);
        // Requests in flight hold clones of an HTTP/2 connection. Removing it here does not close it for them.
        entries.retain(|entry| !entry.connection.is_closed() && age(entry) < timeout);
        entries.iter().map(age).max().map(|oldest| timeout.saturating_sub(oldest))
    }

    /// Spawns the task [`sweep`], which closes idle connections, unless it is already running.
    fn start_sweeper(self: &Arc<Self>) {
        let mut sweeper = lock(&self.sweeper);
        if sweeper.as_ref().is_some_and(|sender| !sender.is_closed()) {
            return;
        }
        let (sender, pool_dropped) = oneshot::channel();
        *sweeper = Some(sender);
        let Connector { net, options, .. } = &self.connector;
        net.spawn(Box::pin(sweep(Arc::downgrade(self), Arc::clone(net), options.idle_timeout, pool_dropped)));
    }
}

/// The task that closes connections after their idle timeout. Ends when the pool is empty or dropped.
async fn sweep(pool: Weak<Pool>, net: Arc<dyn Net>, timeout: Duration, mut pool_dropped: oneshot::Receiver<()>) {
    let mut wait = timeout;
    while within(&*net, wait, &mut pool_dropped).await.is_none() {
        let Some(pool) = pool.upgrade() else { return };
        wait = pool.close_expired().unwrap_or(timeout);
        // The pool is checked under the lock of `sweeper`. A connection that returns later takes this lock too, and starts a new
        // task.
        let mut sweeper = lock(&pool.sweeper);
        if lock(&pool.idle).is_empty() {
            *sweeper = None;
            return;
        }
    }
}

/// Reads the body of a response, and returns an HTTP/1.1 connection to the pool at the end. Buffers at most one frame of hyper.
pub(crate) struct BodyReader {
    body: Incoming,
    /// The bytes of the last frame that were not read yet.
    frame: Bytes,
    meter: Meter,
    /// The HTTP/1.1 connection that carries the response. `None` after the end of the response, and for HTTP/2.
    connection: Option<PooledConnection>,
}

impl BodyReader {
    /// Creates the reader of a response body, after the head of the response has arrived.
    ///
    /// Resets the meter, which counts the bytes since a part of a response was last read.
    pub(crate) fn new(body: Incoming, meter: Meter, connection: Option<PooledConnection>) -> Self {
        meter.reset();
        let mut reader = BodyReader { body, frame: Bytes::new(), meter, connection };
        if reader.body.is_end_stream() {
            reader.return_connection();
        }
        reader
    }

    fn return_connection(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.return_to_pool();
        }
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.frame.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => {
                    this.return_connection();
                    return Poll::Ready(Ok(0));
                }
                // Ignores trailers, because MCP does not use them.
                Some(Ok(frame)) => this.frame = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(read_error(&error))),
            }
            if this.frame.is_empty() {
                // Yields to other tasks, because a server may send any number of empty frames.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        this.meter.reset();
        let n = this.frame.len().min(buf.len());
        buf[..n].copy_from_slice(&this.frame[..n]);
        this.frame.advance(n);
        Poll::Ready(Ok(n))
    }
}

fn read_error(error: &hyper::Error) -> io::Error {
    let kind = if error.is_parse() { io::ErrorKind::InvalidData } else { io::ErrorKind::UnexpectedEof };
    io::Error::new(kind, error_chain(error))
}
