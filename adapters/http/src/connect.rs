//! From an address to a connection: TCP or a Unix socket, a proxy if there is one, TLS.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::io::Wire;
use crate::meter::{Meter, Metered};
use crate::proxy::{self, Proxies};
use crate::time::within;
use crate::tls::Tls;
use http::Uri;
use mcpwire_driver::core::http::{Failure, FailureKind};
use mcpwire_driver::http::{Connecting, Net, Socket};

/// Makes connections.
pub(crate) struct Connector {
    pub(crate) net: Arc<dyn Net>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Tls,
    pub(crate) connect_timeout: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Connector {
    pub(crate) async fn connect(&self, uri: &Uri) -> Result<Wire, ConnectFailure> {
        let is_secure = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(|| ConnectFailure::unreachable("the address has no host".into()))?;
        let port = port(uri);
        let through = self.proxies.of(uri);
        let socket = match &through {
            Some(proxy) => {
                let host = proxy.uri().host().unwrap_or_default();
                self.tcp(host, crate::connect::port(proxy.uri())).await?
            }
            None => match &self.unix_socket {
                Some(socket) => self.unix(socket).await?,
                None => self.tcp(host, port).await?,
            },
        };
        let handshake = async {
            let meter = Meter::default();
            let mut socket: Socket = Box::pin(Metered::new(socket, meter.clone()));
            if let Some(proxy) = &through {
                match proxy.uri().scheme_str() {
                    Some("http") | None => {}
                    Some("https") => socket = self.tls.proxy(proxy.uri().host().unwrap_or_default(), socket).await?,
                    Some(other) => {
                        return Err(ConnectFailure::unreachable(format!(
                            "proxies of the kind `{other}` are not known"
                        )));
                    }
                }
                if is_secure {
                    socket = proxy::tunnel(socket, host, port, proxy.basic_auth()).await?;
                }
            }
            let is_proxied = through.is_some() && !is_secure;
            if !is_secure {
                return Ok(Wire { socket, meter, is_http2: false, is_proxied });
            }
            let (socket, is_http2) = self.tls.server(host, socket).await?;
            Ok(Wire { socket, meter, is_http2, is_proxied })
        };
        within(&*self.net, self.handshake_timeout, handshake).await.unwrap_or_else(|| {
            let detail = format!("{host}:{port} did not finish the handshake within {:?}", self.handshake_timeout);
            Err(ConnectFailure::unreachable(detail))
        })
    }

    async fn tcp(&self, host: &str, port: u16) -> Result<Socket, ConnectFailure> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        self.connected(&format!("{host}:{port}"), self.net.connect_tcp(bare.to_owned(), port)).await
    }

    async fn unix(&self, socket: &Path) -> Result<Socket, ConnectFailure> {
        self.connected(&socket.display().to_string(), self.net.connect_unix(socket.to_owned())).await
    }

    async fn connected(&self, place: &str, connecting: Connecting) -> Result<Socket, ConnectFailure> {
        match within(&*self.net, self.connect_timeout, connecting).await {
            Some(Ok(socket)) => Ok(socket),
            Some(Err(error)) => Err(ConnectFailure::unreachable(format!("{place}: {error}"))),
            None => {
                let detail = format!("{place} did not answer within {:?}", self.connect_timeout);
                Err(ConnectFailure::unreachable(detail))
            }
        }
    }
}

/// The port of an address, which that of its scheme is where it names none.
pub(crate) fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(default_port(uri))
}

/// The port of the scheme of an address.
pub(crate) fn default_port(uri: &Uri) -> u16 {
    if uri.scheme_str() == Some("https") { 443 } else { 80 }
}

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct ConnectFailure {
    pub(crate) kind: FailureKind,
    pub(crate) detail: String,
}

impl ConnectFailure {
    pub(crate) fn unreachable(detail: String) -> Self {
        ConnectFailure { kind: FailureKind::Unreachable, detail }
    }

    pub(crate) fn tls(error: impl fmt::Display) -> Self {
        ConnectFailure { kind: FailureKind::Tls, detail: error.to_string() }
    }

    pub(crate) fn proxy(error: impl fmt::Display) -> Self {
        ConnectFailure::unreachable(format!("the proxy: {error}"))
    }
}

impl From<ConnectFailure> for Failure {
    fn from(failure: ConnectFailure) -> Self {
        Failure::new(failure.kind, failure.detail)
    }
}
