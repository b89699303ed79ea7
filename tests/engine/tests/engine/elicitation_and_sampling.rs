//! Elicitation: what servers ask of people, in the shapes of all revisions, and what may be answered. Sampling: what servers ask of
//! a language model.

use mcpwire_core::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult,
    FieldSchema, FormSchema, IncludeContext, Json, NumberKind, Role, RpcError, SamplingContent, SamplingContents,
    StopReason, StringFormat, ToolChoiceMode,
};
use serde_json::{Value, json};

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    Json::from_value(value).unwrap().decode().unwrap_or_else(|error| panic!("{value}: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "takes what json! makes")]
fn field(schema: Value) -> FieldSchema {
    read(&schema)
}

#[expect(clippy::needless_pass_by_value, reason = "takes what json! makes")]
fn form(properties: Value, required: &[&str]) -> FormSchema {
    read(&json!({"type": "object", "properties": properties, "required": required}))
}

fn value(json: &impl serde::Serialize) -> Value {
    serde_json::from_str(Json::from_value(json).unwrap().get()).unwrap()
}

#[test]
fn a_question_without_a_mode_is_a_form() {
    for mode in [json!({}), json!({"mode": "form"}), json!({"mode": null}), json!({"mode": 7})] {
        let mut params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        params.as_object_mut().unwrap().extend(mode.as_object().unwrap().clone());
        let ElicitParams::Form(form) = read(&params) else { panic!("{params} is no form") };
        assert_eq!((form.message.as_str(), form.requested_schema.fields().count()), ("Who?", 0));
    }
}

#[test]
fn an_address_is_read_with_and_without_an_id() {
    let address =
        json!({"mode": "url", "message": "Log in", "url": "https://a.example/x", "elicitationId": "e1", "new": [1]});
    let ElicitParams::Url(url) = read(&address) else { panic!("it is an address") };
    assert_eq!((url.url.as_str(), url.elicitation_id.as_deref()), ("https://a.example/x", Some("e1")));
    assert_eq!(value(&url), address);
    let ElicitParams::Url(url) = read(&json!({"mode": "url", "message": "", "url": "x:"})) else { panic!("it is one") };
    assert_eq!(url.elicitation_id, None);
}

#[test]
fn the_host_of_an_address_is_what_a_browser_would_visit() {
    let host = |url: &str| {
        let ElicitParams::Url(url) = read(&json!({"mode": "url", "message": "", "url": url})) else { panic!("{url}") };
        url.host().map(str::to_owned)
    };
    for (url, expected) in [
        ("https://example.com/a?b#c", Some("example.com")),
        ("https://good.example@evil.example/good.example", Some("evil.example")),
        ("https://good.example:pass@evil.example:8443/", Some("evil.example")),
        ("https://evil.example\\@good.example/", Some("evil.example")),
        ("https://evil.example?@good.example/", Some("evil.example")),
        ("http://[::1]:3000/", Some("[::1]")),
        ("http://[::1", Some("[::1")),
        ("mailto:a@b", None),
        ("https:///path", None),
        ("", None),
    ] {
        assert_eq!(host(url).as_deref(), expected, "{url}");
    }
}

#[test]
fn a_mode_that_is_not_known_is_kept() {
    let params = json!({"mode": "voice", "message": "Say it", "language": "en"});
    let ElicitParams::Other(other) = read(&params) else { panic!("it is another mode") };
    assert_eq!((other.mode.as_str(), other.message.as_str()), ("voice", "Say it"));
    assert_eq!(value(&ElicitParams::Other(other)), params);
}

#[test]
fn a_question_that_lacks_what_it_must_have_is_none() {
    for (params, what) in [
        (json!({"mode": "form", "requestedSchema": {}}), "`message` is missing"),
        (json!({"message": "x"}), "`requestedSchema` is missing"),
        (json!({"message": "x", "requestedSchema": []}), "`requestedSchema` is an array instead of a schema"),
        (json!({"mode": "url", "message": "x"}), "`url` is missing"),
    ] {
        let error = Json::from_value(&params).unwrap().decode::<ElicitParams>().unwrap_err();
        assert!(error.to_string().contains(what), "{params}: {error}");
    }
    assert!(Json::parse("[]").unwrap().decode::<ElicitParams>().is_err());
}

#[test]
fn fields_of_all_kinds_keep_their_order_and_shape() {
    let fields = [
        (
            "z",
            json!({"type": "string", "title": "Z", "minLength": 1, "maxLength": 5, "format": "email", "default": "a@b"}),
        ),
        ("a", json!({"type": "number", "minimum": -0.5, "maximum": 1e3, "default": 12.50})),
        ("i", json!({"type": "integer", "default": 9_007_199_254_740_993_u64})),
        ("b", json!({"type": "boolean", "description": "Sure?", "default": false})),
        ("plain", json!({"type": "string", "enum": ["x", "y"], "default": "y"})),
        ("named", json!({"type": "string", "enum": ["x", "y"], "enumNames": ["X", "Y"]})),
        ("titled", json!({"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}], "default": "#f00"})),
        (
            "many",
            json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["p", "q"]}, "default": ["q"]}),
        ),
        ("many titled", json!({"type": "array", "items": {"anyOf": [{"const": "p", "title": "P"}]}, "default": []})),
        ("unknown", json!({"type": "object", "properties": {}})),
        ("union", json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": "n"})),
        ("free list", json!({"type": "array", "items": {"type": "string"}})),
        ("nothing", json!(null)),
    ];
    let text: Vec<String> = fields.iter().map(|(name, schema)| format!("{name:?}:{schema}")).collect();
    let text = format!(r#"{{"type":"object","$schema":"s","properties":{{{}}},"required":["z"]}}"#, text.join(","));
    let form: FormSchema = Json::parse(text.as_str()).unwrap().decode().unwrap();
    let names: Vec<&str> = form.fields().map(|(field, _)| field.name.as_str()).collect();
    assert_eq!(names, fields.each_ref().map(|(name, _)| *name));
    for (field, (_, schema)) in form.properties.0.iter().zip(&fields) {
        assert_eq!(&value(&field.schema), schema, "{}", field.name);
    }
    let kind = |name| form.field(name).map(|field| &field.schema);
    assert!(matches!(kind("z"), Some(FieldSchema::String(z)) if z.format == Some(StringFormat::Email)));
    assert!(matches!(kind("i"), Some(FieldSchema::Number(i)) if i.kind == NumberKind::Integer));
    assert!(matches!(kind("named"), Some(FieldSchema::Enum(e)) if e.choices() == [("x", "X"), ("y", "Y")]));
    assert!(matches!(kind("titled"), Some(FieldSchema::Enum(e)) if e.choices() == [("#f00", "Red")]));
    assert!(matches!(kind("many titled"), Some(FieldSchema::MultiSelect(m)) if m.choices() == [("p", "P")]));
    for unknown in ["unknown", "union", "free list", "nothing"] {
        assert!(matches!(kind(unknown), Some(FieldSchema::Unknown(_))), "{unknown}");
    }
    let required: Vec<&str> = form.fields().filter(|(_, required)| *required).map(|(f, _)| f.name.as_str()).collect();
    assert_eq!(required, ["z"]);
    let again: FormSchema = Json::from_value(&form).unwrap().decode().unwrap();
    assert_eq!(again, form);
}

#[test]
fn nulls_and_wrong_types_count_as_absent() {
    let schema =
        json!({"type": "string", "title": null, "minLength": "3", "maxLength": -1, "format": 5, "default": 7, "x": 1});
    let FieldSchema::String(schema) = field(schema) else { panic!("it is text") };
    assert_eq!((schema.title, schema.min_length, schema.max_length, schema.format), (None, None, None, None));
    assert_eq!((schema.default, schema.extra.get("x").map(Json::get)), (None, Some("1")));
    let FieldSchema::Number(number) = field(json!({"type": "number", "default": "7", "minimum": null})) else {
        panic!()
    };
    assert_eq!((number.default, number.minimum), (None, None));
    let FieldSchema::Enum(choice) = field(json!({"enum": ["a", 1, null, "b"], "enumNames": ["A"]})) else { panic!() };
    assert!(choice.choices() == [("a", "a"), ("b", "b")], "names that do not belong to values are left out");
    let ElicitForm { requested_schema, .. } =
        read(&json!({"message": "", "requestedSchema": {"required": null, "properties": null}}));
    assert_eq!(requested_schema.fields().count(), 0);
}

#[test]
fn of_a_field_that_comes_twice_the_last_counts() {
    let text = r#"{"properties":{"a":{"type":"string"},"b":{},"a":{"type":"boolean"}}}"#;
    let form: FormSchema = Json::parse(text).unwrap().decode().unwrap();
    let names: Vec<&str> = form.fields().map(|(field, _)| field.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(matches!(form.field("a").unwrap().schema, FieldSchema::Boolean(_)));
}

/// A schema, an answer, and what is wrong with it; nothing if it is empty.
#[test]
fn answers_are_checked_field_by_field() {
    let table = [
        (json!({"type": "string"}), json!("x"), ""),
        (json!({"type": "string"}), json!(7), "must be a string, not a number"),
        (json!({"type": "string"}), json!(["x"]), "must be a string, not an array"),
        (json!({"type": "string", "minLength": 2}), json!("ä"), "must have at least 2 characters"),
        (json!({"type": "string", "minLength": 2}), json!("äö"), ""),
        (json!({"type": "string", "maxLength": 1}), json!("𝄞"), ""),
        (json!({"type": "string", "maxLength": 1}), json!("ab"), "must have at most 1 character"),
        (
            json!({"type": "string", "format": "email"}),
            json!("ada"),
            "must be an email address, such as name@example.com",
        ),
        (json!({"type": "string", "format": "date"}), json!("2026-02-30"), "must be a date, such as 2026-07-28"),
        (json!({"type": "string", "format": "uri"}), json!("https://a.b/c"), ""),
        (json!({"type": "string", "format": "ipv4"}), json!("x"), ""),
        (json!({"type": "number", "minimum": 0, "maximum": 1.5}), json!(1.5), ""),
        (json!({"type": "number", "minimum": 0, "maximum": 1.5}), json!(-0.1), "must be at least 0"),
        (json!({"type": "number", "minimum": 0, "maximum": 1.5}), json!(2), "must be at most 1.5"),
        (json!({"type": "number"}), json!("1"), "must be a number, not a string"),
        (json!({"type": "integer"}), json!(1.0), ""),
        (json!({"type": "integer"}), json!(1e300), ""),
        (json!({"type": "integer"}), json!(1.5), "must be a whole number, not a fraction"),
        (json!({"type": "boolean"}), json!(true), ""),
        (json!({"type": "boolean"}), json!("true"), "must be true or false, not a string"),
        (json!({"type": "string", "enum": ["a", "b"]}), json!("b"), ""),
        (json!({"type": "string", "enum": ["a", "b"]}), json!("c"), "must be one of the choices, not c"),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
            json!("A"),
            "must be one of the choices, not A",
        ),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), json!(["b", "a"]), ""),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), json!([]), ""),
        (json!({"type": "array", "items": {"enum": ["a"]}}), json!("a"), "must be an array of strings, not a string"),
        (
            json!({"type": "array", "items": {"enum": ["a"]}}),
            json!(["a", null]),
            "must be an array of strings, not an array",
        ),
        (json!({"type": "array", "items": {"enum": ["a"]}}), json!(["x"]), "must be one of the choices, not x"),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}),
            json!(["a"]),
            "must have at least 2 choices",
        ),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}),
            json!(["a", "b"]),
            "must have at most 1 choice",
        ),
        (json!({"type": "vendor"}), json!({"a": 1}), ""),
    ];
    for (schema, answer, wrong) in table {
        let form = form(json!({ "f": schema }), &[]);
        let checked = form.validate(&Json::from_value(&json!({ "f": answer })).unwrap());
        let expected = if wrong.is_empty() { Ok(()) } else { Err(format!("`f` {wrong}")) };
        assert_eq!(checked.map_err(|error| error.to_string()), expected, "{schema} {answer}");
    }
}

