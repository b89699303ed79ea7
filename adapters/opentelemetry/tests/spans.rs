//! Tests of the conversion of spans to trace contexts.

use std::collections::BTreeMap;

use mcpwire_core::TraceContext;
use opentelemetry::baggage::BaggageExt;
use opentelemetry::propagation::TextMapCompositePropagator;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;

fn members(context: &TraceContext) -> BTreeMap<&str, &str> {
    context.members().collect()
}

fn context_with_state(state: &str) -> Context {
    let state: TraceState = state.parse().expect("it is good");
    let trace = TraceId::from_hex("0af7651916cd43dd8448eb211c80319c").expect("it is good");
    let span = SpanId::from_hex("00f067aa0ba902b7").expect("it is good");
    Context::new().with_remote_span_context(SpanContext::new(trace, span, TraceFlags::SAMPLED, true, state))
}

#[test]
fn there_is_no_trace_context_without_a_span() {
    assert_eq!(mcpwire_opentelemetry::current(), None);
    assert_eq!(mcpwire_opentelemetry::trace_context(&Context::new()), None);
}

#[test]
fn the_trace_context_contains_the_state_of_the_span() {
    let context =
        mcpwire_opentelemetry::trace_context(&context_with_state("congo=t61rcWkgMzE")).expect("it has a span");
    let members = members(&context);
    assert_eq!(members["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
    assert_eq!(members["tracestate"], "congo=t61rcWkgMzE");
}

#[test]
fn the_current_span_is_used() {
    let tracer = SdkTracerProvider::builder().build().tracer("test");
    tracer.in_span("outer", |outer| {
        let outside = mcpwire_opentelemetry::current().expect("there is a span");
        let id = outer.span().span_context().span_id().to_string();
        assert!(members(&outside)["traceparent"].contains(&id));
        tracer.in_span("inner", |_| assert_ne!(mcpwire_opentelemetry::current(), Some(outside.clone())));
        assert_eq!(mcpwire_opentelemetry::current(), Some(outside));
    });
    assert_eq!(mcpwire_opentelemetry::current(), None);
}

#[test]
fn spans_of_the_tracing_crate_are_used() {
    let provider = SdkTracerProvider::builder().build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        let span = tracing::info_span!("work");
        let inside = span.in_scope(mcpwire_opentelemetry::current);
        assert!(inside.is_some());
        assert_eq!(span.in_scope(mcpwire_opentelemetry::current), inside, "the same span, the same place");
        assert_eq!(mcpwire_opentelemetry::current(), None);
    });
}

/// One test for all, because the propagator is global.
#[test]
fn the_propagator_of_the_program_sets_the_members() {
    let context = context_with_state("a=b").with_baggage([KeyValue::new("user", "Ada L")]);
    assert!(!members(&mcpwire_opentelemetry::trace_context(&context).expect("it has a span")).contains_key("baggage"));
    global::set_text_map_propagator(TextMapCompositePropagator::new(vec![
        Box::new(TraceContextPropagator::new()),
        Box::new(BaggagePropagator::new()),
    ]));
    let context = mcpwire_opentelemetry::trace_context(&context).expect("it has a span");
    let members = members(&context);
    assert_eq!(members["baggage"], "user=Ada%20L");
    assert_eq!(members["tracestate"], "a=b");
    assert_eq!(members["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
}
