//! Rounds that are given up, and servers that never have enough.

use std::time::Duration;

use mcpwire_core::{
    CallError, CallToolResult, Config, Deadline, Event, InputError, RequestOptions, RpcError, SendError,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use mcpwire_engine_tests::spec;
use serde_json::{Value, json};

use super::{DONE, ROOTS, answer, answering, asked, asks, call, input_error, open, scripted, wants};

#[test]
fn a_server_that_never_has_enough_comes_to_an_end() {
    let mut times = 0;
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            times += 1;
            peer.answer(sent, &format!(r#"{{"resultType":"input_required","requestState":"{times}"}}"#));
        })
    });
    let ticket = call(&mut pair, &RequestOptions::new());
    let limit = Config::default().max_input_rounds;
    assert_eq!(input_error(pair.take(ticket)), InputError::TooManyInputRounds { limit });
    assert_eq!(pair.sent.len(), 1 + limit as usize);
    assert!(pair.engine.is_idle());
}

#[test]
fn thousands_of_inputs_ask_nobody() {
    for (count, invalid) in [(65, false), (1024, false), (1025, true), (100_000, true)] {
        let inputs: Vec<String> = (0..count).map(|n| format!(r#""{n}":{ROOTS}"#)).collect();
        let mut pair = open(&[wants(&format!("{{{}}}", inputs.join(",")), "null")]);
        let ticket = call(&mut pair, &RequestOptions::new());
        match pair.error(ticket) {
            CallError::Invalid { .. } if invalid => {}
            CallError::Input { error, .. } if !invalid => {
                assert_eq!(*error, InputError::TooManyInputs { limit: 64 });
            }
            other => panic!("{count}: {other:?}"),
        }
        assert!(pair.events.is_empty());
    }
}

#[test]
fn what_is_kept_for_another_round_is_bounded() {
    let mut config = answering();
    config.max_retry_bytes = 1000;
    let round = |state: usize| wants(&format!(r#"{{"r":{ROOTS}}}"#), &format!("{:?}", "x".repeat(state)));

    let mut pair = Pair::open(config.clone(), scripted(vec![round(2000), round(10)]));
    let ticket = call(&mut pair, &RequestOptions::new());
    assert_eq!(input_error(pair.take(ticket)), InputError::RetryTooLarge { limit: 1000 }, "a state that is too long");
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(2000));
    let raw = pair.raw("tools/call", Some(&long)).unwrap();
    pair.drive();
    assert_eq!(input_error(pair.take(raw)), InputError::RetryTooLarge { limit: 1000 }, "parameters that are too long");
    let raw = pair.raw("tools/call", Some(&long)).unwrap();
    pair.drive();
    assert!(pair.take(raw).unwrap().is_ok(), "they are sent all the same");

    // Many that are small count together, and give back what they held.
    let mut pair = Pair::open(config, scripted(vec![round(200); 10]));
    for _ in 0..3 {
        let tickets: Vec<_> = (0..5).map(|_| call(&mut pair, &RequestOptions::new())).collect();
        loop {
            let asked = asks(&mut pair);
            assert!(asked.len() < 5, "{}", asked.len());
            if asked.is_empty() {
                break;
            }
            for ask in asked {
                assert!(answer(&mut pair, &ask, &json!({})));
            }
        }
        assert!(tickets.into_iter().all(|ticket| pair.take(ticket).is_some()));
        assert!(pair.engine.is_idle());
    }
}

#[test]
fn a_call_that_is_given_up_in_the_pause() {
    let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)]);
    let (ticket, ask) = asked(&mut pair);
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.drive();
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(ask.key)]);
    assert_eq!(pair.error(ticket), CallError::Cancelled { method: "tools/call".into() });
    assert!(!answer(&mut pair, &ask, &json!({})));
    assert!(!pair.engine.calls().refuse(ask.key, &RpcError::new(0, ""), pair.now));
    assert_eq!(pair.sent.len(), 1, "the server is not told of what it does not have");
    assert!(pair.engine.is_idle() && pair.engine.poll_timeout().is_none());
}

/// A server that wants input for the first request, and answers nothing after that.
fn asking_once() -> Pair {
    let mut first = true;
    let server = modern(move |sent, peer| {
        if core::mem::take(&mut first) {
            peer.answer(sent, &wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#));
        }
    });
    Pair::open(answering(), server)
}

#[test]
fn a_call_that_is_given_up_in_its_second_round() {
    let mut pair = asking_once();
    let (ticket, ask) = asked(&mut pair);
    assert!(answer(&mut pair, &ask, &json!({})));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.drive();
    assert_eq!(pair.sent[2].method(), "notifications/cancelled");
    assert_eq!(pair.sent[2].params()["requestId"], pair.sent[1].message["id"], "under its id of this round");
    assert!(!pair.engine.session().is_waiting(ticket.key()));
}

#[test]
fn the_end_of_the_connection_in_the_pause() {
    for by_server in [true, false] {
        let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)]);
        let (ticket, ask) = asked(&mut pair);
        if by_server {
            pair.end();
        } else {
            pair.engine.close();
        }
        pair.drive();
        assert!(
            matches!(pair.happened()[..], [Event::ServerRequestCancelled(key), Event::Closed(_)] if *key == ask.key)
        );
        assert!(matches!(pair.error(ticket), CallError::Closed { .. }));
        assert!(!answer(&mut pair, &ask, &json!({})));
    }
}

