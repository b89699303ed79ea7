//! [`ToolCall`]: the call of a tool, from the name to the result.

use core::fmt;
use core::mem;

use super::known_tools::KnownTools;
use super::pages::PagesTime;
use super::step::{RequestError, Step};
use super::tool_search::{Searched, ToolSearch};
use crate::method::Method;
use crate::session::{CallError, Calls, Phase, Reply, RequestKey, RequestOptions, SendError, Ticket};
use crate::time::Timestamp;

/// Calls a tool.
///
/// - A name that the list of tools does not have is refused without a request, as long as the list holds.
/// - Where the list says whether the tool can be called as a task (2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation"),
///   and it is not known, the tool is looked for first.
/// - An error that may mean "no such tool" is explained after a look at the list.
///
/// `M` is what the result is read as: [`CallTool`](crate::CallTool), [`CallToolRaw`](crate::CallToolRaw) or
/// [`CallToolAsTask`](crate::CallToolAsTask).
pub struct ToolCall<'t, M: Method> {
    tool: &'t str,
    options: RequestOptions,
    state: State<'t, M>,
}

enum State<'t, M: Method> {
    /// The call is to be sent.
    New {
        has_searched: bool,
        has_drained: bool,
    },
    /// The tool is looked for before the call.
    SearchBefore(Search<'t>),
    Waiting(Ticket<M>),
    /// The call has failed, and what the error means is to be found out.
    Failed(CallError),
    /// The tool is looked for to explain the error.
    SearchAfter(Search<'t>, CallError),
    Ended(Option<Result<M::Result, RequestError>>),
}

/// A search for the tool, page by page.
struct Search<'t> {
    tool: ToolSearch<'t>,
    time: PagesTime,
    /// How many changes the server had reported when it began.
    changes: u64,
    /// The request that is waited for.
    key: Option<RequestKey>,
    has_ended: bool,
}

impl<'t, M: Method> ToolCall<'t, M> {
    /// Prepares the call of the tool of this name.
    pub fn new(tool: &'t str, options: RequestOptions) -> Self {
        ToolCall { tool, options, state: State::New { has_searched: false, has_drained: false } }
    }

    /// Takes the next step. `send` sends the call with the options that it is given; it is called once at most.
    pub fn poll(
        &mut self,
        tools: &mut KnownTools,
        calls: &mut Calls<'_>,
        now: Timestamp,
        send: impl FnOnce(&mut Calls<'_>, &RequestOptions) -> Result<RequestKey, SendError>,
    ) -> Step<Result<M::Result, RequestError>> {
        loop {
            self.state = match mem::replace(&mut self.state, State::Ended(None)) {
                State::New { has_searched, has_drained } => {
                    let session = calls.session();
                    if !has_searched && tools.must_look_before(self.tool, session.server(), self.options.task_mode()) {
                        self.state = State::SearchBefore(Search::begin(self.tool, tools, calls, now));
                        continue;
                    }
                    if tools.knows(self.tool) == Some(false) && session.phase() != Phase::Closed {
                        // The server may have reported a change that nobody has read.
                        if !has_drained {
                            self.state = State::New { has_searched, has_drained: true };
                            return Step::Drain;
                        }
                        return Step::Done(Err(CallError::ToolNotFound { tool: self.tool.into(), error: None }.into()));
                    }
                    let settled =
                        tools.settle_task_mode(self.tool, session.server(), session.config(), &mut self.options);
                    match settled.and_then(|()| send(calls, &self.options)) {
                        Ok(key) => {
                            self.state = State::Waiting(Ticket::new(key));
                            return Step::Wait(key);
                        }
                        Err(error) => return Step::Done(Err(error.into())),
                    }
                }
                State::SearchBefore(mut search) => match search.poll(tools, calls, now) {
                    Some(key) => {
                        self.state = State::SearchBefore(search);
                        return Step::Wait(key);
                    }
                    None => State::New { has_searched: true, has_drained: false },
                },
                State::Waiting(ticket) => {
                    self.state = State::Waiting(ticket);
                    return Step::Wait(ticket.key());
                }
                State::Failed(error) if tools.must_look_after(self.tool, &error) => {
                    State::SearchAfter(Search::begin(self.tool, tools, calls, now), error)
                }
                State::Failed(error) => return Step::Done(Err(tools.explain(self.tool, error).into())),
                State::SearchAfter(mut search, error) => match search.poll(tools, calls, now) {
                    Some(key) => {
                        self.state = State::SearchAfter(search, error);
                        return Step::Wait(key);
                    }
                    None => return Step::Done(Err(tools.explain(self.tool, error).into())),
                },
                State::Ended(result) => {
                    let lost = || Err(CallError::WrongTicket { method: M::NAME.into() }.into());
                    return Step::Done(result.unwrap_or_else(lost));
                }
            }
        }
    }

    /// Reads the reply that [`Self::poll`] waits for.
    pub fn receive(&mut self, reply: &mut Reply) {
        match &mut self.state {
            State::Waiting(ticket) => {
                self.state = match ticket.decode_mut(reply) {
                    Ok(result) => State::Ended(Some(Ok(result))),
                    Err(error) => State::Failed(error),
                };
            }
            State::SearchBefore(search) | State::SearchAfter(search, _) => search.receive(reply),
            State::New { .. } | State::Failed(_) | State::Ended(_) => {}
        }
    }

    /// Returns the result without another step, if the call has ended well.
    pub fn take_result(&mut self) -> Option<M::Result> {
        match &mut self.state {
            State::Ended(result) if matches!(result, Some(Ok(_))) => result.take().and_then(Result::ok),
            _ => None,
        }
    }

    /// Whether the reply that is waited for is that of the call itself, so that reports about it are the caller's.
    pub fn is_sent(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }
}

impl<'t> Search<'t> {
    fn begin(tool: &'t str, tools: &KnownTools, calls: &Calls<'_>, now: Timestamp) -> Self {
        let time = PagesTime::begin(&RequestOptions::new(), calls.session().config(), now);
        Search { tool: ToolSearch::new(tool), time, changes: tools.changes(), key: None, has_ended: false }
    }

    /// Returns the request to wait for, or `None` once what was found is noted. A search that fails finds nothing.
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
        self.has_ended = self.tool.look_at(reply) != Searched::AskForMore;
    }
}

impl<M: Method> fmt::Debug for ToolCall<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("tool", &self.tool).field("options", &self.options).finish_non_exhaustive()
    }
}
