//! [`Proxies`]: selects the proxy of a request, and [`tunnel`]: opens a tunnel through a proxy.

use std::net::IpAddr;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use mcpwire_driver::http::Socket;
use mcpwire_driver::protocol::http::{Failure, FailureKind};

use crate::tls::bare;

/// Maximum size of the head of a proxy's response to `CONNECT`: 8 KiB, as in other clients.
const MAX_HEAD: usize = 8 * 1024;

/// The proxies of the environment, or the proxy that the program has set.
pub(crate) struct Proxies {
    matcher: Matcher,
    /// Whether requests to loopback addresses use the proxy, too.
    includes_loopback: bool,
}

impl Proxies {
    /// Uses this proxy for all requests. `None` selects the proxies of the environment variables.
    pub(crate) fn new(proxy: Option<String>) -> Self {
        match proxy {
            Some(proxy) => Proxies { matcher: Matcher::builder().all(proxy).build(), includes_loopback: true },
            None => Proxies { matcher: Matcher::from_env(), includes_loopback: false },
        }
    }

    /// Uses no proxy.
    pub(crate) fn none() -> Self {
        Proxies { matcher: Matcher::builder().build(), includes_loopback: false }
    }

    /// Returns the proxy for requests to this URL.
    pub(crate) fn find(&self, uri: &Uri) -> Option<Intercept> {
        let host = bare(uri.host()?);
        let is_loopback =
            host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if is_loopback && !self.includes_loopback { None } else { self.matcher.intercept(uri) }
    }

    /// Returns the `Proxy-Authorization` header of an `http` request. `None` for `https`, where the `CONNECT` request has the header.
    pub(crate) fn authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme_str() != Some("http") {
            return None;
        }
        self.find(uri)?.basic_auth().cloned()
    }
}

/// Requests a tunnel to a server from a proxy (`CONNECT`; RFC 9110, section 9.3.6).
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

/// Reads the head of the response byte by byte, because the bytes after the head belong to the server.
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

/// Creates the error of a host to which no connection could be opened.
pub(crate) fn unreachable(detail: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Unreachable, detail)
}