#[test]
fn an_answer_is_checked_as_a_whole() {
    let open = form(json!({"a": {"type": "string"}, "b": {"type": "boolean"}}), &["a", "ghost"]);
    let wrong =
        |form: &FormSchema, answer: &str| form.complete(Some(&Json::parse(answer).unwrap())).unwrap_err().to_string();
    assert_eq!(wrong(&open, "{}"), "`a` must be filled in; `ghost` must be filled in");
    assert_eq!(
        wrong(&open, r#"{"a":null,"ghost":1,"b":"no"}"#),
        "`a` must be filled in; `b` must be true or false, not a string"
    );
    assert_eq!(wrong(&open, "[]"), "the answer must be an object, not an array");
    let more = r#"{"a":"x","ghost":1,"more":["y"]}"#;
    assert_eq!(open.complete(Some(&Json::parse(more).unwrap())).unwrap().get(), r#"{"a":"x","ghost":1,"more":["y"]}"#);
    let deep = "must be a string, a number, a boolean or an array of strings, not an object";
    assert_eq!(wrong(&open, r#"{"a":"x","ghost":1,"more":{"y":1}}"#), format!("`more` {deep}"));
    let closed: FormSchema = read(&json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}));
    assert_eq!(wrong(&closed, r#"{"a":"x","more":1}"#), "`more` is not a field of the form");
}

#[test]
fn defaults_of_all_types_fill_what_was_left_out() {
    let form = form(
        json!({
            "s": {"type": "string", "default": "d"}, "n": {"type": "number", "default": 0.10}, "i": {"type": "integer", "default": 3},
            "b": {"type": "boolean", "default": false}, "e": {"type": "string", "enum": ["a", "b"], "default": "b"},
            "m": {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["a"]}, "u": {"default": 5}, "none": {"type": "string"},
        }),
        &["s", "m"],
    );
    let all = json!({"s": "d", "n": 0.1, "i": 3, "b": false, "e": "b", "m": ["a"], "u": 5});
    assert_eq!(value(&form.complete(None).unwrap()), all);
    assert_eq!(value(&form.complete(Some(&Json::parse("null").unwrap())).unwrap()), all);
    let given = json!({"s": "", "n": 1, "i": 0, "b": true, "e": "a", "m": [], "u": "x", "none": "y"});
    assert_eq!(value(&form.complete(Some(&Json::from_value(&given).unwrap())).unwrap()), given, "what was given stays");
}

#[test]
fn a_default_that_does_not_fit_is_no_answer() {
    let form = form(json!({"a": {"type": "string", "minLength": 3, "default": "x"}}), &[]);
    assert_eq!(form.complete(None).unwrap_err().to_string(), "`a` must have at least 3 characters");
}

#[test]
fn only_what_was_accepted_has_content() {
    let form: ElicitForm =
        read(&json!({"message": "", "requestedSchema": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}));
    let content = Some(Json::parse(r#"{"a":"seven"}"#).unwrap());
    let mut declined = ElicitResult::decline();
    declined.content.clone_from(&content);
    assert_eq!(form.answer(declined).unwrap().get(), r#"{"action":"decline"}"#);
    assert_eq!(form.answer(ElicitResult::cancel()).unwrap().get(), r#"{"action":"cancel"}"#);
    assert_eq!(
        form.answer(ElicitResult::accept(&json!({"a": 7})).unwrap()).unwrap().get(),
        r#"{"action":"accept","content":{"a":7}}"#
    );
    let mut accepted = ElicitResult::of(ElicitAction::Accept);
    accepted.content = content;
    let error = form.answer(accepted).unwrap_err();
    assert_eq!(error.code, RpcError::INTERNAL_ERROR);
    assert_eq!(error.message, "the client's answer does not fit the form: `a` must be a whole number, not a string");
    assert!(form.answer(ElicitResult::of(ElicitAction::from("shrug"))).is_err());
}

#[test]
fn what_a_person_types_becomes_the_fields_value() {
    let color =
        json!({"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]});
    let numbers = json!({"type": "string", "enum": ["3", "2", "1"]});
    let many =
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "Alpha"}, {"const": "b"}]}, "maxItems": 1});
    let table = [
        (json!({"type": "string"}), " a ", Ok(json!(" a "))),
        (json!({"type": "string", "format": "email"}), "x", Err("must be an email address, such as name@example.com")),
        (json!({"type": "number"}), " +1.5 ", Ok(json!(1.5))),
        (json!({"type": "number"}), ".5", Ok(json!(0.5))),
        (json!({"type": "number"}), "1e400", Err("must be a number, not text")),
        (json!({"type": "number"}), "inf", Err("must be a number, not text")),
        (json!({"type": "number"}), "-NaN", Err("must be a number, not text")),
        (json!({"type": "number"}), "+-1", Err("must be a number, not text")),
        (json!({"type": "integer"}), "42", Ok(json!(42))),
        (json!({"type": "integer"}), "4.2", Err("must be a whole number, not a fraction")),
        (json!({"type": "integer", "minimum": 18}), "7", Err("must be at least 18")),
        (json!({"type": "integer"}), "twelve", Err("must be a whole number, not text")),
        (json!({"type": "boolean"}), "Yes", Ok(json!(true))),
        (json!({"type": "boolean"}), "n", Ok(json!(false))),
        (json!({"type": "boolean"}), "maybe", Err("must be yes or no, not text")),
        (color.clone(), "red", Ok(json!("#f00"))),
        (color.clone(), "2", Ok(json!("#0f0"))),
        (color.clone(), "#0F0", Ok(json!("#0f0"))),
        (color.clone(), "0", Err("must be one of the choices, not 0")),
        (color, "3", Err("must be one of the choices, not 3")),
        (numbers.clone(), "1", Ok(json!("1"))),
        (numbers, "3", Ok(json!("3"))),
        (many.clone(), "alpha, 1", Ok(json!(["a"]))),
        (many.clone(), "", Ok(json!([]))),
        (many.clone(), "a,b", Err("must have at most 1 choice")),
        (many, "a,c", Err("must be one of the choices, not c")),
        (json!({"type": "object"}), r#"{"a":1}"#, Ok(json!({"a": 1}))),
        (json!({"type": "object"}), "text", Ok(json!("text"))),
    ];
    for (schema, text, expected) in table {
        let parsed = field(schema.clone()).parse_text(text);
        let parsed = parsed.map(|json| value(&json)).map_err(|problem| problem.to_string());
        assert_eq!(parsed, expected.map_err(str::to_owned), "{schema} {text:?}");
    }
}

#[test]
fn an_error_names_the_addresses_that_must_be_visited() {
    let mut error = RpcError::new(RpcError::URL_ELICITATION_REQUIRED, "visit first");
    let visit = json!({"mode": "url", "elicitationId": "e", "url": "https://a.example", "message": "Log in"});
    error.data = Some(Json::from_value(&json!({"elicitations": [visit, 7, {"mode": "url"}]})).unwrap());
    let urls: Vec<String> = error.required_elicitations().into_iter().map(|url| url.url).collect();
    assert_eq!(urls, ["https://a.example"]);
    error.code = RpcError::INTERNAL_ERROR;
    assert!(error.required_elicitations().is_empty());
}

#[test]
fn a_large_hostile_form_is_read_and_filled_in_soon() {
    let fields: Vec<String> =
        (0..50_000).map(|n| format!(r#""f{}":{{"type":"string","default":"x"}}"#, n % 40_000)).collect();
    let names: Vec<String> = (0..40_000).map(|n| format!(r#""f{n}""#)).collect();
    let text = format!(r#"{{"properties":{{{}}},"required":[{}]}}"#, fields.join(","), names.join(","));
    let form: FormSchema = Json::parse(text).unwrap().decode().unwrap();
    assert_eq!(form.fields().filter(|(_, required)| *required).count(), 40_000);
    assert!(form.complete(None).is_ok());
}

// Sampling: what servers ask of a language model, in both shapes of a message.

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
    let read: CreateMessageParams = read(&params);
    assert_eq!(value(&read), params);
    assert_eq!((read.max_tokens, read.include_context.as_ref()), (Some(100), Some(&IncludeContext::ThisServer)));
    assert_eq!(read.tool_choice.as_ref().and_then(|choice| choice.mode.as_ref()), Some(&ToolChoiceMode::Required));
    assert!(read.has_tools());
    assert_eq!(read.check(), Ok(()));
    assert!(matches!(&read.messages.items[1].content[1], SamplingContent::ToolUse(call) if call.id == "c2"));
}

#[test]
fn what_is_not_known_is_kept_and_nulls_are_absent() {
    let params: CreateMessageParams = read(&json!({
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
