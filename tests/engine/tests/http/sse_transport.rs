//! HTTP+SSE, the transport of 2024-11-05: found when nothing else is there, and spoken as it is (2024-11-05, basic/transports,
//! "HTTP with SSE"; 2025-11-25, basic/transports, "Backwards Compatibility").

use core::time::Duration;

use mcpwire_core::http::ExchangeId;
use mcpwire_core::http::{FailureKind, Flavour, HttpError, Settings};
use mcpwire_core::{
    CallError, CloseReason, Config, ConnectError, Event, Notification, Phase, ProtocolVersion, RequestOptions,
};
use mcpwire_engine_tests::sim::web::{Asked, Says, URI, Web};

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

const INITIALIZED: &str =
    r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}"#;

fn open() -> Web {
    let mut web = Web::opening(Config::default(), refusing(405, "/messages?sessionId=1"));
    answer(&mut web, "POST initialize", INITIALIZED);
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
        answer(&mut web, "POST initialize", INITIALIZED);
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
            };
        } else {
            old(asked, says);
        }
    });
    answer(&mut web, "POST initialize", INITIALIZED);
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
    web.say(id, |says| {
        says.end();
    });
    assert!(matches!(web.error(ticket), CallError::Closed { reason: CloseReason::ByServer, .. }));
    assert_eq!(web.events.last().map(|(_, event)| event), Some(&Event::Closed(CloseReason::ByServer)));
    assert_eq!(web.engine.exchanges(), 0);
    assert_eq!(web.call("echo", "{}", &RequestOptions::new()).err(), Some(mcpwire_core::SendError::Closed));
}

#[test]
fn an_end_before_the_opening_says_what_was_tried_first() {
    let mut web = Web::opening(Config::default(), |asked, says| match asked.line().as_str() {
        "GET" => {
            says.empty(405);
        }
        _ => {
            says.head(404, &[]).body("nothing here").end();
        }
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
fn the_verdict_can_be_given_in_advance() {
    let mut settings = Settings::new(URI).expect("an address");
    settings.flavour = Some(Flavour::Sse);
    let mut web = Web::new(Config::default(), settings, refusing(405, "messages"));
    web.open();
    assert_eq!(web.lines(), ["GET", "POST initialize"]);
    assert_eq!(web.asked[1].exchange.uri, "http://server.test/messages");
    answer(&mut web, "POST initialize", INITIALIZED);
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
