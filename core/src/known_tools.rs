//! What a client knows of its server's tools when it calls one.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::rpc::RpcError;
use crate::session::{CallError, Config, RequestOptions, SendError, ServerInfo, TaskMode};
use crate::tool_list::ToolList;
use crate::types::{TaskSupport, Tool};

/// The most tools that are remembered beside the list. 64: who calls so many without a list has not lost much.
const MOST_FOUND: usize = 64;

/// What is known of a server's tools: the list as it last came, and tools that were looked for without it
/// ([`ToolSearch`](crate::ToolSearch)).
#[derive(Debug, Default)]
pub struct KnownTools {
    list: Arc<ToolList>,
    found: Vec<Found>,
}

/// A tool that was looked for.
#[derive(Debug)]
struct Found {
    tool: String,
    /// `None` where the server does not have it.
    support: Option<TaskSupport>,
}

impl KnownTools {
    /// The list as it last came. Empty before that.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.list
    }

    /// A list has come.
    pub fn replace(&mut self, list: Arc<ToolList>) {
        self.list = list;
        self.found.clear();
    }

    /// The server says that its tools have changed.
    pub fn invalidate(&mut self) {
        self.list.invalidate();
        self.found.clear();
    }

    /// A tool was looked for: whether it may be called as a task; `None` where the server does not have it.
    pub fn note(&mut self, tool: &str, support: Option<TaskSupport>) {
        self.found.retain(|found| found.tool != tool);
        if self.found.len() == MOST_FOUND {
            self.found.remove(0);
        }
        self.found.push(Found { tool: tool.into(), support });
    }

    /// Whether the server has a tool of that name; `None` if that is not known.
    pub fn knows(&self, tool: &str) -> Option<bool> {
        self.list.knows(tool).or_else(|| self.found(tool).map(|found| found.support.is_some()))
    }

    /// Whether a tool is to be looked for before it is called in the mode that is wanted: the server's list says whether the
    /// tool may be called as a task, or cannot be called in any other way. A list that has changed will do for a call as
    /// ever.
    pub fn must_look_before(&self, tool: &str, server: Option<&ServerInfo>, wanted: TaskMode) -> bool {
        if !server.is_some_and(ServerInfo::takes_tasks) {
            return false;
        }
        let is_there = self.list.is_fresh() || (wanted == TaskMode::Session && self.list.listed().sent() > 0);
        !is_there && self.found(tool).is_none()
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
            TaskMode::Session if support == TaskSupport::Required => {
                if !config.follows_tasks() {
                    return Err(SendError::TaskRequired { tool: tool.into() });
                }
                options.task = TaskMode::Follow;
            }
            TaskMode::Follow | TaskMode::Handle if !support.allows() => options.task = TaskMode::Session,
            _ => {}
        }
        Ok(())
    }

    /// Whether a tool is to be looked for to tell what the error means that the server answered its call with.
    pub fn must_look_after(&self, tool: &str, error: &CallError) -> bool {
        let is_known = self.list.is_fresh() || self.found(tool).is_some();
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

    fn support(&self, tool: &str) -> TaskSupport {
        let found = || self.found(tool).and_then(|found| found.support.clone());
        self.list.get(tool).map(Tool::task_support).or_else(found).unwrap_or_default()
    }

    fn found(&self, tool: &str) -> Option<&Found> {
        self.found.iter().find(|found| found.tool == tool)
    }
}

/// Servers answer the call of a tool that they do not have with one of these, and wrong arguments with the same.
fn is_unknown_tool(error: &RpcError) -> bool {
    matches!(error.code, RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}
