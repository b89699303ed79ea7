//! Servers that are spoken to by HTTP, over real sockets: the same client, the same calls; and what servers, and what is between,
//! can do to them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::smol::io::Cursor;
use mcpwire_driver::core::http::{Exchange, Failure, FailureKind};
use mcpwire_driver::core::{Config, SendError};
use mcpwire_driver::http::{Begun, HttpClient, HttpOptions, HttpResponse, StaticToken, TokenProvider};
use mcpwire_driver::{ConnectOptions, Direction, Error, ErrorKind, McpClient, McpServerDef};
use mcpwire_tests::asynchronous::{Host, all, begun, eventually};
use mcpwire_tests::on_every_async_adapter;
use mcpwire_tests::web::{Reply, Request, Web, said, tools};
use serde_json::{Value, json};

type Client<H> = McpClient<<H as Host>::Runtime>;

fn echo(request: &Request) -> Value {
    request.answer(said(request.body["params"]["arguments"]["message"].as_str().unwrap_or("nothing")))
}

async fn open<H: Host>(web: &Web) -> Client<H> {
    Client::<H>::connect_and_initialize(&web.def()).await.expect("it opens")
}

async fn open_with<H: Host>(def: &McpServerDef, options: ConnectOptions) -> Result<Client<H>, Error> {
    let client = Client::<H>::connect_with(def, options)?;
    client.initialize().await?;
    Ok(client)
}

async fn call<H: Host>(client: &Client<H>, message: &str) -> Result<String, Error> {
    Ok(client.call_tool("echo", json!({"message": message})).await?.text().into_string())
}

/// What a call of a server fails with that answers it so.
fn failing<H: Host>(answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> String {
    let web = Web::modern(answer);
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        let error = call::<H>(&client, "x").await.expect_err("it fails").to_string();
        // Nothing else has suffered.
        client.list_tools().await.expect("the connection goes on");
        assert_eq!(client.in_flight(), 0);
        error
    })
}

fn a_tool_is_called<H: Host>() {
    let web = Web::modern(|request, reply| reply.json(200, &echo(request)));
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        for n in 0..20 {
            assert_eq!(call::<H>(&client, &n.to_string()).await.unwrap(), n.to_string());
        }
        client.shutdown().await.unwrap();
    });
    assert_eq!(web.requests().last().unwrap().header("mcp-name"), Some("echo"));
    assert_eq!(web.connections(), 1, "the connection is kept");
}

fn an_answer_comes_by_a_stream_in_pieces_of_any_size<H: Host>() {
    let web = Web::modern(|request, reply| {
        reply.raw("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n");
        reply.stream();
        let token = &request.body["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1});
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        for byte in format!(": hi\r\n\r\ndata: {progress}\n\ndata: {}\n\n", echo(request)).bytes() {
            reply.chunk([byte]);
        }
        reply.end();
    });
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        let told = AtomicUsize::new(0);
        let call = client.call_tool("echo", json!({"message": "hi"})).on_progress(|_| {
            told.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(call.await.unwrap().text().into_string(), "hi");
        assert_eq!(told.into_inner(), 1);
    });
    assert_eq!(web.connections(), 1);
}

fn what_ends_in_its_middle_fails_its_request_and_no_other<H: Host>() {
    let error = failing::<H>(|_, reply| {
        reply.stream();
        reply.chunk("data: {\"jsonrpc\":\"2.0\",\"id\":");
        reply.cut();
    });
    assert!(error.contains("lost") || error.contains("ended"), "{error}");
    let error = failing::<H>(|_, reply| {
        reply.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"json");
        reply.cut();
    });
    assert!(error.contains("lost"), "{error}");
    let error = failing::<H>(|_, reply| reply.cut());
    assert!(error.contains("lost"), "{error}");
    let error = failing::<H>(|_, reply| {
        reply.stream();
        reply.end();
    });
    assert!(error.contains("without an answer"), "{error}");
}

fn what_is_no_answer_is_told_as_it_is<H: Host>() {
    let error = failing::<H>(|_, reply| reply.full(200, "Content-Type: text/html\r\n", "<h1>Hello</h1>"));
    assert!(error.contains("text/html") && error.contains("Hello"), "{error}");
    let error = failing::<H>(|_, reply| reply.full(503, "", "come back later"));
    assert!(error.contains("503") && error.contains("come back later"), "{error}");
    let error = failing::<H>(|_, reply| {
        reply.raw("this is not HTTP\r\n\r\n");
        reply.cut();
    });
    assert!(error.contains("not what HTTP allows"), "{error}");
    let error = failing::<H>(|_, reply| {
        reply.raw(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Y: z\r\n".repeat(200)));
        reply.cut();
    });
    assert!(error.contains("not what HTTP allows"), "{error}");
    let error = failing::<H>(|_, reply| {
        reply.raw(format!("HTTP/1.1 200 OK\r\nX-Y: {}\r\n\r\n", "z".repeat(1 << 20)));
        reply.cut();
    });
    assert!(error.contains("not what HTTP allows") || error.contains("lost"), "{error}");
}

fn redirects_stay_where_they_are<H: Host>() {
    let web = Web::start(|request, reply| match (request.path.as_str(), request.method()) {
        ("/mcp", _) => reply.full(307, "Location: /real\r\n", ""),
        (_, "server/discover") => {
            let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
            reply.json(200, &request.answer(result));
        }
        (_, "tools/list") => reply.json(200, &request.answer(tools())),
        _ => reply.json(200, &echo(request)),
    });
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        assert_eq!(call::<H>(&client, "on").await.unwrap(), "on");
    });
    let error = failing::<H>(|_, reply| reply.full(307, "Location: /mcp\r\n", ""));
    assert!(error.contains("more than 5 times"), "{error}");
    let error = failing::<H>(|_, reply| reply.full(302, "Location: /elsewhere\r\n", ""));
    assert!(error.contains("redirects"), "{error}");
    let error = failing::<H>(|_, reply| reply.full(308, "Location: http://127.0.0.1:1/mcp\r\n", ""));
    assert!(error.contains("another origin"), "{error}");
}

