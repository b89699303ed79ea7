//! What servers may ask, what they ask, and how they are answered.

use std::time::Duration;

use mcpwire_core::{
    CallError, ClientCapabilities, Config, CreateMessageParams, ElicitParams, Event, FormSchema, Json, Notification,
    RequestOptions, RpcError, SendError, ServerRequest, ServerRequestId, ServerRequestKind,
};
use mcpwire_engine_tests::sim::{Pair, configured, legacy, modern};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

// What servers may ask is what was declared to them; and what they ask is a type.

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
const URL: &str = r#"{"mode":"url","message":"?","url":"https://a.example"}"#;
const SAMPLE: &str = r#"{"messages":[],"maxTokens":1}"#;
const SAMPLE_WITH_TOOLS: &str = r#"{"messages":[],"maxTokens":1,"tools":[]}"#;

fn capabilities(text: &str) -> ClientCapabilities {
    Json::parse(text).unwrap().decode().unwrap()
}

#[test]
fn what_may_be_asked_is_what_was_declared() {
    const NOT_FOUND: i64 = RpcError::METHOD_NOT_FOUND;
    const INVALID: i64 = RpcError::INVALID_PARAMS;
    for (declared, method, params, code) in [
        ("{}", "elicitation/create", FORM, NOT_FOUND),
        ("{}", "sampling/createMessage", SAMPLE, NOT_FOUND),
        ("{}", "roots/list", "{}", NOT_FOUND),
        ("{}", "vendor/x", "{}", 0),
        (r#"{"roots":{}}"#, "roots/list", "{}", 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"mode":"form"}"#, 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", URL, INVALID),
        (r#"{"elicitation":{"form":{}}}"#, "elicitation/create", URL, INVALID),
        (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", URL, 0),
        (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", FORM, INVALID),
        (r#"{"elicitation":{"url":null}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{"form":{}}}"#, "elicitation/create", r#"{"mode":"voice"}"#, INVALID),
        (r#"{"elicitation":{"voice":{}}}"#, "elicitation/create", r#"{"mode":"voice"}"#, 0),
        (r#"{"sampling":{}}"#, "sampling/createMessage", SAMPLE, 0),
        (r#"{"sampling":{}}"#, "sampling/createMessage", SAMPLE_WITH_TOOLS, INVALID),
        (r#"{"sampling":{}}"#, "sampling/createMessage", r#"{"messages":[],"toolChoice":{}}"#, INVALID),
        (r#"{"sampling":{"tools":{}}}"#, "sampling/createMessage", SAMPLE_WITH_TOOLS, 0),
        (
            r#"{"sampling":{}}"#,
            "sampling/createMessage",
            r#"{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"1"}}]}"#,
            INVALID,
        ),
    ] {
        let allowed = capabilities(declared).allow(method, Some(&Json::parse(params).unwrap()));
        assert_eq!(allowed.map_or_else(|error| error.code, |()| 0), code, "{declared} {method} {params}");
    }
}

#[test]
fn capabilities_are_declared_one_by_one() {
    let text = |capabilities: ClientCapabilities| Json::from_value(&capabilities).unwrap().get().to_owned();
    let none = ClientCapabilities::default;
    assert_eq!(text(none().with_elicitation(true, false)), r#"{"elicitation":{"form":{}}}"#);
    assert_eq!(text(none().with_elicitation(false, true)), r#"{"elicitation":{"url":{}}}"#);
    assert_eq!(
        text(capabilities(r#"{"elicitation":{}}"#).with_elicitation(false, true)),
        r#"{"elicitation":{"form":{},"url":{}}}"#
    );
    assert_eq!(text(none().with_sampling(false, false)), r#"{"sampling":{}}"#);
    assert_eq!(
        text(capabilities(r#"{"sampling":{"x":1}}"#).with_sampling(true, true)),
        r#"{"sampling":{"x":1,"tools":{},"context":{}}}"#
    );
    assert_eq!(text(none().with_roots(false)), r#"{"roots":{}}"#);
    assert_eq!(
        text(capabilities(r#"{"roots":{"listChanged":false,"x":1}}"#).with_roots(true)),
        r#"{"roots":{"x":1,"listChanged":true}}"#
    );
    assert_eq!(text(none().with_roots(true).with_roots(false)), r#"{"roots":{"listChanged":true}}"#);
}

#[test]
fn what_is_answered_is_declared() {
    let mut config = Config::default();
    config.answer("elicitation/create");
    config.answer("vendor/x");
    config.answer("elicitation/create");
    assert_eq!(config.answers(), ["elicitation/create", "vendor/x"]);
    assert_eq!(config.capabilities, ClientCapabilities::default().with_elicitation(true, false));
    config.answer_elicitation(false, true);
    assert_eq!(config.capabilities, ClientCapabilities::default().with_elicitation(true, true));
    config.capabilities = config.capabilities.with_sampling(true, false);
    config.answer_sampling();
    assert_eq!(config.capabilities.sampling, ClientCapabilities::default().with_sampling(true, false).sampling);
}

#[test]
fn a_question_that_was_not_declared_is_refused_at_once() {
    let mut config = Config::default();
    config.answer("elicitation/create");
    config.answer("roots/list");
    config.capabilities.roots = None;
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    for (method, params, code, message) in [
        ("elicitation/create", URL, -32602, "this client has not declared elicitation of the mode `url`"),
        ("roots/list", "{}", -32601, "this client has not declared the capability `roots`"),
    ] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!(answer.message["error"], json!({"code": code, "message": message}));
        assert_eq!(
            pair.events.pop().map(|(_, event)| event),
            Some(Event::ServerRequestRefused { method: method.into() })
        );
    }
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{FORM}}}"#));
    assert!(matches!(pair.events.pop(), Some((_, Event::ServerRequest(_)))));
}

fn ask(pair: &mut Pair, id: &str, method: &str) -> ServerRequest {
    ask_with(pair, id, method, r#","params":{"a": 1}"#)
}

fn asked(pair: &mut Pair, method: &str, params: &str) -> ServerRequest {
    ask_with(pair, r#""q""#, method, params)
}

fn ask_with(pair: &mut Pair, id: &str, method: &str, params: &str) -> ServerRequest {
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#));
    match pair.events.pop() {
        Some((_, Event::ServerRequest(ask))) => ask,
        other => panic!("no question: {other:?}"),
    }
}

fn all() -> Config {
    let mut config = Config::default();
    config.answer_elicitation(true, true);
    config.answer_sampling();
    config.answer_roots();
    config.answer("vendor/x");
    config
}

#[test]
fn a_question_is_a_type() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let form = asked(&mut pair, "elicitation/create", &format!(r#","params":{FORM}"#)).request();
    assert!(matches!(form, Ok(ServerRequestKind::Elicit(ElicitParams::Form(_)))));
    let url = asked(&mut pair, "elicitation/create", &format!(r#","params":{URL}"#)).request();
    assert!(matches!(url, Ok(ServerRequestKind::Elicit(ElicitParams::Url(_)))));
    let sample = asked(&mut pair, "sampling/createMessage", &format!(r#","params":{SAMPLE}"#)).request();
    assert!(matches!(sample, Ok(ServerRequestKind::Sample(params)) if params.max_tokens == Some(1)));
    assert_eq!(asked(&mut pair, "roots/list", "").request(), Ok(ServerRequestKind::ListRoots));
    assert_eq!(asked(&mut pair, "vendor/x", "").request(), Ok(ServerRequestKind::Other));
    for (method, params) in [
        ("elicitation/create", ""),
        ("elicitation/create", r#","params":{"message":1}"#),
        ("sampling/createMessage", ""),
    ] {
        let error = asked(&mut pair, method, params).request().expect_err("it cannot be read");
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert!(error.message.starts_with(&format!("the parameters of `{method}` cannot be read: ")), "{error}");
    }
}

/// A person takes longer than the timeout of a request, and the server cannot go on meanwhile.
#[test]
fn a_server_that_waits_for_an_answer_is_given_its_time() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let options = RequestOptions::new().timeout(Duration::from_secs(10)).total_timeout(Duration::from_secs(100));
    let ticket = pair.call("slow", &options).expect("it is sent");
    pair.drive();
    let ask = asked(&mut pair, "roots/list", "");
    pair.pass(Duration::from_secs(45));
    assert!(pair.engine.session().is_waiting(ticket.key()), "the server waits for us");
    let now = pair.now;
    assert_eq!(pair.engine.calls().answer(ask.key, &(), now), Ok(true));
    pair.drive();
    pair.pass(Duration::from_secs(9));
    assert!(pair.engine.session().is_waiting(ticket.key()), "it has its time anew");
    pair.pass(Duration::from_secs(15));
    assert!(!pair.engine.session().is_waiting(ticket.key()), "and no more than that");
    assert!(matches!(pair.take(ticket), Some(Err(CallError::Timeout { .. }))));
}

#[test]
fn a_server_that_asks_for_ever_is_given_no_more_than_the_total() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let options = RequestOptions::new().timeout(Duration::from_secs(10)).total_timeout(Duration::from_secs(100));
    let ticket = pair.call("slow", &options).expect("it is sent");
    pair.drive();
    asked(&mut pair, "roots/list", "");
    pair.pass(Duration::from_secs(101));
    assert!(matches!(pair.take(ticket), Some(Err(CallError::Timeout { .. }))));
}

#[test]
fn the_end_of_a_visit_is_told() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    pair.say(
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1","x":1}}"#,
    );
    let Some((_, Event::Notification(Notification::ElicitationComplete(complete)))) = pair.events.pop() else {
        panic!("it is not told")
    };
    assert_eq!(complete.elicitation_id, "e1");
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{}}"#);
    assert!(matches!(pair.events.pop(), Some((_, Event::InvalidMessage { .. }))));
}

#[test]
fn changes_of_the_roots_are_for_legacy_servers_that_know_of_them() {
    assert!(Pair::open(all(), legacy(|_, _| {})).engine.session().declares_roots_list_changed());
    assert!(!Pair::open(all(), modern(|_, _| {})).engine.session().declares_roots_list_changed());
    assert!(
        !Pair::open(configured(|config| config.answer("roots/list")), legacy(|_, _| {}))
            .engine
            .session()
            .declares_roots_list_changed()
    );
}

// A server asks the client: a legacy one is answered, a modern one may not ask.

fn refused(method: &str) -> Event {
    Event::ServerRequestRefused { method: method.into() }
}

#[test]
fn a_ping_is_answered_with_its_id_as_it_came() {
    let mut pair = Pair::legacy(|_, _| {});
    for id in ["1", "-7", "2.50", "\"a\\u00e4\\n\"", "\"\"", "123456789012345678901234567890"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!(answer.text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    assert!(pair.events.is_empty());
}

#[test]
fn what_the_client_cannot_do_is_refused() {
    let mut pair = Pair::legacy(|_, _| {});
    for method in ["sampling/createMessage", "roots/list", "elicitation/create", "", "x/y"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":"s1","method":"{method}","params":{{"a":[1]}}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!((answer.message["id"].as_str(), &answer.message["error"]["code"]), (Some("s1"), &(-32601).into()));
        assert_eq!(pair.events.pop().map(|(_, event)| event), Some(refused(method)));
    }
    assert_eq!(pair.engine.session().stats().refused, 5);
}

#[test]
fn the_servers_ids_are_not_ours() {
    let mut pair = Pair::legacy(|_, _| {});
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let id = pair.sent[0].id().expect("a request");
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    pair.say(format!(r#"{{"method":"roots/list","params":{{"id":{id}}},"id":{id},"jsonrpc":"2.0"}}"#));
    assert!(pair.engine.session().is_waiting(ticket.key()), "a question with the id of a request of ours is no answer");
    assert_eq!(pair.sent.len(), 3, "and is answered");
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
}

#[test]
fn an_id_that_is_none_is_not_answered() {
    let mut pair = Pair::legacy(|_, _| {});
    for id in ["null", "{}", "[1]", "true", "01", "1e999"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#));
    }
    assert!(pair.sent.is_empty());
}

#[test]
fn a_modern_server_is_not_answered() {
    let mut pair = Pair::modern(|_, _| {});
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#);
    pair.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(pair.sent.len(), 0);
    assert_eq!(pair.happened(), [&refused("sampling/createMessage"), &refused("ping")]);
}

#[test]
fn a_server_that_asks_while_it_is_opened_is_answered() {
    let mut pair = Pair::opening(Config::default(), |sent, peer| {
        if sent.method() == "server/discover" {
            peer.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
            peer.refuse(sent, -32601, "Method not found");
        }
    });
    pair.drive();
    assert!(pair.sent.iter().any(|sent| sent.message["result"].is_object()));
    assert_eq!(pair.methods(), ["server/discover", "", "initialize"], "in the order of what they answer");
}

// A legacy server asks for what the embedder answers.

fn answering(methods: &[&str]) -> Config {
    configured(|config| methods.iter().for_each(|method| config.answer(method)))
}

#[test]
fn an_answer_goes_to_the_question_whatever_the_order() {
    let mut pair = Pair::open(answering(&["roots/list", "vendor/x"]), legacy(|_, _| {}));
    let first = ask(&mut pair, "1", "roots/list");
    let second = ask(&mut pair, "\"one\"", "vendor/x");
    assert_eq!((first.method.as_str(), first.params.as_ref().map(Json::get)), ("roots/list", Some(r#"{"a": 1}"#)));
    assert_eq!(pair.engine.calls().answer(second.key, &json!({"b": "\n"}), pair.now), Ok(true));
    let mut error = RpcError::new(-1, "not now");
    error.data = Some(Json::parse("[1,\n2]").unwrap());
    assert!(pair.engine.calls().refuse(first.key, &error, pair.now));
    pair.drive();
    let sent: Vec<_> = pair.sent.iter().map(|sent| sent.text.as_str()).collect();
    assert_eq!(
        sent,
        [
            r#"{"jsonrpc":"2.0","id":"one","result":{"b":"\n"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not now","data":[1, 2]}}"#,
        ]
    );
}

#[test]
fn a_question_is_answered_once() {
    let mut pair = Pair::open(answering(&["roots/list"]), legacy(|_, _| {}));
    let key = ask(&mut pair, "1", "roots/list").key;
    assert_eq!(
        pair.engine.calls().answer(key, &[1], pair.now),
        Err(SendError::NotAnObject { method: "an answer".into() })
    );
    pair.drive();
    assert!(pair.sent.is_empty(), "nothing of a wrong answer is sent");
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(true), "nothing is an empty object");
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false));
    assert!(!pair.engine.calls().refuse(key, &RpcError::new(0, ""), pair.now));
    pair.drive();
    assert_eq!(pair.sent.len(), 1);
}

#[test]
fn what_the_server_gives_up_is_not_answered() {
    let mut pair = Pair::open(answering(&["roots/list"]), legacy(|_, _| {}));
    let key = ask(&mut pair, "\"a\"", "roots/list").key;
    for id in ["\"b\"", "1", "\"a\"", "\"a\""] {
        let params = format!(r#"{{"requestId":{id},"reason":"enough"}}"#);
        pair.say(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
    }
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(key)]);
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false));
    assert_eq!(pair.engine.session().stats().late, 3);
}

#[test]
fn questions_are_bounded_and_end_with_the_connection() {
    let mut config = answering(&["roots/list"]);
    config.max_server_requests = 2;
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    let keys: Vec<ServerRequestId> = (0..2).map(|id| ask(&mut pair, &id.to_string(), "roots/list").key).collect();
    pair.say(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#);
    assert_eq!(pair.sent.pop().expect("it is refused").message["error"]["code"], -32603);
    pair.end();
    pair.drive();
    for key in keys {
        assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false), "nobody waits");
    }
}

#[test]
fn a_modern_server_may_not_ask_at_all() {
    let mut pair = Pair::open(answering(&["roots/list"]), modern(|_, _| {}));
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert_eq!(pair.happened(), [&Event::ServerRequestRefused { method: "roots/list".into() }]);
    assert!(pair.sent.is_empty());
}

// Random forms, answers and conversations: what is read is written the same, and nothing that servers send is too much.

/// Any value where another is expected: absent, null, of the wrong type, not known yet.
fn oddity() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(7),
        json!(-0.5),
        json!("other"),
        json!(true),
        json!([]),
        json!(["a", null]),
        json!({"x": 1}),
    ])
}

fn keyword() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "title",
            "minLength",
            "maxLength",
            "format",
            "minimum",
            "maximum",
            "default",
            "enum",
            "enumNames",
            "oneOf",
            "items",
            "minItems",
            "new",
        ][..],
    )
}

fn field() -> impl Strategy<Value = Value> {
    let kinds = select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "format": "date", "default": "2026-07-28"}),
        json!({"type": "number", "minimum": 1, "default": 2.5}),
        json!({"type": "integer", "maximum": 10}),
        json!({"type": "boolean", "default": true}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}], "default": "a"}),
        json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]}),
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
        json!({}),
    ]);
    (kinds, btree_map(keyword(), oddity(), 0..3)).prop_map(|(mut kind, odd)| {
        let members = kind.as_object_mut().unwrap();
        members.extend(odd.into_iter().map(|(name, value)| (name.to_owned(), value)));
        kind
    })
}

fn form() -> impl Strategy<Value = Value> {
    (btree_map("[a-c]{1,2}", field(), 0..5), vec("[a-c]{1,2}", 0..3), option::of(oddity())).prop_map(
        |(fields, required, odd)| {
            let mut form = json!({"type": "object", "properties": fields, "required": required});
            if let Some(odd) = odd {
                form["additionalProperties"] = odd;
            }
            form
        },
    )
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "text", "text": "x"})),
        Just(json!({"type": "image", "data": "", "mimeType": "image/png"})),
        Just(json!({"type": "tool_use", "id": "1", "name": "t", "input": {}})),
        Just(json!({"type": "tool_result", "toolUseId": "1", "content": []})),
        oddity(),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let content = prop_oneof![block(), vec(block(), 0..3).prop_map(Value::from)];
    (select(&["user", "assistant", "narrator"][..]), content)
        .prop_map(|(role, content)| json!({"role": role, "content": content, "new": 1}))
}

fn json_of(value: &Value) -> Json {
    Json::from_value(value).unwrap()
}

proptest! {
    #[test]
    fn a_form_is_read_and_written_the_same(value in form()) {
        let form: FormSchema = json_of(&value).decode().unwrap();
        let again: FormSchema = Json::from_value(&form).unwrap().decode().unwrap();
        prop_assert_eq!(again, form);
    }

    #[test]
    fn what_is_completed_is_valid_and_complete(value in form(), answer in btree_map("[a-d]{1,2}", oddity(), 0..5)) {
        let form: FormSchema = json_of(&value).decode().unwrap();
        if let Ok(content) = form.complete(Some(&Json::from_value(&answer).unwrap())) {
            prop_assert_eq!(form.validate(&content), Ok(()));
            prop_assert_eq!(form.complete(Some(&content)), Ok(content.clone()));
            for (field, _) in form.fields().filter(|(field, _)| field.schema.default_value().is_some()) {
                prop_assert!(content.member::<Json>(&field.name).is_some(), "{} has its default", field.name);
            }
        }
    }

    #[test]
    fn what_a_person_types_is_what_the_field_takes(schema in field(), text in "[ a-c0-9.,+-]{0,6}|yes|2026-07-28") {
        let form: FormSchema = json_of(&json!({"properties": {"f": schema}})).decode().unwrap();
        if let Ok(value) = form.field("f").unwrap().schema.parse_text(&text) {
            prop_assert_eq!(form.validate(&Json::parse(format!(r#"{{"f":{value}}}"#)).unwrap()), Ok(()));
        }
    }

    #[test]
    fn a_question_is_read_and_written_the_same(schema in form(), mode in option::of(select(&["form", "url", "voice"][..]))) {
        let mut params = json!({"message": "?", "requestedSchema": schema, "url": "https://a.example", "new": [1]});
        if let Some(mode) = mode {
            params["mode"] = mode.into();
        }
        let read: ElicitParams = json_of(&params).decode().unwrap();
        prop_assert_eq!(read.mode(), mode.unwrap_or("form"));
        let again: ElicitParams = Json::from_value(&read).unwrap().decode().unwrap();
        prop_assert_eq!(again, read);
    }

    #[test]
    fn a_conversation_is_read_and_written_the_same(messages in vec(message(), 0..4), odd in btree_map(select(&["maxTokens", "toolChoice", "includeContext", "tools", "new"][..]), oddity(), 0..3)) {
        let mut params = json!({ "messages": messages });
        params.as_object_mut().unwrap().extend(odd.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let read: CreateMessageParams = json_of(&params).decode().unwrap();
        let written = Json::from_value(&read).unwrap();
        let again: CreateMessageParams = written.decode().unwrap();
        prop_assert_eq!(&again.messages.items, &read.messages.items);
        // Whether it can be answered is decided without a panic.
        let _ = read.check();
    }
}
