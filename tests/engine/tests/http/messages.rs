//! What is sent to a server besides requests: a few messages at a time, the others in their turn.

use core::time::Duration;

use mcpwire_core::http::{ExchangeId, Settings};
use mcpwire_core::{ClientCapabilities, Config, Event, RequestOptions};
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};

const MS: Duration = Duration::from_millis(1);

/// A client of a legacy server whose own stream is open; the server leaves the other requests to `rest`.
fn open(config: Config, settings: Settings, mut rest: impl FnMut(&Asked, &mut Says) + 'static) -> (Web, ExchangeId) {
    let mut web = Web::new(
        config,
        settings,
        web::legacy("2025-11-25", move |asked, says| match asked.line().as_str() {
            "GET" => {
                says.stream();
            }
            "POST tools/call" => {
                says.json(200, asked.result(&web::said("fine")));
            }
            _ => rest(asked, says),
        }),
    );
    web.open();
    web.pass(MS);
    let stream = web.last("GET").exchange.id;
    web.asked.clear();
    web.events.clear();
    (web, stream)
}

fn settings() -> Settings {
    Settings::new(URI).expect("an address")
}

fn ping(web: &mut Web, stream: ExchangeId, ids: impl Iterator<Item = u32>) {
    let event = |id| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n\n");
    let events: String = ids.map(event).collect();
    web.say(stream, |says| {
        says.body(events);
    });
}

fn answered(web: &Web) -> Vec<u64> {
    web.asked.iter().filter(|asked| asked.line() == "POST").filter_map(|asked| asked.message["id"].as_u64()).collect()
}

#[test]
fn a_few_answers_are_under_way_at_a_time_and_all_go_out_in_order() {
    let (mut web, stream) = open(web::patient(), settings(), |_, says| {
        says.later(10 * MS).empty(202);
    });
    ping(&mut web, stream, 0..100);
    assert_eq!(answered(&web), [0, 1, 2, 3]);
    assert_eq!(web.engine.exchanges(), 5, "the stream and four answers");
    let ticket = web.echo();
    assert_eq!(web.text(ticket), "fine", "a call waits for no answer");
    web.pass(10 * MS);
    assert_eq!(answered(&web), (0..8).collect::<Vec<u64>>());
    web.pass(Duration::from_secs(1));
    assert_eq!(answered(&web), (0..100).collect::<Vec<u64>>());
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (1, None));
}

#[test]
fn all_of_twenty_thousand_pings_are_answered() {
    let (mut web, stream) = open(web::patient(), settings(), |_, says| {
        says.later(MS).empty(202);
    });
    ping(&mut web, stream, 0..20_000);
    let mut most = 0;
    while web.engine.exchanges() > 1 {
        most = most.max(web.engine.exchanges());
        web.pass(MS);
    }
    assert_eq!(most, 5);
    assert_eq!(answered(&web).len(), 20_000);
    assert_eq!(web.engine.session().stats().refused, 0);
}

#[test]
fn a_server_that_takes_no_answers_gets_none_beyond_the_limit() {
    let mut settings = settings();
    settings.max_queued_answers = 400;
    let mut config = web::patient();
    config.request_timeout = Duration::from_secs(30);
    let (mut web, stream) = open(config, settings, |_, _| {});
    // An answer has 37 or 38 bytes with the newline, and the last one may exceed the limit.
    ping(&mut web, stream, 0..1_000);
    assert_eq!(web.engine.session().stats().refused, 1_000 - 11);
    // In an array of messages, too.
    let batch: Vec<String> = (0..1_000).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).collect();
    web.say(stream, |says| {
        says.event(format!("[{}]", batch.join(",")));
    });
    assert_eq!(web.engine.session().stats().refused, 2_000 - 11 - 4, "four are under way, so four more may wait");
    // Those that nobody takes are given up, and the next ones are sent.
    web.events.clear();
    web.pass(Duration::from_secs(30));
    assert_eq!(answered(&web), (0..8).collect::<Vec<u64>>());
    assert_eq!(web.aborted.len(), 4);
    assert!(matches!(web.happened()[..], [Event::DeliveryFailed { method: None, .. }, ..]), "{:?}", web.events);
    web.pass(Duration::from_secs(120));
    assert_eq!((answered(&web).len(), web.engine.exchanges(), web.engine.poll_timeout()), (15, 1, None));
}

#[test]
fn an_endless_response_to_a_message_takes_no_place_for_ever() {
    let mut config = web::patient();
    config.request_timeout = Duration::from_secs(30);
    let (mut web, stream) = open(config, settings(), |_, says| {
        says.stream().event("x");
    });
    ping(&mut web, stream, 0..5);
    assert_eq!(answered(&web).len(), 4);
    web.pass(Duration::from_secs(600));
    assert_eq!(answered(&web).len(), 5);
    assert!(web.events.is_empty(), "they were accepted: {:?}", web.events);
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (1, None));
}

#[test]
fn a_request_is_cancelled_before_pings_are_answered() {
    let (mut web, stream) = open(web::patient(), settings(), |asked, says| {
        if asked.method() != "resources/list" {
            says.later(10 * MS).empty(202);
        }
    });
    let ticket = web.raw("resources/list", None).expect("it is open");
    web.drive();
    ping(&mut web, stream, 0..100);
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.engine.calls().notify_raw("notifications/x", None, web.now).expect("it is open");
    web.pass(10 * MS);
    let lines = web.lines();
    let at = lines.iter().position(|line| line == "POST notifications/cancelled").expect("the server is told");
    assert_eq!(lines[at..], ["POST notifications/cancelled", "POST notifications/x", "POST", "POST"]);
    assert_eq!(lines.len(), 9, "a call, four answers, and what came after: {lines:?}");
}

#[test]
fn a_request_that_was_never_sent_is_not_cancelled_in_words() {
    let mut config = web::patient();
    config.answer("roots/list");
    config.capabilities = ClientCapabilities::default().with_roots(false);
    // The stream's head is held back, so that calls wait.
    let mut web = Web::opening(
        config,
        web::legacy("2025-11-25", |asked, says| {
            if asked.line() != "GET" {
                says.json(200, asked.result(&web::said("fine")));
            }
        }),
    );
    let ticket = web.echo();
    let other = web.echo();
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.pass(Duration::from_secs(2));
    assert_eq!(web.text(other), "fine");
    assert_eq!(web.lines()[2..], ["GET", "POST tools/call"]);
}

#[test]
fn notifications_that_wait_count_as_unsent() {
    let mut config = web::patient();
    config.max_transmit = 1_000;
    let (mut web, _) = open(config, settings(), |_, _| {});
    let mut sent = 0;
    while web.engine.calls().notify_raw("notifications/x", None, web.now).is_ok() {
        web.drive();
        sent += 1;
        assert!(sent < 100, "notifications without a bound");
    }
    assert_eq!(web.engine.exchanges(), 5);
    assert!(web.call("echo", "{}", &RequestOptions::new()).is_err());
}
