//! Sends the HTTP requests of the clients with a [reqwest](https://docs.rs/reqwest) client of the program: its TLS, proxies, DNS and
//! default headers apply to MCP servers, too.
//!
//! The program depends on reqwest 0.13 itself, and its features of reqwest decide about TLS, HTTP/2 and decompression:
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
//! * The client follows redirects to the same origin only, so that headers and tokens never reach another origin
//!   ([`ReqwestClient::from_builder`]). [`ReqwestClient::without_redirects`] takes a client that follows none.
//! * Do not set `timeout` or `read_timeout` of the builder: they end event streams, too. mcpwire has its own timeouts.
//! * reqwest reports a failed TLS handshake like any other failed connection: the server is unreachable.
//! * The client applies no settings of a server's definition: `unix_socket`, `proxy`, `ca_file`, `client_certificate` and `client_key`.
//!   A connection with one of them is refused. Configure the `ClientBuilder` instead.
//! * For requests that must go to public addresses, such as those to authorization servers, names are resolved before reqwest resolves
//!   them again. A DNS server that answers differently the second time is not noticed. The client of [`http`](crate::http) checks the
//!   address that it connects to.
//! * reqwest does not limit the data that a server sends outside of responses. The client of [`http`](crate::http) does.

#[doc(inline)]
pub use mcpwire_reqwest::*;
