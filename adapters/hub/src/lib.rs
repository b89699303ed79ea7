//! Runs many MCP servers for one program: stores their configurations and secrets, supervises the servers, and calls their tools
//! under unique names.
//!
//! The library `mcpwire` re-exports this crate as `mcpwire::hub`, and the examples use that name. A program that depends directly
//! on this crate uses the name `mcpwire_hub`.
//!
//! | module | contents |
//! |---|---|
//! | [`config`] | [`McpConfig`](config::McpConfig): the configuration of a server, and its validation |
//! | [`store`] | [`Store`](store::Store): the configuration file, `servers.json` |
//! | [`mod@import`] | reads and writes the configuration files of other programs |
//! | [`secrets`] | [`SecretStore`](secrets::SecretStore): where secrets are stored, and how configurations refer to them |
//! | [`logins`] | [`Logins`](logins::Logins): the OAuth logins of HTTP servers, which all programs of the user share |
//! | [`launch`] | [`Launch`](launch::Launch): resolves a configuration and its secrets to a command or a URL |
//! | [`redact`] | [`Redactor`](redact::Redactor): removes secrets from text |
//! | [`process_registry`] | [`ProcessRegistry`](process_registry::ProcessRegistry): a file that lists the running server processes, so that the next hub can end those that survive a crash |
//! | [`service`] | [`Hub`]: starts and supervises the servers, and calls their tools, through the interface [`McpService`] |
//! | [`runtime`] | [`Runtime`](runtime::Runtime): the asynchronous runtime of a hub: tokio, smol, or another |
//! | [`layout`] | [`Layout`](layout::Layout): the directories in which a hub stores its files |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod layout;
pub mod logins;
pub mod process_registry;
pub mod service;
mod tasks;

/// Functions for command line programs that open files whose paths come from users. A path that leads to a named pipe or a device
/// cannot block the program, unless a function says so.
#[doc(hidden)]
pub mod files {
    pub use mcpwire_files::{
        Fs, Links, SystemFs, check_link, check_trusted, create_output, make_private, open_regular, read_file_or_pipe,
        read_to_end,
    };
}

/// The asynchronous runtimes on which a hub can run. [`HubOptions::on`] takes the runtime of a hub.
pub mod runtime {
    pub use mcpwire_driver::{BlockingTask, Clock, CurrentRuntime, Runtime, Streams, TaskFuture, Timer};
    #[cfg(feature = "smol")]
    pub use mcpwire_smol::Smol;
    #[cfg(feature = "tokio")]
    pub use mcpwire_tokio::Tokio;
}

pub use mcpwire_authorization as authorization;
pub use mcpwire_client::McpServerDef;
pub use mcpwire_config::{config, import, launch, redact, secrets, store};
pub use mcpwire_core as protocol;
pub use mcpwire_driver::{ConnectOptions, McpClient};
pub use mcpwire_supervisor as supervisor;
pub use mcpwire_supervisor::{ErrorCode, ErrorKind, HubError, ToolChange, ToolPart};
pub use mcpwire_tool_client as tool_client;
pub use service::{Hub, HubOptions, McpService, McpStatus};
pub use uuid::Uuid;
