//! [`ToolCall`]: calls a tool, and searches for the tool first if necessary.

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
use mcpwire_types::method::Method;

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
pub struct ToolCall<'t, M: Method, S> {
    tool: &'t str,
    /// The parameters of the call, until it is sent.
    request: Option<S>,
    options: RequestOptions,
    state: ToolCallState<'t, M>,
}

enum ToolCallState<'t, M: Method> {
    /// The call has not been sent.
    New {
        has_searched: bool,
        /// Whether the adapter was asked by [`Step::Drain`] to read pending notifications, which may report that the
        /// server has added the tool.
        has_drained: bool,
    },
    /// The client searches for the tool before it sends the call.
    SearchBefore(PagedSearch<'t>),
    /// The call was sent; its response has not arrived.
    Waiting(Ticket<M>),
    /// The call has failed with this error, and the client has not decided whether to search for the tool.
    Failed(CallError),
    /// The call has failed with this error, and the client searches for the tool to find out whether the tool exists.
    SearchAfter(PagedSearch<'t>, CallError),
    /// The call has ended. Contains the result, or `None` if the call has failed or the result was already returned.
    Ended(Option<M::Result>),
}

/// Runs a [`ToolSearch`]: requests the pages of the server's list within a time limit.
struct PagedSearch<'t> {
    tool: ToolSearch<'t>,
    time: PagesTime,
    /// Value of [`KnownTools::changes`] before the search. If the value is different after the search, the server's
    /// list has changed in the meantime.
    changes: u64,
    /// The pending request for a page, or `None` if no request is pending.
    key: Option<RequestKey>,
    has_ended: bool,
}

impl<'t, M: Method, S: SendRequest<M>> ToolCall<'t, M, S> {
    /// Creates the state machine for a call of the tool named `tool`, without sending a request. `request` contains the
    /// parameters of the call.
    pub fn new(tool: &'t str, request: S, options: RequestOptions) -> Self {
        let state = ToolCallState::New { has_searched: false, has_drained: false };
        ToolCall { tool, request: Some(request), options, state }
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
        self.state = ToolCallState::New { has_searched: true, has_drained: true };
        let step = self.poll(client, calls, now);
        match (self.state, step) {
            (ToolCallState::Waiting(ticket), _) => Ok(ticket),
            (_, Step::Done(Err(error))) => Err(error),
            _ => Err(SendError::Closed.into()),
        }
    }
}

impl<M: Method, S: SendRequest<M>> Operation for ToolCall<'_, M, S> {
    type Output = M::Result;

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<M::Result, RequestError>> {
        let tools = &mut client.tools;
        loop {
            self.state = match mem::replace(&mut self.state, ToolCallState::Ended(None)) {
                ToolCallState::New { has_searched, has_drained } => {
                    let session = calls.session();
                    if !has_searched
                        && tools.needs_search_before_call(self.tool, session.server(), self.options.task_mode())
                    {
                        self.state = ToolCallState::SearchBefore(PagedSearch::begin(self.tool, tools, calls, now));
                        continue;
                    }
                    if tools.knows(self.tool) == Some(false) && session.phase() != Phase::Closed {
                        // The adapter may not have read the notification of a change that adds the tool.
                        if !has_drained {
                            self.state = ToolCallState::New { has_searched, has_drained: true };
                            return Step::Drain;
                        }
                        return Step::Done(Err(CallError::ToolNotFound { tool: self.tool.into(), error: None }.into()));
                    }
                    let settled =
                        tools.resolve_task_mode(self.tool, session.server(), session.config(), &mut self.options);
                    let request = self.request.take().ok_or(SendError::Closed);
                    match settled.and_then(|()| request?.send(calls, &self.options, now)) {
                        Ok(ticket) => {
                            self.state = ToolCallState::Waiting(ticket);
                            return Step::Wait(ticket.key());
                        }
                        Err(error) => return Step::Done(Err(error.into())),
                    }
                }
                ToolCallState::SearchBefore(mut search) => match search.poll(tools, calls, now) {
                    Some(key) => {
                        self.state = ToolCallState::SearchBefore(search);
                        return Step::Wait(key);
                    }
                    None => ToolCallState::New { has_searched: true, has_drained: false },
                },
                ToolCallState::Waiting(ticket) => {
                    self.state = ToolCallState::Waiting(ticket);
                    return Step::Wait(ticket.key());
                }
                ToolCallState::Failed(error) if tools.needs_search_after_error(self.tool, &error) => {
                    ToolCallState::SearchAfter(PagedSearch::begin(self.tool, tools, calls, now), error)
                }
                ToolCallState::Failed(error) => return Step::Done(Err(tools.explain(self.tool, error).into())),
                ToolCallState::SearchAfter(mut search, error) => match search.poll(tools, calls, now) {
                    Some(key) => {
                        self.state = ToolCallState::SearchAfter(search, error);
                        return Step::Wait(key);
                    }
                    None => return Step::Done(Err(tools.explain(self.tool, error).into())),
                },
                ToolCallState::Ended(result) => {
                    let lost = || Err(CallError::WrongTicket { method: M::NAME.into() }.into());
                    return Step::Done(result.map_or_else(lost, Ok));
                }
            }
        }
    }

    /// Decodes `reply`. It is the reply to the tool call, or to a request for a page of the server's list of tools.
    fn receive(&mut self, reply: &mut Reply) {
        match &mut self.state {
            ToolCallState::Waiting(ticket) => {
                self.state = match ticket.decode_mut(reply) {
                    Ok(result) => ToolCallState::Ended(Some(result)),
                    Err(error) => ToolCallState::Failed(error),
                };
            }
            ToolCallState::SearchBefore(search) | ToolCallState::SearchAfter(search, _) => search.receive(reply),
            ToolCallState::New { .. } | ToolCallState::Failed(_) | ToolCallState::Ended(_) => {}
        }
    }

    fn take_output(&mut self) -> Option<M::Result> {
        match &mut self.state {
            ToolCallState::Ended(result) => result.take(),
            _ => None,
        }
    }
}

impl<'t> PagedSearch<'t> {
    fn begin(tool: &'t str, tools: &KnownTools, calls: &Calls<'_>, now: Timestamp) -> Self {
        let time = PagesTime::begin(&RequestOptions::new(), calls.session().config(), now);
        PagedSearch { tool: ToolSearch::new(tool), time, changes: tools.changes(), key: None, has_ended: false }
    }

    /// Sends the request for the next page if none is pending, and returns the pending request.
    ///
    /// Returns `None` if the search has ended or the request cannot be sent. Then `tools` contains the results of the
    /// search.
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
        let next = ToolSearch::new(self.tool.tool());
        tools.note(mem::replace(&mut self.tool, next), is_stale);
        None
    }

    fn receive(&mut self, reply: &Reply) {
        self.key = None;
        self.has_ended = self.tool.receive_page(reply) != SearchProgress::NextPage;
    }
}

impl<M: Method, S> fmt::Debug for ToolCall<'_, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("tool", &self.tool).field("options", &self.options).finish_non_exhaustive()
    }
}
