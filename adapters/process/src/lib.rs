//! MCP servers as processes: what the adapters of mcpwire share, whatever runtime they are for.
//!
//! An application uses one of the adapters (`mcpwire-blocking`, `mcpwire-tokio`, ...), which re-export what is of use to it.
//! An adapter starts a [`Process`] from an [`McpServerDef`], makes its [`Pipes`] its runtime's, keeps what the server writes
//! on standard error in a [`Stderr`], and ends the process step by step with [`Stopping`]. Whatever happens, a [`Process`]
//! that is dropped ends with all that it started.
//!
//! | where | what |
//! |---|---|
//! | [`McpServerDef`], [`EnvPolicy`] | how a server is started |
//! | [`Process`], [`Pipes`], [`ExitHandle`] | a server that runs |
//! | [`Exit`], [`SpawnError`] | how it ended, why it could not be started |
//! | [`Stopping`], [`ShutdownReport`] | ending it |
//! | [`Stderr`], [`StderrTail`], [`StderrLines`], [`Tracer`] | what it writes, what goes over the wire |
//! | [`TraceSource`] | where in a trace its requests belong |
//! | [`Panics`], [`CallbackPanic`], [`catch_panic`] | panics in the program's own code |
//! | [`Error`] | what went wrong, with the exit status and the last words of the server |

mod definition;
mod error;
mod exit;
mod group;
mod panics;
mod process;
mod spawn;
mod stderr;
mod stopping;
mod trace;
mod trace_source;

pub use definition::{EnvPolicy, McpServerDef, inherited_names};
pub use error::{Error, ErrorKind, HttpSetupError, ProcessReport};
pub use exit::Exit;
pub use panics::{CallbackPanic, HandlerError, PanicSource, Panics, catch_panic, finish_ask};
pub use process::{ExitHandle, Pipes, Process};
pub use spawn::{SpawnError, SpawnErrorKind};
pub use stderr::{Follower, Stderr, StderrLines, StderrTail};
pub use stopping::{Next, ShutdownReport, Stopping};
pub use trace::{Direction, Tracer, Watcher};
pub use trace_source::TraceSource;
