//! [`LoopbackListener`]: receives the redirect that a login in a browser ends with (RFC 8252, section 7.3).

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Maximum size of the head of a request, in bytes. 8 KiB: a code and a state are far shorter.
const MAX_HEAD: usize = 8 * 1024;

/// The status and the text of a page for the browser.
type Page = (&'static str, &'static str);

const RECEIVED: Page = ("200 OK", "The login has been received. You can close this page and go back to the program.");
const OTHER_LOGIN: Page = ("400 Bad Request", "This is not the answer to the login of this program.");
/// The page for requests to other paths than that of the redirect URI, such as `/favicon.ico`.
const OTHER_PATH: Page = ("404 Not Found", "There is nothing here.");
/// The page for requests that a page of another site may have caused, and for anything that is no HTTP request.
const REFUSED: Page = ("400 Bad Request", "This request is not part of a login.");

/// Time between two checks for connections, for new bytes, for a cancellation and for the timeout.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of open connections to the listener. Further connections wait in the queue of the operating system. A browser
/// needs a few.
const MAX_VISITORS: usize = 32;

/// Minimum time for which a silent connection stays open. Afterwards, it is closed if all places are taken and others wait.
/// Silent connections can thus delay the redirect, but not prevent it.
const MIN_STAY: Duration = Duration::from_secs(1);

/// Listens on a port of this machine for the browser, which the authorization server redirects there at the end of a login.
///
/// It accepts only `GET` requests to its path, with a `Host` header that names the listener. The caller must check the `state`
/// and `iss` parameters of the redirect, to know whether it belongs to the login.
#[derive(Debug)]
pub struct LoopbackListener {
    listener: TcpListener,
    redirect_uri: String,
    host: String,
    path: String,
}

/// Why a [`LoopbackListener`] received no redirect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopbackError {
    /// The host is not this machine, or the path does not begin with `/`.
    #[error(
        "cannot listen for the login at `{0}`: use `127.0.0.1`, `[::1]` or `localhost`, and a path that begins with `/`"
    )]
    Address(String),
    /// The operating system refused the port.
    #[error("cannot listen for the login at {address}: {error}{}", advice(error))]
    Bind {
        /// The address and the port.
        address: String,
        /// The error of the operating system. It is not the source, because the message contains its text.
        error: io::Error,
    },
    /// Nobody finished the login in time.
    #[error("nobody finished the login in the browser within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// The program has cancelled the login.
    #[error("the login was cancelled")]
    Cancelled,
    /// The operating system reported another error.
    #[error("cannot receive the answer of the browser: {0}")]
    Io(io::Error),
}

impl From<io::Error> for LoopbackError {
    // Not `#[from]`, which would make it the source, whose text the message contains already.
    fn from(error: io::Error) -> Self {
        LoopbackError::Io(error)
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => ". Another program uses this port: end it, or set another port for the login",
        _ => "",
    }
}

impl LoopbackListener {
    /// Listens on `host`, which is `127.0.0.1`, `[::1]` or `localhost`. Port 0 selects a free port. `path` begins with `/`.
    pub fn bind(host: &str, port: u16, path: &str) -> Result<Self, LoopbackError> {
        let address: IpAddr = match host {
            "127.0.0.1" | "localhost" => Ipv4Addr::LOCALHOST.into(),
            "[::1]" => Ipv6Addr::LOCALHOST.into(),
            _ => return Err(LoopbackError::Address(host.to_owned())),
        };
        let is_path =
            path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
        if !is_path {
            return Err(LoopbackError::Address(format!("{host}{path}")));
        }
        let address = SocketAddr::new(address, port);
        let listener =
            TcpListener::bind(address).map_err(|error| LoopbackError::Bind { address: address.to_string(), error })?;
        listener.set_nonblocking(true)?;
        let host = format!("{host}:{}", listener.local_addr()?.port());
        Ok(LoopbackListener { listener, redirect_uri: format!("http://{host}{path}"), host, path: path.to_owned() })
    }

    /// Returns the redirect URI to send to the authorization server, with the port that was chosen.
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Blocks this thread until the browser is redirected to the listener. Returns the whole URL of the redirect.
    ///
    /// `is_cancelled` is called several times a second. If it returns `true`, the wait ends with [`LoopbackError::Cancelled`].
    pub fn wait(self, timeout: Duration, is_cancelled: impl Fn() -> bool) -> Result<String, LoopbackError> {
        self.wait_for(Instant::now, timeout, is_cancelled, |_| true)
    }

