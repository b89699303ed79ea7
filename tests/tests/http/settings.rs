//! Settings of definitions, and the callback that adds headers to requests.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mcpwire_driver::http::{HttpClient, HttpOptions, StaticToken};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind, SettingsError};
use mcpwire_driver::{ConnectOptions, ErrorKind, McpServerDef};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_reqwest::ReqwestClient;
use mcpwire_smol::Smol;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, OverHttp, on_both_clients};
use serde_json::json;

// Settings of a definition that the HTTP client must apply: an HTTP client of the program that does not is refused before it sends
// a request.

fn web() -> Web {
    Web::modern(|request, reply| reply.json(200, &request.answer(said("through"))))
}

fn over_http(client: Option<Box<dyn HttpClient>>) -> OverHttp {
    let http = HttpOptions::default().token(StaticToken("s3cret".into()));
    let http = match client {
        Some(client) => http.client(client),
        None => http,
    };
    OverHttp { http, ..OverHttp::default() }
}

/// Returns definitions of the server, each with the name of the setting that it has.
fn definitions(web: &Web) -> Vec<(&'static str, McpServerDef)> {
    let path = Some(PathBuf::from("/nonexistent/file"));
    let with = |set: &dyn Fn(&mut McpServerDef)| {
        let mut def = web.def().name("near");
        set(&mut def);
        def
    };
    vec![
        ("unix_socket", with(&|def| def.unix_socket.clone_from(&path))),
        ("proxy", with(&|def| def.proxy = Some("http://user:hunter2@127.0.0.1:1".into()))),
        ("ca_file", with(&|def| def.ca_file.clone_from(&path))),
        ("client_certificate", with(&|def| def.client_certificate.clone_from(&path))),
        ("client_key", with(&|def| def.client_key.clone_from(&path))),
    ]
}

fn a_client_that_does_not_apply_a_setting_is_refused<A: Adapter>() {
    let web = web();
    let sent = Arc::new(AtomicUsize::new(0));
    let closure = || -> Box<dyn HttpClient> {
        let sent = Arc::clone(&sent);
        Box::new(move |_: Exchange| {
            sent.fetch_add(1, Ordering::SeqCst);
            ready(Err(Failure::new(FailureKind::Unreachable, "sent".to_owned())))
        })
    };
    let reqwest = || -> Box<dyn HttpClient> {
        Box::new(ReqwestClient::from_builder(reqwest::Client::builder()).expect("it is built"))
    };
    // A client of ours that was made for another server.
    let other = || -> Box<dyn HttpClient> {
        Box::new(Client::new(Arc::new(Smol), ClientOptions::default()).expect("it is built"))
    };
    let clients: [&dyn Fn() -> Box<dyn HttpClient>; 3] = [&closure, &reqwest, &other];
    for (name, def) in definitions(&web) {
        for client in clients {
            let opened = A::over_http(&def, over_http(Some(client())));
            let failure = opened.and_then(|mut client| client.initialize()).expect_err(name);
            let setting = format!("does not apply `{name}`");
            let advice = format!("remove `{name}` from the definition");
            failure.assert(ErrorKind::Usage, &["server `near`", &setting, &advice]);
            assert!(!failure.text.contains("hunter2"), "{failure}");
        }
    }
    assert_eq!((web.requests().len(), sent.load(Ordering::SeqCst)), (0, 0));
}

/// Writes a PEM file with this section.
fn pem_file(directory: &Path, label: &str, der: &[u8]) -> PathBuf {
    let path = directory.join(format!("{label}.pem"));
    let text = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der));
    std::fs::write(&path, text).expect("there is room for a file");
    path
}

