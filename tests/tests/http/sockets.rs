//! Clients and servers over real sockets, in both eras and over the old transport.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_client::TraceListener;
use mcpwire_driver::http::{HttpOptions, StaticToken, TokenFuture, TokenProvider};
use mcpwire_driver::protocol::{Config, LoggingLevel, SubscribeOptions, SubscriptionEvent, SubscriptionFilter};
use mcpwire_driver::{Direction, ErrorKind, McpServerDef};
use mcpwire_tests::asynchronous::{Async, TokioMulti};
use mcpwire_tests::web::{Reply, Request, Web, echo, said, tools};
use mcpwire_tests::{Adapter, Call, Failure, Lines, OverHttp, WATCHDOG, on_both_clients, on_every_adapter, watched};
use serde_json::{Value, json};

// Servers that are spoken to by HTTP, over real sockets: the same client, the same calls; and what servers, and what is between,
// can do to them.

fn open<A: Adapter>(web: &Web) -> A {
    let mut client = open_with::<A>(&web.def(), OverHttp::default()).expect("it opens");
    client.list_tools().expect("it has tools");
    client
}

fn open_with<A: Adapter>(def: &McpServerDef, options: OverHttp) -> Result<A, Failure> {
    let mut client = A::over_http(def, options)?;
    client.initialize()?;
    Ok(client)
}

fn call<A: Adapter>(client: &mut A, message: &str) -> Result<String, Failure> {
    Ok(client.call(Call::new("echo").with(json!({"message": message})))?.text().into_string())
}

/// What a call of a server fails with that answers it so.
fn failing<A: Adapter>(answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> String {
    let web = Web::modern(answer);
    let mut client = open::<A>(&web);
    let error = call(&mut client, "x").expect_err("it fails").to_string();
    // Nothing else has suffered.
    client.list_tools().expect("the connection goes on");
    assert_eq!(client.in_flight(), 0);
    error
}

/// Lets the connection go on until something holds that nothing tells of.
fn until<A: Adapter>(client: &mut A, holds: impl Fn() -> bool) {
    while !holds() {
        client.list_tools().expect("the connection goes on");
    }
}

fn a_tool_is_called<A: Adapter>() {
    let web = Web::echoing();
    let mut client = open::<A>(&web);
    for n in 0..20 {
        assert_eq!(call(&mut client, &n.to_string()).unwrap(), n.to_string());
    }
    client.shutdown().unwrap();
    assert_eq!(web.requests().last().unwrap().header("mcp-name"), Some("echo"));
    assert_eq!(web.connections(), 1);
}

fn an_answer_comes_by_a_stream_in_pieces_of_any_size<A: Adapter>() {
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
    let told = Arc::default();
    let call = Call::new("echo").with(json!({"message": "hi"})).progress(&told);
    assert_eq!(open::<A>(&web).call(call).unwrap().text().into_string(), "hi");
    assert_eq!(told.lock().unwrap().len(), 1);
}

fn what_ends_in_its_middle_fails_its_request_and_no_other<A: Adapter>() {
    let error = failing::<A>(|_, reply| {
        reply.stream();
        reply.chunk("data: {\"jsonrpc\":\"2.0\",\"id\":");
        reply.cut();
    });
    assert!(error.contains("lost") || error.contains("ended"), "{error}");
    let error = failing::<A>(|_, reply| {
        reply.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"json");
        reply.cut();
    });
    assert!(error.contains("lost"), "{error}");
    let error = failing::<A>(|_, reply| reply.cut());
    assert!(error.contains("lost"), "{error}");
    let error = failing::<A>(|_, reply| {
        reply.stream();
        reply.end();
    });
    assert!(error.contains("without an answer"), "{error}");
}

