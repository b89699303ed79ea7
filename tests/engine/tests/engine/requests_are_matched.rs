//! Answers find their requests: in any order, in any spelling of the id, once.

use mcpwire_core::{CallError, Config, Raw, RequestOptions, Ticket};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, legacy, modern};

fn silent() -> impl FnMut(&Sent, &mut Peer) + 'static {
    legacy(|_, _| {})
}

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
        let mut pair = if modern_server {
            Pair::open(Config::default(), modern(answer_all))
        } else {
            Pair::open(Config::default(), legacy(answer_all))
        };
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
    let mut pair = Pair::open(Config::default(), silent());
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
    let mut pair = Pair::open(Config::default(), silent());
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
    let mut pair = Pair::open(Config::default(), silent());
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
    let mut pair = Pair::open(Config::default(), silent());
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
    let mut pair = Pair::open(Config::default(), silent());
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
    let mut pair = Pair::open(Config::default(), silent());
    let (first, _) = asked(&mut pair);
    let (second, id) = asked(&mut pair);
    pair.engine.receive(format!("{{\"id\":{id},\"result\":{{}}}}\n").as_bytes(), pair.now);
    let Some(mcpwire_core::Event::Reply(reply)) = pair.engine.poll_event() else { panic!("no reply") };
    assert_eq!((reply.key(), reply.method()), (second.key(), "x/y"));
    assert!(matches!(first.decode(reply.clone()), Err(CallError::WrongTicket { .. })));
    assert!(second.decode(reply).is_ok());
}
