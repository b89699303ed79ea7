//! Converts an OpenTelemetry context to the trace context that a request carries to the server.

use mcpwire_client::TraceSource;
use mcpwire_core::TraceContext;
use opentelemetry::propagation::Injector;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry::{Context, global};

/// Returns a trace source for `ConnectOptions::trace_context`. Each request then carries the trace context of the current span,
/// without recording spans of its own.
pub fn trace_source() -> TraceSource {
    TraceSource::new(current)
}

/// Returns the trace context of the span that is current on this thread, or `None` if there is no current span.
pub fn current() -> Option<TraceContext> {
    Context::map_current(trace_context)
}

/// Returns the trace context of the span in an OpenTelemetry context, or `None` if the context has no span.
///
/// The program's propagator ([`global::set_text_map_propagator`]) sets `traceparent`, `tracestate` and `baggage`. Without a
/// propagator, the trace context has only `traceparent` and `tracestate`.
///
/// [`global::set_text_map_propagator`]: https://docs.rs/opentelemetry/latest/opentelemetry/global/fn.set_text_map_propagator.html
pub fn trace_context(context: &Context) -> Option<TraceContext> {
    let span = context.span();
    let span = span.span_context();
    if !span.is_valid() {
        return None;
    }
    let mut members = Members::default();
    global::get_text_map_propagator(|propagator| propagator.inject_context(context, &mut members));
    let propagated = members.parent.and_then(|parent| TraceContext::new(parent).ok());
    let mut trace = if let Some(trace) = propagated {
        trace
    } else {
        members.state = Some(span.trace_state().header());
        TraceContext::new(trace_parent(span)).ok()?
    };
    // An invalid `tracestate` or `baggage` is omitted, because a server may reject the request.
    if let Some(state) = members.state {
        trace = trace.clone().state(state).unwrap_or(trace);
    }
    if let Some(baggage) = members.baggage {
        trace = trace.clone().baggage(baggage).unwrap_or(trace);
    }
    Some(trace)
}

/// Returns the `traceparent` of a span (W3C Trace Context, section 3.2).
fn trace_parent(span: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8() & 1)
}

/// The members `traceparent`, `tracestate` and `baggage`. `None` if the program's propagator has not set the member.
#[derive(Default)]
struct Members {
    parent: Option<String>,
    state: Option<String>,
    baggage: Option<String>,
}

impl Injector for Members {
    fn set(&mut self, key: &str, value: String) {
        let member = match key {
            "traceparent" => &mut self.parent,
            "tracestate" => &mut self.state,
            "baggage" => &mut self.baggage,
            // Headers of other tracing systems are ignored, because MCP has no members for them.
            _ => return,
        };
        *member = Some(value);
    }
}
