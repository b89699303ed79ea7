//! [`PageWalk`]: requests all pages of a list (specification: server/utilities/pagination).

use alloc::string::String;
use core::fmt;

use super::client_state::ClientState;
use super::operation::Operation;
use super::pages::{Pages, PagesTime};
use super::step::{RequestError, Step};
use crate::session::{CallError, Calls, Config, Reply, RequestOptions, Ticket};
use crate::time::Timestamp;
use mcpwire_types::{ItemList, ListParams, PagedList};
use mcpwire_types::{Method, Params};

/// Type of the entries of the list that the method `M` requests.
type Item<M> = <<M as Method>::Result as PagedList>::Item;

/// A state machine that requests all pages of a list one after the other, and joins the pages.
///
/// If a page came from the client's response cache and the server rejects the request for a later page, all pages are
/// requested again without the cache (protocol revision 2026-07-28, server/utilities/caching, "Interaction with
/// Pagination").
/// [`RequestOptions::total_timeout`] limits the time for all pages together.
pub struct PageWalk<M: Method<Result: PagedList>> {
    options: RequestOptions,
    time: PagesTime,
    pages: Pages<Item<M>>,
    /// Whether a page came from the client's response cache. If so, all pages are requested again if the server rejects
    /// the request for a later page.
    has_cached: bool,
    /// Whether the adapter was asked by [`Step::Drain`] to read pending notifications, which may make cached pages
    /// stale.
    has_drained: bool,
    state: PageWalkState<M>,
}

enum PageWalkState<M: Method<Result: PagedList>> {
    /// The page at this cursor is to be requested next. `None` stands for the first page.
    Next(Option<String>),
    /// A page was requested; its response has not arrived.
    Waiting(Ticket<M>),
    /// The list is complete, or a request has failed. `None` after the result was taken.
    Ended(Option<Result<ItemList<Item<M>>, RequestError>>),
}

impl<M> PageWalk<M>
where
    M: Method<Result: PagedList>,
    for<'a> ListParams<'a>: Params<M>,
{
    /// Creates the state machine without sending a request. `options` apply to the request for each page, and the total
    /// timeout for all pages starts at `now`.
    pub fn new(options: RequestOptions, config: &Config, now: Timestamp) -> Self {
        let time = PagesTime::begin(&options, config, now);
        PageWalk {
            options,
            time,
            pages: Pages::default(),
            has_cached: false,
            has_drained: false,
            state: PageWalkState::Next(None),
        }
    }

    /// Sends the next request if none is pending, and returns what the adapter must do next. The last step,
    /// [`Step::Done`], contains the complete list or the error.
    pub(super) fn poll_page(
        &mut self,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<ItemList<Item<M>>, RequestError>> {
        match &mut self.state {
            // The adapter may not have read the notification of a change, which makes cached pages stale.
            PageWalkState::Next(None) if !self.has_drained && calls.session().keeps_answers_to::<M>() => {
                self.has_drained = true;
                Step::Drain
            }
            PageWalkState::Next(cursor) => {
                let params = ListParams { cursor: cursor.as_deref() };
                match calls.request::<M>(&params, &self.time.options(&self.options, now), now) {
                    Ok(ticket) => {
                        self.state = PageWalkState::Waiting(ticket);
                        Step::Wait(ticket.key())
                    }
                    Err(error) => Step::Done(Err(error.into())),
                }
            }
            PageWalkState::Waiting(ticket) => Step::Wait(ticket.key()),
            PageWalkState::Ended(result) => {
                let taken = || Err(CallError::WrongTicket { method: M::NAME.into() }.into());
                Step::Done(result.take().unwrap_or_else(taken))
            }
        }
    }

    /// Decodes the reply to the request for a page, passes the page to `receive_page`, and then adds the page to the
    /// list.
    pub(super) fn receive_with(&mut self, reply: &mut Reply, receive_page: impl FnOnce(&M::Result)) {
        let PageWalkState::Waiting(ticket) = &self.state else { return };
        self.has_cached |= reply.is_cached();
        self.state = match ticket.decode_mut(reply) {
            Ok(page) => {
                receive_page(&page);
                match self.pages.add(page) {
                    Some(cursor) => PageWalkState::Next(Some(cursor.into())),
                    None => PageWalkState::Ended(Some(Ok(core::mem::take(&mut self.pages).into_list()))),
                }
            }
            Err(CallError::Server { .. }) if self.has_cached && !self.options.fresh => {
                self.options.fresh = true;
                self.pages = Pages::default();
                PageWalkState::Next(None)
            }
            Err(mut error) => {
                self.time.explain(&mut error);
                PageWalkState::Ended(Some(Err(error.into())))
            }
        };
    }
}

impl<M> Operation for PageWalk<M>
where
    M: Method<Result: PagedList>,
    for<'a> ListParams<'a>: Params<M>,
{
    type Output = ItemList<Item<M>>;

    fn poll(
        &mut self,
        _: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<Self::Output, RequestError>> {
        self.poll_page(calls, now)
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.receive_with(reply, |_| {});
    }
}

impl<M: Method<Result: PagedList>> fmt::Debug for PageWalk<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageWalk").field("method", &M::NAME).field("options", &self.options).finish_non_exhaustive()
    }
}
