//! The official examples of what a client answers and listens to: asked as the specification asks, answered by way of the
//! types, and what is sent is the example.
//!
//! They lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/examples/<definition>/*.json`.

use std::mem;
use std::path::{Path, PathBuf};

use mcpwire_core::internal::{SubscriptionsListen, SubscriptionsListenParams};
use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, Event, Json,
    ListRootsResult, RequestOptions, Root, SamplingContent, ServerRequest, ServerRequestKind, StopReason,
    SubscribeOptions, SubscriptionFilter, ToolUseContent,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use mcpwire_engine_tests::spec;
use serde::Serialize;
use serde_json::{Value, json};

/// The one example of a definition in the file of this name.
fn example(folder: &Path, definition: &str, file: &str) -> Value {
    let mut examples = spec::examples(folder, definition).into_iter();
    let found = examples.find(|(path, _)| PathBuf::from(path).ends_with(file));
    found.unwrap_or_else(|| panic!("{definition} has no example {file}")).1
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
    let mut pair = Pair::open(
        obliging(),
        modern(move |sent, peer| {
            let is_again = sent.params().get("inputResponses").is_some();
            peer.answer(sent, if is_again { r#"{"content":[],"resultType":"complete"}"# } else { &result });
        }),
    );
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
