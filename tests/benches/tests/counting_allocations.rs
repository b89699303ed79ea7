//! What calls, lists, notifications and connections cost in memory. These counts do not vary from run to run: where one
//! grows, it is seen here, and has to be worth it.

use mcpwire_blocking::protocol::{
    CallTool, CallToolResult, Config, ContentBlock, Event, ListParams, ListTools, Negotiate, Notification, Reply,
    Ticket,
};
use mcpwire_blocking::{ConnectOptions, McpClient, McpServerDef};
use mcpwire_engine_tests::{Allocated, Canned, Counting, KeyOrder, allocated, watched};
use serde::Serialize;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;
const ORDERS: [KeyOrder; 2] = [KeyOrder::IdFirst, KeyOrder::ResultFirst];

/// 64 bytes, three of which have an escape in JSON.
const CODE: &str = r#"    let value = map.get(\"key\").unwrap(); // a line of 64 bytes.\n"#;

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"bench","data":"a log message of usual length"}}"#;

/// The parameters while they are written, the answer's line, and what the caller gets: the list of blocks and the text,
/// which is cut to its length.
const CALL: usize = 5;

#[test]
fn a_call_allocates_what_its_caller_gets_and_little_else() {
    for order in ORDERS {
        let decoding = assert_few(Canned::open(), order, &text_result("hello"), CALL);
        assert!(decoding.peak < 512, "{order:?}: {decoding:?}");
    }
}

/// The request's parameters are kept for the rounds that may follow.
#[test]
fn a_call_of_a_modern_server_allocates_one_more() {
    for order in ORDERS {
        assert_few(
            Canned::open_modern(),
            order,
            r#"{"resultType":"complete","content":[{"type":"text","text":"hello"}]}"#,
            CALL + 1,
        );
    }
}

/// Calls twice, and counts the second call, which may allocate so often; gives what it took to decode its answer.
fn assert_few(mut canned: Canned, order: KeyOrder, result: &str, most: usize) -> Allocated {
    let mut call = || {
        let (ticket, sending) = allocated(|| canned.call());
        let answer = order.answer(canned.last_id, result);
        let (reply, receiving) = allocated(|| canned.reply(&answer));
        let (result, decoding) = allocated(|| ticket.decode(reply));
        assert_eq!(text(&result.expect("it is a result")), "hello");
        (sending, receiving, decoding, answer.len())
    };
    call();
    let (sending, receiving, decoding, length) = call();
    let times = sending.times + receiving.times + decoding.times;
    assert!(times <= most, "{order:?}: {sending:?} {receiving:?} {decoding:?}");
    assert_eq!(receiving.bytes, length - 1, "{order:?}: the line is copied once");
    decoding
}

/// The adapter adds the arguments, which become JSON before anything is sent, and are cut to their length.
#[test]
fn a_call_through_the_adapter_allocates_two_more() {
    watched(|| {
        for flags in [&[][..], &["--result-first"]] {
            let mut client = open(flags);
            echo(&mut client, 64);
            let ((), counted) = allocated(|| (0..100).for_each(|_| echo(&mut client, 64)));
            assert!(counted.times <= 100 * (CALL + 2), "{flags:?}: {counted:?}");
            assert_eq!(counted.held, 0, "{flags:?}: {counted:?}");
        }
    });
}

/// A result is read once, into its type: what it takes is the text, and for a text with escapes, whose length is not known
/// before its end, as much as it takes in the line.
#[test]
fn a_long_text_is_copied_once() {
    for order in ORDERS {
        for json in ["x".repeat(MIB), CODE.repeat(MIB / 64)] {
            let (ticket, reply, receiving) = long_reply(order, &json);
            assert!(receiving.bytes < json.len() * 14 / 10, "{order:?}: the line is received once: {receiving:?}");
            let (result, decoding) = allocated(|| ticket.decode(reply));
            assert!(decoding.bytes < MIB * 12 / 10, "{order:?}: {decoding:?}");
            assert_eq!(text(&result.expect("it is a result")).len(), MIB);
        }
    }
}

