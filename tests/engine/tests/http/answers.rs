//! Answers come as JSON or as a stream of events, and each request has exactly one end.

use std::time::Duration;

use mcpwire_core::http::{FailureKind, HttpError};
use mcpwire_core::{CallError, Event, Json, Notification, PeerErrorKind, RequestOptions, RpcError, SendError};
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{self, Asked, Says, Web};

fn modern(rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
    Web::modern(rest)
}

#[test]
fn json_and_streams_say_the_same() {
    let ways: [fn(&Asked, &mut Says); 7] = [
        |asked, says| says.json(200, asked.result(&web::said("x"))),
        |asked, says| {
            says.head(200, &[("Content-Type", "Application/JSON; charset=utf-8")]);
            says.body(asked.result(&web::said("x"))).end();
        },
        |asked, says| says.head(200, &[]).body(asked.result(&web::said("x"))).end(),
        |asked, says| says.stream().event(asked.result(&web::said("x"))).end(),
        |asked, says| {
            let text = asked.result(&web::said("x")).replace(",\"", ",\ndata: \"");
            says.stream().body(format!(": hello\r\nevent: message\r\nid: 1\r\ndata: {text}\r\n\r\n"));
            says.later(Duration::from_millis(10)).end();
        },
        // The last event lacks its blank line.
        |asked, says| {
            says.stream().body("data: \n\n").body(format!("data: {}", asked.result(&web::said("x")))).end();
        },
        // Errors of other events are not messages.
        |asked, says| {
            says.stream().body("event: ping\ndata: {}\n\n").event("").event(asked.result(&web::said("x"))).end();
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        for size in [1, 3, usize::MAX] {
            let mut web = modern(way).in_pieces_of(size);
            let ticket = web.echo();
            web.pass(Duration::from_millis(10));
            assert_eq!(web.text(ticket), "x", "way {number}");
            assert_eq!(web.happened(), Vec::<&Event>::new(), "way {number}");
            assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None), "way {number}");
            assert!(web.aborted.is_empty() && web.engine.is_idle());
        }
    }
}

