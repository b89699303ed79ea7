//! Many MCP servers for one program: what is configured of them, where their secrets are, and how they are started.
//!
//! | where | what |
//! |---|---|
//! | [`config`] | [`McpConfig`](config::McpConfig): all that is configured of a server, and its rules |
//! | [`store`] | [`Store`](store::Store): the configurations in `servers.json` |
//! | [`mod@import`] | the files of other programs, read and written |
//! | [`secrets`] | [`SecretStore`](secrets::SecretStore): where secrets are kept, and how they are named |
//! | [`launch`] | [`Launch`](launch::Launch): from a configuration and its secrets to a process or an address |
//! | [`redact`] | [`Redactor`](redact::Redactor): secrets taken out of what is shown and kept |
//! | [`ledger`] | [`Ledger`](ledger::Ledger): the processes that run, for the next start to end what a crash left |
//! | [`service`] | [`Hub`]: all of it as one service, [`McpService`], that starts, supervises and calls servers |
//! | [`runtime`] | [`Runtime`](runtime::Runtime): the runtime of a hub: tokio, smol, or another |
//! | [`layout`] | [`Layout`](layout::Layout): where all of it is on disk |

#![forbid(unsafe_code)]

pub mod config;
mod disk;
pub mod import;
mod jsonc;

pub mod launch;
pub mod layout;
pub mod ledger;

pub mod redact;
pub mod secrets;
pub mod service;
pub mod store;
mod tasks;

/// The runtimes that a hub can run on: see [`HubOptions::on`].
pub mod runtime {
    pub use mcpwire_driver::{BlockingTask, Clock, CurrentRuntime, Runtime, Streams, TaskFuture, Timer};
    #[cfg(feature = "smol")]
    pub use mcpwire_smol::Smol;
    #[cfg(feature = "tokio")]
    pub use mcpwire_tokio::Tokio;
}

pub use mcpwire_client::McpServerDef;
pub use mcpwire_core as protocol;
pub use mcpwire_driver::ConnectOptions;
pub use mcpwire_supervisor as supervisor;
pub use mcpwire_supervisor::{ErrorCode, HubError, ToolChange, ToolPart};
pub use mcpwire_tool_client as tool_client;
pub use service::{Hub, HubOptions, McpService, McpStatus};
pub use uuid::Uuid;
