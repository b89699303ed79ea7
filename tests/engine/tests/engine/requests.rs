//! A request ends once: by its response, by its deadline, or because it is cancelled.

use std::time::Duration;

use mcpwire_core::{CallError, CallTool, CloseReason, Deadline, Event, Notification, Raw, RequestOptions, Ticket};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use serde_json::json;

// Answers find their requests: in any order, in any spelling of the id, once.

fn asked(pair: &mut Pair) -> (Ticket<Raw>, u64) {
    let ticket = pair.raw("x/y", None).expect("it is open");
    pair.drive();
    (ticket, pair.sent.last().and_then(Sent::id).expect("it was sent"))
}

#[test]
fn a_thousand_answers_in_any_order() {
    for modern_server in [false, true] {
        let mut held = Vec::new();
        let answer_all = move |sent: &Sent, peer: &mut Peer| {
            held.push(sent.clone());
            if held.len() == 1000 {
                // 7 and 1000 have no divisor in common: each is answered once, in another order than asked.
                for n in 0..1000 {
                    let request = &held[n * 7 % 1000];
                    peer.answer(
                        request,
                        &format!(
                            r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#,
                            request.params()["name"].as_str().unwrap_or_default()
                        ),
                    );
                }
            }
        };
        let mut pair = if modern_server { Pair::modern(answer_all) } else { Pair::legacy(answer_all) };
        let tickets: Vec<_> =
            (0..1000).map(|n| pair.call(&format!("tool {n}"), &RequestOptions::new()).expect("it is sent")).collect();
        assert_eq!(pair.engine.session().in_flight(), 1000);
        pair.drive();
        for (n, ticket) in tickets.into_iter().enumerate() {
            assert_eq!(pair.text(ticket), format!("tool {n}"));
        }
        assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None));
        assert!(pair.engine.is_idle() && pair.events.is_empty());
    }
}

