//! [`PageWalk`]: requests all pages of a list, and joins them to one list (specification: server/utilities/pagination).
//! [`ToolListing`]: requests the list of tools, and stores the list.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::client_state::ClientState;
use super::operation::{Operation, RequestError, Step};
use super::single_request::RequestState;
use super::tool_list::{CacheHints, ToolList};
use crate::session::{CallError, Calls, Config, Deadline, Reply, RequestOptions};
use crate::time::Timestamp;
use mcpwire_text::json::item_list::{MAX_ENTRIES, truncate};
use mcpwire_types::{ItemList, ListParams, ListTools, Method, PagedList, Params};

/// Maximum number of pages to request for one list: 1,000. A server that sends a new cursor with every page would
/// otherwise receive requests without end.
const MAX_PAGES: usize = 1_000;

/// Size in bytes of JSON at which a list is truncated: 64 MiB. Includes the cursors, and all pages except the first,
/// which is limited by the maximum size of one message.
const MAX_BYTES: usize = 64 << 20;

/// Joins the pages of a list to one list.
///
/// The list is truncated after 1,000 pages, after 100,000 entries, when the pages after the first exceed 64 MiB, or
/// when the server repeats a cursor. A truncated list has [`ItemList::is_truncated`] set.
#[derive(Debug)]
pub(super) struct Pages<T> {
    pub(super) list: ItemList<T>,
    cursors: Vec<String>,
    /// Total size in bytes of the cursors and of all pages except the first, limited by [`MAX_BYTES`].
    bytes: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages { list: ItemList::default(), cursors: Vec::new(), bytes: 0 }
    }
}

impl<T> Pages<T> {
    /// Returns the cursor of the next page to request, or `None` for the first page.
    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursors.last().map(String::as_str)
    }

    /// Adds a page. Returns the cursor of the next page to request, or `None` if the list is complete or truncated.
    pub(super) fn add(&mut self, page: impl PagedList<Item = T>) -> Option<&str> {
        if !self.cursors.is_empty() {
            self.bytes = self.bytes.saturating_add(page.bytes());
        }
        let (entries, cursor) = page.into_page();
        self.list.append(entries);
        let cursor = cursor?;
        self.bytes = self.bytes.saturating_add(cursor.len());
        let goes_on = self.cursors.len() + 1 < MAX_PAGES
            && self.list.sent() < MAX_ENTRIES
            && self.bytes < MAX_BYTES
            && !self.cursors.contains(&cursor);
        if !goes_on {
            truncate(&mut self.list);
            return None;
        }
        self.cursors.push(cursor);
        self.cursor()
    }
}

/// The time limit for all requests for the pages of one list: [`RequestOptions::total_timeout`]. If that is `None`, the
/// limit is the longer of [`Config::total_timeout`] and the timeout of one request.
///
/// Without a common limit, a server that answers each request just before its timeout could delay the client for hours.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagesTime {
    began: Timestamp,
    total: Duration,
}

impl PagesTime {
    /// Starts the time limit at `now`.
    pub(super) fn begin(options: &RequestOptions, config: &Config, now: Timestamp) -> Self {
        let timeout = options.timeout.unwrap_or(config.request_timeout);
        PagesTime { began: now, total: options.total_timeout.unwrap_or(config.total_timeout.max(timeout)) }
    }

    pub(super) fn left(&self, now: Timestamp) -> Duration {
        self.total.saturating_sub(now.duration_since(self.began))
    }

    /// If the time limit for all pages has expired, makes `error` state the whole limit instead of the rest that the
    /// last request had.
    pub(super) fn explain(&self, mut error: RequestError) -> RequestError {
        if let RequestError::Failed(CallError::Timeout { after, deadline: Deadline::Total, .. }) = &mut error {
            *after = self.total;
        }
        error
    }
}

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

/// A state machine that requests all pages of the list of tools, and stores the list in [`KnownTools`](super::KnownTools).
///
/// If the server reports a change before the last page has arrived, the list is stored as stale.
pub struct ToolListing {
    walk: PageWalk<ListTools>,
    hints: Option<CacheHints>,
    /// Value of `KnownTools::changes` before the first request, to detect changes while the list is loaded. `None`
    /// before the first request.
    changes: Option<u64>,
    has_drained: bool,
}

