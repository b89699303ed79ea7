//! [`HttpConnection`]: sends requests on an HTTP/1.1 or HTTP/2 connection of hyper. [`FullBody`]: the body of a request.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use mcpwire_driver::http::{Net, error_chain};
use mcpwire_driver::protocol::http::{Failure, FailureKind};

use crate::connect::default_port;
use crate::io::Io;
use crate::meter::Meter;
use crate::time::Timer;

/// Receive window of an HTTP/2 stream, in bytes. 1 MiB: allows 20 MiB/s at a round-trip time of 50 ms.
const STREAM_WINDOW: u32 = 1024 * 1024;

/// Receive window of an HTTP/2 connection, in bytes. 2 MiB: twice the window of a stream, so that one unread body does not block
/// the other streams.
const CONNECTION_WINDOW: u32 = 2 * 1024 * 1024;

/// Time without data from the server, after which the client sends a ping on an HTTP/2 connection with requests in flight. 15 s:
/// together with [`KEEP_ALIVE_TIMEOUT`], the client detects a dead connection before the default request timeout of 30 s.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Maximum time for the answer to a ping, after which the connection is closed. 10 s: enough for TCP to retransmit a packet
/// twice.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// An HTTP connection of hyper. An HTTP/1.1 connection carries one request at a time, and an HTTP/2 connection many.
pub(crate) struct HttpConnection {
    sender: Sender,
    /// Counts the bytes that the server has sent since a part of a response was last read.
    pub(crate) meter: Meter,
}

enum Sender {
    Http1 {
        sender: http1::SendRequest<FullBody>,
        /// Whether requests must contain absolute URLs, because a proxy receives them without a tunnel.
        is_proxied: bool,
    },
    Http2(http2::SendRequest<FullBody>),
}

/// The reason why the client received no response to a request.
pub(crate) enum SendFailure {
    /// The connection was closed before any part of the request was sent. Contains the request, to send it on another connection.
    Unsent(Box<Request<FullBody>>),
    Failed(Failure),
}

impl SendFailure {
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            SendFailure::Unsent(_) => Failure::new(FailureKind::Broken, "the server closed the new connection"),
            SendFailure::Failed(failure) => failure,
        }
    }
}

impl HttpConnection {
    /// Performs the HTTP handshake on an open connection, and spawns the task that drives the connection. `max_head` is the
    /// maximum size of the head of a response, in bytes.
    pub(crate) async fn handshake(io: Io, net: &Arc<dyn Net>, max_head: usize) -> Result<HttpConnection, Failure> {
        let meter = io.meter.clone();
        if io.is_http2 {
            let (sender, connection) = http2::Builder::new(Executor(Arc::clone(net)))
                .timer(Timer::new(Arc::clone(net)))
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .keep_alive_interval(KEEP_ALIVE_INTERVAL)
                .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
                .max_header_list_size(u32::try_from(max_head).unwrap_or(u32::MAX))
                .handshake(io)
                .await
                .map_err(|error| failure(&error))?;
            // The result is ignored, because the requests on the connection report the same error.
            net.spawn(Box::pin(async { drop(connection.await) }));
            return Ok(HttpConnection { sender: Sender::Http2(sender), meter });
        }
        let is_proxied = io.is_proxied;
        let (sender, connection) =
            http1::Builder::new().max_buf_size(max_head).handshake(io).await.map_err(|error| failure(&error))?;
        net.spawn(Box::pin(async { drop(connection.await) }));
        Ok(HttpConnection { sender: Sender::Http1 { sender, is_proxied }, meter })
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Returns another handle to an HTTP/2 connection, for another request. Returns `None` for HTTP/1.1, which cannot be shared.
    pub(crate) fn share(&self) -> Option<HttpConnection> {
        match &self.sender {
            Sender::Http1 { .. } => None,
            Sender::Http2(sender) => {
                Some(HttpConnection { sender: Sender::Http2(sender.clone()), meter: self.meter.clone() })
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1 { sender, .. } => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        match &self.sender {
            Sender::Http1 { sender, .. } => sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    /// Waits until the connection can carry a request. Returns `false` if the connection is closed.
    pub(crate) async fn ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1 { sender, .. } => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request on this connection, and waits for the head of the response.
    pub(crate) async fn send(&mut self, mut request: Request<FullBody>) -> Result<Response<Incoming>, SendFailure> {
        let uri = request.uri().clone();
        let sent = match &mut self.sender {
            Sender::Http1 { sender, is_proxied } => {
                set_http1_target(&mut request, *is_proxied);
                sender.try_send_request(request).await
            }
            Sender::Http2(sender) => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error| match error.take_message() {
            Some(mut request) => {
                *request.uri_mut() = uri;
                SendFailure::Unsent(Box::new(request))
            }
            None => SendFailure::Failed(failure(error.error())),
        })
    }
}

/// Sets the `Host` header and the request target that HTTP/1.1 requires (RFC 9112, section 3.2). The target is an absolute URL
/// for a proxy, and a path for a server.
fn set_http1_target(request: &mut Request<FullBody>, is_proxied: bool) {
    let uri = request.uri().clone();
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().filter(|port| *port != default_port(&uri));
    let host = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    if let Ok(value) = HeaderValue::from_str(&host) {
        request.headers_mut().entry(HOST).or_insert(value);
    }
    if !is_proxied {
        let path = uri.into_parts().path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
    }
}

fn failure(error: &hyper::Error) -> Failure {
    let kind = if error.is_parse() { FailureKind::Invalid } else { FailureKind::Broken };
    Failure::new(kind, error_chain(error))
}

/// Lets hyper spawn its tasks for HTTP/2 on the runtime.
#[derive(Clone)]
struct Executor(Arc<dyn Net>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Executor {
    fn execute(&self, task: F) {
        self.0.spawn(Box::pin(task));
    }
}

/// The body of a request, which is completely in memory.
pub(crate) struct FullBody(pub(crate) Bytes);

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.get_mut().0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}