#[test]
fn ids_come_back_as_floats_and_as_strings() {
    let mut pair = Pair::legacy(|_, _| {});
    for spelling in ["ID", "ID.0", "ID.000", "\"ID\"", "\"ID.0\""] {
        for order in [r#"{"jsonrpc":"2.0","id":@,"result":{"a":1}}"#, r#"{"result":{"a":1},"jsonrpc":"2.0","id":@}"#] {
            let (ticket, id) = asked(&mut pair);
            pair.say(order.replace('@', &spelling.replace("ID", &id.to_string())));
            let result = pair.take(ticket).expect("it has ended").expect("it went well");
            assert_eq!(result.get(), r#"{"a":1}"#);
        }
    }
}

#[test]
fn keys_in_any_order_and_with_any_space() {
    let mut pair = Pair::legacy(|_, _| {});
    for line in [
        r#"{"result":{"id":77},"id":@,"jsonrpc":"2.0"}"#,
        r#" { "id" : @ , "extra" : [ { "id" : 78 } ] , "result" : {"id":77} } "#,
        r#"{"extra":"\",\"id\":78","result":{"id":77},"jsonrpc":"2.0","note":"}","id":@}"#,
        r#"{"\u0069d":@,"r\u0065sult":{"id":77}}"#,
        r#"{"result":{"id":77},"id":@,"error":null}"#,
        r#"{"result":{"id":77},"id":@,"method":null}"#,
    ] {
        let (ticket, id) = asked(&mut pair);
        pair.say(line.replace('@', &id.to_string()));
        let result = pair.take(ticket).unwrap_or_else(|| panic!("{line}")).expect("it went well");
        assert_eq!(result.get(), r#"{"id":77}"#, "{line}");
    }
}

#[test]
fn late_and_repeated_answers_are_counted_and_nothing_else() {
    let mut pair = Pair::legacy(|_, _| {});
    let (ticket, id) = asked(&mut pair);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":1}}}}"#);
    pair.say(&answer);
    pair.say(answer.replace(":1}", ":2}"));
    let (cancelled, id) = asked(&mut pair);
    assert!(pair.engine.calls().cancel(cancelled.key(), None, pair.now));
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert_eq!(pair.take(ticket).expect("it has ended").expect("it went well").get(), r#"{"n":1}"#);
    assert!(matches!(pair.error(cancelled), CallError::Cancelled { .. }));
    assert_eq!((pair.engine.session().stats().late, pair.engine.session().stats().unmatched), (2, 0));
    assert!(pair.events.is_empty());
}

#[test]
fn foreign_answers_are_counted_and_nothing_else() {
    let mut pair = Pair::legacy(|_, _| {});
    let (ticket, id) = asked(&mut pair);
    let foreign = ["999", "\"abc\"", "-1", "1.5", "1e0", "{}", "[2]", "true", "18446744073709551617", "\"\""];
    for id in foreign {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    assert_eq!(
        (pair.engine.session().stats().late, pair.engine.session().stats().unmatched),
        (0, foreign.len() as u64)
    );
    assert!(pair.engine.session().is_waiting(ticket.key()), "it still waits for its own");
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
}

#[test]
fn a_malformed_answer_ends_its_own_request_only() {
    let mut pair = Pair::legacy(|_, _| {});
    for rest in [
        r#""result":{"a":[1,}}"#,
        r#""result":{},"error":{"code":1}"#,
        r#""x":1"#,
        r#""error":5"#,
        r#""result":{},"result":{}"#,
        r#""result":{"a":"#,
    ] {
        let (other, other_id) = asked(&mut pair);
        let (ticket, id) = asked(&mut pair);
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#));
        let error = pair.error(ticket);
        assert!(matches!(error, CallError::Invalid { .. }), "{rest}: {error:?}");
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{other_id},"result":{{}}}}"#));
        assert!(pair.take(other).is_some_and(|result| result.is_ok()));
    }
}

#[test]
fn a_reply_is_decoded_by_its_own_ticket_only() {
    let mut pair = Pair::legacy(|_, _| {});
    let (first, _) = asked(&mut pair);
    let (second, id) = asked(&mut pair);
    pair.engine.receive(format!("{{\"id\":{id},\"result\":{{}}}}\n").as_bytes(), pair.now);
    let Some(Event::Reply(reply)) = pair.engine.poll_event() else { panic!("no reply") };
    assert_eq!((reply.key(), reply.method()), (second.key(), "x/y"));
    assert!(matches!(first.decode(reply.clone()), Err(CallError::WrongTicket { .. })));
    assert!(second.decode(reply).is_ok());
}

// Deadlines pass at their time, to the millisecond, whatever else goes on.

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn silent() -> Pair {
    Pair::legacy(|_, _| {})
}

#[track_caller]
fn assert_timeout(pair: &mut Pair, ticket: Ticket<CallTool>, at: Duration, expected: (Duration, Deadline)) {
    assert_eq!(pair.ended_at(ticket), Some(at));
    let error = pair.error(ticket);
    let CallError::Timeout { after, deadline, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*after, *deadline), expected);
}

#[test]
fn an_answer_that_does_not_come() {
    let mut pair = silent();
    pair.pass(secs(100));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(Duration::from_millis(29_999));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    pair.pass(Duration::from_millis(1));
    assert_timeout(&mut pair, ticket, secs(130), (secs(30), Deadline::Idle));
    assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None));
}

#[test]
fn the_server_is_told() {
    let mut pair = silent();
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(30));
    assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"]);
    assert_eq!(pair.sent[1].params()["requestId"], pair.sent[0].id().expect("a request"));
    assert_eq!(pair.sent[1].id(), None);
    assert!(pair.take(ticket).is_some());
}

#[test]
fn each_request_has_its_own() {
    let mut pair = silent();
    let long = pair.call("long", &RequestOptions::new().timeout(secs(7200))).expect("it is sent");
    let short = pair.call("short", &RequestOptions::new().timeout(secs(1))).expect("it is sent");
    let usual = pair.call("usual", &RequestOptions::new()).expect("it is sent");
    let total = pair.call("total", &RequestOptions::new().total_timeout(secs(2))).expect("it is sent");
    let ever = pair.call("ever", &RequestOptions::new().timeout(Duration::MAX)).expect("it is sent");
    pair.pass(secs(10_000));
    assert_timeout(&mut pair, short, secs(1), (secs(1), Deadline::Idle));
    assert_timeout(&mut pair, total, secs(2), (secs(2), Deadline::Total));
    assert_timeout(&mut pair, usual, secs(30), (secs(30), Deadline::Idle));
    assert_timeout(&mut pair, long, secs(7200), (secs(7200), Deadline::Idle));
    assert!(pair.engine.session().is_waiting(ever.key()), "for ever is long");
}

