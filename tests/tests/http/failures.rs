//! What goes wrong over HTTP: servers that fail, and code of the program that panics.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use ::smol::io::{AsyncRead, Cursor};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture, TokenFuture, TokenProvider};
use mcpwire_driver::protocol::http::{Exchange, Failure as HttpFailure, FailureKind};
use mcpwire_tests::web::{Reply, Request, Web, echo, said, tools};
use mcpwire_tests::{Adapter, Call, Failure, OverHttp, WATCHDOG, on_both_clients, on_every_adapter};
use serde_json::{Value, json};

// What can go wrong between a client and a server that it speaks HTTP with: each fails what it concerns, in time, and nothing
// else.

/// What a call may take whose server says nothing.
const SHORT: Duration = Duration::from_millis(100);

fn open<A: Adapter>(web: &Web) -> A {
    let mut client = A::open(&web.def(), OverHttp::default().into());
    client.list_tools().expect("it has tools");
    client
}

/// How a call fails that a server answers so. What else goes over the connection goes on.
fn failing<A: Adapter>(answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Failure {
    failing_within::<A>(WATCHDOG, answer)
}

fn failing_within<A: Adapter>(
    timeout: Duration,
    answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static,
) -> Failure {
    let web = Web::modern(move |request, reply| match request.body["params"]["arguments"]["message"].as_str() {
        Some("good") => reply.json(200, &echo(request)),
        _ => answer(request, reply),
    });
    let mut client = open::<A>(&web);
    let failure = client.call(Call::new("echo").timeout(timeout)).expect_err("it fails");
    assert_eq!(client.text("echo", json!({"message": "good"})), "good");
    assert_eq!(client.in_flight(), 0);
    client.shutdown().expect("it ends");
    failure
}

/// Bytes are no sign of life of a request: only its progress is.
fn a_response_that_does_not_end_meets_the_deadline<A: Adapter>() {
    for begun in [
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"json",
    ] {
        let failure = failing_within::<A>(SHORT, move |_, reply| {
            reply.raw(begun);
            reply.until_closed();
        });
        assert_eq!(failure.kind, ErrorKind::Timeout, "{begun:?}: {failure}");
    }
    let failure = failing_within::<A>(SHORT, |_, reply| {
        reply.stream();
        while reply.chunk(": still here\n\n") {
            std::thread::sleep(Duration::from_millis(1));
        }
        reply.cut();
    });
    assert_eq!(failure.kind, ErrorKind::Timeout, "{failure}");
}

fn a_server_that_says_no_more_and_listens_on_is_lost<A: Adapter>() {
    for begun in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nda"]
    {
        let failure = failing::<A>(move |_, reply| {
            reply.raw(begun);
            reply.close_half();
        });
        assert_eq!(failure.kind, ErrorKind::Network, "{begun:?}: {failure}");
        assert!(failure.to_string().contains("lost"), "{failure}");
    }
}

fn a_reset_in_the_middle_of_an_event_fails_its_request<A: Adapter>() {
    for in_event in [false, true] {
        let failure = failing::<A>(move |request, reply| {
            if in_event {
                reply.stream();
                reply.chunk(&format!("data: {}", echo(request))[..40]);
            }
            reply.reset();
        });
        assert_eq!(failure.kind, ErrorKind::Network, "{failure}");
    }
}

/// Nothing was said of encodings, so a server has no reason to; a proxy may do it all the same.
fn an_encoding_that_was_not_asked_for_is_named<A: Adapter>() {
    for kind in ["application/json", "text/event-stream"] {
        let failure = failing::<A>(move |_, reply| {
            let headers = format!("Content-Type: {kind}\r\nContent-Encoding: gzip\r\n");
            reply.full(200, &headers, b"\x1f\x8b\x08\x00");
        });
        assert!(failure.to_string().contains("gzip") && failure.to_string().contains(kind), "{failure}");
    }
    let web = Web::modern(|request, reply| {
        let headers = "Content-Type: application/json\r\nContent-Encoding: identity\r\n";
        reply.full(200, headers, echo(request).to_string());
    });
    assert_eq!(open::<A>(&web).text("echo", json!({"message": "plain"})), "plain");
}

fn a_server_that_crashes_fails_what_is_under_way_and_what_follows<A: Adapter>() {
    let web = Arc::new(Web::modern(|_, reply| reply.until_closed()));
    let mut client = open::<A>(&web);
    let dying = Arc::clone(&web);
    let killer = std::thread::spawn(move || {
        while dying.count("tools/call") < 3 {
            std::thread::yield_now();
        }
        dying.die();
    });
    for result in client.call_together(vec![Call::new("echo"), Call::new("echo"), Call::new("echo")]) {
        let failure = result.expect_err("it has crashed");
        assert_eq!(failure.kind, ErrorKind::Network, "{failure}");
    }
    killer.join().expect("it dies");
    let failure = client.call(Call::new("echo")).expect_err("it has crashed");
    assert!(failure.to_string().contains("cannot be reached"), "{failure}");
    client.shutdown().expect("there is nothing to wait for");
}

/// A stream with an id could be taken up again, but not where nobody is any more.
fn a_server_that_crashes_is_not_waited_for_because_of_its_streams<A: Adapter>() {
    let streams = Arc::new(AtomicUsize::new(0));
    let begun = Arc::clone(&streams);
    let web = Arc::new(Web::legacy(move |_, reply| {
        reply.stream();
        reply.chunk("id: 1\nretry: 1\ndata: \n\n");
        begun.fetch_add(1, Ordering::SeqCst);
        reply.until_closed();
    }));
    let mut client = open::<A>(&web);
    let dying = Arc::clone(&web);
    let killer = std::thread::spawn(move || {
        while streams.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        dying.die();
    });
    let failure = client.call(Call::new("echo")).expect_err("it has crashed");
    assert_eq!(failure.kind, ErrorKind::Network, "{failure}");
    killer.join().expect("it dies");
    client.shutdown().expect("there is nothing to wait for");
}

/// One that is busy says so, and the next call is another matter: nothing is sent twice by itself.
fn a_call_is_sent_once<A: Adapter>() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let web = Web::modern(move |request, reply| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => reply.full(503, "Retry-After: 0\r\n", "busy"),
        1 => reply.cut(),
        _ => reply.json(200, &echo(request)),
    });
    let mut client = open::<A>(&web);
    assert!(client.failure("echo").to_string().contains("busy"));
    assert_eq!(client.failure("echo").kind, ErrorKind::Network);
    assert_eq!(client.text("echo", json!({"message": "now"})), "now");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

