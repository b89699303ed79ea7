//! The parameters of requests: arguments, prepared parameters, `_meta`, and what is reported of a request that was sent.

use std::collections::{BTreeMap, HashMap};

use mcpwire_core::internal::Prepared;
use mcpwire_core::{
    CallTool, CallToolAsTask, CallToolParams, CallToolRaw, Config, ElicitForm, ElicitResult, Event, GetPrompt,
    GetPromptParams, Json, ListParams, ListTools, LoggingLevel, Method, Params, ReadResource, ReadResourceParams,
    RequestOptions, SendError, Tag, TraceContext,
};
use mcpwire_engine_tests::sim::{Pair, Sent, configured, legacy, modern};
use serde::Serialize;
use serde_json::{Value, json};

// Arguments of tools, prompts and forms may be an object, pairs of a name and a value, or nothing.

/// Returns the member `arguments` of the request that the engine sends with these parameters.
fn sent<M: Method>(params: &impl Params<M>) -> Result<Value, SendError> {
    let mut pair = Pair::legacy(|_, _| {});
    // Another message before it in the buffer.
    let now = pair.now;
    let before = CallToolParams { name: "before", arguments: &json!({"arguments": [["x", 1]]}) };
    let _ticket = pair.engine.calls().request::<CallTool>(&before, &RequestOptions::new(), now)?;
    let ticket = pair.engine.calls().request::<M>(params, &RequestOptions::new().progress(), now).map(drop);
    pair.drive();
    assert_eq!(
        pair.sent[pair.sent.len() - 1 - usize::from(ticket.is_ok())].params(),
        &json!({
            "name": "before", "arguments": {"arguments": [["x", 1]]}
        })
    );
    ticket.map(|()| pair.sent.pop().expect("it was sent").params()["arguments"].clone())
}

fn tool<A: Serialize + ?Sized>(arguments: &A) -> Result<Value, SendError> {
    let params = CallToolParams { name: "a tool", arguments };
    let sent_arguments = sent::<CallTool>(&params);
    assert_eq!(sent::<CallToolRaw>(&params), sent_arguments);
    assert_eq!(sent::<CallToolAsTask>(&params), sent_arguments);
    sent_arguments
}

fn prompt<A: Serialize + ?Sized>(arguments: &A) -> Result<Value, SendError> {
    sent::<GetPrompt>(&GetPromptParams { name: "a prompt", arguments })
}

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[test]
fn all_ways_to_give_arguments_send_the_same() {
    fn same<A: Serialize + ?Sized>(arguments: &A) {
        assert_eq!(tool(arguments), Ok(json!({"message": "hi"})));
        assert_eq!(prompt(arguments), Ok(json!({"message": "hi"})));
        let form = ElicitResult::accept(arguments).expect("it is written").content.expect("content");
        assert_eq!(form.get(), r#"{"message":"hi"}"#);
    }
    let text = String::from("message");
    same(&Message { message: "hi" });
    same(&json!({"message": "hi"}));
    same(&Json::parse(r#"{"message":"hi"}"#).expect("it is JSON"));
    same(&BTreeMap::from([("message", "hi")]));
    same(&HashMap::from([(text.clone(), "hi")]));
    same(&[("message", "hi")]);
    same(&[("message", "hi")][..]);
    same(&vec![(text.clone(), String::from("hi"))]);
    same(&[(&text, Some("hi"))]);
    same(&(("message", "hi"),));
    same(&json!([["message", "hi"]]));
    same(&Some([("message", "hi")]));
    same(&Box::new([("message", "hi")]));
}

#[test]
fn values_of_pairs_may_be_of_any_type() {
    assert_eq!(
        tool(&(("a", 1), ("b", "x"), ("c", [Some(true), None]), ("d", Message { message: "\"}],[" }))),
        Ok(json!({"a": 1, "b": "x", "c": [true, null], "d": {"message": "\"}],["}}))
    );
    assert_eq!(tool(&[("[\"", json!({})), ("\n", json!([["e", 1]]))]), Ok(json!({"[\"": {}, "\n": [["e", 1]]})));
    assert_eq!(prompt(&[("a", Some("x")), ("b", None)]), Ok(json!({"a": "x"})));
}

#[test]
fn no_arguments_are_an_empty_object() {
    fn nothing<A: Serialize + ?Sized>(arguments: &A) {
        assert_eq!(tool(arguments), Ok(json!({})));
        assert_eq!(prompt(arguments), Ok(json!({})));
    }
    nothing(&());
    nothing(&None::<Message>);
    nothing(&Value::Null);
    nothing(&json!({}));
    nothing(&[(); 0]);
    nothing(&[("", ""); 0]);
    nothing(&Vec::<(String, Value)>::new());
    nothing(&BTreeMap::<String, String>::new());
}

#[test]
fn other_arguments_are_refused_with_what_is_accepted() {
    fn refused<A: Serialize + ?Sized>(arguments: &A) {
        let error = tool(arguments).expect_err("a tool takes no such arguments");
        assert_eq!(error, SendError::NotAnObject { method: "tools/call".into() });
        assert_eq!(
            error.to_string(),
            "the parameters of `tools/call` must be a JSON object; pass arguments as a struct, a map, pairs such as \
             `[(\"name\", 1)]`, or `()` for none"
        );
        let error = prompt(arguments).expect_err("a prompt takes no such arguments").to_string();
        assert!(error.contains("must be an object, pairs of a name and a value, or nothing"), "{error}");
    }
    refused("text");
    refused(&5);
    refused(&["message", "hi"]);
    refused(&("message", "hi"));
    refused(&[("message", "hi", 1)]);
    refused(&[(1, "hi")]);
    refused(&[[1, 2], [3, 4]]);
    refused(&[Message { message: "hi" }]);
    refused(&json!([["message", "hi"], 1]));
    refused(&json!([[{"message": "hi"}, 1]]));
}

#[test]
fn a_form_is_filled_in_with_pairs() {
    let form: ElicitForm = serde_json::from_value(json!({
        "message": "Who are you?",
        "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string", "default": "Paris"}
        }}
    }))
    .expect("a form");
    let result = ElicitResult::accept(&(("name", "Ada"), ("age", 36))).expect("it is written");
    let content = form.complete(result).expect("it fits").content.expect("content");
    assert_eq!(content.decode::<Value>(), Ok(json!({"name": "Ada", "age": 36, "city": "Paris"})));
}

