//! How a connection over HTTP opens, in either era and over the transport of 2024-11-05.

use std::time::Duration;

use mcpwire_core::http::{ExchangeId, FailureKind, Flavour, HttpError, Settings};
use mcpwire_core::{
    CallError, CloseReason, Config, ConnectError, Era, Event, Negotiate, Notification, Phase, ProtocolVersion,
    RequestOptions,
};
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};

// Which way a server is spoken to is found out in the order that the specification gives (2026-07-28,
// basic/transports/streamable-http, "Backward Compatibility").

const DISCOVER: &str = "POST server/discover";
const INITIALIZE: &str = "POST initialize";
const INITIALIZED: &str = "POST notifications/initialized";

fn why(web: &Web) -> &ConnectError {
    let [Event::Closed(CloseReason::NotOpened(error))] = web.happened()[..] else { panic!("{:?}", web.events) };
    error
}

/// A legacy server that answers the probe in its own way.
fn legacy_with(probe: impl Fn(&Asked, &mut Says) + 'static) -> Web {
    let mut legacy = web::legacy("2025-11-25", |asked, says| match asked.line().as_str() {
        "GET" => says.empty(405),
        other => panic!("{other}"),
    });
    Web::opening(Config::default(), move |asked, says| match asked.method() {
        "server/discover" => probe(asked, says),
        _ => legacy(asked, says),
    })
}

#[test]
fn a_modern_server_is_asked_once() {
    let web = Web::opening(Config::default(), web::modern(|asked, _| panic!("{}", asked.line())));
    assert_eq!(web.lines(), [DISCOVER]);
    assert_eq!(web.happened(), [&Event::Connected]);
    assert_eq!(web.engine.session().server().expect("it is open").era, Era::Modern);
    assert_eq!(web.engine.flavour(), Some(Flavour::Streamable));
    assert_eq!(web.engine.exchanges(), 0);
    assert_eq!(web.engine.poll_timeout(), None);
    assert!(web.engine.is_idle());
}

