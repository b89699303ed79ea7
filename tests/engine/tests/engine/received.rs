//! What a stream carries: notifications, batches, large messages, and the same message in other words.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CloseReason, Config, Event, LoggingLevel, Negotiate, Notification, Raw, RequestOptions, SubscribeOptions,
    SubscriptionFilter, TaskMode, Ticket, Timestamp,
};
use mcpwire_engine_tests::sim::{Pair, configured, legacy, modern};

// What the server tells comes out in the order in which it was told, between the replies.

#[test]
fn each_kind_is_told_as_what_it_is() {
    let mut pair = open();
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.drive();
    assert_eq!(pair.sent[0].meta()["progressToken"], pair.sent[0].id().expect("a request"));
    let id = pair.sent[0].id().expect("a request");
    for line in [
        format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id},"progress":1,"total":4,"message":"m"}}}}"#),
        r#"{"method":"notifications/message","params":{"level":"warning","logger":"db","data":{"a":1}},"jsonrpc":"2.0"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/acme/said","params":{"what":"hello"}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/acme/said"}"#.into(),
    ] {
        pair.say(line);
    }
    let told: Vec<&Notification> = pair
        .happened()
        .into_iter()
        .map(|event| match event {
            Event::Notification(notification) => notification,
            other => panic!("{other:?}"),
        })
        .collect();
    let [
        Notification::Progress { key, progress },
        Notification::Log(log),
        Notification::ToolsChanged,
        Notification::PromptsChanged,
        Notification::ResourcesChanged,
        Notification::Other { method, params: Some(params) },
        Notification::Other { params: None, .. },
    ] = told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((*key, progress.fraction(), progress.message.as_deref()), (ticket.key(), Some(0.25), Some("m")));
    assert_eq!((&log.level, log.logger.as_deref(), log.data.get()), (&LoggingLevel::Warning, Some("db"), r#"{"a":1}"#));
    assert_eq!((method.as_str(), params.get()), ("notifications/acme/said", r#"{"what":"hello"}"#));
}

#[test]
fn a_thousand_stay_in_order_around_the_replies() {
    let mut pair = open();
    let tickets: Vec<_> = (0..100).map(|_| pair.call("busy", &RequestOptions::new()).expect("it is sent")).collect();
    pair.drive();
    let ids: Vec<u64> = pair.sent.iter().filter_map(mcpwire_engine_tests::sim::Sent::id).collect();
    let mut lines = Vec::new();
    for n in 0..1000 {
        lines.extend_from_slice(format!("{{\"method\":\"n\",\"params\":{{\"n\":{n}}}}}\n").as_bytes());
        if n % 10 == 0 {
            lines.extend_from_slice(format!("{{\"id\":{},\"result\":{{}}}}\n", ids[n / 10]).as_bytes());
        }
    }
    let (mut told, mut replied) = (0, 0);
    for piece in lines.chunks(777) {
        assert_eq!(pair.engine.receive(piece, pair.now), piece.len());
        while let Some(event) = pair.engine.poll_event() {
            match event {
                Event::Notification(Notification::Other { params, .. }) => {
                    assert_eq!(params.expect("it has some").get(), format!("{{\"n\":{told}}}"));
                    told += 1;
                }
                Event::Reply(reply) => {
                    assert_eq!((reply.key(), told), (tickets[replied].key(), replied * 10 + 1));
                    replied += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((told, replied), (1000, 100));
}

#[test]
fn progress_of_nothing_is_counted() {
    let mut pair = open();
    for token in ["99", "\"x\"", "null", "{}", "1"] {
        pair.say(format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#));
    }
    pair.say(r#"{"method":"notifications/progress","params":{"progress":1}}"#);
    assert_eq!((pair.events.len(), pair.engine.session().stats().late), (0, 6));
}

#[test]
fn what_cannot_be_read_is_noise() {
    let mut pair = open();
    for line in [
        r#"{"method":"notifications/progress","params":[1]}"#,
        r#"{"method":"notifications/message","params":"hello"}"#,
        r#"{"method":"notifications/acme","params":{"#,
        "Server started",
        "{}",
        "\u{1b}[31mred\u{1b}[0m",
    ] {
        pair.say(line);
    }
    assert_eq!(pair.engine.session().stats().invalid, 6);
    for event in pair.happened() {
        let Event::InvalidMessage { excerpt } = event else { panic!("{event:?}") };
        assert!(!excerpt.contains(char::is_control));
    }
    assert_eq!(pair.events.len(), 6);
}

// Arrays of messages: only 2025-03-26 has them, and each element stands for itself.

fn open() -> Pair {
    Pair::legacy(|_, _| {})
}

#[test]
fn each_element_is_a_message() {
    let mut pair = open();
    let first = pair.call("a", &RequestOptions::new()).expect("it is sent");
    let second = pair.call("b", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
    pair.sent.clear();
    pair.say(format!(
        r#" [ {{"id":{b},"result":{{}}}} , {{"method":"ping","id":"s"}},{{"method":"notifications/tools/list_changed"}}, {{"id":{a},"error":{{"code":1}}}} ] "#
    ));
    assert!(pair.take(first).is_some_and(|result| result.is_err()));
    assert!(pair.take(second).is_some_and(|result| result.is_ok()));
    assert_eq!(pair.events.len(), 1);
    assert_eq!(pair.sent[0].text, r#"{"jsonrpc":"2.0","id":"s","result":{}}"#);
}

#[test]
fn a_bad_element_spoils_only_itself() {
    let mut pair = open();
    let good = pair.call("a", &RequestOptions::new()).expect("it is sent");
    let cut = pair.call("b", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
    pair.say(format!(r#"[1,"x",[],{{}},{{"id":{a},"result":{{}}}},{{"id":{b},"result":{{"a":"#));
    assert!(pair.take(good).is_some_and(|result| result.is_ok()));
    assert!(
        pair.engine.session().is_waiting(cut.key()),
        "it ends in the middle of this one's line, which names no request"
    );
}

#[test]
fn an_array_without_messages_is_noise() {
    let mut pair = open();
    for line in ["[]", "[ ]", "[1,2]", "[[{\"id\":1,\"result\":{}}]]", "[", "[\"2.0\",1,{}]"] {
        pair.say(line);
    }
    assert!(pair.happened().iter().all(|event| matches!(event, Event::InvalidMessage { .. })));
    assert_eq!((pair.events.len(), pair.engine.session().stats().invalid), (6, 6));
}

#[test]
fn a_long_array_is_not_a_long_queue() {
    let mut pair = open();
    let line = format!("[{}{{}}]\n", "{},".repeat(300_000));
    let mut rest = line.as_bytes();
    let mut events = 0;
    while !rest.is_empty() {
        rest = &rest[pair.engine.receive(rest, pair.now)..];
        while pair.engine.poll_event().is_some() {
            events += 1;
        }
    }
    assert_eq!(events, 300_001);
    assert!(pair.engine.is_idle());
}

#[test]
fn an_array_is_looked_at_whole_before_the_stream_ends() {
    for newline in ["\n", ""] {
        let mut pair = open();
        let first = pair.call("a", &RequestOptions::new()).expect("it is sent");
        let second = pair.call("b", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
        let last = format!(r#"[{{"id":{a},"result":{{}}}},{{"id":{b},"result":{{}}}}]{newline}"#);
        pair.engine.receive(last.as_bytes(), pair.now);
        pair.engine.receive_eof(pair.now);
        pair.drive();
        assert!(pair.take(first).is_some_and(|result| result.is_ok()));
        assert!(pair.take(second).is_some_and(|result| result.is_ok()), "its answer was there: {newline:?}");
        assert_eq!(pair.happened(), [&Event::Closed(CloseReason::ByServer)]);
    }
}

// Large messages among small ones: whole, in order, and however they are cut.

const NOW: Timestamp = Timestamp::ORIGIN;

/// The sizes of the results that the server answers with, one after another.
const SIZES: [usize; 14] =
    [10, 70_000, 20, 65_500, 65_536, 3_000_000, 3_000_000, 5, 200_000, 150_000, 200_000, 0, 2_200_000, 1];

fn begun() -> (Engine, Vec<Ticket<Raw>>) {
    let mut engine = Engine::new(configured(|config| config.negotiate = Negotiate::Legacy));
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
    let (mut engine, tickets) = begun();
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
    let (mut engine, tickets) = begun();
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

// A message of the server gives the same event, whatever the session was used for before.

type Open = fn(Config) -> Pair;

const ERAS: [Open; 2] =
    [|config| Pair::open(config, legacy(|_, _| {})), |config| Pair::open(config, modern(|_, _| {}))];

/// The messages that the parts of a session handle, each in forms that are of use, of no use, and broken.
fn messages() -> Vec<String> {
    let status = r#"{"taskId":"t9","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}"#;
    [
        ("tasks/status", status),
        ("tasks", status),
        ("tasks/status", "{}"),
        ("tasks/status", "7"),
        ("progress", r#"{"progressToken":9,"progress":1}"#),
        ("progress", r#"{"progressToken":"x"}"#),
        ("progress", "7"),
        ("cancelled", r#"{"requestId":"unknown"}"#),
        ("message", r#"{"level":"info","data":1}"#),
        ("resources/updated", r#"{"uri":"a:b"}"#),
        ("resources/updated", "{}"),
        ("subscriptions/acknowledged", "{}"),
        ("tools/list_changed", "{}"),
        ("acme/said", "{}"),
    ]
    .map(|(method, params)| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#))
    .into()
}

/// The events that the messages cause, and the numbers of late and of invalid messages.
fn receive(mut pair: Pair) -> (Vec<Event>, u64, u64) {
    let (events, before) = (pair.events.len(), pair.engine.session().stats());
    for message in messages() {
        pair.say(message);
    }
    let after = pair.engine.session().stats();
    let events = pair.events.split_off(events).into_iter().map(|(_, event)| event).collect();
    (events, after.late - before.late, after.invalid - before.invalid)
}

/// A session that has used all of its parts, and waits for nothing any more.
fn used(open: Open) -> Pair {
    let mut config = Config::default();
    config.declare_tasks();
    config.answer_roots();
    let mut pair = open(config);
    let call = pair.call("busy", &RequestOptions::new().progress().task(TaskMode::Follow)).expect("it is sent");
    let list = pair.raw("tools/list", None).expect("it is sent");
    for key in [call.key(), list.key()] {
        assert!(pair.engine.calls().cancel(key, None, pair.now));
    }
    let subscription = pair.subscribe(&SubscriptionFilter::new().task("t1"), &SubscribeOptions::new());
    assert!(pair.engine.calls().unsubscribe(subscription, pair.now));
    pair.drive();
    pair
}

#[test]
fn a_message_gives_the_same_event_whatever_the_session_was_used_for_before() {
    for open in ERAS {
        let (fresh, used) = (receive(open(Config::default())), receive(used(open)));
        assert_eq!(fresh, used);
        let (events, late, invalid) = fresh;
        for event in &events[..2] {
            let Event::Notification(Notification::TaskStatus { task, .. }) = event else { panic!("{event:?}") };
            assert_eq!(task.task_id, "t9");
        }
        assert_eq!((late, invalid), (3, 3), "{events:?}");
    }
}
