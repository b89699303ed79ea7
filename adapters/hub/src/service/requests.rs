//! Sends requests other than tool calls to servers, such as `resources/read`.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use mcpwire_core::{Json, RequestOptions, ServerInfo};

use super::calls::Begun;
use super::failures;
use super::hub::Hub;
use super::tools::server_id;
use crate::config::Timeouts;
use crate::tasks::hub_has_ended;
use crate::{ErrorKind, HubError, Uuid};

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
        let (state, id) = (&self.0.state, server_id(id));
        let sent = async {
            if method == "tools/call" {
                // Tool calls have limits and callbacks, which must not be avoided.
                return Err(HubError::new(ErrorKind::Usage, "tools are called with `Hub::call`").at("method"));
            }
            let config = state.config(id)?;
            let deadline = state.now() + timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
            let Begun { connection, .. } = &state.begin(id, None, deadline).await?;
            let left = deadline.duration_since(state.now());
            let options = RequestOptions::new().timeout(left).total_timeout(left);
            let request = connection.client.request_raw_with(method, params, &options);
            match select(pin!(request), connection.calls_failed.clone()).await {
                Either::Left((result, _)) => {
                    result.map_err(|error| failures::of_request(&error, &config, &connection.redactor))
                }
                Either::Right((error, _)) => Err(error.unwrap_or_else(|_| hub_has_ended())),
            }
        };
        sent.await.map_err(|error| state.with_server(id, error))
    }

    /// Returns what a server has said about itself: its name, version, capabilities and instructions. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown or does not run.
    pub async fn server_info(&self, id: Uuid) -> Result<ServerInfo, HubError> {
        let (state, id) = (&self.0.state, server_id(id));
        let deadline = state.now() + state.config(id)?.timeouts.start.unwrap_or(Timeouts::START);
        let begun = state.begin(id, None, deadline).await.map_err(|error| state.with_server(id, error))?;
        begun.connection.client.server_info().cloned().ok_or_else(hub_has_ended)
    }

    /// Checks that a server still responds: with `ping`, or with `server/discover` to a modern server. Waits until the server runs,
    /// and starts a sleeping server.
    ///
    /// # Errors
    /// If the server is unknown, does not run, or does not answer within `timeout`, by default the timeout of tool calls.
    pub async fn ping(&self, id: Uuid, timeout: Option<Duration>) -> Result<(), HubError> {
        let (state, id) = (&self.0.state, server_id(id));
        let config = state.config(id)?;
        let timeout = timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let deadline = state.now() + timeout;
        let ping = async {
            let Begun { connection, .. } = &state.begin(id, None, deadline).await?;
            let left = deadline.duration_since(state.now());
            let answer = state.settings.tasks.within(left, connection.client.ping()).await.ok_or_else(|| {
                let message = format!("`ping` timed out after {} s", timeout.as_secs_f64());
                HubError::new(ErrorKind::Timeout, message)
            })?;
            answer.map_err(|error| failures::of_request(&error, &config, &connection.redactor))
        };
        ping.await.map_err(|error| state.with_server(id, error))
    }
}