// Parameters that were prepared beforehand are sent as if they had not been.

/// A method that both eras have.
enum Nothing {}

impl Method for Nothing {
    const NAME: &'static str = "acme/nothing";
    type Result = Json;
}

#[derive(Serialize)]
struct NoParams {}

impl Params<Nothing> for NoParams {}

fn pairs() -> [Pair; 2] {
    let config = || Config::new("me", "3");
    [Pair::open(config(), legacy(|_, _| {})), Pair::open(config(), modern(|_, _| {}))]
}

/// What one request becomes on the wire, sent as it is and prepared.
fn both_ways<M: Method>(params: &impl Params<M>, options: &RequestOptions) {
    for (mut one, mut other) in pairs().into_iter().zip(pairs()) {
        let now = one.now;
        let prepared = Prepared::<M>::new(params).expect("it is good");
        let _ticket = one.engine.calls().request(params, options, now).expect("it is sent");
        let _ticket = other.engine.calls().request_prepared(&prepared.clone(), options, now).expect("it is sent");
        let (one, other) = (one.engine.transmit(), other.engine.transmit());
        assert_eq!(String::from_utf8_lossy(one), String::from_utf8_lossy(other));
        assert!(!one.is_empty());
    }
}

#[test]
fn the_bytes_are_the_same() {
    #[derive(Serialize)]
    struct Arguments {
        text: &'static str,
    }
    let laid_out = Json::parse("{\n \"a\": 1\r\n}").expect("it is JSON");
    let meta = Json::parse("{\"trace\":1}").expect("it is JSON");
    for options in
        [RequestOptions::new(), RequestOptions::new().progress(), RequestOptions::new().progress().meta(meta)]
    {
        both_ways::<CallTool>(&CallToolParams { name: "x", arguments: &Arguments { text: "a\"b\n" } }, &options);
        both_ways::<CallToolRaw>(&CallToolParams { name: "x", arguments: &laid_out }, &options);
        both_ways::<CallTool>(&CallToolParams { name: "x", arguments: &() }, &options);
        both_ways::<ListTools>(&ListParams { cursor: Some("c") }, &options);
        both_ways::<ListTools>(&ListParams { cursor: None }, &options);
        both_ways::<Nothing>(&NoParams {}, &options);
        both_ways::<Nothing>(&(), &options);
    }
}

