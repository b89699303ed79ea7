//! The messages of a connection as requests of HTTP: their order, cancelled requests, and a login that has changed.

use std::time::Duration;

use mcpwire_core::http::{Command, ExchangeId, Settings};
use mcpwire_core::{CallError, Config, Event, ListParams, ListTools, Negotiate, RequestOptions, Ticket};
use mcpwire_engine_tests::allocated;
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};

// What is sent to a server besides requests: a few messages at a time, the others in their turn.

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
            "POST tools/call" => says.json(200, asked.result(&web::said("fine"))),
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
    let (mut web, stream) = open(web::patient(), settings(), |_, says| says.later(10 * MS).empty(202));
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
    let (mut web, stream) = open(web::patient(), settings(), |_, says| says.later(MS).empty(202));
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
    web::answer_roots(&mut config);
    // The stream's head is held back, so that calls wait.
    let mut web = Web::legacy_with(config, "2025-11-25", |asked, says| {
        if asked.line() != "GET" {
            says.json(200, asked.result(&web::said("fine")));
        }
    });
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

// Giving up: modern servers are told by the end of the exchange, legacy ones in words.

fn legacy() -> Web {
    Web::ready(
        configured(|config| config.negotiate = Negotiate::Legacy),
        web::legacy("2025-11-25", |asked, says| match asked.line().as_str() {
            "GET" => says.empty(405),
            "POST notifications/cancelled" => says.empty(202),
            _ => {}
        }),
    )
}

#[test]
fn a_modern_exchange_is_closed_and_nothing_is_said() {
    for by_timeout in [false, true] {
        let mut web = Web::modern(|_, says| {
            says.stream().event("").later(Duration::from_secs(100)).event("{}");
        });
        let ticket = web.echo();
        if !by_timeout {
            assert!(web.engine.calls().cancel(ticket.key(), Some("enough"), web.now));
            assert!(!web.engine.calls().cancel(ticket.key(), None, web.now));
        }
        web.pass(Duration::from_secs(200));
        let error = web.error(ticket);
        assert_eq!(matches!(error, CallError::Timeout { .. }), by_timeout, "{error:?}");
        assert_eq!(web.lines(), ["POST tools/call"]);
        let at = if by_timeout { Duration::from_secs(30) } else { Duration::ZERO };
        assert_eq!(web.aborted, [(at, web.asked[0].exchange.id)]);
        assert!(web.events.is_empty(), "what came later is ignored");
        assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
    }
}

