//! What a client knows of its server's tools when it calls one.

use alloc::string::String;
use alloc::sync::Arc;

use super::tool_list::ToolList;
use super::tool_search::{Found, MAX_FOUND, ToolSearch};
use crate::rpc::RpcError;
use crate::session::{CallError, Config, RequestOptions, SendError, ServerInfo, TaskMode};
use crate::sorted::Sorted;
use crate::types::{TaskSupport, Tool};

/// What is known of a server's tools: the last list, and what was found where a tool was looked for without the list
/// ([`ToolSearch`]).
#[derive(Debug, Default)]
pub struct KnownTools {
    list: Arc<ToolList>,
    found: Sorted<String, Found>,
    /// How often the server has reported that its tools have changed.
    changes: u64,
}

impl KnownTools {
    /// Returns how often the server has reported a change.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the last list; an empty one before there is any.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.list
    }

    /// Takes over a new list.
    pub fn replace(&mut self, list: Arc<ToolList>) {
        self.list = list;
        self.found = Sorted::default();
    }

    /// Handles that the server reports a change of its tools.
    pub fn invalidate(&mut self) {
        self.changes += 1;
        self.list.invalidate();
        self.found = Sorted::default();
    }

    /// Takes over what a search has found. `changed` says that the server reported a change meanwhile: it may have by now what
    /// its list lacked before.
    pub fn note(&mut self, search: ToolSearch<'_>, changed: bool) {
        if self.found.len() + search.seen.len() >= MAX_FOUND {
            self.found = Sorted::default();
        }
        if search.lacks && !changed {
            self.found.insert(search.tool.into(), Found::Absent);
        }
        // Of two tools of a name the first counts, as in a list.
        for (tool, support) in search.seen.into_iter().rev() {
            self.found.insert(tool, support);
        }
    }

    /// Whether the server has a tool of that name; `None` if that is not known.
    pub fn knows(&self, tool: &str) -> Option<bool> {
        self.list.knows(tool).or_else(|| self.found.get(tool).map(|found| *found != Found::Absent))
    }

    /// Whether a tool is to be looked for before it is called in the mode that is wanted: the server's list says whether the
    /// tool may be called as a task, or cannot be called in any other way. A list that has changed will do for a call as
    /// ever.
    pub fn must_look_before(&self, tool: &str, server: Option<&ServerInfo>, wanted: TaskMode) -> bool {
        if !server.is_some_and(ServerInfo::takes_tasks) {
            return false;
        }
        let is_there = self.list.is_fresh() || (wanted == TaskMode::Session && self.list.listed().sent() > 0);
        !is_there && !self.found.contains_key(tool)
    }

    /// Settles in which mode a tool is called, where `options` say what the caller would like (2025-11-25,
    /// basic/utilities/tasks, "Tool-Level Negotiation"): as a task where it cannot be called otherwise and `config` lets the
    /// session follow tasks, and never where the tool does not say that it may.
    ///
    /// # Errors
    /// If the tool can be called as a task only, and nobody is to follow one ([`SendError::TaskRequired`]).
    pub fn settle_task_mode(
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
            TaskMode::Session if support == Found::Required => {
                if !config.follows_tasks() {
                    return Err(SendError::TaskRequired { tool: tool.into() });
                }
                options.task = TaskMode::Follow;
            }
            TaskMode::Follow | TaskMode::Handle if !matches!(support, Found::Optional | Found::Required) => {
                options.task = TaskMode::Session;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a tool is to be looked for to tell what the error means that the server answered its call with.
    pub fn must_look_after(&self, tool: &str, error: &CallError) -> bool {
        let is_known = self.list.is_fresh() || self.found.contains_key(tool);
        !is_known && matches!(error, CallError::Server { error, .. } if is_unknown_tool(error))
    }

    /// What an error means that the server answered a call with: if it does not have the tool, the error is
    /// [`CallError::ToolNotFound`].
    #[inline]
    pub fn explain(&self, tool: &str, error: CallError) -> CallError {
        match error {
            CallError::Server { error, .. } if is_unknown_tool(&error) && self.knows(tool) == Some(false) => {
                CallError::ToolNotFound { tool: tool.into(), error: Some(error) }
            }
            other => other,
        }
    }

    fn support(&self, tool: &str) -> Found {
        match self.list.get(tool).map(Tool::task_support) {
            Some(TaskSupport::Required) => Found::Required,
            Some(TaskSupport::Optional) => Found::Optional,
            Some(_) => Found::Forbidden,
            None => self.found.get(tool).copied().unwrap_or(Found::Absent),
        }
    }
}

/// Servers answer the call of a tool that they do not have with one of these, and wrong arguments with the same.
fn is_unknown_tool(error: &RpcError) -> bool {
    matches!(error.code, RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}
