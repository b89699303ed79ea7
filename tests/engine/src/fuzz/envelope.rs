//! Whatever a message is, the request that it answers ends, and what is read is what `serde_json` reads.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{CallError, CallToolParams, CallToolRaw, Config, Event, Json, Negotiate, RequestOptions, Timestamp};

use super::describe;
use super::reference::{self, Members};
use super::trace::Trace;

/// The id of the request in flight.
const ID: &str = "2";

/// Gives one line to an engine that waits for the answer to a call.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what it was read as.
pub fn trace(data: &[u8], trace: &Trace) {
    let Some((variant, data)) = data.split_first() else { return };
    let message = message(*variant, data);
    let (reply, ticket, engine) = answer(&message);
    let must_end = matches!(variant % 8, 3..=5);
    assert!(!must_end || reply.is_some(), "it has the id of the request, and the request did not end");

    let decoded = reply.map(|reply| ticket.decode(reply));
    match &decoded {
        Some(decoded) => describe::result(&decoded.as_ref().map(Json::to_string).map_err(Clone::clone), trace),
        None => trace.line(format_args!("no answer")),
    }
    trace.line(format_args!(
        "= {} in flight, {}",
        engine.session().in_flight(),
        describe::stats(engine.session().stats())
    ));
    if let Some(Err(error)) = &decoded {
        // What the server says is told whole; what the core says about a message is not the message.
        let said = matches!(error, CallError::Server { .. });
        assert!(said || error.to_string().len() < 2000, "errors are short");
    }
    let text = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&message);
    // In a batch each message stands for itself.
    let batch = text.trim_ascii_start().starts_with(b"[");
    let Ok(text) = str::from_utf8(text) else {
        assert!(batch || !matches!(decoded, Some(Ok(_))), "not UTF-8, and read");
        return;
    };
    if let Some(Ok(result)) = &decoded {
        assert!(batch || reference::is_json(text), "not JSON, and read");
        assert!(reference::is_json(result.get()), "not JSON, and kept as JSON");
    }
    let expected = expected(text);
    if !matches!(expected, Expected::Nothing) {
        let decoded = decoded.unwrap_or_else(|| panic!("a response with the id of the request did not end it"));
        if let Expected::Result(expected) = expected {
            let result = decoded.unwrap_or_else(|error| panic!("a good response is refused: {error}"));
            assert_eq!(result.get(), expected, "another result");
        }
        assert_eq!(engine.session().in_flight(), 0);
    }
}

type Ticket = mcpwire_core::Ticket<CallToolRaw>;

fn answer(message: &[u8]) -> (Option<mcpwire_core::Reply>, Ticket, Engine) {
    let now = Timestamp::ORIGIN;
    let mut config = Config::new("fuzz", "1");
    config.negotiate = Negotiate::Legacy;
    let mut engine = Engine::new(config);
    engine.calls().initialize(now).expect("it is new");
    engine.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", now);
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    let call = CallToolParams { name: "echo", arguments: &Json::parse("{}").expect("an object") };
    let ticket = engine.calls().request::<CallToolRaw>(&call, &RequestOptions::new(), now).expect("it is open");
    for bytes in [message, b"\n"] {
        let taken = engine.receive(bytes, now);
        assert_eq!(taken, bytes.len(), "one line always fits");
    }
    let (mut reply, mut events) = (None, 0);
    while let Some(event) = engine.poll_event() {
        events += 1;
        if let Event::Reply(found) = event {
            assert!(reply.replace(found).is_none(), "two replies to one request");
        }
    }
    assert!(events <= 1 + message.len() / 2, "{events} events for {} bytes", message.len());
    (reply, ticket, engine)
}

/// The bytes as they are, or as a part of an answer.
fn message(variant: u8, data: &[u8]) -> Vec<u8> {
    let (before, after) = match variant % 8 {
        1 => (r#"{"jsonrpc":"2.0","id":2,"#, ""),
        2 => ("", r#","id":2}"#),
        3 => (r#"{"result":"#, r#","jsonrpc":"2.0","id":2}"#),
        4 => (r#"{"jsonrpc":"2.0","id":2,"result":"#, "}"),
        5 => (r#"{"id":2,"jsonrpc":"2.0","error":"#, "}"),
        6 => ("[", "]"),
        _ => ("", ""),
    };
    let mut message = [before.as_bytes(), data, after.as_bytes()].concat();
    for byte in &mut message {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    message
}

/// What a text must come to.
enum Expected {
    /// Nothing in particular.
    Nothing,
    /// It is a response to the request, which ends.
    End,
    /// It is a good response, and this is its result.
    Result(String),
}

/// As `serde_json` sees it. What the core takes for an error, such as repeated keys, is left out.
fn expected(text: &str) -> Expected {
    let Ok(members) = serde_json::from_str::<Members>(text) else { return Expected::Nothing };
    let once = ["id", "method", "result", "error"].map(|name| members.one(name));
    let [Ok(Some(id)), Ok(method), Ok(result), Ok(error)] = once else { return Expected::Nothing };
    let asks = method.is_some_and(|method| method.starts_with('"'));
    if !means_ours(id) || asks || (result.is_none() && error.is_none()) {
        return Expected::Nothing;
    }
    match result {
        Some(result)
            if result.starts_with('{')
                && reference::depth(result) <= 127
                && error.is_none_or(|error| error == "null") =>
        {
            Expected::Result(result.into())
        }
        _ => Expected::End,
    }
}

/// Whether an id means the request: as the number that was sent, as a float or as a string.
fn means_ours(id: &str) -> bool {
    let id = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
    id == ID || id.strip_prefix("2.").is_some_and(|zeros| !zeros.is_empty() && zeros.bytes().all(|b| b == b'0'))
}
