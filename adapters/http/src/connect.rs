//! [`Connector`]: opens a connection to the server of a URL, by TCP or a Unix socket, through a proxy, and with TLS.

use std::future::poll_fn;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::task::{Poll, ready};

use http::Uri;
use mcpwire_driver::Clock;
use mcpwire_driver::http::{ConnectFuture, Net, Socket, is_public_address};
use mcpwire_driver::protocol::http::{Failure, FailureKind};

use crate::happy_eyeballs::{ConnectionRace, RaceStep};
use crate::io::Io;
use crate::meter::{Meter, MeteredSocket};
use crate::options::ClientOptions;
use crate::proxy::{self, Proxies, unreachable};
use crate::time::within;
use crate::tls::{Tls, bare};

/// Opens connections to the servers of URLs, directly or through a proxy.
pub(crate) struct Connector {
    pub(crate) net: Arc<dyn Net>,
    /// The clock of the runtime `net`.
    pub(crate) clock: Clock,
    pub(crate) proxies: Proxies,
    pub(crate) tls: Tls,
    pub(crate) options: ClientOptions,
}

impl Connector {
    /// Opens a connection for requests to this URL, and performs the proxy and TLS handshakes.
    ///
    /// If `public_address_only` is set, refuses addresses of this machine and of private networks.
    pub(crate) async fn connect(&self, uri: &Uri, public_address_only: bool) -> Result<Io, Failure> {
        let public_address_only = public_address_only || self.options.public_addresses_only;
        let is_secure = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(|| unreachable("the URL has no host"))?;
        let port = port(uri);
        let proxy = self.proxies.find(uri);
        let socket = match &proxy {
            Some(proxy) => {
                // Only an IP address in the URL can be checked here, because the proxy resolves names.
                if let Ok(address) = bare(host).parse()
                    && public_address_only
                    && !is_public_address(address)
                {
                    return Err(not_made(not_public(address)));
                }
                self.connect_tcp(proxy.uri().host().unwrap_or_default(), self::port(proxy.uri()), false).await?
            }
            None => match &self.options.unix_socket {
                Some(path) => self.connect_unix(path).await?,
                None => self.connect_tcp(host, port, public_address_only).await?,
            },
        };
        let handshakes = async {
            let meter = Meter::default();
            let mut socket: Socket = Box::pin(MeteredSocket::new(socket, meter.clone(), self.clock.clone()));
            if let Some(proxy) = &proxy {
                match proxy.uri().scheme_str() {
                    Some("http") | None => {}
                    Some("https") => {
                        socket = self.tls.handshake_with_proxy(proxy.uri().host().unwrap_or_default(), socket).await?;
                    }
                    Some(other) => {
                        return Err(unreachable(format!("unsupported proxy scheme `{other}`. Use `http` or `https`")));
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
        within(&*self.net, self.options.handshake_timeout, handshakes).await.unwrap_or_else(|| {
            let detail =
                format!("{host}:{port} did not finish the handshake within {:?}", self.options.handshake_timeout);
            Err(unreachable(detail))
        })
    }

    /// Resolves the host and connects to one of its addresses, within the connect timeout. If `public_only` is set, connects to
    /// public addresses only.
    async fn connect_tcp(&self, host: &str, port: u16, public_only: bool) -> Result<Socket, Failure> {
        let name = format!("{host}:{port}");
        let start = self.clock.now();
        let resolved =
            within(&*self.net, self.options.connect_timeout, self.net.resolve(bare(host).to_owned(), port)).await;
        let addresses = match resolved {
            Some(Ok(addresses)) => addresses,
            Some(Err(error)) => return Err(unreachable(format!("{name}: {error}"))),
            None => return Err(self.timed_out(&name, "")),
        };
        // Refused addresses are not tried. A name with public and refused addresses can still be reached at the public addresses.
        let (allowed, refused): (Vec<_>, Vec<_>) =
            addresses.into_iter().partition(|address| !public_only || is_public_address(address.ip()));
        let mut refusals = refused.iter().map(|address| not_public(address.ip()));
        if allowed.is_empty() {
            return Err(match refusals.next() {
                Some(refusal) => not_made(format!("{name}: {refusal}")),
                None => unreachable(format!("{name}: the host has no address")),
            });
        }
        let race = ConnectionRace::new(allowed, start, start + self.options.connect_timeout);
        let (is_timeout, outcomes) = match self.run_race(race).await {
            Ok(socket) => return Ok(socket),
            Err(RaceFailure { is_timeout, outcomes }) => (is_timeout, outcomes),
        };
        let outcomes = outcomes.into_iter().chain(refusals).collect::<Vec<_>>().join("; ");
        // If the host is an IP address, `outcomes` already starts with the address, so the message does not repeat it.
        let is_name = bare(host).parse::<IpAddr>().is_err();
        Err(match (is_timeout, is_name) {
            (false, false) => unreachable(outcomes),
            (false, true) => unreachable(format!("{name}: {outcomes}")),
            (true, false) => self.timed_out(&name, ""),
            (true, true) => self.timed_out(&name, &format!(": {outcomes}")),
        })
    }

    /// Runs the attempts to connect until one of them succeeds. Drops the other attempts, which closes their sockets.
    async fn run_race(&self, mut race: ConnectionRace) -> Result<Socket, RaceFailure> {
        let mut running: Vec<(usize, ConnectFuture)> = Vec::new();
        let mut started = 0;
        let mut timer = self.net.timer();
        poll_fn(|cx| {
            let mut polled = 0;
            loop {
                while let Some((attempt, connecting)) = running.get_mut(polled) {
                    match connecting.as_mut().poll(cx) {
                        Poll::Ready(Ok(socket)) => return Poll::Ready(Ok(socket)),
                        Poll::Ready(Err(error)) => {
                            race.failed(*attempt, error, self.clock.now());
                            drop(running.remove(polled));
                        }
                        Poll::Pending => polled += 1,
                    }
                }
                let now = self.clock.now();
                let step = race.poll(now);
                match step {
                    RaceStep::Start(address) => {
                        running.push((started, self.net.connect_tcp(address)));
                        started += 1;
                    }
                    RaceStep::Wait(until) => {
                        timer.reset(until.duration_since(now));
                        ready!(timer.poll(cx));
                    }
                    RaceStep::Failed | RaceStep::TimedOut => {
                        let is_timeout = step == RaceStep::TimedOut;
                        return Poll::Ready(Err(RaceFailure { is_timeout, outcomes: race.outcomes() }));
                    }
                }
            }
        })
        .await
    }

    async fn connect_unix(&self, path: &Path) -> Result<Socket, Failure> {
        let name = path.display().to_string();
        match within(&*self.net, self.options.connect_timeout, self.net.connect_unix(path.to_owned())).await {
            Some(Ok(socket)) => Ok(socket),
            Some(Err(error)) => Err(unreachable(format!("{name}: {error}"))),
            None => Err(self.timed_out(&name, "")),
        }
    }

    fn timed_out(&self, name: &str, outcomes: &str) -> Failure {
        unreachable(format!("{name} did not answer within {:?}{outcomes}", self.options.connect_timeout))
    }
}

/// Why no address of a host accepted a connection.
struct RaceFailure {
    /// Whether the attempts were stopped because the connect timeout has passed.
    is_timeout: bool,
    /// The addresses that were tried, each with its error, for the error message.
    outcomes: Vec<String>,
}

/// Creates the failure of a request that the client refuses to send, for example because its address is not public.
pub(crate) fn not_made(detail: String) -> Failure {
    Failure::new(FailureKind::NotMade, detail)
}

/// Returns the error text for an address to which the client refuses to connect, because the address is not public.
fn not_public(address: IpAddr) -> String {
    format!("{address} is an address of this machine or of a private network")
}

/// Returns the port of a URL, or the default port of its scheme.
pub(crate) fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(default_port(uri))
}

/// Returns the default port of the scheme of a URL.
pub(crate) fn default_port(uri: &Uri) -> u16 {
    if uri.scheme_str() == Some("https") { 443 } else { 80 }
}
