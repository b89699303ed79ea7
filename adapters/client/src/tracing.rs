//! [`TracingObserver`]: emits spans and events of the `tracing` crate for connections and requests (feature `tracing`).
//!
//! | target | level | spans and events |
//! |---|---|---|
//! | `mcpwire::connection` | debug | opening, requests that the client refused, a connection that the client closed |
//! | | info | open, session re-established, process started and ended |
//! | | warn | invalid messages, messages that could not be delivered, dropped notifications, a connection that failed or that the server ended |
//! | `mcpwire::request` | info | a span for each request, a child of the span of the code that sent the request |
//! | | debug | the success of a request, and each further attempt |
//! | | warn | the failure of a request |
//!
//! The events of a connection go to the subscriber of the thread that opens the connection. The span and events of a request go
//! to the subscriber of the thread that sends the request. A connection that is opened without a subscriber emits nothing.
//!
//! Spans and events never contain arguments, results, headers, URIs, or the content of messages.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use ::tracing::dispatcher::{self, Dispatch};
use ::tracing::field::Empty;
use ::tracing::subscriber::NoSubscriber;
use ::tracing::{debug, info, info_span, warn};
use mcpwire_core::{CloseReason, RequestKey, ServerInfo, printable};

use crate::lock;
use crate::observer::{ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};
use crate::trace_context::{CallSite, current_subscriber};

const CONNECTION: &str = "mcpwire::connection";
const REQUEST: &str = "mcpwire::request";

/// Maximum length of a text from the server in a span or event, in characters. A longer text is truncated.
const MAX_TEXT: usize = 200;

/// Returns whether this thread has a `tracing` subscriber. Without a subscriber, connections do not record their events.
pub(crate) fn has_subscriber() -> bool {
    !dispatcher::get_default(Dispatch::is::<NoSubscriber>)
}

/// Calls `f` while `subscriber` is the current subscriber. If `subscriber` is none, the subscriber of the calling thread remains.
fn emit<T>(subscriber: &Dispatch, f: impl FnOnce() -> T) -> T {
    if subscriber.is::<NoSubscriber>() { f() } else { dispatcher::with_default(subscriber, f) }
}

/// An [`Observer`] that emits the `tracing` spans and events of one connection.
pub(crate) struct TracingObserver {
    /// The subscriber of the thread that opened the connection.
    subscriber: Dispatch,
    /// The span of each request in flight, with the subscriber that has created it.
    requests: Mutex<HashMap<RequestKey, CallSite>>,
}

impl TracingObserver {
    /// Creates the observer of a connection that is being opened. Returns `None` if this thread has no subscriber.
    pub(crate) fn new() -> Option<Self> {
        has_subscriber().then(|| TracingObserver { subscriber: current_subscriber(), requests: Mutex::default() })
    }
}

impl Observer for TracingObserver {
    fn connecting(&self, connection: &ConnectionInfo) {
        let (server, transport) = (printable(&connection.server), transport_name(connection.transport));
        emit(&self.subscriber, || debug!(target: CONNECTION, %server, transport, "connecting"));
    }

    fn connected(&self, connection: &ConnectionInfo, info: &ServerInfo, duration: Duration) {
        let implementation = info.implementation.as_ref();
        emit(&self.subscriber, || {
            info!(
                target: CONNECTION,
                server = %printable(&connection.server),
                transport = transport_name(connection.transport),
                protocol_version = %info.protocol_version,
                server_name = implementation.map(|server| excerpt(&server.name)),
                server_version = implementation.map(|server| excerpt(&server.version)),
                duration_ms = milliseconds(duration),
                "connected"
            );
        });
    }

    fn begin(&self, request: &RequestInfo) {
        let Some(CallSite { subscriber, span: parent }) =
            request.caller_data().map(|caller_data| &caller_data.call_site)
        else {
            return;
        };
        let span = emit(subscriber, || {
            info_span!(
                target: REQUEST,
                parent: parent.id(),
                "request",
                server = %printable(request.server()),
                method = excerpt(&request.method),
                tool = request.tool().map(excerpt),
                prompt = request.prompt().map(excerpt),
                id = request.id,
                attempts = Empty,
                duration_ms = Empty,
                outcome = Empty,
            )
        });
        lock(&self.requests).insert(request.key, CallSite { subscriber: subscriber.clone(), span });
    }

    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        let Some(CallSite { subscriber, span }) = lock(&self.requests).get(&request.key).cloned() else { return };
        emit(&subscriber, || {
            span.record("attempts", attempt);
            debug!(target: REQUEST, parent: &span, id = request.id, attempt, "request sent again");
        });
    }

    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
        let Some(CallSite { subscriber, span }) = lock(&self.requests).remove(&request.key) else { return };
        let duration_ms = milliseconds(duration);
        let outcome_name = outcome_name(outcome);
        emit(&subscriber, || {
            span.record("duration_ms", duration_ms).record("outcome", &*outcome_name);
            let (method, tool) = (excerpt(&request.method), request.tool().map(excerpt));
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
        emit(&self.subscriber, || match event {
            ConnectionEvent::ProcessStarted { pid } => info!(target: CONNECTION, %server, pid, "process started"),
            ConnectionEvent::ProcessExited { exit } => {
                let exit = exit.map(ToString::to_string);
                info!(target: CONNECTION, %server, exit, "process ended");
            }
            ConnectionEvent::Restarting => info!(target: CONNECTION, %server, "restarting as a legacy server"),
            ConnectionEvent::SessionReestablished => info!(target: CONNECTION, %server, "session re-established"),
            // Omits the beginning of the message, because it may contain a result.
            ConnectionEvent::InvalidMessage { .. } => warn!(target: CONNECTION, %server, "received an invalid message"),
            ConnectionEvent::ServerRequestRefused { method } => {
                debug!(target: CONNECTION, %server, method = excerpt(method), "refused a request of the server");
            }
            ConnectionEvent::DeliveryFailed { method } => {
                warn!(target: CONNECTION, %server, method = method.map(excerpt), "could not deliver a message");
            }
            ConnectionEvent::NotificationsDropped { count } => {
                warn!(target: CONNECTION, %server, count, "dropped notifications that the program did not take");
            }
            ConnectionEvent::Closed { reason: CloseReason::ByClient } => debug!(target: CONNECTION, %server, "closed"),
            ConnectionEvent::Closed { reason } => {
                let reason = excerpt(&reason.to_string());
                warn!(target: CONNECTION, %server, reason, "connection ended");
            }
        });
    }
}

fn transport_name(transport: Transport) -> &'static str {
    match transport {
        Transport::Stdio => "stdio",
        Transport::Stream => "stream",
        Transport::Http => "http",
    }
}

/// Returns the outcome of a request as a short text, such as `ok`. There are few different texts, so they can be metric labels.
fn outcome_name(outcome: &RequestOutcome) -> String {
    match outcome {
        RequestOutcome::Ok => "ok".into(),
        RequestOutcome::ToolFailed => "tool_error".into(),
        RequestOutcome::Refused(code) => code.to_string(),
        RequestOutcome::Failed(kind) => kind.as_str().into(),
    }
}

/// Returns the first [`MAX_TEXT`] characters of a text, without control characters.
fn excerpt(text: &str) -> String {
    printable(text).to_string().chars().take(MAX_TEXT).collect()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
