//! [`KnownTools`]: what a client has learned about the tools of its server. [`ToolSearch`]: searches the server's list for one
//! tool, without storing the list.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::tool_list::ToolList;
use crate::rpc::RpcError;
use crate::session::{CallError, Config, PreparedRequest, Reply, RequestOptions, SendError, ServerInfo, TaskMode};
use mcpwire_text::json::scan;
use mcpwire_types::TaskSupport;

/// What a client knows about the tools of its server: the last loaded list, and the results of searches
/// ([`ToolSearch`]).
#[derive(Debug, Default)]
pub struct KnownTools {
    list: Arc<ToolList>,
    /// The tools that earlier searches have looked for or seen, by name, and whether they can be called as tasks. `None`
    /// if the server does not have the tool. Emptied when the list of tools is replaced or invalidated, and when the
    /// results of another search do not fit ([`MAX_FOUND`]).
    found: BTreeMap<String, Option<TaskSupport>>,
    /// How many times the list of tools has changed: by `notifications/tools/list_changed`, or because the authorization
    /// has.
    pub(super) changes: u64,
}

impl KnownTools {
    /// Returns the last loaded list of tools, or an empty list if none has been loaded.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.list
    }

    /// Replaces the list of tools, and discards the results of earlier searches.
    pub fn replace(&mut self, list: Arc<ToolList>) {
        self.list = list;
        self.found = BTreeMap::default();
    }

    /// Marks the list of tools as stale, and discards the results of earlier searches. Call this when the server
    /// reports a change of its tools.
    pub fn invalidate(&mut self) {
        self.changes += 1;
        self.list.invalidate();
        self.found = BTreeMap::default();
    }

    /// Marks the list of tools as stale unless it is public, and discards the results of earlier searches.
    #[cfg(feature = "http")]
    pub(super) fn authorization_changed(&mut self) {
        self.changes += 1;
        if !self.list.hints().is_public {
            self.list.invalidate();
        }
        self.found = BTreeMap::default();
    }

    /// Stores what `search` has found out about the server's tools.
    ///
    /// `changed` is whether the server reported a change of its tools during the search. If so, the search cannot prove
    /// that a tool does not exist.
    pub fn note(&mut self, search: ToolSearch, changed: bool) {
        if self.found.len() + search.seen.len() >= MAX_FOUND {
            self.found = BTreeMap::default();
        }
        if search.lacks && !changed {
            self.found.insert((&*search.tool).into(), None);
        }
        // If two tools have the same name, the first is used, as in a list.
        for (tool, support) in search.seen.into_iter().rev() {
            self.found.insert(tool, Some(support));
        }
    }

    /// Returns whether the server has a tool of this name, or `None` if neither the list of tools nor an earlier search
    /// can tell.
    pub fn knows(&self, tool: &str) -> Option<bool> {
        self.list.knows(tool).or_else(|| self.found.get(tool).map(Option::is_some))
    }

    /// Returns whether the client must search the server's list for `tool` before it calls the tool, to find out
    /// whether the tool allows or requires a task.
    ///
    /// This is so if the server supports tasks, the list of tools is stale, and no earlier search has found the answer.
    /// If `wanted` is [`TaskMode::Session`], a stale list suffices unless it is empty.
    pub fn needs_search_before_call(&self, tool: &str, server: Option<&ServerInfo>, wanted: TaskMode) -> bool {
        if !server.is_some_and(ServerInfo::takes_tasks) {
            return false;
        }
        let is_there = self.list.is_fresh() || (wanted == TaskMode::Session && self.list.listed().sent() > 0);
        !is_there && !self.found.contains_key(tool)
    }

    /// Changes the task mode in `options` if the tool does not allow it (protocol revision 2025-11-25,
    /// basic/utilities/tasks, "Tool-Level Negotiation"). Does nothing if the server does not support tasks.
    ///
    /// For a tool that requires a task, [`TaskMode::Session`] becomes [`TaskMode::Follow`]. For a tool that does not
    /// allow tasks, or is unknown, every mode becomes [`TaskMode::Session`].
    ///
    /// # Errors
    /// [`SendError::TaskRequired`] if the tool requires a task, the mode is [`TaskMode::Session`], and
    /// [`Config::follow_tasks`] was not called.
    pub fn resolve_task_mode(
        &self,
        tool: &str,
        server: Option<&ServerInfo>,
        config: &Config,
        options: &mut RequestOptions,
    ) -> Result<(), SendError> {
        if !server.is_some_and(ServerInfo::takes_tasks) {
            return Ok(());
        }
        let support = self.support(tool);
        match options.task {
            TaskMode::Session if support == Some(TaskSupport::Required) => {
                if !config.follows_tasks {
                    return Err(SendError::TaskRequired { tool: tool.into() });
                }
                options.task = TaskMode::Follow;
            }
            TaskMode::Follow | TaskMode::Handle
                if !matches!(support, Some(TaskSupport::Optional | TaskSupport::Required)) =>
            {
                options.task = TaskMode::Session;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the client must search the server's list for `tool` after a call of the tool failed with
    /// `error`.
    ///
    /// It must if the error may mean that the tool does not exist, and neither a fresh list nor an earlier search tells
    /// whether it exists.
    pub fn needs_search_after_error(&self, tool: &str, error: &CallError) -> bool {
        let is_known = self.list.is_fresh() || self.found.contains_key(tool);
        !is_known && matches!(error, CallError::Server { error, .. } if is_unknown_tool(error))
    }

    /// Returns [`CallError::ToolNotFound`] if the server may have sent `error` because it does not have the tool, and
    /// [`Self::knows`] confirms that. Otherwise returns `error`.
    #[inline]
    pub fn explain(&self, tool: &str, error: CallError) -> CallError {
        match error {
            CallError::Server { error, .. } if is_unknown_tool(&error) && self.knows(tool) == Some(false) => {
                CallError::ToolNotFound { tool: tool.into(), error: Some(error) }
            }
            other => other,
        }
    }

    /// Returns whether the tool can be called as a task, or `None` if the server does not have the tool as far as is known.
    fn support(&self, tool: &str) -> Option<TaskSupport> {
        match self.list.get(tool) {
            Some(listed) => Some(listed.task_support()),
            None => self.found.get(tool).cloned().flatten(),
        }
    }
}

/// Returns whether a server may have sent this error because it does not have the tool. Servers send the same codes for
/// invalid arguments.
fn is_unknown_tool(error: &RpcError) -> bool {
    matches!(error.code, RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}

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
