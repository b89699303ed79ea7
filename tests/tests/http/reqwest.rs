//! The HTTP client of reqwest: progress and answers by one stream, redirects, and runtimes other than tokio. What it has in common
//! with the HTTP clients of the runtimes is in `sockets.rs`.

use std::sync::Arc;

use ::reqwest::{Client, ClientBuilder};
use mcpwire_driver::McpServerDef;
use mcpwire_driver::http::HttpOptions;
use mcpwire_reqwest::ReqwestClient;
use mcpwire_tests::asynchronous::{Async, Smol, TokioMulti};
use mcpwire_tests::web::{Request, Web, said};
use mcpwire_tests::{Adapter, Call, Failure, OverHttp};
use serde_json::{Value, json};

fn open<A: Adapter>(web: &Web, client: ReqwestClient) -> Result<A, Failure> {
    let http = HttpOptions::default().client(client);
    let mut client = A::over_http(&web.def(), OverHttp { http, ..OverHttp::default() })?;
    client.initialize()?;
    Ok(client)
}

fn from_builder() -> ReqwestClient {
    ReqwestClient::from_builder(Client::builder()).expect("it is built")
}

fn echo(request: &Request) -> Value {
    request.answer(said(request.body["params"]["arguments"]["message"].as_str().unwrap_or("nothing")))
}

#[test]
fn a_tool_is_called_and_reports_progress() {
    let web = Web::modern(|request, reply| {
        reply.stream();
        let token = &request.body["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1});
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        for byte in format!(": hi\r\n\r\ndata: {progress}\n\ndata: {}\n\n", echo(request)).bytes() {
            reply.chunk([byte]);
        }
        reply.end();
    });
    let mut client = open::<Async<TokioMulti>>(&web, from_builder()).expect("it opens");
    for n in 0..20 {
        let reports = Arc::default();
        let call = Call::new("echo").with(json!({"message": n.to_string()})).progress(&reports);
        assert_eq!(client.call(call).unwrap().text().into_string(), n.to_string());
        assert_eq!(reports.lock().unwrap().len(), 1);
    }
    assert_eq!(web.requests().last().unwrap().header("mcp-name"), Some("echo"));
    client.shutdown().expect("it ends");
}

#[test]
fn the_user_agent_of_the_program_is_sent() {
    let web = Web::modern(|request, reply| reply.json(200, &echo(request)));
    let sent = |def: &McpServerDef, builder: ClientBuilder| {
        let http = HttpOptions::default().client(ReqwestClient::from_builder(builder).expect("it is built"));
        let mut client =
            Async::<TokioMulti>::over_http(def, OverHttp { http, ..OverHttp::default() }).expect("it starts");
        client.initialize().expect("it opens");
        let before = web.requests().len();
        client.call(Call::new("echo")).expect("it answers");
        web.requests()[before..]
            .iter()
            .map(|request| request.header("user-agent").unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(sent(&web.def(), Client::builder().user_agent("my-app/1.0")), ["my-app/1.0"]);
    let def = web.def().header("User-Agent", "for-this-server/2");
    assert_eq!(sent(&def, Client::builder().user_agent("my-app/1.0")), ["for-this-server/2"]);
    let default = sent(&web.def(), Client::builder());
    assert!(default.len() == 1 && default[0].starts_with("mcpwire/"), "{default:?}");
}

#[test]
fn a_redirect_to_another_origin_sends_nothing_there() {
    let other = Web::modern(|request, reply| reply.json(200, &echo(request)));
    let location = format!("Location: {}\r\n", other.url());
    let web = Web::modern(move |_, reply| reply.full(307, &location, ""));
    let mut client = open::<Async<TokioMulti>>(&web, from_builder()).expect("it opens");
    let error = client.call(Call::new("echo")).expect_err("it is refused").to_string();
    assert!(error.contains("another origin"), "{error}");
    assert!(other.requests().is_empty());
}

#[test]
fn a_client_that_follows_redirects_by_itself_fails_the_request() {
    let web = Web::start(|request, reply| match request.path.as_str() {
        "/mcp" => reply.full(307, "Location: /real\r\n", ""),
        _ => reply.json(200, &echo(request)),
    });
    let client = ReqwestClient::without_redirects(Client::new());
    let error = open::<Async<TokioMulti>>(&web, client).err().expect("it is refused").to_string();
    assert!(error.contains("reqwest has followed a redirect") && error.contains("from_builder"), "{error}");
}

#[test]
fn other_runtimes_are_told_that_tokio_is_missing() {
    let web = Web::modern(|request, reply| reply.json(200, &echo(request)));
    let error = open::<Async<Smol>>(&web, from_builder()).err().expect("there is no tokio").to_string();
    assert!(error.contains("needs a tokio runtime"), "{error}");
    assert!(web.requests().is_empty());
}
