//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `hub`; its API may change in any release.
//!
//! Manages many MCP servers: their lifecycles and restarts, a common tool catalogue, and error messages for users.
//!
//! The crate performs no I/O: it starts no process, writes no file and reads no clock. The embedder (the program that
//! uses the crate) performs the effects that the state machines request, and reports the outcomes as events.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod catalogue;
mod classify;
mod error;
mod error_code;
mod error_json;
mod failure;
mod id;
mod limits;
mod policy;
mod search;
mod server;
mod service;

pub use catalogue::{Catalogue, CatalogueBuilder, Filter, OfferedTool, ToolChange, ToolChanges, ToolPart};
pub use classify::{Cause, Evidence, Stage};
pub use error::HubError;
pub use error_code::ErrorCode;
pub use failure::{Failure, Retry};
pub use id::{InvalidServerId, ServerId};
pub use limits::{Rate, RateLimiter, ResultLimits, TooManyCalls, Truncation, estimate_tokens};
pub use mcpwire_core::ErrorKind;
pub use policy::{Budget, Health, PackageKind, Policy, Restart};
pub use search::{ToolMatch, search_tools};
pub use server::{Command, CommandId, Effect, Event, Generation, McpStatus, Server, ServerDetail, State};
pub use service::{Action, CallRejection, ServerSpec, Supervisor, SupervisorSettings};
