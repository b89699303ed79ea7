//! Settings of a definition that the HTTP client must apply: an HTTP client of the program that does not is refused before it sends
//! a request.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mcpwire_driver::http::{HttpClient, HttpOptions, StaticToken};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind};
use mcpwire_driver::{ErrorKind, McpServerDef};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_reqwest::ReqwestClient;
use mcpwire_smol::Smol;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, OverHttp, on_every_adapter};
use serde_json::json;

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

on_every_adapter!(a_client_that_does_not_apply_a_setting_is_refused, a_client_made_for_the_definition_is_accepted);
