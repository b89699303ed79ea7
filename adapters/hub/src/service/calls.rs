//! [`Calls`] makes tool calls: finds the server of a tool, sends the call, and returns the outcome.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_core::{CallError, CallToolResult, ContentBlock, Json, Timestamp, printable};
use mcpwire_supervisor::{CallRejection, Command, Event, Generation, ServerId};
use mcpwire_tool_client::{CallOptions, CancelSignal, ToolError};

use super::attempts::{Attempts, Connection};
use super::available_tools::{AvailableTools, uuid};
use super::call_hooks::{ToolCall, pairs_to_object};
use super::failures;
use super::login_watch;
use super::options::Settings;
use super::outcome::ToolOutcome;
use super::state::{State, hub_has_ended};
use crate::config::{McpConfig, Timeouts};
use crate::redact::Redactor;
use crate::{ErrorKind, HubError};

/// Maximum number of times that a tool call waits for its server to start. A server may stop again before the call is
/// sent, but rarely twice in a row.
const MAX_WAITS: usize = 2;

/// Makes the tool calls of a hub: finds the server, applies the callbacks of the program, and sends the call.
pub(super) struct Calls {
    state: Arc<State>,
    attempts: Arc<Attempts>,
    settings: Arc<Settings>,
}

/// The name of a tool in a call: an exposed name (`<server>__<tool>`) or the name that the server uses.
#[derive(Clone, Copy)]
enum ToolName<'a> {
    /// The exposed name of the tool (`<server>__<tool>`), or the name that the server uses for the tool.
    Any(&'a str),
    /// The name that the server uses for the tool.
    OfServer(&'a str),
}

impl Calls {
    pub(super) fn new(state: Arc<State>, attempts: Arc<Attempts>, settings: Arc<Settings>) -> Self {
        Calls { state, attempts, settings }
    }

    /// Finds the server of the tool `name`, and calls the tool. The name is an exposed name (`<server>__<tool>`), or a
    /// name that only one server uses.
    pub(super) async fn call_by_name(
        &self,
        name: &str,
        arguments: Json,
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let (cancel, total) = (options.take_cancel(), options.take_total_timeout());
        let call = async {
            let (id, of_server) = self.find(name, total.unwrap_or(Timeouts::CALL_MAX)).await?;
            let tool = of_server.as_deref().map_or(ToolName::Any(name), ToolName::OfServer);
            self.call_server(id, tool, arguments, total, options).await
        };
        unless_cancelled(cancel, || self.cancelled(self.server_of(name), name), call).await
    }

    /// Calls the tool `name` of the server `id`.
    pub(super) async fn call(
        &self,
        id: ServerId,
        name: &str,
        arguments: Json,
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let (cancel, total) = (options.take_cancel(), options.take_total_timeout());
        let call = self.call_server(id, ToolName::Any(name), arguments, total, options);
        unless_cancelled(cancel, || self.cancelled(Some(id), name), call).await
    }

    /// Adds the names of the server and the tool to the error of a call whose arguments could not be serialized.
    pub(super) fn not_sent_by_name(&self, name: &str, error: HubError) -> HubError {
        let Some(id) = self.server_of(name) else { return not_sent(name, error) };
        let error = self.not_sent(id, ToolName::Any(name), error);
        match self.state.read(|servers| servers.config(id)) {
            Ok(config) => error.with_server(config.name.trim()),
            Err(_) => error,
        }
    }

    /// Returns the error of a call that the program has cancelled. Its text is that of a client.
    fn cancelled(&self, id: Option<ServerId>, name: &str) -> HubError {
        let tool = id.map_or_else(|| name.to_owned(), |id| self.name_of_server(id, ToolName::Any(name)));
        let text = CallError::Cancelled { method: "tools/call".into() }.of_tool(&tool).to_string();
        let error = HubError::new(ErrorKind::Cancelled, text).with_tool(&tool);
        match id.and_then(|id| self.state.read(|servers| servers.config(id)).ok()) {
            Some(config) => error.with_server(config.name.trim()),
            None => error,
        }
    }

    /// Returns the server to which a tool name belongs, even if that server does not run. Returns `None` if the name
    /// belongs to no server.
    pub(super) fn server_of(&self, name: &str) -> Option<ServerId> {
        self.find_now(name).map(|(id, _)| id)
    }

    /// Returns the server to which a tool name belongs. Waits for at most `limit` for servers that are starting,
    /// because they may have the tool.
    pub(super) async fn find_server(&self, name: &str, limit: Duration) -> Result<ServerId, HubError> {
        self.find(name, limit).await.map(|(id, _)| id)
    }

    /// Returns the server to which a tool name belongs, without waiting for servers that are starting. The second value
    /// is the name that the server uses for the tool, or `None` if the tools of the server are not known.
    fn find_now(&self, name: &str) -> Option<(ServerId, Option<String>)> {
        let catalogue = self.state.catalogue();
        let found = catalogue.find(name).map(|offered| (offered.server, Some(offered.tool.name.clone())));
        found.or_else(|| Some((self.state.server_of_tool(name)?, None)))
    }

    /// Returns the server to which a tool name belongs. The second value is the name that the server uses for the tool,
    /// or `None` if the tools of the server are not known.
    ///
    /// A tool name without the prefix of its server is unknown until the server has listed its tools. So the search
    /// waits for servers that are starting, as long as their `Policy::call_wait_start` allows, but at most for `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::ToolNotFound`] if no server has the tool, or [`ErrorKind::Starting`] if a server that is still
    /// starting may have the tool.
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
        let error = HubError::unknown_tool(name);
        let catalogue = self.state.catalogue();
        let same: Vec<&str> =
            catalogue.tools().filter(|offered| offered.tool.name == name).map(|offered| offered.exposed).collect();
        if !same.is_empty() {
            let message = format!("{}; several servers have a tool of this name: {}", error.message(), same.join(", "));
            return error.with_message(message);
        } else if !starting.is_empty() {
            let names: Vec<&str> = starting.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!(
                "the tool `{name}` is not known yet: servers that may have it are still starting: {}; try again in a moment",
                names.join(", ")
            );
            return HubError::new(ErrorKind::Starting, message).at("tool_name").with_tool(name);
        }
        error
    }

    async fn call_server(
        &self,
        id: ServerId,
        name: ToolName<'_>,
        arguments: Json,
        total: Option<Duration>,
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let config = self.state.read(|servers| servers.config(id))?;
        let result = self.call_configured(id, &config, name, arguments, total, options).await;
        result.map_err(|error| error.with_server(config.name.trim()))
    }

    async fn call_configured(
        &self,
        id: ServerId,
        config: &McpConfig,
        name: ToolName<'_>,
        arguments: Json,
        total: Option<Duration>,
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let total = total.or(config.timeouts.call_max).unwrap_or(Timeouts::CALL_MAX);
        let deadline = self.state.now() + total;
        let hooks = &self.settings.call_hooks;
        if hooks.is_empty() {
            let call = self.begin(id, name, deadline).await.map_err(|error| self.not_sent(id, name, error))?;
            return call.send(config, &arguments, options, total).await;
        }
        let describe = async {
            let arguments = pairs_to_object(arguments)?;
            self.describe(id, config, name, arguments, deadline).await
        };
        let call = describe.await.map_err(|error| self.not_sent(id, name, error))?;
        hooks.before(&call).await?;
        // The callback may have asked a person, who may have taken longer than the timeout of the call. So the time
        // starts again.
        let deadline = self.state.now() + total;
        let outcome = match self.begin(id, ToolName::OfServer(&call.tool), deadline).await {
            Ok(begun) => begun.send(config, &call.arguments, options, total).await,
            Err(error) => Err(not_sent(&call.tool, error)),
        };
        hooks.after(&call, outcome).await
    }

    /// Adds the name of the tool to the error of a call that was not sent.
    fn not_sent(&self, id: ServerId, name: ToolName<'_>, error: HubError) -> HubError {
        not_sent(&self.name_of_server(id, name), error)
    }

    /// Describes a tool call for the callbacks of the application that embeds the hub, such as
    /// [`HubOptions::before_call`](super::HubOptions::before_call).
    async fn describe(
        &self,
        id: ServerId,
        config: &McpConfig,
        name: ToolName<'_>,
        arguments: Json,
        deadline: Timestamp,
    ) -> Result<ToolCall, HubError> {
        self.prepare(id, deadline).await?;
        let tool = self.name_of_server(id, name);
        let catalogue = self.state.catalogue();
        let definition = catalogue.tools_of(id).find(|offered| offered.tool.name == tool);
        let definition = definition.map(|offered| offered.tool.clone());
        Ok(ToolCall { server: uuid(id), server_name: config.name.trim().to_owned(), tool, definition, arguments })
    }

    /// Returns the name that the server `id` uses for a tool. A name that is neither an exposed name of this server, nor begins
    /// with its prefix, is returned unchanged.
    fn name_of_server(&self, id: ServerId, name: ToolName<'_>) -> String {
        let name = match name {
            ToolName::OfServer(name) => return name.to_owned(),
            ToolName::Any(name) => name,
        };
        let catalogue = self.state.catalogue();
        let is_of_server = catalogue.tools_of(id).any(|offered| offered.tool.name == name);
        let exposed = catalogue.find(name).filter(|offered| offered.server == id && !is_of_server);
        if let Some(offered) = exposed {
            return offered.tool.name.clone();
        }
        // A server that does not have the tool does not have it under the name without the prefix.
        let is_prefixed = !is_of_server && self.state.server_of_tool(name) == Some(id);
        let without_prefix = name.split_once("__").filter(|_| is_prefixed).map(|(_, tool)| tool);
        without_prefix.unwrap_or(name).to_owned()
    }

    /// Waits for at most `timeout` until the server runs.
    pub(super) async fn wait_for_server(&self, id: ServerId, timeout: Duration) -> Result<(), HubError> {
        self.prepare(id, self.state.now() + timeout).await
    }

    /// Waits until the server runs. If the server waits for a login, looks first whether the login is stored now.
    async fn prepare(&self, id: ServerId, deadline: Timestamp) -> Result<(), HubError> {
        let prepare = || self.state.command(id, Command::PrepareCall { by: deadline });
        let error = match prepare().await {
            Err(error) if matches!(error.kind(), ErrorKind::LoginRequired | ErrorKind::Unauthorized) => error,
            result => return result,
        };
        if !login_watch::look_at(&self.state, &self.settings, id).await {
            return Err(error);
        }
        let limit = deadline.duration_since(self.state.now());
        // If the server does not start, `prepare` says why.
        let _ = self.settings.tasks.within(limit, self.state.command(id, Command::Boot)).await;
        prepare().await
    }

    /// Waits until the server runs, and counts the tool call as in flight. Fails if the server does not accept the
    /// call.
    async fn begin(&self, id: ServerId, name: ToolName<'_>, deadline: Timestamp) -> Result<BegunCall, HubError> {
        let mut waits = 0;
        loop {
            // The name is looked up after each wait, because exposed names are known only once the server has run.
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
                    self.prepare(id, deadline).await?;
                }
                Err(rejection) => return Err(rejection.to_hub_error()),
            }
        }
    }

    /// Returns a snapshot of the tools that can be called. Requests expired tool lists again, but does not wait for
    /// them.
    pub(super) fn available_tools(&self) -> AvailableTools {
        self.state.refresh_expired();
        AvailableTools::new(self.state.catalogue())
    }
}

