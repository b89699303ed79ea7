//! The client side of a connection over HTTP, without I/O. [`Engine`] is a [`Session`](crate::Session) with the HTTP
//! exchanges that carry its messages.
//!
//! The engine supports Streamable HTTP (protocol revisions 2025-03-26 to 2026-07-28) and HTTP+SSE (2024-11-05). It
//! returns the HTTP requests to make, and reads the responses. The embedder makes the requests with any HTTP client,
//! and manages connections and TLS.
//!
//! # The loop
//!
//! Repeat these steps, in any order:
//!
//! 1. Call [`poll_exchange`](Engine::poll_exchange) until it returns `None`. Start and abort exchanges accordingly.
//! 2. Pass the head of each HTTP response to [`response`](Engine::response).
//! 3. Pass the body of each response to [`body`](Engine::body), in pieces of any size.
//! 4. Call [`ended`](Engine::ended) at the end of a response, or [`failed`](Engine::failed) if the exchange fails.
//! 5. Call [`poll_event`](Engine::poll_event) until it returns `None`, and process the events.
//! 6. Wait for progress of the exchanges, at most until [`poll_timeout`](Engine::poll_timeout).
//! 7. When that time has passed, call [`handle_timeout`](Engine::handle_timeout).
//!
//! After each of the other steps, repeat steps 5 and 1: step 5 handles the received messages, which may cause new
//! commands. In this example, the server responds with JSON and has one tool:
//!
//! ```
//! use mcpwire_core::http::{Command, Engine, Settings};
//! use mcpwire_core::{CallTool, CallToolParams, Config, Event, Json, RequestOptions, Timestamp};
//!
//! fn server(body: &[u8]) -> String {
//!     let request: serde_json::Value = serde_json::from_slice(body).expect("the client sends JSON");
//!     let result = match request["method"].as_str() {
//!         Some("server/discover") => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
//!         _ => r#"{"resultType":"complete","content":[{"type":"text","text":"hello"}]}"#,
//!     };
//!     format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])
//! }
//!
//! let mut engine = Engine::new(Config::new("example", "1.0"), Settings::new("https://example.com/mcp")?);
//! let now = Timestamp::ORIGIN;
//! engine.calls().initialize(now)?;
//! let mut ticket = None;
//! let text = loop {
//!     while let Some(command) = engine.poll_exchange(now) {
//!         if let Command::Start(exchange) = command {
//!             let answer = server(&exchange.body);
//!             engine.response(exchange.id, 200, [("content-type", &b"application/json"[..])], now);
//!             engine.body(exchange.id, answer.as_bytes(), now);
//!             engine.ended(exchange.id, now);
//!         }
//!     }
//!     match engine.poll_event() {
//!         Some(Event::Connected) => {
//!             let arguments = Json::parse("{}")?;
//!             let call = CallToolParams { name: "hello", arguments: &arguments };
//!             ticket = Some(engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now)?);
//!         }
//!         Some(Event::Reply(reply)) => break ticket.take().expect("it was sent").decode(reply)?.text().into_string(),
//!         Some(event) => panic!("{event:?}"),
//!         None => {}
//!     }
//! };
//! assert_eq!(text, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Detection of the transport and the protocol revision
//!
//! ```text
//! POST server/discover ── answered, or refused with a modern error ─────────────────────▶ 2026-07-28
//!          │ refused otherwise
//!          ▼
//! POST initialize ─────── answered ─────────────────────────────────────────────────────▶ 2025-03-26 to 2025-11-25
//!          │ 400, 404 or 405, without a modern error
//!          ▼
//! GET ─────────────────── an event stream whose first event is `endpoint` ──────────────▶ 2024-11-05 (HTTP+SSE)
//!          │ otherwise
//!          ▼
//!       the connection fails with the error of `initialize`
//! ```
//!
//! [`Config::negotiate`](crate::Config::negotiate) and [`Settings::flavour`] skip steps. [`Engine::flavour`] and
//! [`Session::server`](crate::Session::server) return the result. Embedders can store it for the next connection.

// The parts:
//
//                                       engine
//             ┌──────────────┬─────────────┴┬──────────────┬─────────────┐
//      legacy_session   get_stream      http_sse      tool_calls       messages
//             └──────────────┴─────────────┬┴──────────────┴─────────────┘
//                                      transport
//             ┌──────────────┬─────────────┴┬──────────────┐
//         exchanges      send_queue      request        endpoint
//
// | file | what it does |
// |---|---|
// | `engine` | `Engine`: the methods that adapters call; routes between the parts |
// | `transport` | the session, and the state that the parts share |
// | `command` | `Command`, `Exchange`: the HTTP requests that the embedder makes |
// | `settings` | `Settings`: the URL, headers, limits |
// | `messages` | moves messages from the session to exchanges, and from responses to the session |
// | `send_queue` | the messages that wait to be sent |
// | `request` | the state of a request over its attempts; why an exchange was started |
// | `exchanges` | the exchanges under way |
// | `endpoint`, `header_values` | the URL and the headers of each HTTP request |
// | `response`, `sse_decoder`, `retry_after` | reads responses |
// | `recovery` | decides what to do when an exchange ends without the JSON-RPC response |
// | `resume_point` | when an event stream is resumed, and after which event |
// | `legacy_session` | initializes and renews the session with a legacy server (up to revision 2025-11-25) |
// | `get_stream` | the event stream for server messages that belong to no client request |
// | `http_sse` | the HTTP+SSE transport |
// | `tool_calls` | custom headers from tool parameters |

mod command;
mod endpoint;
mod engine;
mod exchanges;
mod get_stream;
mod header_values;
mod http_sse;
mod legacy_session;
mod messages;
mod recovery;
mod request;
mod response;
mod resume_point;
mod retry_after;
mod send_queue;
mod settings;
pub(crate) mod sse_decoder;
mod tool_calls;
mod transport;

pub use crate::transport_error::{Failure, FailureCause, FailureKind, HttpError};
pub use command::{Command, Exchange, ExchangeId, Verb};
pub use engine::Engine;
pub use settings::{Flavour, Settings, SettingsError};
