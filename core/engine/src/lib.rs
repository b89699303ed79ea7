//! The client side of the [Model Context Protocol](https://modelcontextprotocol.io), as a pure engine.
//!
//! The engine does no I/O. An embedder hands it bytes and the time; it hands back bytes to send, events, and its next
//! deadline. It waits for nothing, spawns nothing, reads no clock and no file, calls no code of the embedder's, and never
//! panics on what a server sends. So one engine serves blocking programs, any async runtime, and a test that plays a day
//! of traffic in a millisecond.
//!
//! # The loop
//!
//! Six steps, in any order, until nothing is left to do:
//!
//! 1. write the bytes that [`transmit`](stdio::Engine::transmit) returns, and report how many with [`transmitted`](stdio::Engine::transmitted);
//! 2. read into the buffer that [`space`](stdio::Engine::space) returns, and report how many bytes came with
//!    [`filled`](stdio::Engine::filled); `None` means that the buffer is full until events are taken;
//! 3. report the end of the stream with [`receive_eof`](stdio::Engine::receive_eof);
//! 4. take events from [`poll_event`](stdio::Engine::poll_event) until there is none;
//! 5. wait for the stream, but not beyond [`poll_timeout`](stdio::Engine::poll_timeout);
//! 6. when that has passed, call [`handle_timeout`](stdio::Engine::handle_timeout).
//!
//! Here the stream is a server of three lines:
//!
//! ```
//! use mcpwire_core::stdio::Engine;
//! use mcpwire_core::{CallTool, CallToolParams, Config, Event, Json, Negotiate, RequestOptions, Timestamp};
//!
//! /// Answers as a server would that offers one tool.
//! fn server(line: &str) -> Option<String> {
//!     let request: serde_json::Value = serde_json::from_str(line).ok()?;
//!     let id = request.get("id")?;
//!     Some(match request["method"].as_str()? {
//!         "initialize" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"tiny","version":"1"}}}}}}"#),
//!         "tools/call" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hello"}}]}}}}"#),
//!         _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#),
//!     } + "\n")
//! }
//!
//! let mut engine = Engine::new(Config::new("example", "1.0"));
//! let now = Timestamp::ORIGIN; // an adapter takes the time since it started
//! engine.calls().initialize(now)?;
//! let mut ticket = None;
//! let text = loop {
//!     let sent = String::from_utf8_lossy(engine.transmit()).into_owned();
//!     engine.transmitted(sent.len());
//!     for line in sent.lines() {
//!         if let Some(answer) = server(line) {
//!             engine.receive(answer.as_bytes(), now);
//!         }
//!     }
//!     match engine.poll_event() {
//!         Some(Event::Connected) => {
//!             let arguments = Json::parse("{}")?;
//!             let call = CallToolParams { name: "hello", arguments: &arguments };
//!             ticket = Some(engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now)?);
//!         }
//!         Some(Event::Reply(reply)) => {
//!             let result = ticket.take().expect("it was sent").decode(reply)?;
//!             break result.text().into_string();
//!         }
//!         Some(_) => {}
//!         None => assert!(!engine.transmit().is_empty(), "an adapter would wait here"),
//!     }
//! };
//! assert_eq!(text, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The map
//!
//! | where | what |
//! |---|---|
//! | [`stdio`] | [`stdio::Engine`]: a session and the bytes of a stream |
//! | `http` | the same for HTTP: a session and the exchanges that carry its messages (with the feature `http`) |
//! | `session` | [`Session`]: handshake, requests and answers, deadlines, cancelling; on whole messages |
//! | `rpc` | JSON-RPC: the first look at a message, the one pass that reads it, writing ours |
//! | `frame` | lines in a buffer |
//! | `types` | the protocol's data, [`Tool`] to [`ContentBlock`] |
//! | `method` | [`Method`] and [`Notice`]: what can be asked and told |
//! | [`revisions`] | what each revision of the protocol has, lacks and renames |
//! | `extract` | from an answer to its text: [`Extracted`], [`ToolOutput`] |
//! | [`shutdown`] | the ladder on which a process is ended |
//! | `client` | what every client does: [`PageWalk`], [`ToolListing`], [`ToolCall`] |
//! | [`Cache`] | answers that are kept for as long as they hold |
//! | [`Ending`] | when a stream is at its end |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod any;
/// Exponential backoff, for the crates of this workspace. Not part of the public API.
#[doc(hidden)]
pub mod backoff;
mod cache;
mod client;
mod ending;
mod error;
mod extract;
mod frame;
#[cfg(feature = "http")]
mod header_params;
#[cfg(feature = "http")]
pub mod http;
mod json;
/// Random numbers for delays, for the crates of this workspace. Not part of the public API.
#[doc(hidden)]
pub mod random;
mod request_check;
mod rpc;
mod session;
pub mod shutdown;
mod sorted;
pub mod stdio;
mod structured;
mod text;
mod time;
#[cfg(feature = "http")]
mod transport_error;
mod types;
mod url;

/// The JSON reader, for the crates of this workspace. Not part of the public API.
#[doc(hidden)]
pub mod json_reader {
    pub use crate::json::error::{ReadError, Result};
    pub use crate::json::read::{Reader, Text};
}

pub use any::AnyEngine;
pub use cache::{Cache, CacheContext, CacheKey, CacheLimits, CachedAnswer};
pub use client::{
    CacheHints, KnownTools, PageWalk, Pages, RequestError, Searched, Step, ToolCall, ToolList, ToolListing, ToolSearch,
};
pub use ending::Ending;
pub use error::{PeerError, PeerErrorKind, RpcError};
pub use extract::{Extracted, ToolFailure, ToolOutput};
pub use json::{Json, JsonError, Number};
pub use method::{
    CallTool, CallToolAsTask, CallToolRaw, CancelTask, Complete, Discover, DiscoverParams, GetPrompt, GetTask,
    GetTaskResult, Initialize, ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Method, Notice,
    Params, Ping, PingParams, Raw, ReadResource, RootsListChanged, SetLevel, Subscribe, SubscriptionsListen,
    Unsubscribe, UpdateTask,
};
pub use session::{
    Ask, AskKey, AskRequest, CallError, Calls, Closed, Config, ConnectError, Deadline, Event, InputError, Message,
    Negotiate, Notification, Phase, Prepared, PreparedRequest, Relisten, Reopen, Reply, RequestKey, RequestOptions,
    SendError, ServerInfo, Session, Stats, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionKey,
    TaskFault, TaskMode, Ticket,
};
pub use structured::{Invalid, StructuredError, StructuredErrorKind, Validator};
pub use text::{Printable, printable};
pub use time::Timestamp;
use types::method;
pub use types::*;