#[test]
fn a_byte_order_mark_before_a_message_is_skipped() {
    let ways: [fn(&Asked, &mut Says); 4] = [
        |asked, says| says.json(200, format!("\u{feff}{}", asked.result(&web::said("x")))),
        |asked, says| says.stream().event(format!("\u{feff}{}", asked.result(&web::said("x")))).end(),
        |asked, says| {
            says.stream().body("\u{feff}: hello\n").event("\u{feff}").event(asked.result(&web::said("x"))).end();
        },
        // The last event lacks its blank line.
        |asked, says| says.stream().body(format!("data: \u{feff}{}", asked.result(&web::said("x")))).end(),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        for size in [1, 2, usize::MAX] {
            let mut web = modern(way).in_pieces_of(size);
            let ticket = web.echo();
            assert_eq!(web.text(ticket), "x", "way {number}, pieces of {size}");
            assert_eq!(web.happened(), Vec::<&Event>::new(), "way {number}");
        }
    }
    for size in [1, 2, usize::MAX] {
        let mut web = modern(|asked, says| {
            let error = asked.response(r#""error":{"code":-32602,"message":"no such tool"}"#);
            says.json(400, format!("\u{feff}{error}"));
        })
        .in_pieces_of(size);
        let ticket = web.echo();
        let error = web.error(ticket);
        assert!(matches!(&error, CallError::Server { error, .. } if error.code == -32602), "{error:?}");

        let too_long = web::modern(|asked, says| {
            says.json(200, format!("\u{feff}{}", asked.result(&web::said(&"x".repeat(5000)))));
        });
        let mut web = Web::ready(configured(|config| config.max_message = 1000), too_long).in_pieces_of(size);
        let ticket = web.echo();
        let CallError::Invalid { error, .. } = web.error(ticket) else { panic!("pieces of {size}") };
        assert_eq!(error.kind, PeerErrorKind::TooLong { limit: 1000 });
        assert!(error.excerpt.starts_with("{\"jsonrpc\""), "{}", error.excerpt);
    }
}

#[test]
fn json_over_several_lines_is_kept_as_it_is_and_goes_back_on_one_line() {
    let mut web = Web::modern_with(configured(web::answer_roots), |asked, says| {
        let wants = "{\n\"resultType\":\r\n\"input_required\",\n\"inputRequests\":{\n\"r\":{\n\"method\":\"roots/list\"}},\n\"requestState\":\"a\\nb\"\n}";
        let done = "{\n\"content\":[\n],\n\"structuredContent\":{\n\"a\":\r\n1}}";
        let is_answered = asked.message["params"]["inputResponses"].is_object();
        says.json(200, asked.result(if is_answered { done } else { wants }));
    });
    let arguments = Json::parse("{\n\"a\":\n1}").expect("it is JSON");
    let ticket = web.call("echo", arguments.get(), &RequestOptions::new()).expect("it is open");
    web.drive();
    let [Event::ServerRequest(ask)] = web.happened()[..] else { panic!("{:?}", web.events) };
    let (key, now) = (ask.key, web.now);
    let roots = Json::parse("{\n\"roots\":[\n]}").expect("it is JSON");
    assert_eq!(web.engine.calls().answer(key, &roots, now), Ok(true));
    web.drive();
    let result = web.take(ticket).expect("it is answered").expect("it went well");
    assert_eq!(result.structured_content.expect("it has some").get(), "{\n\"a\":\r\n1}");
    assert_eq!(web.lines(), ["POST tools/call", "POST tools/call"]);
    for asked in &web.asked {
        assert!(!asked.exchange.body.iter().any(|byte| matches!(byte, b'\n' | b'\r')), "{}", asked.message);
    }
}

#[test]
fn what_a_stream_tells_on_the_way_comes_first() {
    let mut web = modern(|asked, says| {
        says.stream();
        for n in 1..=3 {
            let token = &asked.message["id"];
            says.later(Duration::from_secs(20)).event(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{n}}}}}"#
            ));
        }
        says.event(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}"#);
        says.event(asked.result(&web::said("done"))).end();
    });
    let ticket = web.call("slow", "{}", &RequestOptions::new().progress()).expect("it is open");
    web.pass(Duration::from_secs(60));
    assert_eq!(web.text(ticket), "done");
    let progress = web
        .happened()
        .iter()
        .filter(|event| matches!(event, Event::Notification(Notification::Progress { .. })))
        .count();
    assert_eq!((progress, web.events.len()), (3, 4));
}

#[test]
fn errors_of_the_protocol_are_errors_of_the_protocol_whatever_the_status() {
    for status in [200, 400, 404, 500] {
        let mut web = modern(move |asked, says| {
            says.json(status, asked.response(r#""error":{"code":-32602,"message":"no such tool"}"#));
        });
        let ticket = web.echo();
        let CallError::Server { error, .. } = web.error(ticket) else { panic!("{status}") };
        assert_eq!(*error, RpcError::new(-32602, "no such tool"));
    }
    for id in ["null", "\"server-error\"", "77"] {
        let mut web = modern(move |_, says| {
            says.json(400, format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"bad"}}}}"#));
        });
        let ticket = web.echo();
        assert!(matches!(web.error(ticket), CallError::Server { error, .. } if error.code == -32600), "{id}");
    }
}

