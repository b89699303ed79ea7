//! [`Worker`]: the thread that owns the client.

use std::sync::Arc;

use mcpwire_client::Error;
use mcpwire_core::{CallTool, CallToolResult, Json, Phase};
use mcpwire_tool_client::ToolError;

use super::command_queue::{ClientCommand, CommandQueue};
use super::slot::ResultSender;
use crate::client::McpClient;
use crate::pending::Pending;

/// The thread that owns the client. It sends the calls, and delivers their results.
pub(super) struct Worker {
    client: McpClient,
    queue: CloseOnDrop,
    calls: Vec<RunningCall>,
}

struct RunningCall {
    pending: Pending<CallTool>,
    sender: ResultSender<CallToolResult>,
}

/// Closes the queue when dropped, also by a panic of the thread, so that no caller waits forever.
struct CloseOnDrop(Arc<CommandQueue>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
        // Dropping the commands delivers errors as their results.
        drop(self.0.take());
    }
}

impl Worker {
    pub(super) fn new(client: McpClient, queue: Arc<CommandQueue>) -> Self {
        Worker { client, queue: CloseOnDrop(queue), calls: Vec::new() }
    }

    /// Runs until the queue is closed, and returns the client.
    pub(super) fn run(mut self) -> McpClient {
        while let Some(commands) = self.queue.0.take() {
            for command in commands {
                self.run_command(command);
            }
            self.deliver_results();
            self.wait();
        }
        self.client
    }

    fn run_command(&mut self, command: ClientCommand) {
        match command {
            ClientCommand::List { sender } => {
                sender.send(self.client.list_tools().map(|tools| tools.to_vec()).map_err(ToolError::from));
            }
            ClientCommand::Call { sender, .. } if sender.is_cancelled() => {}
            ClientCommand::Call { name, arguments, sender } => match self.begin(&name, &arguments) {
                Ok(pending) => self.calls.push(RunningCall { pending, sender }),
                Err(error) => sender.send(Err(error.into())),
            },
            ClientCommand::CancelDropped => {
                for call in self.calls.extract_if(.., |call| call.sender.is_cancelled()) {
                    call.pending.cancel(&mut self.client, "no longer needed");
                }
            }
        }
    }

    fn begin(&mut self, name: &str, arguments: &Json) -> Result<Pending<CallTool>, Error> {
        // `Call::begin` does not list the tools itself.
        if !self.client.has_tool(name) {
            // The error is ignored: the call may succeed without the list.
            let _ = self.client.list_tools();
        }
        self.client.call_tool(name, arguments).begin()
    }

    fn deliver_results(&mut self) {
        for at in (0..self.calls.len()).rev() {
            if self.client.connection.has_reply(self.calls[at].pending.key()) {
                let RunningCall { pending, sender } = self.calls.swap_remove(at);
                sender.send(pending.wait(&mut self.client).map_err(ToolError::from));
            }
        }
    }

    /// Waits for a command or for a result.
    fn wait(&mut self) {
        let queue = &self.queue.0;
        let calls = &self.calls;
        let waited = self.client.connection.wait_until(|connection| {
            queue.has_changed() || calls.iter().any(|call| connection.has_reply(call.pending.key()))
        });
        let is_closed = self.client.connection.engine.session().phase() == Phase::Closed;
        if waited.is_err() || is_closed {
            // The connection has ended, so the calls without a reply fail.
            for RunningCall { pending, sender } in self.calls.drain(..) {
                sender.send(pending.wait(&mut self.client).map_err(ToolError::from));
            }
            queue.wait();
        }
    }
}
