//! A token provider and an HTTP client that panic: the requests fail that they were to make, and no others.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use ::smol::io::{AsyncRead, Cursor};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture, TokenFuture, TokenProvider};
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, OverHttp, on_every_adapter};
use serde_json::{Value, json};

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
    let mut client = A::over_http(&web.def(), OverHttp { http, ..OverHttp::default() }).expect("it is made");
    client.initialize().expect("it opens");
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

fn an_http_client_that_panics_fails_its_own_requests<A: Adapter>() {
    let web = Web::modern(|_, reply| reply.json(200, &json!({})));
    let place = Arc::new(Mutex::new(""));
    let http = HttpOptions::default().client(Breaks(Arc::clone(&place)));
    let mut client = A::over_http(&web.def(), OverHttp { http, ..OverHttp::default() }).expect("it is made");
    client.initialize().expect("it opens");
    for here in ["send", "head", "body", "send"] {
        *place.lock().unwrap() = here;
        let failures = client.call_together(vec![Call::new("echo"), Call::new("echo")]);
        for failure in failures {
            failure.expect_err(here).assert(ErrorKind::Network, &["the HTTP client panicked: ", "on purpose"]);
        }
        *place.lock().unwrap() = "";
        assert_eq!(client.text("echo", json!({})), "canned", "after {here}");
    }
    assert_eq!((client.in_flight(), web.requests().len()), (0, 0));
}

on_every_adapter!(
    a_token_provider_that_panics_fails_the_requests_it_is_asked_for,
    an_http_client_that_panics_fails_its_own_requests,
);
