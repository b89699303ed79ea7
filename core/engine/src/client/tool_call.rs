//! [`ToolCall`]: calls a tool, and searches for the tool first if necessary.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::mem;

use super::client_state::ClientState;
use super::known_tools::KnownTools;
use super::operation::{Operation, SendRequest};
use super::pages::PagesTime;
use super::step::{RequestError, Step};
use super::tool_search::{SearchProgress, ToolSearch};
use crate::session::{CallError, Calls, Phase, Reply, RequestKey, RequestOptions, SendError, Ticket};
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
pub struct ToolCall<M: Method, S> {
    /// The parameters of the call, until it is sent.
    request: Option<S>,
    plan: Plan,
    state: ToolCallState<M>,
}

enum ToolCallState<M: Method> {
    /// The plan determines what to do next: the call has not been sent, or has failed.
    Planned,
    /// The call was sent; its response has not arrived.
    Waiting(Ticket<M>),
    /// The call has succeeded. Contains the result, or `None` if the result was already returned.
    Ended(Option<M::Result>),
}

impl<M: Method, S: SendRequest<M>> ToolCall<M, S> {
    /// Creates the state machine for a call of the tool named `tool`, without sending a request. `request` contains the
    /// parameters of the call.
    pub fn new(tool: impl Into<Arc<str>>, request: S, options: RequestOptions) -> Self {
        let plan = Plan { tool: tool.into(), options, has_searched: false, has_drained: false, search: None };
        ToolCall { request: Some(request), plan, state: ToolCallState::Planned }
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
            (ToolCallState::Waiting(ticket), _) => Ok(ticket),
            (_, Step::Done(Err(error))) => Err(error),
            _ => Err(SendError::Closed.into()),
        }
    }
}

impl<M: Method, S: SendRequest<M>> Operation for ToolCall<M, S> {
    type Output = M::Result;

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<M::Result, RequestError>> {
        match &mut self.state {
            ToolCallState::Planned => match self.plan.poll(&mut client.tools, calls, now) {
                Step::Wait(key) => Step::Wait(key),
                Step::Drain => Step::Drain,
                Step::Done(Err(error)) => Step::Done(Err(error)),
                Step::Done(Ok(())) => {
                    let request = self.request.take().ok_or(SendError::Closed);
                    match request.and_then(|request| request.send(calls, &self.plan.options, now)) {
                        Ok(ticket) => {
                            self.state = ToolCallState::Waiting(ticket);
                            Step::Wait(ticket.key())
                        }
                        Err(error) => Step::Done(Err(error.into())),
                    }
                }
            },
            ToolCallState::Waiting(ticket) => Step::Wait(ticket.key()),
            ToolCallState::Ended(result) => {
                let lost = || Err(CallError::WrongTicket { method: M::NAME.into() }.into());
                Step::Done(result.take().map_or_else(lost, Ok))
            }
        }
    }

    /// Decodes `reply`. It is the reply to the tool call, or to a request for a page of the server's list of tools.
    fn receive(&mut self, reply: &mut Reply) {
        match &self.state {
            ToolCallState::Waiting(ticket) => {
                self.state = match ticket.decode_mut(reply) {
                    Ok(result) => ToolCallState::Ended(Some(result)),
                    Err(error) => {
                        self.plan.call_failed(error);
                        ToolCallState::Planned
                    }
                };
            }
            ToolCallState::Planned => self.plan.receive(reply),
            ToolCallState::Ended(_) => {}
        }
    }

    fn take_output(&mut self) -> Option<M::Result> {
        match &mut self.state {
            ToolCallState::Ended(result) => result.take(),
            _ => None,
        }
    }
}

/// The part of a tool call that does not depend on its method: decides when to search for the tool, and when to send the
/// call. Compiled once, not in each program and for each method.
struct Plan {
    tool: Arc<str>,
    options: RequestOptions,
    has_searched: bool,
    /// Whether the adapter was asked by [`Step::Drain`] to read pending notifications, which may report that the server
    /// has added the tool.
    has_drained: bool,
    /// The search before the call is sent, or after it has failed. A trait object, so that a program that calls tools does
    /// not contain the code that drops a search and its error in several copies.
    search: Option<Box<dyn Search + Send>>,
}

