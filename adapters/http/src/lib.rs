//! The HTTP client that the async adapters of mcpwire bring: hyper and rustls, on any runtime.
//!
//! An application turns on the feature `http` of `mcpwire-tokio`, `mcpwire-smol` or `mcpwire-async-std` and has no need of this crate
//! by name. It is for programs that want other limits ([`ClientOptions`]), or that run on another runtime ([`Net`]).
//!
//! * HTTP/1.1 over a bounded number of connections that are kept, and HTTP/2 where the server takes it (by ALPN, so over TLS);
//! * TLS 1.2 and 1.3 by rustls with ring; the certificate authorities of webpki-roots, those of the system with the feature
//!   `native-roots`, or [those of the program](ClientOptions::trust);
//! * proxies as the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, but never for this machine;
//! * redirects to the same origin only, five at most, and for `POST` only those that keep it one (307, 308): headers, tokens
//!   among them, go nowhere else.
//!
//! [`Net`]: mcpwire_driver::http::Net
//!
//! | file | what it does |
//! |---|---|
//! | `client` | [`Client`]: makes the requests |
//! | `connect`, `proxy`, `tls` | from an address to a connection |
//! | `pool`, `line` | which connection carries a request, and how |
//! | `redirect` | where requests may be sent on to |
//! | `meter` | how much a server may send, and how much of it at once |
//! | `body`, `io`, `time` | hyper's words for bytes and time |

mod body;
mod client;
mod connect;
mod io;
mod line;
mod meter;
mod pool;
mod proxy;
mod redirect;
#[cfg(test)]
mod tests;
mod time;
mod tls;

pub use client::{Client, ClientOptions};
