//! Makes tool calls: finds the server of a tool, starts it if needed, sends the call, and returns the outcome.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use mcpwire_core::{CallError, CallToolResult, ContentBlock, Json, Timestamp, printable};
use mcpwire_supervisor::{CallRejection, Command, Event, Generation, ServerId};
use mcpwire_tool_client::{CallOptions, ToolError};

use super::attempt::Connection;
use super::call_hooks::{ToolCall, pairs_to_object};
use super::failures;
use super::hub_state::HubState;
use super::servers::Servers;
use super::tools::{ToolOutcome, uuid};
use crate::config::{McpConfig, Timeouts};
use crate::redact::Redactor;
use crate::tasks::hub_has_ended;
use crate::{ErrorKind, HubError};

/// Maximum number of times that a tool call or another request waits for its server to start. The server may stop again before
/// the request is sent, but rarely twice in a row.
const MAX_WAITS: usize = 2;

/// The name of a tool in a call, and how to interpret it.
#[derive(Clone, Copy)]
pub(super) enum ToolName<'a> {
    /// The exposed name of the tool (`<server>__<tool>`), or the name that the server uses for the tool.
    Any(&'a str),
    /// The name that the server uses for the tool. It is sent unchanged.
    OfServer(&'a str),
}

impl HubState {
    /// Calls the tool `name` of the server `server`. If `server` is `None`, finds the server by the name: the exposed name
    /// (`<server>__<tool>`), or a tool name that only one server uses.
    pub(super) async fn call(
        self: &Arc<Self>,
        server: Option<ServerId>,
        name: &str,
        arguments: Json,
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let (cancel, total) = (options.take_cancel(), options.take_total_timeout());
        let call = async {
            let (id, tool) = match server {
                Some(id) => (id, None),
                None => self.find_tool(name, total.unwrap_or(Timeouts::CALL_MAX)).await?,
            };
            let config = self.config(id)?;
            let total = total.or(config.timeouts.call_max).unwrap_or(Timeouts::CALL_MAX);
            let name = tool.as_deref().map_or(ToolName::Any(name), ToolName::OfServer);
            let call = ServerCall { hub: self, id, config: &config, name, total };
            call.run(arguments, options).await.map_err(|error| error.with_server(config.name.trim()))
        };
        let Some(cancel) = cancel else { return call.await };
        match select(pin!(call), cancel).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(self.cancelled(server.or_else(|| self.server_of(name)), name)),
        }
    }

    /// Adds the names of the server and the tool to the error of a call that was not sent, because its arguments could not be
    /// serialized.
    pub(super) fn not_sent_by_name(&self, name: &str, error: HubError) -> HubError {
        self.named(self.server_of(name), name, |tool| not_sent(tool, error))
    }

    /// Returns the error of a call that the program has cancelled. The text is the same as that of a client's error.
    fn cancelled(&self, id: Option<ServerId>, name: &str) -> HubError {
        self.named(id, name, |tool| {
            let text = CallError::Cancelled { method: "tools/call".into() }.of_tool(tool).to_string();
            HubError::new(ErrorKind::Cancelled, text).with_tool(tool)
        })
    }

    /// Returns the error that `error` makes from the name that the server `id` uses for the tool `name`, with the name of the
    /// server.
    fn named(&self, id: Option<ServerId>, name: &str, error: impl FnOnce(&str) -> HubError) -> HubError {
        let Some(id) = id else { return error(name) };
        self.with_server(id, error(&self.name_of_server(id, ToolName::Any(name))))
    }

    /// Adds the name of the server `id` to an error, if the server exists.
    pub(super) fn with_server(&self, id: ServerId, error: HubError) -> HubError {
        match self.config(id) {
            Ok(config) => error.with_server(config.name.trim()),
            Err(_) => error,
        }
    }

    /// Returns the server to which the tool name `name` belongs, even if that server does not run. Returns `None` if the name
    /// belongs to no server.
    pub(super) fn server_of(&self, name: &str) -> Option<ServerId> {
        self.find_now(name).map(|(id, _)| id)
    }

    /// Returns the server to which the tool name `name` belongs, without waiting for servers that are starting. The second value
    /// is the name that the server uses for the tool. It is `None` if the tools of the server are not known.
    fn find_now(&self, name: &str) -> Option<(ServerId, Option<String>)> {
        let catalogue = self.catalogue();
        let found = catalogue.find(name).map(|offered| (offered.server, Some(offered.tool.name.clone())));
        found.or_else(|| Some((self.lock().supervisor.server_of_tool(name)?, None)))
    }

    /// Returns the server to which the tool name `name` belongs. The second value is the name that the server uses for the tool.
    /// It is `None` if the tools of the server are not known.
    ///
    /// Until a server has listed its tools, a tool name without the prefix of the server is unknown. The search therefore waits
    /// for servers that are starting, for the longest `Policy::call_wait_start` of these servers, but at most for `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::ToolNotFound`] if no server has the tool. [`ErrorKind::Starting`] if a server that is still starting may have
    /// the tool.
    pub(super) async fn find_tool(&self, name: &str, limit: Duration) -> Result<(ServerId, Option<String>), HubError> {
        if let Some(found) = self.find_now(name) {
            return Ok(found);
        }
        let mut events = self.events();
        let starting = || Servers::starting(&self.lock());
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
        let catalogue = self.catalogue();
        let same: Vec<&str> =
            catalogue.tools().filter(|offered| offered.tool.name == name).map(|offered| offered.exposed).collect();
        if !same.is_empty() {
            let message = format!("{}; several servers have a tool of this name: {}", error.message(), same.join(", "));
            return error.with_message(message);
        }
        if starting.is_empty() {
            return error;
        }
        let names: Vec<&str> = starting.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!(
            "the tool `{name}` is not known yet: servers that may have it are still starting: {}; try again in a moment",
            names.join(", ")
        );
        HubError::new(ErrorKind::Starting, message).at("tool_name").with_tool(name)
    }

    /// Returns the name that the server `id` uses for a tool. Converts an exposed name (`<server>__<tool>`) of this server, and
    /// returns any other name unchanged.
    fn name_of_server(&self, id: ServerId, name: ToolName<'_>) -> String {
        let name = match name {
            ToolName::OfServer(name) => return name.to_owned(),
            ToolName::Any(name) => name,
        };
        let catalogue = self.catalogue();
        let is_of_server = catalogue.tools_of(id).any(|offered| offered.tool.name == name);
        let exposed = catalogue.find(name).filter(|offered| offered.server == id && !is_of_server);
        if let Some(offered) = exposed {
            return offered.tool.name.clone();
        }
        // The server has not listed a tool of this name, so it may be an exposed name with the prefix of the server. If so, the
        // prefix is removed.
        let is_prefixed = !is_of_server && self.lock().supervisor.server_of_tool(name) == Some(id);
        let without_prefix = name.split_once("__").filter(|_| is_prefixed).map(|(_, tool)| tool);
        without_prefix.unwrap_or(name).to_owned()
    }

    /// Waits until the server runs, but at most until `deadline`, and counts a request as in flight: the call of the tool `tool`,
    /// or another request if `tool` is `None`. Returns an error if the supervisor rejects the request, for example because of a
    /// rate limit.
    pub(super) async fn begin(
        self: &Arc<Self>,
        id: ServerId,
        tool: Option<ToolName<'_>>,
        deadline: Timestamp,
    ) -> Result<Begun, HubError> {
        let mut waits = 0;
        loop {
            // The name is looked up again after each wait, because exposed names are known only after the server has run.
            let tool = tool.map(|name| self.name_of_server(id, name));
            let begun = self.update(|servers, now| {
                let generation = match &tool {
                    Some(tool) => servers.supervisor.begin_call(id, tool, now)?,
                    None => servers.supervisor.begin_request(id, now)?,
                };
                let Some(connection) = servers.attempt(id, generation).and_then(|attempt| attempt.connection()) else {
                    servers.supervisor.end_call(id, generation, now);
                    return Err(CallRejection::Error(hub_has_ended()));
                };
                Ok((generation, connection))
            });
            match begun {
                Ok((generation, connection)) => {
                    let (hub, tool, has_waited) = (Arc::clone(self), tool.unwrap_or_default(), waits > 0);
                    return Ok(Begun { hub, id, generation, connection, tool, has_waited });
                }
                Err(CallRejection::NotRunning) if waits < MAX_WAITS => {
                    waits += 1;
                    self.prepare(id, deadline).await?;
                }
                Err(rejection) => return Err(rejection.to_hub_error()),
            }
        }
    }

    /// Waits until the server runs, and starts a sleeping server. If the server waits for a login, checks first whether the user
    /// has logged in meanwhile.
    pub(super) async fn prepare(self: &Arc<Self>, id: ServerId, deadline: Timestamp) -> Result<(), HubError> {
        let prepare = || self.command(id, Command::PrepareCall { by: deadline });
        let error = match prepare().await {
            Err(error) if matches!(error.kind(), ErrorKind::LoginRequired | ErrorKind::Unauthorized) => error,
            result => return result,
        };
        if !self.look_at_login(id).await {
            return Err(error);
        }
        let limit = deadline.duration_since(self.now());
        // The result is ignored: if the server does not start, the next `prepare` returns the reason.
        let _ = self.settings.tasks.within(limit, self.command(id, Command::Boot)).await;
        prepare().await
    }
}

