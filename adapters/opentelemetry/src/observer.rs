//! [`OpenTelemetry`]: the observer that records the spans and histograms of requests and sessions.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use mcpwire_client::{ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome};
use mcpwire_core::{CloseReason, ServerInfo, Tag, TraceContext};
use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::metrics::{Histogram, Meter, MeterProvider};
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, InstrumentationScope, KeyValue};

use crate::attributes;
use crate::propagation::trace_context;

/// The bucket boundaries of both histograms, in seconds. The semantic conventions for MCP define them.
const BOUNDARIES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// An observer that records spans of requests, and histograms of requests and sessions. Pass it to `ConnectOptions::observer`.
///
/// Clones share their state. One observer can serve any number of connections.
#[derive(Clone)]
pub struct OpenTelemetry(Arc<Instruments>);

struct Instruments {
    tracer: BoxedTracer,
    operation: Histogram<f64>,
    session: Histogram<f64>,
    /// The start time of each open session. The key is the id of the connection.
    sessions: Mutex<HashMap<u64, Instant>>,
}

/// Returns an observer that uses the global tracer and meter providers of OpenTelemetry. Set the global providers before calling
/// this.
pub fn observer() -> OpenTelemetry {
    OpenTelemetry::create(global::tracer_provider().tracer_with_scope(scope()), &global::meter_with_scope(scope()))
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(env!("CARGO_PKG_NAME")).with_version(env!("CARGO_PKG_VERSION")).build()
}

impl OpenTelemetry {
    /// Creates an observer that uses the given tracer and meter providers instead of the global ones.
    pub fn new<P>(tracer_provider: &P, meter_provider: &impl MeterProvider) -> Self
    where
        P: TracerProvider,
        P::Tracer: Tracer<Span: Send + Sync + 'static> + Send + Sync + 'static,
    {
        let tracer = BoxedTracer::new(Box::new(tracer_provider.tracer_with_scope(scope())));
        OpenTelemetry::create(tracer, &meter_provider.meter_with_scope(scope()))
    }

    fn create(tracer: BoxedTracer, meter: &Meter) -> Self {
        let histogram = |name, description| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
            histogram.with_boundaries(BOUNDARIES.to_vec()).build()
        };
        OpenTelemetry(Arc::new(Instruments {
            operation: histogram(
                "mcp.client.operation.duration",
                "The duration of an MCP request as observed on the sender, from the time it was sent until the response.",
            ),
            session: histogram(
                "mcp.client.session.duration",
                "The duration of the MCP session as observed on the MCP client.",
            ),
            sessions: Mutex::default(),
            tracer,
        }))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<u64, Instant>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_session(&self, connection: &ConnectionInfo, error: Option<KeyValue>) {
        let Some(since) = self.sessions().remove(&connection.id) else { return };
        let mut attributes = attributes::of_connection(connection);
        attributes.extend(error);
        self.0.session.record(since.elapsed().as_secs_f64(), &attributes);
    }
}

/// The tracing context of the code that sends a request. The client stores it with the request, as a [`Tag`].
struct Caller {
    /// The OpenTelemetry context of the code that sends the request. For a tool call, it contains the client span instead of the
    /// caller's span.
    context: Context,
    /// Whether the context contains a client span that has not ended. Always `false` for requests that are not tool calls.
    has_span: AtomicBool,
    /// Whether the tool call was sent. If not, the span ends with the error type `not_sent` when this value is dropped.
    is_sent: AtomicBool,
}

impl Caller {
    /// Returns the caller of a tool call, if its client span has not ended. `None` for other requests.
    fn of_tool_call(request: &RequestInfo) -> Option<&Self> {
        let caller = request.caller.as_ref()?.get::<Caller>()?;
        (request.tool().is_some() && caller.has_span.load(Ordering::Relaxed)).then_some(caller)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if *self.has_span.get_mut() && !*self.is_sent.get_mut() {
            let span = self.context.span();
            span.set_attribute(attributes::error_type("not_sent"));
            span.set_status(Status::error("the client did not send the call"));
            span.end();
        }
    }
}

impl Observer for OpenTelemetry {
    fn caller(&self, tool: Option<&str>) -> Option<Tag> {
        let context = Context::current();
        let context = match tool {
            Some(tool) => {
                let span = SpanBuilder::from_name(format!("{} {tool}", attributes::CALL_TOOL))
                    .with_kind(SpanKind::Client)
                    .with_attributes(attributes::of_tool_call(tool));
                let span = self.0.tracer.build_with_context(span, &context);
                context.with_span(span)
            }
            None => context,
        };
        let (has_span, is_sent) = (AtomicBool::new(tool.is_some()), AtomicBool::new(false));
        Some(Tag::new(Caller { context, has_span, is_sent }))
    }

    fn trace_context(&self, caller: &Tag) -> Option<TraceContext> {
        trace_context(&caller.get::<Caller>()?.context)
    }

    fn connected(&self, connection: &ConnectionInfo, _: &ServerInfo, _: Duration) {
        self.sessions().insert(connection.id, Instant::now());
    }

    fn begin(&self, request: &RequestInfo) {
        if let Some(caller) = Caller::of_tool_call(request) {
            caller.is_sent.store(true, Ordering::Relaxed);
        }
    }

    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        if let Some(caller) = Caller::of_tool_call(request) {
            let attributes = vec![KeyValue::new("attempt", i64::from(attempt))];
            caller.context.span().add_event("request sent again", attributes);
        }
    }

    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
        let mut common = attributes::of_request(request);
        common.extend(attributes::of_outcome(outcome));
        if let Some(caller) = Caller::of_tool_call(request) {
            caller.has_span.store(false, Ordering::Relaxed);
            let span = caller.context.span();
            attributes::set_attributes(&span, attributes::of_connection(&request.connection));
            attributes::set_attributes(&span, attributes::of_span(request));
            attributes::set_attributes(&span, attributes::of_outcome(outcome));
            span.set_status(attributes::status(outcome));
            span.end();
        } else {
            // The span is created when the request has ended. It cannot be created earlier: if the cache has the response, there
            // is no request, and must be no span.
            let caller = request.caller.as_ref().and_then(Tag::get::<Caller>);
            let parent = caller.map(|caller| caller.context.clone()).unwrap_or_default();
            let now = SystemTime::now();
            let mut all = common.clone();
            all.extend(attributes::of_span(request));
            let span = SpanBuilder::from_name(attributes::span_name(request))
                .with_kind(SpanKind::Client)
                .with_start_time(now.checked_sub(duration).unwrap_or(now))
                .with_attributes(all);
            let context = parent.with_span(self.0.tracer.build_with_context(span, &parent));
            context.span().set_status(attributes::status(outcome));
            context.span().end_with_timestamp(now);
        }
        self.0.operation.record(duration.as_secs_f64(), &common);
    }

    fn event(&self, connection: &ConnectionInfo, event: &ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::SessionReestablished => {
                self.end_session(connection, None);
                self.sessions().insert(connection.id, Instant::now());
            }
            ConnectionEvent::Closed { reason } => {
                let error = match reason {
                    CloseReason::ByClient => None,
                    CloseReason::ByServer => Some(attributes::error_type("closed")),
                    _ => Some(attributes::error_type("_OTHER")),
                };
                self.end_session(connection, error);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for OpenTelemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenTelemetry").finish_non_exhaustive()
    }
}
