//! Messages of any kind as the answer to one request: whatever a message is, the request that it answers ends, what is read is
//! what `serde_json` reads, and a tool that is searched for is found where it is in the list.

use mcpwire_core::internal::{KnownTools, SearchProgress, ToolSearch};
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallToolParams, CallToolRaw, Config, Event, Json, ListParams, ListTools, ListToolsResult, Negotiate,
    Reply, RequestKey, RequestOptions, Timestamp,
};

use super::content::{self, Members};
use super::describe;
use super::trace::Trace;

const NOW: Timestamp = Timestamp::ORIGIN;

/// The id of the request in flight.
const ID: &str = "2";

/// The tool that is called and searched for.
const TOOL: &str = "echo";

/// The most pages of one input.
const PAGES: usize = 8;

fn open() -> Engine {
    let mut config = Config::new("fuzz", "1");
    config.negotiate = Negotiate::Legacy;
    let mut engine = Engine::new(config);
    engine.calls().initialize(NOW).expect("it is new");
    engine.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{\"tools\":{}}}}\n", NOW);
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    engine
}

/// Passes a line to the engine, and returns the reply to the only request if the line ends that request.
fn answer(engine: &mut Engine, key: RequestKey, message: &[u8]) -> Option<Reply> {
    for bytes in [message, b"\n"] {
        assert_eq!(engine.receive(bytes, NOW), bytes.len(), "one line always fits");
    }
    let (mut reply, mut events) = (None, 0);
    while let Some(event) = engine.poll_event() {
        events += 1;
        if let Event::Reply(found) = event {
            assert_eq!(found.key(), key);
            assert!(reply.replace(found).is_none(), "two replies to one request");
        }
    }
    assert!(events <= 1 + message.len() / 2, "{events} events for {} bytes", message.len());
    reply
}

/// Gives one line to an engine that waits for the answer to a call.
pub fn envelope(data: &[u8], trace: &Trace) {
    let Some((variant, data)) = data.split_first() else { return };
    let message = message(*variant, data);
    let mut engine = open();
    let call = CallToolParams { name: TOOL, arguments: &Json::parse("{}").expect("an object") };
    let ticket = engine.calls().request::<CallToolRaw>(&call, &RequestOptions::new(), NOW).expect("it is open");
    let reply = answer(&mut engine, ticket.key(), &message);
    // In text that is no JSON, a `method` beside the `id` makes it a request of the server, as in valid JSON.
    let may_ask = data.windows(8).any(|part| part == b"\"method\"");
    let must_end = matches!(variant % 8, 4..=5) || variant % 8 == 3 && !may_ask;
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
        assert!(batch || content::is_json(text), "not JSON, and read");
        assert!(content::is_json(result.get()), "not JSON, and kept as JSON");
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
                && content::depth(result) <= 127
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

/// Gives the lines of an input, as pages, to a search, and to a reader of the same page.
pub fn tools(data: &[u8], trace: &Trace) {
    let Some((variant, data)) = data.split_first() else { return };
    let (mut looks, mut reads) = (open(), open());
    let mut search = ToolSearch::new(TOOL);
    let mut listed = Vec::new();
    let mut found = SearchProgress::Unknown;
    for (page, id) in data.split(|byte| *byte == b'\n').take(PAGES).zip(2u32..) {
        let key = looks.calls().send_prepared(&search.request(), &RequestOptions::new(), NOW).expect("it is open");
        let params = ListParams { cursor: None };
        let ticket = reads.calls().request::<ListTools>(&params, &RequestOptions::new(), NOW).expect("it is open");
        let message = page_message(*variant, id, page);
        let Some(reply) = answer(&mut looks, key, &message) else { return };
        let reply_to_reader = answer(&mut reads, ticket.key(), &message).expect("both get the same");
        found = search.receive_page(&reply);
        let read = ticket.decode(reply_to_reader);
        describe::result(&read.as_ref().map(|page| describe::listed(page, &page.tools)).map_err(Clone::clone), trace);
        trace.line(format_args!("found {}", name_of(found)));
        compare(found, read, &mut listed);
        if found != SearchProgress::NextPage {
            break;
        }
    }
    noted(search, found, &listed);
}

fn name_of(found: SearchProgress) -> &'static str {
    match found {
        SearchProgress::Found => "it",
        SearchProgress::NotFound => "that there is none",
        SearchProgress::NextPage => "nothing so far",
        SearchProgress::Unknown => "nothing that can be told",
        _ => "something else",
    }
}

/// A page from the bytes, as they are or as a part of one.
fn page_message(variant: u8, id: u32, data: &[u8]) -> Vec<u8> {
    let (before, after) = match variant % 4 {
        0 => ("", ""),
        1 => (r#""result":"#, ""),
        2 => (r#""result":{"tools":["#, r#"],"nextCursor":"more"}"#),
        _ => (r#""result":{"tools":["#, "]}"),
    };
    let before = format!(r#"{{"jsonrpc":"2.0","id":{id},{before}"#);
    [before.as_bytes(), data, after.as_bytes(), b"}"].concat()
}

/// What a search says of a page that can be read is what is in there.
fn compare(found: SearchProgress, page: Result<ListToolsResult, CallError>, listed: &mut Vec<String>) {
    let Ok(page) = page else { return };
    let has = page.tools.items.iter().any(|tool| tool.name == TOOL);
    let was_left_out = !page.tools.rejected.is_empty() || page.tools.is_truncated;
    assert!(!has || found == SearchProgress::Found, "{found:?}, and the list has it");
    assert!(found != SearchProgress::Found || has || was_left_out, "it is not in the list");
    match found {
        SearchProgress::NextPage => assert!(page.next_cursor.is_some(), "there are no more pages"),
        SearchProgress::NotFound => assert_eq!(page.next_cursor, None, "there are more pages"),
        _ => {}
    }
    listed.extend(page.tools.items.into_iter().map(|tool| tool.name));
}

/// What is remembered of it explains what was found, and denies no tool that the server has.
fn noted(search: ToolSearch, found: SearchProgress, listed: &[String]) {
    let mut known = KnownTools::default();
    known.note(search, false);
    match found {
        SearchProgress::Found => assert_eq!(known.knows(TOOL), Some(true)),
        SearchProgress::NotFound => assert_eq!(known.knows(TOOL), Some(false)),
        _ => assert_eq!(known.knows(TOOL), None),
    }
    for name in listed {
        assert_eq!(known.knows(name), Some(true), "{name:?} was on a page that was looked at");
    }
    known.invalidate();
    assert_eq!(known.knows(TOOL), None);
}