/// A tool call that counts as in flight, and can now be sent to the server.
struct BegunCall {
    counted: CountedCall,
    /// The name that the server uses for the tool.
    tool: String,
    connection: Connection,
    /// The time at which the call fails, if the call has waited for its server to start. `None` if the call has not
    /// waited, so that its full timeout remains.
    deadline: Option<Timestamp>,
}

/// Counts a tool call as in flight until this value is dropped.
struct CountedCall {
    state: Arc<State>,
    id: ServerId,
    generation: Generation,
}

impl CountedCall {
    /// Ends the call, and has the server probed. The server may want a login for this tool alone, for example with more scopes.
    fn end_and_probe(self) {
        let (state, id, generation) = (Arc::clone(&self.state), self.id, self.generation);
        drop(self);
        state.event(id, generation, Event::ConnectionSuspect);
    }
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
        arguments: &Json,
        mut options: CallOptions<'_>,
        total: Duration,
    ) -> Result<ToolOutcome, HubError> {
        let BegunCall { counted, tool, connection, deadline } = self;
        let timeout = options.take_timeout().or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let total = deadline.map_or(total, |deadline| deadline.duration_since(counted.state.now()));
        let mut call = connection.client.call_tool(&tool, arguments).timeout(timeout).total_timeout(total);
        if let Some(progress) = options.take_on_progress() {
            call = call.on_progress(progress);
        }
        if let Some(meta) = options.take_meta() {
            call = call.meta(meta);
        }
        let unsupported = |error: ToolError| HubError::new(error.kind(), error.to_string()).with_tool(&tool);
        options.check_all_taken(&tool).map_err(unsupported)?;
        let mut call = pin!(call.send());
        let mut calls_failed = connection.calls_failed.clone();
        let result = poll_fn(|cx| {
            // The call is polled first, because its own error is more precise.
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                let failure = |error| failures::of_call(&error, &tool, config, &connection.redactor);
                return Poll::Ready(result.map_err(failure));
            }
            Pin::new(&mut calls_failed)
                .poll(cx)
                .map(|error| Err(no_answer(&tool, error.unwrap_or_else(|_| hub_has_ended()))))
        });
        let result = result.await;
        if matches!(&result, Err(error) if error.kind() == ErrorKind::LoginRequired) {
            counted.end_and_probe();
        }
        let mut result = result?;
        if result.is_error {
            redact_error(&mut result, &connection.redactor);
        }
        Ok(ToolOutcome::within(result, &config.limits).of_tool(config.name.trim(), &tool))
    }
}

