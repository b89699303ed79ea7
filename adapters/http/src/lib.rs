//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `http`; its API may change in any release.
//!
//! The HTTP client of mcpwire: hyper and rustls, on any runtime.
//!
//! [`ClientOptions`] sets limits, certificates and proxies. Another runtime implements [`Net`].
//!
//! * HTTP/1.1 on a bounded number of connections, which are reused, and HTTP/2 if the server selects it by ALPN (with TLS only).
//! * TLS 1.2 and 1.3 by rustls with ring. Trusts the CA certificates of `webpki-roots` (feature `webpki-roots`, on by default),
//!   of the system (feature `native-roots`) and [of the program](ClientOptions::trust_pem_file). Presents
//!   [client certificates](ClientOptions::client_certificate), and takes a whole
//!   [TLS configuration](ClientOptions::tls_config) of the program.
//! * All addresses of a host are tried, by Happy Eyeballs (RFC 8305, sections 4 and 5): IPv6 and IPv4 in turn, in the order of the
//!   system's resolver (RFC 6724). The next attempt starts 250 ms after the last one, or as soon as one fails. The first connection
//!   wins, and the other attempts are closed. [`ClientOptions::connect_timeout`] limits the whole. The same holds for proxies.
//! * Proxies of the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, but not for servers on this machine.
//! * At most five consecutive redirects, to the same origin only, and those of `POST` only if they keep the method (307, 308).
//!   Headers and tokens never reach another origin.
//!
//! [`Net`]: mcpwire_driver::http::Net

#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | content |
// |---|---|
// | `client`, `options` | `Client`, which sends requests, and `ClientOptions` |
// | `connect`, `proxy`, `tls` | open a connection for a URL |
// | `happy_eyeballs` | decides when to try which address of a host |
// | `pool`, `connection` | choose the connection of a request, send the request, and read the response |
// | `meter` | limits how much data of a server is read before other tasks run |
// | `io`, `time` | implement hyper's traits for bytes and time |

mod client;
mod connect;
mod connection;
mod happy_eyeballs;
mod io;
mod meter;
mod options;
mod pool;
mod proxy;
#[cfg(test)]
mod tests;
mod time;
mod tls;

pub use client::Client;
/// The version of rustls that [`ClientOptions::tls_config`] takes.
pub use futures_rustls::rustls;
pub use options::ClientOptions;
