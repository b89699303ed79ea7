//! Draws what a server sends, as JSON values. Reserved words occur at every place where they have no meaning.

use std::fmt::Display;

use serde_json::{Map, Value, json};

use super::expect::Client;
use super::wire::{NUMERAL, ONCE_MORE};
use crate::fuzz::trace::Bytes;

/// Names of members to which the protocol gives a meaning in some message.
const RESERVED: [&str; 17] = [
    "resultType",
    "id",
    "result",
    "error",
    "method",
    "params",
    "jsonrpc",
    "task",
    "taskId",
    "inputRequests",
    "requestState",
    "content",
    "isError",
    "structuredContent",
    "_meta",
    "progressToken",
    "code",
];

const RESULT_TYPES: [&str; 4] = ["complete", "input_required", "task", "complete"];

/// Draws one message, or a batch.
pub(super) fn draw(input: &mut Bytes<'_>, client: &Client) -> Value {
    match input.byte() % 16 {
        0..10 => response(input, client),
        10 | 11 => notification(input, client),
        12 | 13 => request(input),
        14 => without_id(input),
        _ => {
            let count = 1 + input.byte() % 3;
            // Each request is answered at most once in a batch, because an answer may change the ids.
            let first = response(input, client);
            let others =
                (1..count).map(|_| if input.byte() & 1 == 0 { notification(input, client) } else { request(input) });
            Value::Array([first].into_iter().chain(others).collect())
        }
    }
}

/// Returns the id of a request that has not ended, or `None` if all have.
fn open_id(input: &mut Bytes<'_>, client: &Client) -> Option<u64> {
    let which = usize::from(input.byte());
    client.requests.get(which % client.requests.len().max(1)).map(|request| request.id)
}

/// Returns the id of a request that has ended or goes on under another id.
fn old_id(input: &mut Bytes<'_>, client: &Client) -> Option<u64> {
    let which = usize::from(input.byte());
    client.old_ids.get(which % client.old_ids.len().max(1)).copied()
}

fn response(input: &mut Bytes<'_>, client: &Client) -> Value {
    let id = open_id(input, client).unwrap_or(99);
    let id = match input.byte() % 16 {
        0 => json!(id.to_string()),
        1 => numeral(input, id),
        2 => json!(id + 1000),
        3 => json!("other"),
        4 => json!(format!("{id}.5")),
        5 => json!(old_id(input, client).unwrap_or(id)),
        _ => json!(id),
    };
    let mut message = envelope(input);
    message.insert("id".into(), id);
    match input.byte() % 16 {
        0 | 1 => drop(message.insert("error".into(), error(input))),
        2 => {
            message.insert("error".into(), error(input));
            message.insert("result".into(), if input.byte() & 1 == 0 { Value::Null } else { result(input, client) });
        }
        3 => {
            message.insert("error".into(), Value::Null);
            message.insert("result".into(), result(input, client));
        }
        4 => drop(message.insert("result".into(), junk(input, 2))),
        5 => {}
        6 => drop(message.insert("error".into(), junk(input, 2))),
        _ => drop(message.insert("result".into(), result(input, client))),
    }
    once_more(input, &mut message);
    Value::Object(message)
}

/// At times, repeats a member that a response must have once.
fn once_more(input: &mut Bytes<'_>, message: &mut Map<String, Value>) {
    let name = input.pick(&["id", "result", "error"]);
    if input.byte() % 32 == 1 && message.contains_key(name) {
        message.insert(ONCE_MORE.into(), json!(name));
    }
}

/// A number in one of the forms that JSON has for it, or near it.
fn numeral(input: &mut Bytes<'_>, number: impl Display) -> Value {
    let text = match input.byte() % 8 {
        0 => format!("{number}e0"),
        1 => format!("{number}0E-1"),
        2 => "-0".into(),
        3 => "18446744073709551618".into(),
        4 => "-9223372036854775810.0".into(),
        5 => format!("{number}.000"),
        _ => format!("{number}.0"),
    };
    Value::String(format!("{NUMERAL}{text}"))
}

/// An object with `jsonrpc`, and at times with a member that the specification does not define.
fn envelope(input: &mut Bytes<'_>) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), json!("2.0"));
    if input.byte() % 8 == 1 {
        message.insert(input.pick(&["_meta", "x", "resultType", "task"]).into(), junk(input, 3));
    }
    message
}

fn result(input: &mut Bytes<'_>, client: &Client) -> Value {
    let is_modern = client.is_modern;
    let kind = input.byte() % 8;
    let kind = if client.prefers_tasks && kind > 3 { 2 } else { kind };
    let mut result = match kind {
        0 | 1 if is_modern => input_required(input),
        2 if is_modern => {
            let mut task = task(client);
            task.insert("resultType".into(), json!("task"));
            task
        }
        2 => [("task".to_owned(), Value::Object(task(client)))].into_iter().collect(),
        _ => tool_result(input, is_modern),
    };
    for _ in 0..input.byte() % 3 {
        let key = input.pick(&["_meta", "aaa", "zzz", "structuredContent", "params"]);
        // Content next to a task is left open.
        let value = Value::Object(object(input, 3));
        result.insert(key.into(), value);
    }
    if input.byte() % 16 == 1 {
        result.insert("resultType".into(), junk(input, 1));
    }
    if input.byte() % 4 == 1 {
        let len = input.pick(&[200, 250, 256, 300, 4000, 5000]);
        result.insert(input.pick(&["a", "long", "zzzz"]).into(), json!("x".repeat(len)));
    }
    Value::Object(result)
}