/// The line and the text, each once.
#[test]
fn a_result_of_16_mib_takes_at_most_2_3_times_as_much() {
    for (order, json) in [(KeyOrder::IdFirst, "x".repeat(16 * MIB)), (KeyOrder::ResultFirst, CODE.repeat(MIB / 4))] {
        let mut canned = Canned::open();
        let ticket = canned.call();
        let answer = order.answer(canned.last_id, &text_result(&json));
        let (result, counted) = allocated(|| {
            let reply = canned.reply(&answer);
            ticket.decode(reply).expect("it is a result")
        });
        assert_eq!(text(&result).len(), 16 * MIB);
        assert!(counted.peak < 16 * MIB * 23 / 10, "{order:?}: {counted:?}");
    }
}

/// Four texts a tool: its name, its title, its description and its schema.
#[test]
fn a_list_of_tools_allocates_only_what_it_shows() {
    let tools: Vec<String> = (0..1000).map(tool).collect();
    let result = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
    for order in ORDERS {
        let mut canned = Canned::open();
        let ticket: Ticket<ListTools> = canned.send(&ListParams::default());
        let answer = order.answer(canned.last_id, &result);
        let reply = canned.reply(&answer);
        let (list, counted) = allocated(|| ticket.decode(reply));
        let list = list.expect("it is a list");
        assert_eq!((list.tools.items.len(), list.tools.rejected.len()), (1000, 0));
        // Beside the texts, the list itself grows ten times.
        assert!(counted.times <= 4 * 1000 + 16, "{order:?}: {counted:?}");
    }
}

/// The logger's name and the message.
#[test]
fn a_notification_allocates_only_what_it_says() {
    let mut canned = Canned::open();
    let line = format!("{LOG}\n");
    for warm_up in [true, false] {
        let (event, counted) = allocated(|| canned.deliver(line.as_bytes()));
        assert!(matches!(event, Some(Event::Notification(Notification::Log(_)))), "{event:?}");
        assert!(warm_up || counted.times <= 2, "{counted:?}");
    }
}

/// However many notifications come, and whether or not anyone listens, none is kept.
#[test]
fn a_flood_of_notifications_holds_no_memory() {
    #[derive(Serialize)]
    struct Flood {
        count: usize,
    }
    watched(|| {
        let mut client = open(&[]);
        let mut flood =
            |count| allocated(|| drop(client.call_tool("flood", Flood { count }).send().expect("it ends"))).1;
        flood(1000);
        let (short, long) = (flood(1000), flood(9000));
        assert_eq!((long.held, long.peak), (short.held, short.peak), "{short:?} {long:?}");
    });
}

/// The receive buffer is the greater part of it.
#[test]
fn an_idle_connection_holds_few_bytes() {
    watched(|| {
        drop(open(&[]));
        let (client, counted) = allocated(|| {
            let mut client = open(&[]);
            echo(&mut client, 64);
            client
        });
        assert!(counted.held < 12 * 1024, "{counted:?}");
        drop(client);
    });
}

fn text_result(json: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{json}"}}],"isError":false}}"#)
}

fn text(result: &CallToolResult) -> &str {
    result.content.first().and_then(ContentBlock::as_text).unwrap_or_default()
}

fn tool(number: usize) -> String {
    format!(
        r#"{{"name":"tool_{number}","title":"Tool {number}","description":"Does what tools do.","inputSchema":{{"type":"object","properties":{{"query":{{"type":"string"}}}}}},"annotations":{{"readOnlyHint":true}}}}"#
    )
}

/// The reply to a call whose text is long, on a connection that had no other, and what it took to receive it.
fn long_reply(order: KeyOrder, json: &str) -> (Ticket<CallTool>, Reply, Allocated) {
    let mut canned = Canned::open();
    let ticket = canned.call();
    let answer = order.answer(canned.last_id, &text_result(json));
    let (reply, counted) = allocated(|| canned.reply(&answer));
    (ticket, reply, counted)
}

fn open(flags: &[&str]) -> McpClient {
    let def = McpServerDef::new(env!("CARGO_BIN_EXE_fast_server")).args(flags.iter().copied());
    let options = ConnectOptions::new(Config::new("counting", "1.0")).negotiate(Negotiate::Legacy);
    let mut client = McpClient::connect_with(&def, options).expect("it starts");
    client.initialize().expect("it opens");
    client
}

fn echo(client: &mut McpClient, bytes: usize) {
    #[derive(Serialize)]
    struct Echo {
        bytes: usize,
    }
    let result = client.call_tool("echo", Echo { bytes }).send().expect("it answers");
    assert_eq!(text(&result).len(), bytes);
}
