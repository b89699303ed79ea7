//! HTTP without doing HTTP: [`Engine`] is a [`Session`](crate::Session) together with the exchanges that carry its messages.
//!
//! What [`stdio::Engine`](crate::stdio::Engine) is for a stream of bytes, this is for Streamable HTTP (2025-03-26 to 2026-07-28)
//! and for HTTP+SSE (2024-11-05). It says which requests are to be made, and is told what came of them. Who makes them, over
//! which connections, with which TLS, is no matter of its: any HTTP client can carry it.
//!
//! # The loop
//!
//! Seven steps, in any order, until nothing is left to do:
//!
//! 1. take commands from [`poll_exchange`](Engine::poll_exchange) until there is none: start exchanges, and give them up;
//! 2. tell the head of a response with [`response`](Engine::response);
//! 3. tell what comes of its body with [`body`](Engine::body), in pieces of any size;
//! 4. tell its end with [`ended`](Engine::ended), or that it failed with [`failed`](Engine::failed);
//! 5. take events from [`poll_event`](Engine::poll_event) until there is none;
//! 6. wait for the exchanges, but not beyond [`poll_timeout`](Engine::poll_timeout);
//! 7. when that has passed, call [`handle_timeout`](Engine::handle_timeout).
//!
//! Messages are looked at in step 5, so steps 5 and 1 come after each of the others. Here the server answers in JSON and has
//! one tool:
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
//! # Which way
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
//!       it fails with what `initialize` was refused with
//! ```
//!
//! [`Config::negotiate`](crate::Config::negotiate) and [`Settings::flavour`] shorten it; [`Engine::flavour`] and
//! [`Session::server`](crate::Session::server) tell what was found, to be given the next time.
//!
//! | file | what it does |
//! |---|---|
//! | `engine` | [`Engine`]: what embedders call; routes between the parts below |
//! | `exchange` | [`Exchange`] and [`Command`]: what the embedder is to do |
//! | `settings` | [`Settings`]: the address, headers, limits |
//! | `send_queue` | the messages that wait to be sent |
//! | `exchanges` | the exchanges under way, and the commands |
//! | `request` | a request, as its exchanges need it |
//! | `outgoing`, `headers` | writes headers |
//! | `incoming`, `sse_decoder` | reads responses |
//! | `unanswered` | decides what follows when an exchange ends without its answer |
//! | `renewal` | the session of a legacy server |
//! | `streams`, `reopening` | the server's own stream, streams that are resumed; when, and from which event on |
//! | `sse_2024` | HTTP+SSE |
//! | `tool_headers`, `refresh_tools` | custom headers from tool parameters |

mod broken_streams;
mod command;
mod context;
mod endpoint;
mod engine;
mod exchanges;
mod get_stream;
mod header_values;
mod http_sse;
mod incoming;
mod legacy_session;
mod outgoing;
mod purpose;
mod recovery;
mod request;
mod response;
mod response_head;
mod resume_point;
mod send_queue;
mod settings;
mod sse_decoder;
mod tool_calls;
mod tool_headers;
mod tool_refresh;

pub use crate::transport_error::{Failure, FailureKind, HttpError};
pub use command::{Command, Exchange, ExchangeId, Verb};
pub use engine::Engine;
pub use settings::{Flavour, Settings, SettingsError};
pub use sse_decoder::{SseDecoder, SseEvent};
