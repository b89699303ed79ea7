//! What an observer learns of connections and their requests, on every adapter.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_client::{
    ConnectOptions, ConnectionEvent, ConnectionInfo, Direction, Observer, RequestInfo, RequestOutcome, Transport,
};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::{ServerInfo, Tag};
use mcpwire_tests::web::Web;
use mcpwire_tests::{Adapter, Call, on_both_clients, server};
use serde_json::json;

/// What an observer was told, a line each, and the numbers of bytes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    lines: Vec<String>,
    sent: u64,
    received: u64,
}

impl Log {
    fn push(&self, line: String) {
        self.0.lock().unwrap().lines.push(line);
    }

    /// The lines since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().lines)
    }

    fn options(&self, config: mcpwire_driver::protocol::Config) -> ConnectOptions {
        ConnectOptions::new(config).observer(self.clone())
    }
}

fn name(request: &RequestInfo) -> String {
    assert_eq!(request.caller.as_ref().and_then(Tag::get), Some(&7_u64));
    let target = request.target.as_deref().map(|target| format!(" {target}")).unwrap_or_default();
    format!("{}{target}", request.method)
}

impl Observer for Log {
    fn caller(&self, _: Option<&str>) -> Option<Tag> {
        Some(Tag::new(7_u64))
    }

    fn connecting(&self, connection: &ConnectionInfo) {
        assert_eq!(connection.protocol_version, None);
        self.push("connecting".into());
    }

    fn connected(&self, connection: &ConnectionInfo, server: &ServerInfo, _: Duration) {
        assert_eq!(connection.protocol_version, Some(server.protocol_version));
        self.push(format!("connected: {:?}, {}", connection.transport, server.era));
    }

    fn begin(&self, request: &RequestInfo) {
        self.push(format!("begin {}", name(request)));
    }

    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        self.push(format!("attempt {attempt} {}", name(request)));
    }

    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, _: Duration) {
        self.push(format!("end {}: {outcome:?}", name(request)));
    }

    fn bytes(&self, _: &ConnectionInfo, direction: Direction, bytes: u64) {
        let mut told = self.0.lock().unwrap();
        match direction {
            Direction::Sent => told.sent += bytes,
            Direction::Received => told.received += bytes,
        }
    }

    fn event(&self, connection: &ConnectionInfo, event: &ConnectionEvent<'_>) {
        let line = match event {
            ConnectionEvent::ProcessStarted { pid } => {
                assert!(*pid > 0);
                assert_eq!(connection.transport, Transport::Stdio);
                "process started".into()
            }
            ConnectionEvent::ProcessExited { .. } => "process exited".into(),
            ConnectionEvent::Restarting => "restarting".into(),
            ConnectionEvent::SessionReestablished => "session reestablished".into(),
            ConnectionEvent::InvalidMessage { .. } => "invalid message".into(),
            ConnectionEvent::Closed { .. } => "closed".into(),
            other => format!("{other:?}"),
        };
        self.push(line);
    }
}

fn calls_have_a_beginning_and_an_end<A: Adapter>() {
    let server = server!("well-behaved --modern");
    let log = Log::default();
    let mut client = A::open(&server.def, log.options(server.config.clone()));
    assert_eq!(client.text("echo", json!({"message": "hi"})), "hi");
    let late = Call::new("ponder").timeout(Duration::from_millis(50));
    client.call(late).expect_err("it is silent").assert(ErrorKind::Timeout, &[]);
    client.request_raw("vendor/none", None).expect_err("there is no such method");
    client.shutdown().expect("it ends");
    assert_eq!(
        log.take(),
        [
            "process started",
            "connecting",
            "connected: Stdio, modern",
            "begin tools/call echo",
            "end tools/call echo: Ok",
            "begin tools/call ponder",
            "end tools/call ponder: Failed(Timeout)",
            "begin vendor/none",
            "end vendor/none: Refused(-32601)",
            "closed",
            "process exited",
        ]
    );
    let told = log.0.lock().unwrap();
    assert!(told.sent > 200 && told.received > 100, "{} bytes sent, {} received", told.sent, told.received);
}

/// An observer with a number, which its data of each request must contain.
struct Numbered(u64, Arc<Mutex<Vec<String>>>);

impl Observer for Numbered {
    fn caller(&self, _: Option<&str>) -> Option<Tag> {
        Some(Tag::new(self.0))
    }

