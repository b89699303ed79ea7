//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `http`; its API may change in any release.
//!
//! The HTTP client of mcpwire, with hyper and rustls, for any runtime.
//!
//! [`ClientOptions`] sets limits, certificates and proxies. To use the client on another runtime, implement [`Net`].
//!
//! * HTTP versions: HTTP/2 if the server selects it by ALPN (with TLS only), or else HTTP/1.1 on a bounded number of reused
//!   connections.
//! * TLS: versions 1.2 and 1.3, by rustls with ring. The client trusts the CA certificates of `webpki-roots` (feature
//!   `webpki-roots`, on by default), of the system (feature `native-roots`), of the file in `SSL_CERT_FILE`, and
//!   [of the program](ClientOptions::trust_pem_file). The program can set
//!   [client certificates](ClientOptions::client_certificate), or a whole [TLS configuration](ClientOptions::tls_config).
//! * Addresses: the client tries all addresses of a host or proxy with Happy Eyeballs (RFC 8305, sections 4 and 5). It alternates
//!   between IPv6 and IPv4, in the order of the system's resolver (RFC 6724). An attempt starts 250 ms after the previous attempt
//!   has started, or as soon as an attempt fails. The client uses the first connection, and drops the other attempts.
//!   [`ClientOptions::connect_timeout`] limits all attempts together.
//! * Proxies: the client uses the proxies in the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, but not for
//!   servers on this machine.
//! * Redirects: the client follows at most five consecutive redirects, to the same origin only, and redirects of a `POST` only if
//!   they keep the method (307, 308). Headers and tokens never reach another origin.
//!
//! [`Net`]: mcpwire_driver::http::Net

#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | content |
// |---|---|
// | `client`, `options` | `Client`, which sends requests, and `ClientOptions` |
// | `connect`, `proxy`, `tls` | open a connection for a URL |
// | `happy_eyeballs` | decides when to connect to which address of a host |
// | `pool`, `connection` | choose or open the connection for a request, send the request, and read the response |
// | `meter` | lets other tasks run while a server sends much data, and limits data outside of responses |
// | `io`, `time` | implement hyper's traits for I/O and timers |

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
/// Re-exports rustls in the version whose configuration [`ClientOptions::tls_config`] takes.
pub use futures_rustls::rustls;
pub use options::ClientOptions;
