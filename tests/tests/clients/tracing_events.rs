//! What the clients emit through the `tracing` crate, on every adapter.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_client::{ConnectOptions, ErrorKind};
use mcpwire_driver::protocol::Config;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

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
        let mut client = A::connect_with(&server.def, ConnectOptions::new(server.config.clone())).expect("it starts");
        client.initialize().expect("it answers");
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
        let mut client = A::connect_with(&server.def, ConnectOptions::new(server.config.clone())).expect("it starts");
        client.initialize().expect("it answers");
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
        let mut client = A::connect_with(&def, options).expect("it starts");
        client.initialize().expect("it answers");
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
        let mut client = A::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        client.shutdown().expect("it ends");
    });
    let excerpts = excerpts.lock().unwrap();
    let warned = capture.lines_of(&["WARN mcpwire::connection received an invalid message"]);
    assert!(!excerpts.is_empty());
    assert_eq!(warned.len(), excerpts.len());
    assert!(warned.iter().all(|line| line == "WARN mcpwire::connection received an invalid message"), "{warned:?}");
}

on_every_adapter!(
    a_connection_and_its_process_are_events,
    a_call_is_a_span_within_the_current_span,
    a_session_that_is_opened_again_is_an_event,
    a_message_that_is_not_valid_is_a_warning_without_its_text,
);
