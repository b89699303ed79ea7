//! [`Open`]: connects to a server, opens the connection and lists the tools.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use mcpwire_client::{ConnectOptions, Error, McpServerDef};

use crate::client::McpClient;

/// Returns a builder that connects to a server. [`Open::wait`] starts the server, opens the connection and lists the tools.
///
/// This is [`McpClient::connect_and_initialize_with`], with the options as methods.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod blocking { pub use mcpwire_blocking::open; } }
/// use std::time::Duration;
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::open;
///
/// let def = McpServerDef::new("my-server");
/// let mut client = open(&def).client_info("my-app", "1.0").timeout(Duration::from_secs(30)).wait()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub fn open(def: impl Into<McpServerDef>) -> Open {
    Open { def: def.into(), options: ConnectOptions::default(), timeout: None, connect_timeout: None }
}

/// Connects to a server with options. Created by [`open`].
#[doc(alias = "connect")]
#[must_use = "a connection is opened by `wait`"]
pub struct Open {
    def: McpServerDef,
    options: ConnectOptions,
    /// The timeouts that were set here. They take precedence over those of the definition.
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
}

impl Open {
    mcpwire_client::open_options!();

    /// Starts the server, opens the connection and lists the tools.
    ///
    /// # Errors
    /// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
    /// requests fails. A server without tools is not an error: [`McpClient::tools`] returns an empty list.
    pub fn wait(self) -> Result<McpClient, Error> {
        let Open { mut def, options, timeout, connect_timeout } = self;
        def.timeout = timeout.or(def.timeout);
        def.connect_timeout = connect_timeout.or(def.connect_timeout);
        McpClient::connect_and_initialize_with(&def, options)
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("definition", &self.def).field("options", &self.options).finish_non_exhaustive()
    }
}