/// A search for the tool of a call.
trait Search {
    /// Sends the next request of the search if none is pending, and returns the pending request. Returns `None` if the
    /// search has ended; then `tools` contains its results.
    fn poll(&mut self, tools: &mut KnownTools, calls: &mut Calls<'_>, now: Timestamp) -> Option<RequestKey>;

    fn receive(&mut self, reply: &Reply);

    /// Returns the error of the call, if the call has failed before the search.
    fn into_error(self: Box<Self>) -> Option<CallError>;
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
            if let Some(search) = &mut self.search {
                if let Some(key) = search.poll(tools, calls, now) {
                    return Step::Wait(key);
                }
                if let Some(error) = self.search.take().and_then(Search::into_error) {
                    return Step::Done(Err(tools.explain(&self.tool, error).into()));
                }
                (self.has_searched, self.has_drained) = (true, false);
            }
            let session = calls.session();
            if !self.has_searched
                && tools.needs_search_before_call(&self.tool, session.server(), self.options.task_mode())
            {
                self.search = Some(Box::new(PagedSearch::begin(&self.tool, tools, calls, now)));
                continue;
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

    #[cold]
    fn call_failed(&mut self, error: CallError) {
        self.search =
            Some(Box::new(FailedCall { tool: Arc::clone(&self.tool), error, search: None, is_polled: false }));
    }

    fn receive(&mut self, reply: &Reply) {
        if let Some(search) = &mut self.search {
            search.receive(reply);
        }
    }
}

/// A call that has failed, and the search that finds out whether its tool exists.
struct FailedCall {
    tool: Arc<str>,
    error: CallError,
    /// `None` if the error tells nothing about the tool.
    search: Option<PagedSearch>,
    is_polled: bool,
}

impl Search for FailedCall {
    fn poll(&mut self, tools: &mut KnownTools, calls: &mut Calls<'_>, now: Timestamp) -> Option<RequestKey> {
        if !mem::replace(&mut self.is_polled, true) && tools.needs_search_after_error(&self.tool, &self.error) {
            self.search = Some(PagedSearch::begin(&self.tool, tools, calls, now));
        }
        self.search.as_mut()?.poll(tools, calls, now)
    }

    fn receive(&mut self, reply: &Reply) {
        if let Some(search) = &mut self.search {
            search.receive(reply);
        }
    }

    fn into_error(self: Box<Self>) -> Option<CallError> {
        Some(self.error)
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
    fn begin(tool: &Arc<str>, tools: &KnownTools, calls: &Calls<'_>, now: Timestamp) -> Self {
        let time = PagesTime::begin(&RequestOptions::new(), calls.session().config(), now);
        PagedSearch {
            tool: ToolSearch::new(Arc::clone(tool)),
            time,
            changes: tools.changes(),
            key: None,
            has_ended: false,
        }
    }
}

impl Search for PagedSearch {
    /// Sends the request for the next page. Returns `None` also if the request cannot be sent.
    fn poll(&mut self, tools: &mut KnownTools, calls: &mut Calls<'_>, now: Timestamp) -> Option<RequestKey> {
        if !self.has_ended {
            if self.key.is_none() {
                let options = RequestOptions::new().total_timeout(self.time.left(now));
                self.key = calls.send_prepared(&self.tool.request(), &options, now).ok();
            }
            if self.key.is_some() {
                return self.key;
            }
        }
        let is_stale = tools.changes() != self.changes;
        let next = ToolSearch::new(Arc::clone(&self.tool.tool));
        tools.note(mem::replace(&mut self.tool, next), is_stale);
        None
    }

    fn receive(&mut self, reply: &Reply) {
        self.key = None;
        self.has_ended = self.tool.receive_page(reply) != SearchProgress::NextPage;
    }

    fn into_error(self: Box<Self>) -> Option<CallError> {
        None
    }
}

impl<M: Method, S> fmt::Debug for ToolCall<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("tool", &self.plan.tool)
            .field("options", &self.plan.options)
            .finish_non_exhaustive()
    }
}
