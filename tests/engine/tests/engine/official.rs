//! The official examples, answers with every combination of members, and the names of the official schemas.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, mem};

use mcpwire_core::internal::{SubscriptionsListen, SubscriptionsListenParams};
use mcpwire_core::{
    AudioContent, Config, ContentBlock, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
    ElicitResult, Event, ImageContent, Json, ListRootsResult, ListToolsResult, RequestOptions, Root, SamplingContent,
    ServerRequest, ServerRequestKind, StopReason, SubscribeOptions, SubscriptionFilter, ToolUseContent,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use mcpwire_engine_tests::spec;
use serde::Serialize;
use serde_json::{Map, Value, json};

// The official examples of what a client answers and listens to: asked as the specification asks, answered by way of the
// types, and what is sent is the example.
//
// They lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/examples/<definition>/*.json`.

/// The one example of a definition in the file of this name.
fn example(folder: &Path, definition: &str, file: &str) -> Value {
    spec::example(folder, &format!("{definition}/{file}"))
}

/// A client that answers all that the examples ask.
fn obliging() -> Config {
    let mut config = Config::new("ExampleClient", "1.0.0");
    config.answer_elicitation(true, true);
    config.capabilities = mem::take(&mut config.capabilities).with_sampling(true, false);
    config.answer_sampling();
    config.answer_roots();
    config
}

fn asked(pair: &mut Pair) -> Vec<ServerRequest> {
    let events = mem::take(&mut pair.events).into_iter();
    events.filter_map(|(_, event)| if let Event::ServerRequest(ask) = event { Some(ask) } else { None }).collect()
}

/// What is sent when a server asks this, and `answer` says what is answered.
fn sent(method: &str, params: &Value, answer: impl Fn(ServerRequestKind) -> Json) -> Value {
    let mut pair = Pair::open(obliging(), legacy(|_, _| {}));
    pair.say(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string());
    let ask = asked(&mut pair).pop().expect("it is asked");
    let answer = answer(ask.request().expect("it can be read"));
    assert_eq!(pair.engine.calls().answer(ask.key, &answer, pair.now), Ok(true));
    pair.drive();
    pair.sent.pop().expect("it is answered").message["result"].take()
}

fn filled_in(request: ServerRequestKind, content: &impl Serialize) -> Json {
    let ServerRequestKind::Elicit(ElicitParams::Form(form)) = request else { panic!("it is no form: {request:?}") };
    form.answer(ElicitResult::accept(content).expect("it is JSON")).expect("it fits the form")
}

fn said(request: &ServerRequestKind, result: &CreateMessageResult) -> Json {
    let ServerRequestKind::Sample(_) = request else { panic!("it is no sampling: {request:?}") };
    result.answer().expect("it is JSON")
}

const MODEL: &str = "claude-3-sonnet-20240307";

#[test]
fn what_a_person_did_is_sent_as_in_the_examples() {
    #[derive(Serialize)]
    struct Contact {
        name: &'static str,
        email: &'static str,
        age: u8,
    }
    let Some(folder) = spec::folder() else { return };
    let form = example(&folder, "ElicitRequestFormParams", "elicit-single-field.json");
    let one = sent("elicitation/create", &form, |request| filled_in(request, &json!({"name": "octocat"})));
    assert_eq!(one, example(&folder, "ElicitResult", "input-single-field.json"));

    let form = example(&folder, "ElicitRequestFormParams", "elicit-multiple-fields.json");
    let contact = Contact { name: "Monalisa Octocat", email: "octocat@github.com", age: 30 };
    let many = sent("elicitation/create", &form, |request| filled_in(request, &contact));
    assert_eq!(many, example(&folder, "ElicitResult", "input-multiple-fields.json"));

    let address = example(&folder, "ElicitRequestURLParams", "elicit-sensitive-data.json");
    let visited = sent("elicitation/create", &address, |request| {
        let ServerRequestKind::Elicit(ElicitParams::Url(url)) = request else {
            panic!("it is no address: {request:?}")
        };
        url.answer(ElicitAction::Accept).expect("it is an action")
    });
    assert_eq!(visited, example(&folder, "ElicitResult", "accept-url-mode-no-content.json"));
}

#[test]
fn what_a_language_model_said_is_sent_as_in_the_examples() {
    let Some(folder) = spec::folder() else { return };
    let ask = |file: &str, result: &CreateMessageResult| {
        let params = example(&folder, "CreateMessageRequestParams", file);
        sent("sampling/createMessage", &params, |request| said(&request, result))
    };
    let expected = |file: &str| example(&folder, "CreateMessageResult", file);

    let paris = CreateMessageResult::text(MODEL, "The capital of France is Paris.");
    assert_eq!(ask("basic-request.json", &paris), expected("text-response.json"));

    let call = |id: &str, city: &str| {
        let mut call = ToolUseContent::default();
        (call.id, call.name) = (id.into(), "get_weather".into());
        call.input = Json::from_value(&json!({"city": city})).expect("it is JSON");
        SamplingContent::ToolUse(Box::new(call))
    };
    let mut calls = CreateMessageResult::new(MODEL, vec![call("call_abc123", "Paris"), call("call_def456", "London")]);
    calls.stop_reason = Some(StopReason::ToolUse);
    assert_eq!(ask("request-with-tools.json", &calls), expected("tool-use-response.json"));

    let weather = "Based on the current weather data:\n\n- **Paris**: 18°C and partly cloudy - quite pleasant!\n- \
                   **London**: 15°C and rainy - you'll want an umbrella.\n\nParis has slightly warmer and drier \
                   conditions today.";
    let last = CreateMessageResult::text(MODEL, weather);
    assert_eq!(ask("follow-up-with-tool-results.json", &last), expected("final-response.json"));
}

#[test]
fn roots_are_sent_as_in_the_examples() {
    let Some(folder) = spec::folder() else { return };
    let root = |uri: &str, name: &str| {
        let mut root = Root::new(uri);
        root.name = Some(name.into());
        root
    };
    let one = vec![root("file:///home/user/projects/myproject", "My Project")];
    let two = vec![
        root("file:///home/user/repos/frontend", "Frontend Repository"),
        root("file:///home/user/repos/backend", "Backend Repository"),
    ];
    for (roots, file) in [(one, "single-root-directory.json"), (two, "multiple-root-directories.json")] {
        let told =
            sent("roots/list", &json!({}), |_| ListRootsResult::new(roots.clone()).answer().expect("it is JSON"));
        assert_eq!(told, example(&folder, "ListRootsResult", file));
    }
}

/// The input that is wanted, and the request that is sent again with it.
#[test]
fn input_is_sent_as_in_the_examples() {
    let Some(folder) = spec::folder() else { return };
    let file = "input-required-result-with-elicitation-and-sampling-and-request-state.json";
    let wants = example(&folder, "InputRequiredResult", file);
    let result = wants.to_string();
    let mut pair = Pair::modern_with(obliging(), move |sent, peer| {
        let is_again = sent.params().get("inputResponses").is_some();
        peer.answer(sent, if is_again { r#"{"content":[],"resultType":"complete"}"# } else { &result });
    });
    let call = pair.call("t", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    for ask in asked(&mut pair) {
        let request = ask.request().expect("it can be read");
        let answer = match &request {
            ServerRequestKind::Elicit(_) => filled_in(request, &json!({"name": "octocat"})),
            _ => said(&request, &CreateMessageResult::text(MODEL, "The capital of France is Paris.")),
        };
        assert_eq!(pair.engine.calls().answer(ask.key, &answer, pair.now), Ok(true));
    }
    pair.drive();
    assert!(pair.take(call).expect("it has ended").is_ok());
    let again = pair.sent.last().expect("it was sent again").params();
    let file = "elicitation-and-sampling-input-responses.json";
    assert_eq!(again["inputResponses"], example(&folder, "InputResponses", file));
    assert_eq!(again["requestState"], wants["requestState"]);
}

/// The conversation that the examples tell is one that may be answered.
#[test]
fn the_conversations_of_the_examples_are_whole() {
    let Some(folder) = spec::folder() else { return };
    let examples = spec::examples(&folder, "CreateMessageRequestParams");
    assert!(examples.len() >= 3, "only {}", examples.len());
    for (file, example) in examples {
        let params: CreateMessageParams = Json::from_value(&example).and_then(|json| json.decode()).expect("it is one");
        assert_eq!(params.check(), Ok(()), "{file}");
    }
}

#[test]
fn a_subscription_is_sent_as_in_the_example() {
    let Some(folder) = spec::folder() else { return };
    let mut expected = example(&folder, "SubscriptionsListenRequest", "listen-for-list-changes.json");
    let filter = SubscriptionFilter::new().tools().resource("file:///project/config.json");
    for is_followed in [true, false] {
        let mut pair = Pair::open(Config::new("ExampleClient", "1.0.0"), modern(|_, _| {}));
        let now = pair.now;
        if is_followed {
            pair.engine.calls().subscribe(&filter, &SubscribeOptions::new(), now).expect("it is sent");
        } else {
            let params = SubscriptionsListenParams { notifications: &filter };
            let options = RequestOptions::new();
            let _ticket =
                pair.engine.calls().request::<SubscriptionsListen>(&params, &options, now).expect("it is sent");
        }
        pair.drive();
        let sent = pair.sent.pop().expect("it was sent").message;
        // The id is the session's own.
        expected["id"] = sent["id"].clone();
        assert_eq!(sent, expected);
    }
}

// What the specification's own examples and schemas say of single blocks and members. That each example is read, and comes
// out as it went in, is tested in `tests/tests/schemas/coverage`; that requests
// are sent as in the examples, in `server_features.rs`.

#[test]
fn every_known_block_is_known() {
    let Some(folder) = spec::folder() else { return };
    for name in ["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"] {
        for (file, value) in spec::examples(&folder, name) {
            let block = Json::from_value(&value).and_then(|json| json.decode::<ContentBlock>()).expect("it is a block");
            assert!(!matches!(block, ContentBlock::Unknown(_)), "{file}");
        }
    }
    let (image, audio) = (ImageContent::default(), AudioContent::default());
    assert_eq!((image.extra, audio.extra), Default::default());
}

/// The schema of each revision knows the members that the types here have; a member that was misspelt would be in none.
#[test]
fn every_member_is_in_a_schema() {
    let Some(folder) = spec::folder() else { return };
    let mut schemas = String::new();
    for revision in spec::folders(&folder) {
        schemas.push_str(&fs::read_to_string(revision.join("schema.json")).unwrap_or_default());
    }
    let full = r#"{"tools":[{"name":"n","title":"t","description":"d","inputSchema":{},"outputSchema":{},"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true},"icons":[{"src":"s","mimeType":"m","sizes":["1"],"theme":"t"}],"_meta":{}}],"nextCursor":"c","resultType":"complete","ttlMs":1,"cacheScope":"c","_meta":{}}"#;
    let page: ListToolsResult = Json::parse(full).and_then(|json| json.decode()).expect("it is a page");
    assert!(page.extra.is_empty() && page.tools.items.iter().all(|tool| tool.extra.is_empty()));
    let mut names = Vec::new();
    keys(&serde_json::from_str(full).expect("it is JSON"), &mut names);
    for name in names {
        assert!(schemas.contains(&format!("\"{name}\":")), "no schema has {name}");
    }
}

fn keys(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                names.push(name.clone());
                keys(value, names);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| keys(element, names)),
        _ => {}
    }
}

// Each name of the protocol leads to something in the documentation: to the item of this name, or to one that has it as an
// alias. The schemas lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/schema.json`.

/// Definitions that are parts of others, or that the library does not need, and what they are.
const NO_ITEM: [(&str, &str); 4] = [
    (
        "unions, and what several messages have in common",
        "BaseMetadata CacheableResult ClientResult EmptyResult Icons JSONRPCMessage JSONRPCNotification JSONRPCRequest \
         JSONRPCResponse JSONRPCResultResponse NotificationParams Request RequestParams ResourceRequestParams Result ServerResult",
    ),
    ("the error of JSON-RPC, whose name would hide all other errors", "Error"),
    ("strings and numbers", "Cursor ProgressToken RequestId ResultType"),
    (
        "objects that are kept as JSON",
        "InputResponse InputResponseRequestParams InputResponses MetaObject NotificationMetaObject RelatedTaskMetadata \
         RequestMetaObject ResultMetaObject SubscriptionsListenResultMetaObject",
    ),
];

/// Adds the names that the files of a folder export, and their aliases.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            for line in text.lines().map(str::trim_start) {
                if let Some(aliases) = line.strip_prefix("#[doc(alias") {
                    names.extend(aliases.split('"').skip(1).step_by(2).map(String::from));
                }
                let declared = ["pub struct ", "pub cacheable struct ", "pub enum ", "pub trait "];
                if let Some(name) = declared.iter().find_map(|keyword| line.strip_prefix(keyword)) {
                    names.extend(name.split(|c: char| !c.is_alphanumeric()).next().map(String::from));
                }
                // The list of methods in a macro that makes each an alias.
                if let Some((_, rest)) = line.split_once(" = \"").filter(|_| line.contains("=>")) {
                    names.extend(rest.split('"').next().map(String::from));
                }
            }
        }
    }
}