#[test]
fn only_the_total_deadline_runs_while_a_person_thinks() {
    let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)]);
    let (ticket, ask) = asked(&mut pair);
    pair.pass(Duration::from_secs(3599));
    assert!(pair.engine.session().is_waiting(ticket.key()), "the idle deadline of 30 s does not run");
    pair.pass(Duration::from_secs(1));
    let error = pair.error(ticket);
    assert!(matches!(error, CallError::Timeout { deadline: Deadline::Total, .. }), "{error:?}");
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(ask.key)]);
    assert_eq!(pair.sent.len(), 1, "there is nothing to cancel");
}

#[test]
fn each_round_has_the_idle_deadline_anew() {
    let mut pair = asking_once();
    let (ticket, ask) = asked(&mut pair);
    pair.pass(Duration::from_secs(100));
    assert!(answer(&mut pair, &ask, &json!({})));
    pair.pass(Duration::from_secs(29));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    pair.pass(Duration::from_secs(1));
    assert_eq!(pair.ended_at(ticket), Some(Duration::from_secs(130)));
    assert!(matches!(pair.error(ticket), CallError::Timeout { deadline: Deadline::Idle, .. }));
    assert_eq!(pair.sent[2].params()["requestId"], pair.sent[1].message["id"]);
}

#[test]
fn a_legacy_server_that_waits_for_a_person_is_not_too_slow() {
    let mut pair = Pair::open(answering(), legacy(|_, _| {}));
    let ticket = call(&mut pair, &RequestOptions::new());
    let short = call(&mut pair, &RequestOptions::new().timeout(Duration::ZERO).total_timeout(Duration::from_secs(60)));
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#);
    pair.say(r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#);
    let asks = asks(&mut pair);
    pair.pass(Duration::from_secs(100));
    assert_eq!(pair.ended_at(short), Some(Duration::from_secs(60)), "the total deadline runs");
    assert!(answer(&mut pair, &asks[0], &json!({})));
    pair.pass(Duration::from_secs(100));
    assert!(pair.engine.session().is_waiting(ticket.key()), "one is open still");
    assert!(answer(&mut pair, &asks[1], &json!({})));
    pair.pass(Duration::from_secs(29));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    pair.pass(Duration::from_secs(1));
    assert_eq!(pair.ended_at(ticket), Some(Duration::from_secs(230)));
    assert!(matches!(pair.error(ticket), CallError::Timeout { deadline: Deadline::Idle, .. }));
}

#[test]
fn a_legacy_server_that_asks_for_ever_meets_the_total_deadline() {
    let mut pair = Pair::open(answering(), legacy(|_, _| {}));
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#);
    pair.engine.shrink();
    let ticket = call(&mut pair, &RequestOptions::new());
    pair.pass(Duration::from_secs(3600));
    assert_eq!(pair.ended_at(ticket), Some(Duration::from_secs(3600)));
    assert!(matches!(pair.error(ticket), CallError::Timeout { deadline: Deadline::Total, .. }));
}

#[test]
fn the_server_that_gives_its_question_up_lets_the_deadlines_run() {
    let mut pair = Pair::open(answering(), legacy(|_, _| {}));
    let ticket = call(&mut pair, &RequestOptions::new());
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}"#);
    pair.pass(Duration::from_secs(50));
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    pair.pass(Duration::from_secs(30));
    assert_eq!(pair.ended_at(ticket), Some(Duration::from_secs(80)));
    assert!(pair.take(ticket).unwrap().is_err());
}

#[test]
fn a_server_that_does_not_read_gets_no_second_round() {
    let mut config = answering();
    config.max_transmit = 100;
    let mut pair = Pair::open(config, scripted(vec![wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)]));
    let (ticket, ask) = asked(&mut pair);
    pair.stuck = true;
    let waits = call(&mut pair, &RequestOptions::new());
    assert!(answer(&mut pair, &ask, &json!({})));
    assert_eq!(input_error(pair.take(ticket)), InputError::NotSent(SendError::TransmitFull { limit: 100 }));
    pair.stuck = false;
    pair.drive();
    assert_eq!(pair.text(waits), "done");
}

