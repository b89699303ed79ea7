//! [`Connector`]: opens a connection for a URL: TCP or a Unix socket, then a proxy, then TLS.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use mcpwire_driver::http::{Net, Socket, is_public_address};

use crate::connect_failure::ConnectFailure;
use crate::io::Io;
use crate::meter::{Meter, MeteredSocket};
use crate::proxy::{self, Proxies};
use crate::time::within;
use crate::tls::Tls;

/// Opens connections for URLs, directly or through a proxy.
pub(crate) struct Connector {
    pub(crate) net: Arc<dyn Net>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Tls,
    pub(crate) connect_timeout: Duration,
    pub(crate) handshake_timeout: Duration,
    /// Whether to refuse connections to addresses that are not public, except those of proxies.
    pub(crate) public_addresses_only: bool,
    /// The Unix socket of the server, which replaces the host of the URL.
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Connector {
    /// Opens a connection for requests to this URL. If `public_address_only`, the address must be public.
    pub(crate) async fn connect(&self, uri: &Uri, public_address_only: bool) -> Result<Io, ConnectFailure> {
        let public_address_only = public_address_only || self.public_addresses_only;
        let is_secure = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(|| ConnectFailure::unreachable("the URL has no host".into()))?;
        let port = port(uri);
        let proxy = self.proxies.find(uri);
        let socket = match &proxy {
            Some(proxy) => {
                let host = proxy.uri().host().unwrap_or_default();
                // The proxy resolves names, so only an IP address in the URL can be checked here.
                if let Ok(address) = bare(uri.host().unwrap_or_default()).parse()
                    && public_address_only
                {
                    check_public(address).map_err(|error| ConnectFailure::refused(error.to_string()))?;
                }
                self.connect_tcp(host, crate::connect::port(proxy.uri()), false).await?
            }
            None => match &self.unix_socket {
                Some(path) => self.connect_unix(path).await?,
                None => self.connect_tcp(host, port, public_address_only).await?,
            },
        };
        let handshakes = async {
            let meter = Meter::default();
            let mut socket: Socket = Box::pin(MeteredSocket::new(socket, meter.clone()));
            if let Some(proxy) = &proxy {
                match proxy.uri().scheme_str() {
                    Some("http") | None => {}
                    Some("https") => {
                        socket = self.tls.handshake_with_proxy(proxy.uri().host().unwrap_or_default(), socket).await?;
                    }
                    Some(other) => {
                        return Err(ConnectFailure::unreachable(format!(
                            "unsupported proxy scheme `{other}`. Use `http` or `https`"
                        )));
                    }
                }
                if is_secure {
                    socket = proxy::tunnel(socket, host, port, proxy.basic_auth()).await?;
                }
            }
            let is_proxied = proxy.is_some() && !is_secure;
            if !is_secure {
                return Ok(Io { socket, meter, is_http2: false, is_proxied });
            }
            let (socket, is_http2) = self.tls.handshake_with_server(host, socket).await?;
            Ok(Io { socket, meter, is_http2, is_proxied })
        };
        within(&*self.net, self.handshake_timeout, handshakes).await.unwrap_or_else(|| {
            let detail = format!("{host}:{port} did not finish the handshake within {:?}", self.handshake_timeout);
            Err(ConnectFailure::unreachable(detail))
        })
    }

    async fn connect_tcp(&self, host: &str, port: u16, public_only: bool) -> Result<Socket, ConnectFailure> {
        self.finish(&format!("{host}:{port}"), self.connect_first(bare(host), port, public_only)).await
    }

    /// Resolves the host, and connects to the first address that accepts the connection.
    async fn connect_first(&self, host: &str, port: u16, public_only: bool) -> io::Result<Socket> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in self.net.resolve(host.to_owned(), port).await? {
            if public_only {
                check_public(address.ip())?;
            }
            match self.net.connect_tcp(address).await {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn connect_unix(&self, path: &Path) -> Result<Socket, ConnectFailure> {
        self.finish(&path.display().to_string(), self.net.connect_unix(path.to_owned())).await
    }

    /// Waits for a connection to `address`, for at most the connect timeout.
    async fn finish(
        &self,
        address: &str,
        connecting: impl Future<Output = io::Result<Socket>>,
    ) -> Result<Socket, ConnectFailure> {
        match within(&*self.net, self.connect_timeout, connecting).await {
            Some(Ok(socket)) => Ok(socket),
            Some(Err(error)) if is_refused(&error) => Err(ConnectFailure::refused(format!("{address}: {error}"))),
            Some(Err(error)) => Err(ConnectFailure::unreachable(format!("{address}: {error}"))),
            None => {
                let detail = format!("{address} did not answer within {:?}", self.connect_timeout);
                Err(ConnectFailure::unreachable(detail))
            }
        }
    }
}

/// Returns an error if the address is not public.
fn check_public(address: IpAddr) -> io::Result<()> {
    if is_public_address(address) { Ok(()) } else { Err(io::Error::other(NotPublic(address))) }
}

/// Returns whether an address was refused because it is not public.
fn is_refused(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<NotPublic>)
}

/// The error of an address that is not public.
#[derive(Debug)]
struct NotPublic(IpAddr);

impl Error for NotPublic {}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is an address of this machine or of a private network", self.0)
    }
}

/// Returns a host without the brackets of IPv6 addresses.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Returns the port of a URL, or the default port of its scheme.
pub(crate) fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(default_port(uri))
}

/// Returns the default port of the scheme of a URL.
pub(crate) fn default_port(uri: &Uri) -> u16 {
    if uri.scheme_str() == Some("https") { 443 } else { 80 }
}
