//! The spans and histograms of `mcpwire-opentelemetry`, on every adapter.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpwire_client::ConnectOptions;
use mcpwire_driver::protocol::Config;
use mcpwire_opentelemetry::OpenTelemetry;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;

type Attributes = BTreeMap<String, String>;

/// Providers that keep everything in memory.
struct Providers {
    spans: InMemorySpanExporter,
    metrics: InMemoryMetricExporter,
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Providers {
    fn new() -> Self {
        let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
        let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        Providers { spans, metrics, tracers, meters: SdkMeterProvider::builder().with_reader(reader).build() }
    }

    fn options(&self, config: Config) -> ConnectOptions {
        ConnectOptions::new(config).observer(OpenTelemetry::new(&self.tracers, &self.meters))
    }

    fn span(&self, name: &str) -> SpanData {
        let spans = self.spans.get_finished_spans().unwrap();
        let found = spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{name} among {spans:#?}");
        found[0].clone()
    }

    /// Returns the points of a histogram: the attributes, the number of values, and the bounds of the buckets.
    fn points(&self, name: &str) -> Vec<(Attributes, u64, Vec<f64>)> {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let latest = exported.last().expect("there are metrics");
        let mut metrics = latest.scope_metrics().flat_map(opentelemetry_sdk::metrics::data::ScopeMetrics::metrics);
        let metric = metrics.find(|metric| metric.name() == name).expect("the histogram has points");
        assert_eq!(metric.unit(), "s");
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else { panic!("a histogram") };
        let points = histogram.data_points();
        points.map(|point| (attributes(point.attributes()), point.count(), point.bounds().collect())).collect()
    }
}

fn attributes<'a>(attributes: impl IntoIterator<Item = &'a KeyValue>) -> Attributes {
    attributes.into_iter().map(|attribute| (attribute.key.to_string(), attribute.value.to_string())).collect()
}

fn expected(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

const STDIO: [(&str, &str); 2] = [("mcp.protocol.version", "2026-07-28"), ("network.transport", "pipe")];

fn a_call_is_a_span_and_the_parent_of_the_servers_spans<A: Adapter>() {
    let providers = Providers::new();
    let server = server!("well-behaved --modern");
    let mut client = A::connect_with(&server.def, providers.options(server.config.clone())).expect("it starts");
    client.initialize().expect("it answers");
    let tracer = providers.tracers.tracer("program");
    let work = Context::new().with_span(tracer.start("work"));
    let carried = {
        let _entered = work.clone().attach();
        client.text("trace", json!({}))
    };
    client.shutdown().expect("it ends");

    let span = providers.span("tools/call trace");
    let work = work.span().span_context().clone();
    assert_eq!(span.span_kind, SpanKind::Client);
    assert_eq!(span.parent_span_id, work.span_id());
    assert_eq!(span.status, Status::Unset);
    let (trace, id) = (work.trace_id(), span.span_context.span_id());
    assert_eq!(carried, format!("00-{trace}-{id}-01"), "the server's parent is the client span");
    let mut all = attributes(&span.attributes);
    assert!(all.remove("jsonrpc.request.id").expect("it has an id").parse::<u64>().is_ok());
    let common =
        [("mcp.method.name", "tools/call"), ("gen_ai.tool.name", "trace"), ("gen_ai.operation.name", "execute_tool")];
    let common = expected(&[&common[..], &STDIO].concat());
    assert_eq!(all, common);

    let points = providers.points("mcp.client.operation.duration");
    let calls = points.iter().filter(|(attributes, ..)| *attributes == common).collect::<Vec<_>>();
    assert_eq!(calls.len(), 1, "{points:#?}");
    assert_eq!(calls[0].1, 1);
    assert_eq!(calls[0].2, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0]);
    let sessions = providers.points("mcp.client.session.duration");
    assert_eq!(sessions.len(), 1);
    assert_eq!((&sessions[0].0, sessions[0].1), (&expected(&STDIO), 1));
}

fn failed_requests_have_an_error_type_and_a_status<A: Adapter>() {
    let providers = Providers::new();
    let server = server!("well-behaved --modern");
    let mut client = A::connect_with(&server.def, providers.options(server.config.clone())).expect("it starts");
    client.initialize().expect("it answers");
    assert!(client.call(Call::new("fail")).expect("it answers").is_error);
    client.call(Call::new("ponder").timeout(Duration::from_millis(50))).expect_err("it is silent");
    client.request_raw("vendor/none", None).expect_err("there is no such method");
    client.shutdown().expect("it ends");
    for (name, error_type, code, description) in [
        ("tools/call fail", "tool_error", None, "the tool failed"),
        ("tools/call ponder", "timeout", None, "the request failed: timeout"),
        ("vendor/none", "-32601", Some("-32601"), "the server responded with the error -32601"),
    ] {
        let span = providers.span(name);
        assert_eq!((span.span_kind, span.parent_span_id), (SpanKind::Client, SpanId::INVALID), "{name}");
        assert_eq!(span.status, Status::error(description), "{name}");
        let attributes = attributes(&span.attributes);
        assert_eq!(attributes["error.type"], error_type, "{name}");
        assert_eq!(attributes.get("rpc.response.status_code").map(String::as_str), code, "{name}");
        let points = providers.points("mcp.client.operation.duration");
        let found = points.iter().filter(|(point, ..)| point.get("error.type").is_some_and(|kind| kind == error_type));
        assert_eq!(found.map(|(_, count, _)| count).sum::<u64>(), 1, "{name}: {points:#?}");
    }
}

fn a_session_that_is_opened_again_ends_the_old_session<A: Adapter>() {
    let lost = AtomicBool::new(false);
    let web = Web::legacy(move |request, reply| {
        if lost.swap(true, Ordering::SeqCst) {
            reply.json(200, &request.answer(said("hi")));
        } else {
            reply.full(404, "", "");
        }
    });
    let providers = Providers::new();
    let mut client = A::connect_with(&web.def(), providers.options(Config::default())).expect("it starts");
    client.initialize().expect("it answers");
    client.text("echo", json!({}));
    client.shutdown().expect("it ends");
    let span = providers.span("tools/call echo");
    assert_eq!(span.status, Status::Unset);
    assert_eq!(span.events.iter().map(|event| &*event.name).collect::<Vec<_>>(), ["request sent again"]);
    let attributes = attributes(&span.attributes);
    assert_eq!(attributes["network.transport"], "tcp");
    assert_eq!(attributes["network.protocol.name"], "http");
    let sessions = providers.points("mcp.client.session.duration");
    assert_eq!(sessions.iter().map(|(_, count, _)| count).sum::<u64>(), 2, "{sessions:#?}");
}

fn a_call_that_is_not_sent_ends_its_span<A: Adapter>() {
    let providers = Providers::new();
    let server = server!("well-behaved --modern");
    let mut client = A::connect_with(&server.def, providers.options(server.config.clone())).expect("it starts");
    client.initialize().expect("it answers");
    client.call(Call::new("echo").with(json!([1]))).expect_err("arguments are an object");
    drop(client);
    let span = providers.span("tools/call echo");
    assert_eq!(attributes(&span.attributes)["error.type"], "not_sent");
    assert_eq!(span.status, Status::error("the client did not send the call"));
}

on_every_adapter!(
    a_call_is_a_span_and_the_parent_of_the_servers_spans,
    failed_requests_have_an_error_type_and_a_status,
    a_session_that_is_opened_again_ends_the_old_session,
    a_call_that_is_not_sent_ends_its_span,
);