/// For each status: the kind of the error of a call, and whether the call can be repeated.
fn refusals_have_a_kind_a_status_and_a_time_to_wait<A: Adapter>() {
    let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n";
    let rpc = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}"#;
    let html = "<html>slow down</html>";
    for (status, headers, body, kind, wait, is_retryable) in [
        (401, "", html, ErrorKind::Unauthorized, None, false),
        (403, "", html, ErrorKind::Unauthorized, None, false),
        (404, "", html, ErrorKind::EndpointNotFound, None, false),
        (429, "", rpc, ErrorKind::RateLimited, None, true),
        (429, "retry-after: 7\r\n", rpc, ErrorKind::RateLimited, Some(7), true),
        (429, "Retry-After: 7\r\n", html, ErrorKind::RateLimited, Some(7), true),
        (429, "Retry-After: soon\r\n", html, ErrorKind::RateLimited, None, true),
        (500, "", html, ErrorKind::Unavailable, None, false),
        (503, date, html, ErrorKind::Unavailable, Some(30), true),
        (418, "", html, ErrorKind::Server, None, false),
    ] {
        let failure = failing::<A>(move |_, reply| reply.full(status, headers, body));
        failure.assert(kind, &["`tools/call` of `echo`", &status.to_string()]);
        let error = failure.error.expect("it is the server's");
        let wait = wait.map(Duration::from_secs);
        assert_eq!(
            (error.http_status(), error.retry_after(), error.is_retryable()),
            (Some(status), wait, is_retryable)
        );
        assert_eq!((error.method(), error.tool()), (Some("tools/call"), Some("echo")));
        assert!(error.to_string().contains("slow down"), "{error}");

        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let web = Web::start(move |_, reply| {
            counted.fetch_add(1, Ordering::SeqCst);
            reply.full(status, headers, body);
        });
        let mut client = A::over_http(&web.def(), OverHttp::default()).expect("the address is good");
        let error = client.initialize().expect_err("it is refused").error.expect("it is the server's");
        assert!(error.is_connecting(), "{error}");
        assert_eq!((error.http_status(), error.retry_after()), (Some(status), wait), "{error}");
        // `initialize` follows only if the error may be that of a legacy server.
        let gives_up = matches!(status, 401 | 403 | 429 | 503);
        assert_eq!(requests.load(Ordering::SeqCst) == 1, gives_up, "{status}: {requests:?} requests");
    }
}

