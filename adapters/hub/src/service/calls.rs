//! [`Calls`]: calls of tools, from a name to the outcome.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_core::{CallToolResult, ContentBlock, Json, Progress, Timestamp};
use mcpwire_supervisor::{CallRejection, Command, Generation, ServerId};
use serde::Serialize;

use super::attempts::{Attempts, Connection};
use super::available_tools::{AvailableTools, uuid};
use super::call_hooks::{ToolCall, arguments_to_json};
use super::failures;
use super::options::Settings;
use super::outcome::{CallOptions, CancelSignal, ToolOutcome};
use super::state::{State, hub_has_ended};
use crate::config::{McpConfig, Timeouts};
use crate::redact::Redactor;
use crate::{HubError, HubErrorKind};

/// Maximum number of times a call waits for its server to start. A server may stop again before the call is sent, but
/// rarely twice in a row.
const MAX_WAITS: usize = 2;

/// Makes the tool calls of a hub.
pub(super) struct Calls {
    state: Arc<State>,
    attempts: Arc<Attempts>,
    settings: Arc<Settings>,
}

/// The name of a tool in a call.
#[derive(Clone, Copy)]
enum ToolName<'a> {
    /// An exposed name, or the name that the server uses.
    Any(&'a str),
    /// The name that the server uses.
    OfServer(&'a str),
}

/// A call of a tool that was not made yet. Created by [`Hub::call`](super::Hub::call). It is made when it is awaited.
#[must_use = "a call is made when it is awaited"]
pub struct Call<'a, A> {
    calls: &'a Calls,
    name: &'a str,
    arguments: A,
    options: CallOptions<'a>,
}

impl<'a, A: Serialize + Send + Sync + 'a> Call<'a, A> {
    pub(super) fn new(calls: &'a Calls, name: &'a str, arguments: A) -> Self {
        Call { calls, name, arguments, options: CallOptions::new() }
    }

    /// Replaces all options of the call.
    pub fn options(mut self, options: CallOptions<'a>) -> Self {
        self.options = options;
        self
    }

    /// Sets the maximum time to wait for the result. A progress notification restarts it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets the maximum total duration of the call, regardless of progress.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Sets the callback for progress notifications, and asks the server to send them.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.options = self.options.on_progress(f);
        self
    }

    /// Cancels the call when this future completes, and notifies the server. Dropping the call does the same.
    pub fn cancel_when(mut self, cancel: impl Future<Output = ()> + Send + 'a) -> Self {
        self.options = self.options.cancel_when(cancel);
        self
    }

    /// Makes the call, and returns the text of its result.
    ///
    /// # Errors
    /// Also if the tool failed ([`HubErrorKind::ToolFailed`]).
    pub async fn text(self) -> Result<String, HubError> {
        self.await?.into_text()
    }
}

impl<'a, A: Serialize + Send + Sync + 'a> IntoFuture for Call<'a, A> {
    type Output = Result<ToolOutcome, HubError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.calls.call_by_name(self.name, &self.arguments, self.options).await })
    }
}

impl Calls {
    pub(super) fn new(state: Arc<State>, attempts: Arc<Attempts>, settings: Arc<Settings>) -> Self {
        Calls { state, attempts, settings }
    }

    /// Calls a tool of any server.
    pub(super) async fn call_by_name(
        &self,
        name: &str,
        arguments: &(impl Serialize + Sync),
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let cancel = options.cancel.take();
        let call = async {
            let limit = options.total_timeout.unwrap_or(Timeouts::CALL_MAX);
            let (id, of_server) = self.find(name, limit).await?;
            let tool = of_server.as_deref().map_or(ToolName::Any(name), ToolName::OfServer);
            self.call_server(id, tool, arguments, options).await
        };
        unless_cancelled(name, cancel, call).await
    }

    /// Calls a tool of one server.
    pub(super) async fn call(
        &self,
        id: ServerId,
        name: &str,
        arguments: &(impl Serialize + Sync),
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let cancel = options.cancel.take();
        unless_cancelled(name, cancel, self.call_server(id, ToolName::Any(name), arguments, options)).await
    }

    /// Returns the server to which a tool name belongs, even if that server does not run.
    pub(super) fn server_of(&self, name: &str) -> Option<ServerId> {
        self.find_now(name).map(|(id, _)| id)
    }

    /// Returns the server to which a tool name belongs, as [`find`](Self::find) does.
    pub(super) async fn find_server(&self, name: &str, limit: Duration) -> Result<ServerId, HubError> {
        self.find(name, limit).await.map(|(id, _)| id)
    }

