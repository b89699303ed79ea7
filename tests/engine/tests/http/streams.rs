//! Streams of events: those of requests, and the stream of its own that a client opens.

use std::time::Duration;

use mcpwire_core::http::{FailureKind, HttpError, Settings};
use mcpwire_core::{CallError, Config, Event, Notification, RequestOptions};
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};

// Streams of legacy servers: one for what belongs to no request, and all of them taken up again when they are lost (2025-11-25,
// basic/transports, "Resumability and Redelivery").

const MS: Duration = Duration::from_millis(1);

fn open(rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
    Web::ready(web::patient(), web::legacy("2025-03-26", rest))
}

/// A server without a stream of its own.
fn without_listening(mut rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
    open(move |asked, says| {
        if asked.line() == "GET" && asked.header("last-event-id").is_none() {
            says.empty(405);
        } else {
            rest(asked, says);
        }
    })
}

#[test]
fn a_stream_is_taken_up_again_when_the_server_wants_it_to_be() {
    let mut call = String::new();
    let mut web = open(move |asked, says| match (asked.line().as_str(), asked.header("last-event-id")) {
        ("GET", None) => {
            says.stream().body("id: event-1\nretry: 500\ndata: \n\n");
        }
        ("GET", Some("event-2")) => {
            says.stream().body("id: event-3\nretry: 500\ndata: \n\n");
            says.body(format!("event: message\nid: event-4\ndata: {call}\n\n"));
        }
        ("POST tools/call", None) => {
            call = asked.result(&web::said("Reconnection test completed successfully"));
            says.stream().body("id: event-2\nretry: 500\ndata: \n\n").later(50 * MS).end();
        }
        other => panic!("{other:?}"),
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(20));
    assert_eq!(web.lines(), ["POST tools/call", "GET"]);
    assert_eq!(web.last("GET").at, 550 * MS, "500 ms after the stream ended, and no later");
    assert_eq!(web.last("GET").header("mcp-session-id"), Some("s1"));
    assert_eq!(web.text(ticket), "Reconnection test completed successfully");
    assert!(web.events.is_empty(), "an event without data is no message: {:?}", web.events);
}

#[test]
fn a_server_may_be_polled_for_long() {
    let mut polls = 0;
    let mut id = String::new();
    let mut web = without_listening(move |asked, says| {
        polls += 1;
        if polls == 1 {
            id = asked.message["id"].to_string();
        }
        says.stream().body(format!("id: {polls}\nretry: 1000\ndata:\n\n"));
        if polls == 100 {
            says.event(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, web::said("at last")));
        }
        says.end();
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(200));
    assert_eq!(web.text(ticket), "at last");
    assert_eq!(web.lines().len(), 100);
    assert_eq!(web.last("GET").at, Duration::from_secs(99));
}

#[test]
fn a_stream_that_brings_nothing_is_given_up() {
    let ways: [fn(&mut Says); 3] = [
        |says| says.stream().end(),
        |says| says.stream().body(": nothing\n\nid: 1\ndata: \n\n").fail(FailureKind::Broken),
        |says| says.empty(503),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let mut web = without_listening(move |asked, says| match asked.header("last-event-id") {
            None => says.stream().body("id: 1\ndata: \n\n").end(),
            Some(_) => way(says),
        });
        let ticket = web.echo();
        web.pass(Duration::from_secs(600));
        assert_eq!(web.lines().len(), 6, "way {number}");
        let ended = web.ended_at(ticket).expect("it has ended");
        assert!((31..40).contains(&ended.as_secs()), "way {number}: {ended:?}");
        assert!(matches!(web.error(ticket), CallError::Http { .. }));
        assert_eq!(web.engine.poll_timeout(), None);
        let waits: Vec<Duration> = web.asked.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at)).collect();
        assert!(waits.windows(2).all(|pair| pair[1] > pair[0]), "way {number}: {waits:?}");
    }
}