// A token provider and an HTTP client that panic: the requests fail that they were to make, and no others.

struct Fragile(Arc<AtomicBool>);

impl TokenProvider for Fragile {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(async {
            assert!(!self.0.load(Ordering::SeqCst), "nobody is logged in");
            Ok(None)
        })
    }
}

fn a_token_provider_that_panics_fails_the_requests_it_is_asked_for<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("here"))));
    let panics = Arc::new(AtomicBool::new(false));
    let http = HttpOptions::default().token(Fragile(Arc::clone(&panics)));
    let mut client = A::open(&web.def(), OverHttp { http, ..OverHttp::default() }.into());
    for _ in 0..2 {
        panics.store(true, Ordering::SeqCst);
        let words = ["no access token", "the token provider panicked: nobody is logged in"];
        client.failure("echo").assert(ErrorKind::Unauthorized, &words);
        panics.store(false, Ordering::SeqCst);
        assert_eq!(client.text("echo", json!({})), "here");
    }
    assert_eq!((client.in_flight(), web.count("tools/call")), (0, 2));
}

/// Answers by itself, and panics where it is told to.
struct Breaks(Arc<Mutex<&'static str>>);

impl Breaks {
    fn check(place: &Mutex<&'static str>, here: &str) {
        let there = *place.lock().unwrap();
        assert_ne!(there, here, "on purpose");
    }
}

impl HttpClient for Breaks {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        Breaks::check(&self.0, "send");
        let place = Arc::clone(&self.0);
        Box::pin(async move {
            Breaks::check(&place, "head");
            if *place.lock().unwrap() == "unreachable" {
                return Err(HttpFailure::new(FailureKind::Unreachable, "the wire is cut"));
            }
            let request: Value = serde_json::from_slice(&exchange.body).expect("it is a message");
            let result = match request["method"].as_str() {
                Some("server/discover") => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
                _ => said("canned"),
            };
            let body = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
            let headers = vec![("Content-Type".to_owned(), b"application/json".to_vec())];
            let body = Body { place, bytes: Cursor::new(body.into_bytes()) };
            Ok(HttpResponse::new(200, headers, body))
        })
    }

    fn capacity(&self) -> usize {
        1
    }
}

struct Body {
    place: Arc<Mutex<&'static str>>,
    bytes: Cursor<Vec<u8>>,
}

impl AsyncRead for Body {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<std::io::Result<usize>> {
        Breaks::check(&self.place, "body");
        Pin::new(&mut self.bytes).poll_read(cx, buf)
    }
}

/// It needs no network, and takes one request at a time.
fn an_http_client_of_the_program_that_fails_or_panics_fails_its_own_requests<A: Adapter>() {
    let web = Web::modern(|_, reply| reply.json(200, &json!({})));
    let place = Arc::new(Mutex::new(""));
    let http = HttpOptions::default().client(Breaks(Arc::clone(&place)));
    let mut client = A::open(&web.def(), OverHttp { http, ..OverHttp::default() }.into());
    for here in ["send", "head", "body", "send", "unreachable"] {
        *place.lock().unwrap() = here;
        let failures = client.call_together(vec![Call::new("echo"), Call::new("echo")]);
        for failure in failures {
            let failure = failure.expect_err(here);
            match here {
                "unreachable" => failure.assert_says(&["the wire is cut"]),
                _ => failure.assert(ErrorKind::Network, &["the HTTP client panicked: ", "on purpose"]),
            }
        }
        *place.lock().unwrap() = "";
        assert_eq!(client.text("echo", json!({})), "canned", "after {here}");
    }
    assert_eq!((client.in_flight(), web.requests().len()), (0, 0));
}

