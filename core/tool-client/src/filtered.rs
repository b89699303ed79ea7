//! [`Filtered`]: a client that offers only some of the tools of another client.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use mcpwire_types::{CallToolResult, ErrorKind, Json, Tool, printable};

use crate::{BoxFuture, CallOptions, ToolClient, ToolError};

/// A client that offers only some of the tools of another client, for example the read-only tools. Calls of
/// other tools fail with [`ErrorKind::ToolNotFound`].
///
/// ```
/// # mod mcpwire { pub mod tool_client { pub use mcpwire_tool_client::{Filtered, ToolClient}; } }
/// use mcpwire::tool_client::{Filtered, ToolClient};
///
/// fn read_only(client: impl ToolClient) -> impl ToolClient {
///     Filtered::new(client, |tool| tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true))
/// }
///
/// fn without_shell(client: impl ToolClient) -> impl ToolClient {
///     Filtered::by_name(client, |name| name != "shell")
/// }
/// ```
pub struct Filtered<C> {
    client: C,
    filter: Filter,
}

enum Filter {
    Tool(Box<dyn Fn(&Tool) -> bool + Send + Sync>),
    Name(Box<dyn Fn(&str) -> bool + Send + Sync>),
}

impl<C> Filtered<C> {
    /// Creates a client that offers the tools for which `filter` returns `true`.
    ///
    /// Each call first lists the tools, so that the filter sees the current definition of the tool. Most clients answer
    /// this from a cache. [`Filtered::by_name`] does not list the tools.
    pub fn new(client: C, filter: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        Filtered { client, filter: Filter::Tool(Box::new(filter)) }
    }

    /// Creates a client that offers the tools for whose names `filter` returns `true`.
    #[must_use]
    pub fn by_name(client: C, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Filtered { client, filter: Filter::Name(Box::new(filter)) }
    }

    /// Returns the wrapped client, which offers all tools.
    pub fn into_inner(self) -> C {
        self.client
    }

    fn accepts(&self, tool: &Tool) -> bool {
        match &self.filter {
            Filter::Tool(filter) => filter(tool),
            Filter::Name(filter) => filter(&tool.name),
        }
    }
}

impl<C: ToolClient> Filtered<C> {
    /// Returns an error if the filter excludes the tool `name`. With a filter for definitions, also if the client has
    /// no such tool.
    async fn check(&self, name: &str) -> Result<(), ToolError> {
        let is_offered = match &self.filter {
            Filter::Name(filter) => filter(name),
            Filter::Tool(filter) => {
                self.client.list_tools().await?.iter().any(|tool| tool.name == name && filter(tool))
            }
        };
        if is_offered { Ok(()) } else { Err(not_found(self.client.server_name(), name)) }
    }
}

/// Returns the error for a call of a tool that a [`Filtered`] or [`Renamed`](crate::Renamed) client does not offer.
pub(crate) fn not_found(server: Option<&str>, tool: &str) -> ToolError {
    let reason = format!("tool not found: `{}`", printable(tool));
    ToolError::of_tool(ErrorKind::ToolNotFound, server, tool, &reason)
}

impl<C: ToolClient> ToolClient for Filtered<C> {
    fn server_name(&self) -> Option<&str> {
        self.client.server_name()
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async move {
            let mut tools = self.client.list_tools().await?;
            tools.retain(|tool| self.accepts(tool));
            Ok(tools)
        })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move {
            self.check(name).await?;
            self.client.call_tool(name, arguments).await
        })
    }

    /// Calls the tool. The timeouts in `options` do not apply to the tool list that [`Filtered::new`] needs, but the
    /// cancellation does.
    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        mut options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let cancel = options.take_cancel();
        let call = Box::pin(async move {
            self.check(name).await?;
            self.client.call_tool_with(name, arguments, options).await
        });
        crate::unless_cancelled(self.server_name(), name, cancel, call)
    }
}

impl<C: fmt::Debug> fmt::Debug for Filtered<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filtered").field("client", &self.client).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::fake::{FakeClient, block_on, names};

    fn filters() -> [Filtered<FakeClient>; 2] {
        [
            Filtered::new(FakeClient::new(["read", "write"]), |tool| tool.description.as_deref() == Some("read")),
            Filtered::by_name(FakeClient::new(["read", "write"]), |name| name == "read"),
        ]
    }

    #[test]
    fn only_accepted_tools_are_listed() {
        for client in filters() {
            assert_eq!(names(&client), ["read"]);
        }
    }

    #[test]
    fn other_tools_are_not_called() {
        for client in filters() {
            let arguments = Json::default();
            assert_eq!(block_on(client.call_tool("read", &arguments)).unwrap().text(), "read");
            for options in [None, Some(CallOptions::new())] {
                let call = match options {
                    None => client.call_tool("write", &arguments),
                    Some(options) => client.call_tool_with("write", &arguments, options),
                };
                assert_eq!(block_on(call).unwrap_err().kind(), ErrorKind::ToolNotFound);
            }
            assert_eq!(client.into_inner().called(), ["read"]);
        }
    }

    #[test]
    fn refusals_name_the_server_if_the_client_knows_it() {
        for (server, expected) in
            [(None, "tool not found: `write`"), (Some("a"), "server `a`: tool not found: `write`")]
        {
            let mut client = FakeClient::new(["read", "write"]);
            client.server = server;
            let client = Filtered::by_name(client, |name| name == "read");
            let arguments = Json::default();
            let error = block_on(client.call_tool("write", &arguments)).unwrap_err();
            assert_eq!((error.server(), error.tool()), (server, Some("write")));
            assert_eq!(error.to_string(), expected);
            let cancelled = CallOptions::new().cancel_when(async {});
            let error = block_on(client.call_tool_with("read", &arguments, cancelled)).unwrap_err();
            assert_eq!((error.kind(), error.server(), error.tool()), (ErrorKind::Cancelled, server, Some("read")));
        }
    }

    #[test]
    fn a_call_can_be_cancelled_while_the_tools_are_listed() {
        let mut client = FakeClient::new(["read"]);
        client.is_slow = true;
        let client = Filtered::new(client, |_| true);
        let arguments = Json::default();
        let options = CallOptions::new().cancel_when(async {});
        let error = block_on(client.call_tool_with("read", &arguments, options)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }
}
