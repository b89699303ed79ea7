//! What is sent is what the program's tracing says at that moment.

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

fn remote(state: &str) -> Context {
    let state: TraceState = state.parse().expect("it is good");
    let trace = TraceId::from_hex("0af7651916cd43dd8448eb211c80319c").expect("it is good");
    let span = SpanId::from_hex("00f067aa0ba902b7").expect("it is good");
    Context::new().with_remote_span_context(SpanContext::new(trace, span, TraceFlags::SAMPLED, true, state))
}

#[test]
fn outside_of_all_spans_nothing_is_sent() {
    assert_eq!(mcpwire_opentelemetry::current(), None);
    assert_eq!(mcpwire_opentelemetry::trace_context(&Context::new()), None);
}

#[test]
fn a_span_is_named_with_its_state() {
    let context = mcpwire_opentelemetry::trace_context(&remote("congo=t61rcWkgMzE")).expect("it has a span");
    let members = members(&context);
    assert_eq!(members["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
    assert_eq!(members["tracestate"], "congo=t61rcWkgMzE");
}

#[test]
fn the_span_that_is_current_is_the_one() {
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
fn spans_of_tracing_count() {
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

/// The propagator is the program's, so this is all of it in one.
#[test]
fn what_the_program_propagates_is_sent_and_nothing_else() {
    let context = remote("a=b").with_baggage([KeyValue::new("user", "Ada L")]);
    assert!(!members(&mcpwire_opentelemetry::trace_context(&context).expect("it has a span")).contains_key("baggage"));
    global::set_text_map_propagator(TextMapCompositePropagator::new(vec![
        Box::new(TraceContextPropagator::new()),
        Box::new(BaggagePropagator::new()),
    ]));
    let told = mcpwire_opentelemetry::trace_context(&context).expect("it has a span");
    let told = members(&told);
    assert_eq!(told["baggage"], "user=Ada%20L");
    assert_eq!(told["tracestate"], "a=b");
    assert_eq!(told["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
}
