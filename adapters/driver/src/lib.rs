//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `async`, as `mcpwire::runtime`; its API may change in any release.
//!
//! The async client of the Model Context Protocol, for any runtime.
//!
//! `mcpwire-tokio`, `mcpwire-smol` and `mcpwire-async-std` implement [`Runtime`] and re-export this crate. For another runtime,
//! implement [`Runtime`], which spawns tasks, starts threads, sets timers and reads pipes.
//!
//! ```text
//!   tasks that call              behind a short lock               one task per connection
//!   ───────────────              ───────────────────               ───────────────────────
//!   McpClient ── parameters ──▶ ┌──────────────────┐ ── bytes ──▶ ┌────────┐ ──▶ stdin
//!                               │ engine (core)    │              │ driver │
//!   Call, Pending ◀── reply ─── │ slots of replies │ ◀── bytes ── │        │ ◀── stdout, stderr, exit, timer
//!      decodes the reply        └──────────────────┘              └────────┘
//! ```
//!
//! There is no channel, and no task per message. The task that awaits a reply decodes it, without holding the lock.
//!
//! | item | purpose |
//! |---|---|
//! | [`McpClient`], [`Call`], [`Pending`] | a connection to a server, and its requests |
//! | [`Notifications`], [`Events`], [`Subscription`] | streams of notifications, of events of the connection, and of changes |
//! | [`Tools`] | the list of the server's tools |
//! | [`RunningTask`] | a task that the server executes for a call |
//! | [`ConnectOptions`], [`ClientHandler`] | options, callbacks, and handlers for requests of the server |
//! | `tool_client` (feature `tool-client`) | the trait `ToolClient`, for agent frameworks |
//! | `McpClient::over_messages` (feature `messages`) | connects over a WebSocket, or another transport of whole messages |
//! | `memory` (feature `futures-io`) | in-memory streams, for a server in the same process |
//! | [`Runtime`], [`CurrentRuntime`], [`Timer`], [`Clock`], [`Streams`] | the interface to a runtime |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod call;
mod callers;
mod client;
mod connect;
mod connection;
mod driver;
#[cfg(feature = "http")]
pub mod http;
mod locked_state;
#[cfg(feature = "futures-io")]
pub mod memory;
#[cfg(feature = "messages")]
mod messages;
mod notifications;
mod open;
mod opening;
mod operation;
mod output;
mod pending;
mod requests;
mod runtime;
mod server_process;
mod shutdown;
mod subscription;
#[cfg(feature = "tool-client")]
mod tool_client_trait;
mod write_lone_request;

pub use call::{Call, CallFuture, RunningTask, TaskOrResult};
pub use client::{McpClient, with_client};
#[doc(hidden)]
pub use mcpwire_client::setters;
pub use mcpwire_client::{
    CallbackPanic, CancelledFuture, Cause, ClientHandler, Clock, ConnectOptions, ConnectionEnd, ConnectionEvent,
    ConnectionInfo, Direction, EnvPolicy, Error, ErrorKind, Exit, HandlerCapabilities, HandlerContext, HttpSetupError,
    InvalidMessages, Launcher, McpServerDef, Observer, PanicSource, ProcessReport, ReadStream, Reader, RequestHandler,
    RequestInfo, RequestOutcome, ServerLaunch, ShutdownReport, SpawnError, SpawnErrorKind, Tools, TraceSource,
    Transport, WriteStream, Writer, inherited_env_names,
};
pub use mcpwire_core as protocol;
pub use mcpwire_process as process;
#[cfg(feature = "tool-client")]
pub use mcpwire_tool_client as tool_client;
pub use notifications::{Events, Notifications};
pub use open::{Open, open};
pub use pending::Pending;
#[cfg(feature = "http")]
pub use runtime::BlockingTask;
pub use runtime::{CurrentRuntime, ExitWatch, Runtime, Streams, TaskFuture, Timer};
pub use subscription::Subscription;
