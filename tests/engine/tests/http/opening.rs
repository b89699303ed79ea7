//! Which way a server is spoken to is found out in the order that the specification gives (2026-07-28,
//! basic/transports/streamable-http, "Backward Compatibility").

use core::time::Duration;

use mcpwire_core::http::{FailureKind, Flavour, HttpError, Settings};
use mcpwire_core::{CloseReason, Config, ConnectError, Era, Event, Negotiate, Phase, ProtocolVersion};
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};

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
        "GET" => {
            says.empty(405);
        }
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
        |_, says| {
            says.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#);
        },
        |_, says| {
            says.json(400, r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request"}}"#);
        },
        |asked, says| {
            says.json(404, asked.response(r#""error":{"code":-32601,"message":"Method not found"}"#));
        },
        |asked, says| {
            says.json(200, asked.result("{}"));
        },
        |asked, says| {
            says.json(200, asked.response(r#""error":{"code":-32600,"message":"Not initialized"}"#));
        },
        |_, says| {
            says.empty(400);
        },
        |_, says| {
            says.empty(404);
        },
        |_, says| {
            says.empty(406);
        },
        |_, says| {
            says.empty(500);
        },
        |_, says| {
            says.empty(202);
        },
        |_, says| {
            says.head(400, &[("content-type", "text/html")]).body("<html>no</html>").end();
        },
        |_, says| {
            says.head(200, &[("content-type", "text/html")]).body("<html>no</html>").end();
        },
        |_, says| {
            says.json(422, r#"{"error":"no session"}"#);
        },
        |_, says| {
            says.stream().end();
        },
        |_, says| {
            says.fail(FailureKind::Broken);
        },
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
        let web = Web::opening(Config::default(), move |_, says| {
            says.fail(kind);
        });
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
        "notifications/initialized" => {
            says.later(Duration::from_secs(2)).empty(202);
        }
        "tools/call" => {
            says.json(200, asked.result(&web::said("late")));
        }
        "" => {
            says.empty(405);
        }
        "initialize" => {
            says.json(200, asked.result(r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#));
        }
        _ => {
            says.empty(400);
        }
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
        "tools/call" => {
            says.json(200, asked.result(&web::said("still")));
        }
        _ => {
            says.empty(405);
        }
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
    let mut legacy = web::legacy("2025-11-25", |_, says| {
        says.empty(405);
    });
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
        let mut config = Config::default();
        config.negotiate = negotiate;
        let mut settings = Settings::new(URI).expect("an address");
        settings.flavour = Some(Flavour::Streamable);
        let mut web = Web::new(config, settings, |_, says| {
            says.empty(400);
        });
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
