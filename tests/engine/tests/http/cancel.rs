//! Giving up: modern servers are told by the end of the exchange, legacy ones in words.

use core::time::Duration;

use mcpwire_core::http::Command;
use mcpwire_core::{CallError, Config, Negotiate, RequestOptions};
use mcpwire_engine_tests::sim::web::{self, Web};

fn legacy() -> Web {
    let mut config = Config::default();
    config.negotiate = Negotiate::Legacy;
    Web::ready(
        config,
        web::legacy("2025-11-25", |asked, says| match asked.line().as_str() {
            "GET" => {
                says.empty(405);
            }
            "POST notifications/cancelled" => {
                says.empty(202);
            }
            _ => {}
        }),
    )
}

#[test]
fn a_modern_exchange_is_closed_and_nothing_is_said() {
    for by_timeout in [false, true] {
        let mut web = Web::ready(
            Config::default(),
            web::modern(|_, says| {
                says.stream().event("").later(Duration::from_secs(100)).event("{}");
            }),
        );
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
    let mut config = Config::default();
    config.declare_tasks();
    let server = web::modern(move |asked, says| match asked.method() {
        "tools/call" => {
            says.json(200, asked.result(created));
        }
        "tasks/get" => {
            says.stream().event("");
        }
        _ => {
            says.json(200, asked.result(r#"{"resultType":"complete"}"#));
        }
    });
    let mut web = Web::ready(config, server);
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
    for mut web in [legacy(), Web::ready(Config::default(), web::modern(|_, _| {}))] {
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
    let mut web = Web::ready(Config::default(), web::modern(|_, _| {}));
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
    let mut web = Web::ready(
        config,
        web::modern(|_, says| {
            says.stream();
            for _ in 0..100 {
                says.later(Duration::from_secs(1000)).body(":\r\n");
                says.event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            }
        }),
    );
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
