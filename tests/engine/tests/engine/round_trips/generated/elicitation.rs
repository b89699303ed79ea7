//! What servers ask of people, and what is answered.

use std::collections::BTreeMap;

use mcpwire_core::{
    BooleanSchema, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl, ElicitationComplete, EnumOption,
    EnumSchema, FieldSchema, FormSchema, Json, MultiSelectItems, MultiSelectSchema, NumberKind, NumberSchema,
    StringFormat, StringSchema,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::{extra, flag, meta, number, object, text, whole, word};

fn string_schema() -> impl Strategy<Value = StringSchema> {
    let format = prop_oneof![select(vec!["email", "uri", "date", "date-time"]).prop_map(str::to_owned), "[a-z]{1,6}"];
    made!(StringSchema {
        title: word(),
        description: word(),
        min_length: whole(),
        max_length: whole(),
        format: option::of(format.prop_map(|format| StringFormat::from(&*format))),
        default: word(),
        extra: extra(),
    })
}

fn number_schema() -> impl Strategy<Value = NumberSchema> {
    let default = prop_oneof![any::<i64>().prop_map(|n| json!(n)), number().prop_map(|n| json!(n))];
    made!(NumberSchema {
        kind: select(vec![NumberKind::Number, NumberKind::Integer]),
        title: word(),
        description: word(),
        minimum: option::of(number()),
        maximum: option::of(number()),
        default: option::of(default.prop_map(|n| Json::from_value(&n).expect("it is JSON"))),
        extra: extra(),
    })
}

fn boolean_schema() -> impl Strategy<Value = BooleanSchema> {
    made!(BooleanSchema { title: word(), description: word(), default: flag(), extra: extra() })
}

fn options() -> impl Strategy<Value = Vec<EnumOption>> {
    vec(made!(EnumOption { value: text(), title: word(), extra: extra() }), 0..3)
}

fn enum_schema() -> impl Strategy<Value = EnumSchema> {
    let made = made!(EnumSchema {
        title: word(),
        description: word(),
        values: vec(text(), 0..3),
        names: vec(text(), 0..3),
        one_of: options(),
        default: word(),
        extra: extra(),
    });
    made.prop_filter("there is something to choose", |schema| !schema.choices().is_empty())
}

fn multi_select_schema() -> impl Strategy<Value = MultiSelectSchema> {
    let made = made!(MultiSelectSchema {
        title: word(),
        description: word(),
        min_items: whole(),
        max_items: whole(),
        items: made!(MultiSelectItems { values: vec(text(), 0..3), any_of: options(), extra: extra() }),
        default: option::of(vec(text(), 0..3)),
        extra: extra(),
    });
    made.prop_filter("there is something to choose", |schema| !schema.choices().is_empty())
}

pub(crate) fn field_schema() -> impl Strategy<Value = FieldSchema> {
    prop_oneof![
        string_schema().prop_map(FieldSchema::String),
        number_schema().prop_map(FieldSchema::Number),
        boolean_schema().prop_map(FieldSchema::Boolean),
        enum_schema().prop_map(|schema| FieldSchema::Enum(Box::new(schema))),
        multi_select_schema().prop_map(|schema| FieldSchema::MultiSelect(Box::new(schema))),
        ("x-[a-z]{1,4}", object()).prop_map(|(kind, other)| {
            FieldSchema::Unknown(Json::from_value(&json!({"type": kind, "other": other})).expect("it is JSON"))
        }),
    ]
}

fn form_schema() -> impl Strategy<Value = FormSchema> {
    (btree_map(text(), field_schema(), 0..4), vec(text(), 0..2), extra()).prop_map(|(fields, required, extra)| {
        let mut schema = with_fields(&fields);
        (schema.required, schema.extra) = (required, extra);
        schema
    })
}

/// Fields have no order of their own but that in which they were sent.
fn with_fields(fields: &BTreeMap<String, FieldSchema>) -> FormSchema {
    let sent = Json::from_value(&json!({"type": "object", "properties": {}})).expect("it is JSON");
    let properties = Json::from_value(fields).expect("it is JSON");
    let sent = sent.get().replace("{}", properties.get());
    let schema: FormSchema = Json::parse(sent).and_then(|json| json.decode()).expect("it is a schema");
    let read = schema.properties.0.iter().map(|field| (&field.name, &field.schema));
    assert!(read.eq(fields), "{:?} instead of {fields:?}", schema.properties);
    schema
}

pub(crate) fn elicit_form() -> impl Strategy<Value = ElicitForm> {
    made!(ElicitForm {
        mode: option::of(Just("form".to_owned())),
        message: text(),
        requested_schema: form_schema(),
        meta: meta(),
        extra: extra(),
    })
}

pub(crate) fn elicit_url() -> impl Strategy<Value = ElicitUrl> {
    made!(ElicitUrl { message: text(), url: text(), elicitation_id: word(), meta: meta(), extra: extra() })
}

pub(crate) fn elicit_params() -> impl Strategy<Value = ElicitParams> {
    prop_oneof![
        elicit_form().prop_map(ElicitParams::Form),
        elicit_url().prop_map(ElicitParams::Url),
        // A question in another mode is kept as it came.
        ("x-[a-z]{1,4}", text(), object()).prop_map(|(mode, message, other)| {
            let params = json!({"mode": mode, "message": message, "other": other});
            let params = Json::from_value(&params).and_then(|params| params.decode()).expect("it is a question");
            assert!(matches!(params, ElicitParams::Other(_)));
            params
        }),
    ]
}

pub(crate) fn elicit_result() -> impl Strategy<Value = ElicitResult> {
    let action = prop_oneof![select(vec!["accept", "decline", "cancel"]).prop_map(str::to_owned), "[a-z]{1,6}"];
    made!(ElicitResult {
        action: action.prop_map(|action| ElicitAction::from(&*action)),
        content: option::of(object()),
        meta: meta(),
        extra: extra(),
    })
}

pub(crate) fn elicitation_complete() -> impl Strategy<Value = ElicitationComplete> {
    made!(ElicitationComplete { elicitation_id: text(), meta: meta(), extra: extra() })
}
