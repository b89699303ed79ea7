//! Sampling: what servers ask of a language model, in both shapes of a message.

use mcpwire_core::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, IncludeContext, Json, Role, SamplingContent,
    SamplingContents, StopReason, ToolChoiceMode,
};
use serde_json::{Value, json};

fn read(value: &Value) -> CreateMessageParams {
    Json::from_value(value).unwrap().decode().unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn value(json: &impl serde::Serialize) -> Value {
    serde_json::from_str(Json::from_value(json).unwrap().get()).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "takes what json! makes")]
fn conversation(messages: Value) -> CreateMessageParams {
    read(&json!({"messages": messages, "maxTokens": 10}))
}

#[test]
fn a_request_is_read_and_written_whole() {
    let params = json!({
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "Weather?"}},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}},
                {"type": "tool_use", "id": "c2", "name": "weather", "input": {"city": "London"}, "_meta": {"k": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "18 °C"}]},
                {"type": "tool_result", "toolUseId": "c2", "content": [], "structuredContent": {"c": 15}, "isError": true},
            ]},
        ],
        "modelPreferences": {"hints": [{"name": "sonnet"}], "costPriority": 0.3, "speedPriority": 0.5, "intelligencePriority": 0.8},
        "systemPrompt": "Be brief.", "includeContext": "thisServer", "temperature": 0.1, "maxTokens": 100,
        "stopSequences": ["END"], "metadata": {"x": [1]}, "tools": [{"name": "weather", "inputSchema": {"type": "object"}}],
        "toolChoice": {"mode": "required"}, "_meta": {"progressToken": 1}, "task": {"ttl": 5},
    });
    let read = read(&params);
    assert_eq!(value(&read), params);
    assert_eq!((read.max_tokens, read.include_context.as_ref()), (Some(100), Some(&IncludeContext::ThisServer)));
    assert_eq!(read.tool_choice.as_ref().and_then(|choice| choice.mode.as_ref()), Some(&ToolChoiceMode::Required));
    assert!(read.has_tools());
    assert_eq!(read.check(), Ok(()));
    assert!(matches!(&read.messages.items[1].content[1], SamplingContent::ToolUse(call) if call.id == "c2"));
}

#[test]
fn what_is_not_known_is_kept_and_nulls_are_absent() {
    let params = read(&json!({
        "messages": [{"role": "narrator", "content": [{"type": "smell", "data": 1}, {"type": "tool_use"}, 7]}],
        "includeContext": "galaxy", "toolChoice": {"mode": "perhaps"}, "maxTokens": null, "temperature": "hot",
        "modelPreferences": null, "stopSequences": null, "tools": null,
    }));
    let message = &params.messages.items[0];
    assert_eq!((message.role.as_str(), message.content.len()), ("narrator", 3));
    assert!(message.content.iter().all(|block| matches!(block, SamplingContent::Unknown(_))));
    assert_eq!(value(&message.content), json!([{"type": "smell", "data": 1}, {"type": "tool_use"}, 7]));
    assert_eq!(params.include_context, Some(IncludeContext::Other("galaxy".into())));
    assert_eq!((params.max_tokens, params.temperature, params.tools.is_some()), (None, None, false));
}

#[test]
fn one_block_is_written_as_such_and_several_as_an_array() {
    let one = SamplingContents::from(SamplingContent::text("a"));
    let two = SamplingContents(vec![SamplingContent::text("a"), SamplingContent::text("b")]);
    assert_eq!(value(&one), json!({"type": "text", "text": "a"}));
    assert_eq!(value(&two), json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]));
    assert_eq!(two.text(), "a\nb");
    for contents in [one, two, SamplingContents::default()] {
        assert_eq!(Json::from_value(&contents).unwrap().decode::<SamplingContents>().unwrap(), contents);
    }
}

