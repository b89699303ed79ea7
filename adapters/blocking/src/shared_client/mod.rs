//! [`SharedClient`]: a blocking client that many callers share.
//!
//! | file | content |
//! |---|---|
//! | `command_queue` | the commands for the thread that owns the client |
//! | `command_future` | the future of the result of a command |
//! | `listing` | a request for the list of tools, which several callers may share |
//! | `slot` | the result of a command, and the sender of the result |
//! | `worker` | the thread that owns the client |

mod command_future;
mod command_queue;
mod listing;
mod slot;
mod worker;

use std::fmt;
use std::future::ready;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use mcpwire_client::{Error, ShutdownReport};
use mcpwire_core::{CallToolResult, Json, RequestOptions, Tool};
use mcpwire_tool_client::{BoxFuture, CallOptions, ToolClient, ToolError, unless_cancelled};

use crate::client::McpClient;
use command_future::CommandFuture;
use command_queue::{ClientCommand, CommandQueue};
use listing::WaitingCall;
use worker::Worker;

/// A blocking client that any number of threads and tasks share, through the trait [`ToolClient`].
///
/// A background thread owns the client. Callers do not wait for each other: the server may execute their calls concurrently and
/// respond in any order. Callers that need the list of tools at the same time share a request. The futures never block, and work
/// on any executor. The handlers of the client run on the background thread: while a handler runs, no result is delivered.
///
/// Polling a future for the first time sends its call, and dropping the future cancels the call. Dropping the `SharedClient`
/// kills the server; [`SharedClient::shutdown`] ends it step by step.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod tool_client { pub use
/// # mcpwire_blocking::tool_client::{ToolClient, ToolError}; } pub mod blocking { pub use mcpwire_blocking::{McpClient,
/// # SharedClient}; } }
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::{McpClient, SharedClient};
/// use mcpwire::tool_client::{ToolClient, ToolError};
///
/// async fn list(client: &dyn ToolClient) -> Result<usize, ToolError> {
///     Ok(client.list_tools().await?.len())
/// }
///
/// let client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
/// let client = SharedClient::new(client)?;
/// # let _ = list(&client);
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub struct SharedClient {
    queue: Arc<CommandQueue>,
    /// The name of the server in errors.
    name: Box<str>,
    /// `None` after the thread was joined.
    thread: Option<JoinHandle<McpClient>>,
}

impl SharedClient {
    /// Shares a client whose connection is open.
    ///
    /// # Errors
    /// If the system cannot create a pipe or a thread.
    pub fn new(mut client: McpClient) -> Result<Self, Error> {
        let queue = Arc::new(CommandQueue::new(client.canceller()?));
        let name = client.connection.context.name().to_owned();
        let worker = Worker::new(client, Arc::clone(&queue));
        let thread = thread::Builder::new().name("mcpwire-client".into()).spawn(move || worker.run());
        let thread = thread.map_err(|error| Error::new(&name, error))?;
        Ok(SharedClient { queue, name: name.into(), thread: Some(thread) })
    }

    /// Ends the server step by step, as [`McpClient::shutdown`] does.
    ///
    /// # Errors
    /// If the process still exists after it was killed.
    pub fn shutdown(self) -> Result<ShutdownReport, Error> {
        self.into_client().shutdown()
    }

    /// Ends the background thread, and returns the client.
    pub fn into_client(mut self) -> McpClient {
        self.queue.close();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(client)) => client,
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("the thread is joined once, here or in `drop`"),
        }
    }
}

impl ToolClient for SharedClient {
    fn server_name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(CommandFuture::new(&self.queue, |sender| ClientCommand::List { sender }))
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        self.call_tool_with(name, arguments, CallOptions::new())
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        mut options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let mut request_options = RequestOptions::new();
        if let Some(timeout) = options.take_timeout() {
            request_options = request_options.timeout(timeout);
        }
        if let Some(timeout) = options.take_total_timeout() {
            request_options = request_options.total_timeout(timeout);
        }
        if let Some(meta) = options.take_meta() {
            request_options = request_options.meta(meta);
        }
        let on_progress = options.take_on_progress();
        if on_progress.is_some() {
            request_options = request_options.progress();
        }
        let cancel = options.take_cancel();
        if let Err(error) = options.check_all_taken(name) {
            return Box::pin(ready(Err(error)));
        }
        let wants_progress = on_progress.is_some();
        let command = move |sender| {
            let (name, arguments) = (name.into(), arguments.clone());
            ClientCommand::Call(WaitingCall { name, arguments, options: request_options, wants_progress, sender })
        };
        let call = CommandFuture::new(&self.queue, command).on_progress(on_progress);
        unless_cancelled(self.server_name(), name, cancel, Box::pin(call))
    }
}

impl Drop for SharedClient {
    fn drop(&mut self) {
        self.queue.close();
        // The waker of a caller may own the last reference: then this runs on the background thread, which cannot join itself.
        if let Some(thread) = self.thread.take_if(|thread| thread.thread().id() != thread::current().id()) {
            // A panic of the thread was reported on standard error.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for SharedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedClient").finish_non_exhaustive()
    }
}