/// The methods of the requests and notifications of a schema.
fn methods(definitions: &Map<String, Value>) -> impl Iterator<Item = &str> {
    definitions.values().filter_map(|definition| definition["properties"]["method"]["const"].as_str())
}

#[test]
fn names_that_programs_look_for_are_found() {
    let mut names = BTreeSet::new();
    for folder in ["core", "adapters"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut names);
    }
    let wanted = "from_stream HubError InvalidItem ListResult MessageObserver ProtocolMode RemoteClosed \
                  RequestHandler ServerRequest ShutdownTimeouts StderrHandler UnparsableMessage";
    let missing: Vec<_> = wanted.split(' ').filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "give an item the alias: {missing:?}");
}

#[test]
fn each_name_of_the_schema_is_found() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core");
    let mut names = BTreeSet::new();
    for package in ["text", "types", "engine"] {
        collect(&core.join(package).join("src"), &mut names);
    }
    let Some(folder) = spec::folder() else { return };
    let mut in_schemas = BTreeSet::new();
    let newest = |schema: &spec::Schema| ["2025-11-25", "2026-07-28"].contains(&schema.name.as_str());
    for schema in spec::schemas(&folder).iter().filter(|schema| newest(schema)) {
        let definitions = schema.definitions();
        in_schemas.extend(methods(definitions).map(String::from));
        in_schemas.extend(definitions.keys().cloned());
    }
    assert!(in_schemas.len() > 190, "{in_schemas:?}");
    let without_item: Vec<&str> = NO_ITEM.iter().flat_map(|(_, names)| names.split(' ')).collect();
    let is_missing = |name: &&String| !names.contains(*name) && !without_item.contains(&name.as_str());
    let missing: Vec<_> = in_schemas.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "give an item the alias, or say why none has it: {missing:?}");
    let surplus: Vec<_> = without_item.iter().filter(|name| names.contains(**name)).collect();
    assert!(surplus.is_empty(), "these have an item: {surplus:?}");
}