/// A tool call whose server is known, before it is sent.
struct ServerCall<'a> {
    hub: &'a Arc<HubState>,
    id: ServerId,
    config: &'a McpConfig,
    name: ToolName<'a>,
    /// Maximum total duration of the call, including the time in which it waits for its server to start.
    total: Duration,
}

/// A tool call or another request that the supervisor has accepted and counts as in flight, with the connection to send it over.
/// Dropping this value ends the count.
pub(super) struct Begun {
    hub: Arc<HubState>,
    id: ServerId,
    generation: Generation,
    pub(super) connection: Connection,
    /// The name that the server uses for the tool. Empty if the request is no tool call.
    pub(super) tool: String,
    /// Whether the request has waited for its server to start. Its timeout began before this wait. Otherwise, the full timeout
    /// begins when the request is sent.
    has_waited: bool,
}

impl ServerCall<'_> {
    /// Asks the callbacks of the program, and makes the call if they allow it.
    async fn run(&self, arguments: Json, options: CallOptions<'_>) -> Result<ToolOutcome, HubError> {
        let not_sent_here = |error| not_sent(&self.hub.name_of_server(self.id, self.name), error);
        let hooks = &self.hub.settings.callbacks.calls;
        if hooks.is_empty() {
            let deadline = self.hub.now() + self.total;
            let begun = self.hub.begin(self.id, Some(self.name), deadline).await.map_err(not_sent_here)?;
            return self.send(begun, deadline, &arguments, options).await;
        }
        let call = self.describe(arguments).await.map_err(not_sent_here)?;
        hooks.before(&call).await?;
        // The callback may have asked a person, which may have taken longer than the timeout of the call. The timeout therefore
        // begins again here.
        let deadline = self.hub.now() + self.total;
        let outcome = match self.hub.begin(self.id, Some(ToolName::OfServer(&call.tool)), deadline).await {
            Ok(begun) => self.send(begun, deadline, &call.arguments, options).await,
            Err(error) => Err(not_sent(&call.tool, error)),
        };
        hooks.after(&call, outcome).await
    }

    /// Describes the tool call for the callbacks of the program, such as
    /// [`HubOptions::before_call`](super::HubOptions::before_call). Waits until the server runs, because the definition of the
    /// tool is known only then.
    async fn describe(&self, arguments: Json) -> Result<ToolCall, HubError> {
        let deadline = self.hub.now() + self.total;
        let arguments = pairs_to_object(arguments)?;
        self.hub.prepare(self.id, deadline).await?;
        let tool = self.hub.name_of_server(self.id, self.name);
        let catalogue = self.hub.catalogue();
        let definition = catalogue.tools_of(self.id).find(|offered| offered.tool.name == tool);
        let definition = definition.map(|offered| offered.tool.clone());
        let server_name = self.config.name.trim().to_owned();
        Ok(ToolCall { server: uuid(self.id), server_name, tool, definition, arguments })
    }

    async fn send(
        &self,
        begun: Begun,
        deadline: Timestamp,
        arguments: &Json,
        mut options: CallOptions<'_>,
    ) -> Result<ToolOutcome, HubError> {
        let (tool, connection) = (begun.tool.as_str(), &begun.connection);
        let timeout = options.take_timeout().or(self.config.timeouts.call).unwrap_or(Timeouts::CALL);
        let total = if begun.has_waited { deadline.duration_since(self.hub.now()) } else { self.total };
        let mut call = connection.client.call_tool(tool, arguments).timeout(timeout).total_timeout(total);
        if let Some(progress) = options.take_on_progress() {
            call = call.on_progress(progress);
        }
        if let Some(meta) = options.take_meta() {
            call = call.meta(meta);
        }
        let unsupported = |error: ToolError| HubError::new(error.kind(), error.to_string()).with_tool(tool);
        options.check_all_taken(tool).map_err(unsupported)?;
        // The call is polled before the failure signal, because the call's own error is more precise.
        let result = match select(pin!(call.send()), connection.calls_failed.clone()).await {
            Either::Left((result, _)) => {
                result.map_err(|error| failures::of_call(&error, tool, self.config, &connection.redactor))
            }
            Either::Right((error, _)) => Err(no_answer(tool, error.unwrap_or_else(|_| hub_has_ended()))),
        };
        let mut result = match result {
            Err(error) if error.kind() == ErrorKind::LoginRequired => {
                begun.end_and_probe();
                return Err(error);
            }
            result => result?,
        };
        if result.is_error {
            redact_error(&mut result, &connection.redactor);
        }
        Ok(ToolOutcome::within(result, &self.config.limits).of_tool(self.config.name.trim(), tool))
    }
}

