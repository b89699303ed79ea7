//! [`SharedClient`]: one blocking client for any number of callers.
//!
//! | file | content |
//! |---|---|
//! | `queue` | the commands for the thread that owns the client |
//! | `response` | the future of the result of a command |
//! | `slot` | the result of a command, and the half that delivers it |
//! | `worker` | the thread that owns the client |

mod queue;
mod response;
mod slot;
mod worker;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use mcpwire_client::{Error, ShutdownReport};
use mcpwire_core::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, ToolClient, ToolError};

use crate::client::McpClient;
use queue::{Command, Queue};
use response::Response;
use worker::Worker;

/// A blocking client that any number of threads and tasks share, through the trait [`ToolClient`].
///
/// A thread of its own uses the client, so no caller waits for another: ten calls that are polled at once are sent at once,
/// and their results arrive in any order. The futures never block, and work under any executor. The handlers of the client
/// run on that thread; while one of them runs, no result is delivered.
///
/// A call is sent when its future is first polled, and cancelled when its future is dropped. Dropping the `SharedClient` kills
/// the server; [`SharedClient::shutdown`] ends it step by step.
///
/// ```no_run
/// use mcpwire_blocking::tool_client::{ToolClient, ToolError};
/// use mcpwire_blocking::{McpClient, McpServerDef, SharedClient};
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
    queue: Arc<Queue>,
    /// `None` after the thread was joined.
    thread: Option<JoinHandle<McpClient>>,
}

impl SharedClient {
    /// Shares a client whose connection is open.
    ///
    /// # Errors
    /// If the system has no pipe or no thread left.
    pub fn new(mut client: McpClient) -> Result<Self, Error> {
        let queue = Arc::new(Queue::new(client.canceller()?));
        let name = client.connection.context.name().to_owned();
        let worker = Worker::new(client, Arc::clone(&queue));
        let thread = thread::Builder::new().name("mcpwire-client".into()).spawn(move || worker.run());
        let thread = thread.map_err(|error| Error::new(&name, error))?;
        Ok(SharedClient { queue, thread: Some(thread) })
    }

    /// Ends the server step by step, as [`McpClient::shutdown`] does.
    ///
    /// # Errors
    /// If the process is still there after it was killed.
    pub fn shutdown(self) -> Result<ShutdownReport, Error> {
        self.into_client().shutdown()
    }

    /// Returns the client.
    pub fn into_client(mut self) -> McpClient {
        self.queue.close();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(client)) => client,
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("the thread is joined once, here or when this is dropped"),
        }
    }
}

impl ToolClient for SharedClient {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(Response::new(&self.queue, |sender| Command::List { sender }))
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let command = move |sender| Command::Call { name: name.into(), arguments: arguments.clone(), sender };
        Box::pin(Response::new(&self.queue, command))
    }
}

impl Drop for SharedClient {
    fn drop(&mut self) {
        self.queue.close();
        // The waker of a caller may own the last reference: then this is the thread itself, which ends by itself.
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
