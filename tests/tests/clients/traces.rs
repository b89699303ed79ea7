//! What is told of requests to `tracing` and OpenTelemetry.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_client::{ConnectOptions, ErrorKind};
use mcpwire_driver::protocol::Config;
use mcpwire_opentelemetry::OpenTelemetry;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, on_both_clients, server};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

// What the clients emit through the `tracing` crate, on every adapter.

/// Writes each span and event as a line.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<String>>>);

impl Capture {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the lines that begin with one of these texts, without the fields that differ each time.
    fn lines_of(&self, beginnings: &[&str]) -> Vec<String> {
        let chosen = |line: &String| beginnings.iter().any(|beginning| line.starts_with(beginning));
        let varies =
            |word: &&str| !["duration_ms=", "pid=", "server=", "id="].iter().any(|name| word.starts_with(name));
        let stable = |line: String| line.split_inclusive(' ').filter(varies).collect::<String>().trim_end().to_owned();
        self.lines().into_iter().filter(chosen).map(stable).collect()
    }

    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// Calls `f`, and captures the spans and events of the connections that it opens.
    fn watch<T>(&self, f: impl FnOnce() -> T) -> T {
        tracing::subscriber::with_default(tracing_subscriber::registry().with(self.clone()), f)
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            write!(self.others, " {}={value:?}", field.name()).unwrap();
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let parent = context.span(id).and_then(|span| Some(span.parent()?.name())).unwrap_or("none");
        let (level, target) = (span.metadata().level(), span.metadata().target());
        if target.starts_with("mcpwire") {
            self.push(format!("{level} {target} span {}{} in {parent}", span.metadata().name(), fields.others));
        }
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.push(format!("recorded{}", fields.others));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        self.push(format!("closed {}", context.span(&id).expect("the span is there").name()));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let parent = context.event_span(event).map(|span| format!(" in {}", span.name())).unwrap_or_default();
        let (level, target) = (event.metadata().level(), event.metadata().target());
        if target.starts_with("mcpwire") {
            self.push(format!("{level} {target} {}{}{parent}", fields.message, fields.others));
        }
    }
}

const CONNECTION: [&str; 3] = ["DEBUG mcpwire::connection", "INFO mcpwire::connection", "WARN mcpwire::connection"];
const REQUEST: [&str; 5] =
    ["DEBUG mcpwire::request", "INFO mcpwire::request", "WARN mcpwire::request", "recorded", "closed"];

fn a_connection_and_its_process_are_events<A: Adapter>() {
    let capture = Capture::default();
    let server = server!("well-behaved --modern");
    capture.watch(|| {
        let client = A::open(&server.def, ConnectOptions::new(server.config.clone()));
        client.shutdown().expect("it ends");
    });
    assert_eq!(
        capture.lines_of(&CONNECTION),
        [
            "INFO mcpwire::connection process started",
            "DEBUG mcpwire::connection connecting transport=\"stdio\"",
            "INFO mcpwire::connection connected transport=\"stdio\" protocol_version=2026-07-28 \
             server_name=\"bad-habits\" server_version=\"1.0\"",
            "DEBUG mcpwire::connection closed",
            "INFO mcpwire::connection process ended exit=\"exited with code 0\"",
        ]
    );
}

fn a_call_is_a_span_within_the_current_span<A: Adapter>() {
    let capture = Capture::default();
    let server = server!("well-behaved --modern");
    capture.watch(|| {
        let mut client = A::open(&server.def, ConnectOptions::new(server.config.clone()));
        tracing::info_span!("work").in_scope(|| client.text("echo", json!({"message": "a-secret-argument"})));
        let late = Call::new("ponder").timeout(Duration::from_millis(50));
        client.call(late).expect_err("it is silent").assert(ErrorKind::Timeout, &[]);
        client.request_raw("vendor/none", None).expect_err("there is no such method");
        client.shutdown().expect("it ends");
    });
    let lines = capture.lines_of(&REQUEST);
    assert_eq!(
        lines[..4],
        [
            "INFO mcpwire::request span request method=\"tools/call\" tool=\"echo\" in work",
            "recorded",
            "recorded outcome=\"ok\"",
            "DEBUG mcpwire::request request ended method=\"tools/call\" tool=\"echo\" outcome=\"ok\" in request",
        ]
    );
    assert!(lines[4..].iter().take(2).any(|line| line == "closed request"), "{lines:?}");
    for expected in [
        "INFO mcpwire::request span request method=\"tools/call\" tool=\"ponder\" in none",
        "WARN mcpwire::request request failed method=\"tools/call\" tool=\"ponder\" outcome=\"timeout\" in request",
        "WARN mcpwire::request request failed method=\"vendor/none\" outcome=\"-32601\" in request",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}\n{lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| *line == "closed request").count(), 3);
    let all = capture.lines().join("\n");
    assert!(!all.contains("a-secret-argument"), "{all}");
}

