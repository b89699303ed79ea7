//! Starts and ends the processes of MCP servers, for the adapters of mcpwire.
//!
//! An adapter starts a server from an [`McpServerDef`] with [`RunningServer::start`], converts its [`Pipes`] to streams of its
//! runtime, and ends the process with [`ProcessShutdown`]. Dropping a [`Process`] kills the server and all processes that the
//! server started.
//!
//! | file | content |
//! |---|---|
//! | `process`, `spawn`, `group` | [`Process`]: starts a server in a process group, detects its exit, and signals the group |
//! | `shutdown` | [`ProcessShutdown`]: ends a server step by step |
//!
//! [`McpServerDef`]: mcpwire_client::McpServerDef

mod group;
mod process;
mod shutdown;
mod spawn;

pub use process::{ExitHandle, Pipes, Process, RunningServer};
pub use shutdown::{ProcessShutdown, ShutdownAction};
