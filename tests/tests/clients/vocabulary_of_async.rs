//! The words of the async clients: those of the blocking one, and what an async client has beside them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpwire_driver::protocol::{CallTool, CallToolParams, Era, Json, ProtocolVersion, RequestOptions};
use mcpwire_driver::{ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Host, eventually};
use mcpwire_tests::{on_every_async_adapter, process_exists, server};
use serde_json::json;

type Client<H> = McpClient<<H as Host>::Runtime>;

fn the_client_tells_what_it_knows<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = Client::<H>::connect(&server.def).expect("it starts");
        assert!(!client.is_initialized() && client.is_running());
        assert!(client.server_info().is_none() && client.tools().is_empty());

        let info = client.initialize().await.expect("it answers");
        assert_eq!(info.era, Era::Legacy);
        assert!(client.is_initialized());
        assert_eq!(client.protocol_version(), Some(ProtocolVersion::V2025_11_25));
        assert!(client.capabilities().is_some_and(|capabilities| capabilities.tools.is_some()));
        assert_eq!(client.definition(), Some(&server.def));
        assert!(!client.has_tool("echo"), "the list has not been asked for");

        let listed = client.list_tools().await.expect("it has tools");
        assert_eq!(listed.to_vec(), client.tools().to_vec());
        assert!(client.has_tool("echo") && !client.has_tool("missing_tool"));
        let tool = client.get_tool("fetch_data").expect("it is listed");
        assert_eq!(tool.title.as_deref(), Some("Fetch"));
        let error = client.call_tool("missing_tool", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ToolNotFound, "{error}");
        assert_eq!(client.in_flight(), 0);
        client.shutdown().await.expect("it ends");
    });
}

fn a_call_has_many_words<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = Client::<H>::connect_and_initialize(&server.def).await.expect("it answers");
        let hello = BTreeMap::from([("message", "hello")]);
        let second = Duration::from_secs(1);
        let (params, options) = (CallToolParams { name: "echo", arguments: &hello }, RequestOptions::new());
        for result in [
            client.call_tool("echo", &hello).await,
            client.call_tool("echo", &hello).timeout(second).total_timeout(second).on_progress(|_| {}).await,
            client.call_tool("echo", json!({"message": "hello"})).send().await,
            client.call_tool("echo", &hello).send().await,
            client.call_tool("echo", &hello).timeout(second).await,
            client.request::<CallTool>(&params, &options).await,
            client.begin::<CallTool>(&params, &options).expect("sent").await,
        ] {
            assert_eq!(result.expect("it answers").text().as_str(), "hello");
        }
        let result = client.call_tool("pid", ()).await.expect("no arguments are needed");
        assert_eq!(Some(result.text().to_string()), client.pid().map(|pid| pid.to_string()));
        let error = client.call_tool("ponder", ()).timeout(Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    });
}

fn arguments_that_are_no_object_are_refused_before_they_are_sent<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = Client::<H>::connect_and_initialize(&server.def).await.expect("it answers");
        let error = client.call_tool("echo", [1, 2]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains("object"), "{error}");
        client.call_tool("echo", ()).await.expect("the connection is as it was");
    });
}

fn a_result_can_be_had_as_the_server_sent_it<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = Client::<H>::connect_and_initialize(&server.def).await.expect("it answers");
        let raw = client.call_tool("fail", ()).raw().await.expect("it answers");
        assert_eq!(raw.get(), r#"{"content":[{"type":"text","text":"the tool failed"}],"isError":true}"#);
        let params = Json::parse(r#"{"name":"echo","arguments":{"message":"raw"}}"#).expect("it is JSON");
        let raw = client.request_raw("tools/call", Some(&params)).await.expect("it answers");
        assert_eq!(raw.get(), r#"{"content":[{"type":"text","text":"raw"}]}"#);
        client.notify_raw("notifications/roots/list_changed", None).expect("it is sent");
        assert_eq!(client.request_raw("ping", None).await.expect("it answers").get(), "{}");
    });
}

fn nothing_is_left_of_a_scope<H: Host>() {
    let server = server!("well-behaved");
    let scope = H::with_client(&server.def, async |client| {
        client.call_tool("echo", ()).await.expect("it answers");
        client.pid().expect("it is a process")
    });
    assert!(!process_exists(H::start().block_on(scope).expect("it ends")));
}

fn nothing_is_left_of_a_scope_that_is_given_up<H: Host>() {
    let server = server!("ignores-term");
    H::start().block_on(async {
        let is_open = AtomicBool::new(false);
        let scope = H::with_client(&server.def, async |client| {
            is_open.store(true, Ordering::SeqCst);
            client.call_tool("ponder", ()).await.map(drop)
        });
        let given_up = async {
            eventually::<H>(|| is_open.load(Ordering::SeqCst)).await;
            Ok(Ok(()))
        };
        ::smol::future::or(scope, given_up).await.expect("it is given up").expect("it is given up");
    });
    server.assert_gone();
}

fn a_server_that_cannot_be_started_is_told_at_once<H: Host>() {
    let server = server!("well-behaved").defined(|_| mcpwire_driver::McpServerDef::new("no-such-program"));
    H::start().block_on(async {
        let error = Client::<H>::connect_and_initialize(&server.def).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Start, "{error}");
    });
}

fn secrets_are_not_shown<H: Host>() {
    let server = server!("dies-in-call 7").defined(|def| def.env("API_KEY", "hunter2"));
    H::start().block_on(async {
        let client = Client::<H>::connect_and_initialize(&server.def).await.expect("it answers");
        let error = client.call_tool("echo", ()).await.unwrap_err();
        for shown in [format!("{client:?}"), format!("{error:?}"), error.to_string()] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    });
}

on_every_async_adapter!(
    the_client_tells_what_it_knows,
    a_call_has_many_words,
    arguments_that_are_no_object_are_refused_before_they_are_sent,
    a_result_can_be_had_as_the_server_sent_it,
    nothing_is_left_of_a_scope,
    nothing_is_left_of_a_scope_that_is_given_up,
    a_server_that_cannot_be_started_is_told_at_once,
    secrets_are_not_shown,
);
