//! Modules that `mcpwire-generate` has generated in the build script: what their functions send, and what they make of the results.

use std::sync::Mutex;
use std::time::Duration;

use ::smol::block_on;
use mcpwire_tool_client::types::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, CallOptions, ErrorKind, ToolClient, ToolError};
use serde_json::{Value, json};

/// The tools of the demo server.
mod demo {
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));
}

/// Tools whose names, schemas and texts are hostile, or at least odd. That they compile without warnings is the test.
#[deny(warnings, clippy::pedantic, missing_docs, unreachable_pub)]
mod odd {
    include!(concat!(env!("OUT_DIR"), "/odd.rs"));
}

/// A client whose calls all have the same result.
struct Fixed {
    result: Value,
    /// The name, the arguments and the timeout of each call.
    calls: Mutex<Vec<(String, String, Option<Duration>)>>,
}

impl Fixed {
    fn new(result: Value) -> Self {
        Fixed { result, calls: Mutex::default() }
    }

    /// Creates a client with a result that has this structured content.
    fn structured(content: &Value) -> Self {
        Fixed::new(json!({ "content": [], "structuredContent": content }))
    }

    fn calls(&self) -> Vec<(String, String, Option<Duration>)> {
        self.calls.lock().expect("no test panics with it").clone()
    }

    /// Returns the arguments of the only call.
    fn sent(&self) -> Value {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        serde_json::from_str(&calls[0].1).expect("arguments are JSON")
    }
}

impl ToolClient for Fixed {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        unreachable!("a generated function knows its tool")
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        self.call_tool_with(name, arguments, CallOptions::new())
    }

    fn server_name(&self) -> Option<&str> {
        Some("fixed")
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        mut options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let call = (name.to_owned(), arguments.get().to_owned(), options.take_timeout());
        self.calls.lock().expect("no test panics with it").push(call);
        let result = Json::from_value(&self.result).and_then(|result| result.decode());
        Box::pin(async { result.map_err(|error| ToolError::from_client(ErrorKind::Protocol, error)) })
    }
}

