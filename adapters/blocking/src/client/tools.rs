//! The list of a server's tools, and their calls.

use std::sync::Arc;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::{Step, ToolListing};
use mcpwire_core::{InvalidItem, RequestOptions, Tool};
use serde::Serialize;

use super::McpClient;
use crate::call::Call;
use crate::connection::Connection;

impl McpClient {
    /// Lists the server's tools, all pages, and keeps the list. Entries that are no tools are left out and told by
    /// [`McpClient::rejected_tools`].
    ///
    /// A modern server may have said that its list holds for a while: it is not asked again before that has passed, or it has
    /// told of a change. [`McpClient::list_all_with`] and [`RequestOptions::fresh`](mcpwire_core::RequestOptions::fresh) ask
    /// all the same; [`Config::cache`](mcpwire_core::Config::cache) says how much is kept.
    pub fn list_tools(&mut self) -> Result<Tools, Error> {
        self.unsubscribe_unwanted();
        let options = self.connection.context.traced(&RequestOptions::new()).into_owned();
        let mut listing = ToolListing::new(options, self.engine().session().config(), self.connection.now());
        loop {
            let now = self.connection.now();
            let Connection { engine, tools, .. } = &mut self.connection;
            match listing.poll(tools, &mut engine.calls(), now) {
                Step::Wait(key) => {
                    let mut reply = self.reply(key, now, &mut |_| {})?;
                    listing.receive(&mut reply);
                    self.connection.engine.recycle(reply);
                }
                Step::Drain => self.connection.catch_up(),
                Step::Done(Ok(_)) => break,
                Step::Done(Err(error)) => return Err(self.request_error(error)),
            }
        }
        // Lists are larger than most answers, and the next request may be a long time coming.
        self.connection.engine.shrink();
        Ok(self.tools())
    }

    /// The tools, as they were last listed. No request is sent.
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.connection.tools.list()))
    }

    /// What was left out of that list, and why.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Whether that list has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.connection.tools.list().get(name).is_some()
    }

    /// The tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.connection.tools.list().get(name).cloned()
    }

    /// Calls a tool: options may be set before [`Call::call`] sends it. That the tool failed
    /// ([`CallToolResult::is_error`](mcpwire_core::CallToolResult::is_error)) is a result like any other.
    ///
    /// A name that the list of tools does not have is an error without a request, as long as the list holds.
    pub fn call_tool<'c, A: Serialize>(&'c mut self, name: &'c str, arguments: A) -> Call<'c, A> {
        Call::new(self, name, arguments)
    }
}