fn messages_have_a_limit<H: Host>() {
    let web = Web::modern(|request, reply| {
        let is_stream = request.body["params"]["arguments"]["message"] == "stream";
        let answer = request.answer(said(&"x".repeat(200_000)));
        if is_stream {
            reply.stream();
            reply.event(&answer);
            reply.end();
        } else {
            reply.json(200, &answer);
        }
    });
    H::start().block_on(async {
        let mut config = Config::new("test", "1");
        config.max_message = 100_000;
        let client = open_with::<H>(&web.def(), ConnectOptions::new(config)).await.unwrap();
        for how in ["stream", "json"] {
            let error = call::<H>(&client, how).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        }
        client.list_tools().await.expect("the connection goes on");
    });
}

fn a_large_event_comes_through<H: Host>() {
    let web = Web::modern(|request, reply| {
        reply.stream();
        let event = format!("data: {}\n\n", request.answer(said(&"x".repeat(8 << 20))));
        for piece in event.as_bytes().chunks(1 << 20) {
            reply.chunk(piece);
        }
        reply.end();
    });
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        assert_eq!(call::<H>(&client, "").await.unwrap().len(), 8 << 20);
    });
}

fn what_refuses_the_opening_is_told<H: Host>() {
    H::start().block_on(async {
        for (status, word) in [(401, "authorization"), (403, "403"), (404, "404"), (500, "500")] {
            let web = Web::start(move |_, reply| reply.full(status, "WWW-Authenticate: Bearer realm=\"x\"\r\n", ""));
            let error = Client::<H>::connect_and_initialize(&web.def()).await.unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
            assert!(error.is_connecting());
        }
        let gone = Web::start(|_, reply| reply.cut()).def();
        let error = Client::<H>::connect_and_initialize(&gone).await.unwrap_err();
        assert!(error.to_string().contains("cannot be reached"), "{error}");
        for wrong in ["ftp://x", "http://", "http://u:p@example.com/"] {
            let error = Client::<H>::connect(&McpServerDef::http(wrong)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    });
}

fn who_gives_up_closes_the_stream<H: Host>() {
    let web = Web::modern(|_, reply| {
        reply.stream();
        reply.until_closed();
    });
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        let mut given_up = Box::pin(client.call_tool("echo", ()).call());
        assert!(begun(&mut given_up).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 1).await;
        drop(given_up);
        eventually::<H>(|| web.left() == 1).await;
        let late = client.call_tool("echo", ()).timeout(Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Timeout, "{late}");
        eventually::<H>(|| web.left() == 2).await;
        // The last client takes all with it.
        let clone = client.clone();
        let mut waiting = Box::pin(async move { clone.call_tool("echo", ()).await });
        assert!(begun(&mut waiting).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 3).await;
        drop((waiting, client));
        eventually::<H>(|| web.left() == 3).await;
    });
}

fn many_calls_go_over_a_bounded_number_of_connections<H: Host>() {
    let web = Web::modern(|request, reply| reply.json(200, &echo(request)));
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        let calls = (0..500).map(|n| {
            let client = client.clone();
            async move { call::<H>(&client, &n.to_string()).await }
        });
        for (n, result) in all(calls).await.into_iter().enumerate() {
            assert_eq!(result.unwrap(), n.to_string());
        }
    });
    // 64 at work, and no more than that kept.
    assert!(web.most_open() <= 128, "{}", web.most_open());
}

fn a_legacy_session_is_ended<H: Host>() {
    let web = Web::legacy(|request, reply| reply.json(200, &echo(request)));
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        assert_eq!(call::<H>(&client, "old").await.unwrap(), "old");
        client.shutdown().await.unwrap();
        assert!(matches!(call::<H>(&client, "gone").await, Err(Error::Send { error: SendError::Closed, .. })));
    });
    let last = web.requests().pop().unwrap();
    assert_eq!((last.verb.as_str(), last.header("mcp-session-id")), ("DELETE", Some("s1")));
}

