//! Calls of tools.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use mcpwire_supervisor::{CallRejection, Command, Generation, ServerId};
use serde::Serialize;

use super::attempt::Failing;
use super::call_failure::CallFailure;
use super::outcome::{CallOptions, ToolOutcome};
use super::shared::{Shared, hub_has_ended};
use super::snapshot::server_id;
use super::{failures, limits};
use crate::HubError;
use crate::config::{McpConfig, Timeouts};
use crate::redact::Redactor;
use crate::tasks::Client;

/// A server that sleeps is woken once for a call; if it falls asleep again before the call is sent, it is woken once more. More
/// often than this is not bad luck.
const TRIES: usize = 3;

impl Shared {
    pub(super) async fn call(
        self: &Arc<Self>,
        id: uuid::Uuid,
        name: &str,
        arguments: &(impl Serialize + Sync),
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, CallFailure> {
        let id = server_id(id);
        let config = self.lock().config(id)?;
        let mut options = options;
        let cancel = options.cancel.take();
        let call = self.send(id, &config, name, arguments, options);
        let Some(mut cancel) = cancel else { return call.await };
        let mut call = pin!(call);
        poll_fn(|cx| {
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            let cancelled = || HubError::unavailable(format!("The call of `{name}` was cancelled"));
            cancel.as_mut().poll(cx).map(|()| Err(cancelled().into()))
        })
        .await
    }

    /// How the server itself calls the tool, if the name is the one that is shown.
    fn server_name_of(&self, id: ServerId, name: &str) -> String {
        let catalogue = self.catalogue();
        let is_its_own = catalogue.tools_of(id).any(|offered| offered.tool.name == name);
        let exposed = catalogue.find(name).filter(|offered| offered.server == id && !is_its_own);
        exposed.map_or(name, |offered| &offered.tool.name).to_owned()
    }

    async fn send(
        self: &Arc<Self>,
        id: ServerId,
        config: &McpConfig,
        name: &str,
        arguments: &(impl Serialize + Sync),
        options: CallOptions<'_>,
    ) -> Result<ToolOutcome, CallFailure> {
        let timeout = options.timeout.or(config.timeouts.call).unwrap_or(Timeouts::CALL);
        let total = options.total_timeout.or(config.timeouts.call_max).unwrap_or(Timeouts::CALL_MAX);
        let sent = self.begin(id, name, total).await?;
        let tool = sent.tool.as_str();
        let mut call = sent.client.call_tool(tool, arguments).timeout(timeout).total_timeout(total);
        if let Some(progress) = options.progress {
            call = call.on_progress(progress);
        }
        match sent.until_failed(call.call()).await {
            Ok(Ok(result)) => Ok(limits::apply(result, &config.limits)),
            Ok(Err(error)) => {
                let shown = failures::of_call(&error, tool, config, &sent.redactor);
                Err(CallFailure::of_client(&error, shown))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the call may be sent, and counts it.
    async fn begin(
        self: &Arc<Self>,
        id: ServerId,
        name: &str,
        total: std::time::Duration,
    ) -> Result<Sent, CallFailure> {
        for _ in 0..TRIES {
            // Each time: the names that are shown of a server's tools are known only once it has run.
            let tool = self.server_name_of(id, name);
            let begun = self.act(|core, now| {
                let generation = match core.supervisor.begin_call(id, &tool, now) {
                    Ok(generation) => generation,
                    Err(refusal) => return Err(Some(refusal)),
                };
                let attempt = core.attempt(id, generation);
                let parts = attempt.and_then(|attempt| {
                    Some((attempt.client.clone()?, attempt.failing.clone(), attempt.redactor.clone()))
                });
                let Some((client, failing, redactor)) = parts else {
                    core.supervisor.end_call(id, generation, now);
                    return Err(None);
                };
                Ok(Sent { shared: Arc::clone(self), id, generation, tool, client, failing, redactor })
            });
            match begun {
                Ok(sent) => return Ok(sent),
                Err(None) => return Err(hub_has_ended().into()),
                Err(Some(CallRejection::NotRunning)) => {
                    let by = self.now() + total;
                    self.command(id, Command::PrepareCall { by }).await?;
                }
                Err(Some(refusal)) => return Err(refusal.into()),
            }
        }
        Err(CallRejection::NotRunning.into())
    }
}

/// A call that is under way. However it ends, it is no longer counted then.
struct Sent {
    shared: Arc<Shared>,
    id: ServerId,
    generation: Generation,
    /// The name that the server gives the tool.
    tool: String,
    client: Client,
    failing: Failing,
    redactor: Redactor,
}

impl Sent {
    /// The call's own end, or the error of the server's, whichever comes first.
    async fn until_failed<T>(&self, call: impl Future<Output = T>) -> Result<T, HubError> {
        let mut failing = self.failing.clone();
        let mut call: Pin<&mut _> = pin!(call);
        poll_fn(|cx| {
            // The call knows best why it failed.
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                return Poll::Ready(Ok(result));
            }
            Pin::new(&mut failing).poll(cx).map(|error| Err(error.unwrap_or_else(|_| hub_has_ended())))
        })
        .await
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let (id, generation) = (self.id, self.generation);
        self.shared.act(|core, now| core.supervisor.end_call(id, generation, now));
    }
}