fn what_is_no_answer_is_told_as_it_is<A: Adapter>() {
    let error = failing::<A>(|_, reply| reply.full(200, "Content-Type: text/html\r\n", "<h1>Hello</h1>"));
    assert!(error.contains("text/html") && error.contains("Hello"), "{error}");
    for raw in [
        "this is not HTTP\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Y: z\r\n".repeat(200)),
        format!("HTTP/1.1 200 OK\r\nX-Y: {}\r\n\r\n", "z".repeat(1 << 20)),
    ] {
        let is_long = raw.len() > 1 << 20;
        let error = failing::<A>(move |_, reply| {
            reply.raw(&raw);
            reply.cut();
        });
        assert!(error.contains("not what HTTP allows") || is_long && error.contains("lost"), "{error}");
    }
}

fn redirects_stay_where_they_are<A: Adapter>() {
    let web = Web::start(|request, reply| match (request.path.as_str(), request.method()) {
        ("/mcp", _) => reply.full(307, "Location: /real\r\n", ""),
        (_, "server/discover") => {
            let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
            reply.json(200, &request.answer(result));
        }
        (_, "tools/list") => reply.json(200, &request.answer(tools())),
        _ => reply.json(200, &echo(request)),
    });
    let mut client = open::<A>(&web);
    assert_eq!(call(&mut client, "on").unwrap(), "on");
    let error = failing::<A>(|_, reply| reply.full(307, "Location: /mcp\r\n", ""));
    assert!(error.contains("more than 5 times"), "{error}");
    let error = failing::<A>(|_, reply| reply.full(302, "Location: /elsewhere\r\n", ""));
    assert!(error.contains("a redirect"), "{error}");
    let other = Web::echoing();
    let location = format!("Location: {}\r\n", other.url());
    let error = failing::<A>(move |_, reply| reply.full(308, &location, ""));
    assert!(error.contains("another origin"), "{error}");
    assert!(other.requests().is_empty());
}

fn a_large_event_comes_through<A: Adapter>() {
    event_comes_through::<A>(8 << 20);
}

/// It is as long as a message may be.
#[test]
fn an_event_of_64_mib_comes_through() {
    watched(|| event_comes_through::<Async<TokioMulti>>((64 << 20) - 1024));
}

fn event_comes_through<A: Adapter>(bytes: usize) {
    let web = Web::modern(move |request, reply| {
        reply.stream();
        let event = format!("data: {}\n\n", request.answer(said(&"x".repeat(bytes))));
        for piece in event.as_bytes().chunks(1 << 20) {
            reply.chunk(piece);
        }
        reply.end();
    });
    let call = Call::new("echo").timeout(WATCHDOG);
    assert_eq!(open::<A>(&web).call(call).expect("it comes").text().as_str().len(), bytes);
}

/// What the status of a refusal means is in `failures.rs`.
fn a_server_that_is_not_there_and_a_wrong_address_are_told<A: Adapter>() {
    let gone = Web::start(|_, reply| reply.cut()).def();
    let error = open_with::<A>(&gone, OverHttp::default()).err().expect("it is gone");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    for wrong in ["ftp://x", "http://", "http://u:p@example.com/"] {
        let error = A::over_http(&McpServerDef::http(wrong), OverHttp::default()).err().expect("it is wrong");
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
    }
}

fn who_gives_up_closes_the_stream<A: Adapter>() {
    let lines = Lines::default();
    let told = lines.clone();
    let web = Web::modern(move |_, reply| {
        reply.stream();
        told.push("begun");
        reply.until_closed();
    });
    let mut client = open::<A>(&web);
    let failure = client.call_and_cancel(Call::new("echo"), &lines, "begun");
    assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
    until(&mut client, || web.left() == 1);
    // On a busy machine, the time can be over before the server gets the call.
    while lines.all().len() == 1 {
        let late = client.call(Call::new("echo").timeout(Duration::from_millis(50))).unwrap_err();
        assert_eq!(late.kind, ErrorKind::Timeout, "{late}");
    }
    until(&mut client, || web.left() == lines.all().len());
    assert_eq!(web.count("notifications/cancelled"), 0, "the end of the stream says it");
}

