//! Emits what happens on connections as spans and events of the `tracing` crate. Part of the feature `tracing`.
//!
//! | target | level | what |
//! |---|---|---|
//! | `mcpwire::connection` | debug | opening, notifications that the server did not get, requests that the client refused |
//! | | info | open, session re-established, process started and ended |
//! | | warn | invalid messages, dropped notifications, a connection that failed or that the server ended |
//! | `mcpwire::request` | info | a span for each request, a child of the span that was current where the request was sent |
//! | | debug | the end of a request, and another attempt |
//! | | warn | the end of a request that failed |
//!
//! A connection emits to the subscriber that is current where it is opened, and a request to the one where it is sent. A
//! connection that is opened without a subscriber emits nothing.
//!
//! Arguments, results, headers, URIs and the content of messages are never part of them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::tracing::dispatcher::{self, Dispatch};
use ::tracing::field::Empty;
use ::tracing::subscriber::NoSubscriber;
use ::tracing::{debug, info, info_span, warn};
use mcpwire_core::{CloseReason, RequestKey, ServerInfo, printable};

use crate::call_site::{CallSite, Subscriber};
use crate::observer::{ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};

const CONNECTION: &str = "mcpwire::connection";
const REQUEST: &str = "mcpwire::request";

/// Maximum length of a text of the server, in characters.
const MAX_TEXT: usize = 200;

/// Returns whether this thread has a subscriber. Without one, a connection costs what it costs without the feature.
pub(crate) fn has_subscriber() -> bool {
    !dispatcher::get_default(Dispatch::is::<NoSubscriber>)
}

/// Emits what happens on one connection.
pub(crate) struct TracingObserver {
    /// The subscriber where the connection was opened.
    subscriber: Subscriber,
    /// The spans of the requests in flight.
    requests: Mutex<HashMap<RequestKey, CallSite>>,
}

impl TracingObserver {
    /// Creates the observer of a connection that is being opened. `None` if there is no subscriber.
    pub(crate) fn new() -> Option<Self> {
        has_subscriber().then(|| TracingObserver { subscriber: Subscriber::current(), requests: Mutex::default() })
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<RequestKey, CallSite>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for TracingObserver {
    fn connecting(&self, connection: &ConnectionInfo) {
        let (server, transport) = (printable(&connection.server), name(connection.transport));
        self.subscriber.emit(|| debug!(target: CONNECTION, %server, transport, "connecting"));
    }

    fn connected(&self, connection: &ConnectionInfo, info: &ServerInfo, duration: Duration) {
        let implementation = info.implementation.as_ref();
        self.subscriber.emit(|| {
            info!(
                target: CONNECTION,
                server = %printable(&connection.server),
                transport = name(connection.transport),
                protocol_version = %info.protocol_version,
                server_name = implementation.map(|server| short(&server.name)),
                server_version = implementation.map(|server| short(&server.version)),
                duration_ms = milliseconds(duration),
                "connected"
            );
        });
    }

    fn begin(&self, request: &RequestInfo) {
        let Some(CallSite { subscriber, span: parent }) = request.origin().map(|origin| &origin.call_site) else {
            return;
        };
        let span = subscriber.emit(|| {
            info_span!(
                target: REQUEST,
                parent: parent.id(),
                "request",
                server = %printable(request.server()),
                method = short(&request.method),
                tool = request.tool().map(short),
                prompt = request.prompt().map(short),
                id = request.id,
                attempts = Empty,
                duration_ms = Empty,
                outcome = Empty,
            )
        });
        self.requests().insert(request.key, CallSite { subscriber: subscriber.clone(), span });
    }

    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        let Some(CallSite { subscriber, span }) = self.requests().get(&request.key).cloned() else { return };
        subscriber.emit(|| {
            span.record("attempts", attempt);
            debug!(target: REQUEST, parent: &span, id = request.id, attempt, "request sent again");
        });
    }

    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
        let Some(CallSite { subscriber, span }) = self.requests().remove(&request.key) else { return };
        let duration_ms = milliseconds(duration);
        let outcome_name = outcome_name(outcome);
        subscriber.emit(|| {
            span.record("duration_ms", duration_ms).record("outcome", &*outcome_name);
            let (method, tool) = (short(&request.method), request.tool().map(short));
            let (server, outcome_name) = (printable(request.server()), &*outcome_name);
            if *outcome == RequestOutcome::Ok {
                debug!(target: REQUEST, parent: &span, %server, method, tool, duration_ms, outcome = outcome_name, "request ended");
            } else {
                warn!(target: REQUEST, parent: &span, %server, method, tool, duration_ms, outcome = outcome_name, "request failed");
            }
        });
    }

    fn event(&self, connection: &ConnectionInfo, event: &ConnectionEvent<'_>) {
        let server = printable(&connection.server);
        self.subscriber.emit(|| match event {
            ConnectionEvent::ProcessStarted { pid } => info!(target: CONNECTION, %server, pid, "process started"),
            ConnectionEvent::ProcessExited { exit } => {
                let exit = exit.map(ToString::to_string);
                info!(target: CONNECTION, %server, exit, "process ended");
            }
            ConnectionEvent::Restarting => info!(target: CONNECTION, %server, "restarting as a legacy server"),
            ConnectionEvent::SessionReestablished => info!(target: CONNECTION, %server, "session re-established"),
            // Without the excerpt, which may contain a result.
            ConnectionEvent::InvalidMessage { .. } => warn!(target: CONNECTION, %server, "received an invalid message"),
            ConnectionEvent::ServerRequestRefused { method } => {
                debug!(target: CONNECTION, %server, method = short(method), "refused a request of the server");
            }
            ConnectionEvent::DeliveryFailed { method } => {
                warn!(target: CONNECTION, %server, method = method.map(short), "could not deliver a message");
            }
            ConnectionEvent::NotificationsDropped { count } => {
                warn!(target: CONNECTION, %server, count, "dropped notifications that nobody took");
            }
            ConnectionEvent::Closed { reason: CloseReason::ByClient } => debug!(target: CONNECTION, %server, "closed"),
            ConnectionEvent::Closed { reason } => {
                let reason = short(&reason.to_string());
                warn!(target: CONNECTION, %server, reason, "connection ended");
            }
        });
    }
}

impl fmt::Debug for TracingObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingObserver").finish_non_exhaustive()
    }
}

fn name(transport: Transport) -> &'static str {
    match transport {
        Transport::Stdio => "stdio",
        Transport::Stream => "stream",
        Transport::Http => "http",
    }
}

/// Returns the outcome as a text of few possible values.
fn outcome_name(outcome: &RequestOutcome) -> String {
    match outcome {
        RequestOutcome::Ok => "ok".into(),
        RequestOutcome::ToolFailed => "tool_error".into(),
        RequestOutcome::Refused(code) => code.to_string(),
        RequestOutcome::Failed(kind) => kind.as_str().into(),
    }
}

/// Returns the beginning of a text, without control characters.
fn short(text: &str) -> String {
    printable(text).to_string().chars().take(MAX_TEXT).collect()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
