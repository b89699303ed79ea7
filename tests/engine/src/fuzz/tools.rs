//! A tool that is looked for in pages without reading them is found where it is in the list that they are.

use mcpwire_core::internal::{KnownTools, SearchProgress, ToolSearch};
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, Config, Event, ListParams, ListTools, ListToolsResult, Negotiate, Reply, RequestKey, RequestOptions,
    Timestamp,
};

use super::describe;
use super::trace::Trace;

const NOW: Timestamp = Timestamp::ORIGIN;

/// The tool that is looked for.
const TOOL: &str = "echo";

/// The most pages of one input.
const PAGES: usize = 8;

/// Gives the lines of an input, as pages, to a search, and to a reader of the same page.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what was found.
pub fn trace(data: &[u8], trace: &Trace) {
    let Some((variant, data)) = data.split_first() else { return };
    let (mut looks, mut reads) = (open(), open());
    let mut search = ToolSearch::new(TOOL);
    let mut listed = Vec::new();
    let mut found = SearchProgress::Unknown;
    for (page, id) in data.split(|byte| *byte == b'\n').take(PAGES).zip(2u32..) {
        let key = looks.calls().send_prepared(&search.request(), &RequestOptions::new(), NOW).expect("it is open");
        let params = ListParams { cursor: None };
        let ticket = reads.calls().request::<ListTools>(&params, &RequestOptions::new(), NOW).expect("it is open");
        let message = message(*variant, id, page);
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

fn open() -> Engine {
    let mut config = Config::new("fuzz", "1");
    config.negotiate = Negotiate::Legacy;
    let mut engine = Engine::new(config);
    engine.calls().initialize(NOW).expect("it is new");
    engine.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{\"tools\":{}}}}\n", NOW);
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    engine
}

/// A page from the bytes, as they are or as a part of one.
fn message(variant: u8, id: u32, data: &[u8]) -> Vec<u8> {
    let (before, after) = match variant % 4 {
        0 => ("", ""),
        1 => (r#""result":"#, ""),
        2 => (r#""result":{"tools":["#, r#"],"nextCursor":"more"}"#),
        _ => (r#""result":{"tools":["#, "]}"),
    };
    let before = format!(r#"{{"jsonrpc":"2.0","id":{id},{before}"#);
    [before.as_bytes(), data, after.as_bytes(), b"}\n"].concat()
}

fn answer(engine: &mut Engine, key: RequestKey, message: &[u8]) -> Option<Reply> {
    assert_eq!(engine.receive(message, NOW), message.len(), "one line always fits");
    let mut reply = None;
    while let Some(event) = engine.poll_event() {
        if let Event::Reply(found) = event {
            assert_eq!(found.key(), key);
            assert!(reply.replace(found).is_none(), "two replies to one request");
        }
    }
    reply
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