fn a_session_that_is_opened_again_is_an_event<A: Adapter>() {
    let lost = AtomicBool::new(false);
    let web = Web::legacy(move |request, reply| {
        if lost.swap(true, Ordering::SeqCst) {
            reply.json(200, &request.answer(said("a-secret-result")));
        } else {
            reply.full(404, "", "");
        }
    });
    let capture = Capture::default();
    capture.watch(|| {
        let options = ConnectOptions::new(Config::default()).on_request(|_, head| {
            head.header("X-Audit", "a-secret-header").expect("it is a header");
        });
        let def = web.def().header("X-Key", "a-secret-key");
        let mut client = A::open(&def, options);
        client.text("echo", json!({"message": "a-secret-argument"}));
    });
    let all = capture.lines().join("\n");
    let places = ["session re-established", "request sent again", "request ended"].map(|event| {
        all.find(event).unwrap_or_else(|| panic!("no `{event}` in {all}"));
        all.find(event)
    });
    assert!(places.is_sorted(), "{all}");
    assert!(all.contains("recorded attempts=2"), "{all}");
    assert!(!all.contains("a-secret"), "{all}");
}

fn a_message_that_is_not_valid_is_a_warning_without_its_text<A: Adapter>() {
    let capture = Capture::default();
    let server = server!("noise");
    let excerpts = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&excerpts);
    capture.watch(|| {
        let options = ConnectOptions::new(server.config.clone())
            .on_invalid_message(move |excerpt| list.lock().unwrap().push(excerpt.to_owned()));
        let client = A::open(&server.def, options);
        client.shutdown().expect("it ends");
    });
    let excerpts = excerpts.lock().unwrap();
    let warned = capture.lines_of(&["WARN mcpwire::connection received an invalid message"]);
    assert!(!excerpts.is_empty());
    assert_eq!(warned.len(), excerpts.len());
    assert!(warned.iter().all(|line| line == "WARN mcpwire::connection received an invalid message"), "{warned:?}");
}

// The spans and histograms of `mcpwire-opentelemetry`, on every adapter.

type SpanAttributes = BTreeMap<String, String>;

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
    fn points(&self, name: &str) -> Vec<(SpanAttributes, u64, Vec<f64>)> {
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

fn attributes<'a>(attributes: impl IntoIterator<Item = &'a KeyValue>) -> SpanAttributes {
    attributes.into_iter().map(|attribute| (attribute.key.to_string(), attribute.value.to_string())).collect()
}

fn expected(pairs: &[(&str, &str)]) -> SpanAttributes {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

const STDIO: [(&str, &str); 2] = [("mcp.protocol.version", "2026-07-28"), ("network.transport", "pipe")];

fn a_call_is_a_span_and_the_parent_of_the_servers_spans<A: Adapter>() {
    let providers = Providers::new();
    let server = server!("well-behaved --modern");
    let mut client = A::open(&server.def, providers.options(server.config.clone()));
    let tracer = providers.tracers.tracer("program");
    let work = opentelemetry::Context::new().with_span(tracer.start("work"));
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
    let mut client = A::open(&server.def, providers.options(server.config.clone()));
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
    let mut client = A::open(&web.def(), providers.options(Config::default()));
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
    let mut client = A::open(&server.def, providers.options(server.config.clone()));
    client.call(Call::new("echo").with(json!([1]))).expect_err("arguments are an object");
    drop(client);
    let span = providers.span("tools/call echo");
    assert_eq!(attributes(&span.attributes)["error.type"], "not_sent");
    assert_eq!(span.status, Status::error("the client did not send the call"));
}

on_both_clients!(
    a_connection_and_its_process_are_events,
    a_call_is_a_span_within_the_current_span,
    a_session_that_is_opened_again_is_an_event,
    a_message_that_is_not_valid_is_a_warning_without_its_text,
    a_call_is_a_span_and_the_parent_of_the_servers_spans,
    failed_requests_have_an_error_type_and_a_status,
    a_session_that_is_opened_again_ends_the_old_session,
    a_call_that_is_not_sent_ends_its_span,
);
