//! [`Call`]: a tool call with its options, which is sent when a program awaits it.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{Json, Progress};
use mcpwire_tool_client::CallOptions;
use serde::Serialize;

use super::call_hooks::arguments_to_json;
use super::hub_state::OpenHub;
use super::mcp_service::ServiceFuture;
use super::tools::ToolOutcome;
use crate::HubError;

/// A tool call that was not sent yet. Created by [`Hub::call`](super::Hub::call), and sent when the program awaits it.
///
/// A call owns the name of the tool and the serialized arguments, and keeps the hub open like a clone of it. It borrows only what
/// its options borrow. Without such options, the future of [`Call::send`] is `'static`. It can then be spawned even if the name
/// and the arguments were borrowed: `set.spawn(hub.call(&name, &arguments).send())`.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'c> {
    /// Keeps the hub open while the call is pending.
    hub: Arc<OpenHub>,
    name: Box<str>,
    /// The arguments as JSON, or the error of their serialization. [`Call::send`] returns this error.
    arguments: Result<Json, HubError>,
    options: CallOptions<'c>,
}

impl<'c> Call<'c> {
    pub(super) fn new(hub: Arc<OpenHub>, name: &str, arguments: &impl Serialize) -> Self {
        Call { hub, name: name.into(), arguments: arguments_to_json(arguments), options: CallOptions::new() }
    }

    /// Replaces all options of the call, such as its timeouts and its callback for progress.
    pub fn options(mut self, options: CallOptions<'c>) -> Self {
        self.options = options;
        self
    }

    mcpwire_client::option_setters! {
        /// Sets the maximum time to wait for the result of the call. Each progress notification from the server restarts this time.
        /// By default, the timeout is that of the server's configuration.
        fn timeout(timeout: Duration);

        /// Sets the maximum total duration of the call, which progress notifications do not extend. It includes the time in which
        /// the call waits for its server to start.
        fn total_timeout(timeout: Duration);

        /// Sets the callback for progress notifications about this call, and asks the server to send such notifications.
        fn on_progress(f: impl FnMut(&Progress) + Send + 'c);

        /// Cancels the call when the future `cancel` completes, and notifies the server of the cancellation. Dropping the call has
        /// the same effect.
        fn cancel_when(cancel: impl Future<Output = ()> + Send + 'c);
    }

    /// Sends the call, and waits for its outcome: the result of the tool, or the error of the call.
    ///
    /// This is the same as awaiting the call itself. The first poll of the future sends the call.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the arguments do not serialize to a JSON object or a list of pairs.
    /// Otherwise, [`HubError::kind`] says why the call has no result. A tool that ran and failed has a result, so this is not an
    /// error.
    ///
    /// # Cancel safety
    /// Dropping the future before its end cancels the call, and notifies the server. The tool may have run, or may still run. If
    /// the call has started the server, the start continues.
    pub fn send(self) -> ServiceFuture<'c, ToolOutcome> {
        let Call { hub, name, arguments, options } = self;
        Box::pin(async move {
            let hub = &hub.state;
            let arguments = arguments.map_err(|error| hub.not_sent_by_name(&name, error))?;
            hub.call(None, &name, arguments, options).await
        })
    }

    /// Sends the call, and returns the text of the tool's result.
    ///
    /// # Errors
    /// Returns the errors of the call, and [`ErrorKind::Tool`](crate::ErrorKind::Tool) if the tool failed.
    pub async fn text(self) -> Result<String, HubError> {
        self.await?.into_text()
    }
}

impl<'c> IntoFuture for Call<'c> {
    type Output = Result<ToolOutcome, HubError>;
    type IntoFuture = ServiceFuture<'c, ToolOutcome>;

    fn into_future(self) -> Self::IntoFuture {
        self.send()
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}