#[test]
fn a_function_sends_typed_arguments_and_returns_a_typed_result() {
    let client = Fixed::structured(&json!({ "sum": 42.0 }));
    let output = block_on(demo::add(&client, &demo::add::Arguments { a: 2.0, b: 40.0 })).expect("it is called");
    assert_eq!(output, demo::add::Output { sum: 42.0 });
    assert_eq!(client.calls(), [("add".to_owned(), r#"{"a":2.0,"b":40.0}"#.to_owned(), None)]);
}

#[test]
fn a_function_takes_any_pointer_to_a_client() {
    let client: Box<dyn ToolClient> = Box::new(Fixed::structured(&json!({ "sum": 3 })));
    let arguments = demo::add::Arguments { a: 1.0, b: 2.0 };
    for output in [block_on(demo::add(&client, &arguments)), block_on(demo::add(&*client, &arguments))] {
        assert!((output.expect("it is called").sum - 3.0).abs() < f64::EPSILON);
    }
}

#[test]
fn a_tool_that_reports_an_error_is_an_error() {
    let client = Fixed::new(json!({ "content": [{ "type": "text", "text": "no such city" }], "isError": true }));
    let arguments = demo::weather::Arguments { city: "Atlantis".into() };
    let typed = block_on(demo::weather(&client, &arguments)).expect_err("the tool failed");
    let untyped = block_on(demo::chart(&client)).expect_err("the tool failed");
    for (error, tool) in [(typed, "weather"), (untyped, "chart")] {
        assert_eq!((error.kind(), error.tool(), error.server()), (ErrorKind::Tool, Some(tool), Some("fixed")));
        assert!(error.to_string().contains("no such city"), "{error}");
    }
}

#[test]
fn a_result_that_does_not_fit_names_the_place() {
    let arguments = demo::add::Arguments { a: 1.0, b: 2.0 };
    for (result, message) in [
        (json!({ "content": [], "structuredContent": { "sum": "three" } }), "sum"),
        (json!({ "content": [], "structuredContent": {} }), "sum"),
        (json!({ "content": [{ "type": "text", "text": "3" }] }), "no structured content"),
    ] {
        let error = block_on(demo::add(&Fixed::new(result), &arguments)).expect_err("it does not fit");
        assert_eq!((error.kind(), error.tool()), (ErrorKind::Protocol, Some("add")));
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_tool_without_output_schema_returns_the_result() {
    let client = Fixed::new(json!({ "content": [{ "type": "text", "text": "hi" }] }));
    let result = block_on(demo::echo(&client, &demo::echo::Arguments { message: "hi".into() }));
    assert_eq!(result.expect("it is called").text(), "hi");
}

#[test]
fn a_tool_without_arguments_gets_an_empty_object() {
    let client = Fixed::new(json!({ "content": [] }));
    block_on(demo::chart(&client)).expect("it is called");
    assert_eq!(client.sent(), json!({}));
}

#[test]
fn a_call_with_options_passes_them_on() {
    let client = Fixed::structured(&json!({ "sum": 3 }));
    let (timeout, arguments) = (Duration::from_secs(7), demo::add::Arguments { a: 1.0, b: 2.0 });
    block_on(demo::add::call_with(&client, &arguments, CallOptions::new().timeout(timeout))).expect("it is called");
    assert_eq!(client.calls()[0].2, Some(timeout));
    assert_eq!(demo::add::NAME, "add");
}

#[test]
fn an_optional_argument_is_sent_only_if_it_is_set() {
    for (arguments, sent) in [
        (odd::defaults::Arguments::default(), json!({})),
        (odd::defaults::Arguments { list: Some(Vec::new()), ..Default::default() }, json!({ "list": [] })),
        (odd::defaults::Arguments { e: Some(odd::defaults::E::B), ..Default::default() }, json!({ "e": "b" })),
    ] {
        let client = Fixed::new(json!({ "content": [] }));
        block_on(odd::defaults(&client, &arguments)).expect("it is called");
        assert_eq!(client.sent(), sent);
    }
}

#[test]
fn a_constructor_takes_the_required_arguments() {
    let arguments = odd::map_and_fields::Arguments::new("7");
    let arguments = odd::map_and_fields::Arguments { extra: [("x".to_owned(), 1.5)].into(), ..arguments };
    let client = Fixed::structured(&json!({ "id": "7", "tags": ["a"] }));
    let output = block_on(odd::map_and_fields(&client, &arguments)).expect("it is called");
    assert_eq!(client.sent(), json!({ "id": "7", "x": 1.5 }));
    assert_eq!((output.id.as_deref(), &output.extra["tags"]), (Some("7"), &vec!["a".to_owned()]));
}

#[test]
fn names_of_the_protocol_are_sent_as_they_are() {
    use odd::property_names::Arguments;

    let arguments = Arguments { with_space: Some("s".into()), ..Arguments::new("t", "x") };
    let client = Fixed::new(json!({ "content": [] }));
    block_on(odd::property_names(&client, &arguments)).expect("it is called");
    assert_eq!(client.sent(), json!({ "type": "t", "3d": "x", "with space": "s" }));
    assert_eq!(client.calls()[0].0, "property names");
    assert_eq!(odd::gnp_exe::NAME, "\u{202e}gnp.exe");
    assert_eq!(odd::x_y::NAME, "x\0y");
}

#[test]
fn alternatives_are_enums() {
    use odd::unions::{A, Arguments, C, E, F, G};

    let p = F::P { v: "v".into() };
    let arguments = Arguments {
        e: Some(E::B),
        f: Some(p),
        g: Some(G::Array(Vec::new())),
        ..Arguments::new(A::Int64(7), C::A { x: Some("x".into()) })
    };
    let client = Fixed::new(json!({ "content": [] }));
    block_on(odd::unions(&client, &arguments)).expect("it is called");
    let expected = json!({
        "a": 7, "c": { "kind": "a", "x": "x" }, "e": "b", "f": { "type": "p", "v": "v" }, "g": [],
    });
    assert_eq!(client.sent(), expected);
}

#[test]
fn a_recursive_value_is_boxed() {
    use odd::recursive::{Arguments, Node};

    let leaf = Node::new("leaf");
    let node = Node { next: Some(Box::new(leaf.clone())), children: Some(vec![leaf]), ..Node::new("root") };
    let client = Fixed::new(json!({ "content": [] }));
    block_on(odd::recursive(&client, &Arguments { node })).expect("it is called");
    let expected = json!({ "value": "root", "next": { "value": "leaf" }, "children": [{ "value": "leaf" }] });
    assert_eq!(client.sent(), json!({ "node": expected }));
}