fn a_client_made_for_the_definition_is_accepted<A: Adapter>() {
    let web = web();
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = pem_file(directory.path(), "CERTIFICATE", made.cert.der());
    let mut def = McpServerDef::http("http://server.test/mcp");
    def.proxy = Some(web.url().trim_end_matches("/mcp").to_owned());
    def.ca_file = Some(certificate.clone());
    def.client_certificate = Some(certificate);
    def.client_key = Some(pem_file(directory.path(), "PRIVATE KEY", made.signing_key.serialized_der()));
    let of_program = Client::new(Arc::new(Smol), ClientOptions::of(&def)).expect("it is built");
    for client in [None, Some(Box::new(Arc::new(of_program)) as Box<dyn HttpClient>)] {
        let mut client = A::over_http(&def, over_http(client)).expect("it is accepted");
        client.initialize().expect("the proxy passes it on");
        assert_eq!(client.call(Call::new("echo").with(json!({}))).unwrap().text().into_string(), "through");
        client.shutdown().expect("it ends");
    }
    assert!(web.requests().iter().all(|request| request.header("host") == Some("server.test")));
}

// The program's callback adds headers to single HTTP requests, on every adapter.

/// The values of the header `x-call` in the requests, with their methods.
fn headers(web: &Web) -> Vec<(String, Option<String>)> {
    let value = |request: &mcpwire_tests::web::Request| request.header("x-call").map(ToOwned::to_owned);
    web.requests().iter().map(|request| (request.method().to_owned(), value(request))).collect()
}

fn only_the_call_of_one_tool_has_the_header<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
    let name = web.def().display_name().to_owned();
    let options = ConnectOptions::default().on_request(move |call, head| {
        assert_eq!(&*call.server, name);
        assert!(head.url().ends_with("/mcp") && head.verb() == "POST");
        assert_eq!(head.get("content-type"), Some("application/json"));
        if call.tool() == Some("echo") && call.id.is_some() {
            head.header("X-Call", "first").expect("it is a header");
            head.header("x-call", format!("attempt {}", call.attempt)).expect("it is a header");
        }
        let refused = head.header("Mcp-Method", "other");
        assert!(matches!(refused, Err(SettingsError::HeaderName { .. })), "{refused:?}");
        let refused = head.header("X-Call", "a\r\nb");
        assert!(matches!(refused, Err(SettingsError::HeaderValue { .. })), "{refused:?}");
    });
    let mut client = A::open(&web.def(), options);
    client.list_tools().expect("it has tools");
    client.text("echo", json!({}));
    client.request_raw("vendor/other", None).expect("it answers");
    let with = ("tools/call".to_owned(), Some("attempt 1".to_owned()));
    let without = |method: &str| (method.to_owned(), None);
    assert_eq!(headers(&web), [without("server/discover"), without("tools/list"), with, without("vendor/other")]);
}

fn a_request_that_is_sent_again_is_another_attempt<A: Adapter>() {
    let lost = AtomicBool::new(false);
    let web = Web::legacy(move |request, reply| {
        if lost.swap(true, Ordering::SeqCst) {
            reply.json(200, &request.answer(said("hi")));
        } else {
            reply.full(404, "", "");
        }
    });
    let options = ConnectOptions::default().on_request(|call, head| {
        if let Some(tool) = call.tool() {
            head.header("X-Call", format!("{tool}, attempt {}", call.attempt)).expect("it is a header");
        }
    });
    let mut client = A::open(&web.def(), options);
    client.text("echo", json!({}));
    let calls: Vec<_> = headers(&web).into_iter().filter_map(|(_, value)| value).collect();
    assert_eq!(calls, ["echo, attempt 1", "echo, attempt 2"]);
}

/// Without its headers, the request must not go out.
fn a_request_whose_callback_panics_is_not_sent<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
    let is_broken = Arc::new(AtomicBool::new(true));
    let broken = Arc::clone(&is_broken);
    let options = ConnectOptions::default().on_request(move |call, _| {
        assert!(call.tool().is_none() || !broken.load(Ordering::SeqCst), "no tenant");
    });
    let mut client = A::open(&web.def(), options);
    let failure = client.call(Call::new("echo")).expect_err("it is not sent");
    failure.assert_says(&["the callback `on_request` panicked: no tenant"]);
    assert_eq!(web.count("tools/call"), 0);
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!(client.text("echo", json!({})), "hi");
}

on_both_clients!(
    a_client_that_does_not_apply_a_setting_is_refused,
    a_client_made_for_the_definition_is_accepted,
    only_the_call_of_one_tool_has_the_header,
    a_request_that_is_sent_again_is_another_attempt,
    a_request_whose_callback_panics_is_not_sent,
);
