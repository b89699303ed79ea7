//! Large messages among small ones: whole, in order, and however they are cut.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{Config, Event, Negotiate, Raw, RequestOptions, Ticket, Timestamp};

const NOW: Timestamp = Timestamp::ORIGIN;

/// The sizes of the results that the server answers with, one after another.
const SIZES: [usize; 14] =
    [10, 70_000, 20, 65_500, 65_536, 3_000_000, 3_000_000, 5, 200_000, 150_000, 200_000, 0, 2_200_000, 1];

fn open() -> (Engine, Vec<Ticket<Raw>>) {
    let mut config = Config::default();
    config.negotiate = Negotiate::Legacy;
    let mut engine = Engine::new(config);
    engine.calls().initialize(NOW).expect("it is new");
    engine.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", NOW);
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    let ask = |_| engine.calls().request_raw("x/y", None, &RequestOptions::new(), NOW).expect("it is open");
    let tickets = SIZES.iter().map(ask).collect();
    engine.transmitted(usize::MAX);
    (engine, tickets)
}

/// The text of the result with the number `n`.
fn text(n: usize) -> String {
    let size = SIZES[n];
    let letter = char::from(b'a' + u8::try_from(n).expect("there are few"));
    letter.to_string().repeat(size)
}

fn stream() -> Vec<u8> {
    let answers = (0..SIZES.len()).map(|n| {
        let (id, text) = (n + 2, text(n));
        if n % 2 == 0 {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"{text}\"}}\n")
        } else {
            format!("{{\"result\":\"{text}\",\"jsonrpc\":\"2.0\",\"id\":{id}}}\nnoise\n")
        }
    });
    answers.collect::<String>().into_bytes()
}

/// Hands over what arrives in pieces of `size`, and reads each answer when it is there.
fn play(size: usize) -> Engine {
    let (mut engine, tickets) = open();
    let mut tickets = tickets.into_iter().enumerate();
    for mut piece in stream().chunks(size) {
        while !piece.is_empty() {
            let space = engine.space().expect("every event was taken");
            let n = space.len().min(piece.len());
            space[..n].copy_from_slice(&piece[..n]);
            engine.filled(n, NOW);
            piece = &piece[n..];
            let mut events = 0;
            while let Some(event) = engine.poll_event() {
                events += 1;
                let Event::Reply(reply) = event else { continue };
                let (n, ticket) = tickets.next().expect("no more than were asked for");
                let result = ticket.decode(reply).expect("it went well");
                assert!(result.get() == format!("\"{}\"", text(n)), "result {n} is another one, in pieces of {size}");
            }
            assert!(n > 0 || events > 0, "no room, and nothing happens");
        }
    }
    assert!(tickets.next().is_none() && engine.is_idle());
    engine
}

#[test]
fn they_arrive_whole_and_in_order() {
    for size in [997, 8 << 10, 64 << 10, 1 << 20, usize::MAX] {
        play(size);
    }
}

#[test]
fn small_messages_after_them_let_go_of_the_memory() {
    let mut engine = play(64 << 10);
    engine.receive(b"{\"method\":\"notifications/x\"}\n", NOW);
    while engine.poll_event().is_some() {}
    let kept = engine.space().expect("every event was taken").len();
    assert!(kept <= 64 << 10, "{kept} bytes are kept");
}

#[test]
fn a_reader_that_takes_no_events_is_told_that_the_buffer_is_full() {
    let (mut engine, tickets) = open();
    let stream = stream();
    let (mut rest, mut fills, mut replies) = (&stream[..], 0, 0);
    while !rest.is_empty() {
        // Like a loop that reads until nothing is there, which must not take a full buffer for the end of the stream.
        while !rest.is_empty()
            && let Some(space) = engine.space()
        {
            assert!(!space.is_empty(), "a read into no space returns 0, as at the end of the stream");
            let n = space.len().min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            engine.filled(n, NOW);
            rest = &rest[n..];
        }
        fills += 1;
        while let Some(event) = engine.poll_event() {
            replies += usize::from(matches!(event, Event::Reply(_)));
        }
        assert!(engine.space().is_some(), "every event was taken");
    }
    assert!(fills > 1, "the buffer was full before the stream ended");
    assert_eq!(replies, tickets.len());
}
