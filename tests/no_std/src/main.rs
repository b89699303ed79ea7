//! A program without std that links the engine and drives it through a connection: the era is found, a tool is called, an
//! answer stays out until its deadline, the stream ends. Then the same over HTTP, in the modern era, and what the crates
//! `beside_engine` do: a server that cannot start, tools for a model, and a login. A use of std anywhere in what these link would show; see `bare`.

#![no_std]
#![no_main]

extern crate alloc;

mod bare;
mod beside_engine;

use alloc::format;
use alloc::string::{String, ToString};
use core::ffi::c_int;
use core::fmt::Write;
use core::time::Duration;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, CloseReason, Config, Event, Json, RequestOptions, Ticket, Timestamp, http,
    printable,
};

use crate::bare::Stdout;

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    match drive_all() {
        Ok((text, status)) => {
            let (text, status) = (printable(&text), printable(&status));
            let said = writeln!(Stdout, "without std, the server says: {text}; and the supervisor: {status}");
            c_int::from(said.is_err())
        }
        Err(step) => {
            let _ = writeln!(Stdout, "failed: {step}");
            1
        }
    }
}

fn drive_all() -> Result<(String, String), &'static str> {
    let text = drive_http(&drive()?)?;
    let status = beside_engine::supervise()?;
    beside_engine::convert()?;
    beside_engine::log_in()?;
    Ok((text, status))
}

/// The text of the call; or the step that went wrong.
fn drive() -> Result<String, &'static str> {
    let mut engine = Engine::new(Config::new("no-std", "0"));
    let start = Timestamp::ORIGIN;

    engine.calls().initialize(start).map_err(|_| "initialize")?;
    let Some(Event::Connected) = next_event(&mut engine, start) else { return Err("connect") };

    let call = request(&mut engine, "hello", start)?;
    let text = reply(&mut engine, call, start)?.map_err(|_| "result")?;

    let unanswered = request(&mut engine, "silence", start)?;
    if next_event(&mut engine, start).is_some() {
        return Err("an event out of nothing");
    }
    let deadline = engine.poll_timeout().ok_or("deadline")?;
    if deadline != start + Duration::from_secs(30) {
        return Err("another deadline");
    }
    engine.handle_timeout(deadline);
    let Err(CallError::Timeout { .. }) = reply(&mut engine, unanswered, deadline)? else { return Err("timeout") };

    engine.receive_eof(deadline);
    match next_event(&mut engine, deadline) {
        Some(Event::Closed(CloseReason::ByServer)) => Ok(text),
        _ => Err("end"),
    }
}

fn request(engine: &mut Engine, tool: &str, now: Timestamp) -> Result<Ticket<CallTool>, &'static str> {
    let arguments = Json::parse("{}").map_err(|_| "arguments")?;
    let call = CallToolParams { name: tool, arguments: &arguments };
    engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now).map_err(|_| "request")
}

/// What became of the call, if that is the next thing to happen.
fn reply(
    engine: &mut Engine,
    call: Ticket<CallTool>,
    now: Timestamp,
) -> Result<Result<String, CallError>, &'static str> {
    let Some(Event::Reply(reply)) = next_event(engine, now) else { return Err("reply") };
    Ok(call.decode(reply).map(|result| result.text().into_string()))
}

/// Carries lines between the engine and the server until something happens, or nothing more can.
fn next_event(engine: &mut Engine, now: Timestamp) -> Option<Event> {
    loop {
        if let Some(event) = engine.poll_event() {
            return Some(event);
        }
        let sent = String::from_utf8_lossy(engine.transmit()).into_owned();
        if sent.is_empty() {
            return None;
        }
        engine.transmitted(sent.len());
        for answer in sent.lines().filter_map(server) {
            engine.receive(answer.as_bytes(), now);
        }
    }
}

/// A legacy server of three answers. It never answers the tool `silence`.
fn server(line: &str) -> Option<String> {
    let id = id_of(line)?;
    let body = if line.contains(r#""initialize""#) {
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}"#
    } else if line.contains(r#""silence""#) {
        return None;
    } else if line.contains(r#""tools/call""#) {
        r#""result":{"content":[{"type":"text","text":"hello"}]}"#
    } else {
        r#""error":{"code":-32601,"message":"Method not found"}"#
    };
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}\n"))
}

// The same over HTTP: one answer in JSON, one in a stream of events, both from within the program.

/// `expected`, as the server says it; or the step that went wrong.
fn drive_http(expected: &str) -> Result<String, &'static str> {
    let settings = http::Settings::new("https://server.test/mcp").map_err(|_| "address")?;
    let mut engine = http::Engine::new(Config::new("no-std", "0"), settings);
    let now = Timestamp::ORIGIN;

    engine.calls().initialize(now).map_err(|_| "initialize over HTTP")?;
    let Some(Event::Connected) = next_http_event(&mut engine, now) else { return Err("connect over HTTP") };
    let arguments = Json::parse("{}").map_err(|_| "arguments")?;
    let call = CallToolParams { name: "hello", arguments: &arguments };
    let call =
        engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now).map_err(|_| "request over HTTP")?;
    let Some(Event::Reply(reply)) = next_http_event(&mut engine, now) else { return Err("reply over HTTP") };
    let text = call.decode(reply).map_err(|_| "result over HTTP")?.text().to_string();
    engine.close();
    if text == expected && engine.exchanges() == 0 { Ok(text) } else { Err("end over HTTP") }
}

fn next_http_event(engine: &mut http::Engine, now: Timestamp) -> Option<Event> {
    loop {
        if let Some(event) = engine.poll_event() {
            return Some(event);
        }
        match engine.poll_exchange(now)? {
            http::Command::Start(exchange) => answer_http(engine, &exchange, now),
            _ => return None,
        }
    }
}

fn answer_http(engine: &mut http::Engine, exchange: &http::Exchange, now: Timestamp) {
    let body = String::from_utf8_lossy(&exchange.body);
    let id = id_of(&body).unwrap_or("null");
    if body.contains(r#""server/discover""#) {
        let result = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        engine.response(exchange.id, 200, [("content-type", &b"application/json"[..])], now);
        engine.body(exchange.id, message.as_bytes(), now);
    } else {
        let result = r#"{"resultType":"complete","content":[{"type":"text","text":"hello"}]}"#;
        let event = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n\n");
        engine.response(exchange.id, 200, [("content-type", &b"text/event-stream"[..])], now);
        engine.body(exchange.id, event.as_bytes(), now);
    }
    engine.ended(exchange.id, now);
}

fn id_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(r#""id":"#)?;
    rest.split([',', '}']).next()
}