#[test]
fn many_requests_in_their_second_round_are_found_by_their_keys() {
    let round = wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#);
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            if sent.params().get("requestState").is_none() && sent.params()["name"] == "tool" {
                peer.answer(sent, &round);
            }
        })
    });
    let plain: Vec<_> = (0..50).map(|_| pair.call("silent", &RequestOptions::new()).unwrap()).collect();
    let tickets: Vec<_> = (0..50).map(|_| call(&mut pair, &RequestOptions::new())).collect();
    let mut asks = asks(&mut pair);
    asks.reverse();
    for ask in &asks {
        assert!(answer(&mut pair, ask, &json!({})));
    }
    assert_eq!(pair.engine.session().in_flight(), 100);
    let by_key = |pair: &Pair, key| {
        asks.iter()
            .position(|ask| ask.during.as_ref().is_some_and(|during| during.key == key))
            .map(|at| pair.sent[100 + at].id())
    };
    for ticket in &tickets {
        let id = by_key(&pair, ticket.key()).flatten().expect("it was sent");
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{DONE}}}"#));
        assert_eq!(pair.text(*ticket), "done");
    }
    for ticket in plain {
        assert!(
            pair.engine.session().is_waiting(ticket.key()) && pair.engine.calls().cancel(ticket.key(), None, pair.now)
        );
    }
    pair.drive();
    assert!(pair.engine.is_idle());
}

#[test]
fn an_overlong_second_round_fails_its_call() {
    let mut config = answering();
    config.max_message = 1000;
    let long = format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(2000));
    let mut pair = Pair::open(config, scripted(vec![wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#), long]));
    let (ticket, ask) = asked(&mut pair);
    assert!(answer(&mut pair, &ask, &json!({})));
    assert!(pair.error(ticket).to_string().contains("limit of 1000"));
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now) && pair.engine.is_idle());
}

#[test]
fn blank_parameters_and_odd_dress() {
    let mut pair = open(&[r#" { "x" : 1 , "requestState" : "s" , "resultType" : "input_required" } "#.to_owned()]);
    let raw = pair.raw("tools/call", Some("{ \n\t }")).unwrap();
    pair.drive();
    assert!(pair.take(raw).unwrap().is_ok());
    assert_eq!(pair.sent[1].params()["requestState"], "s");
    let none = pair.raw("prompts/get", None).unwrap();
    pair.drive();
    assert!(pair.take(none).unwrap().is_ok());
}

#[test]
fn a_round_in_pieces_is_the_same() {
    for size in [1, 2, 7, 64] {
        let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s\u00e4""#)]).in_pieces_of(size);
        let (ticket, ask) = asked(&mut pair);
        assert!(answer(&mut pair, &ask, &json!({"roots": []})));
        let result: CallToolResult = pair.take(ticket).unwrap().unwrap();
        assert_eq!(result.text().into_string(), "done");
        assert_eq!(pair.sent[1].params()["requestState"], "sä");
    }
}

/// The specification's own: what it asks for is asked, and its answers are sent as they stand there.
#[test]
fn the_official_examples_are_asked_and_answered() {
    let Some(examples) = spec::folder() else { return };
    let example = |path: &str| spec::example(&examples, path);
    let folder = "InputRequiredResult/input-required-result-with";
    let full = example(&format!("{folder}-elicitation-and-sampling-and-request-state.json"));
    let state_only = example(&format!("{folder}-request-state-only.json"));
    let requests = example("InputRequests/elicitation-and-sampling-input-requests.json");
    let responses = example("InputResponses/elicitation-and-sampling-input-responses.json");
    let second = json!({"resultType": "input_required", "inputRequests": requests});
    let mut pair = open(&[full.to_string(), second.to_string(), state_only.to_string()]);
    let ticket = call(&mut pair, &RequestOptions::new());
    for wanted in [&full["inputRequests"], &second["inputRequests"]] {
        for ask in asks(&mut pair) {
            let (name, request) = wanted
                .as_object()
                .expect("they have names")
                .iter()
                .find(|(_, request)| request["method"] == ask.method)
                .expect("it is one of them");
            assert_eq!(ask.params.expect("it has details").decode::<Value>().unwrap(), request["params"]);
            assert_eq!(pair.engine.calls().answer(ask.key, &responses[name], pair.now), Ok(true));
        }
        pair.drive();
    }
    for again in &pair.sent[1..3] {
        assert_eq!(again.params()["inputResponses"], responses);
    }
    assert_eq!(pair.sent[1].params()["requestState"], full["requestState"]);
    assert!(pair.sent[2].params().get("requestState").is_none());
    assert_eq!(pair.sent[3].params()["requestState"], state_only["requestState"]);
    assert_eq!(pair.text(ticket), "done");
}