/// Adds the name of the tool to the error of a call that was not sent, as the errors of the clients say it. An error that names the
/// tool, or a login that the user needs first, is not changed otherwise.
fn not_sent(tool: &str, error: HubError) -> HubError {
    match error.tool() {
        Some(_) => error,
        None if error.kind() == ErrorKind::LoginRequired => error.with_tool(tool),
        None => {
            let message = format!("`tools/call` of `{}` was not sent: {}", printable(tool), error.message());
            error.with_message(message).with_tool(tool)
        }
    }
}

/// Adds the name of the tool to the error with which the hub ends the calls of a server.
fn no_answer(tool: &str, error: HubError) -> HubError {
    let message = format!("`tools/call` of `{}` got no answer: {}", printable(tool), error.message());
    error.with_message(message).with_tool(tool)
}

/// Removes secrets from the result of a tool that failed, because servers repeat credentials in their error texts. The
/// results of successful tools are data, and are not changed.
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
        // If a number was a secret, its replacement is not valid JSON, and the value is removed.
        *json = json.take().and_then(|json| Json::parse(redactor.redact(json.get())).ok());
    }
}

/// Waits for the result of `call`. If the future `cancel` completes first, returns the error `cancelled`.
async fn unless_cancelled<T>(
    cancel: Option<CancelSignal<'_>>,
    cancelled: impl Fn() -> HubError,
    call: impl Future<Output = Result<T, HubError>>,
) -> Result<T, HubError> {
    let Some(mut cancel) = cancel else { return call.await };
    let mut call = pin!(call);
    poll_fn(|cx| {
        if let Poll::Ready(result) = call.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        cancel.as_mut().poll(cx).map(|()| Err(cancelled()))
    })
    .await
}
