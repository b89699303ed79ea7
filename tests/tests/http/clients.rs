//! What single clients do over HTTP: the async client, the blocking client, and the HTTP client of reqwest.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_blocking::protocol::{CallTool, CallToolParams, Json, RequestOptions};
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::SendError;
use mcpwire_driver::{ConnectOptions, McpClient, McpServerDef};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_reqwest::ReqwestClient;
use mcpwire_tests::asynchronous::{Async, Host, Smol, Threads, TokioMulti, begun, eventually};
use mcpwire_tests::web::{Web, echo, said};
use mcpwire_tests::{Adapter, Call, Failure, Lines, OverHttp, on_every_async_adapter, on_one_runtime, watched};

// What async clients have beside that which all have in common, over HTTP: clones of a client, and calls that are dropped.

async fn open_async<H: Host>(web: &Web) -> McpClient<H::Runtime> {
    McpClient::connect_and_initialize(&web.def()).await.expect("it opens")
}

fn who_drops_a_call_closes_its_stream<H: Host>() {
    let web = Web::modern(|_, reply| {
        reply.stream();
        reply.until_closed();
    });
    H::start().block_on(async {
        let client = open_async::<H>(&web).await;
        let mut given_up = Box::pin(client.call_tool("echo", ()).send());
        assert!(begun(&mut given_up).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 1).await;
        drop(given_up);
        eventually::<H>(|| web.left() == 1).await;
        // The last client takes all with it.
        let clone = client.clone();
        let mut waiting = Box::pin(async move { clone.call_tool("echo", ()).await });
        assert!(begun(&mut waiting).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 2).await;
        drop((waiting, client));
        eventually::<H>(|| web.left() == 2).await;
    });
}

fn nothing_is_sent_after_the_end<H: Host>() {
    let web = Web::legacy(|request, reply| reply.json(200, &request.answer(said("old"))));
    H::start().block_on(async {
        let client = open_async::<H>(&web).await;
        client.shutdown().await.unwrap();
        let refused = client.call_tool("echo", ()).await;
        assert_eq!(refused.expect_err("it is closed").send_error(), Some(&SendError::Closed));
    });
    // The server may come to look at what opened its own stream, on another connection, later than that.
    let sent: Vec<String> =
        web.requests().into_iter().map(|request| request.verb).filter(|verb| verb != "GET").collect();
    assert_eq!(sent.last().map(String::as_str), Some("DELETE"));
}

#[test]
fn a_runtime_that_is_written_by_hand_is_enough() {
    watched(|| {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
        let http = Client::new(Arc::new(Threads), ClientOptions::default()).expect("there is a client");
        let options = ConnectOptions::default().http(HttpOptions::default().client(http));
        let client = McpClient::<()>::connect_on(Arc::new(Threads), &web.def(), options).expect("it is made");
        let result = ::smol::block_on(async {
            client.initialize().await?;
            client.call_tool("echo", ()).await
        });
        assert_eq!(result.expect("it is answered").text().into_string(), "fine");
    });
}

// What the blocking client does over HTTP that the others cannot: what is under way when it is dropped, and the thread that makes
// its requests.

pub(super) fn open_blocking(web: &Web) -> mcpwire_blocking::McpClient {
    mcpwire_blocking::McpClient::connect_and_initialize(&web.def()).expect("it opens")
}

#[test]
fn what_is_dropped_closes_its_streams() {
    watched(|| {
        let left = Lines::default();
        let told = left.clone();
        let web = Web::modern(move |_, reply| {
            reply.stream();
            reply.until_closed();
            told.push("left");
        });
        let mut client = open_blocking(&web);
        let arguments = Json::parse("{}").unwrap();
        let call = CallToolParams { name: "echo", arguments: &arguments };
        let _ticket = client.begin::<CallTool>(&call, &RequestOptions::new()).unwrap();
        while web.count("tools/call") == 0 {
            client.listen(Duration::from_millis(1)).unwrap();
        }
        drop(client);
        left.wait_for("left");
    });
}

#[test]
fn a_session_that_is_dropped_is_ended_on_the_server() {
    watched(|| {
        let web = Web::legacy(move |request, reply| reply.json(200, &request.answer(said("old"))));
        drop(open_blocking(&web));
        while web.count("DELETE") == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn a_notification_goes_out_while_nobody_waits() {
    watched(|| {
        let come = Lines::default();
        let told = come.clone();
        let web = Web::modern(move |request, reply| {
            told.push(request.method());
            reply.full(202, "", "");
        });
        let mut client = open_blocking(&web);
        client.notify_raw("notifications/custom", None).unwrap();
        come.wait_for("notifications/custom");
    });
}

// The HTTP client of reqwest: redirects, and runtimes other than tokio. What it has in common with the HTTP clients of the runtimes is
// in `sockets.rs`.

fn open_with_reqwest<A: Adapter>(web: &Web, client: ReqwestClient) -> Result<A, Failure> {
    let http = HttpOptions::default().client(client);
    let mut client = A::over_http(&web.def(), OverHttp { http, ..OverHttp::default() })?;
    client.initialize()?;
    Ok(client)
}

fn from_builder() -> ReqwestClient {
    ReqwestClient::from_builder(reqwest::Client::builder()).expect("it is built")
}

#[test]
fn the_user_agent_of_the_program_is_sent() {
    let web = Web::echoing();
    let sent = |def: &McpServerDef, builder: reqwest::ClientBuilder| {
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
    assert_eq!(sent(&web.def(), reqwest::Client::builder().user_agent("my-app/1.0")), ["my-app/1.0"]);
    let def = web.def().header("User-Agent", "for-this-server/2");
    assert_eq!(sent(&def, reqwest::Client::builder().user_agent("my-app/1.0")), ["for-this-server/2"]);
    let default = sent(&web.def(), reqwest::Client::builder());
    assert!(default.len() == 1 && default[0].starts_with("mcpwire/"), "{default:?}");
}

#[test]
fn a_client_that_follows_redirects_by_itself_fails_the_request() {
    let web = Web::start(|request, reply| match request.path.as_str() {
        "/mcp" => reply.full(307, "Location: /real\r\n", ""),
        _ => reply.json(200, &echo(request)),
    });
    let client = ReqwestClient::without_redirects(reqwest::Client::new());
    let error = open_with_reqwest::<Async<TokioMulti>>(&web, client).err().expect("it is refused").to_string();
    assert!(error.contains("reqwest has followed a redirect") && error.contains("from_builder"), "{error}");
}

#[test]
fn other_runtimes_are_told_that_tokio_is_missing() {
    let web = Web::echoing();
    let error = open_with_reqwest::<Async<Smol>>(&web, from_builder()).err().expect("there is no tokio").to_string();
    assert!(error.contains("needs a tokio runtime"), "{error}");
    assert!(web.requests().is_empty());
}

on_every_async_adapter!(who_drops_a_call_closes_its_stream,);

on_one_runtime!(nothing_is_sent_after_the_end,);
