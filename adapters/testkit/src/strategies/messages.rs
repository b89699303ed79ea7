//! Strategies for whole messages of a server: notifications and responses, valid and nearly valid.

use mcpwire_driver::protocol::{Json, LogMessage, Progress, ProtocolVersion, RpcError};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::values::{Object, V03, to_value, value};
use super::{call_tool_result, json, number, text, uri};

/// Generates the parameters of `notifications/progress`. They have no progress token, because the request determines the token.
pub fn progress(version: ProtocolVersion) -> impl Strategy<Value = Progress> {
    Object::new(version)
        .member("progress", number())
        .optional("total", number())
        .since(V03, "message", text())
        .generate()
}

/// Generates the parameters of `notifications/message`: a log message of any level, with any JSON value as data.
pub fn log_message() -> impl Strategy<Value = LogMessage> {
    let levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    Object::new(ProtocolVersion::LATEST)
        .member("level", select(levels.to_vec()))
        .optional("logger", text())
        .member("data", json())
        .generate()
}

/// Generates a notification that a server may send at any time: its method and its parameters.
pub fn notification() -> impl Strategy<Value = (String, Json)> {
    let log = log_message().prop_map(|message| ("notifications/message", to_value(&message)));
    let changed = select(vec![
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    ]);
    let changed = changed.prop_map(|method| (method, json!({})));
    let updated = uri().prop_map(|uri| ("notifications/resources/updated", json!({ "uri": uri })));
    prop_oneof![log, changed, updated].prop_map(|(method, params)| (method.to_owned(), Json::from(params)))
}

/// Generates a JSON-RPC error. Its code is a code of the specification, or any other number.
pub fn rpc_error() -> impl Strategy<Value = RpcError> {
    let code = prop_oneof![
        select(vec![-32700_i64, -32600, -32601, -32602, -32603, -32000, -32002]),
        any::<i32>().prop_map(i64::from)
    ];
    (code, text(), option::of(json())).prop_map(|(code, message, data)| {
        let mut error = RpcError::new(code, message);
        error.data = data;
        error
    })
}

/// Generates a response to the request `id`: the result of a tool call, or an error.
pub fn response(version: ProtocolVersion, id: u64) -> impl Strategy<Value = Json> {
    prop_oneof![
        3 => call_tool_result(version).prop_map(move |result| json!({ "jsonrpc": "2.0", "id": id, "result": to_value(&result) })),
        1 => rpc_error().prop_map(move |error| json!({ "jsonrpc": "2.0", "id": id, "error": to_value(&error) })),
    ]
    .prop_map(Json::from)
}

/// Generates a message of a server: a notification, or a response to the request `id`.
pub fn server_message(version: ProtocolVersion, id: u64) -> impl Strategy<Value = Json> {
    let notification = notification().prop_map(|(method, params)| {
        Json::from(json!({ "jsonrpc": "2.0", "method": method, "params": to_value(&params) }))
    });
    prop_oneof![response(version, id), notification]
}

/// Generates invalid variants of messages: the text of a message of the strategy `valid` with one change. Use it to test how code
/// handles bad input.
///
/// The change removes a member, renames it or replaces its value, at any depth, or cuts off the end of the text. Some changes
/// leave the message valid, such as the removal of an optional member.
pub fn nearly_valid<S: Strategy<Value = Json>>(valid: S) -> impl Strategy<Value = String> {
    let change = select(vec![Change::Remove, Change::Replace, Change::Rename, Change::Truncate]);
    (valid, change, any::<Index>(), value()).prop_map(|(message, change, place, other)| {
        let text = message.get().to_owned();
        let Ok(mut message) = message.decode::<Value>() else { return text };
        if let Change::Truncate = change {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            return text[..ends[place.index(ends.len())]].to_owned();
        }
        let mut members = Vec::new();
        collect_members(&message, "", &mut members);
        if members.is_empty() {
            return text;
        }
        let (pointer, key) = &members[place.index(members.len())];
        let Some(Value::Object(object)) = message.pointer_mut(pointer) else { return text };
        match change {
            Change::Remove => drop(object.remove(key)),
            Change::Replace => drop(object.insert(key.clone(), other)),
            Change::Rename => {
                if let Some(value) = object.remove(key) {
                    object.insert(key.to_uppercase(), value);
                }
            }
            Change::Truncate => {}
        }
        message.to_string()
    })
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Remove,
    Replace,
    Rename,
    Truncate,
}

/// Collects the members of all objects in a value: the JSON pointer of the object, and the key of the member.
fn collect_members(value: &Value, pointer: &str, members: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            members.extend(object.keys().map(|key| (pointer.to_owned(), key.clone())));
            for (key, value) in object {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect_members(value, &format!("{pointer}/{key}"), members);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_members(value, &format!("{pointer}/{index}"), members);
            }
        }
        _ => {}
    }
}
