//! [`Pages`]: joins the pages of a list (specification: server/utilities/pagination).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::operation::RequestError;
use crate::session::{CallError, Config, Deadline, RequestOptions};
use crate::time::Timestamp;
use mcpwire_text::json::item_list::{MAX_ENTRIES, truncate};
use mcpwire_types::{ItemList, PagedList};

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
