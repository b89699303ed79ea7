//! [`PageWalk`]: requests all pages of a list (specification: server/utilities/pagination).

use super::client_state::ClientState;
use super::operation::{Operation, RequestError, Step};
use super::pages::{Pages, PagesTime};
use super::single_request::RequestState;
use crate::session::{CallError, Calls, Reply, RequestOptions};
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
    /// The time limit, which starts with the first request.
    time: Option<PagesTime>,
    pages: Pages<Item<M>>,
    /// The request for the page at [`Pages::cursor`].
    request: RequestState<M>,
    /// Whether a page came from the client's response cache. If so, all pages are requested again if the server rejects
    /// the request for a later page.
    has_cached: bool,
}

impl<M> PageWalk<M>
where
    M: Method<Result: PagedList>,
    for<'a> ListParams<'a>: Params<M>,
{
    /// Creates the state machine without sending a request. `options` apply to the request for each page, and their
    /// total timeout to all pages together.
    pub fn new(options: RequestOptions) -> Self {
        PageWalk { options, time: None, pages: Pages::default(), request: RequestState::New, has_cached: false }
    }

    /// Sends the next request if none is pending, and returns what the adapter must do next. Passes each page that has
    /// arrived to `receive_page`, and then adds the page to the list.
    pub(super) fn poll_pages(
        &mut self,
        calls: &mut Calls<'_>,
        now: Timestamp,
        mut receive_page: impl FnMut(&M::Result),
    ) -> Step<Result<ItemList<Item<M>>, RequestError>> {
        let config = calls.session().config();
        let time = *self.time.get_or_insert_with(|| PagesTime::begin(&self.options, config, now));
        loop {
            let step = self.request.poll(calls, |calls| {
                let params = ListParams { cursor: self.pages.cursor() };
                let options = RequestOptions { total_timeout: Some(time.left(now)), ..self.options.clone() };
                calls.request::<M>(&params, &options, now)
            });
            match step {
                Step::Wait(key) => return Step::Wait(key),
                Step::Drain => return Step::Drain,
                Step::Done(Ok(page)) => {
                    receive_page(&page);
                    if self.pages.add(page).is_none() {
                        return Step::Done(Ok(core::mem::take(&mut self.pages.list)));
                    }
                }
                Step::Done(Err(RequestError::Failed(CallError::Server { .. })))
                    if self.has_cached && !self.options.fresh =>
                {
                    self.options.fresh = true;
                    self.pages = Pages::default();
                }
                Step::Done(Err(error)) => return Step::Done(Err(time.explain(error))),
            }
            // The adapter reads what has arrived only before the first request.
            self.request = RequestState::Drained;
        }
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
        self.poll_pages(calls, now, |_| {})
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.has_cached |= reply.is_cached();
        self.request.receive(reply);
    }
}
