//! What a server answers that understands the request: well in most cases, and badly in many ways.

use mcpwire_core::TaskProtocol;

use super::model::Model;
use super::server::line;
use super::wire::Asked;
use crate::fuzz::bytes::Bytes;

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
    let said = match answer_to(model, &asked, how) {
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

fn answer_to(model: &mut Model, asked: &Asked, how: u8) -> Answer {
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
