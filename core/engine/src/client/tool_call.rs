//! [`ToolCall`]: calls a tool, and searches for the tool first if necessary.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::client_state::ClientState;
use super::known_tools::{KnownTools, SearchProgress, ToolSearch};
use super::operation::{Operation, RequestError, Step};
use super::pages::PagesTime;
use super::single_request::RequestState;
use crate::session::{CallError, Calls, Phase, Prepared, Reply, RequestKey, RequestOptions, SendError, Ticket};
use crate::time::Timestamp;
use mcpwire_types::Method;

/// A state machine that calls a tool, and searches the server's list for the tool if necessary.
///
/// - If the client knows from the list of tools or from a search that the tool does not exist, the call fails without
///   being sent.
/// - If the server supports tasks and the client does not know whether the tool requires a task, the search precedes
///   the call (protocol revision 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation").
/// - If the call fails with an error that may mean that the tool does not exist, the search follows the call.
///
/// `M` is the method of the call and determines the type of the result: [`CallTool`](crate::CallTool),
/// [`CallToolRaw`](crate::CallToolRaw) or [`CallToolAsTask`](crate::CallToolAsTask).
pub struct ToolCall<M: Method> {
    request: Prepared<M>,
    state: RequestState<M>,
    plan: Plan,
}

impl<M: Method> ToolCall<M> {
    /// Creates the state machine for a call of the tool named `tool`, without sending a request. `request` contains the
    /// parameters of the call.
    pub fn new(tool: impl Into<Arc<str>>, request: Prepared<M>, options: RequestOptions) -> Self {
        let plan =
            Plan { tool: tool.into(), options, has_searched: false, has_drained: false, search: None, error: None };
        ToolCall { request, state: RequestState::New, plan }
    }

    /// Sends the call at once, without a search for the tool, and returns the ticket of the call.
    ///
    /// # Errors
    /// Returns an error and sends nothing if the client knows that the tool does not exist or requires a task that the
    /// client may not follow, or if the call cannot be sent.
    pub fn send_now(
        mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Result<Ticket<M>, RequestError> {
        (self.plan.has_searched, self.plan.has_drained) = (true, true);
        let step = self.poll(client, calls, now);
        match (self.state, step) {
            (RequestState::Waiting(ticket), _) => Ok(ticket),
            (_, Step::Done(Err(error))) => Err(error),
            _ => Err(SendError::Closed.into()),
        }
    }
}

impl<M: Method> Operation for ToolCall<M> {
    type Output = M::Result;

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<M::Result, RequestError>> {
        loop {
            if matches!(self.state, RequestState::New) || self.plan.error.is_some() {
                match self.plan.poll(&mut client.tools, calls, now) {
                    Step::Wait(key) => return Step::Wait(key),
                    Step::Drain => return Step::Drain,
                    Step::Done(Err(error)) => return Step::Done(Err(error)),
                    Step::Done(Ok(())) => {}
                }
            }
            match self.state.poll(calls, |calls| calls.request_prepared(&self.request, &self.plan.options, now)) {
                Step::Done(Err(RequestError::Failed(error))) => self.plan.call_failed(error),
                step => return step,
            }
        }
    }

    /// Decodes `reply`. It is the reply to the tool call, or to a request for a page of the server's list of tools.
    fn receive(&mut self, reply: &mut Reply) {
        match &mut self.plan.search {
            Some(search) => search.receive(reply),
            None => self.state.receive(reply),
        }
    }

    fn take_output(&mut self) -> Option<M::Result> {
        self.state.take_result()
    }
}

/// The part of a tool call that does not depend on its method: decides when to search for the tool, and when to send the
/// call.
struct Plan {
    tool: Arc<str>,
    options: RequestOptions,
    /// Whether the client has searched for the tool since the call was planned, or since it has failed.
    has_searched: bool,
    /// Whether the adapter was asked by [`Step::Drain`] to read pending notifications, which may report that the server
    /// has added the tool.
    has_drained: bool,
    /// The search before the call is sent, or after it has failed. Boxed because most calls need none.
    search: Option<Box<PagedSearch>>,
    /// The error of the call. `None` if the call has not failed. Boxed because most calls succeed.
    error: Option<Box<CallError>>,
}

impl Plan {
    /// Returns what to do before the call is sent, or after it has failed. [`Step::Done`] without an error means that the
    /// call must be sent now.
    fn poll(
        &mut self,
        tools: &mut KnownTools,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<(), RequestError>> {
        loop {
            if let Some(search) = &mut self.search
                && let Some(key) = search.poll(calls, now)
            {
                return Step::Wait(key);
            }
            if let Some(search) = self.search.take() {
                tools.note(search.tool, tools.changes != search.changes);
                (self.has_searched, self.has_drained) = (true, false);
            }
            let session = calls.session();
            let needs_search = match &self.error {
                Some(error) => tools.needs_search_after_error(&self.tool, error),
                None => tools.needs_search_before_call(&self.tool, session.server(), self.options.task_mode()),
            };
            if needs_search && !self.has_searched {
                self.search = Some(Box::new(PagedSearch {
                    tool: ToolSearch::new(Arc::clone(&self.tool)),
                    time: PagesTime::begin(&RequestOptions::new(), session.config(), now),
                    changes: tools.changes,
                    key: None,
                    has_ended: false,
                }));
                continue;
            }
            if let Some(error) = self.error.take() {
                return Step::Done(Err(tools.explain(&self.tool, *error).into()));
            }
            if tools.knows(&self.tool) == Some(false) && session.phase() != Phase::Closed {
                // The adapter may not have read the notification of a change that adds the tool.
                if !self.has_drained {
                    self.has_drained = true;
                    return Step::Drain;
                }
                return Step::Done(Err(CallError::ToolNotFound { tool: (&*self.tool).into(), error: None }.into()));
            }
            let settled = tools.resolve_task_mode(&self.tool, session.server(), session.config(), &mut self.options);
            return Step::Done(settled.map_err(RequestError::from));
        }
    }

    fn call_failed(&mut self, error: CallError) {
        self.error = Some(Box::new(error));
        self.has_searched = false;
    }
}

/// Runs a [`ToolSearch`]: requests the pages of the server's list within a time limit.
struct PagedSearch {
    tool: ToolSearch,
    time: PagesTime,
    /// Value of [`KnownTools::changes`] before the search. If the value is different after the search, the server's
    /// list has changed in the meantime.
    changes: u64,
    /// The pending request for a page, or `None` if no request is pending.
    key: Option<RequestKey>,
    has_ended: bool,
}

impl PagedSearch {
    /// Sends the next request of the search if none is pending, and returns the pending request. Returns `None` if the
    /// search has ended, or if the request cannot be sent.
    fn poll(&mut self, calls: &mut Calls<'_>, now: Timestamp) -> Option<RequestKey> {
        if self.key.is_none() && !self.has_ended {
            let options = RequestOptions::new().total_timeout(self.time.left(now));
            self.key = calls.send_prepared(&self.tool.request(), &options, now).ok();
        }
        self.key
    }

    fn receive(&mut self, reply: &Reply) {
        self.key = None;
        self.has_ended = self.tool.receive_page(reply) != SearchProgress::NextPage;
    }
}
