//! Configurations of MCP servers: files, imports from other programs, secrets, and the commands and URLs that start the servers.
//!
//! This crate runs no server, and needs no runtime. `mcpwire-hub` runs the servers, and re-exports the modules of this crate. The
//! library `mcpwire` re-exports them as `mcpwire::hub`. The examples use this path, but a program that depends on this crate
//! directly writes `mcpwire_config` instead.
//!
//! | module | contents |
//! |---|---|
//! | [`config`] | [`McpConfig`](config::McpConfig): the configuration of a server, and its validation |
//! | [`store`] | [`Store`](store::Store): the configuration file, `servers.json` |
//! | [`mod@import`] | reads and writes the configuration files of other programs |
//! | [`secrets`] | [`SecretStore`](secrets::SecretStore): where secrets are stored, and how configurations refer to them |
//! | [`launch`] | [`Launch`](launch::Launch): resolves a configuration and its secrets to a command or a URL |
//! | [`redact`] | [`Redactor`](redact::Redactor): removes secrets from text |
//! | [`disk`] | the errors of the files that a hub stores |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod config;
pub mod disk;
pub mod import;
pub mod launch;
pub mod redact;
pub mod secrets;
pub mod store;
mod url;

pub use mcpwire_client::McpServerDef;
pub use mcpwire_supervisor::{ErrorCode, ErrorKind, HubError};
pub use uuid::Uuid;
