//! What a server may send.

use mcpwire_core::TaskProtocol;

use super::caller::ADDRESSES;
use super::model::Model;
use super::wire::Asked;
use crate::fuzz::trace::Bytes;

/// An answer to a request that waits, well or badly formed.
pub(super) fn answer(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let which = usize::from(input.byte());
    let id = model.ids().get(which % 16).copied().unwrap_or(1);
    line(answer_to(id, input))
}

fn answer_to(id: u64, input: &mut Bytes<'_>) -> String {
    let id = match input.byte() % 8 {
        0 => format!("{id}.0"),
        1 => format!("\"{id}\""),
        2 => format!("{id}.00"),
        _ => id.to_string(),
    };
    let result = input.pick(&[
        r#"{"content":[{"type":"text","text":"x"}]}"#,
        "{}",
        "null",
        "[1,2]",
        "\"\\ud800\"",
        r#"{"tools":[{"name":"a","inputSchema":{}},5]}"#,
        r#"{"content":{"a":[{}]},"isError":true}"#,
        r#"{"content":[1e999]}"#,
        "{\"a\":",
        "1e5",
        r#"{"resultType":"complete","content":[]}"#,
        r#"{"resultType":"input_required","requestState":"\u00e4 \"x\""}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#,
        r#"{"inputRequests":{"a":{"method":"roots/list"},"b\n":{"method":"roots/list","params":{"n":1}}},"resultType":"input_required","requestState":"s"}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":5},"requestState":7}"#,
        r#"{"resultType":"task"}"#,
    ]);
    match input.byte() % 10 {
        0..=3 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        4 => format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#),
        5 => format!(r#" {{ "result" : {result} , "id" : {id} }} "#),
        6 => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no","data":{result}}}}}"#),
        7 => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{result}}}"#),
        8 => format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},"error":{{"code":1}},"id":{id}}}"#),
    }
}

/// An answer to what opens a connection.
pub(super) fn opening(input: &mut Bytes<'_>) -> Vec<u8> {
    let id = input.byte() % 4;
    let rest = input.pick(&[
        r#""result":{"supportedVersions":["2026-07-28","2025-11-25"]}"#,
        r#""result":{"supportedVersions":["2025-06-18"]}"#,
        r#""result":{"supportedVersions":["1999-01-01"]}"#,
        r#""result":{"supportedVersions":5}"#,
        r#""result":{}"#,
        r#""result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"}}"#,
        r#""result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}"#,
        r#""result":{"protocolVersion":"2026-07-28"}"#,
        r#""result":{"protocolVersion":7}"#,
        r#""result":[]"#,
        r#""error":{"code":-32601,"message":"Method not found"}"#,
        r#""error":{"code":-32022,"message":"","data":{"supported":["2025-11-25"]}}"#,
        r#""error":{"code":-32022,"message":"","data":{"supported":[]}}"#,
        r#""error":{"code":-32022}"#,
        r#""error":{"code":-32021,"data":{}}"#,
        r#""error":"no""#,
    ]);
    line(match id {
        0 => format!(r#"{{"jsonrpc":"2.0","id":null,{rest}}}"#),
        id => format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#),
    })
}

/// An answer to a request that has ended, or that was never sent.
pub(super) fn late_or_foreign(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let which = usize::from(input.byte());
    let late = model.ended_ids().get(which).map(ToString::to_string);
    let foreign = ["99999", "\"a\"", "-1", "1.5", "{}", "18446744073709551616", "true", "[1]", "\"\\u0031\""];
    let id = late.unwrap_or_else(|| foreign[which % foreign.len()].into());
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
}

/// Progress of a request that waits or has ended, or of nothing.
pub(super) fn progress(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let which = usize::from(input.byte());
    let token = match which % 4 {
        0 => model.ended_ids().get(which / 4).map_or("null".into(), ToString::to_string),
        1 => input.pick(&["\"x\"", "{}", "99999", "", "1e3"]).into(),
        _ => model.ids().get(which / 4 % 16).map_or("0".into(), ToString::to_string),
    };
    let amount = input.pick(&["1", "0.5", "\"much\"", "1e999", "null", "-1"]);
    line(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{amount}}}}}"#
    ))
}

