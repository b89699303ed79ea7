//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `blocking`; its API may change in any release.
//!
//! The Model Context Protocol client for blocking programs.
//!
//! [`McpClient`] starts a server, negotiates the protocol version, and calls tools. There is no runtime: on Unix, the calling thread
//! does all the work. The protocol engine is [`mcpwire_core`], re-exported as [`protocol`].
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod types { pub use mcpwire_blocking::protocol::Json; } pub
//! # mod blocking { pub use mcpwire_blocking::McpClient; } }
//! use mcpwire::McpServerDef;
//! use mcpwire::blocking::McpClient;
//! use mcpwire::types::Json;
//!
//! let mut client = McpClient::connect_and_initialize(&McpServerDef::new("mcpwire").arg("demo-server"))?;
//! let result = client.call_tool("add", Json::parse(r#"{"a": 2, "b": 3}"#).unwrap()).send()?;
//! println!("{}", result.text());
//! client.shutdown()?;
//! # Ok::<(), mcpwire_blocking::Error>(())
//! ```
//!
//! With the feature `http`, a server may be a URL: `McpServerDef::http("https://example.com/mcp")`. All else stays the same.
//!
//! | item | purpose |
//! |---|---|
//! | [`McpServerDef`] | defines how to start or reach a server |
//! | [`open`], [`McpClient`], [`with_client`], [`Call`] | use a server |
//! | [`McpClient::over`], [`McpClient::over_messages`] | connect over any pair of streams, such as pipes to a thread ([`std::io::pipe`]), or over a WebSocket |
//! | [`Pending`] | a request in flight, whose result the program takes later |
//! | [`Notifications`], [`Events`], [`Subscription`] | notifications, events, changes |
//! | [`ConnectOptions`], [`ClientHandler`] | client info, limits, callbacks, and answers to requests of the server |
//! | [`RunningTask`] | a tool call that the server executes as a task |
//! | [`Canceller`] | cancels a wait from another thread |
//! | [`Error`] | an error, with the server's exit status and the end of its standard error |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod call;
mod cancel;
mod client;
mod connection;
#[cfg(feature = "http")]
pub mod http;
mod messages;
mod notifications;
mod open;
mod pending;
mod pending_replies;
mod subscription;
mod transport;

pub use call::{Call, RunningTask, TaskOrResult};
pub use cancel::Canceller;
pub use client::{McpClient, with_client};
pub use mcpwire_client::{
    CallbackPanic, CancelledFuture, Cause, ClientHandler, ConnectOptions, ConnectionEnd, ConnectionEvent,
    ConnectionInfo, Direction, EnvPolicy, Error, ErrorKind, Exit, HandlerCapabilities, HandlerContext, HttpSetupError,
    InvalidMessages, Launcher, McpServerDef, Observer, PanicSource, ProcessReport, RequestHandler, RequestInfo,
    RequestOutcome, ServerLaunch, ShutdownReport, SpawnError, SpawnErrorKind, Tools, TraceSource, Transport,
    inherited_env_names,
};
pub use mcpwire_core as protocol;
pub use messages::{MessageReceiver, MessageSender};
pub use notifications::{Events, Notifications};
pub use open::{Open, open};
pub use pending::Pending;
pub use subscription::{Changes, Subscription};
