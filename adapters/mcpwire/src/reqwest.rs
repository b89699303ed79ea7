//! Sends the HTTP requests of the clients with the program's own [reqwest](https://docs.rs/reqwest) client. Its settings for TLS,
//! proxies, DNS and default headers then apply to MCP servers, too.
//!
//! The program depends on reqwest 0.13, and chooses the features of reqwest for TLS, HTTP/2 and decompression:
//!
//! ```
//! use mcpwire::ConnectOptions;
//! use mcpwire::http::HttpOptions;
//! use mcpwire::reqwest::ReqwestClient;
//!
//! # fn run() -> Result<(), reqwest::Error> {
//! let client = ReqwestClient::from_builder(reqwest::Client::builder())?;
//! let options = ConnectOptions::default().http(HttpOptions::default().client(client));
//! # Ok(())
//! # }
//! ```
//!
//! * Requests need a tokio runtime. In other runtimes they fail with an error that says so.
//! * [`ReqwestClient::from_builder`] creates a client that follows redirects to the same origin only, so that headers and tokens
//!   never reach another origin. [`ReqwestClient::without_redirects`] takes a client that follows no redirects.
//! * Do not set `timeout` or `read_timeout` of the builder: they also end event streams. mcpwire has its own timeouts.
//! * reqwest reports a failed TLS handshake like any other failed connection. The error says that the server is unreachable.
//! * reqwest does not apply the settings `unix_socket`, `proxy`, `ca_file`, `client_certificate` and `client_key` of a server's
//!   definition. If a definition has one of them, the connection is refused. Configure the `ClientBuilder` instead.
//! * Some requests must go to public addresses, such as requests to authorization servers. mcpwire resolves their host names and
//!   checks the addresses, but then reqwest resolves the names again. A DNS server can give another answer the second time. The
//!   client of [`http`](crate::http) checks the address that it connects to.
//! * reqwest does not limit the data that a server sends outside of responses. The client of [`http`](crate::http) limits it.

#[doc(inline)]
pub use mcpwire_reqwest::*;
