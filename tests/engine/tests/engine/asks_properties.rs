//! Random forms, answers and conversations: what is read is written the same, and nothing that servers send is too much.

use mcpwire_core::{CreateMessageParams, ElicitParams, FormSchema, Json};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

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