    /// Waits for a redirect that `is_response` accepts, and refuses others: pages of other sites can send browsers here, too.
    /// `now` is the clock.
    pub(super) fn wait_for(
        self,
        now: impl Fn() -> Instant,
        timeout: Duration,
        is_cancelled: impl Fn() -> bool,
        is_response: impl Fn(&str) -> bool,
    ) -> Result<String, LoopbackError> {
        let start = now();
        let mut visitors: Vec<Visitor> = Vec::new();
        loop {
            if is_cancelled() {
                return Err(LoopbackError::Cancelled);
            }
            // Browsers open connections that they do not use. A silent connection must not keep other connections waiting.
            while has_place(&visitors, now())
                && let Ok((stream, _)) = self.listener.accept()
            {
                if visitors.len() == MAX_VISITORS {
                    visitors.remove(0);
                }
                if stream.set_nonblocking(true).is_ok() {
                    visitors.push(Visitor { stream, accepted_at: now(), head: Vec::new() });
                }
            }
            for mut visitor in std::mem::take(&mut visitors) {
                match visitor.poll(&self.host, &self.path, &is_response) {
                    Poll::Ready(Some(url)) => return Ok(url),
                    Poll::Ready(None) => {}
                    Poll::Pending => visitors.push(visitor),
                }
            }
            if now().duration_since(start) >= timeout {
                return Err(LoopbackError::Timeout(timeout));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Returns whether a new connection can be accepted: a place is free, or the oldest connection has been open long enough to be
/// closed.
fn has_place(visitors: &[Visitor], now: Instant) -> bool {
    visitors.len() < MAX_VISITORS
        || visitors.first().is_some_and(|oldest| now.duration_since(oldest.accepted_at) >= MIN_STAY)
}

/// A connection to the listener, with the part of its request that has arrived.
struct Visitor {
    stream: TcpStream,
    accepted_at: Instant,
    head: Vec<u8>,
}

impl Visitor {
    /// Reads new bytes, and answers the request when its head is complete. Returns the URL of the redirect, or `None` if the
    /// connection has failed, or its request was not the redirect. Pending if the head is incomplete.
    fn poll(&mut self, host: &str, path: &str, is_response: &impl Fn(&str) -> bool) -> Poll<Option<String>> {
        let mut buffer = [0; 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Poll::Ready(None),
                Ok(count) => self.head.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Poll::Ready(None),
            }
            let (redirect, shown) = match read(&self.head, host, path) {
                Poll::Pending => continue,
                Poll::Ready(Ok(target)) if is_response(target) => (Some(format!("http://{host}{target}")), RECEIVED),
                Poll::Ready(Ok(_)) => (None, OTHER_LOGIN),
                Poll::Ready(Err(shown)) => (None, shown),
            };
            // The page fits into the send buffer. An error is ignored: the redirect counts even if the browser does not read the
            // page.
            let _ = self.stream.write_all(response(shown).as_bytes());
            return Poll::Ready(redirect);
        }
    }
}

/// Reads the head of a request. Returns the path and the query of a redirect, or the page that answers another request. Pending
/// if the head is incomplete.
///
/// `host` is the host and the port of the redirect URI, and `path` is the path of the redirect URI.
///
/// The `Host` header must name the listener. With DNS rebinding, a page of another site can reach this machine under its own host
/// name, and sends that name.
fn read<'a>(head: &'a [u8], host: &str, path: &str) -> Poll<Result<&'a str, Page>> {
    let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return if head.len() < MAX_HEAD { Poll::Pending } else { Poll::Ready(Err(REFUSED)) };
    };
    let Ok(head) = std::str::from_utf8(&head[..end]) else { return Poll::Ready(Err(REFUSED)) };
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Poll::Ready(Err(REFUSED));
    };
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    if !(hosts.next().is_some_and(|value| value.eq_ignore_ascii_case(host)) && hosts.next().is_none()) {
        return Poll::Ready(Err(REFUSED));
    }
    match target.split('?').next() {
        Some(found) if found == path => Poll::Ready(Ok(target)),
        _ => Poll::Ready(Err(OTHER_PATH)),
    }
}

/// Returns the HTTP response that contains this page. The page runs no script, and loads no other resources.
fn response((status, text): Page) -> String {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpwire</title>\
         <body style=\"font-family: sans-serif; margin: 4em auto; max-width: 30em\"><p>{text}</p></body></html>"
    );
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
#[path = "loopback_tests.rs"]
mod tests;
