//! Resources, prompts, completion, log levels and roots: what is asked, as it stands on the wire, and what becomes of the
//! answers.
//!
//! The official examples lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/examples/<type>/*.json`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use mcpwire_core::internal::{Discover, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Complete, CompleteParams, CompletionReference, Config, Event, GetPrompt,
    GetPromptParams, ListParams, ListPrompts, ListResourceTemplates, ListResources, ListRootsResult, ListTools,
    LoggingLevel, Method, Notification, Params, ReadResource, ReadResourceParams, RequestOptions, Role, Root,
    RootsListChanged, SendError, SetLevel, SetLevelParams,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::{Value, json};

/// Sends a request, and gives what came of it and what stood on the wire.
fn ask<M: Method<Result: Debug>>(
    pair: &mut Pair,
    params: &impl Params<M>,
) -> (Result<M::Result, CallError>, (String, Value)) {
    let ticket = pair.engine.calls().request::<M>(params, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.drive();
    let sent = pair.sent.pop().expect("it was sent");
    let result = pair.take(ticket).expect("it is answered");
    (result, (sent.method().into(), sent.params().clone()))
}

/// A server that answers every request with the same.
fn answering(result: &'static str) -> Pair {
    Pair::open(Config::default(), legacy(move |sent, peer| peer.answer(sent, result)))
}

fn wire(method: &str, params: Value) -> (String, Value) {
    (method.into(), params)
}

#[test]
fn resources_are_listed_and_read() {
    let mut pair = answering(r#"{"resources":[{"uri":"a:1","name":"one"}],"nextCursor":""}"#);
    let (page, sent) = ask::<ListResources>(&mut pair, &ListParams { cursor: None });
    assert_eq!(sent, wire("resources/list", Value::Null));
    let page = page.expect("a page");
    assert_eq!((page.resources.items.len(), page.next_cursor.as_deref()), (1, Some("")), "an empty cursor is one");
    let (_, sent) = ask::<ListResources>(&mut pair, &ListParams { cursor: page.next_cursor.as_deref() });
    assert_eq!(sent, wire("resources/list", json!({"cursor": ""})));

    let mut pair = answering(r#"{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"n","title":"t"}]}"#);
    let (page, sent) = ask::<ListResourceTemplates>(&mut pair, &ListParams { cursor: Some("c") });
    assert_eq!(sent, wire("resources/templates/list", json!({"cursor": "c"})));
    assert_eq!(page.expect("a page").resource_templates.items[0].display_name(), "t");

    let mut pair = answering(r#"{"contents":[{"uri":"a:1","text":"t"},{"uri":"a:2","blob":"AA=="}]}"#);
    let (read, sent) = ask::<ReadResource>(&mut pair, &ReadResourceParams { uri: "a:1" });
    assert_eq!(sent, wire("resources/read", json!({"uri": "a:1"})));
    let contents = read.expect("contents").contents.items;
    assert_eq!((contents[0].text.as_deref(), contents[1].blob.as_deref()), (Some("t"), Some("AA==")));
}

#[test]
fn resources_are_watched() {
    let mut pair = answering("{}");
    let (done, sent) = ask::<Subscribe>(&mut pair, &SubscribeParams { uri: "a:1" });
    assert_eq!((done.is_ok(), sent), (true, wire("resources/subscribe", json!({"uri": "a:1"}))));
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1/b"}}"#);
    let Some((_, Event::Notification(Notification::ResourceUpdated(updated)))) = pair.events.pop() else {
        panic!("no notification")
    };
    assert_eq!(updated.uri, "a:1/b");
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{}}"#);
    let Some((_, Event::Notification(Notification::Other { method, .. }))) = pair.events.pop() else {
        panic!("no notification")
    };
    assert_eq!(method, "notifications/resources/updated", "one that does not say which");
    let (done, sent) = ask::<Unsubscribe>(&mut pair, &UnsubscribeParams { uri: "a:1" });
    assert_eq!((done.is_ok(), sent), (true, wire("resources/unsubscribe", json!({"uri": "a:1"}))));
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let mut pair = answering(r#"{"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}]}"#);
    let (page, sent) = ask::<ListPrompts>(&mut pair, &ListParams::default());
    assert_eq!(sent, wire("prompts/list", Value::Null));
    assert!(page.expect("a page").prompts.items[0].arguments[0].required);

    let mut pair = answering(r#"{"messages":[{"role":"assistant","content":{"type":"text","text":"t"}}]}"#);
    let arguments = BTreeMap::from([("x", "1\n\u{1f600}"), ("y", "")]);
    let (prompt, sent) = ask::<GetPrompt>(&mut pair, &GetPromptParams { name: "p", arguments: &arguments });
    assert_eq!(sent, wire("prompts/get", json!({"name": "p", "arguments": {"x": "1\n\u{1f600}", "y": ""}})));
    let messages = prompt.expect("a prompt").messages.items;
    assert_eq!((&messages[0].role, messages[0].content.as_text()), (&Role::Assistant, Some("t")));
}

#[test]
fn arguments_of_prompts_are_strings() {
    fn sent(pair: &mut Pair, arguments: &Value) -> Result<Value, SendError> {
        let params = GetPromptParams { name: "p", arguments };
        let _ticket = pair.engine.calls().request::<GetPrompt>(&params, &RequestOptions::new(), pair.now)?;
        pair.drive();
        Ok(pair.sent.pop().expect("it was sent").params()["arguments"].clone())
    }
    let mut pair = answering(r#"{"messages":[]}"#);
    assert_eq!(sent(&mut pair, &Value::Null), Ok(json!({})));
    assert_eq!(sent(&mut pair, &json!({"a": "x", "b": null})), Ok(json!({"a": "x"})), "null stands for absent");
    for (arguments, what) in [
        (json!({"a": "x", "n": 5}), "`n` must be a string"),
        (json!({"o": {"b": "x"}}), "`o` must be a string"),
        (json!(["x"]), "must be an object"),
        (json!("x"), "must be an object"),
    ] {
        let error = sent(&mut pair, &arguments).expect_err("it is not sent");
        assert!(matches!(&error, SendError::Params { .. }) && error.to_string().contains(what), "{error}");
    }
    pair.drive();
    assert!(pair.sent.is_empty(), "nothing of them is sent");
}

#[test]
fn arguments_are_completed() {
    let mut pair = answering(r#"{"completion":{"values":["python","pytorch"],"total":10,"hasMore":true}}"#);
    let prompt = CompletionReference::Prompt { name: "code_review" };
    let (result, sent) = ask::<Complete>(&mut pair, &CompleteParams::new(prompt, "language", "py"));
    let argument = json!({"name": "language", "value": "py"});
    let reference = json!({"type": "ref/prompt", "name": "code_review"});
    assert_eq!(sent, wire("completion/complete", json!({"ref": reference, "argument": argument})));
    let completion = result.expect("suggestions").completion;
    assert_eq!((completion.values.len(), completion.total, completion.has_more), (2, Some(10), true));

    let mut params = CompleteParams::new(CompletionReference::ResourceTemplate { uri: "file:///{path}" }, "path", "");
    params.context = &[("a", "1"), ("b", "2")];
    let (_, (_, sent)) = ask::<Complete>(&mut pair, &params);
    assert_eq!(sent["ref"], json!({"type": "ref/resource", "uri": "file:///{path}"}));
    assert_eq!(sent["context"], json!({"arguments": {"a": "1", "b": "2"}}));
}

#[test]
fn the_level_of_logs_is_set() {
    let mut pair = answering("{}");
    let (done, sent) = ask::<SetLevel>(&mut pair, &SetLevelParams { level: &LoggingLevel::Warning });
    assert_eq!((done.is_ok(), sent), (true, wire("logging/setLevel", json!({"level": "warning"}))));
}

#[test]
fn roots_are_told() {
    let mut config = Config::default();
    config.answer_roots();
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    pair.engine.calls().notify::<RootsListChanged>(&(), pair.now).expect("it is sent");
    pair.drive();
    assert_eq!(
        pair.sent.pop().expect("it is sent").text,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#
    );
    pair.say(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    let Some((_, Event::ServerRequest(asked))) = pair.events.pop() else { panic!("no question") };
    let mut root = Root::new("file:///home/user/project");
    root.name = Some("Project".into());
    assert_eq!(
        pair.engine.calls().answer(asked.key, &ListRootsResult::new([root, Root::new("file:///tmp")]), pair.now),
        Ok(true)
    );
    pair.drive();
    let roots = json!([{"uri": "file:///home/user/project", "name": "Project"}, {"uri": "file:///tmp"}]);
    assert_eq!(pair.sent.pop().expect("it is answered").message["result"], json!({"roots": roots}));
}

#[test]
fn a_wish_for_input_is_no_empty_answer() {
    let result = r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"}"#;
    let mut pair = Pair::open(Config::default(), modern(move |sent, peer| peer.answer(sent, result)));
    let (read, _) = ask::<ReadResource>(&mut pair, &ReadResourceParams { uri: "a:1" });
    let (prompt, _) = ask::<GetPrompt>(&mut pair, &GetPromptParams { name: "p", arguments: &() });
    for error in [read.err(), prompt.err()] {
        let error = error.expect("it cannot be taken");
        assert!(matches!(&error, CallError::Input { .. }) && error.to_string().contains("roots/list"), "{error}");
    }
}

/// The specification's requests, parameter for parameter.
#[test]
fn requests_are_those_of_the_official_examples() {
    let Some(spec) = std::env::var_os("MCPWIRE_SPEC") else {
        return println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    };
    let example = |path: &str| -> Value {
        let file = Path::new(&spec).join("2026-07-28/examples").join(path);
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let message: Value = serde_json::from_str(&text).expect("it is JSON");
        message.get("params").cloned().unwrap_or(message)
    };
    let config = Config::new("ExampleClient", "1.0.0");
    let mut pair = Pair::open(
        config,
        modern(|sent, peer| {
            if sent.params()["name"] != "build_simulation" {
                peer.answer(sent, r#"{"resultType":"complete"}"#);
            }
        }),
    );
    let first = ListParams::default();
    let next = ListParams { cursor: Some("eyJwYWdlIjogMn0=") };
    let read = ReadResourceParams { uri: "file:///project/src/main.rs" };
    let arguments = BTreeMap::from([("code", "def hello():\n    print('world')")]);
    let review = GetPromptParams { name: "code_review", arguments: &arguments };
    let prompt = CompletionReference::Prompt { name: "code_review" };
    let language = CompleteParams::new(prompt, "language", "py");
    let mut framework = CompleteParams::new(prompt, "framework", "fla");
    framework.context = &[("language", "python")];
    let weather = CallToolParams { name: "get_weather", arguments: &BTreeMap::from([("location", "New York")]) };
    for (path, sent) in [
        ("DiscoverRequest/server-discover-request.json", ask::<Discover>(&mut pair, &()).1),
        ("CallToolRequest/call-tool-request.json", ask::<CallTool>(&mut pair, &weather).1),
        ("CallToolRequestParams/get-weather-tool-call-params.json", ask::<CallTool>(&mut pair, &weather).1),
        ("ListToolsRequest/list-tools-request.json", ask::<ListTools>(&mut pair, &first).1),
        ("ListResourcesRequest/list-resources-request.json", ask::<ListResources>(&mut pair, &first).1),
        (
            "ListResourceTemplatesRequest/list-resource-templates-request.json",
            ask::<ListResourceTemplates>(&mut pair, &first).1,
        ),
        ("PaginatedRequestParams/list-with-cursor.json", ask::<ListResources>(&mut pair, &next).1),
        ("ReadResourceRequest/read-resource-request.json", ask::<ReadResource>(&mut pair, &read).1),
        ("ListPromptsRequest/list-prompts-request.json", ask::<ListPrompts>(&mut pair, &first).1),
        ("GetPromptRequest/get-prompt-request.json", ask::<GetPrompt>(&mut pair, &review).1),
        ("GetPromptRequestParams/get-code-review-prompt.json", ask::<GetPrompt>(&mut pair, &review).1),
        ("CompleteRequest/completion-request.json", ask::<Complete>(&mut pair, &language).1),
        ("CompleteRequestParams/prompt-argument-completion.json", ask::<Complete>(&mut pair, &language).1),
        (
            "CompleteRequestParams/prompt-argument-completion-with-context.json",
            ask::<Complete>(&mut pair, &framework).1,
        ),
    ] {
        assert_eq!(sent.1, example(path), "{path}");
    }
    // The id is the session's own.
    let build = CallToolParams { name: "build_simulation", arguments: &BTreeMap::from([("city", "Micropolis")]) };
    let simulation = pair.engine.calls().request::<CallTool>(&build, &RequestOptions::new().progress(), pair.now);
    let simulation = simulation.expect("it is sent");
    pair.drive();
    let sent = pair.sent.pop().expect("it was sent");
    let id = Value::from(sent.id());
    let mut expected = example("CallToolRequestParams/tool-call-params-with-progress-token.json");
    expected["_meta"]["progressToken"] = id.clone();
    assert_eq!(sent.params(), &expected);

    pair.engine.calls().cancel(simulation.key(), Some("User requested cancellation"), pair.now);
    pair.drive();
    let mut expected = example("CancelledNotification/user-requested-cancellation.json");
    expected["requestId"] = id;
    assert_eq!(pair.sent.pop().expect("it is told").params(), &expected);
}
