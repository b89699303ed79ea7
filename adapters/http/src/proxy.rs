//! Proxies: which one, and the way through it.

use std::net::IpAddr;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::connect::ConnectFailure;
use mcpwire_driver::http::Socket;

/// The longest head of an answer that a proxy may give. 8 KiB: what other clients take.
const MAX_HEAD: usize = 8 * 1024;

/// The proxies that the environment names, or the one that the program does.
pub(crate) struct Proxies {
    matcher: Matcher,
    /// Also on the way to this machine.
    is_everywhere: bool,
}

impl Proxies {
    pub(crate) fn new(proxy: Option<String>) -> Self {
        match proxy {
            Some(proxy) => Proxies { matcher: Matcher::builder().all(proxy).build(), is_everywhere: true },
            None => Proxies { matcher: Matcher::from_env(), is_everywhere: false },
        }
    }

    /// No proxies at all.
    pub(crate) fn none() -> Self {
        Proxies { matcher: Matcher::builder().build(), is_everywhere: false }
    }

    /// The proxy for an address. The environment's is for none on this machine.
    pub(crate) fn of(&self, uri: &Uri) -> Option<Intercept> {
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
        let is_here = host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if is_here && !self.is_everywhere { None } else { self.matcher.intercept(uri) }
    }

    /// What a proxy wants to be told with a request that it passes on itself.
    pub(crate) fn authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme_str() != Some("http") {
            return None;
        }
        self.of(uri)?.basic_auth().cloned()
    }
}

/// Asks a proxy for a way to a server (RFC 9110, 9.3.6).
pub(crate) async fn tunnel(
    mut socket: Socket,
    host: &str,
    port: u16,
    authorization: Option<&HeaderValue>,
) -> Result<Socket, ConnectFailure> {
    let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(value) = authorization {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    write_all(&mut socket, &head).await.map_err(ConnectFailure::proxy)?;
    let answer = read_head(&mut socket).await?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if answer.starts_with("HTTP/1.") && status.starts_with('2') {
        return Ok(socket);
    }
    let line = answer.lines().next().unwrap_or_default();
    Err(ConnectFailure::unreachable(format!("the proxy does not let it through: {line}")))
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

/// Byte by byte: what follows the head is the server's.
async fn read_head(socket: &mut Socket) -> Result<String, ConnectFailure> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let n = std::future::poll_fn(|cx| socket.as_mut().poll_read(cx, &mut byte)).await;
        if n.map_err(ConnectFailure::proxy)? == 0 || head.len() == MAX_HEAD {
            return Err(ConnectFailure::unreachable("the proxy's answer is none".into()));
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
