//! [`Pending`]: a request in flight. The program waits for its result later, and can send more requests before.

use std::fmt;
use std::sync::Arc;

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::{CallTool, Method, RequestKey, Ticket};

use crate::client::McpClient;
use crate::pending_replies::{DroppedHandle, DroppedHandles};

/// A request in flight. The program waits for its result later, and can send more requests before. Returned by
/// [`McpClient::begin`] and [`Call::begin`](crate::Call::begin).
///
/// Dropping this value cancels the request. The server is notified when the client is used next.
#[must_use = "dropping it cancels the request"]
pub struct Pending<M: Method> {
    ticket: Ticket<M>,
    /// The name of the tool that the request calls, for errors. `None` for a request that was sent by [`McpClient::begin`].
    tool: Option<Arc<str>>,
    /// Checks the result of a tool call against the output schema of the tool. Does nothing for other requests.
    check: CheckOutput<M::Result>,
    /// Receives the key of the request if this value is dropped.
    dropped: DroppedHandles,
    /// Whether the program has waited for the result or cancelled the request, so that dropping this value does nothing.
    is_done: bool,
}

/// A function that checks the result of a tool against its output schema. The arguments are the client, the name of the tool and
/// the result.
type CheckOutput<T> = fn(&mut McpClient, &str, &T) -> Result<(), Error>;

impl<M: Method> Pending<M> {
    pub(crate) fn new(ticket: Ticket<M>, callbacks: ReportCallbacks<'static>, client: &mut McpClient) -> Self {
        client.connection.expect(ticket.key(), callbacks);
        Pending { ticket, tool: None, check: |_, _, _| Ok(()), dropped: client.dropped.clone(), is_done: false }
    }

    /// Returns the key of the request. The progress notifications of the request contain the same key.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Waits for the result. `client` must be the client that sent the request.
    ///
    /// # Errors
    /// If the request fails, or the wait is cancelled by a [`Canceller`](crate::Canceller).
    ///
    /// # Panics
    /// If a callback of the call has panicked. The call was cancelled then, and this method panics with the same payload.
    pub fn wait(mut self, client: &mut McpClient) -> Result<M::Result, Error> {
        self.is_done = true;
        let result = client.wait(self.ticket);
        let result = result.map_err(|error| match &self.tool {
            Some(tool) => error.with_tool(tool),
            None => error,
        })?;
        (self.check)(client, self.tool.as_deref().unwrap_or_default(), &result)?;
        Ok(result)
    }

    /// Cancels the request, and notifies the server at once. The notification contains `reason`.
    pub fn cancel(mut self, client: &mut McpClient, reason: &str) {
        self.is_done = true;
        client.connection.cancel(self.ticket.key(), reason);
    }
}

impl Pending<CallTool> {
    /// Sets the name of the tool that the request calls. Errors then contain the name, and the result is checked against the
    /// output schema of the tool.
    pub(crate) fn of_tool(mut self, tool: Arc<str>) -> Self {
        self.tool = Some(tool);
        self.check = McpClient::check_output;
        self
    }
}

impl<M: Method> Drop for Pending<M> {
    fn drop(&mut self) {
        if !self.is_done {
            self.dropped.push(DroppedHandle::Request(self.ticket.key()));
        }
    }
}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write, pipe};
    use std::thread;
    use std::time::Duration;

    use mcpwire_core::{Config, Json, Negotiate, Ping, RequestOptions};

    use super::*;
    use crate::ConnectOptions;

    /// Connects to a server that answers each request with an empty result. The thread returns the lines that it received.
    fn connect() -> (McpClient, thread::JoinHandle<Vec<String>>) {
        let ((from_client, to_server), (from_server, mut to_client)) = (pipe().unwrap(), pipe().unwrap());
        let server = thread::spawn(move || {
            let mut received = Vec::new();
            for line in BufReader::new(from_client).lines() {
                let line = line.unwrap();
                let message = Json::parse(&*line).unwrap();
                let result = match message.member::<String>("method").as_deref() {
                    Some("initialize") => {
                        r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#
                    }
                    _ => "{}",
                };
                if let Some(id) = message.member::<Json>("id") {
                    let _ = writeln!(to_client, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get());
                }
                received.push(line);
            }
            received
        });
        let mut config = Config::new("test", "1");
        config.negotiate = Negotiate::Legacy;
        let mut client = McpClient::over(from_server, to_server, ConnectOptions::new(config)).unwrap();
        client.initialize().unwrap();
        (client, server)
    }

    #[test]
    fn the_reply_to_a_dropped_request_is_dropped() {
        let (mut client, server) = connect();
        let options = RequestOptions::new();
        for _ in 0..3 {
            let pending = client.begin::<Ping>(&(), &options).unwrap();
            // Reads the reply to the pending request as well.
            client.ping().unwrap();
            drop(pending);
        }
        assert!(client.connection.expects_replies());
        client.ping().unwrap();
        assert!(!client.connection.expects_replies());
        // The client does not store a reply without a handle.
        let now = client.connection.now();
        let _ = client.connection.io.engine.calls().request::<Ping>(&(), &options, now).unwrap();
        client.listen(Duration::from_millis(20)).unwrap();
        assert!(!client.connection.expects_replies());
        let pending = client.begin::<Ping>(&(), &options).unwrap();
        client.ping().unwrap();
        pending.wait(&mut client).unwrap();
        assert!(!client.connection.expects_replies());
        client.shutdown().unwrap();
        server.join().unwrap();
    }

    #[test]
    fn a_cancelled_request_is_cancelled_on_the_server_with_the_reason() {
        let (mut client, server) = connect();
        let pending = client.begin::<Ping>(&(), &RequestOptions::new()).unwrap();
        pending.cancel(&mut client, "the user has left");
        client.ping().unwrap();
        assert!(!client.connection.expects_replies());
        client.shutdown().unwrap();
        let received = server.join().unwrap();
        let cancelled = received.iter().find(|line| line.contains("notifications/cancelled")).unwrap();
        assert!(cancelled.contains("the user has left"), "{cancelled}");
    }
}
