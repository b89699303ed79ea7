//! The acceptance criteria (AC-001 to AC-004), and the kinds of errors (A12), which `tests/requirements.md` lists. Other files have
//! AC-004 (`ends.rs`), errors of the transport (`processes.rs`), of versions (`opening.rs`) and of responses (`responses.rs`), closed
//! connections (`ends.rs`) and timeouts (`calls.rs`).

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{ContentBlock, Negotiate};
use mcpwire_tests::{Adapter, Call, on_both_clients, server};
use serde_json::{Value, json};

use super::in_both_eras;

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

/// AC-002: tool execution. An error of the tool is a result, too (A12).
fn execution<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let result = client.call(Call::new("fetch_data").with(json!({"query": "test"}))).expect("it is fetched");
        assert!(!result.is_error);
        let [ContentBlock::Text(block)] = result.content.as_slice() else { panic!("one block: {:?}", result.content) };
        assert_eq!(block.text, "data for test");
        let result = client.call(Call::new("fail")).expect("it is a result");
        assert!(result.is_error);
        assert_eq!(result.text().to_string(), "the tool failed");
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

/// A12: not initialised, already initialised; and what is not sent because it is wrong.
fn error_states<A: Adapter>() {
    let server = server!("well-behaved").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = A::start(&server).expect("it starts");
    client.failure("echo").assert(ErrorKind::Usage, &["not initialized"]);
    client.list_tools().expect_err("it is too early").assert(ErrorKind::Usage, &["not initialized"]);
    client.initialize().expect("it is time");
    client.initialize().expect_err("it is done").assert(ErrorKind::Usage, &["already initialized"]);
    let failure = client.call(Call::new("echo").with(json!([1, 2]))).expect_err("arguments are an object");
    failure.assert(ErrorKind::Usage, &["object"]);
    client.assert_alive();
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

on_both_clients!(discovery, execution, unknown_tool, error_states, error_of_the_server);
