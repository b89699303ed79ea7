//! Sends requests other than tool calls to servers, such as `resources/read`. [`RunningServer`]: the client of a server, for
//! requests that [`Hub`] has no method for.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use mcpwire_core::{Json, RequestOptions, ServerInfo, Timestamp};
use mcpwire_driver::{Error, McpClient};

use super::attempt::Connection;
use super::calls::{Begun, ToolName};
use super::failures;
use super::hub::Hub;
use super::tools::server_id;
use crate::config::{McpConfig, Timeouts};
use crate::tasks::hub_has_ended;
use crate::{ErrorKind, HubError, Uuid};

/// The client of a running server, for requests that [`Hub`] has no method for: subscriptions, notifications, tasks. Created by
/// [`Hub::running_server`].
///
/// While this value exists, a request counts as in flight: the hub does not let the server sleep, and does not check whether it
/// responds.
pub struct RunningServer {
    connection: Connection,
    tool: String,
    config: Arc<McpConfig>,
    in_flight: Option<Begun>,
}

impl RunningServer {
    /// Returns the client of the server. It is the one that all users of the hub share, so do not shut it down.
    pub fn client(&self) -> &McpClient<()> {
        &self.connection.client
    }

    /// Returns the name that the server uses for the tool of [`Hub::running_server`], or an empty text.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Prepares for a long wait, for example for notifications: the hub checks again whether the server responds. A lazy server
    /// still does not sleep.
    pub fn for_long(mut self) -> Self {
        self.in_flight.take_if(|_| !self.config.lazy);
        self
    }

    /// Waits for a request that [`client`](Self::client) sends.
    ///
    /// # Errors
    /// The error of the request, without secrets. If the hub stops the server meanwhile, the reason.
    pub async fn run<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, HubError> {
        let RunningServer { connection, tool, config, .. } = self;
        let error = match select(pin!(request), connection.calls_failed.clone()).await {
            Either::Left((Ok(value), _)) => return Ok(value),
            Either::Left((Err(error), _)) if tool.is_empty() => {
                failures::of_request(&error, config, &connection.redactor)
            }
            Either::Left((Err(error), _)) => failures::of_call(&error, tool, config, &connection.redactor),
            Either::Right((error, _)) => error.unwrap_or_else(|_| hub_has_ended()),
        };
        Err(error.with_server(config.name.trim()))
    }
}

impl Hub {
    /// Returns the client of a server, for requests that the hub has no method for. Waits until the server runs, but at most for `timeout`,
    /// and starts a sleeping server.
    ///
    /// With `tool`, this counts as a call of that tool, which the server's configuration may deny or limit. The callbacks of the
    /// program, such as [`HubOptions::before_call`](crate::HubOptions::before_call), are not called.
    ///
    /// # Errors
    /// If the server is unknown or does not run, or if its configuration denies the call.
    pub async fn running_server(
        &self,
        id: Uuid,
        tool: Option<&str>,
        timeout: Duration,
    ) -> Result<RunningServer, HubError> {
        self.running_until(id, tool, self.0.state.now() + timeout).await
    }

    async fn running_until(&self, id: Uuid, tool: Option<&str>, by: Timestamp) -> Result<RunningServer, HubError> {
        let (state, id) = (&self.0.state, server_id(id));
        let config = state.config(id)?;
        let begun = state.begin(id, tool.map(ToolName::Any), by).await;
        let begun = begun.map_err(|error| state.with_server(id, error))?;
        let (connection, tool) = (begun.connection.clone(), begun.tool.clone());
        Ok(RunningServer { connection, tool, config, in_flight: Some(begun) })
    }

    /// Sends a request with any method to a server, except `tools/call`, and returns the result as the server sent it. Waits until
    /// the server runs, and starts a sleeping server. `timeout` limits both together; the default is the timeout of tool calls.
    ///
    /// # Errors
    /// If the server is unknown, does not run, or fails to answer. [`ErrorKind::Usage`] for `tools/call`: use
    /// [`Hub::call`], which applies the limits of the server and the callbacks of the program.
    pub async fn request(
        &self,
        id: Uuid,
        method: &str,
        params: Option<&Json>,
        timeout: Option<Duration>,
    ) -> Result<Json, HubError> {
        if method == "tools/call" {
            // Tool calls have limits and callbacks, which must not be avoided.
            let error = HubError::new(ErrorKind::Usage, "tools are called with `Hub::call`").at("method");
            return Err(self.0.state.with_server(server_id(id), error));
        }
        let (state, config) = (&self.0.state, self.0.state.config(server_id(id))?);
        let deadline = state.now() + timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let server = self.running_until(id, None, deadline).await?;
        let left = deadline.duration_since(state.now());
        let options = RequestOptions::new().timeout(left).total_timeout(left);
        server.run(server.client().request_raw_with(method, params, &options)).await
    }

    /// Returns what a server has said about itself: its name, version, capabilities and instructions. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown or does not run.
    pub async fn server_info(&self, id: Uuid) -> Result<ServerInfo, HubError> {
        let timeout = self.0.state.config(server_id(id))?.timeouts.start.unwrap_or(Timeouts::START);
        let server = self.running_server(id, None, timeout).await?;
        server.client().server_info().cloned().ok_or_else(hub_has_ended)
    }

    /// Checks that a server still responds: with `ping`, or with `server/discover` to a modern server. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown, does not run, or does not answer within `timeout`, by default the timeout of tool calls.
    pub async fn ping(&self, id: Uuid, timeout: Option<Duration>) -> Result<(), HubError> {
        let (state, config) = (&self.0.state, self.0.state.config(server_id(id))?);
        let timeout = timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let deadline = state.now() + timeout;
        let server = self.running_until(id, None, deadline).await?;
        let left = deadline.duration_since(state.now());
        let answer = state.settings.tasks.within(left, server.run(server.client().ping())).await;
        answer.unwrap_or_else(|| {
            let message = format!("`ping` timed out after {} s", timeout.as_secs_f64());
            Err(HubError::new(ErrorKind::Timeout, message).with_server(config.name.trim()))
        })
    }
}
