//! [`open`] and its builder [`Open`]: start a server, open the connection and list the tools, with the options as methods.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use mcpwire_client::{ConnectOptions, Error, McpServerDef};

use crate::client::McpClient;

/// Returns a builder that connects to a server. [`Open::wait`] starts the server, opens the connection and lists the tools.
///
/// This does the same as [`McpClient::connect_and_initialize_with`]. Each option of [`ConnectOptions`] is a method of the
/// builder.
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

/// A builder that connects to a server. Created by [`open`]. [`Open::wait`] starts the server and opens the connection.
#[doc(alias = "connect")]
#[must_use = "a connection is opened by `wait`"]
pub struct Open {
    def: McpServerDef,
    options: ConnectOptions,
    /// The timeouts that the methods of the builder have set. They take precedence over the timeouts of `def`.
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
