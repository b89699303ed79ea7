//! [`Proxies`] selects the proxy for a URL. [`tunnel`] opens a tunnel to a server through a proxy.

use std::net::IpAddr;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use mcpwire_driver::http::Socket;
use mcpwire_driver::protocol::http::{Failure, FailureKind};

use crate::tls::bare;

/// Maximum size of the head of a proxy's response to `CONNECT`, in bytes. 8 KiB, as in other clients.
const MAX_HEAD: usize = 8 * 1024;

/// Selects the proxy for a URL: the proxy that the program has set, or a proxy from the environment variables.
pub(crate) struct Proxies {
    matcher: Matcher,
    /// Whether requests to servers on this machine use the proxy too. `true` only for a proxy that the program has set.
    includes_loopback: bool,
}

impl Proxies {
    /// Selects `proxy` for all requests. With `None`, reads the proxies from the environment variables, such as `HTTPS_PROXY`.
    pub(crate) fn new(proxy: Option<String>) -> Self {
        match proxy {
            Some(proxy) => Proxies { matcher: Matcher::builder().all(proxy).build(), includes_loopback: true },
            None => Proxies { matcher: Matcher::from_env(), includes_loopback: false },
        }
    }

    /// Selects no proxy for any request.
    pub(crate) fn none() -> Self {
        Proxies { matcher: Matcher::builder().build(), includes_loopback: false }
    }

    /// Returns the proxy for requests to this URL, or `None` to connect to the server directly.
    pub(crate) fn find(&self, uri: &Uri) -> Option<Intercept> {
        let host = bare(uri.host()?);
        let is_loopback =
            host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if is_loopback && !self.includes_loopback { None } else { self.matcher.intercept(uri) }
    }

    /// Returns the value of the `Proxy-Authorization` header for a request to an `http` URL, or `None` if its proxy needs none.
    /// Also returns `None` for `https`, because [`tunnel`] then sends the header.
    pub(crate) fn authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme_str() != Some("http") {
            return None;
        }
        self.find(uri)?.basic_auth().cloned()
    }
}

/// Opens a tunnel through a proxy to the server at `host` and `port` (`CONNECT`; RFC 9110, section 9.3.6). `socket` is connected
/// to the proxy.
pub(crate) async fn tunnel(
    mut socket: Socket,
    host: &str,
    port: u16,
    authorization: Option<&HeaderValue>,
) -> Result<Socket, Failure> {
    let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(value) = authorization {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    write_all(&mut socket, &head).await.map_err(|error| broken(&error))?;
    let response = read_head(&mut socket).await?;
    let status = response.split(' ').nth(1).unwrap_or_default();
    if response.starts_with("HTTP/1.") && status.starts_with('2') {
        return Ok(socket);
    }
    let line = response.lines().next().unwrap_or_default();
    Err(unreachable(format!("the proxy refused the connection: {line}")))
}

async fn write_all(socket: &mut Socket, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let n = std::future::poll_fn(|cx| socket.as_mut().poll_write(cx, bytes)).await?;
        if n == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[n..];
    }
    std::future::poll_fn(|cx| socket.as_mut().poll_flush(cx)).await
}

/// Reads the head of the proxy's response byte by byte, because the bytes after the head come from the server.
async fn read_head(socket: &mut Socket) -> Result<String, Failure> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let n = std::future::poll_fn(|cx| socket.as_mut().poll_read(cx, &mut byte)).await;
        if n.map_err(|error| broken(&error))? == 0 || head.len() == MAX_HEAD {
            return Err(unreachable("the proxy sent no valid response"));
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn broken(error: &std::io::Error) -> Failure {
    unreachable(format!("the proxy: {error}"))
}

/// Creates the failure of a request whose server or proxy cannot be reached.
pub(crate) fn unreachable(detail: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Unreachable, detail)
}