fn a_server_that_does_not_end_its_session_is_not_waited_for<H: Host>() {
    let deaf = Web::start(|request, reply| match request.method() {
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "d", "version": "1"}});
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: s1\r\n";
            reply.full(200, headers, request.answer(result).to_string());
        }
        "notifications/initialized" => reply.full(202, "", ""),
        "DELETE" => reply.until_closed(),
        _ => reply.full(405, "", ""),
    });
    H::start().block_on(async {
        let mut options = ConnectOptions::default();
        options.patience.after_close = Duration::from_millis(50);
        let client = open_with::<H>(&deaf.def(), options).await.unwrap();
        client.shutdown().await.unwrap();
        eventually::<H>(|| deaf.left() == 1).await;
    });
}

fn headers_and_tokens_go_with_every_request<H: Host>() {
    struct None;
    impl TokenProvider for None {
        async fn token(&self) -> Result<Option<String>, String> {
            Err("nobody is logged in".into())
        }
    }
    let web = Web::modern(|request, reply| reply.json(200, &echo(request)));
    H::start().block_on(async {
        let def = web.def().header("X-Team", "blue").header("Authorization", "Basic x");
        let mut options = ConnectOptions::default();
        options.http = HttpOptions::default().token(StaticToken("t0ken".into()));
        let client = open_with::<H>(&def, options).await.unwrap();
        assert_eq!(call::<H>(&client, "in").await.unwrap(), "in");
        let mut options = ConnectOptions::default();
        options.http = HttpOptions::default().token(None);
        let error = open_with::<H>(&def, options).await.unwrap_err();
        assert!(error.to_string().contains("nobody is logged in"), "{error}");
    });
    for request in web.requests() {
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("authorization"), Some("Bearer t0ken"));
        assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("mcpwire/")));
    }
}

fn messages_are_watched<H: Host>() {
    let web = Web::modern(|request, reply| {
        reply.stream();
        reply.event(&echo(request));
        reply.end();
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    H::start().block_on(async {
        let mut options = ConnectOptions::default();
        options.trace = Some(Box::new(move |direction, line: &[u8]| {
            let message: Value = serde_json::from_slice(line).expect("a line is a message");
            told.lock().unwrap().push((direction, message["method"].as_str().unwrap_or("answer").to_owned()));
        }));
        let client = open_with::<H>(&web.def(), options).await.unwrap();
        call::<H>(&client, "x").await.unwrap();
        client.shutdown().await.unwrap();
    });
    let seen = seen.lock().unwrap();
    let expected = [
        (Direction::Sent, "server/discover"),
        (Direction::Received, "answer"),
        (Direction::Sent, "tools/call"),
        (Direction::Received, "answer"),
    ];
    assert!(seen.iter().map(|(direction, method)| (*direction, method.as_str())).eq(expected), "{seen:?}");
}

/// An HTTP client of a program's own, without any network.
struct Canned(Arc<AtomicUsize>);

impl HttpClient for Canned {
    fn begin(&self, exchange: Exchange) -> Begun {
        let begun = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let request: Value = serde_json::from_slice(&exchange.body).expect("it is a message");
            let result = match request["method"].as_str() {
                Some("server/discover") => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
                Some("tools/call") if begun > 1 => {
                    return Err(Failure::new(FailureKind::Unreachable, "the wire is cut"));
                }
                _ => said("canned"),
            };
            let body = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
            let headers = vec![("Content-Type".to_owned(), b"application/json".to_vec())];
            Ok(HttpResponse { status: 200, headers, body: Box::pin(Cursor::new(body.into_bytes())) })
        })
    }

    fn capacity(&self) -> usize {
        1
    }
}

fn any_http_client_does<H: Host>() {
    let asked = Arc::new(AtomicUsize::new(0));
    H::start().block_on(async {
        let mut options = ConnectOptions::default();
        options.http = HttpOptions::default().client(Canned(Arc::clone(&asked)));
        let client = open_with::<H>(&McpServerDef::http("https://nowhere.invalid/mcp"), options).await.unwrap();
        assert_eq!(call::<H>(&client, "x").await.unwrap(), "canned");
        let error = call::<H>(&client, "x").await.unwrap_err();
        assert!(error.to_string().contains("the wire is cut"), "{error}");
        client.shutdown().await.unwrap();
    });
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

on_every_async_adapter!(
    a_tool_is_called,
    an_answer_comes_by_a_stream_in_pieces_of_any_size,
    what_ends_in_its_middle_fails_its_request_and_no_other,
    what_is_no_answer_is_told_as_it_is,
    redirects_stay_where_they_are,
    messages_have_a_limit,
    a_large_event_comes_through,
    what_refuses_the_opening_is_told,
    who_gives_up_closes_the_stream,
    many_calls_go_over_a_bounded_number_of_connections,
    a_legacy_session_is_ended,
    a_server_that_does_not_end_its_session_is_not_waited_for,
    headers_and_tokens_go_with_every_request,
    messages_are_watched,
    any_http_client_does,
);
