//! Answers of modern servers are kept for as long as these say that they hold, and no longer than nothing changes.
//! (2026-07-28, server/utilities/caching)

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use mcpwire_core::{
    CacheLimits, CallError, Config, ListParams, ListTools, Method, Params, ReadResource, ReadResourceParams,
    RequestOptions, SendError, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, modern};

const SECOND: Duration = Duration::from_secs(1);

/// A server whose answers say these hints, and which of them it is.
fn counting(hints: &'static str) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut count = 0;
    move |sent, peer| {
        if sent.id().is_none() {
            return;
        }
        count += 1;
        let list = if sent.method() == "resources/read" { "contents" } else { "tools" };
        let entry = if list == "tools" {
            format!(r#"{{"name":"{count}","inputSchema":{{}}}}"#)
        } else {
            format!(r#"{{"uri":"x","text":"{count}"}}"#)
        };
        peer.answer(sent, &format!(r#"{{"{list}":[{entry}],{hints}"resultType":"complete"}}"#));
    }
}

fn pair(hints: &'static str) -> Pair {
    Pair::modern(counting(hints))
}

fn ask<M: Method>(pair: &mut Pair, params: &impl Params<M>, options: &RequestOptions) -> Ticket<M> {
    let now = pair.now;
    let ticket = pair.engine.calls().request::<M>(params, options, now).expect("it is taken");
    pair.drive();
    ticket
}

/// Which answer of the server's a list is.
fn tools(pair: &mut Pair, options: &RequestOptions) -> String {
    let ticket = ask::<ListTools>(pair, &ListParams::default(), options);
    let page = pair.take(ticket).expect("it has ended").expect("it went well");
    page.tools.items[0].name.clone()
}

fn read(pair: &mut Pair, uri: &str) -> String {
    let ticket = ask::<ReadResource>(pair, &ReadResourceParams { uri }, &RequestOptions::new());
    let result = pair.take(ticket).expect("it has ended").expect("it went well");
    result.contents.items[0].text.clone().unwrap_or_default()
}

#[test]
fn an_answer_holds_for_its_time() {
    let mut pair = pair(r#""ttlMs":5000,"#);
    let usual = RequestOptions::new();
    for (answer, cached) in [("1", 1), ("2", 2)] {
        assert_eq!(tools(&mut pair, &usual), answer);
        pair.pass(Duration::from_millis(4999));
        let before = pair.sent.len();
        assert_eq!(tools(&mut pair, &usual), answer);
        assert_eq!(pair.sent.len(), before, "nothing goes over the wire");
        assert_eq!(pair.engine.session().in_flight(), 0);
        assert_eq!(pair.engine.session().stats().cached, cached);
        pair.pass(Duration::from_millis(1));
    }
    assert_eq!(tools(&mut pair, &usual), "3");
}

#[test]
fn a_raw_request_is_the_same_request() {
    let mut pair = pair(r#""ttlMs":5000,"#);
    for params in [None, Some("{}"), Some(r#"{"_meta":{"traceparent":"00-1"}}"#)] {
        let ticket = pair.raw("tools/list", params).expect("it is taken");
        pair.drive();
        assert!(pair.take(ticket).expect("it has ended").is_ok());
    }
    assert_eq!(pair.sent.len(), 1);
    for params in [r#"{"cursor":"2"}"#, r#"{"_meta":{"acme/tenant":"b"}}"#] {
        let ticket = pair.raw("tools/list", Some(params)).expect("it is taken");
        pair.drive();
        assert!(pair.take(ticket).expect("it has ended").is_ok());
    }
    assert_eq!(pair.sent.len(), 3);
}

#[test]
fn what_says_no_time_is_asked_for_each_time() {
    for hints in ["", r#""ttlMs":0,"#, r#""ttlMs":-5,"#, r#""ttlMs":"1000","#, r#""ttlMs":null,"#] {
        let mut pair = pair(hints);
        for round in 1..4 {
            assert_eq!(tools(&mut pair, &RequestOptions::new()), round.to_string(), "{hints}");
        }
    }
}

#[test]
fn for_ever_ends_with_the_day_or_as_it_is_configured() {
    let hour = configured(|config| config.cache = CacheLimits::new(64 * 1024, 100, 3600 * SECOND));
    for (config, hours) in [(Config::default(), 24), (hour, 1)] {
        let mut pair = Pair::modern_with(config, counting(r#""ttlMs":1152921504606846976,"#));
        assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
        pair.pass((hours * 3600 - 1) * SECOND);
        assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
        pair.pass(SECOND);
        assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
    }
}

#[test]
fn legacy_servers_are_asked_each_time() {
    let mut pair = Pair::legacy(counting(r#""ttlMs":5000,"#));
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
}

#[test]
fn it_can_be_switched_off() {
    let mut pair =
        Pair::open(configured(|config| config.cache = CacheLimits::NONE), modern(counting(r#""ttlMs":5000,"#)));
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
}

#[test]
fn a_fresh_answer_takes_the_place_of_the_old_one() {
    let mut pair = pair(r#""ttlMs":5000,"#);
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    assert_eq!(tools(&mut pair, &RequestOptions::new().fresh()), "2");
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
}

#[test]
fn a_change_that_is_told_ends_it() {
    let notify = |method: &str, uri: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"uri":"{uri}"}}}}"#)
    };
    let mut pair = pair(r#""ttlMs":5000,"#);
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    assert_eq!(read(&mut pair, "file:///a"), "2");
    assert_eq!(read(&mut pair, "file:///b"), "3");
    pair.say(notify("prompts/list_changed", ""));
    pair.say(notify("resources/list_changed", ""));
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    pair.say(notify("tools/list_changed", ""));
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "4");
    assert_eq!(read(&mut pair, "file:///a"), "2");
    pair.say(notify("resources/updated", "file:///a"));
    assert_eq!(read(&mut pair, "file:///b"), "3");
    assert_eq!(read(&mut pair, "file:///a"), "5");
}

/// What the answer says may be older than the change.
#[test]
fn an_answer_that_a_change_overtakes_is_not_kept() {
    let mut count = 0;
    let mut pair = Pair::modern(move |sent, peer| {
        count += 1;
        if count == 1 {
            peer.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        }
        peer.answer(sent, &format!(r#"{{"tools":[{{"name":"{count}","inputSchema":{{}}}}],"ttlMs":9000}}"#));
    });
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
}

#[test]
fn an_old_answer_is_better_than_an_error_for_those_who_say_so() {
    // How the server fails: an error, silence, its end.
    for (how, kind) in ["error", "silence", "end"].into_iter().zip(0..) {
        let failing = Rc::new(Cell::new(false));
        let fails = Rc::clone(&failing);
        let mut answers = counting(r#""ttlMs":1000,"#);
        let mut pair = Pair::modern(move |sent, peer| match (fails.get(), kind) {
            (true, 0) => peer.refuse(sent, -32603, "the database is away"),
            (true, 1) => {}
            (true, _) => peer.end(),
            _ => answers(sent, peer),
        });
        assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
        pair.pass(2 * SECOND);
        failing.set(true);
        let hopeful = ask::<ListTools>(&mut pair, &ListParams::default(), &RequestOptions::new().stale_if_error());
        let strict = if kind == 2 {
            None
        } else {
            Some(ask::<ListTools>(&mut pair, &ListParams::default(), &RequestOptions::new()))
        };
        pair.pass(31 * SECOND);
        let page = pair.take(hopeful).expect("it has ended").expect("it went well");
        assert_eq!(page.tools.items[0].name, "1", "{how}");
        if let Some(strict) = strict {
            assert!(pair.take(strict).expect("it has ended").is_err(), "{how}");
        }
    }
}

#[test]
fn what_was_given_up_is_given_up() {
    let mut answers = counting(r#""ttlMs":1000,"#);
    let mut asked = 0;
    let mut pair = Pair::modern(move |sent, peer| {
        asked += 1;
        if asked == 1 {
            answers(sent, peer);
        }
    });
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    pair.pass(2 * SECOND);
    let ticket = ask::<ListTools>(&mut pair, &ListParams::default(), &RequestOptions::new().stale_if_error());
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.drive();
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
}

#[test]
fn a_cursor_that_does_not_hold_takes_all_pages_with_it() {
    let broken = Rc::new(Cell::new(false));
    let is_broken = Rc::clone(&broken);
    let mut answers = counting(r#""ttlMs":5000,"#);
    let mut pair = Pair::modern(move |sent, peer| {
        if is_broken.get() && sent.params()["cursor"] == "next" {
            peer.refuse(sent, -32602, "no such cursor");
        } else {
            answers(sent, peer);
        }
    });
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    broken.set(true);
    let ticket = ask::<ListTools>(&mut pair, &ListParams { cursor: Some("next") }, &RequestOptions::new());
    assert!(matches!(pair.error(ticket), CallError::Server { .. }));
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "2");
}

#[test]
fn what_asks_for_input_and_its_retries_are_not_kept() {
    let mut count = 0;
    let mut pair = Pair::modern(move |sent, peer| {
        count += 1;
        if sent.params().get("requestState").is_some() {
            peer.answer(sent, &format!(r#"{{"contents":[{{"uri":"x","text":"{count}"}}],"ttlMs":5000}}"#));
        } else {
            peer.answer(sent, r#"{"resultType":"input_required","inputRequests":{},"requestState":"s","ttlMs":5000}"#);
        }
    });
    for params in
        [r#"{"uri":"x"}"#, r#"{"uri":"x","requestState":"s"}"#, r#"{"uri":"x","inputResponses":{},"requestState":"s"}"#]
    {
        for _ in 0..2 {
            let ticket = pair.raw("resources/read", Some(params)).expect("it is taken");
            pair.drive();
            assert!(pair.take(ticket).is_some());
        }
    }
    assert!(pair.sent.len() >= 6, "each was sent: {:?}", pair.methods());
    assert_eq!(pair.engine.session().stats().cached, 0);
}

#[test]
fn other_methods_are_never_kept() {
    let mut pair = pair(r#""ttlMs":5000,"#);
    for (method, params) in [("tools/call", r#"{"name":"x"}"#), ("prompts/get", r#"{"name":"x"}"#), ("acme/list", "{}")]
    {
        let before = pair.sent.len();
        for _ in 0..3 {
            let ticket = pair.raw(method, Some(params)).expect("it is sent");
            pair.drive();
            assert!(pair.take(ticket).is_some());
        }
        assert_eq!(pair.sent.len(), before + 3, "{method}");
    }
}

#[test]
fn ten_thousand_resources_are_bounded() {
    let config = configured(|config| config.cache = CacheLimits::new(64 * 1024, 100, 3600 * SECOND));
    let mut pair = Pair::modern_with(config, counting(r#""ttlMs":5000000,"#));
    for number in 0..10_000 {
        read(&mut pair, &format!("test://{number}"));
        pair.sent.clear();
    }
    let shown = format!("{:?}", pair.engine).len();
    assert!(shown < 2 * 1024 * 1024, "{shown}");
    read(&mut pair, "test://9999");
    assert!(pair.sent.is_empty(), "the last ones are still there");
    read(&mut pair, "test://1");
    assert_eq!(pair.sent.len(), 1);
}

#[test]
fn a_closed_connection_answers_nothing() {
    let mut pair = pair(r#""ttlMs":5000,"#);
    assert_eq!(tools(&mut pair, &RequestOptions::new()), "1");
    pair.end();
    let now = pair.now;
    let refused = pair.engine.calls().request::<ListTools>(&ListParams::default(), &RequestOptions::new(), now);
    assert_eq!(refused.err(), Some(SendError::Closed));
}

#[test]
fn requests_that_never_end_leave_nothing() {
    let mut pair = Pair::modern(|_, _| {});
    for number in 0..2_000 {
        let uri = format!("test://{number}");
        let ticket = ask::<ReadResource>(&mut pair, &ReadResourceParams { uri: &uri }, &RequestOptions::new());
        pair.engine.calls().cancel(ticket.key(), None, pair.now);
        pair.drive();
        pair.sent.clear();
    }
    let shown = format!("{:?}", pair.engine).len();
    assert!(shown < 64 * 1024, "{shown}");
}
