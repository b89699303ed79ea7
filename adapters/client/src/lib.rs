//! What all clients of mcpwire share, without a process and without a runtime.
//!
//! An application uses one of the adapters (`mcpwire-blocking`, `mcpwire-tokio`, ...), which re-export what it needs.
//!
//! | file | content |
//! |---|---|
//! | `context` | [`ConnectionContext`]: what a connection keeps; [`construct`]: its errors |
//! | `definition` | [`McpServerDef`]: the command of a server, or its URL |
//! | `error`, `exit`, `spawn_error`, `shutdown_report` | [`Error`], and what is known of a server's process |
//! | `panics` | [`Panics`], [`CallbackPanic`]: panics in the program's own code |
//! | `stderr` | [`Stderr`]: the last lines that a server wrote on standard error |
//! | `trace`, `trace_source` | [`Tracer`]: the messages on the wire. [`TraceSource`]: the trace context of requests |
//! | `tools` | [`Tools`]: the tools of a server |
//! | `streams` | [`ReadStream`], [`WriteStream`]: the streams of any runtime |
//! | `http` | HTTP clients and tokens, and the exchanges of a connection |

pub mod construct;
mod context;
mod definition;
mod error;
mod exit;
#[cfg(feature = "http")]
pub mod http;
mod panics;
mod shutdown_report;
mod spawn_error;
mod stderr;
mod streams;
mod tools;
mod trace;
mod trace_source;

pub use context::{ConnectionContext, ConnectionFacts};
pub use definition::{EnvPolicy, McpServerDef, inherited_names};
pub use error::{Error, ErrorKind, HttpSetupError, ProcessReport};
pub use exit::Exit;
pub use panics::{CallbackPanic, HandlerError, PanicSource, Panics, catch_panic, finish_ask};
pub use shutdown_report::ShutdownReport;
pub use spawn_error::{SpawnError, SpawnErrorKind};
pub use stderr::{Follower, Stderr, StderrLines, StderrTail};
pub use streams::{ReadStream, Reader, WriteStream, Writer};
pub use tools::{IntoIter as ToolsIntoIter, Tools};
pub use trace::{Direction, Tracer, Watcher};
pub use trace_source::TraceSource;
