//! [`Listing`]: a request for the list of tools, and the callers that wait for it.

use std::ops::ControlFlow;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{CallToolResult, Json, RequestKey, RequestOptions, Tool};
use mcpwire_tool_client::ToolError;

use super::slot::ResultSender;
use crate::client::McpClient;

/// A call that was not sent, for example because its tool is searched for in the list.
pub(super) struct WaitingCall {
    pub(super) name: Box<str>,
    pub(super) arguments: Json,
    pub(super) options: RequestOptions,
    /// Whether the caller has a callback for progress.
    pub(super) wants_progress: bool,
    pub(super) sender: ResultSender<CallToolResult>,
}

/// Callers that wait for the list of tools.
#[derive(Default)]
pub(super) struct Waiters {
    pub(super) lists: Vec<ResultSender<Vec<Tool>>>,
    pub(super) calls: Vec<WaitingCall>,
}

impl Waiters {
    pub(super) fn of_list(sender: ResultSender<Vec<Tool>>) -> Self {
        Waiters { lists: vec![sender], calls: Vec::new() }
    }

    pub(super) fn of_call(call: WaitingCall) -> Self {
        Waiters { lists: Vec::new(), calls: vec![call] }
    }

    fn add(&mut self, mut others: Waiters) {
        self.lists.append(&mut others.lists);
        self.calls.append(&mut others.calls);
    }

    /// Sends the list, or the error, to the callers that wait for the list itself. Returns the calls that have waited for it; the
    /// caller sends them.
    pub(super) fn deliver(self, listed: &Result<Tools, Error>) -> Vec<WaitingCall> {
        for sender in self.lists {
            sender.send(listed.as_ref().map(|tools| tools.to_vec()).map_err(|error| ToolError::from(error.clone())));
        }
        self.calls
    }
}

/// A request for the list of tools. It has at least one waiter.
pub(super) struct Listing {
    operation: ToolListing,
    /// The request for the next page.
    key: RequestKey,
    waiters: Waiters,
}

/// A listing that has ended: its waiters, and the list or the error.
pub(super) type EndedListing = (Waiters, Result<Tools, Error>);

impl Listing {
    /// Sends the request for the first page.
    pub(super) fn begin(client: &mut McpClient, waiters: Waiters) -> Result<Self, EndedListing> {
        let connection = &client.connection;
        let options = connection.context.with_caller_context(&RequestOptions::new()).into_owned();
        let mut operation = ToolListing::new(options, connection.engine.session().config(), connection.now());
        match client.advance(&mut operation) {
            Ok(ControlFlow::Continue(key)) => Ok(Listing { operation, key, waiters }),
            Ok(ControlFlow::Break(list)) => Err((waiters, Ok(Tools::new(list)))),
            Err(error) => Err((waiters, Err(error))),
        }
    }

    /// Lets further callers wait for this list. Returns them if the list may lack a change that the server has reported.
    pub(super) fn join(&mut self, client: &mut McpClient, waiters: Waiters) -> Result<(), Waiters> {
        client.connection.catch_up();
        if self.operation.is_outdated(&client.connection.state.client) {
            return Err(waiters);
        }
        self.waiters.add(waiters);
        Ok(())
    }

    pub(super) fn key(&self) -> RequestKey {
        self.key
    }

    /// Receives a page, and sends the request for the next one. Waits for the page if it has not arrived.
    pub(super) fn receive_page(mut self, client: &mut McpClient) -> Result<Self, EndedListing> {
        let received = client.receive(&mut self.operation, self.key);
        match received.and_then(|()| client.advance(&mut self.operation)) {
            Ok(ControlFlow::Continue(key)) => Ok(Listing { key, ..self }),
            Ok(ControlFlow::Break(list)) => {
                // A list is larger than most responses, and the next request may be sent much later.
                client.connection.engine.shrink();
                Err((self.waiters, Ok(Tools::new(list))))
            }
            Err(error) => Err((self.waiters, Err(error))),
        }
    }

    /// Removes the callers whose futures were dropped. Returns whether a caller is left.
    pub(super) fn remove_cancelled(&mut self) -> bool {
        let Waiters { lists, calls } = &mut self.waiters;
        lists.retain(|sender| !sender.is_cancelled());
        calls.retain(|call| !call.sender.is_cancelled());
        !lists.is_empty() || !calls.is_empty()
    }
}
