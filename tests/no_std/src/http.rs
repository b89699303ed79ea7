//! A call over HTTP: one answer in JSON, one in a stream of events, both from within the program.

use alloc::format;
use alloc::string::{String, ToString};

use mcpwire_core::http::{Command, Engine, Exchange, Settings};
use mcpwire_core::{CallTool, CallToolParams, Config, Event, Json, RequestOptions, Timestamp};

/// `expected`, as the server says it; or the step that went wrong.
pub(crate) fn drive(expected: &str) -> Result<String, &'static str> {
    let settings = Settings::new("https://server.test/mcp").map_err(|_| "address")?;
    let mut engine = Engine::new(Config::new("no-std", "0"), settings);
    let now = Timestamp::ORIGIN;

    engine.calls().initialize(now).map_err(|_| "initialize over HTTP")?;
    let Some(Event::Connected) = next_event(&mut engine, now) else { return Err("connect over HTTP") };
    let arguments = Json::parse("{}").map_err(|_| "arguments")?;
    let call = CallToolParams { name: "hello", arguments: &arguments };
    let call =
        engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now).map_err(|_| "request over HTTP")?;
    let Some(Event::Reply(reply)) = next_event(&mut engine, now) else { return Err("reply over HTTP") };
    let text = call.decode(reply).map_err(|_| "result over HTTP")?.text().to_string();
    engine.close();
    if text == expected && engine.exchanges() == 0 { Ok(text) } else { Err("end over HTTP") }
}

fn next_event(engine: &mut Engine, now: Timestamp) -> Option<Event> {
    loop {
        if let Some(event) = engine.poll_event() {
            return Some(event);
        }
        match engine.poll_exchange(now)? {
            Command::Start(exchange) => answer(engine, &exchange, now),
            _ => return None,
        }
    }
}

fn answer(engine: &mut Engine, exchange: &Exchange, now: Timestamp) {
    let body = String::from_utf8_lossy(&exchange.body);
    let id = super::id_of(&body).unwrap_or("null");
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
