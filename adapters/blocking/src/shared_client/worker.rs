//! [`Worker`]: the thread that owns the client.

use std::mem;
use std::sync::Arc;

use mcpwire_core::{CallTool, CallToolResult, Notification, Phase};
use mcpwire_tool_client::ToolError;

use super::command_queue::{ClientCommand, CommandQueue};
use super::listing::{EndedListing, Listing, Waiters, WaitingCall};
use super::slot::ResultSender;
use crate::client::McpClient;
use crate::notifications::Notifications;
use crate::pending::Pending;

/// The reason for the server of a cancelled request.
const NO_LONGER_NEEDED: &str = "no longer needed";

/// The thread that owns the client. It sends the calls, and delivers their results.
pub(super) struct Worker {
    client: McpClient,
    queue: CloseOnDrop,
    calls: Vec<RunningCall>,
    /// The requests for the list of tools. The last one was begun last.
    listings: Vec<Listing>,
    /// Receives the progress of the calls. `None` while no running call has a callback for progress.
    notifications: Option<Notifications>,
}

struct RunningCall {
    pending: Pending<CallTool>,
    wants_progress: bool,
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
        Worker { client, queue: CloseOnDrop(queue), calls: Vec::new(), listings: Vec::new(), notifications: None }
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
            ClientCommand::List { sender } if sender.is_cancelled() => {}
            ClientCommand::List { sender } => self.list(Waiters::of_list(sender)),
            ClientCommand::Call(call) if call.sender.is_cancelled() => {}
            ClientCommand::Call(call) => {
                // `Call::begin` does not list the tools itself.
                if self.client.has_tool(&call.name) {
                    self.begin(call);
                } else {
                    self.list(Waiters::of_call(call));
                }
            }
            ClientCommand::CancelDropped => {
                for call in self.calls.extract_if(.., |call| call.sender.is_cancelled()) {
                    call.pending.cancel(&mut self.client, NO_LONGER_NEEDED);
                }
                for listing in self.listings.extract_if(.., |listing| !listing.remove_cancelled()) {
                    self.client.connection.cancel(listing.key(), NO_LONGER_NEEDED);
                }
            }
        }
    }

    /// Lets callers wait for the list of tools: for the one that is being loaded, unless it may lack a reported change.
    fn list(&mut self, waiters: Waiters) {
        let waiters = match self.listings.last_mut() {
            Some(listing) => match listing.join(&mut self.client, waiters) {
                Ok(()) => return,
                Err(waiters) => waiters,
            },
            None => waiters,
        };
        let begun = Listing::begin(&mut self.client, waiters);
        self.add_listing(begun);
    }

    fn add_listing(&mut self, listing: Result<Listing, EndedListing>) {
        match listing {
            Ok(listing) => self.listings.push(listing),
            Err((waiters, listed)) => {
                // An error is not that of the calls: they may succeed without the list.
                for call in waiters.deliver(&listed) {
                    self.begin(call);
                }
            }
        }
    }

    fn begin(&mut self, call: WaitingCall) {
        let WaitingCall { name, arguments, options, wants_progress, sender } = call;
        if sender.is_cancelled() {
            return;
        }
        if wants_progress && self.notifications.is_none() {
            self.notifications = Some(self.client.notifications());
        }
        match self.client.call_tool(&name, &arguments).options(options).begin() {
            Ok(pending) => self.calls.push(RunningCall { pending, wants_progress, sender }),
            Err(error) => sender.send(Err(error.into())),
        }
    }

    /// Delivers the progress that has arrived to the callers with a callback.
    fn deliver_progress(&mut self) {
        let Some(notifications) = &mut self.notifications else { return };
        while let Some(notification) = notifications.pop() {
            let Notification::Progress { progress, .. } = &notification else { continue };
            let of_call = |call: &&RunningCall| notification.request_key() == Some(call.pending.key());
            if let Some(call) = self.calls.iter().find(of_call).filter(|call| call.wants_progress) {
                call.sender.report(progress.clone());
            }
        }
        if !self.calls.iter().any(|call| call.wants_progress) {
            self.notifications = None;
        }
    }

    fn deliver_results(&mut self) {
        // A report belongs before the result of its call.
        self.deliver_progress();
        for at in (0..self.calls.len()).rev() {
            if self.client.connection.has_reply(self.calls[at].pending.key()) {
                let RunningCall { pending, sender, .. } = self.calls.swap_remove(at);
                sender.send(pending.wait(&mut self.client).map_err(ToolError::from));
            }
        }
        for listing in mem::take(&mut self.listings) {
            let has_page = self.client.connection.has_reply(listing.key());
            let listing = if has_page { listing.receive_page(&mut self.client) } else { Ok(listing) };
            self.add_listing(listing);
        }
    }

    /// Waits for a command or for a result.
    fn wait(&mut self) {
        let queue = &self.queue.0;
        let (calls, listings, notifications) = (&self.calls, &self.listings, &self.notifications);
        let waited = self.client.connection.wait_until(|connection| {
            queue.has_changed()
                || notifications.as_ref().is_some_and(|notifications| !notifications.is_empty())
                || calls.iter().any(|call| connection.has_reply(call.pending.key()))
                || listings.iter().any(|listing| connection.has_reply(listing.key()))
        });
        let is_closed = self.client.connection.engine.session().phase() == Phase::Closed;
        if waited.is_err() || is_closed {
            self.fail_all();
            self.queue.0.wait();
        }
    }

    /// Ends the calls and the listings after the connection has ended. Those without a reply fail.
    fn fail_all(&mut self) {
        while let Some(listing) = self.listings.pop() {
            let listing = listing.receive_page(&mut self.client);
            self.add_listing(listing);
        }
        self.deliver_progress();
        for RunningCall { pending, sender, .. } in self.calls.drain(..) {
            sender.send(pending.wait(&mut self.client).map_err(ToolError::from));
        }
    }
}
