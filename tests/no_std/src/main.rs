//! A program without std that links the engine and drives it through a connection: the era is found, a tool is called, an
//! answer stays out until its deadline, the stream ends. Then the same over HTTP, in the modern era (`http`), and a server that
//! cannot start, under the supervisor (`supervisor`), tools for a model (`tool_client`), and a login
//! (`oauth`). A use of std anywhere in what these link would show; see `bare`.

#![no_std]
#![no_main]

extern crate alloc;

mod bare;
mod http;
mod oauth;
mod supervisor;
mod tool_client;

use alloc::format;
use alloc::string::String;
use core::ffi::c_int;
use core::fmt::Write;
use core::time::Duration;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, CloseReason, Config, Event, Json, RequestOptions, Ticket, Timestamp, printable,
};

use crate::bare::Stdout;

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    let said = drive().and_then(|text| http::drive(&text)).and_then(|text| Ok((text, supervisor::drive()?)));
    let said = said.and_then(|said| tool_client::convert().map(|_| said));
    let said = said.and_then(|said| oauth::log_in().map(|()| said));
    match said {
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

fn id_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(r#""id":"#)?;
    rest.split([',', '}']).next()
}
