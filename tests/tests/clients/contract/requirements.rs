//! The acceptance criteria (AC-001 to AC-004), and the kinds of errors (A12). `tests/requirements.md` lists both.

use std::thread;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{ContentBlock, Negotiate};
use mcpwire_tests::{Adapter, Call, on_every_adapter, process_exists, server};
use serde_json::{Value, json};

use super::{in_both_eras, open};

/// AC-001: tool discovery. Each tool has a name and a schema that is a JSON object.
fn discovery<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let tools = client.list_tools().expect("the list is found");
        assert!(!tools.is_empty());
        for tool in tools {
            assert!(!tool.name.is_empty());
            let schema: Value = tool.input_schema.decode().expect("the schema is JSON");
            assert!(schema.is_object(), "{schema}");
        }
    });
}

/// AC-002: tool execution.
fn execution<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let result = client.call(Call::new("fetch_data").with(json!({"query": "test"}))).expect("it is fetched");
        assert!(!result.is_error);
        let [ContentBlock::Text(block)] = result.content.as_slice() else { panic!("one block: {:?}", result.content) };
        assert_eq!(block.text, "data for test");
    });
}

/// AC-003: unknown tool, whether the client knows that there is none or only the server does. The same code for a tool
/// that is there is about its arguments.
fn unknown_tool<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        client.failure("missing_tool").assert(ErrorKind::ToolNotFound, &["missing_tool"]);
        client.list_tools().expect("the list is found");
        client.failure("missing_tool").assert(ErrorKind::ToolNotFound, &["missing_tool"]);
        client.failure("picky").assert(ErrorKind::Server, &["tools/call", "-32602", "no such colour"]);
        client.assert_alive();
    });
}

/// AC-004: the server crashes; the next call fails, and everything is cleaned up.
fn crash<A: Adapter>() {
    let (server, mut client) = open::<A>("dies-after-call KILL");
    client.text("echo", json!({}));
    while client.is_running() {
        thread::yield_now();
    }
    client.failure("echo").assert(ErrorKind::Closed, &["KILL"]);
    let pid = client.pid();
    client.shutdown().expect("there is nothing left to end");
    assert!(!process_exists(pid));
    server.assert_gone();
}

/// A12: transport.
fn error_transport<A: Adapter>() {
    let server = server!("well-behaved").defined(|_| mcpwire_blocking::McpServerDef::new("mcpwire-no-such-program"));
    server.fail_to_open::<A>().assert(ErrorKind::Start, &["mcpwire-no-such-program", "not found"]);
}

/// A12: invalid response.
fn error_invalid_response<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    client.failure("neither").assert(ErrorKind::Protocol, &["bad-habits", "tools/call", "neither"]);
}

/// A12: unsupported version.
fn error_unsupported_version<A: Adapter>() {
    let server = server!("versions 1999-01-01");
    server.fail_to_open::<A>().assert(ErrorKind::Connect, &["1999-01-01", "2025-11-25", "2026-07-28"]);
}

/// A12: not initialised, already initialised.
fn error_states<A: Adapter>() {
    let server = server!("well-behaved").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = A::start(&server).expect("it starts");
    client.failure("echo").assert(ErrorKind::Usage, &["not initialized"]);
    client.list_tools().expect_err("it is too early").assert(ErrorKind::Usage, &["not initialized"]);
    client.initialize().expect("it is time");
    client.initialize().expect_err("it is done").assert(ErrorKind::Usage, &["already initialized"]);
    client.assert_alive();
}

/// A12: an error of the tool is a result.
fn error_of_the_tool<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let result = client.call(Call::new("fail")).expect("it is a result");
        assert!(result.is_error);
        assert_eq!(result.text().to_string(), "the tool failed");
    });
}

/// A12: a JSON-RPC error, with code, message and data.
fn error_of_the_server<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let words = ["bad-habits", "tools/call", "-32050", "not today", "tomorrow"];
        client.failure("refuse").assert(ErrorKind::Server, &words);
        let failure = client.request_raw("vendor/unheard-of", None).expect_err("there is no such method");
        failure.assert(ErrorKind::Server, &["vendor/unheard-of", "-32601", "Method not found"]);
    });
}

/// A12: connection closed.
fn error_closed<A: Adapter>() {
    let (_server, mut client) = open::<A>("dies-mid-line");
    client.failure("echo").assert(ErrorKind::Closed, &["bad-habits", "tools/call"]);
}

/// A12 and A11: timeout, which names server, method and time.
fn error_timeout<A: Adapter>() {
    let (_server, mut client) = open::<A>("slow 10000");
    let failure = client.call(Call::new("echo").timeout(Duration::from_millis(250))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "250 ms"]);
}

on_every_adapter!(
    discovery,
    execution,
    unknown_tool,
    crash,
    error_transport,
    error_invalid_response,
    error_unsupported_version,
    error_states,
    error_of_the_tool,
    error_of_the_server,
    error_closed,
    error_timeout,
);
