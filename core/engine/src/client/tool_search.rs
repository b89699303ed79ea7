//! [`ToolSearch`]: searches the server's list for one tool, without storing the list.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::scan;
use crate::session::{PreparedRequest, Reply};

/// Maximum number of search results that a client stores. 1,000: more tools than most servers have.
pub(super) const MAX_FOUND: usize = 1_000;

/// The result of a search for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolPresence {
    /// The tool is not in the list.
    Absent,
    /// The tool does not allow tasks.
    Forbidden,
    /// The tool allows tasks.
    Optional,
    /// The tool requires a task.
    Required,
}

/// Maximum number of pages to search. 100: no known list of tools has as many pages.
const MAX_PAGES: u32 = 100;

/// A search for one tool, page by page, until the tool is found.
///
/// If a client has no list of tools, a search finds out whether a tool exists, and whether the tool requires a task. A search
/// is cheaper than a list: it reads names only, and ends at the page with the tool.
#[derive(Clone, Debug)]
pub struct ToolSearch<'t> {
    pub(super) tool: &'t str,
    cursor: Option<String>,
    pages: u32,
    /// The tools on the pages so far.
    pub(super) seen: Vec<(String, ToolPresence)>,
    /// Whether the search has ended and the tool was on no page.
    pub(super) lacks: bool,
}

/// The state of a search after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchProgress {
    /// Request the next page.
    NextPage,
    /// The server has the tool.
    Found,
    /// The server does not have the tool.
    NotFound,
    /// A page is missing, or there are too many pages.
    Unknown,
}

impl<'t> ToolSearch<'t> {
    /// Creates a search for a tool by name.
    pub fn new(tool: &'t str) -> Self {
        ToolSearch { tool, cursor: None, pages: 0, seen: Vec::new(), lacks: false }
    }

    /// Returns the name of the tool.
    pub(super) fn tool(&self) -> &'t str {
        self.tool
    }

    /// Returns the request for the next page.
    pub fn request(&self) -> PreparedRequest {
        PreparedRequest::tools(self.cursor.as_deref())
    }

    /// Searches the page in the reply to [`Self::request`].
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

    /// Searches the tools of a page. Also stores the other tools of the page, so that their calls need no search.
    fn find(&mut self, tools: &[u8]) -> bool {
        let (mut at, mut found) = (0, false);
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            let Some(name) = scan::last_member(tool, "name").and_then(scan::text) else { continue };
            let support = scan::last_member(tool, "execution").and_then(|how| scan::last_member(how, "taskSupport"));
            let support = match support {
                Some(b"\"required\"") => ToolPresence::Required,
                Some(b"\"optional\"") => ToolPresence::Optional,
                _ => ToolPresence::Forbidden,
            };
            let is_wanted = name == self.tool;
            found |= is_wanted;
            if is_wanted || self.seen.len() < MAX_FOUND - 2 {
                self.seen.push((name, support));
            }
        }
        found
    }
}