#[test]
fn a_legacy_server_refuses_the_probe_in_many_ways() {
    let ways: [fn(&Asked, &mut Says); 16] = [
        // What the mocks of the conformance suite do: an error within a stream, and one without an id.
        |asked, says| {
            says.stream().event(asked.response(r#""error":{"code":-32601,"message":"Method not found"}"#)).end();
        },
        |_, says| says.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#),
        |_, says| {
            says.json(400, r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request"}}"#);
        },
        |asked, says| says.json(404, asked.response(r#""error":{"code":-32601,"message":"Method not found"}"#)),
        |asked, says| says.json(200, asked.result("{}")),
        |asked, says| says.json(200, asked.response(r#""error":{"code":-32600,"message":"Not initialized"}"#)),
        |_, says| says.empty(400),
        |_, says| says.empty(404),
        |_, says| says.empty(406),
        |_, says| says.empty(500),
        |_, says| says.empty(202),
        |_, says| says.head(400, &[("content-type", "text/html")]).body("<html>no</html>").end(),
        |_, says| says.head(200, &[("content-type", "text/html")]).body("<html>no</html>").end(),
        |_, says| says.json(422, r#"{"error":"no session"}"#),
        |_, says| says.stream().end(),
        |_, says| says.fail(FailureKind::Broken),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let web = legacy_with(way);
        assert_eq!(web.lines(), [DISCOVER, INITIALIZE, INITIALIZED, "GET"], "way {number}");
        assert_eq!(web.happened(), [&Event::Connected], "way {number}");
        assert_eq!(web.engine.session().server().expect("it is open").protocol_version, ProtocolVersion::V2025_11_25);
        assert_eq!(web.engine.exchanges(), 0);
        assert_eq!(web.engine.poll_timeout(), None, "way {number}");
    }
}

#[test]
fn a_version_that_was_just_refused_is_tried_again_if_the_server_names_it() {
    let mut asked_before = 0;
    let web = Web::opening(Config::default(), move |asked, says| {
        asked_before += 1;
        if asked_before == 1 {
            let error = r#""error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}"#;
            says.json(400, asked.response(error));
        } else {
            says.json(200, asked.result(r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#));
        }
    });
    assert_eq!(web.lines(), [DISCOVER, DISCOVER]);
    assert_eq!(web.engine.session().phase(), Phase::Ready);
    assert_ne!(web.asked[0].message["id"], web.asked[1].message["id"]);
    for asked in &web.asked {
        assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
    }
}

#[test]
fn a_server_that_refuses_what_it_names_is_not_asked_for_ever() {
    let web = Web::opening(Config::default(), |asked, says| {
        let error = r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#;
        says.json(400, asked.response(error));
    });
    assert_eq!(web.lines(), [DISCOVER, DISCOVER]);
    assert!(matches!(why(&web), ConnectError::UnsupportedVersion { .. }), "{:?}", why(&web));
}

#[test]
fn a_modern_error_is_no_reason_to_fall_back() {
    for (code, data) in [(-32020, "{}"), (-32021, r#"{"requiredCapabilities":{}}"#)] {
        let web = Web::opening(Config::default(), move |asked, says| {
            says.json(400, asked.response(&format!(r#""error":{{"code":{code},"message":"no","data":{data}}}"#)));
        });
        assert_eq!(web.lines(), [DISCOVER]);
        assert!(matches!(why(&web), ConnectError::Refused { error, .. } if error.code == code));
    }
}

#[test]
fn who_may_not_ask_is_told_at_once() {
    for status in [401, 403] {
        let web = Web::opening(Config::default(), move |_, says| {
            let challenge =
                r#"Bearer resource_metadata="https://server.test/.well-known/oauth-protected-resource/mcp""#;
            says.head(
                status,
                &[("WWW-Authenticate", challenge), ("www-authenticate", "Basic"), ("content-type", "text/plain")],
            )
            .body("who are you?")
            .end();
        });
        assert_eq!(web.lines(), [DISCOVER]);
        let ConnectError::Http { method: "server/discover", error } = why(&web) else { panic!("{:?}", web.events) };
        let HttpError::Unauthorized { status: found, challenges, excerpt, .. } = &**error else { panic!("{error:?}") };
        assert_eq!(*found, status);
        assert_eq!(challenges.len(), 2);
        assert!(challenges[0].starts_with("Bearer resource_metadata="));
        assert_eq!(excerpt, "who are you?");
    }
}

#[test]
fn a_server_that_cannot_be_reached_is_not_asked_twice() {
    for kind in [FailureKind::Unreachable, FailureKind::Tls, FailureKind::Redirect, FailureKind::Invalid] {
        let web = Web::opening(Config::default(), move |_, says| says.fail(kind));
        assert_eq!(web.lines(), [DISCOVER]);
        let text = why(&web).to_string();
        assert!(text.contains("as the test wants it"), "{text}");
    }
}

#[test]
fn a_page_for_people_is_named() {
    let web = Web::opening(Config::default(), |_, says| {
        says.head(200, &[("content-type", "text/html; charset=utf-8")]).body("<!doctype html>\u{1b}[31mHi").end();
    });
    assert_eq!(web.lines(), [DISCOVER, INITIALIZE]);
    let text = why(&web).to_string();
    assert!(text.contains("text/html") && text.contains("<!doctype html>") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn nothing_is_sent_before_the_server_took_the_word_that_opens() {
    let mut web = Web::opening(Config::default(), |asked, says| match asked.method() {
        "notifications/initialized" => says.later(Duration::from_secs(2)).empty(202),
        "tools/call" => says.json(200, asked.result(&web::said("late"))),
        "" => says.empty(405),
        "initialize" => {
            says.json(200, asked.result(r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#));
        }
        _ => says.empty(400),
    });
    let ticket = web.echo();
    assert_eq!(web.lines(), [DISCOVER, INITIALIZE, INITIALIZED]);
    web.pass(Duration::from_secs(2));
    assert_eq!(web.lines(), [DISCOVER, INITIALIZE, INITIALIZED, "GET", "POST tools/call"]);
    assert_eq!(web.text(ticket), "late");
}

#[test]
fn a_server_that_never_takes_it_does_not_hold_everything_up() {
    let mut legacy = web::legacy("2025-06-18", |asked, says| match asked.method() {
        "tools/call" => says.json(200, asked.result(&web::said("still"))),
        _ => says.empty(405),
    });
    let mut web = Web::opening(Config::default(), move |asked, says| {
        if asked.method() != "notifications/initialized" {
            legacy(asked, says);
        }
    });
    let ticket = web.echo();
    web.pass(Duration::from_secs(10));
    assert_eq!(web.text(ticket), "still");
}

#[test]
fn silence_is_answered_by_a_race() {
    let mut legacy = web::legacy("2025-11-25", |_, says| says.empty(405));
    let mut web = Web::opening(Config::default(), move |asked, says| {
        if asked.method() != "server/discover" {
            legacy(asked, says);
        }
    });
    assert_eq!(web.lines(), [DISCOVER]);
    web.pass(Duration::from_secs(5));
    assert_eq!(web.lines(), [DISCOVER, INITIALIZE, INITIALIZED, "GET"]);
    assert_eq!(web.engine.session().phase(), Phase::Ready);
    assert_eq!(web.aborted, [(Duration::from_secs(5), web.asked[0].exchange.id)], "the probe is not wanted any more");
}

#[test]
fn the_verdict_can_be_given_in_advance() {
    for (negotiate, lines) in [
        (Negotiate::Modern, vec![DISCOVER]),
        (Negotiate::Version(ProtocolVersion::V2026_07_28), vec![DISCOVER]),
        (Negotiate::Legacy, vec![INITIALIZE]),
        (Negotiate::Version(ProtocolVersion::V2025_03_26), vec![INITIALIZE]),
    ] {
        let mut settings = Settings::new(URI).expect("an address");
        settings.flavour = Some(Flavour::Streamable);
        let mut web = Web::new(configured(|config| config.negotiate = negotiate), settings, |_, says| says.empty(400));
        web.open();
        assert_eq!(web.lines(), lines, "{negotiate:?}");
        assert_eq!(web.engine.session().phase(), Phase::Closed);
        assert!(why(&web).to_string().contains("400 Bad Request"));
    }
}

#[test]
fn an_opening_without_an_end_is_given_up() {
    let mut web = Web::opening(Config::default(), |_, _| {});
    web.pass(Duration::from_secs(60));
    assert!(matches!(why(&web), ConnectError::Timeout { .. }));
    assert_eq!(web.aborted.len(), 2);
    assert_eq!(web.engine.exchanges(), 0);
    assert_eq!(web.engine.poll_timeout(), None);
}

// HTTP+SSE, the transport of 2024-11-05: found when nothing else is there, and spoken as it is (2024-11-05, basic/transports,
// "HTTP with SSE"; 2025-11-25, basic/transports, "Backwards Compatibility").

/// A server of 2024-11-05, whose refusal of a POST to its stream's address is this.
fn refusing(status: u16, endpoint: &'static str) -> impl FnMut(&Asked, &mut Says) + 'static {
    move |asked, says| {
        if asked.line() == "GET" {
            says.stream().body(format!("event: endpoint\ndata: {endpoint}\n\n"));
        } else if asked.exchange.uri == URI {
            says.head(status, &[("content-type", "text/plain")]).body("Method Not Allowed").end();
        } else {
            says.head(202, &[("content-type", "text/plain")]).body("Accepted").end();
        }
    }
}

fn stream(web: &Web) -> ExchangeId {
    web.last("GET").exchange.id
}

fn answer(web: &mut Web, line: &str, result: &str) {
    let message = web.last(line).result(result);
    let id = stream(web);
    web.say(id, |says| {
        says.body(format!("event: message\ndata: {message}\n\n"));
    });
}

const INITIALIZE_RESULT: &str =
    r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}"#;

fn open() -> Web {
    let mut web = Web::opening(Config::default(), refusing(405, "/messages?sessionId=1"));
    answer(&mut web, "POST initialize", INITIALIZE_RESULT);
    assert_eq!(web.engine.session().phase(), Phase::Ready, "{:?}", web.events);
    web
}

#[test]
fn an_old_server_is_found_last() {
    for status in [400, 404, 405] {
        let mut web = Web::opening(Config::default(), refusing(status, "/messages?sessionId=1"));
        assert_eq!(web.lines(), ["POST server/discover", "POST initialize", "GET", "POST initialize"]);
        assert_eq!(web.asked[3].exchange.uri, "http://server.test/messages?sessionId=1");
        assert_eq!(web.asked[1].message, web.asked[3].message);
        answer(&mut web, "POST initialize", INITIALIZE_RESULT);
        assert_eq!(web.lines()[4..], ["POST notifications/initialized"]);
        assert_eq!(web.happened(), [&Event::Connected]);
        assert_eq!(web.engine.session().server().expect("it is open").protocol_version, ProtocolVersion::V2024_11_05);
        assert_eq!(web.engine.flavour(), Some(Flavour::Sse));
        for asked in &web.asked[3..] {
            assert_eq!((asked.header("mcp-session-id"), asked.header("mcp-protocol-version")), (None, None));
        }
    }
}

#[test]
fn everything_that_the_server_says_comes_on_the_stream() {
    let mut web = open();
    let ticket = web.echo();
    assert_eq!(web.last("POST tools/call").exchange.uri, "http://server.test/messages?sessionId=1");
    let id = stream(&web);
    web.say(id, |says| {
        says.event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    });
    answer(&mut web, "POST tools/call", r#"{"content":[{"type":"text","text":"old"}]}"#);
    assert_eq!(web.text(ticket), "old");
    assert!(web.happened().contains(&&Event::Notification(Notification::ToolsChanged)));
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (1, None));
}

#[test]
fn a_delivery_that_fails_fails_its_request() {
    let mut ways = 0;
    let mut old = refusing(405, "/m");
    let mut web = Web::opening(Config::default(), move |asked, says| {
        if asked.method() == "tools/call" {
            ways += 1;
            match ways {
                1 => says.head(500, &[]).body("broken").end(),
                2 => says.fail(FailureKind::Broken),
                _ => says.head(401, &[("www-authenticate", "Bearer")]).end(),
            }
        } else {
            old(asked, says);
        }
    });
    answer(&mut web, "POST initialize", INITIALIZE_RESULT);
    let mut errors = Vec::new();
    for _ in 0..3 {
        let ticket = web.echo();
        let CallError::Http { error, .. } = web.error(ticket) else { panic!() };
        errors.push((*error).clone());
    }
    assert_eq!(errors[0], HttpError::Status { status: 500, excerpt: "broken".into(), retry_after: None });
    assert!(matches!(&errors[1], HttpError::Failed(failure) if failure.kind == FailureKind::Broken));
    assert!(matches!(&errors[2], HttpError::Unauthorized { status: 401, challenges, .. } if challenges.len() == 1));
}

#[test]
fn messages_go_to_the_origin_of_the_stream_only() {
    for endpoint in [
        "http://evil.test/messages",
        "//evil.test/m",
        "https://server.test/m",
        "http://server.test:81/m",
        "ftp://x",
        "",
    ] {
        let web = Web::opening(Config::default(), refusing(405, endpoint));
        if endpoint.is_empty() {
            // The address of the stream itself: a server may take messages there.
            assert_eq!(web.lines().len(), 4);
            continue;
        }
        assert!(web.asked.iter().all(|asked| asked.exchange.uri == URI), "{endpoint}");
        let [Event::Closed(CloseReason::NotOpened(error))] = web.happened()[..] else { panic!("{:?}", web.events) };
        let ConnectError::Http { error, .. } = &**error else { panic!("{error:?}") };
        assert_eq!(**error, HttpError::Endpoint { uri: endpoint.into() });
        assert_eq!((web.aborted.len(), web.engine.exchanges()), (1, 0));
    }
}

#[test]
fn the_end_of_the_stream_is_the_end() {
    let mut web = open();
    let ticket = web.echo();
    let id = stream(&web);
    web.say(id, Says::end);
    assert!(matches!(web.error(ticket), CallError::Closed { reason: CloseReason::ByServer, .. }));
    assert_eq!(web.events.last().map(|(_, event)| event), Some(&Event::Closed(CloseReason::ByServer)));
    assert_eq!(web.engine.exchanges(), 0);
    assert_eq!(web.call("echo", "{}", &RequestOptions::new()).err(), Some(mcpwire_core::SendError::Closed));
}

#[test]
fn an_end_before_the_opening_says_what_was_tried_first() {
    let mut web = Web::opening(Config::default(), |asked, says| match asked.line().as_str() {
        "GET" => says.empty(405),
        _ => says.head(404, &[]).body("nothing here").end(),
    });
    web.pass(Duration::from_secs(1));
    assert_eq!(web.lines(), ["POST server/discover", "POST initialize", "GET"]);
    let [Event::Closed(CloseReason::NotOpened(error))] = web.happened()[..] else { panic!("{:?}", web.events) };
    let text = error.to_string();
    assert!(text.contains("`initialize`") && text.contains("404") && text.contains("nothing here"), "{text}");
    assert_eq!(web.engine.poll_timeout(), None);
}

#[test]
fn a_stream_without_an_endpoint_is_not_waited_for_for_ever() {
    for ends in [false, true] {
        let mut web = Web::opening(Config::default(), move |asked, says| {
            if asked.line() == "GET" {
                says.stream().event("{}").body("event: message\ndata: /m\n\n");
                if ends {
                    says.end();
                }
            } else {
                says.empty(405);
            }
        });
        web.pass(Duration::from_secs(60));
        assert_eq!(web.lines().len(), 3);
        assert!(matches!(web.happened().last(), Some(Event::Closed(_))), "{:?}", web.events);
        assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
    }
}

#[test]
fn the_old_transport_can_be_given_in_advance() {
    let mut settings = Settings::new(URI).expect("an address");
    settings.flavour = Some(Flavour::Sse);
    let mut web = Web::new(Config::default(), settings, refusing(405, "messages"));
    web.open();
    assert_eq!(web.lines(), ["GET", "POST initialize"]);
    assert_eq!(web.asked[1].exchange.uri, "http://server.test/messages");
    answer(&mut web, "POST initialize", INITIALIZE_RESULT);
    assert_eq!(web.engine.session().phase(), Phase::Ready);
}

#[test]
fn cancelling_is_said_in_words() {
    let mut web = open();
    let ticket = web.echo();
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.drive();
    assert!(matches!(web.error(ticket), CallError::Cancelled { .. }));
    assert_eq!(web.last("POST notifications/cancelled").exchange.uri, "http://server.test/messages?sessionId=1");
    web.engine.close();
    web.drive();
    assert_eq!(web.engine.exchanges(), 0);
    assert!(!web.lines().contains(&"DELETE".into()));
}
