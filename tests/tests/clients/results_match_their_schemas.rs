//! With an output validator, a result whose structured content does not match the tool's output schema is an error.

use std::io::{BufRead as _, BufReader, Write as _, pipe};
use std::thread;

use mcpwire_client::{Error, ErrorKind};
use mcpwire_driver::ConnectOptions;
use mcpwire_driver::protocol::{CallError, CallToolResult, ContentBlock, Json, StructuredErrorKind, Tool};
use mcpwire_jsonschema::JsonSchema;
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit};
use mcpwire_tests::watched;
use serde_json::{Value, json};

/// A tool whose structured content has a number, and one without an output schema.
fn tools() -> [Tool; 2] {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    [Tool::new("count", Json::default()).with_output_schema(schema), Tool::new("free", Json::default())]
}

/// The result of each tool: the member `structured` of the arguments as structured content. With `fails`, the tool fails.
fn result(arguments: &Json) -> CallToolResult {
    let mut result = CallToolResult::from_iter([ContentBlock::text("some text")]);
    result.structured_content = arguments.member("structured");
    result.is_error = arguments.member("fails").unwrap_or(false);
    result
}

/// Calls a tool in each way that validates, and asserts the outcome: `None` if the call succeeds, otherwise what the error says.
type Call<'a> = &'a mut dyn FnMut(&str, &Value) -> Vec<Result<CallToolResult, Error>>;

fn results_are_validated(call: Call<'_>) {
    for (tool, arguments, problem) in [
        ("count", json!({ "structured": { "n": 5 } }), None),
        ("count", json!({ "structured": { "n": "five" } }), Some("/n")),
        ("count", json!({ "structured": {} }), Some("`count`")),
        ("count", json!({}), Some("no structured content")),
        // The tool says itself what is wrong.
        ("count", json!({ "structured": {}, "fails": true }), None),
        ("free", json!({ "structured": { "n": "five" } }), None),
        ("free", json!({}), None),
    ] {
        for outcome in call(tool, &arguments) {
            match (outcome, problem) {
                (Ok(result), None) => assert_eq!(result.text(), "some text"),
                (Err(error), Some(problem)) => {
                    assert_eq!(error.kind(), ErrorKind::Protocol);
                    assert!(error.to_string().contains(problem), "{error}");
                    let Some(CallError::Structured { error }) = error.call_error() else { panic!("{error}") };
                    assert_eq!(error.tool, "count");
                    let absent = matches!(error.kind, StructuredErrorKind::Absent { .. });
                    assert_eq!(absent, problem == "no structured content");
                }
                (outcome, _) => panic!("{tool} with {arguments}: {outcome:?}"),
            }
        }
    }
}

fn scripted() -> ScriptedServer {
    tools().into_iter().fold(ScriptedServer::new(), |server, tool| {
        server.tool_with(tool, |arguments| ScriptedResponse::new().result(with_type(&result(arguments))))
    })
}

/// The result with the `resultType` that modern servers send.
fn with_type(result: &CallToolResult) -> Value {
    let mut result: Value = Json::from_value(result).and_then(|json| json.decode()).expect("it is JSON");
    result["resultType"] = json!("complete");
    result
}

#[test]
fn of_async_clients() {
    let kit = Testkit::new(scripted());
    kit.time().run(async {
        let client = kit.connect_with(ConnectOptions::default().output_validator(JsonSchema::new()));
        client.initialize().await.expect("it opens");
        client.list_tools().await.expect("they are listed");
        let mut calls = Vec::new();
        let mut collect = |tool: &str, arguments: &Value| {
            calls.push((tool.to_owned(), arguments.clone()));
            Vec::new()
        };
        results_are_validated(&mut collect);
        let mut outcomes = Vec::new();
        for (tool, arguments) in calls {
            let sent = client.call_tool(&tool, &arguments).send().await;
            let begun = client.call_tool(&tool, &arguments).begin().expect("it is sent").await;
            let task = client.call_tool(&tool, &arguments).as_task().await;
            let task = match task {
                Ok(outcome) => outcome.wait().await,
                Err(error) => Err(error),
            };
            outcomes.push(vec![sent, begun, task]);
        }
        let mut outcomes = outcomes.into_iter();
        results_are_validated(&mut |_, _| outcomes.next().expect("it was called"));
        let wrong = json!({ "structured": { "n": "five" } });
        let error = client.call_tool("count", &wrong).structured::<Value>().await.expect_err("it is invalid");
        assert!(error.to_string().contains("/n"), "{error}");
        let raw = client.call_tool("count", &wrong).raw().await.expect("it is not checked");
        assert!(raw.get().contains("five"), "{raw}");
    });
}

#[test]
fn without_a_validator_all_results_pass() {
    let wrong = json!({ "structured": { "n": "five" } });
    let kit = Testkit::new(scripted());
    let value: Value = kit.run(async |client| client.call_tool("count", &wrong).structured().await).expect("it passes");
    assert_eq!(value, json!({ "n": "five" }));
}

/// Connects a blocking client to a server with the same tools.
fn blocking_client() -> (mcpwire_blocking::McpClient, thread::JoinHandle<()>) {
    let ((requests, to_server), (from_server, mut responses)) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
    let server = thread::spawn(move || {
        for line in BufReader::new(requests).lines() {
            let message = Json::parse(line.expect("a line")).expect("it is JSON");
            let Some(id) = message.member::<u64>("id") else { continue };
            let result = match &*message.member::<String>("method").expect("a request") {
                "initialize" => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "s", "version": "1" } }),
                "tools/list" => json!({ "tools": tools() }),
                "tools/call" => {
                    let params = message.member::<Json>("params").expect("parameters");
                    with_type(&result(&params.member("arguments").unwrap_or_default()))
                }
                _ => {
                    let error = json!({ "code": -32601, "message": "unknown" });
                    writeln!(responses, "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }))
                        .expect("it is read");
                    continue;
                }
            };
            writeln!(responses, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result })).expect("it is read");
        }
    });
    let options = ConnectOptions::default().output_validator(JsonSchema::new());
    let mut client = mcpwire_blocking::McpClient::over(from_server, to_server, options).expect("it starts");
    client.initialize().expect("it opens");
    client.list_tools().expect("they are listed");
    (client, server)
}

#[test]
fn of_blocking_clients() {
    watched(|| {
        let (mut client, server) = blocking_client();
        results_are_validated(&mut |tool, arguments| {
            let sent = client.call_tool(tool, arguments).send();
            let begun = client.call_tool(tool, arguments).begin().expect("it is sent");
            let begun = begun.wait(&mut client);
            let task = client.call_tool(tool, arguments).as_task().and_then(mcpwire_blocking::TaskOrResult::wait);
            vec![sent, begun, task]
        });
        let wrong = json!({ "structured": { "n": "five" } });
        let error = client.call_tool("count", &wrong).structured::<Value>().expect_err("it is invalid");
        assert!(error.to_string().contains("/n"), "{error}");
        let raw = client.call_tool("count", &wrong).raw().expect("it is not checked");
        assert!(raw.get().contains("five"), "{raw}");
        client.shutdown().expect("it ends");
        server.join().expect("the server does not panic");
    });
}
