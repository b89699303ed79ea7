//! The search for one tool in a server's list, without the list.

use alloc::string::String;

use crate::json::scan;
use crate::session::{PreparedRequest, Reply};
use crate::types::TaskSupport;

/// The most pages that are looked at. 100: lists of tools are that long nowhere.
const MAX_PAGES: u32 = 100;

/// The search for a tool, page by page, until it is found. It says what an error of its call means, or how it is called,
/// where nobody has listed the tools: that takes one name of the list, and to read and keep all of it would be for nothing.
#[derive(Clone, Debug)]
pub struct ToolSearch<'t> {
    tool: &'t str,
    cursor: Option<String>,
    pages: u32,
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Searched {
    /// The next page is to be asked for.
    AskForMore,
    /// The server has the tool, and says whether it may be called as a task.
    Has(TaskSupport),
    /// The whole list does not have it.
    Lacks,
    /// The server does not say, or its list does not end.
    Unknown,
}

impl<'t> ToolSearch<'t> {
    /// A search for the tool of this name.
    pub fn new(tool: &'t str) -> Self {
        ToolSearch { tool, cursor: None, pages: 0 }
    }

    /// The request for the page that is to be looked at.
    pub fn request(&self) -> PreparedRequest {
        PreparedRequest::tools(self.cursor.as_deref())
    }

    /// Looks at what came of that request.
    pub fn look_at(&mut self, reply: &Reply) -> Searched {
        let page = reply.message().and_then(|message| scan::member(message, "result"));
        let Some(page) = page else { return Searched::Unknown };
        if let Some(support) = scan::member(page, "tools").and_then(|tools| self.find(tools)) {
            return Searched::Has(support);
        }
        let Some(next) = scan::member(page, "nextCursor").and_then(scan::text) else { return Searched::Lacks };
        self.pages += 1;
        if self.pages == MAX_PAGES || self.cursor.as_ref() == Some(&next) {
            return Searched::Unknown;
        }
        self.cursor = Some(next);
        Searched::AskForMore
    }

    fn find(&self, tools: &[u8]) -> Option<TaskSupport> {
        let mut at = 0;
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            if scan::member(tool, "name").and_then(scan::text).as_deref() == Some(self.tool) {
                let support = scan::member(tool, "execution").and_then(|how| scan::member(how, "taskSupport"));
                return Some(support.and_then(scan::text).map(TaskSupport::from).unwrap_or_default());
            }
        }
        None
    }
}
