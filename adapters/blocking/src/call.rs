//! [`Call`]: the call of a tool, with what it may have of its own.

use std::time::Duration;

use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolRaw, CallToolResult, Json, Method, Params, Progress, RequestOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use mcpwire_process::Error;

type OnProgress<'c> = Box<dyn FnMut(&Progress) + 'c>;

/// A call of a tool that has not been sent yet. Made by [`McpClient::tool`].
///
/// ```no_run
/// # use std::time::Duration;
/// # use mcpwire_blocking::{McpClient, McpServerDef};
/// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
/// # let arguments = mcpwire_blocking::core::Json::parse("{}").unwrap();
/// let result = client
///     .tool("build", &arguments)
///     .timeout(Duration::from_secs(120))
///     .on_progress(|progress| eprintln!("{} of {:?}", progress.progress, progress.total))
///     .call()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
#[must_use = "a call is sent by `call` or `raw`"]
pub struct Call<'c, A> {
    client: &'c mut McpClient,
    name: &'c str,
    arguments: A,
    options: RequestOptions,
    on_progress: Option<OnProgress<'c>>,
}

impl<'c, A: Serialize> Call<'c, A> {
    pub(crate) fn new(client: &'c mut McpClient, name: &'c str, arguments: A) -> Self {
        Call { client, name, arguments, options: RequestOptions::new(), on_progress: None }
    }

    /// Sets how long the answer may take, counted from the request or from its last progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets how long the answer may take at all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Asks the server to report progress, and says who is told. Reports put off the timeout.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + 'c) -> Self {
        self.options = self.options.progress();
        self.on_progress = Some(Box::new(f));
        self
    }

    /// Sets members of the request's `_meta`: an object.
    pub fn meta(mut self, meta: Json) -> Self {
        self.options = self.options.meta(meta);
        self
    }

    /// Sends the call and waits for its result.
    pub fn call(self) -> Result<CallToolResult, Error> {
        self.run::<CallTool>()
    }

    /// Sends the call and waits for its result, of which the structured content is read into a type of the caller's.
    ///
    /// # Errors
    /// Also if the result has no structured content, or another than was expected
    /// ([`CallError::Structured`]).
    pub fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let Call { client, name, arguments, options, on_progress } = self;
        let result = Call { client: &mut *client, name, arguments, options, on_progress }.call()?;
        result.structured().map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(name) }))
    }

    /// Sends the call and waits for its result, as the JSON that the server sent.
    pub fn raw(self) -> Result<Json, Error> {
        self.run::<CallToolRaw>()
    }

    fn run<M>(self) -> Result<M::Result, Error>
    where
        M: Method,
        for<'a> CallToolParams<'a, A>: Params<M>,
    {
        let Call { client, name, arguments, options, on_progress } = self;
        if client.lacks(name) {
            return Err(client.call_error(CallError::ToolNotFound { tool: name.into(), error: None }));
        }
        let ticket = client.begin::<M>(&CallToolParams { name, arguments: &arguments }, &options)?;
        let result = match on_progress {
            Some(mut on_progress) => client.wait_with(ticket, &mut *on_progress),
            None => client.wait(ticket),
        };
        result.map_err(|error| match error {
            Error::Call { error, .. } => client.explain(name, error),
            other => other,
        })
    }
}