impl ToolListing {
    /// Creates the state machine without sending a request. `options` apply to the request for each page, and their
    /// total timeout to all pages together.
    pub fn new(options: RequestOptions) -> Self {
        ToolListing { walk: PageWalk::new(options), hints: None, changes: None, has_drained: false }
    }
}

impl Operation for ToolListing {
    type Output = Arc<ToolList>;

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<Arc<ToolList>, RequestError>> {
        let tools = &mut client.tools;
        // Let the adapter read pending notifications first: a change reported before the request does not make the
        // new list stale.
        if !core::mem::replace(&mut self.has_drained, true) {
            return Step::Drain;
        }
        let changes = *self.changes.get_or_insert(tools.changes);
        let hints = &mut self.hints;
        let step = self.walk.poll_pages(calls, now, |page| {
            let of_page = CacheHints::of(page);
            *hints = Some(hints.map_or(of_page, |hints| hints.and(of_page)));
        });
        step.map(|listed| {
            let mut list = ToolList::default();
            list.replace(listed?);
            list.set_hints(self.hints.unwrap_or_default());
            if tools.changes != changes {
                list.invalidate();
            }
            let list = Arc::new(list);
            tools.replace(Arc::clone(&list));
            Ok(list)
        })
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.walk.receive(reply);
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use mcpwire_text::json::Json;
    use mcpwire_types::ListPromptsResult;

    fn page(name: &str, cursor: Option<&str>) -> ListPromptsResult {
        let cursor = cursor.map(|cursor| format!(r#","nextCursor":"{cursor}""#)).unwrap_or_default();
        Json::parse(format!(r#"{{"prompts":[{{"name":"{name}"}},7]{cursor}}}"#)).unwrap().decode().unwrap()
    }

    #[test]
    fn all_pages_are_one_list() {
        let mut pages = Pages::default();
        assert_eq!(pages.add(page("a", Some("1"))), Some("1"));
        assert_eq!(pages.add(page("b", None)), None);
        let list = pages.list;
        assert_eq!(list.items.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(list.rejected.iter().map(|entry| entry.index).collect::<Vec<_>>(), [1, 3]);
        assert!(!list.is_truncated);
    }

    #[test]
    fn a_circle_is_left() {
        let mut pages = Pages::default();
        assert!(pages.add(page("a", Some("1"))).is_some());
        assert!(pages.add(page("b", Some("2"))).is_some());
        assert!(pages.add(page("c", Some("1"))).is_none());
        assert!(pages.list.is_truncated);
    }

    #[test]
    fn a_list_that_never_ends_is_cut() {
        let mut pages = Pages::default();
        let mut asked = 0;
        while pages.add(page("a", Some(&format!("{asked}")))).is_some() {
            asked += 1;
        }
        assert_eq!(asked, MAX_PAGES - 1);
        assert!(pages.list.is_truncated);
    }

    #[test]
    fn a_page_of_more_entries_than_anybody_reads_is_cut() {
        let entries = r#",{"name":"a"},7"#.repeat(MAX_ENTRIES / 2);
        let entries = &entries[1..];
        let page = |more: &str| -> ListPromptsResult {
            Json::parse(format!(r#"{{"prompts":[{entries}{more}],"nextCursor":"1"}}"#)).unwrap().decode().unwrap()
        };
        let whole = page("").prompts;
        assert!((whole.sent(), whole.is_truncated) == (MAX_ENTRIES, false));
        let cut = page(r#",{"name":"b"},8"#);
        assert!((cut.prompts.sent(), cut.prompts.is_truncated) == (MAX_ENTRIES + 1, true));
        assert_eq!(Pages::default().add(cut), None, "there is nothing more to be asked for");
    }

    #[test]
    fn large_pages_are_few() {
        let long = |n: usize| format!("{n}{}", "x".repeat(MAX_BYTES / 2));
        // The first one does not count: it is no larger than a message may be.
        for (entries, cursors, most) in [(true, false, 3), (false, true, 2)] {
            let mut pages = Pages::default();
            let mut asked = 1;
            loop {
                let mut page = page(&if entries { long(asked) } else { "a".into() }, None);
                page.next_cursor = Some(if cursors { long(asked) } else { format!("{asked}") });
                if pages.add(page).is_none() {
                    break;
                }
                asked += 1;
            }
            assert_eq!(asked, most);
        }
    }
}