impl Begun {
    /// Ends the count, and lets the supervisor probe the server. A failed probe shows that the whole server needs a login. A
    /// login for this tool alone, for example with more scopes, does not stop the server.
    fn end_and_probe(self) {
        let (hub, id, generation) = (Arc::clone(&self.hub), self.id, self.generation);
        drop(self);
        hub.event(id, generation, Event::ConnectionSuspect);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let (id, generation) = (self.id, self.generation);
        self.hub.update(|servers, now| servers.supervisor.end_call(id, generation, now));
    }
}

/// Adds the name of the tool to the error of a call, and says in the message that the call was not sent. An error that already
/// names its tool is not changed. The message of an error that asks the user to log in is kept.
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

/// Adds the name of the tool to the error with which the hub has failed a pending call, for example because the server has
/// stopped.
fn no_answer(tool: &str, error: HubError) -> HubError {
    let message = format!("`tools/call` of `{}` got no answer: {}", printable(tool), error.message());
    error.with_message(message).with_tool(tool)
}

/// Removes secrets from the result of a failed tool, because servers repeat credentials in their error texts. Does not change the
/// result of a successful tool, which is data.
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
        // If a number was a secret, its replacement is not valid JSON. The whole value is then removed.
        *json = json.take().and_then(|json| Json::parse(redactor.redact(json.get())).ok());
    }
}
