//! Where the requests of an MCP client belong in a distributed trace, as OpenTelemetry knows it.
//!
//! ```
//! use mcpwire_blocking::{ConnectOptions, TraceSource};
//!
//! let options = ConnectOptions::default().trace_context(TraceSource::new(mcpwire_opentelemetry::current));
//! ```
//!
//! That is all: each request that is sent from then on carries `traceparent`, `tracestate` and `baggage` of the span that
//! is current where it is sent, in its `_meta` (2026-07-28, basic, "OpenTelemetry trace context"; earlier servers are
//! to pass over what they do not know there). The async clients have the same option.
//!
//! Spans of the `tracing` crate count too, if `tracing-opentelemetry` is among the program's subscribers: it makes the span
//! that is entered the current one of OpenTelemetry.

use mcpwire_core::TraceContext;
use opentelemetry::propagation::Injector;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry::{Context, global};

/// Where the current span belongs: for `ConnectOptions::trace_context`. `None` outside of all spans.
pub fn current() -> Option<TraceContext> {
    Context::map_current(of)
}

/// Where the span of a context belongs. `None` if it has none.
///
/// What else travels along is decided by the program's propagator
/// ([`global::set_text_map_propagator`]): `baggage` is sent only if that one sends it. A `traceparent` is sent even without
/// one.
pub fn of(context: &Context) -> Option<TraceContext> {
    let span = context.span();
    let span = span.span_context();
    if !span.is_valid() {
        return None;
    }
    let mut told = Told::default();
    global::get_text_map_propagator(|propagator| propagator.inject_context(context, &mut told));
    let said = told.parent.and_then(|parent| TraceContext::new(parent).ok());
    // Members that are not as the W3C defines them would be refused elsewhere: the rest goes without them.
    let mut belongs = if let Some(belongs) = said {
        belongs
    } else {
        told.state = Some(span.trace_state().header());
        TraceContext::new(parent(span)).ok()?
    };
    if let Some(state) = told.state {
        belongs = belongs.clone().state(state).unwrap_or(belongs);
    }
    if let Some(baggage) = told.baggage {
        belongs = belongs.clone().baggage(baggage).unwrap_or(belongs);
    }
    Some(belongs)
}

/// W3C Trace Context, section 3.2.
fn parent(span: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8() & 1)
}

/// What a propagator says.
#[derive(Default)]
struct Told {
    parent: Option<String>,
    state: Option<String>,
    baggage: Option<String>,
}

impl Injector for Told {
    fn set(&mut self, key: &str, value: String) {
        let place = match key {
            "traceparent" => &mut self.parent,
            "tracestate" => &mut self.state,
            "baggage" => &mut self.baggage,
            // Other systems' headers have no place in the protocol.
            _ => return,
        };
        *place = Some(value);
    }
}
