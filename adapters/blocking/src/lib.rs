//! The Model Context Protocol client for blocking programs.
//!
//! [`McpClient`] starts a server, opens the connection in whichever era the server speaks, and calls its tools. There is no
//! runtime; on Unix the calling thread does all the work. The protocol itself is in [`mcpwire_core`], which is re-exported
//! as [`core`].
//!
//! ```no_run
//! use mcpwire_blocking::core::Json;
//! use mcpwire_blocking::{McpClient, McpServerDef};
//!
//! let mut client = McpClient::connect_and_initialize(&McpServerDef::new("mcpwire").arg("demo-server"))?;
//! let result = client.call_tool("add", Json::parse(r#"{"a": 2, "b": 3}"#).unwrap()).call()?;
//! println!("{}", result.text());
//! client.shutdown()?;
//! # Ok::<(), mcpwire_blocking::Error>(())
//! ```
//!
//! With the feature `http`, a server may be an address: `McpServerDef::http("https://example.com/mcp")`, and everything else
//! stays as it is.
//!
//! | where | what |
//! |---|---|
//! | [`McpServerDef`] | how a server is started |
//! | [`McpClient`], [`with_client`], [`Call`] | using it |
//! | [`Pending`] | a request that was sent, and whose result is taken later |
//! | [`Notifications`], [`Events`], [`Subscription`] | what the server reports |
//! | [`ConnectOptions`], [`ClientHandler`] | who this client is, its limits, its callbacks, and its answers to requests of servers |
//! | [`RunningTask`] | a call that goes on after its answer |
//! | [`Canceller`] | ending a wait from another thread |
//! | `SharedClient` (feature `tool-client`) | a client for any number of tasks, as a `ToolClient` for agent frameworks |
//! | [`Error`] | what went wrong, with the exit status and the last words of the server |

mod answers;
mod call;
mod cancel;
mod client;
mod connection;
mod dropped_handles;
#[cfg(feature = "http")]
pub mod http;
mod notifications;
mod pending;
mod prompts;
mod resources;
#[cfg(feature = "tool-client")]
mod shared_client;
mod subscription;
mod tasks;
mod transport;

pub use call::Call;
pub use cancel::Canceller;
pub use client::{McpClient, with_client};
pub use mcpwire_client::{
    CallbackPanic, CancelledFuture, Cause, ClientHandler, ConnectOptions, ConnectionEnd, ConnectionEvent,
    ConnectionInfo, Direction, EnvPolicy, Error, ErrorKind, Exit, HandlerCapabilities, HandlerContext, HttpSetupError,
    InvalidMessages, Launcher, McpServerDef, Observer, PanicSource, ProcessReport, RequestHandler, RequestInfo,
    RequestOutcome, ServerLaunch, ShutdownReport, SpawnError, SpawnErrorKind, Tools, TraceSource, Transport,
    inherited_env_names,
};
pub use mcpwire_core as core;
#[cfg(feature = "tool-client")]
pub use mcpwire_tool_client as tool_client;
pub use notifications::{Events, Notifications};
pub use pending::Pending;
#[cfg(feature = "tool-client")]
pub use shared_client::SharedClient;
pub use subscription::{Changes, Subscription};
pub use tasks::{RunningTask, TaskOrResult};

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
