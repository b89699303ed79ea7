//! MCP servers as processes, for the adapters of mcpwire.
//!
//! An adapter starts a server from an [`McpServerDef`] with [`Started::start`], converts its [`Pipes`] to those of its runtime, and ends the
//! process step by step with [`Stopping`]. A [`Process`] that is dropped is killed, with all processes that it started.
//!
//! | file | content |
//! |---|---|
//! | `process`, `spawn`, `group` | [`Process`]: starts a server in a process group, watches it, and ends the group |
//! | `stopping` | [`Stopping`]: ends a server step by step |
//!
//! [`McpServerDef`]: mcpwire_client::McpServerDef

mod group;
mod process;
mod spawn;
mod stopping;

pub use process::{ExitHandle, Pipes, Process, Started};
pub use stopping::{Next, Stopping};