/// A server that reports progress every twenty seconds, and never answers.
fn reporting(sent: &Sent, peer: &mut Peer) {
    let Some(id) = sent.id() else { return };
    for n in 1..1000 {
        peer.say_after(
            secs(20 * n),
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{n}}}}}"#),
        );
    }
}

#[test]
fn progress_puts_off_the_idle_deadline_and_not_the_total_one() {
    let mut pair = Pair::legacy(reporting);
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.pass(secs(3599));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    let reports = pair.happened().into_iter().filter(
        |event| matches!(event, Event::Notification(Notification::Progress { key, .. }) if *key == ticket.key()),
    );
    assert_eq!(reports.count(), 179);
    pair.pass(secs(1));
    assert_timeout(&mut pair, ticket, secs(3600), (secs(3600), Deadline::Total));
}

#[test]
fn progress_that_was_not_asked_for_puts_off_nothing() {
    let mut pair = Pair::legacy(reporting);
    let ticket = pair.call("busy", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(100));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
    assert!(pair.events.is_empty());
}

#[test]
fn the_deadline_counts_from_the_last_progress() {
    let mut pair = Pair::legacy(|sent, peer| {
        let Some(id) = sent.id() else { return };
        peer.say_after(
            secs(29),
            format!(r#"{{"method":"notifications/progress","params":{{"progressToken":"{id}","progress":1}}}}"#),
        );
    });
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.pass(secs(100));
    assert_timeout(&mut pair, ticket, secs(59), (secs(30), Deadline::Idle));
}

#[test]
fn a_deadline_fires_while_the_server_does_not_read() {
    let mut pair = silent();
    pair.stuck = true;
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(60));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
    pair.stuck = false;
    pair.drive();
    assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"], "the cancel was queued behind it");
}

#[test]
fn an_answer_in_time_leaves_no_timer() {
    let mut pair = Pair::legacy(|sent, peer| {
        peer.answer_after(Duration::from_millis(29_999), sent, "{}");
    });
    for _ in 0..100 {
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.pass(secs(30));
        assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
        assert_eq!(pair.engine.poll_timeout(), None);
    }
}

#[test]
fn being_woken_early_does_no_harm() {
    let mut pair = silent();
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    for _ in 0..1000 {
        pair.pass(Duration::from_millis(29));
        assert!(pair.engine.session().is_waiting(ticket.key()));
    }
    pair.pass(secs(1));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
}

// A caller gives up.

#[test]
fn the_request_ends_at_once_and_the_server_is_told() {
    for modern_server in [false, true] {
        let mut pair = if modern_server { Pair::modern(|_, _| {}) } else { Pair::legacy(|_, _| {}) };
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        assert!(pair.engine.calls().cancel(ticket.key(), Some("the \"user\" pressed\nCtrl-C"), pair.now));
        assert!(!pair.engine.session().is_waiting(ticket.key()));
        pair.drive();
        assert!(matches!(pair.error(ticket), CallError::Cancelled { method } if method == "tools/call"));
        assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"]);
        let told = pair.sent[1].params();
        assert_eq!(told["requestId"], pair.sent[0].id().expect("a request"));
        assert_eq!(told["reason"], "the \"user\" pressed\nCtrl-C");
        assert_eq!(pair.engine.poll_timeout(), None);
    }
}

#[test]
fn the_reason_is_optional() {
    let mut pair = Pair::legacy(|_, _| {});
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.drive();
    let told = pair.sent[1].params();
    assert_eq!(told, &json!({"requestId": pair.sent[0].id().expect("a request")}));
}