fn tool_result(input: &mut Bytes<'_>, is_modern: bool) -> Map<String, Value> {
    let mut result = Map::new();
    if is_modern && !input.byte().is_multiple_of(4) {
        result.insert("resultType".into(), json!("complete"));
    }
    let mut block = Map::new();
    block.insert("type".into(), json!("text"));
    block.insert(
        "text".into(),
        json!(input.pick(&["", "\"resultType\":\"input_required\"", "{\"id\":2}", "ä\u{1f600}\\", "x\u{fffd}"])),
    );
    if input.byte() & 1 == 1 {
        block.insert("_meta".into(), Value::Object(object(input, 3)));
    }
    let content = if input.byte() % 16 == 1 { junk(input, 1) } else { json!([block]) };
    result.insert("content".into(), content);
    if input.byte() % 4 == 1 {
        result.insert("isError".into(), json!(input.byte() & 1 == 1));
    }
    if input.byte() % 4 == 1 {
        result.insert("structuredContent".into(), Value::Object(object(input, 4)));
    }
    result
}

fn input_required(input: &mut Bytes<'_>) -> Map<String, Value> {
    let mut result = Map::new();
    result.insert("resultType".into(), json!("input_required"));
    if !input.byte().is_multiple_of(4) {
        result.insert(
            "requestState".into(),
            json!(input.pick(&["s", "", "\"resultType\":\"complete\"", "ä\n", "\u{fffd}"])),
        );
        if input.byte() % 8 == 1 {
            result.insert("requestState".into(), junk(input, 1));
        }
    }
    let mut inputs = Map::new();
    for name in ["id", "resultType", "b"].iter().take(usize::from(input.byte() % 4)) {
        let method = if input.byte() % 8 == 1 { "x/unknown" } else { "roots/list" };
        let mut request = Map::new();
        request.insert("method".into(), json!(method));
        if input.byte() & 1 == 1 {
            request.insert("params".into(), Value::Object(object(input, 2)));
        }
        inputs.insert((*name).into(), Value::Object(request));
    }
    if !inputs.is_empty() || input.byte() & 1 == 1 {
        result.insert("inputRequests".into(), Value::Object(inputs));
    }
    result
}

fn task(client: &Client) -> Map<String, Value> {
    let task = json!({
        "taskId": format!("t{}", client.old_ids.len()), "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttl": null, "ttlMs": null, "pollInterval": 1000, "pollIntervalMs": 1000,
    });
    let Value::Object(task) = task else { unreachable!("it is an object") };
    task
}

/// Draws the response to an open request about a task of the extension, if there is one.
pub(super) fn about_task(input: &mut Bytes<'_>, client: &Client) -> Option<Value> {
    let gets = client.tasks.iter().filter_map(|task| Some((task.get?, Some(&task.id))));
    let updates = client.tasks.iter().filter_map(|task| Some((task.update?, None)));
    let open: Vec<_> = gets.chain(updates).filter(|_| client.is_modern).collect();
    if open.is_empty() {
        return None;
    }
    let (id, task) = input.pick(&open);
    let (member, value) = match task {
        Some(task) => ("result", status(input, task)),
        None if input.byte() % 4 == 1 => ("error", plain_error(input)),
        None => ("result", json!({ "resultType": "complete" })),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, member: value }))
}

fn plain_error(input: &mut Bytes<'_>) -> Value {
    json!({ "code": input.pick(&[-32601, -32603, -32602, 1]), "message": "no" })
}

fn status(input: &mut Bytes<'_>, task: &str) -> Value {
    let status = input.byte() % 16;
    let mut result = json!({ "taskId": task, "pollIntervalMs": 1000, "resultType": "complete" });
    result["status"] = json!(match status {
        0..10 => "input_required",
        10 | 11 => "working",
        12 => "paused",
        13 => "completed",
        14 => "failed",
        _ => "cancelled",
    });
    match status {
        0..10 => {
            let (first, count) = (usize::from(input.byte() % 3), 1 + usize::from(input.byte() % 2));
            for name in ["b", "resultType", "a", "c"].iter().skip(first).take(count) {
                let method = if input.byte() % 16 == 1 { "x/unknown" } else { "roots/list" };
                result["inputRequests"][*name] = json!({ "method": method, "params": { "of": name } });
            }
        }
        13 => {
            let structured = json!({ "resultType": input.pick(&RESULT_TYPES), "status": "working" });
            result["result"] =
                json!({ "content": [], "isError": input.byte() & 1 == 1, "structuredContent": structured });
        }
        14 if !input.byte().is_multiple_of(4) => result["error"] = plain_error(input),
        _ => {}
    }
    result
}

