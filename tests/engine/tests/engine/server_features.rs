//! Resources, prompts, completions and logs: what their results are, and what is asked for them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use mcpwire_core::internal::{Discover, InitializeResult, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolResult, Complete, CompleteParams, CompleteResult, CompletionReference,
    Config, ContentBlock, Event, GetPrompt, GetPromptParams, GetPromptResult, Json, JsonError, ListParams, ListPrompts,
    ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ListRootsResult, ListTools, ListToolsResult, LogMessage, LoggingLevel, Method, Notification, Params, Progress,
    Prompt, PromptArgument, ReadResource, ReadResourceParams, ReadResourceResult, RequestOptions, Resource,
    ResourceTemplate, ResourceUpdated, Role, Root, RootsListChanged, SendError, SetLevel, SetLevelParams,
    ToolAnnotations,
};
use mcpwire_engine_tests::sim::{Pair, configured, legacy};
use mcpwire_engine_tests::spec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

// Resources, prompts, completion, log levels and roots, in every revision: what comes is read, what goes is as it should be.
// That each definition and example of the schemas is read and written is tested in `tests/tests/schemas/coverage`.

fn read<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    Json::parse(text).and_then(|json| json.decode())
}

fn good<T: DeserializeOwned>(text: &str) -> T {
    read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Reads a value, and compares what is written of it with the value. Every member must be one that the type knows.
fn round_trip<T: DeserializeOwned + Serialize + Debug>(original: &Value) {
    let value: T = good(&original.to_string());
    assert!(!format!("{value:?}").contains("Extra([("), "a member is not known: {value:#?}");
    let mut written = serde_json::to_value(&value).expect("it can be written");
    let mut original = original.clone();
    // `false` is left out where it is what an absent member stands for.
    for value in [&mut original, &mut written] {
        drop_false(value);
    }
    assert_eq!(original, written);
}

fn drop_false(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| !(["required", "hasMore"].contains(&&**name) && value == &Value::Bool(false)));
            members.values_mut().for_each(drop_false);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_false),
        _ => {}
    }
}

/// The shapes that the pages of each revision show, for where the schemas are not at hand.
#[test]
fn the_shapes_of_each_revision_are_read() {
    let of_2024 = json!({
        "resources": [{"uri": "file:///a", "name": "a", "description": "d", "mimeType": "text/plain"}],
        "nextCursor": "next"
    });
    let of_2025_03 = json!({"resources": [{"uri": "file:///a", "name": "a", "size": 3,
        "annotations": {"audience": ["user"], "priority": 0.5}}]});
    let of_2025_06 = json!({"resources": [{"uri": "file:///a", "name": "a", "title": "A", "_meta": {"k": 1},
        "annotations": {"lastModified": "2025-01-12T15:00:58Z"}}]});
    let of_2025_11 = json!({"resources": [{"uri": "file:///a", "name": "a",
        "icons": [{"src": "https://example.com/i.png", "sizes": ["48x48"]}]}]});
    let of_2026 = json!({"resultType": "complete", "resources": [], "ttlMs": 300_000, "cacheScope": "public"});
    for page in [of_2024, of_2025_03, of_2025_06, of_2025_11, of_2026] {
        round_trip::<ListResourcesResult>(&page);
    }
    round_trip::<GetPromptResult>(&json!({"messages": [
        {"role": "user", "content": {"type": "text", "text": "t"}},
        {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
        {"role": "user", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}},
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "r:a", "blob": "AA=="}}},
        {"role": "user", "content": {"type": "resource_link", "uri": "r:a", "name": "a"}},
    ]}));
    round_trip::<CompleteResult>(&json!({"completion": {"values": ["python"], "total": 10, "hasMore": true}}));
}