fn many_calls_go_over_a_bounded_number_of_connections<A: Adapter>() {
    let web = Web::echoing();
    let mut client = open::<A>(&web);
    let calls = (0..500).map(|n| Call::new("echo").with(json!({"message": n.to_string()}))).collect();
    for (n, result) in client.call_together(calls).into_iter().enumerate() {
        assert_eq!(result.unwrap().text().into_string(), n.to_string());
    }
    // 64 at work, and no more than that kept.
    assert!(web.most_open() <= 128, "{}", web.most_open());
}

fn a_legacy_session_is_ended<A: Adapter>() {
    let web = Web::legacy(|request, reply| reply.json(200, &echo(request)));
    let mut client = open::<A>(&web);
    assert_eq!(call(&mut client, "old").unwrap(), "old");
    client.shutdown().unwrap();
    // The stream of the session has a connection of its own, so the server may read its request later.
    let requests = web.requests();
    let deleted: Vec<_> = requests.iter().filter(|request| request.verb == "DELETE").collect();
    assert_eq!(deleted.iter().map(|request| request.header("mcp-session-id")).collect::<Vec<_>>(), [Some("s1")]);
    assert_ne!(requests.last().map(|request| request.verb.as_str()), Some("POST"));
}

/// The log level was part of the session that the server has ended.
fn a_log_level_is_set_again_in_a_new_session<A: Adapter>() {
    let sessions = AtomicUsize::new(0);
    let web = Web::start(move |request, reply| {
        let session = |sessions: usize| format!("s{sessions}");
        match request.method() {
            "server/discover" => reply.full(400, "", "no session"),
            "initialize" => {
                let info = json!({"name": "forgetful", "version": "1"});
                let capabilities = json!({"tools": {}, "logging": {}});
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
                let opened = session(sessions.fetch_add(1, Ordering::SeqCst) + 1);
                let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: {opened}\r\n");
                reply.full(200, &headers, request.answer(result).to_string());
            }
            "GET" => reply.full(405, "", ""),
            "DELETE" => reply.full(204, "", ""),
            // The first session ends with the first call.
            "tools/call" if request.header("mcp-session-id") == Some("s1") => reply.full(404, "", "no such session"),
            "tools/call" => reply.json(200, &echo(request)),
            "logging/setLevel" => reply.json(200, &request.answer(json!({}))),
            "tools/list" => reply.json(200, &request.answer(tools())),
            _ => reply.full(202, "", ""),
        }
    });
    let mut client = open::<A>(&web);
    client.set_log_level(&LoggingLevel::Error).expect("it takes one");
    assert_eq!(call(&mut client, "hello").unwrap(), "hello");
    until(&mut client, || web.count("logging/setLevel") == 2);
    let levels = web.requests().into_iter().filter(|request| request.method() == "logging/setLevel");
    let levels: Vec<_> = levels
        .map(|request| (request.header("mcp-session-id").map(str::to_owned), request.body["params"]["level"].clone()))
        .collect();
    assert_eq!(levels, [(Some("s1".into()), json!("error")), (Some("s2".into()), json!("error"))]);
    // The server records the request before the client has read the answer.
    while client.in_flight() > 0 {
        client.list_tools().expect("the connection goes on");
    }
}

fn a_server_that_does_not_end_its_session_is_not_waited_for<A: Adapter>() {
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
    let mut options = OverHttp::default();
    options.grace_periods.after_close = Duration::from_millis(50);
    let client = open_with::<A>(&deaf.def(), options).unwrap();
    client.shutdown().unwrap();
}