fn error(input: &mut Bytes<'_>) -> Value {
    let code = input.pick(&[-32601, -32603, -32602, 1]);
    let mut error = Map::new();
    let other = if input.byte() % 8 == 1 { junk(input, 1) } else { Value::Null };
    let code = match input.byte() % 16 {
        0 => json!(code.to_string()),
        1 => numeral(input, code),
        _ if other.is_null() => json!(code),
        _ => other,
    };
    error.insert("code".into(), code);
    error.insert("message".into(), json!("no"));
    if input.byte() & 1 == 1 {
        error.insert("data".into(), junk(input, 3));
    }
    Value::Object(error)
}

fn notification(input: &mut Bytes<'_>, client: &Client) -> Value {
    let mut message = envelope(input);
    with_members_of_a_response(input, &mut message);
    if input.byte() % 3 == 1 {
        let token = if input.byte() % 4 == 1 { old_id(input, client) } else { open_id(input, client) };
        let token = token.unwrap_or(99);
        let token = match input.byte() % 4 {
            0 => numeral(input, token),
            1 => json!(input.pick(&["", "2\u{fffd}", "\u{fffd}"])),
            2 => json!(token.to_string()),
            _ => json!(token),
        };
        message.insert("method".into(), json!("notifications/progress"));
        message.insert("params".into(), json!({ "progressToken": token, "progress": 1, "_meta": object(input, 2) }));
    } else {
        message.insert("method".into(), method(input, &["notifications/x", "x", "id", "x\u{fffd}"]));
        if input.byte() & 1 == 1 {
            message.insert("params".into(), Value::Object(object(input, 3)));
        }
    }
    Value::Object(message)
}

fn request(input: &mut Bytes<'_>) -> Value {
    let mut message = envelope(input);
    with_members_of_a_response(input, &mut message);
    let id = input.pick(&[0, 1, 2, 3, 4, 5, 6]);
    let id = match id {
        0 => json!(input.pick(&["a\"b", "\u{fffd}"])),
        6 => numeral(input, 2),
        1 => json!(-1),
        2 => json!(1.5),
        3 => Value::Null,
        4 => json!({ "id": 2 }),
        _ => json!(2),
    };
    message.insert("id".into(), id);
    message.insert("method".into(), method(input, &["ping", "roots/list", "x/unknown", "x\u{fffd}"]));
    if input.byte() & 1 == 1 {
        message.insert("params".into(), Value::Object(object(input, 3)));
    }
    Value::Object(message)
}

/// One of the names, or at times a value that is no name.
fn method(input: &mut Bytes<'_>, names: &[&str]) -> Value {
    match input.byte() % 48 {
        1 => Value::Null,
        2 => numeral(input, 2),
        3 => json!(["ping"]),
        _ => json!(input.pick(names)),
    }
}

/// Adds a `result` or an `error` to some messages. A message with a method then looks like a response.
fn with_members_of_a_response(input: &mut Bytes<'_>, message: &mut Map<String, Value>) {
    match input.byte() % 16 {
        1 => drop(message.insert("result".into(), Value::Object(object(input, 2)))),
        2 => drop(message.insert("error".into(), error(input))),
        _ => {}
    }
}

/// A message without an id of a request and without a method.
fn without_id(input: &mut Bytes<'_>) -> Value {
    let mut message = envelope(input);
    if input.byte() & 1 == 1 {
        message.insert("id".into(), Value::Null);
    }
    match input.byte() % 4 {
        0 => return junk(input, 0),
        1 => drop(message.insert("result".into(), Value::Object(object(input, 2)))),
        _ => drop(message.insert("error".into(), error(input))),
    }
    once_more(input, &mut message);
    Value::Object(message)
}

fn object(input: &mut Bytes<'_>, depth: u8) -> Map<String, Value> {
    (0..input.byte() % 4)
        .map(|_| match input.byte() % 4 {
            0 => ("resultType".to_owned(), json!(input.pick(&RESULT_TYPES))),
            _ => (input.pick(&RESERVED).to_owned(), junk(input, depth)),
        })
        .collect()
}

/// Any JSON value. At depth 0, a scalar.
fn junk(input: &mut Bytes<'_>, depth: u8) -> Value {
    match input.byte() % 14 {
        0 => Value::Null,
        1 => json!(2),
        2 => json!(true),
        3 => json!(input.pick(&["2.0", "ping", "}", "\\\"", "\u{fffd}"])),
        4 => json!("x".repeat(input.pick(&[250, 256, 300, 5000]))),
        5 => json!(input.pick(&RESULT_TYPES)),
        6 => json!(1.5),
        7 => numeral(input, 2),
        // Deeper than the limit, or not.
        8 if depth > 0 && input.byte().is_multiple_of(4) => {
            (0..input.pick(&[100, 200])).fold(json!(1), |inner, _| Value::Array(vec![inner]))
        }
        9 if depth > 0 => (0..input.byte() % 3).map(|_| junk(input, depth - 1)).collect(),
        _ if depth > 0 => Value::Object(object(input, depth - 1)),
        _ => json!(-1),
    }
}