#[test]
fn a_server_that_has_gone_is_not_waited_for_long() {
    let mut web = without_listening(|asked, says| match asked.header("last-event-id") {
        None => says.stream().body("id: 1\ndata: \n\n").fail(FailureKind::Broken),
        Some(_) => says.fail(FailureKind::Unreachable),
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(600));
    assert_eq!(web.lines(), ["POST tools/call", "GET", "GET"]);
    let ended = web.ended_at(ticket).expect("it has ended");
    assert!((3..4).contains(&ended.as_secs()), "{ended:?}");
    let HttpError::Failed(failure) = web.http_error(ticket) else { panic!("it failed") };
    assert_eq!(failure.kind, FailureKind::Unreachable);
}

#[test]
fn a_server_that_is_gone_for_a_moment_loses_nothing() {
    let mut tries = 0;
    let mut id = String::new();
    let mut web = without_listening(move |asked, says| {
        tries += 1;
        match tries {
            1 => {
                id = asked.message["id"].to_string();
                says.stream().body("id: 1\ndata: \n\n").fail(FailureKind::Broken);
            }
            // Never twice in a row.
            2 | 4 => says.fail(FailureKind::Unreachable),
            3 => says.empty(503),
            _ => {
                says.stream().event(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, web::said("back"))).end();
            }
        }
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(600));
    assert_eq!(web.text(ticket), "back");
}

#[test]
fn a_stream_that_cannot_be_taken_up_fails_its_request_at_once() {
    for (status, body) in [(405, ""), (400, "no such event"), (200, "{}")] {
        let mut web = without_listening(move |asked, says| match asked.header("last-event-id") {
            None => says.stream().body("id: 1\nretry: 10\ndata: \n\n").fail(FailureKind::Broken),
            Some(_) => says.head(status, &[("content-type", "text/plain")]).body(body).end(),
        });
        let ticket = web.echo();
        web.pass(Duration::from_secs(1));
        assert_eq!(web.ended_at(ticket), Some(10 * MS));
        assert_eq!(web.http_error(ticket).status(), Some(status));
    }
}

#[test]
fn a_stream_without_ids_cannot_be_taken_up() {
    for ids in ["", "id: a\u{e4}\n", "id: a\0b\n"] {
        let mut web = without_listening(move |_, says| {
            says.stream().body(format!("{ids}retry: 10\ndata: \n\n")).end();
        });
        let ticket = web.echo();
        assert_eq!(web.http_error(ticket), HttpError::NoAnswer { status: 200, attempts: 0 });
        assert_eq!(web.lines().len(), 1);
    }
}

#[test]
fn a_request_that_is_given_up_is_not_taken_up_again() {
    for cancel in [true, false] {
        let mut web = without_listening(|asked, says| match asked.method() {
            "tools/call" => says.stream().body("id: 1\nretry: 60000\ndata: \n\n").end(),
            "notifications/cancelled" => says.empty(202),
            other => panic!("{other}"),
        });
        let ticket =
            web.call("echo", "{}", &RequestOptions::new().timeout(Duration::from_secs(5))).expect("it is open");
        web.drive();
        if cancel {
            assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
            web.drive();
        }
        web.pass(Duration::from_secs(300));
        assert_eq!(web.lines(), ["POST tools/call", "POST notifications/cancelled"]);
        assert!(web.take(ticket).is_some());
        assert_eq!(web.engine.poll_timeout(), None);
    }
}

#[test]
fn servers_ask_on_the_stream_of_a_request() {
    let mut web = Web::ready(
        with_roots(),
        web::legacy("2025-11-25", |asked, says| match asked.line().as_str() {
            "POST tools/call" => {
                let id = asked.message["id"].to_string();
                says.stream().event(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
                says.later(100 * MS)
                    .event(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, web::said("ok")))
                    .end();
            }
            "POST" => says.empty(202),
            _ => says.empty(405),
        }),
    );
    let ticket = web.echo();
    let [Event::ServerRequest(ask)] = web.happened()[..] else { panic!("{:?}", web.events) };
    let (key, now) = (ask.key, web.now);
    assert_eq!(web.engine.calls().answer(key, &serde_json::json!({"roots": []}), now), Ok(true));
    web.pass(100 * MS);
    assert_eq!(web.lines(), ["POST tools/call", "POST"]);
    assert_eq!(web.text(ticket), "ok");
}

#[test]
fn a_server_that_ends_each_stream_after_an_event_is_asked_once_a_second() {
    for own_stream in [true, false] {
        let mut events = 0;
        let mut web = open(move |asked, says| match asked.line().as_str() {
            "GET" if !own_stream && asked.header("last-event-id").is_none() => says.empty(405),
            _ => {
                events += 1;
                says.stream().body(format!("id: {events}\nretry: 0\ndata: {CHANGED}\n\n")).end();
            }
        });
        if !own_stream {
            let _ = web.echo();
        }
        web.pass(Duration::from_secs(60));
        let at = web.times("GET");
        assert!((45..70).contains(&at.len()), "{} streams in a minute", at.len());
        assert_eq!(at[0], Duration::ZERO, "the first one when the server wants it");
        assert!(at.windows(2).skip(5).all(|pair| pair[1].saturating_sub(pair[0]) >= Duration::from_secs(1)), "{at:?}");
    }
}

#[test]
fn a_stream_that_was_stable_is_reopened_at_once() {
    let mut events = 0;
    let mut web = open(move |_, says| {
        events += 1;
        says.stream().body(format!("id: {events}\nretry: 1\ndata: {CHANGED}\n\n"));
        // The tenth stream stays open.
        says.later(if events == 10 { Duration::from_secs(20) } else { Duration::ZERO }).end();
    });
    web.pass(Duration::from_secs(60));
    let at = web.times("GET");
    // The first stream was opened before `at` begins.
    let delay = |stream: usize| at[stream].saturating_sub(at[stream - 1]);
    assert!(delay(8) >= Duration::from_secs(1), "{at:?}");
    assert_eq!(delay(9), Duration::from_millis(20_001), "{at:?}");
    assert!(delay(10) < Duration::from_secs(1), "{at:?}");
}

/// Servers omit the blank line after the last event.
#[test]
fn the_last_event_of_a_stream_counts_without_its_blank_line() {
    for (data, after, is_read) in [
        ("data: ", "", true),
        ("data: ", "\n", true),
        ("data: ", "\nid: 7", true),
        ("event: message\ndata:", "\n", true),
        ("data: ", "\nevent: message", true),
        ("data: ", "\nevent: other", false),
        ("event: other\ndata: ", "\n", false),
        ("data: ", "\ndata: x", false),
        ("dat: ", "\n", false),
    ] {
        let mut web = without_listening(move |asked, says| {
            says.stream().body(format!("{data}{}{after}", asked.result(&web::said("fine")))).end();
        });
        let ticket = web.echo();
        let result = web.take(ticket).expect("it has ended");
        assert_eq!(result.is_ok(), is_read, "{data:?}, then {after:?}: {result:?}");
    }
}

// The stream on which legacy servers say what belongs to no request (2025-11-25, basic/transports, "Listening for Messages from
// the Server").

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The configuration of a client that can be asked for its roots.
fn with_roots() -> Config {
    let mut config = web::patient();
    web::answer_roots(&mut config);
    config
}

/// When a call was sent that a client made as soon as the connection was open, to a server that says this when it is asked for
/// its own stream.
fn call_sent_at(config: Config, own_stream: impl Fn(&mut Says) + 'static) -> Vec<Duration> {
    let mut web = Web::legacy_with(config, "2025-11-25", move |asked: &Asked, says| match asked.line().as_str() {
        "GET" => own_stream(says),
        _ => says.json(200, asked.result(&web::said("fine"))),
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(5));
    assert_eq!(web.text(ticket), "fine");
    web.times("POST tools/call")
}

#[test]
fn the_servers_own_stream_brings_what_belongs_to_no_request() {
    let mut web = Web::legacy("2025-11-25", |asked, says| {
        assert_eq!((asked.line().as_str(), asked.header("accept")), ("GET", Some("text/event-stream")));
        says.stream().event("").event(CHANGED);
    });
    assert!(web.last("GET").exchange.is_long);
    assert_eq!(web.happened(), [&Event::Connected, &Event::Notification(Notification::ToolsChanged)]);
    assert!(web.engine.is_idle(), "a stream that waits is nothing under way");
    assert_eq!(web.engine.poll_timeout(), None);
    web.pass(Duration::from_secs(3600));
    assert_eq!(web.lines().len(), 3);
}

#[test]
fn the_servers_own_stream_is_taken_up_where_it_was_lost() {
    let mut times = 0;
    let mut web = Web::legacy("2025-11-25", move |asked, says| {
        times += 1;
        assert_eq!(asked.header("last-event-id"), (times > 1).then(|| format!("e{}", times - 1)).as_deref());
        says.stream().body(format!("id: e{times}\nretry: 2000\ndata: {CHANGED}\n\n")).later(Duration::from_secs(1));
        if times % 2 == 0 {
            says.fail(FailureKind::Broken);
        } else {
            says.end();
        }
    });
    web.pass(Duration::from_secs(31));
    let at = [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30].map(Duration::from_secs);
    assert_eq!(web.times("GET"), at);
    assert_eq!(web.events.len(), 12);
}

#[test]
fn a_server_whose_stream_never_brings_anything_is_left_alone() {
    let mut web = Web::legacy("2025-11-25", |_, says| says.stream().end());
    web.pass(Duration::from_secs(24 * 3600));
    assert_eq!(web.times("GET").len(), 6);
    assert_eq!(web.engine.poll_timeout(), None);
}

#[test]
fn a_server_without_such_a_stream_is_asked_once() {
    for status in [405, 404, 400, 401, 200] {
        let mut web = Web::legacy("2025-11-25", move |asked, says| match asked.line().as_str() {
            "GET" => says.empty(status),
            _ => says.json(200, asked.result(&web::said("fine"))),
        });
        web.pass(Duration::from_secs(600));
        let ticket = web.echo();
        assert_eq!(web.text(ticket), "fine");
        assert_eq!(web.times("GET").len(), 1, "{status}");
        assert_eq!(web.engine.poll_timeout(), None);
    }
}

/// A client whose event stream ends after 1 s. The server then refuses the stream once, as `refuse` says.
fn refused_once(refuse: impl Fn(&mut Says) + 'static) -> Web {
    let mut times = 0;
    Web::legacy("2025-11-25", move |asked, says| {
        assert_eq!(asked.line(), "GET");
        times += 1;
        match times {
            1 => says.stream().event(CHANGED).later(Duration::from_secs(1)).end(),
            2 => refuse(says),
            _ => {
                says.stream().event(CHANGED);
            }
        }
    })
}

#[test]
fn a_reopened_stream_that_is_too_early_is_requested_again() {
    for status in [408, 429, 503] {
        let mut web = refused_once(move |says| says.empty(status));
        web.pass(Duration::from_secs(60));
        assert_eq!(web.times("GET").len(), 3, "{status}");
        assert_eq!(web.times("POST initialize").len(), 1, "{status}");
    }
}

#[test]
fn a_refused_stream_is_requested_again_when_the_server_says() {
    let mut web = refused_once(|says| says.head(429, &[("retry-after", "300")]).end());
    web.pass(Duration::from_secs(290));
    assert_eq!(web.times("GET").len(), 2);
    web.pass(Duration::from_secs(20));
    assert_eq!(web.times("GET").len(), 3);
}

#[test]
fn a_server_that_ends_each_session_is_initialized_once_a_minute() {
    let mut has_stream = false;
    let mut web = Web::legacy("2025-11-25", move |asked, says| {
        assert_eq!(asked.line(), "GET");
        has_stream = !has_stream;
        if has_stream {
            says.stream().event(CHANGED).end();
        } else {
            says.empty(404);
        }
    });
    web.pass(Duration::from_secs(600));
    let at = web.times("POST initialize");
    assert!(at.len() >= 9, "the client goes on: {at:?}");
    assert!(at[1..].windows(2).all(|pair| pair[1] >= pair[0] + Duration::from_secs(60)), "{at:?}");
}

#[test]
fn one_may_do_without() {
    let mut settings = Settings::new(URI).expect("an address");
    settings.listen = false;
    let mut web = Web::new(web::patient(), settings, web::legacy("2025-11-25", |asked, _| panic!("{}", asked.line())));
    web.open();
    assert_eq!(web.lines(), ["POST initialize", "POST notifications/initialized"]);
}

#[test]
fn a_call_waits_at_most_a_second_for_the_stream_on_which_the_client_can_be_asked() {
    type OwnStream = fn(&mut Says);
    let opened: OwnStream = |says| {
        says.later(300 * MS).stream();
    };
    let absent: OwnStream = |says| says.later(300 * MS).empty(405);
    let broken: OwnStream = |says| says.later(200 * MS).fail(FailureKind::Broken);
    for (name, config, own_stream, sent) in [
        ("a client that can be asked waits for the stream", with_roots(), opened, 300),
        ("a client that cannot be asked waits for no stream", web::patient(), opened, 0),
        ("a server has no such stream", with_roots(), absent, 300),
        ("the request for the stream fails", with_roots(), broken, 200),
        ("the head of the stream is held back", with_roots(), |_| {}, 1000),
    ] {
        assert_eq!(call_sent_at(config, own_stream), [sent * MS], "{name}");
    }
}

#[test]
fn what_a_call_makes_the_server_ask_on_its_own_stream_is_answered() {
    let mut is_listened_to = false;
    let mut web = Web::legacy_with(with_roots(), "2025-11-25", move |asked, says| match asked.line().as_str() {
        "GET" => {
            is_listened_to = true;
            says.later(100 * MS).stream();
        }
        "POST tools/call" => assert!(is_listened_to, "what it asks now is lost"),
        _ => says.empty(202),
    });
    let _ticket = web.echo();
    web.pass(100 * MS);
    let stream = web.last("GET").exchange.id;
    assert_eq!(web.last("POST tools/call").at, 100 * MS);
    web.say(stream, |says| {
        says.event(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    });
    web.pass(MS);
    assert!(matches!(web.happened().last(), Some(Event::ServerRequest(_))), "{:?}", web.events);
}