// Servers that ask so often that the answers could use up connections, descriptors and memory.

/// The most connections of one client in these tests: the server's stream, four messages, two calls, and those that are being
/// replaced.
const MOST_CONNECTIONS: usize = 16;

/// What a server received of the answers to its pings.
#[derive(Clone, Default)]
struct Answers {
    ids: Arc<Mutex<BTreeSet<u64>>>,
    were_repeated: Arc<AtomicBool>,
}

impl Answers {
    fn len(&self) -> usize {
        self.ids.lock().unwrap().len()
    }

    fn add(&self, request: &Request) {
        assert_eq!(request.body["result"], json!({}), "{}", request.body);
        let id = request.body["id"].as_u64().expect("the id of a ping");
        let is_new = self.ids.lock().unwrap().insert(id);
        self.were_repeated.fetch_or(!is_new, Ordering::SeqCst);
    }
}

/// A legacy server that sends so many pings on its own stream at once, and handles each answer so.
fn pinging(pings: u64, on_answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Web {
    Web::start(move |request, reply| match request.method() {
        "server/discover" => reply.full(400, "", "no session"),
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "pinging", "version": "1"}});
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: s1\r\n";
            reply.full(200, headers, request.answer(result).to_string());
        }
        "notifications/initialized" | "DELETE" => reply.full(202, "", ""),
        "GET" => {
            reply.stream();
            for first in (0..pings).step_by(100) {
                let event = |id| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
                reply.chunk((first..(first + 100).min(pings)).map(event).collect::<String>());
            }
            reply.until_closed();
        }
        "tools/list" => reply.json(200, &request.answer(tools())),
        "tools/call" => reply.json(200, &request.answer(said("fine"))),
        "POST" => on_answer(request, reply),
        other => panic!("{other}"),
    })
}

fn open_flooded<A: Adapter>(web: &Web) -> A {
    A::open(&web.def(), OverHttp::default().into())
}

fn call<A: Adapter>(client: &mut A) {
    let call = Call::new("echo").timeout(WATCHDOG);
    assert_eq!(client.call(call).expect("calls go on").text().into_string(), "fine");
}

fn answers_to_many_pings_share_a_few_connections<A: Adapter>() {
    let answers = Answers::default();
    let received = answers.clone();
    let web = pinging(3_000, move |request, reply| {
        received.add(request);
        reply.full(202, "", "");
    });
    let other = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
    let (mut client, mut to_other) = (open_flooded::<A>(&web), open_flooded::<A>(&other));
    while answers.len() < 3_000 {
        call(&mut client);
        call(&mut to_other);
    }
    assert!(!answers.were_repeated.load(Ordering::SeqCst), "each ping has one answer");
    assert!(web.most_open() <= MOST_CONNECTIONS, "{}", web.most_open());
}

fn a_server_that_takes_no_answers_costs_a_few_connections<A: Adapter>() {
    let web = pinging(20_000, |_, reply| reply.until_closed());
    let other = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
    let (mut client, mut to_other) = (open_flooded::<A>(&web), open_flooded::<A>(&other));
    while web.count("POST") < 4 {
        call(&mut client);
    }
    for _ in 0..20 {
        call(&mut client);
        call(&mut to_other);
    }
    assert_eq!(web.count("POST"), 4, "the other answers wait");
    assert!(web.most_open() <= MOST_CONNECTIONS, "{}", web.most_open());
}

on_every_adapter!(
    a_response_that_does_not_end_meets_the_deadline,
    a_server_that_says_no_more_and_listens_on_is_lost,
    a_reset_in_the_middle_of_an_event_fails_its_request,
    a_server_that_crashes_fails_what_is_under_way_and_what_follows,
);

on_both_clients!(
    refusals_have_a_kind_a_status_and_a_time_to_wait,
    an_encoding_that_was_not_asked_for_is_named,
    a_server_that_crashes_is_not_waited_for_because_of_its_streams,
    a_call_is_sent_once,
    a_token_provider_that_panics_fails_the_requests_it_is_asked_for,
    an_http_client_of_the_program_that_fails_or_panics_fails_its_own_requests,
    answers_to_many_pings_share_a_few_connections,
    a_server_that_takes_no_answers_costs_a_few_connections,
);
