//! Internal part of [mcpwire](https://docs.rs/mcpwire), which always contains it; its API may change in any release.
//!
//! Types and traits that all clients of mcpwire share. This crate starts no processes and depends on no async runtime.

#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | content |
// |---|---|
// | `connection_context` | `ConnectionContext`: the definition and options of a connection |
// | `definition` | `McpServerDef`: the command that starts a server, or its URL |
// | `error` | `Error`: the error of all methods of the clients |
// | `server_end`, `shutdown` | `Exit`, `ProcessReport`, `ConnectionEnd`, `GracePeriods`, `ShutdownReport`: how a server and its connection have ended |
// | `options` | `ConnectOptions`: the options of a connection |
// | `open` | the macro that gives each builder `Open` one method for each option of a connection |
// | `handler` | `ClientHandler`, `RequestHandler`: the program's code that answers requests of servers |
// | `observer`, `hooks` | `Observer`: receives the events of connections and their requests |
// | `launcher` | `Launcher`: starts servers in containers, over ssh, or in this process |
// | `call` | the builder of a tool call, and `ReportCallbacks`: the callbacks of a call |
// | `request_methods`, `subscription`, `running_task` | the methods of all clients for requests, subscriptions and tasks |
// | `panics` | `PanicCallbacks`, `CallbackPanic`: panics in the program's handlers and callbacks |
// | `stderr` | `Stderr`: stores the last output of a server on standard error, and passes its lines to a callback |
// | `wire_trace` | `Tracer`: passes each sent and received message to a callback |
// | `trace_context` | `TraceSource`: returns the trace context (W3C `traceparent`) of a request |
// | `clock` | `Clock`: the clock of a connection, which tests can replace |
// | `connection_state`, `lifecycle` | `ConnectionState`, `InvalidMessages`, `Lifecycle`: the state of a connection |
// | `event_queue`, `event_consumers` | `EventQueue`: the events that a consumer has not taken yet; `EventConsumers`: the queues of all consumers |
// | `reply_slots` | `ReplySlots`: stores replies until the callers take them |
// | `tracing` | spans and events for the `tracing` crate |
// | `tools` | `Tools`: a snapshot of a server's tool list |
// | `package_name` | returns the package that a command such as `npx` starts, for the name of a server |
// | `messages` | `MessagesToLines`, `LinesToMessages`: connect the client to a transport of whole messages, such as a WebSocket |
// | `setters` | a macro that defines the setters of builders that have options |
// | `sync` | helpers for mutexes and wakers |
// | `streams` | `ReadStream`, `WriteStream`: the byte streams of a connection, for any runtime |
// | `http` | HTTP clients, access tokens, and the HTTP exchanges of a connection |

mod call;
mod clock;
mod connection_context;
mod connection_state;
mod definition;
mod error;
mod event_consumers;
mod event_queue;
mod handler;
mod hooks;
#[cfg(feature = "http")]
pub mod http;
mod launcher;
mod lifecycle;
mod messages;
mod observer;
mod open;
mod options;
mod package_name;
mod panics;
mod reply_slots;
mod request_methods;
mod running_task;
mod server_end;
mod setters;
mod shutdown;
mod stderr;
mod streams;
mod subscription;
mod sync;
mod tools;
mod trace_context;
#[cfg(feature = "tracing")]
mod tracing;
mod wire_trace;

pub use call::ReportCallbacks;
pub use clock::Clock;
pub use connection_context::{ConnectionContext, EndDetails};
pub use connection_state::{ConnectionState, InvalidMessages};
pub use definition::{EnvPolicy, McpServerDef, inherited_env_names};
pub use error::{Cause, Error, ErrorKind, HttpSetupError, SpawnError, SpawnErrorKind};
pub use event_consumers::{EventConsumer, EventConsumers};
pub use event_queue::EventQueue;
pub use handler::{
    CancelledFuture, ClientHandler, ConnectionHandlers, HandlerCapabilities, HandlerContext, OutgoingAnswer,
    PendingAnswers, RequestHandler,
};
pub use hooks::ConnectionHooks;
pub use launcher::{LaunchKind, LaunchedServer, LaunchedServerHandle, Launcher, ServerLaunch, launch};
#[doc(hidden)]
pub use lifecycle::Lifecycle;
pub use mcpwire_core as protocol;
#[doc(hidden)]
pub use mcpwire_text::setters;
pub use messages::{LinesToMessages, MessagesToLines};
pub use observer::{ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};
pub use options::{ConnectOptions, OptionParts};
pub use panics::{CallbackPanic, HandlerError, PanicCallbacks, PanicSource, catch_panic};
pub use reply_slots::{ReplySlot, ReplySlots};
pub use server_end::{ConnectionEnd, Exit, ProcessReport};
pub use shutdown::{GracePeriods, ShutdownReport, ShutdownStep};
pub use stderr::{Stderr, StderrLines, StderrListener, StderrTail};
pub use streams::{ReadStream, Reader, WriteStream, Writer};
pub use subscription::subscription_options;
#[doc(hidden)]
pub use sync::{lock, replace_waker};
pub use tools::{IntoIter as ToolsIntoIter, Tools};
pub use trace_context::TraceSource;
pub use wire_trace::{Direction, TraceListener, Tracer};