    /// Returns the server to which a tool name belongs, and the name that the server uses, if its tools are known.
    fn find_now(&self, name: &str) -> Option<(ServerId, Option<String>)> {
        let catalogue = self.state.catalogue();
        let found = catalogue.find(name).map(|offered| (offered.server, Some(offered.tool.name.clone())));
        found.or_else(|| Some((self.state.server_of_tool(name)?, None)))
    }

    /// Returns the server to which a tool name belongs, and the name that the server uses, if its tools are known.
    ///
    /// A name without the prefix of its server is unknown until the server has listed its tools. So the search waits for
    /// servers that are starting, as long as their policies let a call wait, and at most until `limit`.
    ///
    /// # Errors
    /// [`HubErrorKind::UnknownTool`], or [`HubErrorKind::Starting`] if a server that is still starting may have the tool.
    pub(super) async fn find(&self, name: &str, limit: Duration) -> Result<(ServerId, Option<String>), HubError> {
        if let Some(found) = self.find_now(name) {
            return Ok(found);
        }
        let mut events = self.state.events();
        let starting = || self.state.read(super::state::Servers::starting);
        if let Some(longest) = starting().into_iter().map(|(_, wait)| wait).max().filter(|wait| !wait.is_zero()) {
            let found = async {
                loop {
                    if let Some(found) = self.find_now(name) {
                        return Some(found);
                    }
                    if starting().is_empty() || events.next().await.is_none() {
                        return None;
                    }
                }
            };
            if let Some(Some(found)) = self.settings.tasks.within(longest.min(limit), found).await {
                return Ok(found);
            }
        }
        Err(self.unknown_tool(name, &starting()))
    }

    fn unknown_tool(&self, name: &str, starting: &[(String, Duration)]) -> HubError {
        let mut error = HubError::unknown_tool(name);
        let catalogue = self.state.catalogue();
        let same: Vec<&str> =
            catalogue.tools().filter(|offered| offered.tool.name == name).map(|offered| offered.exposed).collect();
        if !same.is_empty() {
            error.message.push_str("; several servers have a tool of this name: ");
            error.message.push_str(&same.join(", "));
        } else if !starting.is_empty() {
            let names: Vec<&str> = starting.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!(
                "the tool `{name}` is not known yet: servers that may have it are still starting: {}; try again in a moment",
                names.join(", ")
            );
            return HubError::new(HubErrorKind::Starting, message).at("tool_name");
        }
        error
    }

    async fn call_server(
        &self,
        id: ServerId,
        name: ToolName<'_>,
        arguments: &(impl Serialize + Sync),
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let config = self.state.read(|servers| servers.config(id))?;
        let total = options.total_timeout.or(config.timeouts.call_max).unwrap_or(Timeouts::CALL_MAX);
        let deadline = self.state.now() + total;
        let hooks = &self.settings.call_hooks;
        if hooks.is_empty() {
            let call = self.begin(id, name, deadline).await?;
            return call.send(&config, arguments, options, total).await;
        }
        let arguments = arguments_to_json(arguments)?;
        let call = self.describe(id, &config, name, arguments, deadline).await?;
        hooks.before(&call).await?;
        // A person may have taken longer to answer than the call may take.
        let deadline = self.state.now() + total;
        let outcome = match self.begin(id, ToolName::OfServer(&call.tool), deadline).await {
            Ok(begun) => begun.send(&config, &call.arguments, options, total).await,
            Err(error) => Err(error),
        };
        hooks.after(&call, outcome).await
    }

    /// Describes a call for the callbacks of the program. Waits until the server runs, because the name of the tool and
    /// its definition are not certain before.
    async fn describe(
        &self,
        id: ServerId,
        config: &McpConfig,
        name: ToolName<'_>,
        arguments: Json,
        deadline: Timestamp,
    ) -> Result<ToolCall, HubError> {
        self.state.command(id, Command::PrepareCall { by: deadline }).await?;
        let tool = self.name_of_server(id, name);
        let catalogue = self.state.catalogue();
        let definition = catalogue.tools_of(id).find(|offered| offered.tool.name == tool);
        let definition = definition.map(|offered| offered.tool.clone());
        Ok(ToolCall { server: uuid(id), server_name: config.name.trim().to_owned(), tool, definition, arguments })
    }

    /// Returns the name that the server uses for a tool.
    fn name_of_server(&self, id: ServerId, name: ToolName<'_>) -> String {
        let name = match name {
            ToolName::OfServer(name) => return name.to_owned(),
            ToolName::Any(name) => name,
        };
        let catalogue = self.state.catalogue();
        let is_of_server = catalogue.tools_of(id).any(|offered| offered.tool.name == name);
        let exposed = catalogue.find(name).filter(|offered| offered.server == id && !is_of_server);
        exposed.map_or(name, |offered| &offered.tool.name).to_owned()
    }