#[test]
fn refusals_are_told_with_their_status() {
    for (status, content_type, body) in [
        (404, "text/html", "<html><h1>Not found</h1>"),
        (404, "application/json", r#"{"error":"not_found"}"#),
        (429, "text/plain", "slow down"),
        (503, "", ""),
        (302, "text/html", "elsewhere"),
    ] {
        let mut web = modern(move |_, says| says.head(status, &[("content-type", content_type)]).body(body).end());
        let ticket = web.echo();
        let CallError::Http { error, method } = web.error(ticket) else { panic!("{status}") };
        let expected = HttpError::Status { status, excerpt: body.into(), retry_after: None };
        assert_eq!(*error, expected);
        let text = CallError::Http { error, method }.to_string();
        assert!(text.starts_with("`tools/call` failed: ") && text.contains(&status.to_string()), "{text}");
        assert!(text.contains(body), "{text}");
        // The connection is as good as before.
        assert_eq!((web.engine.session().in_flight(), web.engine.exchanges()), (0, 0));
    }
}

#[test]
fn who_may_not_call_is_told_with_the_challenge() {
    let mut web = modern(|_, says| {
        let challenge = r#"Bearer error="insufficient_scope", scope="mcp:write""#;
        says.head(403, &[("www-authenticate", challenge)])
            .body(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#)
            .end();
    });
    let ticket = web.echo();
    let HttpError::Unauthorized { status: 403, challenges, excerpt, .. } = web.http_error(ticket) else { panic!() };
    assert_eq!(challenges, [r#"Bearer error="insufficient_scope", scope="mcp:write""#]);
    assert!(excerpt.contains("jsonrpc"));
}

#[test]
fn what_brings_no_answer_fails_at_once() {
    type Way = fn(&mut Says);
    let ways: [(Way, HttpError); 6] = [
        (|says| says.empty(202), HttpError::NoAnswer { status: 202, attempts: 0 }),
        (|says| says.json(200, ""), HttpError::NoAnswer { status: 200, attempts: 0 }),
        (|says| says.stream().event("").end(), HttpError::NoAnswer { status: 200, attempts: 0 }),
        // There is no taking up in the modern era.
        (
            |says| says.stream().body("id: 1\nretry: 10\ndata: \n\n").end(),
            HttpError::NoAnswer { status: 200, attempts: 0 },
        ),
        // Half an answer.
        (
            |says| says.stream().body("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"resul").end(),
            HttpError::NoAnswer { status: 200, attempts: 0 },
        ),
        (
            |says| says.head(200, &[("content-type", "image/png")]).body("\u{1b}PNG").end(),
            HttpError::ContentType { status: 200, found: "image/png".into(), excerpt: "\u{fffd}PNG".into() },
        ),
    ];
    for (way, expected) in ways {
        let mut web = modern(move |_, says| way(says));
        let ticket = web.echo();
        assert_eq!(web.ended_at(ticket), Some(Duration::ZERO));
        assert_eq!(web.http_error(ticket), expected);
    }
}

#[test]
fn a_lost_connection_fails_what_it_carried() {
    for head_first in [false, true] {
        let mut web = modern(move |asked, says| {
            if asked.message["params"]["name"] == "other" {
                says.json(200, asked.result(&web::said("fine")));
                return;
            }
            if head_first {
                says.head(200, &[("content-type", "application/json")]).body("{\"jsonrpc\":");
            }
            says.fail(FailureKind::Broken);
        });
        let ticket = web.echo();
        let HttpError::Failed(failure) = web.http_error(ticket) else { panic!() };
        assert_eq!(failure.kind, FailureKind::Broken);
        let other = web.call("other", "{}", &RequestOptions::new()).expect("it is open");
        web.drive();
        assert_eq!(web.text(other), "fine");
    }
}

#[test]
fn half_a_body_is_an_answer_that_cannot_be_read() {
    let mut web = modern(|asked, says| {
        let whole = asked.result(&web::said("x"));
        says.json(200, &whole[..whole.len() - 5]);
    });
    let ticket = web.echo();
    assert!(matches!(web.error(ticket), CallError::Invalid { .. }));
}

#[test]
fn an_answer_that_is_too_long_fails_alone() {
    let ways: [fn(&Asked, &mut Says); 4] = [
        |asked, says| says.json(200, asked.result(&web::said(&"x".repeat(5000)))),
        |asked, says| says.stream().event(asked.result(&web::said(&"x".repeat(5000)))).end(),
        // The end of it would name the request.
        |asked, says| {
            let id = &asked.message["id"];
            says.stream()
                .event(format!(r#"{{"result":{},"jsonrpc":"2.0","id":{id}}}"#, web::said(&"x".repeat(5000))))
                .end();
        },
        |_, says| says.json(200, "x".repeat(5000)),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        for size in [7, usize::MAX] {
            let mut web =
                Web::ready(configured(|config| config.max_message = 1000), web::modern(way)).in_pieces_of(size);
            let ticket = web.echo();
            let CallError::Invalid { error, .. } = web.error(ticket) else { panic!("way {number}") };
            assert_eq!(error.kind, PeerErrorKind::TooLong { limit: 1000 });
            assert!(error.excerpt.len() < 300);
            assert_eq!(web.engine.exchanges(), 0);
        }
    }
}

#[test]
fn what_the_server_says_beside_the_answer_may_be_too_long() {
    for beside in [r#""method":"notifications/message""#, r#""id":1,"method":"sampling/createMessage""#] {
        for size in [7, usize::MAX] {
            let says_both = web::modern(move |asked, says| {
                let long = format!(r#"{{"jsonrpc":"2.0",{beside},"params":{{"a":"{}"}}}}"#, "x".repeat(5000));
                says.stream().event(long).event(asked.result(&web::said("fine"))).end();
            });
            let mut web = Web::ready(configured(|config| config.max_message = 1000), says_both).in_pieces_of(size);
            let ticket = web.echo();
            assert_eq!(web.text(ticket), "fine", "{beside}");
        }
    }
}

#[test]
fn a_refusal_is_not_read_to_its_end() {
    let mut web = modern(|_, says| {
        says.head(500, &[]);
        for _ in 0..1000 {
            says.body("x".repeat(10_000));
        }
        says.end();
    });
    let ticket = web.echo();
    let HttpError::Status { status: 500, excerpt, .. } = web.http_error(ticket) else { panic!() };
    assert!(excerpt.len() < 300);
}

#[test]
fn a_stream_that_stays_open_after_its_answer_is_left() {
    let mut web = modern(|asked, says| {
        says.stream().event(asked.result(&web::said("x")));
    });
    let ticket = web.echo();
    assert_eq!(web.text(ticket), "x");
    assert_eq!((web.engine.exchanges(), web.aborted.len()), (1, 0));
    web.pass(Duration::from_secs(1));
    assert_eq!((web.engine.exchanges(), web.aborted.len()), (0, 1));
    assert_eq!(web.engine.poll_timeout(), None);
}

#[test]
fn what_comes_for_nobody_is_ignored() {
    let mut web = modern(|asked, says| says.json(200, asked.result(&web::said("x"))));
    let ticket = web.echo();
    let id = web.last("POST tools/call").exchange.id;
    web.say(id, |says| {
        says.json(200, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        says.fail(FailureKind::Broken);
    });
    assert_eq!(web.text(ticket), "x");
    assert!(web.events.is_empty());
}

#[test]
fn what_waits_to_be_sent_is_bounded() {
    let mut web = Web::ready(configured(|config| config.max_transmit = 10_000), web::modern(|_, _| {}));
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(3000));
    let mut sent = 0;
    let refused = loop {
        match web.call("echo", &big, &RequestOptions::new()) {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
        web.drive();
        assert!(sent < 100);
    };
    assert_eq!(refused, SendError::TransmitFull { limit: 10_000 });
    assert!((3..=4).contains(&sent), "{sent}");
    // What the server has taken does not count.
    for asked in web.asked.clone() {
        web.say(asked.exchange.id, |says| {
            says.stream();
        });
    }
    let _ = web.call("echo", &big, &RequestOptions::new()).expect("there is room again");
}
