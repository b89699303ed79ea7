//! What all clients of mcpwire share, without a process and without a runtime.
//!
//! An application uses one of the adapters (`mcpwire-blocking`, `mcpwire-tokio`, ...), which re-export what it needs.
//!
//! | file | content |
//! |---|---|
//! | `context` | [`ConnectionContext`]: what a connection keeps |
//! | `definition` | [`McpServerDef`]: the command of a server, or its URL |
//! | `error` | [`Error`]: why a method of a client failed |
//! | `exit`, `shutdown_report` | [`Exit`], [`ShutdownReport`]: how a server's process ended |
//! | `options` | [`ConnectOptions`]: the options of a connection |
//! | `handler` | [`ClientHandler`], [`RequestHandler`]: the program's answers to requests of servers |
//! | `observer`, `hooks` | [`Observer`]: what happens on connections and to their requests |
//! | `launcher` | [`Launcher`]: starts servers in containers, over ssh, or in this process |
//! | `panics` | [`Panics`], [`CallbackPanic`]: panics in the program's own code |
//! | `stderr` | [`Stderr`]: the last lines that a server wrote on standard error |
//! | `trace`, `trace_source` | [`Tracer`]: the messages on the wire. [`TraceSource`]: the trace context of requests |
//! | `event_queue`, `invalid_messages`, `connection_end`, `connection_state` | [`ConnectionState`], [`EventQueue`], [`InvalidMessages`], [`ConnectionEnd`]: what a server has reported |
//! | `tracing` | spans and events for the `tracing` crate |
//! | `tools` | [`Tools`]: the tools of a server |
//! | `messages` | [`MessagesToLines`], [`LinesToMessages`]: a connection over whole messages |
//! | `streams` | [`ReadStream`], [`WriteStream`]: the streams of any runtime |
//! | `http` | HTTP clients and tokens, and the exchanges of a connection |

#[cfg(feature = "tracing")]
mod call_site;
mod connection_end;
mod connection_state;
mod context;
mod definition;
mod error;
mod event_queue;
mod exit;
mod handler;
mod hooks;
#[cfg(feature = "http")]
pub mod http;
mod invalid_messages;
mod launcher;
mod messages;
mod observer;
mod options;
mod panics;
mod shutdown_report;
mod stderr;
mod streams;
mod tools;
mod trace;
mod trace_source;
#[cfg(feature = "tracing")]
mod tracing;

pub use connection_end::ConnectionEnd;
pub use connection_state::{ConnectionState, subscription_options};
pub use context::{ConnectionContext, ConnectionFacts};
pub use definition::{EnvPolicy, McpServerDef, inherited_names};
pub use error::{Cause, Error, ErrorKind, HttpSetupError, ProcessReport, SpawnError, SpawnErrorKind};
pub use event_queue::EventQueue;
pub use exit::Exit;
pub use handler::{
    Answered, Cancelled, ClientHandler, ConnectionHandlers, HandlerCapabilities, HandlerContext, PendingAnswers,
    RequestHandler, method_not_found,
};
pub use hooks::{ConnectionHooks, NewHooks};
pub use invalid_messages::InvalidMessages;
pub use launcher::{AnyLauncher, Launch, Launched, LaunchedControl, LaunchedServer, Launcher};
pub use messages::{LinesToMessages, MessagesToLines};
pub use observer::{ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};
pub use options::{ConnectOptions, OptionParts};
pub use panics::{CallbackPanic, HandlerError, PanicSource, Panics, catch_panic};
pub use shutdown_report::ShutdownReport;
pub use stderr::{Follower, Stderr, StderrLines, StderrTail};
pub use streams::{ReadStream, Reader, WriteStream, Writer};
pub use tools::{IntoIter as ToolsIntoIter, Tools};
pub use trace::{Direction, Tracer, Watcher};
pub use trace_source::TraceSource;
