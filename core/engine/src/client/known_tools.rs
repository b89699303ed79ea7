//! [`KnownTools`]: the tools of a server, as far as a client knows them.

use alloc::string::String;
use alloc::sync::Arc;

use super::tool_list::ToolList;
use super::tool_search::{MAX_FOUND, ToolPresence, ToolSearch};
use crate::rpc::RpcError;
use crate::session::{CallError, Config, RequestOptions, SendError, ServerInfo, TaskMode};
use crate::types::{TaskSupport, Tool};
use crate::vec_map::VecMap;

/// The tools of a server, as far as a client knows them: the last list, and the results of searches ([`ToolSearch`]).
#[derive(Debug, Default)]
pub struct KnownTools {
    list: Arc<ToolList>,
    /// The results of the searches since the list was last replaced or invalidated. At most [`MAX_FOUND`].
    found: VecMap<String, ToolPresence>,
    /// The number of `notifications/tools/list_changed`.
    changes: u64,
}

impl KnownTools {
    /// Returns how many times the server has reported a change of its tools.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the last list, or an empty list before the first one.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.list
    }

    /// Replaces the list, and discards the results of searches.
    pub fn replace(&mut self, list: Arc<ToolList>) {
        self.list = list;
        self.found = VecMap::default();
    }

    /// Handles that the server has reported a change of its tools.
    pub fn invalidate(&mut self) {
        self.changes += 1;
        self.list.invalidate();
        self.found = VecMap::default();
    }

    /// Stores the results of a search.
    ///
    /// `changed` says whether the server has reported a change during the search. Then a tool that was not in the list may
    /// exist now, so its absence is not stored.
    pub fn note(&mut self, search: ToolSearch<'_>, changed: bool) {
        if self.found.len() + search.seen.len() >= MAX_FOUND {
            self.found = VecMap::default();
        }
        if search.lacks && !changed {
            self.found.insert(search.tool.into(), ToolPresence::Absent);
        }
        // Of two tools with the same name the first counts, as in a list.
        for (tool, support) in search.seen.into_iter().rev() {
            self.found.insert(tool, support);
        }
    }

    /// Returns whether the server has a tool of this name, or `None` if the client does not know.
    pub fn knows(&self, tool: &str) -> Option<bool> {
        self.list.knows(tool).or_else(|| self.found.get(tool).map(|found| *found != ToolPresence::Absent))
    }

    /// Returns whether the client must search for a tool before it calls the tool in the mode `wanted`.
    ///
    /// The server's list says whether the tool allows or requires a task. For [`TaskMode::Session`], a stale list suffices.
    pub fn needs_search_before_call(&self, tool: &str, server: Option<&ServerInfo>, wanted: TaskMode) -> bool {
        if !server.is_some_and(ServerInfo::takes_tasks) {
            return false;
        }
        let is_there = self.list.is_fresh() || (wanted == TaskMode::Session && self.list.listed().sent() > 0);
        !is_there && !self.found.contains_key(tool)
    }

    /// Sets the task mode of a call in `options` to one that the tool allows (2025-11-25, basic/utilities/tasks, "Tool-Level
    /// Negotiation").
    ///
    /// A tool that requires a task is called as a task if [`Config::follow_tasks`] was called. A tool that does not allow tasks
    /// is called without one, whatever the mode was.
    ///
    /// # Errors
    /// [`SendError::TaskRequired`] if the tool requires a task, and neither `options` nor `config` allow one.
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
            TaskMode::Session if support == ToolPresence::Required => {
                if !config.follows_tasks() {
                    return Err(SendError::TaskRequired { tool: tool.into() });
                }
                options.task = TaskMode::Follow;
            }
            TaskMode::Follow | TaskMode::Handle
                if !matches!(support, ToolPresence::Optional | ToolPresence::Required) =>
            {
                options.task = TaskMode::Session;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the client must search for a tool to find out what the error of its call means.
    pub fn needs_search_after_error(&self, tool: &str, error: &CallError) -> bool {
        let is_known = self.list.is_fresh() || self.found.contains_key(tool);
        !is_known && matches!(error, CallError::Server { error, .. } if is_unknown_tool(error))
    }

    /// Replaces the error of a call by [`CallError::ToolNotFound`], if the server does not have the tool.
    #[inline]
    pub fn explain(&self, tool: &str, error: CallError) -> CallError {
        match error {
            CallError::Server { error, .. } if is_unknown_tool(&error) && self.knows(tool) == Some(false) => {
                CallError::ToolNotFound { tool: tool.into(), error: Some(error) }
            }
            other => other,
        }
    }

    fn support(&self, tool: &str) -> ToolPresence {
        match self.list.get(tool).map(Tool::task_support) {
            Some(TaskSupport::Required) => ToolPresence::Required,
            Some(TaskSupport::Optional) => ToolPresence::Optional,
            Some(_) => ToolPresence::Forbidden,
            None => self.found.get(tool).copied().unwrap_or(ToolPresence::Absent),
        }
    }
}

/// Returns whether an error may mean that the server does not have the tool. Wrong arguments lead to the same errors.
fn is_unknown_tool(error: &RpcError) -> bool {
    matches!(error.code, RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}