fn headers_and_tokens_go_with_every_request<A: Adapter>() {
    struct None;
    impl TokenProvider for None {
        fn token(&self) -> TokenFuture<'_> {
            Box::pin(async { Err("nobody is logged in".into()) })
        }
    }
    let web = Web::echoing();
    let def = web.def().header("X-Team", "blue").header("Authorization", "Basic x");
    let options = OverHttp {
        config: Config::new("my app", "1.0"),
        http: HttpOptions::default().token(StaticToken("t0ken".into())),
        ..OverHttp::default()
    };
    let mut client = open_with::<A>(&def, options).unwrap();
    assert_eq!(call(&mut client, "in").unwrap(), "in");
    let options = OverHttp { http: HttpOptions::default().token(None), ..OverHttp::default() };
    let error = open_with::<A>(&def, options).err().expect("there is no token");
    assert!(error.to_string().contains("nobody is logged in"), "{error}");
    for request in web.requests() {
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("authorization"), Some("Bearer t0ken"));
        // A space is not allowed in the name of a product.
        assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("my-app/1.0 mcpwire/")));
    }
}

fn messages_are_watched<A: Adapter>() {
    let web = Web::modern(|request, reply| {
        reply.stream();
        reply.event(&echo(request));
        reply.end();
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let watch: TraceListener = Box::new(move |direction, line: &[u8]| {
        let message: Value = serde_json::from_slice(line).expect("a line is a message");
        told.lock().unwrap().push((direction, message["method"].as_str().unwrap_or("answer").to_owned()));
    });
    let options = OverHttp { trace: Some(watch), ..OverHttp::default() };
    let mut client = open_with::<A>(&web.def(), options).unwrap();
    call(&mut client, "x").unwrap();
    client.shutdown().unwrap();
    let seen = seen.lock().unwrap();
    let expected = [
        (Direction::Sent, "server/discover"),
        (Direction::Received, "answer"),
        (Direction::Sent, "tools/call"),
        (Direction::Received, "answer"),
    ];
    assert!(seen.iter().map(|(direction, method)| (*direction, method.as_str())).eq(expected), "{seen:?}");
}

// reqwest decides which connection a request uses, so the cases that count connections are not among them.
mcpwire_tests::on_every_adapter!(
    @async tokio_reqwest, TokioReqwest,
    an_answer_comes_by_a_stream_in_pieces_of_any_size,
    what_ends_in_its_middle_fails_its_request_and_no_other,
    what_is_no_answer_is_told_as_it_is,
    redirects_stay_where_they_are,
    a_large_event_comes_through,
    a_server_that_is_not_there_and_a_wrong_address_are_told,
    who_gives_up_closes_the_stream,
    many_calls_go_over_a_bounded_number_of_connections,
    a_legacy_session_is_ended,
    a_server_that_does_not_end_its_session_is_not_waited_for,
    headers_and_tokens_go_with_every_request,
    messages_are_watched
);

// What servers of earlier revisions do over HTTP, through the adapters: HTTP+SSE (2024-11-05, basic/transports), which is found
// when nothing else answers, and the stream on which legacy servers say what belongs to no request (2025-11-25,
// basic/transports, "Listening for Messages from the Server").

fn open_old<A: Adapter>(def: &McpServerDef) -> A {
    let mut client = A::over_http(def, OverHttp::default()).expect("it can be asked");
    client.initialize().expect("it answers");
    client
}

fn initialized(request: &Request, version: &str) -> Value {
    let info = json!({"name": "old", "version": "1"});
    let capabilities = json!({"tools": {"listChanged": true}});
    request.answer(json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}))
}

/// A server of 2024-11-05: a stream at `/sse`, and an endpoint for messages that it names there. What `call` answers nothing to
/// stays open.
fn sse(call: impl Fn(&Request) -> Option<Value> + Send + Sync + 'static) -> Web {
    let stream: Mutex<Option<Sender<Value>>> = Mutex::default();
    Web::start(move |request, reply: &mut Reply<'_>| match (request.verb.as_str(), request.path.as_str()) {
        ("GET", "/sse") => {
            let (sender, messages) = channel();
            *stream.lock().unwrap() = Some(sender);
            reply.stream();
            reply.chunk("event: endpoint\ndata: /message?session=7\n\n");
            while messages.recv().is_ok_and(|message| reply.event(&message)) {}
        }
        ("POST", "/message?session=7") => {
            reply.full(202, "", "Accepted");
            let answer = match request.method() {
                "initialize" => Some(initialized(request, "2024-11-05")),
                "tools/list" => Some(request.answer(tools())),
                _ => call(request),
            };
            if let Some(answer) = answer {
                stream.lock().unwrap().as_ref().expect("it is open").send(answer).expect("it is read");
            }
        }
        _ => reply.full(405, "", "not here"),
    })
}