#[test]
fn the_same_answer_comes_back() {
    let mut pair = Pair::legacy(|sent, peer| peer.answer(sent, r#"{"content":[]}"#));
    let prepared = Prepared::<CallTool>::new(&CallToolParams { name: "x", arguments: &() }).expect("it is good");
    for _ in 0..2 {
        let ticket =
            pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).expect("it is sent");
        pair.drive();
        assert!(pair.take(ticket).expect("it has ended").is_ok());
    }
}

#[test]
fn what_cannot_be_sent_cannot_be_prepared() {
    fn alike<M: Method>(params: &impl Params<M>) -> SendError {
        let [mut pair, _] = pairs();
        let now = pair.now;
        let sent = pair.engine.calls().request(params, &RequestOptions::new(), now).expect_err("it cannot be sent");
        assert!(pair.engine.transmit().is_empty(), "nothing of it is left");
        let prepared = Prepared::<M>::new(params).expect_err("it cannot be prepared");
        assert_eq!(sent, prepared);
        prepared
    }
    let no_object = alike::<CallTool>(&CallToolParams { name: "x", arguments: &[1] });
    assert_eq!(no_object, SendError::NotAnObject { method: "tools/call".into() });
    let arguments = BTreeMap::from([((), 1)]);
    let no_json = alike::<CallTool>(&CallToolParams { name: "x", arguments: &arguments });
    assert!(matches!(no_json, SendError::Params { method, .. } if method == "tools/call"));
}

#[test]
fn limits_are_those_of_the_moment_when_it_is_sent() {
    let mut pair = Pair::open(configured(|config| config.max_in_flight = 1), legacy(|_, _| {}));
    let prepared = Prepared::<Nothing>::new(&()).expect("it is good");
    let mut send = || pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).map(drop);
    assert_eq!(send(), Ok(()));
    assert_eq!(send(), Err(SendError::TooManyInFlight { limit: 1 }));
    pair.engine.close();
    let ended = pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).map(drop);
    assert_eq!(ended, Err(SendError::Closed));
}

#[test]
fn it_shows_what_it_holds_in_short() {
    let text = "x".repeat(100_000);
    let prepared = Prepared::<CallTool>::new(&CallToolParams { name: &text, arguments: &() }).expect("it is good");
    let shown = format!("{prepared:?}");
    assert!(shown.contains("tools/call") && shown.len() < 1000, "{shown}");
}

// `_meta`: what the modern era wants in each request, what progress needs, and what the caller puts there.

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn modern_pair() -> Pair {
    let mut config = Config::new("me", "3");
    config.capabilities.roots = Some(Json::parse("{}").expect("an object"));
    Pair::open(config, modern(|_, _| {}))
}

fn meta(text: &str) -> RequestOptions {
    RequestOptions::new().meta(Json::parse(text).expect("it is JSON"))
}

/// What a call becomes.
fn called(pair: &mut Pair, options: &RequestOptions) -> Sent {
    let _ticket = pair.call("echo", options).expect("it is sent");
    last(pair)
}

/// What a request of any method becomes.
fn asked(pair: &mut Pair, params: Option<&str>) -> Sent {
    let _ticket = pair.raw("x/y", params).expect("it is sent");
    last(pair)
}

fn last(pair: &mut Pair) -> Sent {
    pair.drive();
    pair.sent.last().expect("it was sent").clone()
}

#[test]
fn every_modern_request_says_who_asks_and_how() {
    let mut pair = modern_pair();
    called(&mut pair, &RequestOptions::new());
    asked(&mut pair, None);
    asked(&mut pair, Some("{\"a\":1}"));
    asked(&mut pair, Some("{\"_meta\":{},\"a\":1}"));
    pair.drive();
    assert_eq!(pair.sent.len(), 4);
    for sent in &pair.sent {
        assert_eq!(sent.meta()[VERSION], "2026-07-28");
        assert_eq!(sent.meta()[CLIENT], json!({"name": "me", "version": "3"}));
        assert_eq!(sent.meta()[CAPABILITIES], json!({"roots": {}}));
        assert_eq!(sent.meta().as_object().map(serde_json::Map::len), Some(3));
    }
}

#[test]
fn a_legacy_request_has_none() {
    let mut pair = Pair::legacy(|_, _| {});
    assert_eq!(called(&mut pair, &RequestOptions::new()).params(), &json!({"name": "echo", "arguments": {}}));
    assert_eq!(asked(&mut pair, None).params(), &Value::Null, "no parameters are left out");
    let sent = called(&mut pair, &RequestOptions::new().progress());
    assert_eq!(sent.meta(), &json!({"progressToken": sent.id()}));
}

#[test]
fn the_log_level_is_asked_for_where_it_was_configured() {
    let mut pair = Pair::open(configured(|config| config.log_level = Some(LoggingLevel::Warning)), modern(|_, _| {}));
    assert_eq!(asked(&mut pair, None).meta()["io.modelcontextprotocol/logLevel"], "warning");
}

