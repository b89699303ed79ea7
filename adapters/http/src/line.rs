//! [`Line`]: a connection that speaks HTTP.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use mcpwire_driver::core::http::{Failure, FailureKind};
use mcpwire_driver::http::Net;

use crate::body::{Whole, all_of};
use crate::connect::default_port;
use crate::io::Wire;
use crate::meter::Meter;
use crate::time::Timer;

/// How many bytes of a body by HTTP/2 may wait to be read. 1 MiB: 20 MiB a second where an answer takes 50 ms.
const STREAM_WINDOW: u32 = 1024 * 1024;

/// How many bytes of all bodies by one connection may wait to be read. 2 MiB: a body that nobody reads holds up no other.
const CONNECTION_WINDOW: u32 = 2 * 1024 * 1024;

/// How long a connection by HTTP/2 with requests under way may be silent before it is asked for a sign of life. 15 s: with
/// [`KEEP_ALIVE_TIMEOUT`], one that is dead is given up before the 30 s that a request waits by default are over.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// How long that sign may take. 10 s: packets that are lost twice are sent again by then.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes HTTP of connections.
pub(crate) struct Lines {
    net: Arc<dyn Net>,
    /// How large the head of a response may be, in bytes.
    max_head: usize,
}

/// A connection on which requests can be sent: by HTTP/1.1 one after the other, by HTTP/2 beside one another.
pub(crate) struct Line {
    sender: Sender,
    meter: Meter,
}

enum Sender {
    One {
        sender: http1::SendRequest<Whole>,
        /// What stands at its other end is a proxy, which wants to be told whole addresses.
        is_proxied: bool,
    },
    Many(http2::SendRequest<Whole>),
}

/// Why a request has no answer.
pub(crate) enum NotSent {
    /// The connection was closed before anything of the request went over it: here it is back.
    Closed(Box<Request<Whole>>),
    Failed(Failure),
}

impl NotSent {
    pub(crate) fn failure(self) -> Failure {
        match self {
            NotSent::Closed(_) => Failure::new(FailureKind::Broken, "the connection was closed at once"),
            NotSent::Failed(failure) => failure,
        }
    }
}

impl Lines {
    pub(crate) fn new(net: Arc<dyn Net>, max_head: usize) -> Self {
        Lines { net, max_head }
    }

    pub(crate) async fn open(&self, wire: Wire) -> Result<Line, Failure> {
        let meter = wire.meter.clone();
        if wire.is_http2 {
            let made = http2::Builder::new(Spawn(Arc::clone(&self.net)))
                .timer(Timer(Arc::clone(&self.net)))
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .keep_alive_interval(KEEP_ALIVE_INTERVAL)
                .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
                .max_header_list_size(u32::try_from(self.max_head).unwrap_or(u32::MAX))
                .handshake(wire)
                .await;
            let (sender, connection) = made.map_err(|error| failure(&error))?;
            // Its errors are those of its requests.
            self.net.spawn(Box::pin(async { drop(connection.await) }));
            return Ok(Line { sender: Sender::Many(sender), meter });
        }
        let is_proxied = wire.is_proxied;
        let made = http1::Builder::new().max_buf_size(self.max_head).handshake(wire).await;
        let (sender, connection) = made.map_err(|error| failure(&error))?;
        self.net.spawn(Box::pin(async { drop(connection.await) }));
        Ok(Line { sender: Sender::One { sender, is_proxied }, meter })
    }
}

impl Line {
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.sender, Sender::Many(_))
    }

    /// Another handle of the same connection, if it carries many requests at once.
    pub(crate) fn share(&self) -> Option<Line> {
        match &self.sender {
            Sender::One { .. } => None,
            Sender::Many(sender) => Some(Line { sender: Sender::Many(sender.clone()), meter: self.meter.clone() }),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::One { sender, .. } => sender.is_closed(),
            Sender::Many(sender) => sender.is_closed(),
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        match &self.sender {
            Sender::One { sender, .. } => sender.is_ready(),
            Sender::Many(sender) => sender.is_ready(),
        }
    }

    /// Waits until a request can be sent; `false` if none ever can.
    pub(crate) async fn ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::One { sender, .. } => sender.ready().await.is_ok(),
            Sender::Many(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Returns what counts the bytes that this connection brings.
    pub(crate) fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// Sends a request, and waits for the head of its answer.
    pub(crate) async fn send(&mut self, mut request: Request<Whole>) -> Result<Response<Incoming>, NotSent> {
        let uri = request.uri().clone();
        let sent = match &mut self.sender {
            Sender::One { sender, is_proxied } => {
                address(&mut request, *is_proxied);
                sender.try_send_request(request).await
            }
            Sender::Many(sender) => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error| match error.take_message() {
            Some(mut same) => {
                *same.uri_mut() = uri;
                NotSent::Closed(Box::new(same))
            }
            None => NotSent::Failed(failure(error.error())),
        })
    }
}

/// Says where a request goes as HTTP/1.1 does: host and path apart, but to a proxy also as one (RFC 9112, 3.2).
fn address(request: &mut Request<Whole>, is_proxied: bool) {
    let uri = request.uri().clone();
    let host = uri.host().unwrap_or_default();
    let named = uri.port_u16().filter(|port| *port != default_port(&uri));
    let host = named.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    if let Ok(value) = HeaderValue::from_str(&host) {
        request.headers_mut().entry(HOST).or_insert(value);
    }
    if !is_proxied {
        let path = uri.into_parts().path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
    }
}

/// What hyper's error means.
fn failure(error: &hyper::Error) -> Failure {
    let kind = if error.is_parse() { FailureKind::Invalid } else { FailureKind::Broken };
    Failure::new(kind, all_of(error))
}

/// Runs the tasks of hyper on the runtime.
#[derive(Clone)]
struct Spawn(Arc<dyn Net>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawn {
    fn execute(&self, task: F) {
        self.0.spawn(Box::pin(task));
    }
}