/// The task is given up while the server keeps the request about it waiting.
#[test]
fn the_exchange_about_a_task_is_closed_with_its_call() {
    let created = r#"{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":2000}"#;
    let server = web::modern(move |asked, says| match asked.method() {
        "tools/call" => says.json(200, asked.result(created)),
        "tasks/get" => {
            says.stream().event("");
        }
        _ => says.json(200, asked.result(r#"{"resultType":"complete"}"#)),
    });
    let mut web = Web::ready(configured(Config::declare_tasks), server);
    let ticket = web.echo();
    web.pass(Duration::from_secs(3));
    assert_eq!(web.lines(), ["POST tools/call", "POST tasks/get"]);
    let about_the_task = web.last("POST tasks/get").exchange.id;
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.pass(Duration::from_secs(3));
    assert!(matches!(web.error(ticket), CallError::Cancelled { .. }));
    assert_eq!(web.lines(), ["POST tools/call", "POST tasks/get", "POST tasks/cancel"]);
    assert_eq!(web.aborted, [(Duration::from_secs(3), about_the_task)]);
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn a_legacy_server_is_told_in_words() {
    for by_timeout in [false, true] {
        let mut web = legacy();
        let ticket = web.echo();
        if !by_timeout {
            assert!(web.engine.calls().cancel(ticket.key(), Some("enough"), web.now));
        }
        web.pass(Duration::from_secs(30));
        assert!(web.take(ticket).is_some());
        assert_eq!(web.lines(), ["POST tools/call", "POST notifications/cancelled"]);
        assert_eq!(web.asked[1].message["params"]["requestId"], web.asked[0].message["id"]);
        assert_eq!(web.aborted.len(), 1);
        assert_eq!(web.engine.exchanges(), 0);
    }
}

#[test]
fn what_was_never_sent_is_not_taken_back() {
    for mut web in [legacy(), Web::modern(|_, _| {})] {
        let ticket = web.call("echo", "{}", &RequestOptions::new()).expect("it is open");
        assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
        web.drive();
        assert!(matches!(web.error(ticket), CallError::Cancelled { .. }));
        assert!(web.asked.is_empty() && web.aborted.is_empty());
        assert!(web.engine.is_idle());
    }
}

#[test]
fn one_of_many_is_given_up_alone() {
    let mut web = Web::modern(|_, _| {});
    let tickets: Vec<_> =
        (0..10).map(|_| web.call("echo", "{}", &RequestOptions::new()).expect("it is open")).collect();
    web.drive();
    assert!(web.engine.calls().cancel(tickets[4].key(), None, web.now));
    web.drive();
    assert_eq!(web.aborted, [(Duration::ZERO, web.asked[4].exchange.id)]);
    assert_eq!((web.engine.exchanges(), web.engine.session().in_flight()), (9, 9));
    web.engine.close();
    let mut aborted = 0;
    while let Some(command) = web.engine.poll_exchange(web.now) {
        assert!(matches!(command, Command::Abort(_)));
        aborted += 1;
    }
    assert_eq!((aborted, web.engine.exchanges()), (9, 0));
}

#[test]
fn a_stream_of_news_lives_on() {
    let mut config = Config::default();
    config.request_timeout = Duration::from_secs(1_000_000);
    config.total_timeout = Duration::from_secs(1_000_000);
    let mut web = Web::modern_with(config, |_, says| {
        says.stream();
        for _ in 0..100 {
            says.later(Duration::from_secs(1000)).body(":\r\n");
            says.event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        }
    });
    let ticket =
        web.raw("subscriptions/listen", Some(r#"{"notifications":{"toolsListChanged":true}}"#)).expect("it is open");
    web.drive();
    assert!(web.asked[0].exchange.is_long);
    web.pass(Duration::from_secs(100_000));
    assert_eq!((web.events.len(), web.engine.exchanges()), (100, 1));
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.drive();
    assert_eq!((web.aborted.len(), web.engine.exchanges()), (1, 0));
}

// The engine is told that later requests have another authorization: it forgets what was private.
// (2026-07-28, server/utilities/caching, "Cache Scope Field")

/// A server that counts its lists. It answers to each after a second, if it is slow.
fn counting(scope: &'static str, is_slow: bool) -> impl FnMut(&Asked, &mut Says) + 'static {
    let mut count = 0;
    move |asked, says| {
        if asked.method() != "tools/list" {
            says.json(200, asked.result(&web::said("hi")));
            return;
        }
        count += 1;
        let tools = format!(r#"[{{"name":"{count}","inputSchema":{{}}}}]"#);
        let result = format!(r#"{{"tools":{tools},"ttlMs":60000,"cacheScope":"{scope}","resultType":"complete"}}"#);
        if is_slow {
            says.later(Duration::from_secs(1));
        }
        says.json(200, asked.result(&result));
    }
}

fn begin(web: &mut Web, options: &RequestOptions) -> Ticket<ListTools> {
    let ticket = web.engine.calls().request(&ListParams::default(), options, web.now).expect("it is sent");
    web.drive();
    ticket
}

fn end(web: &mut Web, ticket: Ticket<ListTools>) -> String {
    let page = web.take(ticket).expect("it has ended").expect("it went well");
    page.tools.items[0].name.clone()
}

fn list(web: &mut Web) -> String {
    let ticket = begin(web, &RequestOptions::new());
    end(web, ticket)
}

fn changes(web: &Web) -> usize {
    web.events.iter().filter(|(_, event)| *event == Event::AuthorizationChanged).count()
}

#[test]
fn private_answers_are_forgotten_and_public_ones_stay() {
    for (scope, then) in [("private", "2"), ("none of both", "2"), ("public", "1")] {
        let mut web = Web::modern(counting(scope, false));
        assert_eq!([list(&mut web), list(&mut web)], ["1", "1"], "{scope}");
        web.engine.authorization_changed();
        web.drive();
        assert_eq!(changes(&web), 1, "{scope}");
        assert_eq!([list(&mut web), list(&mut web)], [then, then], "{scope}");
    }
}

#[test]
fn an_answer_to_a_request_with_the_old_authorization_is_not_kept() {
    let mut web = Web::modern(counting("private", true));
    let ticket = begin(&mut web, &RequestOptions::new());
    web.engine.authorization_changed();
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "1", "the caller gets it");
    let ticket = begin(&mut web, &RequestOptions::new());
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "2", "the next caller does not");
    assert_eq!(list(&mut web), "2");
}

#[test]
fn an_answer_to_a_request_in_the_queue_is_not_kept() {
    let mut web = Web::modern(counting("private", false));
    let ticket = begin_only(&mut web);
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(end(&mut web, ticket), "1");
    assert_eq!(list(&mut web), "2");
}

#[test]
fn an_old_private_answer_is_no_better_than_an_error() {
    let mut answers = counting("private", false);
    let mut lists = 0;
    let mut web = Web::modern(move |asked, says| {
        lists += usize::from(asked.method() == "tools/list");
        if lists == 2 {
            says.empty(500);
        } else {
            answers(asked, says);
        }
    });
    assert_eq!(list(&mut web), "1");
    web.engine.authorization_changed();
    let ticket = begin(&mut web, &RequestOptions::new().stale_if_error());
    web.take(ticket).expect("it has ended").expect_err("the list of somebody else is no answer");
}

#[test]
fn the_event_is_for_open_connections_only() {
    let mut web = Web::opening(Config::default(), |_, _| {});
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 0);
    let mut web = Web::ready(Config::default(), web::legacy("2025-11-25", counting("private", false)));
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 1, "also with legacy servers, whose lists may depend on the user, too");
    web.engine.close();
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 1);
}

/// A server that wants the argument `region` of the tool `echo` in a header.
fn with_header(asked: &Asked, says: &mut Says) {
    let tools = r#"{"tools":[{"name":"echo","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}"#;
    let result = if asked.method() == "tools/list" { tools.to_owned() } else { web::said("hi") };
    says.json(200, asked.result(&result));
}

#[test]
fn headers_for_parameters_of_the_old_tools_are_no_longer_sent() {
    let mut web = Web::modern(with_header);
    let region = |web: &mut Web| {
        let call = web.call("echo", r#"{"region":"north"}"#, &RequestOptions::new()).expect("it is sent");
        web.drive();
        web.text(call);
        web.last("POST tools/call").header("Mcp-Param-Region").map(str::to_owned)
    };
    list(&mut web);
    assert_eq!(region(&mut web).as_deref(), Some("north"));
    web.engine.authorization_changed();
    assert_eq!(region(&mut web), None);
    list(&mut web);
    assert_eq!(region(&mut web).as_deref(), Some("north"));
}

#[test]
fn a_list_that_arrives_after_the_change_tells_nothing_about_headers() {
    let mut web = Web::modern(|asked, says| {
        if asked.method() == "tools/list" {
            says.later(Duration::from_secs(1));
        }
        with_header(asked, says);
    });
    let ticket = begin(&mut web, &RequestOptions::new());
    web.engine.authorization_changed();
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "echo");
    let call = web.call("echo", r#"{"region":"north"}"#, &RequestOptions::new()).expect("it is sent");
    web.drive();
    web.text(call);
    assert_eq!(web.last("POST tools/call").header("Mcp-Param-Region"), None);
}

/// Sends a request that stays in the queue.
fn begin_only(web: &mut Web) -> Ticket<ListTools> {
    web.engine.calls().request(&ListParams::default(), &RequestOptions::new(), web.now).expect("it is sent")
}

#[test]
fn an_idle_connection_frees_the_memory_of_its_requests() {
    let held_after = |requests: usize| {
        let mut web = Web::modern(|_, _| {});
        let options = RequestOptions::new().timeout(Duration::from_secs(1));
        for _ in 0..requests {
            let _ticket = web.call("echo", "{}", &options).expect("it is open");
        }
        // All of them time out at once.
        web.pass(Duration::from_secs(2));
        assert_eq!(web.aborted.len(), requests);
        web.engine.shrink();
        -allocated(|| drop(web.engine)).1.held
    };
    let (unused, used) = (held_after(0), held_after(200));
    assert!((1..=unused + 512).contains(&used), "{used} bytes, {unused} without requests");
}
