//! [`ToolSearch`]: searches the server's list for one tool, without storing the list.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::session::{PreparedRequest, Reply};
use mcpwire_text::json::scan;
use mcpwire_types::TaskSupport;

/// Maximum number of tools that a client remembers from searches: 1,000, more than most servers have.
pub(super) const MAX_FOUND: usize = 1_000;

/// Maximum number of pages that one search requests: 100, more than any known server has.
const MAX_PAGES: u32 = 100;

/// A search for one tool in the server's list, page by page, until the tool is found.
///
/// A client without a list of tools uses a search to find out whether a tool exists, and whether the tool requires a
/// task. A search costs less than loading the list: it decodes only the names and task modes, and ends at the page
/// with the tool.
#[derive(Clone, Debug)]
pub struct ToolSearch {
    pub(super) tool: Arc<str>,
    cursor: Option<String>,
    pages: u32,
    /// The tools on the searched pages, and whether they can be called as tasks.
    pub(super) seen: Vec<(String, TaskSupport)>,
    /// Whether all pages were searched and none contains the tool.
    pub(super) lacks: bool,
}

/// Whether a search for a tool continues with the next page of the server's list, or how the search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchProgress {
    /// The searched page does not contain the tool, and the next page must be requested.
    NextPage,
    /// The search has ended: the server has the tool.
    Found,
    /// The search has ended: the server does not have the tool.
    NotFound,
    /// The search has ended without finding out whether the server has the tool: a request for a page failed, the
    /// server sent the same cursor twice, or the list has more than 100 pages.
    Unknown,
}

impl ToolSearch {
    /// Creates a search for the tool named `tool`, without sending a request.
    pub fn new(tool: impl Into<Arc<str>>) -> Self {
        ToolSearch { tool: tool.into(), cursor: None, pages: 0, seen: Vec::new(), lacks: false }
    }

    /// Returns the `tools/list` request for the next page of the server's list of tools.
    pub fn request(&self) -> PreparedRequest {
        PreparedRequest::tools(self.cursor.as_deref())
    }

    /// Searches for the tool in `reply`, the server's reply to [`Self::request`], and returns the progress of the
    /// search.
    pub fn receive_page(&mut self, reply: &Reply) -> SearchProgress {
        let page = reply.message().and_then(|message| scan::member(message, "result"));
        let Some(page) = page else { return SearchProgress::Unknown };
        if scan::last_member(page, "tools").is_some_and(|tools| self.find(tools)) {
            return SearchProgress::Found;
        }
        let Some(next) = scan::last_member(page, "nextCursor").and_then(scan::text) else {
            self.lacks = true;
            return SearchProgress::NotFound;
        };
        self.pages += 1;
        if self.pages == MAX_PAGES || self.cursor.as_ref() == Some(&next) {
            return SearchProgress::Unknown;
        }
        self.cursor = Some(next);
        SearchProgress::NextPage
    }

    /// Looks for the tool in `tools`, the JSON array of the tools on a page. Stores the page's tools in `seen`, so that
    /// calls of them need no search.
    fn find(&mut self, tools: &[u8]) -> bool {
        let (mut at, mut found) = (0, false);
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            let Some(name) = scan::last_member(tool, "name").and_then(scan::text) else { continue };
            let support = scan::last_member(tool, "execution").and_then(|how| scan::last_member(how, "taskSupport"));
            let support = match support.and_then(scan::text).as_deref() {
                Some("required") => TaskSupport::Required,
                Some("optional") => TaskSupport::Optional,
                _ => TaskSupport::Forbidden,
            };
            let is_wanted = *name == *self.tool;
            found |= is_wanted;
            if is_wanted || self.seen.len() < MAX_FOUND - 2 {
                self.seen.push((name, support));
            }
        }
        found
    }
}
