//! The list of a server's tools, and their calls.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{
    CallError, CallToolResult, KnownTools, ListTools, PagesTime, Rejected, RequestOptions, Searched, Tool, ToolList,
    ToolSearch,
};
use mcpwire_process::Error;
use serde::Serialize;

use super::McpClient;
use crate::call::Call;

impl McpClient {
    /// Lists the server's tools, all pages, and keeps the list. Entries that are no tools are left out and told by
    /// [`McpClient::rejected_tools`].
    ///
    /// A modern server may have said that its list holds for a while: it is not asked again before that has passed, or it has
    /// told of a change. [`McpClient::list_all_with`] and [`RequestOptions::fresh`](mcpwire_core::RequestOptions::fresh) ask
    /// all the same; [`Config::cache`](mcpwire_core::Config::cache) says how much is kept.
    pub fn list_tools(&mut self) -> Result<&[Tool], Error> {
        // A change that was told before the first answer is in the answer.
        let tools =
            self.list_pages::<ListTools>(&RequestOptions::new(), |client| client.connection.tools_changed = false)?;
        let mut list = ToolList::default();
        list.replace(tools);
        self.tools.replace(Arc::new(list));
        // Lists are larger than most answers, and what comes next may be long in coming.
        self.connection.engine.shrink();
        Ok(self.tools())
    }

    /// The tools, as they were last listed. No request is sent.
    pub fn tools(&self) -> &[Tool] {
        &self.tools.list().listed().items
    }

    /// What was left out of that list, and why.
    pub fn rejected_tools(&self) -> &[Rejected] {
        &self.tools.list().listed().rejected
    }

    /// Whether that list has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.get_tool(name).is_some()
    }

    /// The tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<&Tool> {
        self.tools.list().get(name)
    }

    /// Calls a tool. That the tool failed ([`CallToolResult::is_error`]) is a result like any other.
    ///
    /// A name that the list of tools does not have is an error without a request, as long as the list holds.
    pub fn call_tool(&mut self, name: &str, arguments: impl Serialize) -> Result<CallToolResult, Error> {
        self.tool(name, arguments).call()
    }

    /// Calls a tool that may take longer, or is not to take as long, as others.
    pub fn call_tool_with_timeout(
        &mut self,
        name: &str,
        arguments: impl Serialize,
        timeout: Duration,
    ) -> Result<CallToolResult, Error> {
        self.tool(name, arguments).timeout(timeout).call()
    }

    /// A call of a tool with options of its own: ends in [`Call::call`] or [`Call::raw`].
    pub fn tool<'c, A: Serialize>(&'c mut self, name: &'c str, arguments: A) -> Call<'c, A> {
        Call::new(self, name, arguments)
    }

    fn known_tools(&mut self) -> &mut KnownTools {
        if std::mem::take(&mut self.connection.tools_changed) {
            self.tools.invalidate();
        }
        &mut self.tools
    }

    /// Whether it is certain that the server does not have this tool.
    pub(crate) fn lacks(&mut self, tool: &str) -> bool {
        if self.known_tools().knows(tool) != Some(false) {
            return false;
        }
        // That the list has changed may have been told and not been heard yet; and of a server that has ended, that is told.
        self.connection.catch_up();
        self.is_running() && self.known_tools().knows(tool) == Some(false)
    }

    /// Settles in which mode a tool is called, where `options` say what the caller would like. The list of tools is asked for
    /// if it matters what it says.
    pub(crate) fn settle_task_mode(&mut self, tool: &str, options: &mut RequestOptions) -> Result<(), Error> {
        // A change that was told and not taken in yet counts.
        self.known_tools();
        if self.tools.must_look_before(tool, self.connection.engine.session().server(), options.task_mode()) {
            self.look_for(tool);
        }
        let engine = &self.connection.engine;
        let settled = self.tools.settle_task_mode(tool, engine.session().server(), engine.session().config(), options);
        settled.map_err(|error| self.send_error(error))
    }

    /// Looks for a tool in the server's list, and takes note of what it says, if it does.
    fn look_for(&mut self, tool: &str) {
        let connection = &mut self.connection;
        let time = PagesTime::begin(&RequestOptions::new(), connection.engine.session().config(), connection.now());
        let mut search = ToolSearch::new(tool);
        loop {
            let now = connection.now();
            let options = RequestOptions::new().total_timeout(time.left(now));
            let options = &*connection.traced(&options);
            let Ok(key) = connection.engine.calls().send_prepared(&search.request(), options, now) else { return };
            let Ok(Some(reply)) = connection.wait(key, &mut |_| {}) else { return };
            match search.look_at(&reply) {
                Searched::AskForMore => {}
                _ => break,
            }
        }
        self.tools.note(search, connection.tools_changed);
    }

    /// What an error of a call of `tool` means, after a look at the list of tools if that is what it takes.
    pub(crate) fn explain(&mut self, tool: &str, error: CallError) -> Error {
        if self.known_tools().must_look_after(tool, &error) {
            // Without the list, the error stays what the server said.
            self.look_for(tool);
        }
        let error = self.known_tools().explain(tool, error);
        self.call_error(error)
    }
}
