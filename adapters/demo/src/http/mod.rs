//! Runs the demo server over HTTP on a loopback address: Streamable HTTP at `/mcp`, and HTTP+SSE of 2024-11-05 at `/sse`.
//!
//! [`endpoint`] decides how to reply, without I/O. This file connects it with hyper.

mod body;
mod endpoint;
mod headers;
mod reply;
mod sessions;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use ::http::{HeaderValue, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time;

use self::body::{EventBody, Shared};
use self::endpoint::Endpoint;
use self::reply::{Reading, Reply};
use crate::Log;

/// Maximum number of open connections. Further clients wait until a connection is closed.
const MAX_CONNECTIONS: usize = 256;
/// Maximum time for a client to send the head of a request, and the same time again for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of the request line and the headers together, in bytes.
const MAX_HEAD: usize = 32 * 1024;
/// Maximum size of a request body, in bytes. The arguments of the demo tools are far smaller.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Maximum number of bytes to read and discard after a request was refused. Without this, the client may lose the response.
const MAX_IGNORED: usize = 4 * 1024 * 1024;
/// Maximum time to read and discard the bytes of a refused request.
const IGNORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The demo server over HTTP. It listens on a loopback address.
///
/// ```no_run
/// use mcpwire_demo::{HttpServer, Log};
///
/// let server = HttpServer::bind("127.0.0.1:0".parse()?, Log::new("demo", std::io::stderr()))?;
/// println!("{}", server.url());
/// server.run()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    log: Log,
}

/// The reason why [`HttpServer::bind`] cannot start the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpServerError {
    /// Other machines can reach this address. The server has no authorization, so it listens only on loopback addresses.
    #[error("{0} is not a loopback address. Use one, such as 127.0.0.1:8000")]
    NotLoopback(SocketAddr),
    /// The operating system cannot listen on the address, for example because the port is in use.
    #[error("cannot listen on {0}: {1}. Use another port, or port 0 for any free one")]
    Bind(SocketAddr, io::Error),
}

impl HttpServer {
    /// Creates a server that listens on a loopback address. Port 0 selects a free port.
    pub fn bind(address: SocketAddr, log: Log) -> Result<Self, HttpServerError> {
        if !address.ip().is_loopback() {
            return Err(HttpServerError::NotLoopback(address));
        }
        let bind = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = bind().map_err(|error| HttpServerError::Bind(address, error))?;
        Ok(Self { listener, address, log })
    }

    /// Returns the URL for clients of Streamable HTTP. Clients of HTTP+SSE use the path `/sse` instead of `/mcp`.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, endpoint::PATH)
    }

    /// Serves clients forever. Returns an error only if the tokio runtime cannot be created.
    pub fn run(self) -> io::Result<()> {
        // Creates pipes first, to fail here if file descriptors are short: with tokio's feature `signal`, building the runtime
        // would panic.
        drop((0..4).map(|_| io::pipe()).collect::<io::Result<Vec<_>>>()?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let shared = Arc::new(Shared::new(self.log));
            tokio::spawn(keep_time(Arc::clone(&shared)));
            accept(&listener, &shared).await;
            Ok(())
        })
    }
}

/// The timer task: makes the endpoint handle its timeouts when they are due.
async fn keep_time(shared: Arc<Shared>) {
    loop {
        let Some(at) = shared.next_timeout() else {
            shared.changed().await;
            continue;
        };
        tokio::select! {
            () = time::sleep_until(at.into()) => shared.update(Endpoint::handle_timeout),
            () = shared.changed() => {}
        }
    }
}

async fn accept(listener: &tokio::net::TcpListener, shared: &Arc<Shared>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // The client has disconnected already, or no file descriptor is free. In the second case, other connections may close
            // during the pause.
            time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            serve(socket, &shared).await;
            drop(permit);
        });
    }
}

/// Serves the requests of one HTTP connection until the connection ends.
async fn serve(socket: TcpStream, shared: &Arc<Shared>) {
    // An error is ignored: `TCP_NODELAY` only affects the speed.
    let _ = socket.set_nodelay(true);
    let service = service_fn(|request| Box::pin(answer(request, Arc::clone(shared))));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(socket), service);
    let finished = poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    let mut socket = connection.into_parts().io.into_inner();
    // An error is ignored: the end of a connection concerns only its client.
    let _ = socket.shutdown().await;
    // Closing a socket with unread data resets the connection, and the client could lose the response.
    if finished.is_err() {
        let _ = time::timeout(IGNORE_TIMEOUT, discard(&mut socket)).await;
    }
}

async fn discard(socket: &mut TcpStream) -> io::Result<()> {
    let mut left = MAX_IGNORED;
    let mut buffer = vec![0; 16 * 1024];
    while left > 0 {
        match socket.read(&mut buffer).await? {
            0 => return Ok(()),
            length => left = left.saturating_sub(length),
        }
    }
    Ok(())
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Either<Full<Bytes>, EventBody>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = match time::timeout(READ_TIMEOUT, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(status)) => return Ok(refused(status)),
        Err(_) => return Ok(refused(StatusCode::REQUEST_TIMEOUT)),
    };
    let request = Request::from_parts(parts, body);
    Ok(match shared.update(|endpoint, now| endpoint.answer(&request, now)) {
        Reply::Whole(response) => (*response).map(|body| Either::Left(Full::from(body))),
        Reply::Events(reading) => events(reading, shared).map(Either::Right),
    })
}

/// Reads the body of a request. The error is the HTTP status for a body that is too large or too slow.
async fn read(body: Incoming) -> Result<Bytes, StatusCode> {
    let mut body = pin!(Limited::new(body, MAX_BODY + MAX_IGNORED));
    let too_large = body.size_hint().lower() > MAX_BODY as u64;
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST }
        })?;
        if let Ok(data) = frame.into_data() {
            length += data.len();
            if !too_large && length <= MAX_BODY {
                bytes.extend_from_slice(&data);
            }
        }
    }
    // A body slightly above the limit is read to its end, so that the client gets the response.
    if too_large || length > MAX_BODY { Err(StatusCode::PAYLOAD_TOO_LARGE) } else { Ok(bytes.into()) }
}

/// Returns the response to a request whose body was not read. Its header `Connection` asks to close the connection.
fn refused(status: StatusCode) -> Response<Either<Full<Bytes>, EventBody>> {
    let mut response = reply::text(status, "the body is too large, is not valid HTTP, or did not come in time");
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    (*response).map(|body| Either::Left(Full::from(body)))
}

fn events(reading: Reading, shared: Arc<Shared>) -> Response<EventBody> {
    let mut response = Response::new(EventBody::new(reading, shared));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // This header keeps proxies such as nginx from buffering the events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
