//! The Model Context Protocol client for async programs, on any runtime.
//!
//! An application uses the crate of its runtime (`mcpwire-tokio`, `mcpwire-smol`, `mcpwire-async-std`), which is this one
//! with a [`Runtime`] filled in. For a runtime that has no such crate, implement [`Runtime`]: tasks, threads, timers, and pipes.
//!
//! ```text
//!   tasks that call              behind a short lock               one task per connection
//!   ───────────────              ───────────────────               ───────────────────────
//!   McpClient ── parameters ──▶ ┌──────────────────┐ ── bytes ──▶ ┌────────┐ ──▶ stdin
//!                               │ engine (core)    │              │ driver │
//!   Call, Pending ◀── reply ─── │ slots of replies │ ◀── bytes ── │        │ ◀── stdout, stderr, exit, timer
//!      decodes it               └──────────────────┘              └────────┘
//! ```
//!
//! There is no channel and no task per message. The task that waits for a reply decodes it, without the lock.
//!
//! | where | what |
//! |---|---|
//! | [`McpClient`], [`Call`], [`Pending`] | using a server |
//! | [`Notifications`], [`Subscription`], [`Tools`] | what it tells, what it tells those who asked, what it has |
//! | [`RunningTask`] | a call that goes on after its answer |
//! | [`ConnectOptions`], [`ClientHandler`] | who this client is, its limits, its callbacks, and its answers to requests of servers |
//! | `tool_client` (feature `tool-client`) | the trait `ToolClient`, for agent frameworks |
//! | `McpClient::over_messages` (feature `messages`) | a connection over a WebSocket, or whatever else carries whole messages |
//! | `memory` (feature `futures-io`) | streams in memory, for a server in the same process |
//! | [`Runtime`], [`CurrentRuntime`], [`Timer`], [`Clock`], [`Streams`] | what a runtime gives |

mod answers;
mod call;
mod client;
mod clock;
mod connect;
mod driver;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "futures-io")]
pub mod memory;
#[cfg(feature = "messages")]
mod messages;
mod notifications;
mod opening;
mod operation;
mod pending;
mod prompts;
mod requests;
mod resources;
mod restart;
mod runtime;
mod shared;
mod slots;
mod state;
mod stop;
mod subscribers;
mod subscription;
mod tasks;
#[cfg(feature = "tool-client")]
mod tool_client_trait;
mod tools;

pub use call::{Call, CallFuture};
pub use client::McpClient;
pub use clock::Clock;
pub use mcpwire_client::{
    CallbackPanic, Cancelled, Cause, ClientHandler, ConnectOptions, ConnectionEnd, ConnectionEvent, ConnectionInfo,
    Direction, EnvPolicy, Error, ErrorKind, Exit, HandlerCapabilities, HandlerContext, HttpSetupError, InvalidMessages,
    Launched, Launcher, McpServerDef, Observer, PanicSource, ProcessReport, ReadStream, Reader, RequestHandler,
    RequestInfo, RequestOutcome, ShutdownReport, SpawnError, SpawnErrorKind, Tools, TraceSource, Transport,
    WriteStream, Writer, inherited_names,
};
pub use mcpwire_core as core;
pub use mcpwire_process as process;
#[cfg(feature = "tool-client")]
pub use mcpwire_tool_client as tool_client;
pub use notifications::{Events, Notifications};
pub use pending::Pending;
#[cfg(feature = "http")]
pub use runtime::Work;
pub use runtime::{CurrentRuntime, ExitWatch, Runtime, Streams, Task, Timer};
pub use subscription::Subscription;
pub use tasks::{RunningTask, TaskOrResult};
