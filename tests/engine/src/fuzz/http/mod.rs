//! Callers and HTTP servers in any order: what the engine promises after each step.

mod model;

use core::time::Duration;

use mcpwire_core::http::{Exchange, FailureKind};
use serde_json::Value;

use self::model::Model;
use super::trace::{Bytes, Trace};

/// Plays a sequence of requests, parts of responses, deadlines and ends.
pub fn run(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let mut model = Model::open(input.byte(), trace);
    while !input.is_empty() {
        step(&mut model, &mut input);
        model.check();
    }
    model.finish();
}

fn step(model: &mut Model, input: &mut Bytes<'_>) {
    match input.byte() % 20 {
        0 => model.call(input.byte()),
        1 => model.raw(input),
        2 => model.cancel(usize::from(input.byte())),
        3 => model.notify(),
        4..=7 => {
            let which = input.byte();
            let (status, headers) = head(input);
            model.head(which, status, &headers);
        }
        8..=11 => {
            let which = input.byte();
            if let Some(exchange) = model.exchange(which) {
                let body = body(&exchange, input);
                model.body(which, &body);
            }
        }
        12 => {
            let which = input.byte();
            model.body(which, input.piece());
        }
        13 | 14 => model.end(input.byte()),
        15 => {
            let kinds = [FailureKind::Broken, FailureKind::Unreachable, FailureKind::Invalid];
            let (which, kind) = (input.byte(), input.pick(&kinds));
            model.fail(which, kind);
        }
        16 => {
            let unit = input.pick(&[0, 1, 100, 5_000]);
            model.pass(Duration::from_millis(unit * u64::from(input.byte())));
        }
        17 => model.pass_to_deadline(),
        18 => model.respond(input.byte()),
        _ => match input.byte() {
            0..8 => model.close(),
            8..64 => model.answer(),
            64..96 => model.shrink(),
            224..240 => model.subscribe(input.byte()),
            240..248 => model.take(input.byte()),
            248..252 => model.unsubscribe(input.byte()),
            _ => model.respond(0),
        },
    }
}

/// A status and headers.
fn head(input: &mut Bytes<'_>) -> (u16, Vec<(&'static str, &'static str)>) {
    let status = input.pick(&[200, 200, 200, 200, 202, 204, 400, 401, 403, 404, 404, 405, 429, 500, 503, 301, 100, 0]);
    let bits = input.byte();
    let mut headers = Vec::new();
    headers.extend(match bits & 7 {
        0 | 1 => Some(("Content-Type", "application/json")),
        2..=4 => Some(("content-type", "text/event-stream;charset=utf-8")),
        5 => Some(("CONTENT-TYPE", "text/html")),
        6 => Some(("content-type", "application/problem+json")),
        _ => None,
    });
    headers.extend(match bits >> 3 & 7 {
        0 | 1 => Some(("Mcp-Session-Id", "one")),
        2 => Some(("mcp-session-id", "two")),
        3 => Some(("mcp-session-id", "a b")),
        4 => Some(("www-authenticate", "Bearer error=\"x\"")),
        _ => None,
    });
    (status, headers)
}

/// The id that an answer to an exchange has to have, as JSON text.
fn id_of(exchange: &Exchange) -> String {
    let message: Value = serde_json::from_slice(&exchange.body).unwrap_or_default();
    message["id"].to_string()
}

/// Something for a body: answers, questions, news, events, and parts of them.
fn body(exchange: &Exchange, input: &mut Bytes<'_>) -> Vec<u8> {
    let id = match input.byte() % 8 {
        0 => "null".into(),
        1 => "77".into(),
        2 => input.pick(&["1", "2", "3", "4", "5", "6", "7", "8"]).into(),
        _ => id_of(exchange),
    };
    let rest = input.pick(&[
        r#""result":{"supportedVersions":["2026-07-28"]}"#,
        r#""result":{"supportedVersions":["2025-11-25"]}"#,
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#,
        r#""result":{"protocolVersion":"2024-11-05"}"#,
        r#""result":{"content":[]}"#,
        r#""result":{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}"#,
        r#""result":{"tools":[{"name":"echo","annotations":{"idempotentHint":true}},{"name":"b","inputSchema":{"x-mcp-header":1}}],"nextCursor":"c"}"#,
        r#""result":{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#,
        r#""error":{"code":-32020,"message":"header"}"#,
        r#""error":{"code":-32022,"message":"","data":{"supported":["2026-07-28"]}}"#,
        r#""error":{"code":-32601,"message":"none"}"#,
        r#""error":{"code":-32000,"message":"Bad Request"}"#,
        r#""result":"#,
        r#""method":"roots/list""#,
    ]);
    let message = match input.byte() % 8 {
        0 => r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
        1 => format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
        ),
        2 => format!(r#"[{{"jsonrpc":"2.0","id":{id},{rest}}},{{"jsonrpc":"2.0","method":"notifications/x"}}]"#),
        3 => "x".repeat(700),
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#),
    };
    let event = match input.byte() % 16 {
        0 => format!("id: {}\nretry: 100\ndata: \n\n", input.byte()),
        1 => format!("id: {}\ndata: {message}\n\n", input.byte()),
        2 => "event: endpoint\ndata: /messages\n\n".into(),
        3 => "event: endpoint\ndata: http://evil.test/\n\n".into(),
        4 => ": comment\r\n\r\n".into(),
        5 => format!("data: {message}"),
        6..=10 => format!("data: {message}\n\n"),
        _ => message,
    };
    event.into_bytes()
}