#[test]
fn an_answer_says_who_by_which_model_and_why_it_ends() {
    let result = CreateMessageResult::text("m-1", "Paris.");
    assert_eq!((result.role.clone(), result.stop_reason.clone()), (Role::Assistant, Some(StopReason::EndTurn)));
    let json = result.answer().unwrap();
    assert_eq!(
        value(&json),
        json!({"role": "assistant", "content": {"type": "text", "text": "Paris."}, "model": "m-1", "stopReason": "endTurn"})
    );
    let other: CreateMessageResult =
        Json::parse(r#"{"role":"assistant","content":{"type":"text","text":""},"model":"m","stopReason":"tired"}"#)
            .unwrap()
            .decode()
            .unwrap();
    assert_eq!(other.stop_reason, Some(StopReason::Other("tired".into())));
}

#[test]
fn calls_of_tools_and_their_results_belong_together() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "toolUseId": id, "content": []});
    let text = json!({"type": "text", "text": "x"});
    let user = |content: Value| json!({"role": "user", "content": content});
    let model = |content: Value| json!({"role": "assistant", "content": content});
    for (messages, wrong) in [
        (json!([user(text.clone())]), ""),
        (
            json!([model(json!([call("1"), call("2")])), user(json!([result("2"), result("1")])), model(text.clone())]),
            "",
        ),
        (json!([model(json!([text, call("1")])), user(result("1"))]), ""),
        (
            json!([model(call("1")), user(json!([result("1"), text]))]),
            "message 1 has results of tools beside other content",
        ),
        (
            json!([model(json!([call("1"), call("2")])), user(result("1"))]),
            "the calls of tools before message 1 and the results in it do not match",
        ),
        (
            json!([model(call("1")), user(text.clone())]),
            "the calls of tools before message 1 and the results in it do not match",
        ),
        (json!([user(result("1"))]), "the calls of tools before message 0 and the results in it do not match"),
        (json!([model(call("1"))]), "the last calls of tools have no results"),
        (json!([{"role": "user"}]), "`messages` cannot be read: entry 0: `content` is missing"),
    ] {
        let checked = conversation(messages.clone()).check();
        assert_eq!(checked.err().unwrap_or_default(), wrong, "{messages}");
    }
}

/// The session checks the text of a conversation. It refuses exactly what [`CreateMessageParams::check`] refuses.
#[test]
fn a_conversation_is_checked_alike_as_text_and_as_types() {
    let capabilities = ClientCapabilities::default().with_sampling(false, false);
    let called = r#"{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t"}}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","toolUseId":"1"}]}"#;
    for (messages, is_valid) in [
        ("[]", true),
        (" [ ] ", true),
        (r#"[{"role":"user","content":{"type":"text","text":"x"}}]"#, true),
        (r#"[{"role":"narrator","content":[]}]"#, true),
        (r#"[{"role":"user","content":[{"type":"smell"},7,null]}]"#, true),
        (&format!("[{called},{result}]"), true),
        (&format!("[{called}]"), false),
        (&format!("[{result}]"), false),
        (&format!("[{called},{result},{result}]"), false),
        (&format!("[{called},{}]", result.replace("}]", r#"},{"type":"text","text":"x"}]"#)), false),
        (&format!("[{called},{}]", result.replace(r#""1""#, r#""\u0031""#)), true),
        (&format!("[{called},{}]", result.replace("toolUseId", r"tool\u0055seId")), true),
        (&format!("[{called},{}]", result.replace(r#""1""#, r#""2","toolUseId":"1""#)), true),
        (&format!("[{called},{}]", result.replace(r#""1""#, r#""1","toolUseId":"2""#)), false),
        // Blocks without a required member are neither calls nor results.
        (&format!("[{}]", called.replace(r#","name":"t""#, "")), true),
        (&format!("[{}]", called.replace(r#""1""#, "1")), true),
        (&format!("[{}]", result.replace(r#""1""#, "1")), true),
        (r#"[{"role":"user"}]"#, false),
        (r#"[{"role":"user","content":null}]"#, false),
        (r#"[{"role":7,"content":[]}]"#, false),
        (r#"[{"content":[]}]"#, false),
        ("[7]", false),
        ("7", false),
        ("{}", false),
    ] {
        let params = Json::parse(format!(r#"{{"messages":{messages},"maxTokens":1}}"#)).expect("it is JSON");
        let typed = params.decode::<CreateMessageParams>().expect("it is an object with messages").check();
        let raw = capabilities.allow("sampling/createMessage", Some(&params));
        assert_eq!((typed.is_ok(), raw.is_ok()), (is_valid, is_valid), "{messages}: {typed:?} {raw:?}");
    }
}
