//! A call costs the same whatever else is going on: with one request in flight or ten thousand, at the beginning or after
//! a day of calls.

use mcpwire_blocking::protocol::{CallTool, Ticket};
use mcpwire_engine_tests::{Allocated, Canned, Counting, KeyOrder, allocated};
use mcpwire_hub::import::{ImportOptions, import};
use mcpwire_hub::store::Store;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RESULT: &str = r#"{"content":[{"type":"text","text":"hello"}]}"#;

/// What the next call asks of the allocator, from sending it to its result.
fn cost_of_a_call(canned: &mut Canned) -> Allocated {
    let answer = KeyOrder::IdFirst.answer(canned.last_id + 1, RESULT);
    let (result, counted) = allocated(|| {
        let ticket = canned.call();
        let reply = canned.reply(&answer);
        ticket.decode(reply).is_ok()
    });
    assert!(result);
    counted
}

/// The mean of so many calls, in thousandths of an allocation and in bytes.
fn mean_of(calls: usize, canned: &mut Canned) -> (usize, usize) {
    let counted: Vec<Allocated> = (0..calls).map(|_| cost_of_a_call(canned)).collect();
    let sum = |of: fn(&Allocated) -> usize| counted.iter().map(of).sum::<usize>();
    (sum(|counted| counted.times) * 1000 / calls, sum(|counted| counted.bytes) / calls)
}

#[test]
fn a_call_allocates_nearly_the_same_with_1_and_10_000_in_flight() {
    let mut canned = Canned::open();
    let alone = mean_of(1000, &mut canned);
    let mut waiting: Vec<Ticket<CallTool>> = Vec::new();
    for in_flight in [1, 10, 100, 1000, 10_000] {
        waiting.extend((waiting.len()..in_flight).map(|_| canned.call()));
        assert_eq!(canned.engine.session().in_flight(), in_flight);
        let among_others = mean_of(1000, &mut canned);
        // Tables that double now and then are a few thousandths of a call. Each of the three ordered tables of requests may split a
        // node for a new request, and join it again after the response.
        assert!(among_others.0 <= alone.0 + 3_000 + 10, "{in_flight} in flight: {among_others:?}, alone {alone:?}");
    }
}

/// The table of what waits forgets what has ended, also behind one call that never ends.
#[test]
fn a_call_that_never_ends_holds_up_no_memory() {
    let mut canned = Canned::open();
    let _never_answered = canned.call();
    mean_of(1000, &mut canned);
    let ((), counted) = allocated(|| {
        mean_of(20_000, &mut canned);
    });
    assert_eq!(counted.held, 0, "{counted:?}");
}

/// What answers in any other order costs is in the order of what waits.
#[test]
fn answers_in_the_reverse_order_leave_nothing_behind() {
    let mut canned = Canned::open();
    let round = |canned: &mut Canned| {
        let first = canned.last_id + 1;
        let tickets: Vec<Ticket<CallTool>> = (0..1000).map(|_| canned.call()).collect();
        for (id, ticket) in (first..).zip(tickets).collect::<Vec<_>>().into_iter().rev() {
            let reply = canned.reply(&KeyOrder::IdFirst.answer(id, RESULT));
            assert!(ticket.decode(reply).is_ok());
        }
    };
    round(&mut canned);
    let ((), counted) = allocated(|| (0..10).for_each(|_| round(&mut canned)));
    assert_eq!(counted.held, 0, "{counted:?}");
}

/// The import of many servers: reading them, and adding them to the configuration file.
#[test]
fn each_imported_server_costs_the_same() {
    let bytes_of = |servers: usize| {
        let entries: Vec<String> =
            (0..servers).map(|at| format!(r#""server {at}":{{"command":"x","args":["{at}"]}}"#)).collect();
        let text = format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(","));
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("servers.json"));
        let (results, counted) = allocated(|| {
            let imported = import(&text, &ImportOptions::default()).unwrap();
            let configs: Vec<_> = imported.servers.into_iter().map(|server| server.config).collect();
            store.create_all(&configs).unwrap()
        });
        assert!(results.len() == servers && results.iter().all(Result::is_ok));
        counted.bytes
    };
    let (few, many) = (bytes_of(500), bytes_of(2_000));
    assert!(many < 5 * few, "500 servers take {few} bytes, and 2000 take {many}");
}
