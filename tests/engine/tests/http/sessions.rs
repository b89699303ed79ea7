//! Sessions of legacy servers: kept, renewed when the server has forgotten them, and ended (2025-11-25, basic/transports,
//! "Session Management").

use core::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use mcpwire_core::http::{Command, FailureKind, HttpError, Verb};
use mcpwire_core::{CallError, ClientCapabilities, Config, Event, Json, Negotiate, RequestOptions};
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{self, Asked, Says, Web};

/// The result of `initialize`.
const OPENED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;

const OPENING: [&str; 3] = ["POST initialize", "POST notifications/initialized", "GET"];

fn legacy() -> Config {
    configured(|config| config.negotiate = Negotiate::Legacy)
}

/// A server that knows only its latest session; `forget` makes it forget that, too.
fn forgetful(rest: fn(&Asked, &mut Says)) -> (Web, Rc<Cell<bool>>) {
    let forget = Rc::new(Cell::new(false));
    let forgotten = Rc::clone(&forget);
    let mut sessions = 0;
    let web = Web::opening(legacy(), move |asked, says| {
        let known = format!("s{sessions}");
        match asked.line().as_str() {
            "POST initialize" => {
                assert_eq!(asked.header("mcp-session-id"), None);
                sessions += 1;
                forgotten.set(false);
                says.session(&format!("s{sessions}"), asked.result(OPENED));
            }
            "GET" if asked.header("last-event-id").is_none() => says.empty(405),
            _ if forgotten.get() || asked.header("mcp-session-id") != Some(&known) => {
                says.json(404, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#);
            }
            "POST notifications/initialized" | "DELETE" => says.empty(202),
            _ => rest(asked, says),
        }
    });
    (web, forget)
}

fn fine(asked: &Asked, says: &mut Says) {
    says.json(200, asked.result(&web::said("fine")));
}

#[test]
fn a_session_that_the_server_has_forgotten_is_renewed_once() {
    let (mut web, forget) = forgetful(fine);
    let _ = web.echo();
    forget.set(true);
    let tickets: Vec<_> = (0..3).map(|_| web.call("echo", "{}", &RequestOptions::new()).expect("it is open")).collect();
    web.drive();
    for ticket in tickets {
        assert_eq!(web.text(ticket), "fine");
    }
    let mut expected = OPENING.to_vec();
    expected.extend(["POST tools/call"; 4]);
    expected.extend(OPENING);
    expected.extend(["POST tools/call"; 3]);
    assert_eq!(web.lines(), expected);
    assert_eq!(web.last("POST tools/call").header("mcp-session-id"), Some("s2"));
    assert_eq!(web.happened(), [&Event::Connected, &Event::SessionReestablished]);
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn requests_wait_while_the_session_is_renewed() {
    let (mut web, forget) = forgetful(fine);
    forget.set(true);
    let first = web.call("echo", "{}", &RequestOptions::new()).expect("it is open");
    let command = web.engine.poll_exchange(web.now).expect("it is sent");
    let Command::Start(exchange) = command else { panic!() };
    web.engine.response(exchange.id, 404, [], web.now);
    web.engine.ended(exchange.id, web.now);
    assert_eq!(web.engine.poll_event(), None);
    let second = web.call("echo", "{}", &RequestOptions::new()).expect("it is open");
    web.drive();
    assert_eq!((web.text(first), web.text(second)), ("fine".into(), "fine".into()));
    assert_eq!(
        web.lines()[3..],
        ["POST initialize", "POST notifications/initialized", "GET", "POST tools/call", "POST tools/call"]
    );
}

#[test]
fn a_server_that_forgets_every_session_is_not_asked_for_ever() {
    let (mut web, _) = forgetful(|_, says| says.empty(404));
    for round in 1..3 {
        let before = web.lines().len();
        let ticket = web.echo();
        let HttpError::Status { status: 404, .. } = web.http_error(ticket) else { panic!() };
        let calls = web.lines()[before..].iter().filter(|line| *line == "POST tools/call").count();
        assert_eq!(calls, 2, "round {round}");
    }
}

#[test]
fn what_may_have_been_carried_out_is_not_sent_again_unless_the_caller_says_so() {
    for repeatable in [false, true] {
        let (mut web, forget) = forgetful(|asked, says| {
            if asked.header("mcp-session-id") == Some("s1") {
                says.stream().body("id: 1\nretry: 100\ndata: \n\n").later(Duration::from_millis(10)).end();
            } else {
                fine(asked, says);
            }
        });
        let mut options = RequestOptions::new();
        options.repeatable = repeatable;
        let ticket = web.call("echo", "{}", &options).expect("it is open");
        web.drive();
        forget.set(true);
        web.pass(Duration::from_secs(1));
        if repeatable {
            assert_eq!(web.text(ticket), "fine");
        } else {
            assert_eq!(web.http_error(ticket), HttpError::SessionLost);
        }
        // Either way there is a session again.
        let ticket = web.echo();
        assert_eq!(web.text(ticket), "fine");
        assert_eq!(web.last("POST tools/call").header("mcp-session-id"), Some("s2"));
    }
}

#[test]
fn a_tool_that_may_be_called_twice_is_called_again() {
    let (mut web, forget) = forgetful(|asked, says| match asked.method() {
        "tools/list" => {
            says.json(
                200,
                asked.result(r#"{"tools":[{"name":"echo","annotations":{"idempotentHint":true}},{"name":"other"}]}"#),
            );
        }
        _ if asked.header("mcp-session-id") == Some("s1") => says.stream().body("id: 1\nretry: 100\ndata: \n\n").end(),
        _ => fine(asked, says),
    });
    web.raw("tools/list", None).map(drop).expect("it is open");
    web.drive();
    let echo = web.call("echo", "{}", &RequestOptions::new()).expect("it is open");
    let other = web.call("other", "{}", &RequestOptions::new()).expect("it is open");
    web.drive();
    forget.set(true);
    web.pass(Duration::from_secs(1));
    assert_eq!(web.text(echo), "fine");
    assert_eq!(web.http_error(other), HttpError::SessionLost);
}

#[test]
fn a_session_that_cannot_be_renewed_fails_what_waits_and_the_next_call_tries_again() {
    let down = Rc::new(Cell::new(false));
    let is_down = Rc::clone(&down);
    let mut legacy_server = web::legacy("2025-11-25", move |asked, says| match asked.line().as_str() {
        "GET" => says.empty(405),
        _ if asked.header("mcp-session-id") == Some("s1") => says.empty(404),
        _ => fine(asked, says),
    });
    let mut web = Web::opening(legacy(), move |asked, says| {
        if is_down.get() && asked.method() == "initialize" {
            says.fail(FailureKind::Unreachable);
        } else {
            legacy_server(asked, says);
        }
    });
    down.set(true);
    let ticket = web.echo();
    assert!(matches!(web.http_error(ticket), HttpError::Failed(failure) if failure.kind == FailureKind::Unreachable));
    let ticket = web.echo();
    assert!(matches!(web.http_error(ticket), HttpError::Failed(_)));
    down.set(false);
    let ticket = web.echo();
    assert_eq!(web.text(ticket), "fine");
    assert_eq!(web.last("POST tools/call").header("mcp-session-id"), Some("s2"));
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn a_renewal_without_an_end_is_given_up() {
    let mut first = true;
    let mut legacy_server = web::legacy("2025-11-25", |_, says| says.empty(404));
    let mut config = legacy();
    config.request_timeout = Duration::from_secs(300);
    let mut web = Web::opening(config, move |asked, says| {
        if asked.method() != "initialize" || core::mem::take(&mut first) {
            legacy_server(asked, says);
        }
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(60));
    assert_eq!(web.ended_at(ticket), Some(Duration::from_secs(60)));
    assert!(matches!(web.http_error(ticket), HttpError::Failed(_)));
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

/// Opens a session with a server that answers no call of it, and refuses the call after [`forget`] so that it is renewed. The
/// answer to the second `initialize` comes after five seconds.
fn renewed_slowly() -> (Web, Rc<Cell<bool>>) {
    let forget = Rc::new(Cell::new(false));
    let is_forgotten = Rc::clone(&forget);
    let mut sessions = 0;
    let web = Web::opening(legacy(), move |asked, says| match asked.line().as_str() {
        "POST initialize" => {
            sessions += 1;
            is_forgotten.set(false);
            says.later(Duration::from_secs(if sessions == 1 { 0 } else { 5 }));
            says.session(&format!("s{sessions}"), asked.result(OPENED));
        }
        "GET" => says.empty(405),
        "POST tools/call" if is_forgotten.get() => says.empty(404),
        "POST tools/call" => {}
        _ => says.empty(202),
    });
    (web, forget)
}

#[test]
fn a_request_that_ends_during_a_renewal_is_not_cancelled_in_the_new_session() {
    for by_timeout in [false, true] {
        for was_refused in [false, true] {
            let (mut web, forget) = renewed_slowly();
            let mut options = RequestOptions::new();
            options.timeout = Some(Duration::from_secs(2));
            let first = web.call("echo", "{}", &options).expect("it is open");
            if !was_refused {
                // The first call stays on its way; the session is lost by a second one.
                web.drive();
            }
            forget.set(true);
            let other = (!was_refused).then(|| web.call("echo", "{}", &RequestOptions::new()).expect("it is open"));
            web.drive();
            if by_timeout {
                web.pass(Duration::from_secs(3));
            } else {
                assert!(web.engine.calls().cancel(first.key(), None, web.now));
            }
            web.pass(Duration::from_secs(6));
            let error = web.error(first);
            assert_eq!(matches!(error, CallError::Timeout { .. }), by_timeout, "{error:?}");
            assert_eq!(web.last("POST initialize").header("mcp-session-id"), None);
            assert!(!web.lines().iter().any(|line| line == "POST notifications/cancelled"), "{:?}", web.lines());
            // A request that was sent in the new session is cancelled there.
            let Some(other) = other else { continue };
            assert!(web.engine.calls().cancel(other.key(), None, web.now));
            web.drive();
            assert_eq!(web.last("POST notifications/cancelled").header("mcp-session-id"), Some("s2"));
        }
    }
}

#[test]
fn what_a_method_lacks_is_no_lost_session() {
    let (mut web, _) = forgetful(|asked, says| {
        says.json(404, asked.response(r#""error":{"code":-32601,"message":"Method not found"}"#));
    });
    let ticket = web.echo();
    assert!(matches!(web.error(ticket), CallError::Server { error, .. } if error.code == -32601));
    assert_eq!(web.lines().len(), 4);
}

#[test]
fn the_end_is_told_and_not_waited_for() {
    let (mut web, _) = forgetful(|_, _| {});
    let ticket = web.echo();
    web.engine.close();
    assert_eq!(web.engine.poll_timeout(), None);
    web.drive();
    assert!(matches!(web.error(ticket), CallError::Closed { .. }));
    assert_eq!(web.lines()[3..], ["POST tools/call", "DELETE"]);
    assert_eq!(web.aborted.len(), 1);
    assert_eq!(web.engine.exchanges(), 0);
}

#[test]
fn what_is_being_told_is_told_before_the_end() {
    let (mut web, _) = forgetful(|_, _| {});
    let ticket = web.echo();
    web.drive();
    let now = web.now;
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    let mut told = None;
    while let Some(command) = web.engine.poll_exchange(now) {
        if let Command::Start(exchange) = command {
            assert!(String::from_utf8_lossy(&exchange.body).contains("notifications/cancelled"));
            told = Some(exchange.id);
        }
    }
    let told = told.expect("the server is told");
    web.engine.close();
    assert!(web.engine.poll_exchange(now).is_none(), "it is on its way still");
    assert_eq!(web.engine.exchanges(), 1);
    web.engine.response(told, 202, [], now);
    web.engine.ended(told, now);
    let Some(Command::Start(end)) = web.engine.poll_exchange(now) else { panic!("the session is ended") };
    assert_eq!(end.verb, Verb::Delete);
    web.engine.response(end.id, 204, [], now);
    web.engine.ended(end.id, now);
    assert_eq!(web.engine.exchanges(), 0);
}

#[test]
fn a_cancellation_just_before_the_end_is_told() {
    let (mut web, _) = forgetful(|asked, says| {
        if asked.line() == "POST notifications/cancelled" {
            says.empty(202);
        }
    });
    let ticket = web.echo();
    web.drive();
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.engine.close();
    web.drive();
    assert_eq!(web.lines()[3..], ["POST tools/call", "POST notifications/cancelled", "DELETE"]);
    assert_eq!(web.engine.exchanges(), 0);
}

#[test]
fn answers_and_notifications_are_posted_and_what_is_not_taken_is_told() {
    let mut config = legacy();
    config.answer("elicitation/create");
    config.capabilities = ClientCapabilities::default().with_elicitation(true, false);
    let mut web = Web::legacy_with(config, "2025-11-25", |asked, says| match asked.line().as_str() {
        "GET" => {
            says.stream()
                    .event(r#"{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#);
        }
        "POST" => says.empty(202),
        _ => says.head(503, &[("content-type", "text/plain")]).body("busy").end(),
    });
    let asks: Vec<_> = web
        .happened()
        .into_iter()
        .filter_map(|event| if let Event::ServerRequest(ask) = event { Some(ask.key) } else { None })
        .collect();
    let [key] = asks[..] else { panic!("{:?}", web.events) };
    let now = web.now;
    assert_eq!(web.engine.calls().answer(key, &Json::parse(r#"{"action":"accept"}"#).expect("JSON"), now), Ok(true));
    web.drive();
    let answer = web.last("POST");
    assert_eq!(answer.message, serde_json::json!({"jsonrpc": "2.0", "id": "e1", "result": {"action": "accept"}}));
    assert_eq!(answer.header("mcp-session-id"), Some("s1"));
    web.events.clear();
    web.engine.calls().notify_raw("notifications/x", None, web.now).expect("it is open");
    web.drive();
    let [Event::DeliveryFailed { method: Some(method), error }] = web.happened()[..] else {
        panic!("{:?}", web.events)
    };
    assert_eq!((method.as_str(), error.status()), ("notifications/x", Some(503)));
}

/// The number of sessions that were opened within an hour with a server that refuses these messages as of no session, and asks on
/// each stream of its own.
fn sessions_opened(refused: &'static str, calls: usize) -> usize {
    let mut sessions = 0;
    let mut web = Web::opening(legacy(), move |asked, says| match asked.line().as_str() {
        line if line == refused => says.empty(404),
        "POST initialize" => {
            sessions += 1;
            says.session(&format!("s{sessions}"), asked.result(OPENED));
        }
        "GET" => {
            says.stream().event(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        }
        "POST tools/call" => fine(asked, says),
        _ => says.empty(202),
    });
    for _ in 0..calls {
        let ticket = web.call("echo", "{}", &RequestOptions::new()).expect("it is open");
        web.pass(Duration::from_secs(3600));
        assert!(web.take(ticket).is_some(), "each call ends");
    }
    web.pass(Duration::from_secs(3600));
    web.times("POST initialize").len()
}

#[test]
fn a_server_that_refuses_every_session_is_not_initialized_without_end() {
    assert_eq!(sessions_opened("POST notifications/initialized", 0), 2);
    assert!(sessions_opened("POST notifications/initialized", 5) <= 2 + 2 * 5);
    assert_eq!(sessions_opened("POST", 0), 2);
    assert!(sessions_opened("POST", 5) <= 2 + 2 * 5);
}

#[test]
fn a_response_that_opens_no_new_session_is_told_as_what_it_is() {
    let cases = [
        (r#""result":{"protocolVersion":"2025-06-18","capabilities":{}}"#, "another version"),
        (r#""error":{"code":-32000,"message":"no more sessions"}"#, "no more sessions"),
        (r#""result":[]"#, "initialize"),
    ];
    for (response, told) in cases {
        let mut opened = 0;
        let mut web = Web::opening(legacy(), move |asked, says| match asked.line().as_str() {
            "POST initialize" => {
                opened += 1;
                let text = if opened == 1 { asked.result(OPENED) } else { asked.response(response) };
                says.session(&opened.to_string(), text);
            }
            "POST tools/call" => says.json(404, "gone"),
            _ => says.empty(202),
        });
        let ticket = web.echo();
        let error = web.http_error(ticket);
        let HttpError::NotRenewed { reason } = &error else { panic!("{response}: {error:?}") };
        assert!(reason.contains(told), "{reason}");
        assert_eq!(error.status(), None);
    }
}
