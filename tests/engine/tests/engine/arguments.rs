//! Arguments of tools, prompts and forms may be an object, pairs of a name and a value, or nothing.

use std::collections::{BTreeMap, HashMap};

use mcpwire_core::{
    CallTool, CallToolAsTask, CallToolParams, CallToolRaw, Config, ElicitForm, ElicitResult, GetPrompt,
    GetPromptParams, Json, Method, Params, RequestOptions, SendError,
};
use mcpwire_engine_tests::sim::{Pair, legacy};
use serde::Serialize;
use serde_json::{Value, json};

/// Returns the member `arguments` of the request that the engine sends with these parameters.
fn sent<M: Method>(params: &impl Params<M>) -> Result<Value, SendError> {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
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
