//! Sends requests other than tool calls to servers, such as `resources/read`.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use mcpwire_core::{Json, RequestOptions, ServerInfo};
use mcpwire_supervisor::{CallRejection, Generation, ServerId};

use super::attempt::Connection;
use super::failures;
use super::hub::Hub;
use super::hub_state::HubState;
use super::tools::server_id;
use crate::config::Timeouts;
use crate::tasks::hub_has_ended;
use crate::{ErrorKind, HubError, Uuid};

/// Maximum number of times that a request waits for its server to start. The server may stop again before the request is sent,
/// but rarely twice in a row.
const MAX_WAITS: usize = 2;

impl HubState {
    /// Sends a request to a server, and returns the result as the server sent it. Waits until the server runs, and starts a
    /// sleeping server. `timeout` limits both together; the default is the timeout of tool calls.
    pub(super) async fn send_request(
        self: &Arc<Self>,
        id: ServerId,
        method: &str,
        params: Option<&Json>,
        timeout: Option<Duration>,
    ) -> Result<Json, HubError> {
        let config = self.config(id)?;
        let with_server = |error: HubError| error.with_server(config.name.trim());
        if method == "tools/call" {
            // Tool calls have limits and callbacks, which must not be avoided.
            return Err(with_server(HubError::new(ErrorKind::Usage, "tools are called with `Hub::call`").at("method")));
        }
        let timeout = timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let deadline = self.now() + timeout.max(config.timeouts.start.unwrap_or_default());
        let (counted, connection) = self.begin_request(id, timeout).await.map_err(with_server)?;
        let left = deadline.duration_since(self.now()).min(timeout);
        let options = RequestOptions::new().timeout(left).total_timeout(left);
        let request = connection.client.request_raw_with(method, params, &options);
        let result = match select(pin!(request), connection.calls_failed).await {
            Either::Left((result, _)) => {
                result.map_err(|error| failures::of_request(&error, &config, &connection.redactor))
            }
            Either::Right((error, _)) => Err(error.unwrap_or_else(|_| hub_has_ended())),
        };
        drop(counted);
        result.map_err(with_server)
    }

    /// Waits until the server runs, and counts a request as in flight.
    async fn begin_request(
        self: &Arc<Self>,
        id: ServerId,
        timeout: Duration,
    ) -> Result<(CountedRequest, Connection), HubError> {
        let mut waits = 0;
        loop {
            let begun = self.update(|servers, now| {
                let generation = servers.supervisor.begin_request(id, now)?;
                let connection = servers.attempt(id, generation).and_then(|attempt| attempt.connection());
                if connection.is_none() {
                    servers.supervisor.end_call(id, generation, now);
                }
                Ok(connection.map(|connection| (generation, connection)))
            });
            match begun {
                Ok(Some((generation, connection))) => {
                    return Ok((CountedRequest { hub: Arc::clone(self), id, generation }, connection));
                }
                Ok(None) => return Err(hub_has_ended()),
                Err(CallRejection::NotRunning) if waits < MAX_WAITS => {
                    waits += 1;
                    self.prepare(id, self.now() + timeout).await?;
                }
                Err(rejection) => return Err(rejection.to_hub_error()),
            }
        }
    }
}

impl Hub {
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
        self.0.state.send_request(server_id(id), method, params, timeout).await
    }

    /// Returns what a server has said about itself: its name, version, capabilities and instructions. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown or does not run.
    pub async fn server_info(&self, id: Uuid) -> Result<ServerInfo, HubError> {
        let state = &self.0.state;
        let config = state.config(server_id(id))?;
        let begun = state.begin_request(server_id(id), config.timeouts.start.unwrap_or(Timeouts::START)).await;
        let (_counted, connection) = begun.map_err(|error| error.with_server(config.name.trim()))?;
        connection.client.server_info().cloned().ok_or_else(hub_has_ended)
    }

    /// Checks that a server still responds: with `ping`, or with `server/discover` to a modern server. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown, does not run, or does not answer within `timeout`, by default the timeout of tool calls.
    pub async fn ping(&self, id: Uuid, timeout: Option<Duration>) -> Result<(), HubError> {
        let state = &self.0.state;
        let config = state.config(server_id(id))?;
        let timeout = timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let with_server = |error: HubError| error.with_server(config.name.trim());
        let (_counted, connection) = state.begin_request(server_id(id), timeout).await.map_err(with_server)?;
        let answered = state.settings.tasks.within(timeout, connection.client.ping()).await;
        match answered {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(with_server(failures::of_request(&error, &config, &connection.redactor))),
            None => {
                Err(with_server(HubError::new(ErrorKind::Timeout, format!("no response to a ping within {timeout:?}"))))
            }
        }
    }
}

/// A request that the supervisor counts as in flight. Dropping this value ends it for the supervisor.
struct CountedRequest {
    hub: Arc<HubState>,
    id: ServerId,
    generation: Generation,
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        self.hub.update(|servers, now| servers.supervisor.end_call(self.id, self.generation, now));
    }
}