fn the_oldest_transport_is_found_when_nothing_else_answers<A: Adapter>() {
    let web = sse(|request| Some(request.answer(said(request.body["params"]["arguments"]["message"].as_str()?))));
    let mut client = open_old::<A>(&McpServerDef::http(web.url().replace("/mcp", "/sse")));
    assert_eq!(client.server_info().unwrap().protocol_version.as_str(), "2024-11-05");
    client.list_tools().expect("it has tools");
    let calls = (0..20).map(|n| Call::new("echo").with(json!({"message": n.to_string()}))).collect();
    for (n, result) in client.call_together(calls).into_iter().enumerate() {
        assert_eq!(result.unwrap().text().into_string(), n.to_string());
    }
    client.shutdown().unwrap();
    let all: Vec<String> = web.requests().iter().take(4).map(|request| request.method().to_owned()).collect();
    assert_eq!(all, ["server/discover", "initialize", "GET", "initialize"]);
}

fn a_call_that_is_given_up_there_is_cancelled_in_words<A: Adapter>() {
    let lines = Lines::default();
    let told = lines.clone();
    let web = sse(move |request| {
        told.push(request.method());
        None
    });
    let mut client = open_old::<A>(&McpServerDef::http(web.url().replace("/mcp", "/sse")));
    let failure = client.call_and_cancel(Call::new("echo"), &lines, "tools/call");
    assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
    while web.count("notifications/cancelled") == 0 {
        client.list_tools().expect("the connection goes on");
    }
}

fn what_belongs_to_no_request_comes_by_a_stream_of_its_own<A: Adapter>() {
    let go = Lines::default();
    let (may_go, left) = (go.clone(), Arc::new(Lines::default()));
    let gone = Arc::clone(&left);
    let web = Web::start(move |request, reply| match request.method() {
        "initialize" => reply.json(200, &initialized(request, "2025-11-25")),
        "notifications/initialized" => reply.full(202, "", ""),
        "tools/list" => reply.json(200, &request.answer(tools())),
        "GET" => {
            may_go.wait_for("go");
            reply.stream();
            reply.event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            reply.until_closed();
            gone.push("gone");
        }
        _ => reply.full(400, "", "no session"),
    });
    let mut client = open_old::<A>(&web.def());
    client.subscribe(&SubscriptionFilter::new().tools(), SubscribeOptions::new()).expect("the server tells that");
    go.push("go");
    assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
    client.list_tools().expect("requests go on beside it");
    client.shutdown().unwrap();
    left.wait_for("gone");
}

on_every_adapter!(
    a_tool_is_called,
    an_answer_comes_by_a_stream_in_pieces_of_any_size,
    what_ends_in_its_middle_fails_its_request_and_no_other,
    a_large_event_comes_through,
    who_gives_up_closes_the_stream,
    many_calls_go_over_a_bounded_number_of_connections,
    the_oldest_transport_is_found_when_nothing_else_answers,
    what_belongs_to_no_request_comes_by_a_stream_of_its_own,
);

on_both_clients!(
    what_is_no_answer_is_told_as_it_is,
    redirects_stay_where_they_are,
    a_server_that_is_not_there_and_a_wrong_address_are_told,
    a_legacy_session_is_ended,
    a_log_level_is_set_again_in_a_new_session,
    a_server_that_does_not_end_its_session_is_not_waited_for,
    headers_and_tokens_go_with_every_request,
    messages_are_watched,
    a_call_that_is_given_up_there_is_cancelled_in_words,
);
