//! [`ToolCall`]: calls a tool, and searches for the tool first if necessary.

use core::fmt;
use core::mem;

use super::known_tools::KnownTools;
use super::pages::PagesTime;
use super::step::{RequestError, Step};
use super::tool_search::{SearchProgress, ToolSearch};
use crate::method::Method;
use crate::session::{CallError, Calls, Phase, Reply, RequestKey, RequestOptions, SendError, Ticket};
use crate::time::Timestamp;

/// A call of a tool, as a state machine.
///
/// - If a fresh list of tools does not contain the tool, the call fails without a request.
/// - If the tool may require a task and is not known (2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation"), the machine
///   searches for the tool before the call.
/// - If the error of the call may mean that the tool does not exist, the machine searches for the tool afterwards.
///
/// `M` determines the type of the result: [`CallTool`](crate::CallTool), [`CallToolRaw`](crate::CallToolRaw) or
/// [`CallToolAsTask`](crate::CallToolAsTask).
pub struct ToolCall<'t, M: Method> {
    tool: &'t str,
    options: RequestOptions,
    state: ToolCallState<'t, M>,
}

enum ToolCallState<'t, M: Method> {
    /// The call is not sent yet.
    New {
        /// Whether a search before the call has ended.
        has_searched: bool,
        /// Whether the adapter has read its input since [`KnownTools`] was found not to contain the tool.
        has_drained: bool,
    },
    /// A search before the call.
    SearchBefore(PagedSearch<'t>),
    /// The call is pending.
    Waiting(Ticket<M>),
    /// The call has failed. A search may follow.
    Failed(CallError),
    /// A search for the meaning of the error.
    SearchAfter(PagedSearch<'t>, CallError),
    /// The result is ready. `None` after it was taken.
    Ended(Option<M::Result>),
}

/// A [`ToolSearch`] and its requests.
struct PagedSearch<'t> {
    tool: ToolSearch<'t>,
    time: PagesTime,
    /// The value of [`KnownTools::changes`] before the first request.
    changes: u64,
    /// The pending request.
    key: Option<RequestKey>,
    has_ended: bool,
}

impl<'t, M: Method> ToolCall<'t, M> {
    /// Prepares a call of the tool with this name.
    pub fn new(tool: &'t str, options: RequestOptions) -> Self {
        ToolCall { tool, options, state: ToolCallState::New { has_searched: false, has_drained: false } }
    }

    /// Takes the next step. Calls `send` at most once, to send the call with the final options.
    pub fn poll(
        &mut self,
        tools: &mut KnownTools,
        calls: &mut Calls<'_>,
        now: Timestamp,
        send: impl FnOnce(&mut Calls<'_>, &RequestOptions) -> Result<RequestKey, SendError>,
    ) -> Step<Result<M::Result, RequestError>> {
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
                        // A change that the server has reported may not be read yet.
                        if !has_drained {
                            self.state = ToolCallState::New { has_searched, has_drained: true };
                            return Step::Drain;
                        }
                        return Step::Done(Err(CallError::ToolNotFound { tool: self.tool.into(), error: None }.into()));
                    }
                    let settled =
                        tools.resolve_task_mode(self.tool, session.server(), session.config(), &mut self.options);
                    match settled.and_then(|()| send(calls, &self.options)) {
                        Ok(key) => {
                            self.state = ToolCallState::Waiting(Ticket::new(key));
                            return Step::Wait(key);
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

    /// Decodes the reply that [`Self::poll`] waits for.
    pub fn receive(&mut self, reply: &mut Reply) {
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

    /// Takes the result without another step, if the call has succeeded.
    pub fn take_result(&mut self) -> Option<M::Result> {
        match &mut self.state {
            ToolCallState::Ended(result) => result.take(),
            _ => None,
        }
    }

    /// Returns whether the pending request is the call itself, and not a search. Then its progress concerns the caller.
    pub fn is_sent(&self) -> bool {
        matches!(self.state, ToolCallState::Waiting(_))
    }
}

impl<'t> PagedSearch<'t> {
    fn begin(tool: &'t str, tools: &KnownTools, calls: &Calls<'_>, now: Timestamp) -> Self {
        let time = PagesTime::begin(&RequestOptions::new(), calls.session().config(), now);
        PagedSearch { tool: ToolSearch::new(tool), time, changes: tools.changes(), key: None, has_ended: false }
    }

    /// Returns the pending request, or `None` after the search has ended. A failed request ends the search.
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

impl<M: Method> fmt::Debug for ToolCall<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("tool", &self.tool).field("options", &self.options).finish_non_exhaustive()
    }
}
