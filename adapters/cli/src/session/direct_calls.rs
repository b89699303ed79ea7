//! Tool calls on a direct connection to one server, and suggestions for calls that failed.

use mcpwire_blocking::RunningTask;
use mcpwire_blocking::protocol::{CallToolResult, Json, Tool};

use super::calls::{CallMode, Called, ListedTools};
use super::direct::Direct;
use crate::failure::{Failure, INTERRUPTED, Mistake};
use crate::show::{self, Layout};
use crate::text;

/// Maximum number of tool names that the error for an unknown tool lists.
const MOST_NAMES: usize = 20;

impl Direct<'_> {
    pub(crate) fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        self.request(|client| client.list_tools().map(drop))?;
        let listed = self.client.tools();
        Ok(ListedTools { tools: listed.to_vec(), rejected: listed.rejected().to_vec() })
    }

    /// Calls a tool, and shows a progress bar. If the name or the arguments are wrong, the failure contains a suggestion for
    /// the user.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        let called = match mode {
            CallMode::Detach => self.begin_task(tool, arguments),
            CallMode::Call | CallMode::Task => self.call_raw(tool, arguments, mode).map(Called::Result),
        };
        let called = called.map_err(|failure| self.explained(tool, failure))?;
        if let Called::Result(result) = &called {
            self.check_tool_exists(tool, result)?;
        }
        Ok(called)
    }

    /// Calls a tool, and waits for the result. Returns the result as the server sent it.
    pub(crate) fn call_raw(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Json, Failure> {
        let (progress, status) = (self.on_progress(tool), self.on_status());
        self.request(|client| {
            let call = client.call_tool(tool, arguments).on_progress(progress).on_status(status);
            if mode == CallMode::Task { call.follow_task().raw() } else { call.raw() }
        })
    }

    /// Calls a tool as an MCP task, and does not wait until the task ends. If the server does not create a task, returns the
    /// result of the call.
    fn begin_task(&mut self, tool: &str, arguments: &Json) -> Result<Called, Failure> {
        self.console.start(&format!("calling {tool}"));
        let started = self.request(|client| {
            let started = client.call_tool(tool, arguments).as_task()?;
            Ok(started.into_task().map(RunningTask::into_handle))
        })?;
        match started {
            Ok(handle) => Ok(Called::Task(handle)),
            Err(result) => {
                let unreadable = |error| Failure::unreadable("the server's result", &format!("{error}"));
                Json::from_value(&result).map(Called::Result).map_err(unreadable)
            }
        }
    }

    /// Returns an error if `result` is an error result and the server does not list the tool. Some servers answer calls of
    /// unknown tools with an error result.
    fn check_tool_exists(&mut self, tool: &str, result: &Json) -> Result<(), Failure> {
        let Some(result) = result.decode::<CallToolResult>().ok().filter(|result| result.is_error) else {
            return Ok(());
        };
        match self.request(|client| client.list_tools().map(drop)) {
            Ok(()) if !self.client.has_tool(tool) => {
                let failure = Failure::tool_not_found(tool, result.text().as_str());
                let failure = self.redacted(failure);
                Err(self.explained(tool, failure))
            }
            Err(failure) if failure.exit() == INTERRUPTED => Err(failure),
            _ => Ok(()),
        }
    }

    /// Adds a suggestion to the failure of a tool call: the name of a similar tool, or the parameters of the called tool.
    /// Requests the list of tools first if it is not loaded.
    fn explained(&mut self, tool: &str, failure: Failure) -> Failure {
        if failure.mistake().is_some() && self.client.tools().is_empty() {
            // If the tools cannot be listed, there is no suggestion.
            let _ = self.request(|client| client.list_tools().map(drop));
        }
        match (failure.mistake(), self.client.get_tool(tool)) {
            (Some(Mistake::Arguments), Some(tool)) => failure.with_hint(page(&tool)),
            (Some(Mistake::Tool), None) => failure.with_hint(suggestion(tool, &self.client.tools())),
            _ => failure,
        }
    }
}

fn page(tool: &Tool) -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = show::tool(&mut page, tool, Layout::default());
    String::from_utf8_lossy(&page).trim_end().to_owned()
}

fn suggestion(name: &str, tools: &[Tool]) -> String {
    if let Some(nearest) = text::nearest(name, tools.iter().map(|tool| (tool.name.as_str(), &tool.name))) {
        return format!("Did you mean {}?", text::line(nearest));
    }
    let names: Vec<String> = tools.iter().take(MOST_NAMES).map(|tool| text::line(&tool.name)).collect();
    let more = if tools.len() > MOST_NAMES { ", ..." } else { "" };
    if names.is_empty() {
        "The server has no tools.".to_owned()
    } else {
        format!("Its tools are: {}{more}", names.join(", "))
    }
}