#[test]
fn a_bad_entry_spoils_only_itself() {
    let page: ListResourcesResult = good(
        r#"{"resources":[{"uri":"a:1","name":"one"},7,null,{"name":"x"},{"uri":5},{"uri":"","name":"y"},{"uri":"a:2"}]}"#,
    );
    let read: Vec<_> = page.resources.items.iter().map(|resource| (&*resource.uri, &*resource.name)).collect();
    assert_eq!(read, [("a:1", "one"), ("a:2", "a:2")], "one without a name goes by its address");
    let rejected: Vec<_> = page.resources.rejected.iter().map(ToString::to_string).collect();
    assert_eq!(
        rejected,
        [
            "entry 1: a number instead of a resource",
            "entry 2: null instead of a resource",
            "entry 3: `uri` is missing",
            "entry 4: `uri` is a number instead of a string",
            "entry 5 (y): `uri` is empty",
        ]
    );

    let page: ListResourceTemplatesResult = good(r#"{"resourceTemplates":[{"uriTemplate":"f:{p}"},{"uri":"f:a"},[]]}"#);
    assert_eq!(page.resource_templates.items[0].display_name(), "f:{p}");
    assert_eq!((page.resource_templates.items.len(), page.resource_templates.rejected.len()), (1, 2));

    let page: ListPromptsResult = good(
        r#"{"prompts":[{"name":"a","arguments":[{"name":"x","required":"yes"},{},7]},{"name":""},{"title":"b"},"c"]}"#,
    );
    assert_eq!((page.prompts.items.len(), page.prompts.rejected.len()), (1, 3));
    let arguments = &page.prompts.items[0].arguments;
    assert!(arguments.len() == 1 && arguments[0].name == "x" && !arguments[0].required);

    let prompt: GetPromptResult = good(
        r#"{"messages":[{"role":"user"},{"role":"user","content":null},{"content":{}},{"role":"user","content":"bare"}]}"#,
    );
    assert_eq!((prompt.messages.items.len(), prompt.messages.rejected.len()), (1, 3));
    assert!(matches!(&prompt.messages.items[0].content, ContentBlock::Unknown(block) if block.raw.get() == "\"bare\""));

    let read: ReadResourceResult = good(r#"{"contents":[{"uri":"a:1","text":"t"},"t",{"uri":"a:2","stream":"s:1"}]}"#);
    assert_eq!((read.contents.items.len(), read.contents.rejected.len()), (2, 1));
    assert_eq!(read.contents.items[1].extra.get("stream").map(Json::get), Some("\"s:1\""));
}

#[test]
fn null_stands_for_absent() {
    let nothing = json!({"title": null, "description": null, "mimeType": null, "size": null, "annotations": null,
        "icons": null, "arguments": null, "required": null, "_meta": null});
    let with = |members: Value| {
        let mut all = nothing.clone();
        all.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        all.to_string()
    };
    let resource: Resource = good(&with(json!({"uri": "a:1", "name": null})));
    assert_eq!((&*resource.name, resource.size, resource.meta), ("a:1", None, None));
    let template: ResourceTemplate = good(&with(json!({"uriTemplate": "a:{x}", "name": "n"})));
    assert_eq!((template.title, template.icons.len()), (None, 0));
    let prompt: Prompt = good(&with(json!({"name": "p"})));
    assert_eq!((prompt.arguments.len(), prompt.icons.len()), (0, 0));
    assert!(!good::<PromptArgument>(&with(json!({"name": "a"}))).required);
    assert_eq!(good::<Root>(&with(json!({"uri": "file:///", "name": null}))).name, None);

    let page = r#"{"resources":null,"resourceTemplates":null,"prompts":null,"contents":null,"messages":null,"completion":null,"roots":null,"nextCursor":null,"resultType":null,"ttlMs":null,"cacheScope":null,"_meta":null}"#;
    assert_eq!(good::<ListResourcesResult>(page).resources.sent(), 0);
    assert_eq!(good::<ListResourceTemplatesResult>(page).next_cursor, None);
    assert_eq!(good::<ListPromptsResult>(page).ttl_ms, None);
    assert_eq!(good::<ReadResourceResult>(page).contents.sent(), 0);
    assert_eq!(good::<GetPromptResult>(page).messages.sent(), 0);
    assert_eq!(good::<CompleteResult>(page).completion.values.len(), 0);
    assert_eq!(good::<ListRootsResult>(page).roots.len(), 0);
}

#[test]
fn null_stands_for_absent_in_handshakes_tools_and_results() {
    let info: InitializeResult = good(
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":null},"prompts":null,"resources":null,"logging":null,"completions":null,"experimental":null},"serverInfo":{"name":"n","version":"1","title":null,"icons":null,"websiteUrl":null,"description":null},"instructions":null,"_meta":null}"#,
    );
    assert_eq!((info.instructions, info.server_info.expect("it is there").title), (None, None));
    let capabilities = info.capabilities.expect("it has some");
    assert!(capabilities.tools.is_some_and(|tools| !tools.list_changed) && capabilities.prompts.is_none());

    let list: ListToolsResult = good(
        r#"{"tools":[{"name":"a","title":null,"description":null,"inputSchema":{"type":"object"},"outputSchema":null,"annotations":null,"icons":null,"_meta":null},{"name":"b","inputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":null,"destructiveHint":null,"idempotentHint":null,"openWorldHint":null}}],"nextCursor":null,"_meta":null}"#,
    );
    let [tool, hints] = list.tools.items.as_slice() else { panic!("{list:?}") };
    assert_eq!((&tool.title, &tool.description, &tool.output_schema), (&None, &None, &None));
    assert_eq!(hints.annotations, Some(ToolAnnotations::default()));

    let result: CallToolResult = good(
        r#"{"content":[{"type":"text","text":"t","annotations":null,"_meta":null},{"type":"resource_link","uri":"a:1","name":"a","title":null,"description":null,"mimeType":null,"size":null,"annotations":{"audience":null,"priority":null,"lastModified":null},"icons":null},{"type":"resource","resource":{"uri":"a:2","mimeType":null,"text":"inside","_meta":null}}],"structuredContent":null,"isError":null,"_meta":null}"#,
    );
    assert!(
        matches!(
            result.content.as_slice(),
            [ContentBlock::Text(_), ContentBlock::ResourceLink(_), ContentBlock::Resource(_)]
        ),
        "{result:?}"
    );
    assert!(!result.is_error && result.structured_content.is_none() && result.meta.is_none());

    let progress: Progress = good(r#"{"progressToken":1,"progress":1,"total":null,"message":null,"_meta":null}"#);
    assert_eq!((progress.total, progress.message), (None, None));
    assert_eq!(good::<LogMessage>(r#"{"level":"info","logger":null,"data":null,"_meta":null}"#).logger, None);
}

/// What a later revision may bring is kept, and written again.
#[test]
fn what_is_not_known_is_kept() {
    fn kept<T: DeserializeOwned + Serialize>(value: &Value) {
        assert_eq!(&serde_json::to_value(good::<T>(&value.to_string())).expect("it can be written"), value);
    }
    kept::<Resource>(
        &json!({"uri": "a:1", "name": "a", "x-new": {"y": [1, null]}, "annotations": {"audience": ["robot"], "x": 1}}),
    );
    kept::<ResourceTemplate>(&json!({"uriTemplate": "a:{x}", "name": "a", "x-new": 1}));
    kept::<Prompt>(&json!({"name": "a", "arguments": [{"name": "x", "schema": {}}], "x-new": null}));
    kept::<ReadResourceResult>(
        &json!({"contents": [{"uri": "a:1", "etag": "e"}], "cacheScope": "team", "x-new": true}),
    );
    kept::<GetPromptResult>(
        &json!({"x-new": 1, "messages": [{"role": "system", "when": 5, "content": {"type": "video", "x": 1}}]}),
    );
    kept::<CompleteResult>(&json!({"completion": {"values": ["a"], "x-new": 1}, "x-new": 2}));
    kept::<ListRootsResult>(&json!({"roots": [{"uri": "file:///a", "x-new": 1}], "x-new": 2}));
    kept::<ResourceUpdated>(&json!({"uri": "a:1", "x-new": 1}));
    let role: Role = good("\"tool\\u001b[2J\"");
    assert_eq!((role.as_str(), &*role.to_string()), ("tool\u{1b}[2J", "tool"));
}

#[test]
fn a_result_of_another_type_is_no_empty_one() {
    let text = r#"{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#;
    let errors = [
        read::<ListResourcesResult>(text).err(),
        read::<ListResourceTemplatesResult>(text).err(),
        read::<ReadResourceResult>(text).err(),
        read::<ListPromptsResult>(text).err(),
        read::<GetPromptResult>(text).err(),
        read::<CompleteResult>(text).err(),
    ];
    for error in errors {
        let error = error.expect("it is none").to_string();
        assert!(error.contains("\"input_required\""), "{error}");
    }
}

// Resources, prompts, completion, log levels and roots: what is asked, as it stands on the wire, and what becomes of the
// answers.

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
    Pair::legacy(move |sent, peer| peer.answer(sent, result))
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
    let mut pair = Pair::open(configured(Config::answer_roots), legacy(|_, _| {}));
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
    let mut pair = Pair::modern(move |sent, peer| peer.answer(sent, result));
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
    let Some(folder) = spec::folder() else { return };
    let example = |path: &str| {
        let message = spec::example(&folder, path);
        message.get("params").cloned().unwrap_or(message)
    };
    let mut pair = Pair::modern_with(Config::new("ExampleClient", "1.0.0"), |sent, peer| {
        if sent.params()["name"] != "build_simulation" {
            peer.answer(sent, r#"{"resultType":"complete"}"#);
        }
    });
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