    /// Waits until the call can be sent, and counts it.
    async fn begin(&self, id: ServerId, name: ToolName<'_>, deadline: Timestamp) -> Result<BegunCall, HubError> {
        let mut waits = 0;
        loop {
            // Each time, because exposed names are known only once the server has run.
            let tool = self.name_of_server(id, name);
            let begun = self.state.update(|servers, now| {
                let generation = servers.begin_call(id, &tool, now)?;
                let connection = self.attempts.connection((id, generation));
                if connection.is_none() {
                    servers.end_call(id, generation, now);
                }
                Ok((generation, connection))
            });
            match begun {
                Ok((generation, Some(connection))) => {
                    let deadline = (waits > 0).then_some(deadline);
                    let counted = CountedCall { state: Arc::clone(&self.state), id, generation };
                    return Ok(BegunCall { counted, tool, connection, deadline });
                }
                Ok((_, None)) => return Err(hub_has_ended()),
                Err(CallRejection::NotRunning) if waits < MAX_WAITS => {
                    waits += 1;
                    self.state.command(id, Command::PrepareCall { by: deadline }).await?;
                }
                Err(rejection) => return Err(rejection.to_hub_error()),
            }
        }
    }

    /// Returns the tools that can be called.
    pub(super) fn available_tools(&self) -> AvailableTools {
        self.state.refresh_expired();
        AvailableTools::new(self.state.catalogue())
    }
}

/// A call that can be sent.
struct BegunCall {
    counted: CountedCall,
    /// The name that the server uses for the tool.
    tool: String,
    connection: Connection,
    /// The deadline of a call that has waited for its server.
    deadline: Option<Timestamp>,
}

/// Counts a call as in flight until it is dropped.
struct CountedCall {
    state: Arc<State>,
    id: ServerId,
    generation: Generation,
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        let (id, generation) = (self.id, self.generation);
        self.state.update(|servers, now| servers.end_call(id, generation, now));
    }
}

impl BegunCall {
    async fn send(
        self,
        config: &McpConfig,
        arguments: &(impl Serialize + Sync),
        options: CallOptions<'_>,
        total: Duration,
    ) -> Result<ToolOutcome, HubError> {
        let BegunCall { counted, tool, connection, deadline } = self;
        let timeout = options.timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let total = deadline.map_or(total, |deadline| deadline.duration_since(counted.state.now()));
        let mut call = connection.client.call_tool(&tool, arguments).timeout(timeout).total_timeout(total);
        if let Some(progress) = options.progress {
            call = call.on_progress(progress);
        }
        let mut call = pin!(call.call());
        let mut calls_failed = connection.calls_failed.clone();
        let result = poll_fn(|cx| {
            // The call itself has the more precise error.
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                let failure = |error| failures::of_call(&error, &tool, config, &connection.redactor);
                return Poll::Ready(result.map_err(failure));
            }
            Pin::new(&mut calls_failed).poll(cx).map(|error| Err(error.unwrap_or_else(|_| hub_has_ended())))
        });
        let mut result = result.await?;
        if result.is_error {
            redact_error(&mut result, &connection.redactor);
        }
        Ok(ToolOutcome::within(result, &config.limits))
    }
}

/// Removes the secrets from the result of a tool that failed, because servers repeat credentials in their error texts. Other
/// results are data, and stay as they are.
fn redact_error(result: &mut CallToolResult, redactor: &Redactor) {
    if redactor.is_empty() {
        return;
    }
    for block in &mut result.content {
        if let ContentBlock::Text(content) = block {
            content.text = redactor.redact(&content.text);
        }
    }
    for json in [&mut result.structured_content, &mut result.without_content] {
        // `None` if a number was a secret.
        *json = json.take().and_then(|json| Json::parse(redactor.redact(json.get())).ok());
    }
}

/// Waits for a call, or for the signal to cancel it.
async fn unless_cancelled<T>(
    name: &str,
    cancel: Option<CancelSignal<'_>>,
    call: impl Future<Output = Result<T, HubError>>,
) -> Result<T, HubError> {
    let Some(mut cancel) = cancel else { return call.await };
    let mut call = pin!(call);
    poll_fn(|cx| {
        if let Poll::Ready(result) = call.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        let cancelled = || HubError::new(HubErrorKind::Cancelled, format!("the call of `{name}` was cancelled"));
        cancel.as_mut().poll(cx).map(|()| Err(cancelled()))
    })
    .await
}