#[test]
fn the_callers_members_are_merged() {
    let mut pair = modern_pair();
    let sent = called(&mut pair, &meta(r#"{"trace":"a\nb","x/y":{"z":[1]}}"#).progress());
    assert_eq!(sent.meta()["trace"], "a\nb");
    assert_eq!(sent.meta()["x/y"], json!({"z": [1]}));
    assert_eq!(sent.meta()["progressToken"], json!(sent.id()));
    assert_eq!(sent.meta()[VERSION], "2026-07-28");
}

#[test]
fn a_member_that_the_protocol_sets_is_set_once() {
    let mut pair = modern_pair();
    let options = meta(r#"{"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"1","b":1}"#);
    let sent = called(&mut pair, &options.progress());
    for name in ["progressToken", VERSION, CLIENT, CAPABILITIES, "b", "_meta"] {
        assert_eq!(sent.text.matches(&format!("\"{name}\":")).count(), 1, "{name}: {}", sent.text);
    }
    assert_eq!((&sent.meta()[VERSION], &sent.meta()["progressToken"]), (&json!("2026-07-28"), &json!(sent.id())));
}

#[test]
fn a_callers_member_whose_name_only_resembles_stays() {
    let mut pair = modern_pair();
    assert_eq!(
        called(&mut pair, &meta(r#"{"io.modelcontextprotocol/client":1}"#)).meta()["io.modelcontextprotocol/client"],
        1
    );
}

#[test]
fn a_progress_token_of_the_callers_stays_if_none_is_asked_for() {
    let mut pair = Pair::legacy(|_, _| {});
    assert_eq!(
        asked(&mut pair, Some(r#"{"_meta":{"progressToken":"mine"}}"#)).meta(),
        &json!({"progressToken": "mine"})
    );
}

#[test]
fn metadata_among_raw_parameters_and_in_the_options_make_one() {
    let mut pair = modern_pair();
    let params = Json::parse(r#"{"_meta":{"a":1,"b":1},"c":1}"#).expect("it is JSON");
    let _ticket =
        pair.engine.calls().request_raw("x/y", Some(&params), &meta(r#"{"b":2,"d":2}"#), pair.now).expect("it is sent");
    let sent = last(&mut pair);
    assert_eq!(sent.text.matches("\"_meta\"").count(), 1, "{}", sent.text);
    assert_eq!(sent.text.matches("\"b\"").count(), 1, "{}", sent.text);
    assert_eq!((&sent.meta()["a"], &sent.meta()["b"], &sent.meta()["d"]), (&json!(1), &json!(2), &json!(2)));
    assert_eq!(sent.params()["c"], 1);
}

#[test]
fn metadata_that_is_no_object_is_the_callers_mistake() {
    let mut pair = modern_pair();
    assert!(matches!(pair.call("echo", &meta("5")), Err(SendError::NotAnObject { .. })));
    assert!(matches!(pair.raw("x/y", Some(r#"{"_meta":[1]}"#)), Err(SendError::NotAnObject { .. })));
    assert!(matches!(pair.raw("x/y", Some("[1]")), Err(SendError::NotAnObject { .. })));
    pair.drive();
    assert!(pair.sent.is_empty());
}

// Where a request belongs in a trace, as it stands in its `_meta`.

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

#[test]
fn only_what_the_w3c_defines_is_taken() {
    for good in [
        PARENT,
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00",
        "cc-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-what-the-future-brings",
    ] {
        assert!(TraceContext::new(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "00",
        "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more",
        "00-0af7651916cd43dd8448eb211c80319-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\n",
        "01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-\u{e4}",
    ] {
        assert!(TraceContext::new(bad).is_err(), "{bad}");
    }
    let context = || TraceContext::new(PARENT).expect("it is good");
    for good in ["", "rojo=00f067aa0ba902b7", "rojo=1,congo=t61rcWkgMzE", "fw529a3039@dt=FfAAA, ,a=b c", "0a_-*/@=~"] {
        assert!(context().state(good).is_ok(), "{good}");
    }
    let many = |n: usize| (0..n).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    for bad in ["a", "A=1", "=1", "a=", "a=b=c", "a=\u{7}", "_a=1", &many(33), &format!("a={}", "x".repeat(257))] {
        assert!(context().state(bad).is_err(), "{bad}");
    }
    for good in ["", "userId=alice", "userId=alice,serverNode=DF%2028 , isProduction=false;p=1; flag", "a="] {
        assert!(context().baggage(good).is_ok(), "{good}");
    }
    for bad in ["alice", "a b=c", "=1", "a=\"quoted\"", "a=1;;", "a=\u{e4}", &format!("a={}", "x".repeat(9000))] {
        assert!(context().baggage(bad).is_err(), "{bad}");
    }
    let error = context().baggage("\u{7}").expect_err("it is none");
    assert!(error.member == "baggage" && error.to_string().contains("W3C"));
}

#[test]
fn it_stands_in_the_metadata_of_the_request() {
    let context = TraceContext::new(PARENT).and_then(|context| context.state("a=1")).expect("it is good");
    let context = context.baggage("userId=alice").expect("it is good");
    let expected = json!({"traceparent": PARENT, "tracestate": "a=1", "baggage": "userId=alice"});
    let meta = Json::parse(r#"{"com.example/a":1,"traceparent":"old"}"#).expect("it is JSON");
    for mut pair in [Pair::legacy(|_, _| {}), Pair::modern(|_, _| {})] {
        for (options, more) in [
            (RequestOptions::new().trace_context(&context), 0),
            (RequestOptions::new().meta(meta.clone()).trace_context(&context), 1),
        ] {
            let _ticket = pair.call("t", &options).expect("it is sent");
            pair.drive();
            let sent = pair.sent.pop().expect("it was sent");
            let mut traced = sent.meta().clone();
            let members = traced.as_object_mut().expect("an object");
            members.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
            assert_eq!(members.remove("com.example/a").map_or(0, |_| 1), more);
            assert_eq!(traced, expected);
            assert_eq!(sent.text.matches("traceparent").count(), 1, "each name stands there once: {}", sent.text);
        }
    }
}

// The engine reports the requests that it sends, if the embedder wants that.

/// The method, the target, the tag and the trace context of a request.
type Reported = (String, Option<String>, Option<u64>, Option<String>);

fn reported(pair: &Pair) -> Vec<Reported> {
    let events = pair.events.iter().filter_map(|(_, event)| match event {
        Event::RequestSent(sent) => Some(sent),
        _ => None,
    });
    events
        .map(|sent| {
            let tag = sent.tag.as_ref().and_then(Tag::get).copied();
            (sent.request.method.to_string(), sent.request.target.clone(), tag, sent.trace_parent.clone())
        })
        .collect()
}

fn ask(config: Config) -> Pair {
    let mut pair = Pair::open(config, modern(|_, _| {}));
    let mut options = RequestOptions::new().meta(Json::parse(r#"{"traceparent":"00-a\u0062-cd-01"}"#).unwrap());
    options.tag = Some(Tag::new(7_u64));
    let _ = pair.call("a \"tool\"", &options).expect("it is sent");
    let options = RequestOptions::new();
    let mut calls = pair.engine.calls();
    let uri = ReadResourceParams { uri: "file:///a" };
    let _ = calls.request::<ReadResource>(&uri, &options, pair.now).expect("it is sent");
    let prompt = GetPromptParams { name: "hi", arguments: &() };
    let _ = calls.request::<GetPrompt>(&prompt, &options, pair.now).expect("it is sent");
    let params = Json::parse(r#"{"name":"of another kind"}"#).unwrap();
    let _ = calls.request_raw("vendor/x", Some(&params), &options, pair.now).expect("it is sent");
    pair.drive();
    pair
}

#[test]
fn each_is_reported_with_its_target() {
    let mut config = Config::default();
    config.report_requests();
    let pair = ask(config);
    let of = |method: &str, target: Option<&str>, tag: Option<u64>, parent: Option<&str>| {
        (method.to_owned(), target.map(ToOwned::to_owned), tag, parent.map(ToOwned::to_owned))
    };
    assert_eq!(
        reported(&pair),
        [
            of("tools/call", Some("a \"tool\""), Some(7), Some("00-ab-cd-01")),
            of("resources/read", Some("file:///a"), None, None),
            of("prompts/get", Some("hi"), None, None),
            of("vendor/x", None, None, None),
        ]
    );
    let ids: Vec<_> = pair.sent.iter().map(Sent::id).collect();
    let reported = pair.events.iter().filter_map(|(_, event)| match event {
        Event::RequestSent(sent) => Some(sent.id),
        _ => None,
    });
    assert_eq!(format!("{:?}", reported.map(Some).collect::<Vec<_>>()), format!("{ids:?}"));
}

#[test]
fn a_legacy_request_without_parameters_is_reported() {
    let mut pair = Pair::open(configured(Config::report_requests), legacy(|_, _| {}));
    let _ = pair.engine.calls().request_raw("tools/call", None, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.drive();
    assert_eq!(reported(&pair), [("tools/call".to_owned(), None, None, None)]);
}

#[test]
fn nothing_is_reported_by_default() {
    assert_eq!(reported(&ask(Config::default())), []);
}