#[test]
fn a_request_that_times_out_is_cancelled_with_the_time_as_the_reason() {
    let times = RequestOptions::new().timeout(Duration::from_millis(1_500)).total_timeout(Duration::from_secs(2));
    for (options, reason) in [(times.clone(), "timed out after 1.5 s"), (times.progress(), "timed out after 2 s")] {
        let mut pair = Pair::legacy(|_, _| {});
        let _ticket = pair.call("slow", &options).expect("it is sent");
        pair.drive();
        let token = pair.sent[0].params()["_meta"]["progressToken"].clone();
        if !token.is_null() {
            pair.pass(Duration::from_secs(1));
            pair.say(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
            ));
        }
        pair.pass(Duration::from_secs(3));
        assert_eq!(pair.sent.last().expect("two messages").params()["reason"], reason);
    }
}

#[test]
fn a_request_that_has_ended_cannot_be_cancelled() {
    let mut pair = Pair::legacy(|sent, peer| peer.answer(sent, "{}"));
    let ticket = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
    let ticket = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now), "nor twice");
    pair.drive();
    assert_eq!(pair.methods(), ["tools/call", "tools/call", "notifications/cancelled"]);
}

#[test]
fn the_others_go_on() {
    let mut pair = Pair::legacy(|sent, peer| {
        if sent.params()["name"] == "good" {
            peer.answer(sent, "{}");
        }
    });
    let tickets: Vec<_> = (0..100)
        .map(|n| pair.call(if n % 2 == 0 { "good" } else { "bad" }, &RequestOptions::new()).expect("it is sent"))
        .collect();
    for ticket in tickets.iter().skip(1).step_by(2) {
        assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    }
    pair.drive();
    for (n, ticket) in tickets.into_iter().enumerate() {
        assert_eq!(pair.take(ticket).expect("it has ended").is_ok(), n % 2 == 0);
    }
}

#[test]
fn closing_ends_all_requests_and_then_the_connection() {
    let mut pair = Pair::legacy(|_, _| {});
    let tickets: Vec<_> = (0..10).map(|_| pair.call("slow", &RequestOptions::new()).expect("it is sent")).collect();
    pair.engine.close();
    assert!(pair.engine.transmit().is_empty(), "what was not sent is dropped");
    for ticket in &tickets {
        let Some(Event::Reply(reply)) = pair.engine.poll_event() else { panic!("a reply to each, in order") };
        let error = ticket.decode(reply).expect_err("it has no result");
        assert!(matches!(error, CallError::Closed { reason: CloseReason::ByClient, .. }), "{error:?}");
    }
    assert_eq!(pair.engine.poll_event(), Some(Event::Closed(CloseReason::ByClient)));
    assert_eq!(pair.engine.poll_event(), None);
    assert!(!pair.engine.calls().cancel(tickets[0].key(), None, pair.now));
}

#[test]
fn requests_of_a_side_that_cannot_go_on_say_why() {
    let mut pair = Pair::legacy(|_, _| {});
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.engine.close_failed("the stream broke".into());
    assert!(pair.engine.transmit().is_empty(), "what was not sent is dropped");
    pair.drive();
    let error = pair.error(ticket);
    assert_eq!(error.to_string(), "`tools/call` got no answer: the connection failed: the stream broke");
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::Failed("the stream broke".into()))]);
}

#[test]
fn the_end_of_the_stream_ends_all_requests_too() {
    let mut pair = Pair::legacy(|_, _| {});
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.end();
    assert!(matches!(pair.error(ticket), CallError::Closed { reason: CloseReason::ByServer, .. }));
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::ByServer)]);
    assert_eq!(pair.engine.poll_timeout(), None);
}

#[test]
fn a_response_that_arrived_before_the_stream_broke_counts() {
    let mut pair = Pair::legacy(|_, _| {});
    let first = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    let second = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let id = pair.sent[0].id().expect("a request");
    let response =
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "in time"}]}}).to_string();
    assert_eq!(pair.engine.receive(format!("{response}\n").as_bytes(), pair.now), response.len() + 1);
    pair.engine.receive_error("the cable is cut".into(), pair.now);
    pair.drive();
    assert_eq!(pair.text(first), "in time");
    let error = pair.error(second);
    assert_eq!(error.to_string(), "`tools/call` got no answer: the connection failed: the cable is cut");
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::Failed("the cable is cut".into()))]);
}
