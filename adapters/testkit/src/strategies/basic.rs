//! Texts, names, URIs and JSON values.

use std::collections::BTreeMap;

use mcpwire_driver::protocol::{Icon, Json, Number, ProtocolVersion};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Generates a text of any characters, mostly a short one.
pub fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![4 => "[a-z ]{0,12}", 1 => any::<String>()]
}

/// Generates the name of a tool, a prompt or a program: 1 to 12 of the characters that all revisions recommend.
pub fn name() -> impl Strategy<Value = String> + Clone {
    "[a-z][a-z0-9_]{0,11}"
}

/// Generates a URI with the scheme `file`, `https` or `test`.
pub fn uri() -> impl Strategy<Value = String> + Clone {
    (select(vec!["file:///", "https://example.com/", "test:"]), "[a-z]{1,8}")
        .prop_map(|(start, rest)| format!("{start}{rest}"))
}

/// Generates a number between -10⁹ and 10⁹ that is often whole.
pub fn number() -> impl Strategy<Value = Number> + Clone {
    prop_oneof![(-1000..1000).prop_map(f64::from), -1e9..1e9].prop_map(Number::from)
}

/// Generates any JSON value, with at most four levels.
pub fn json() -> impl Strategy<Value = Json> + Clone {
    value().prop_map(Json::from)
}

/// Generates a JSON object with any members.
pub fn json_object() -> impl Strategy<Value = Json> + Clone {
    object().prop_map(Json::from)
}

/// Generates a `_meta` object whose keys belong to nobody: they begin with `com.example/`.
pub fn meta() -> impl Strategy<Value = Json> + Clone {
    btree_map("com\\.example/[a-z]{1,5}", value(), 0..3).prop_map(|members| into_value(members).into())
}

/// Generates an icon (from revision 2025-11-25). Before revision 2025-11-25, no object has icons.
pub fn icon() -> impl Strategy<Value = Icon> + Clone {
    let theme = option::of(select(vec!["light", "dark"]));
    let mime_type = option::of(select(vec!["image/png", "image/svg+xml"]));
    (uri(), mime_type, vec(select(vec!["48x48", "any"]), 0..3), theme).prop_map(|(src, mime_type, sizes, theme)| {
        let mut icon = Icon::default();
        icon.src = src;
        icon.mime_type = mime_type.map(Into::into);
        icon.sizes = sizes.into_iter().map(Into::into).collect();
        icon.theme = theme.map(Into::into);
        icon
    })
}

/// Generates the icons of an object: none before revision 2025-11-25.
pub(super) fn icons(version: ProtocolVersion) -> BoxedStrategy<Vec<Icon>> {
    if version < ProtocolVersion::V2025_11_25 { Just(Vec::new()).boxed() } else { vec(icon(), 0..3).boxed() }
}

/// Generates a JSON Schema of an object with some properties.
pub(super) fn object_schema() -> impl Strategy<Value = Json> + Clone {
    let property = select(vec!["string", "integer", "number", "boolean", "array", "object"]);
    btree_map(name(), (property, any::<bool>()), 0..4).prop_map(|properties| {
        let required: Vec<_> = properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let types: serde_json::Map<String, Value> =
            properties.iter().map(|(name, (kind, _))| (name.clone(), serde_json::json!({ "type": kind }))).collect();
        let mut schema = serde_json::json!({ "type": "object" });
        if !types.is_empty() {
            schema["properties"] = types.into();
        }
        if !required.is_empty() {
            schema["required"] = serde_json::json!(required);
        }
        schema.into()
    })
}

/// Converts generated JSON to its type.
pub(super) fn parsed<T: DeserializeOwned>(value: Value) -> T {
    Json::from(value).decode().expect("the strategies generate JSON of this type")
}

pub(super) fn object() -> impl Strategy<Value = Value> + Clone {
    btree_map(name(), value(), 0..4).prop_map(into_value)
}

fn into_value(members: BTreeMap<String, Value>) -> Value {
    members.into_iter().collect()
}

pub(super) fn value() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(into_value),
        ]
    })
}
