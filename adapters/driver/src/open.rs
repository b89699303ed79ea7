//! [`open`] and its builder [`Open`]: start a server, open the connection and list the tools, with the options as methods.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::time::Duration;

use mcpwire_client::{ConnectOptions, Error, McpServerDef};

use crate::client::McpClient;
use crate::operation::BoxFuture;
use crate::runtime::CurrentRuntime;

/// Returns a builder that connects to a server. Awaiting the builder starts the server, opens the connection and lists the
/// tools.
///
/// This does the same as [`McpClient::connect_and_initialize_with`]. Each option of [`ConnectOptions`] is a method of the
/// builder. `mcpwire::tokio`, `mcpwire::smol` and `mcpwire::async_std` have a function `open` for their own runtime.
///
/// ```no_run
/// # mod mcpwire { pub mod runtime { pub use mcpwire_driver::open; } }
/// # use std::time::Duration;
/// # use mcpwire_driver::{CurrentRuntime, Error, McpServerDef};
/// # async fn run<R: CurrentRuntime>() -> Result<(), Error> {
/// let def = McpServerDef::new("my-server");
/// let client = mcpwire::runtime::open::<R>(&def).client_info("my-app", "1.0").timeout(Duration::from_secs(30)).await?;
/// # Ok(())
/// # }
/// ```
pub fn open<R: CurrentRuntime>(def: impl Into<McpServerDef>) -> Open<R> {
    Open {
        def: def.into(),
        options: ConnectOptions::default(),
        timeout: None,
        connect_timeout: None,
        runtime: PhantomData,
    }
}

/// A builder that connects to a server. Created by [`open`]. Awaiting the builder starts the server, opens the connection and
/// lists the tools.
///
/// The builder converts to a `'static` future, which can be spawned: `set.spawn(open(&def).into_future())`.
///
/// # Errors
/// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
/// requests fails. A server without tools is not an error: [`McpClient::tools`] returns an empty list.
///
/// # Panics
/// The first poll panics outside of a runtime, if the runtime `R` needs one, as tokio does.
///
/// # Cancel safety
/// Dropping the future before its end kills the server and all processes that it started.
#[doc(alias = "connect")]
#[must_use = "a connection is opened when it is awaited"]
pub struct Open<R> {
    def: McpServerDef,
    options: ConnectOptions,
    /// The timeouts that the methods of the builder have set. They take precedence over the timeouts of `def`.
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Open<R> {
    mcpwire_client::open_options!();
}

impl<R: CurrentRuntime> IntoFuture for Open<R> {
    type Output = Result<McpClient<R>, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Open { mut def, options, timeout, connect_timeout, .. } = self;
        def.timeout = timeout.or(def.timeout);
        def.connect_timeout = connect_timeout.or(def.connect_timeout);
        Box::pin(async move { McpClient::connect_and_initialize_with(&def, options).await })
    }
}

impl<R> fmt::Debug for Open<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("definition", &self.def).field("options", &self.options).finish_non_exhaustive()
    }
}