/// A notification or a question.
pub(super) fn unasked(input: &mut Bytes<'_>) -> Vec<u8> {
    let id = input.pick(&["1", "2", "\"a\"", "null", "1.5", "{}", "\"\\ud800\"", "-0", "1e400", "01"]);
    let method = input.pick(&["ping", "sampling/createMessage", "roots/list", "", "\\u0070ing", "\\ud800"]);
    let notice = input.pick(&["tools/list_changed", "message", "progress", "cancelled", "resources/list_changed", "x"]);
    let params = input.pick(&["", r#","params":{"level":"info","data":[1]}"#, r#","params":5"#, r#","params":{"#]);
    line(if input.byte() & 1 == 0 {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
    } else {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{notice}"{params}}}"#)
    })
}

/// Several messages in an array.
pub(super) fn batch(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let ids = model.ids();
    let parts: Vec<String> = (0..input.byte() % 6)
        .map(|n| match n {
            0 | 3 => "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}".into(),
            1 => "[{}]".into(),
            _ => answer_to(ids.get(usize::from(n)).copied().unwrap_or(2), input),
        })
        .collect();
    line(format!("[{}]", parts.join(",")))
}

/// A line beyond the limit, that may answer a request by its beginning or by its end.
pub(super) fn overlong(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let which = usize::from(input.byte());
    let id = model.ids().get(which % 16).copied().unwrap_or(1);
    let long = "x".repeat(900 + usize::from(input.byte()));
    line(match which >> 4 & 3 {
        0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":"{long}"}}}}"#),
        1 => format!(r#"{{"result":{{"a":"{long}"}},"jsonrpc":"2.0","id":{id}}}"#),
        2 => format!(r#"{{"result":{{"a":"{long}"}},"id":{id},"jsonrpc":"2.0"}}"#),
        _ => long,
    })
}

/// How a task stands, unasked.
pub(super) fn task_notice(model: &Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let (which, how) = (input.byte(), input.byte());
    let method = if (model.form() == TaskProtocol::Extension) == (how < 240) { "tasks" } else { "tasks/status" };
    let task = status(model.form(), &model.task(which), how);
    line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{task}}}"#))
}

/// That something has changed, on a subscription or on none; or that one is acknowledged or over.
pub(super) fn change(model: &mut Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let (which, how) = (input.byte(), input.byte());
    let id = if which >= 192 { Some(u64::from(which)) } else { model.wire().listen(which) };
    let id = id.map_or("null".into(), |id| id.to_string());
    let uri = serde_json::Value::from(ADDRESSES[usize::from(how / 16) % ADDRESSES.len()]);
    let method = [
        "tools/list_changed",
        "prompts/list_changed",
        "resources/list_changed",
        "resources/updated",
        "resources/updated",
        "subscriptions/acknowledged",
        "cancelled",
        "elicitation/complete",
    ][usize::from(how % 8)];
    let meta = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let params = format!(r#"{{"uri":{uri},"requestId":{id},"elicitationId":"e","_meta":{meta}}}"#);
    line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#))
}

/// A request of the server's.
pub(super) fn ask(model: &mut Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let how = input.byte();
    let number = model.next_server_request();
    let id = if how & 64 == 0 { format!("\"q{number}\"") } else { number.to_string() };
    let method = ["roots/list", "roots/list", "roots/list", "ping", "sampling/createMessage", "elicitation/create"]
        [usize::from(how) % 6];
    let task = serde_json::Value::from(model.task(0));
    let params = match how >> 4 & 3 {
        0 => format!(r#","params":{{"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":{task}}}}}}}"#),
        1 => r#","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#.into(),
        2 => r#","params":[]"#.into(),
        _ => String::new(),
    };
    line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#))
}

/// The server gives up one of its requests.
pub(super) fn ask_no_more(input: &mut Bytes<'_>) -> Vec<u8> {
    let which = input.byte();
    let id = if which & 64 == 0 { format!("\"q{}\"", which % 16) } else { (which % 16).to_string() };
    let params = format!(r#"{{"requestId":{id},"reason":"never mind"}}"#);
    line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#))
}

pub(super) fn line(text: String) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    bytes.push(b'\n');
    bytes
}

const CONTENT: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

/// What a legacy server says of itself.
const LEGACY: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}}"#;

/// What a task asks.
const ONE_INPUT: &str = r#","inputRequests":{"a":{"method":"roots/list"}}"#;
const TWO_INPUTS: &str = r#","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list","params":{}}}"#;

/// What a server says to a request.
enum Answer {
    Result(String),
    Error(i64),
    /// The members of a message.
    Said(String),
}

/// An answer that fits what a request asks, well or badly. The latest requests come first.
pub(super) fn respond(model: &mut Model, input: &mut Bytes<'_>) -> Vec<u8> {
    let (which, how) = (input.byte(), input.byte());
    let Some(asked) = model.wire().asked(which).cloned() else { return Vec::new() };
    let Some(id) = asked.id else { return Vec::new() };
    let said = match answer_well(model, &asked, how) {
        Answer::Result(result) => format!(r#""id":{id},"result":{result}"#),
        Answer::Error(code) => format!(r#""id":{id},"error":{{"code":{code},"message":"no"}}"#),
        Answer::Said(said) => said,
    };
    // What is answered twice is late the second time.
    if how < 128 && said.starts_with("\"id\"") {
        model.wire().answered(asked.id);
    }
    line(format!(r#"{{"jsonrpc":"2.0",{said}}}"#))
}

fn answer_well(model: &mut Model, asked: &Asked, how: u8) -> Answer {
    let result = |text: &str| Answer::Result(text.into());
    let about = asked.params["taskId"].as_str().unwrap_or_default();
    let form = model.form();
    match &*asked.method {
        "initialize" => result(LEGACY),
        "server/discover" => result(r#"{"supportedVersions":["2026-07-28"]}"#),
        "tools/call" => called(model, asked.id.unwrap_or_default(), form, how),
        "tools/list" => kept(r#""tools":[{"name":"a","inputSchema":{}}]"#, how),
        "resources/read" => kept(r#""contents":[]"#, how),
        "tasks/get" => got(form, about, how),
        "tasks/result" => match how % 4 {
            0 => result(CONTENT),
            1 => Answer::Error(-32600),
            2 => Answer::Error(-32603),
            _ => result(r#"{"content":5}"#),
        },
        "tasks/update" => match how % 4 {
            0 => result("{}"),
            1 => Answer::Error(-32602),
            2 => Answer::Error(-32603),
            _ => Answer::Error(-32601),
        },
        "tasks/cancel" => match how % 4 {
            0 => result("{}"),
            1 => Answer::Result(task(form, about, "cancelled", "")),
            2 => Answer::Error(-32602),
            _ => result("5"),
        },
        "subscriptions/listen" => listened(asked, how),
        "resources/subscribe" | "resources/unsubscribe" => match how % 4 {
            0 | 1 => result("{}"),
            2 => Answer::Error(-32602),
            _ => result("null"),
        },
        _ => result("{}"),
    }
}

/// A subscription is acknowledged, or over.
fn listened(asked: &Asked, how: u8) -> Answer {
    let id = asked.id.unwrap_or_default();
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let filter = match how % 8 {
        0..=3 => asked.params["notifications"].to_string(),
        4 => r#"{"toolsListChanged":true}"#.into(),
        5 => "5".into(),
        6 => return Answer::Result(format!(r#"{{"resultType":"complete",{meta}}}"#)),
        _ => return Answer::Error(-32603),
    };
    let params = format!(r#"{{{meta},"notifications":{filter}}}"#);
    Answer::Said(format!(r#""method":"notifications/subscriptions/acknowledged","params":{params}"#))
}

/// An answer that may be kept for some time, for everybody or not.
fn kept(members: &str, how: u8) -> Answer {
    if how % 4 == 3 {
        return Answer::Error(-32602);
    }
    let time = ["1000", "100000", "5e2", "0", "-1", "\"7\""][usize::from(how / 8) % 6];
    let scope = if how & 4 == 0 { "public" } else { "private" };
    Answer::Result(format!(r#"{{"resultType":"complete",{members},"ttlMs":{time},"cacheScope":"{scope}"}}"#))
}

/// What a call is answered with: a task in most cases.
fn called(model: &mut Model, id: u64, form: TaskProtocol, how: u8) -> Answer {
    let name = if how & 64 == 0 { format!("t{id}") } else { model.task(0) };
    let created = |status: &str, more: &str| match form {
        TaskProtocol::Extension => task(form, &name, status, more).replacen("\"complete\"", "\"task\"", 1),
        TaskProtocol::Experimental => format!(r#"{{"task":{}}}"#, task(form, &name, status, more)),
    };
    let answer = match how % 8 {
        0..=2 => created("working", ""),
        3 => return Answer::Result(CONTENT.into()),
        4 => created("completed", &format!(r#","result":{CONTENT}"#)),
        5 => created("input_required", ONE_INPUT),
        6 => created("input_required", r#","inputRequests":5"#),
        _ => created("new", r#","pollIntervalMs":0,"pollInterval":0"#),
    };
    model.remember_task(&name);
    Answer::Result(answer)
}

/// What `tasks/get` is answered with.
fn got(form: TaskProtocol, name: &str, how: u8) -> Answer {
    let result = format!(r#","result":{CONTENT}"#);
    let task = |status, more: &str| Answer::Result(task(form, name, status, more));
    match how % 16 {
        0 => task("working", ""),
        1 => task("working", &format!(r#","statusMessage":"{how}""#)),
        2 => task("input_required", ONE_INPUT),
        3 => task("input_required", TWO_INPUTS),
        4 => task("input_required", r#","inputRequests":{"c":{"method":"sampling/createMessage"}}"#),
        5 | 6 => task("completed", &result),
        7 => task("completed", ""),
        8 => task("failed", r#","error":{"code":-5,"message":"broken"}"#),
        9 => task("failed", r#","statusMessage":"alas""#),
        10 => task("cancelled", r#","statusMessage":"no""#),
        11 => Answer::Result(self::task(form, "another", "completed", &result)),
        12 => Answer::Error(-32602),
        13 => Answer::Error(-32601),
        14 => Answer::Error(-32603),
        _ => Answer::Result("{\"taskId\":5}".into()),
    }
}

/// How a task stands, in one of the ways that the answer to `tasks/get` says it.
pub(super) fn status(form: TaskProtocol, name: &str, how: u8) -> String {
    match got(form, name, how % 12) {
        Answer::Result(task) => task,
        _ => String::new(),
    }
}

/// How a task stands.
fn task(form: TaskProtocol, name: &str, status: &str, more: &str) -> String {
    let name = serde_json::Value::from(name);
    let times = r#""createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z""#;
    match form {
        TaskProtocol::Extension => format!(
            r#"{{"resultType":"complete","taskId":{name},"status":"{status}",{times},"ttlMs":60000,"pollIntervalMs":200{more}}}"#
        ),
        TaskProtocol::Experimental => {
            format!(r#"{{"taskId":{name},"status":"{status}",{times},"ttl":60000,"pollInterval":200{more}}}"#)
        }
    }
}