    fn begin(&self, request: &RequestInfo) {
        assert_ne!(self.0, 2, "the second observer panics");
        let caller = request.caller.as_ref().and_then(Tag::get::<u64>);
        self.1.lock().unwrap().push(format!("{} begins with {caller:?}", self.0));
    }

    fn end(&self, request: &RequestInfo, _: &RequestOutcome, _: Duration) {
        let caller = request.caller.as_ref().and_then(Tag::get::<u64>);
        self.1.lock().unwrap().push(format!("{} ends with {caller:?}", self.0));
    }
}

fn several_observers_each_get_their_own_data<A: Adapter>() {
    let server = server!("well-behaved");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let options = (1..=3).fold(ConnectOptions::new(server.config.clone()), |options, number| {
        options.observer(Numbered(number, Arc::clone(&lines)))
    });
    let mut client = A::open(&server.def, options);
    assert_eq!(client.text("echo", json!({"message": "hi"})), "hi");
    client.shutdown().expect("it ends");
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "1 begins with Some(1)",
            "3 begins with Some(3)",
            "1 ends with Some(1)",
            "2 ends with Some(2)",
            "3 ends with Some(3)"
        ]
    );
}

fn a_server_is_started_again<A: Adapter>() {
    let server = server!("dies-on-probe");
    let log = Log::default();
    let client = A::open(&server.def, log.options(server.config.clone()));
    client.shutdown().expect("it ends");
    assert_eq!(
        log.take(),
        [
            "process started",
            "connecting",
            "restarting",
            "process exited",
            "process started",
            "connected: Stdio, legacy",
            "closed",
            "process exited",
        ]
    );
}

fn input_of_the_client_is_another_attempt<A: Adapter>() {
    let server = server!("rounds --modern");
    let log = Log::default();
    let options = log
        .options(server.config.clone())
        .roots([])
        .on_elicitation(async |_, _| Ok(mcpwire_driver::protocol::ElicitResult::decline()));
    let mut client = A::open(&server.def, options);
    log.take();
    client.text("interview", json!({}));
    let expected = [
        "begin tools/call interview",
        "attempt 2 tools/call interview",
        "attempt 3 tools/call interview",
        "end tools/call interview: Ok",
    ];
    assert_eq!(log.take(), expected);
}

fn a_session_that_the_server_has_lost_is_another_attempt<A: Adapter>() {
    let lost = std::sync::atomic::AtomicBool::new(false);
    let web = Web::legacy(move |request, reply| {
        if lost.swap(true, std::sync::atomic::Ordering::SeqCst) {
            reply.json(200, &request.answer(json!({"content": [], "isError": true})));
        } else {
            reply.full(404, "", "");
        }
    });
    let log = Log::default();
    let mut client = A::open(&web.def(), log.options(mcpwire_driver::protocol::Config::default()));
    assert!(client.call(Call::new("echo")).expect("it answers").is_error);
    let told = log.take();
    let sent = "begin tools/call echo".to_owned();
    let begun = told.iter().position(|line| *line == sent).expect("it is sent");
    assert_eq!(told[..begun], ["connecting", "connected: Http, legacy"]);
    let ended = [&sent, "session reestablished", "attempt 2 tools/call echo", "end tools/call echo: ToolFailed"];
    assert_eq!(told[begun..], ended);
    assert_eq!(web.count("tools/call"), 2);
    let told = log.0.lock().unwrap();
    assert!(told.sent > 200 && told.received > 100, "{} bytes sent, {} received", told.sent, told.received);
}

fn a_message_that_is_none_is_reported<A: Adapter>() {
    let server = server!("noise");
    let log = Log::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let options = log
        .options(server.config.clone())
        .on_invalid_message(move |excerpt| list.lock().unwrap().push(excerpt.to_owned()));
    let mut client = A::open(&server.def, options);
    client.assert_alive();
    client.shutdown().expect("it ends");
    let reported = log.take().iter().filter(|line| *line == "invalid message").count();
    assert!(reported > 0);
    assert_eq!(seen.lock().unwrap().len(), reported);
}

on_both_clients!(
    several_observers_each_get_their_own_data,
    calls_have_a_beginning_and_an_end,
    a_server_is_started_again,
    input_of_the_client_is_another_attempt,
    a_session_that_the_server_has_lost_is_another_attempt,
    a_message_that_is_none_is_reported,
);
