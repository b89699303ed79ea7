//! The search for one tool in a server's list, without the list.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::scan;
use crate::session::{PreparedRequest, Reply};

/// The most tools that are remembered besides the list: more than a server has whose list nobody wants.
pub(super) const MAX_FOUND: usize = 1_000;

/// What the server's list says of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The tool is not in the list.
    Absent,
    /// The tool cannot be called as a task.
    Forbidden,
    /// The tool can be called as a task.
    Optional,
    /// The tool can be called as a task only.
    Required,
}

/// The most pages that are looked at. 100: lists of tools are that long nowhere.
const MAX_PAGES: u32 = 100;

/// The search for a tool, page by page, until it is found. It says what an error of its call means, or how it is called,
/// where nobody has listed the tools: that takes one name of the list, and to read and keep all of it would be for nothing.
#[derive(Clone, Debug)]
pub struct ToolSearch<'t> {
    pub(super) tool: &'t str,
    cursor: Option<String>,
    pages: u32,
    /// The tools of the pages that were looked at.
    pub(super) seen: Vec<(String, Found)>,
    /// All pages were looked at, for nothing.
    pub(super) lacks: bool,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Searched {
    /// The next page is to be asked for.
    AskForMore,
    /// The server has the tool.
    Has,
    /// The whole list does not have it.
    Lacks,
    /// The server does not say, or its list does not end.
    Unknown,
}

impl<'t> ToolSearch<'t> {
    /// A search for the tool of this name.
    pub fn new(tool: &'t str) -> Self {
        ToolSearch { tool, cursor: None, pages: 0, seen: Vec::new(), lacks: false }
    }

    /// Returns the name of the tool.
    pub(super) fn tool(&self) -> &'t str {
        self.tool
    }

    /// The request for the page that is to be looked at.
    pub fn request(&self) -> PreparedRequest {
        PreparedRequest::tools(self.cursor.as_deref())
    }

    /// Looks at what came of that request.
    pub fn look_at(&mut self, reply: &Reply) -> Searched {
        let page = reply.message().and_then(|message| scan::member(message, "result"));
        let Some(page) = page else { return Searched::Unknown };
        if scan::last_member(page, "tools").is_some_and(|tools| self.find(tools)) {
            return Searched::Has;
        }
        let Some(next) = scan::last_member(page, "nextCursor").and_then(scan::text) else {
            self.lacks = true;
            return Searched::Lacks;
        };
        self.pages += 1;
        if self.pages == MAX_PAGES || self.cursor.as_ref() == Some(&next) {
            return Searched::Unknown;
        }
        self.cursor = Some(next);
        Searched::AskForMore
    }

    /// The other tools on the page are noted too: their calls need no search of their own.
    fn find(&mut self, tools: &[u8]) -> bool {
        let (mut at, mut found) = (0, false);
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            let Some(name) = scan::last_member(tool, "name").and_then(scan::text) else { continue };
            let support = scan::last_member(tool, "execution").and_then(|how| scan::last_member(how, "taskSupport"));
            let support = match support {
                Some(b"\"required\"") => Found::Required,
                Some(b"\"optional\"") => Found::Optional,
                _ => Found::Forbidden,
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
