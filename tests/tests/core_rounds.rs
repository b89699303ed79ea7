//! Requests that take more than one round: a modern server wants input before it answers (2026-07-28, basic/patterns/mrtr).

use std::time::Duration;

use mcpwire_core::{
    Ask, CallError, CallTool, CallToolRaw, CallToolResult, Config, Deadline, Event, GetPrompt, GetPromptParams,
    InputError, Json, Notification, ReadResource, ReadResourceParams, RequestOptions, RpcError, SendError, Ticket,
};
use mcpwire_tests::sim::{Pair, Peer, Sent, legacy, modern};
use serde_json::{Value, json};

const DONE: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;

fn answering() -> Config {
    let mut config = Config::default();
    config.answers = ["roots/list", "elicitation/create", "sampling/createMessage"].map(Into::into).into();
    config
}

fn wants(inputs: &str, state: &str) -> String {
    format!(r#"{{"resultType":"input_required","inputRequests":{inputs},"requestState":{state}}}"#)
}

/// A server that answers its first requests with these results, and all after them with `DONE`.
fn scripted(rounds: Vec<String>) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut rounds = rounds.into_iter();
    modern(move |sent, peer| {
        if sent.id().is_some() {
            peer.answer(sent, rounds.next().as_deref().unwrap_or(DONE));
        }
    })
}

fn open(rounds: &[String]) -> Pair {
    Pair::open(answering(), scripted(rounds.to_vec()))
}

fn asks(pair: &mut Pair) -> Vec<Ask> {
    let asks = pair.events.iter().filter_map(|(_, event)| match event {
        Event::Ask(ask) => Some(ask.clone()),
        _ => None,
    });
    let asks = asks.collect();
    pair.events.clear();
    asks
}

fn call(pair: &mut Pair, options: &RequestOptions) -> Ticket<CallTool> {
    let ticket = pair.call("tool", options).expect("it is sent");
    pair.drive();
    ticket
}

/// A call whose server wants its roots, and what it asks.
fn asked(pair: &mut Pair) -> (Ticket<CallTool>, Ask) {
    let ticket = call(pair, &RequestOptions::new());
    let ask = asks(pair).pop().expect("a question");
    (ticket, ask)
}

fn answer(pair: &mut Pair, ask: &Ask, answer: &Value) -> bool {
    let answered = pair.engine.answer(ask.key, answer, pair.now()).expect("it is an object");
    pair.drive();
    answered
}

fn input_error<T: std::fmt::Debug>(result: Option<Result<T, CallError>>) -> InputError {
    match result.expect("it has ended") {
        Err(CallError::Input { error, .. }) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_of_two_rounds() {
    let two = r#"{"who":{"method":"elicitation/create","params":{"message": "?"}},"where":{"method":"roots/list"}}"#;
    let mut pair = open(&[wants(two, r#""one""#), wants(r#"{"a\"ö":{"method":"roots/list","params":null}}"#, "null")]);
    let ticket = call(&mut pair, &RequestOptions::new());
    let first = asks(&mut pair);
    let shown: Vec<_> = first.iter().map(|ask| (ask.method.as_str(), ask.params.as_ref().map(Json::get))).collect();
    assert_eq!(shown, [("elicitation/create", Some(r#"{"message": "?"}"#)), ("roots/list", None)]);
    assert!(first.iter().all(|ask| ask.during == Some(ticket.key())));
    assert!(answer(&mut pair, &first[1], &json!({"roots": []})));
    assert_eq!(pair.sent.len(), 1, "one answer is missing");
    assert!(pair.engine.is_waiting(ticket.key()) && pair.engine.in_flight() == 1 && !pair.engine.is_idle());
    assert!(answer(&mut pair, &first[0], &json!({"action": "accept", "content": {"name": "x"}})));
    let sent = &pair.sent[1];
    assert_eq!(sent.params()["inputResponses"]["who"]["content"]["name"], "x");
    assert_eq!(sent.params()["inputResponses"]["where"], json!({"roots": []}));
    assert_eq!((&sent.params()["requestState"], &sent.params()["name"]), (&json!("one"), &json!("tool")));
    assert!(sent.id() > pair.sent[0].id(), "a new id");
    assert_eq!(sent.meta(), pair.sent[0].meta());

    let second = asks(&mut pair);
    assert_eq!(second.len(), 1);
    assert!(answer(&mut pair, &second[0], &json!({})));
    assert_eq!(pair.sent[2].params()["inputResponses"], json!({"a\"ö": {}}), "only what this round asked for");
    assert!(pair.sent[2].params().get("requestState").is_none(), "there was none");
    assert_eq!(pair.text(ticket), "done");
    assert!(!answer(&mut pair, &second[0], &json!({})), "it was answered");
    assert!(pair.engine.is_idle() && pair.engine.poll_timeout().is_none());
}

#[test]
fn prompts_resources_and_raw_requests_have_rounds_too() {
    let round = wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#);
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            let whole = r#"{"messages":[],"contents":[],"content":[],"resultType":"complete"}"#;
            let again = sent.params()["requestState"] == "s" && sent.params()["inputResponses"]["r"].is_object();
            peer.answer(sent, if again { whole } else { &round });
        })
    });
    let arguments = Json::parse("{}").unwrap();
    let options = RequestOptions::new();
    let prompt = GetPromptParams { name: "p", arguments: &arguments };
    let prompt: Ticket<GetPrompt> = pair.engine.request(&prompt, &options, pair.now()).unwrap();
    let resource: Ticket<ReadResource> =
        pair.engine.request(&ReadResourceParams { uri: "a:b" }, &options, pair.now()).unwrap();
    let raw = pair.raw("tools/call", Some(r#"{"name":"t","requestState":"mine","_meta":{"a":1}}"#)).unwrap();
    let untyped: Ticket<CallToolRaw> = {
        let params = mcpwire_core::CallToolParams { name: "t", arguments: &arguments };
        pair.engine.request(&params, &options, pair.now()).unwrap()
    };
    pair.drive();
    let asks = asks(&mut pair);
    assert_eq!(asks.len(), 4);
    for ask in asks {
        assert!(answer(&mut pair, &ask, &json!({})));
    }
    assert!(pair.take(prompt).unwrap().is_ok());
    assert!(pair.take(resource).unwrap().is_ok());
    assert!(pair.take(untyped).unwrap().is_ok());
    assert!(pair.take(raw).unwrap().unwrap().get().contains("complete"));
    let last = pair.sent.iter().filter(|sent| sent.meta()["a"] == 1).collect::<Vec<_>>();
    assert_eq!(last.len(), 2, "the caller's `_meta` is sent again");
    assert_eq!(last[1].text.matches("requestState").count(), 1, "{}", last[1].text);
}

#[test]
fn the_state_goes_back_as_it_came() {
    let long = format!(r#""{}""#, r"x\u00e4\/\n\ud83d\ude00😀\\".repeat(60_000));
    for state in [r#""""#, r#""plain""#, r#""\u0041\/\"\ud83d\ude00 é""#, &long] {
        let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), state), wants("{}", state)]);
        let (ticket, ask) = asked(&mut pair);
        assert!(answer(&mut pair, &ask, &json!({})));
        for sent in &pair.sent[1..] {
            assert!(sent.text.contains(&format!(r#""requestState":{state},"#)), "it is not the same");
        }
        assert_eq!((pair.sent.len(), pair.text(ticket).as_str()), (3, "done"));
    }
}

#[test]
fn a_server_that_wants_patience_is_asked_again_at_once() {
    let busy = r#"{"resultType":"input_required","requestState":"later"}"#.to_owned();
    let mut pair = open(&[busy.clone(), busy]);
    let ticket = call(&mut pair, &RequestOptions::new());
    assert_eq!(pair.text(ticket), "done");
    assert_eq!(pair.sent.len(), 3);
    assert!(pair.sent[2].params().get("inputResponses").is_none());
}

#[test]
fn progress_of_any_round_goes_to_the_caller() {
    let mut rounds = vec![wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)].into_iter();
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            let token = &sent.meta()["progressToken"];
            peer.say(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
            ));
            peer.answer(sent, rounds.next().as_deref().unwrap_or(DONE));
        })
    });
    let ticket = call(&mut pair, &RequestOptions::new().progress());
    let of = |pair: &Pair| {
        let events = pair.happened();
        let keys = events.iter().filter_map(|event| match event {
            Event::Notification(Notification::Progress { key, .. }) => Some(*key),
            _ => None,
        });
        keys.collect::<Vec<_>>()
    };
    assert_eq!(of(&pair), [ticket.key()]);
    let ask = asks(&mut pair).remove(0);
    assert!(answer(&mut pair, &ask, &json!({})));
    assert_eq!(of(&pair), [ticket.key()]);
    assert_ne!(pair.sent[0].meta()["progressToken"], pair.sent[1].meta()["progressToken"]);
}

#[test]
fn what_is_not_to_be_had_fails_the_call_and_nothing_else() {
    let both = wants(&format!(r#"{{"a":{ROOTS},"b":{{"method":"elicitation/create"}}}}"#), "null");
    let mut pair = open(&[both]);
    let ticket = call(&mut pair, &RequestOptions::new());
    let asks = asks(&mut pair);
    let no = RpcError::new(-1, "nobody is here");
    assert!(pair.engine.refuse(asks[1].key, &no, pair.now()));
    pair.drive();
    assert_eq!(pair.happened(), [&Event::AskCancelled(asks[0].key)]);
    assert!(!answer(&mut pair, &asks[0], &json!({})));
    let error = pair.error(ticket);
    let says = error.to_string();
    assert!(says.contains("elicitation/create") && says.contains("`b`") && says.contains("nobody is here"), "{says}");
    assert_eq!(
        error,
        CallError::Input {
            method: "tools/call".into(),
            error: Box::new(InputError::Refused { name: "b".into(), asked: "elicitation/create".into(), error: no })
        }
    );
    assert_eq!(pair.sent.len(), 1, "the server does not wait, and is not told");
}

#[test]
fn what_is_not_offered_is_not_asked() {
    let both = format!(r#"{{"a":{ROOTS},"b":{{"method":"ping"}}}}"#);
    let mut pair = open(&[wants(&both, "null")]);
    let ticket = call(&mut pair, &RequestOptions::new());
    assert!(pair.events.is_empty(), "all or none");
    let error = input_error(pair.take(ticket));
    assert_eq!(error, InputError::NotOffered { name: "b".into(), asked: "ping".into() });
    assert!(error.to_string().contains("`ping`"), "{error}");
}

#[test]
fn malformed_wishes_fail_the_call() {
    for (wish, says) in [
        (r#"{"resultType":"input_required"}"#, "neither"),
        (r#"{"resultType":"input_required","inputRequests":{}}"#, "neither"),
        (r#"{"resultType":"input_required","inputRequests":null,"requestState":null}"#, "neither"),
        (r#"{"resultType":"input_required","inputRequests":[1],"requestState":"s"}"#, "`inputRequests` is no object"),
        (r#"{"resultType":"input_required","inputRequests":{"a":7}}"#, "no object"),
        (r#"{"resultType":"input_required","inputRequests":{"a":{}}}"#, "`method`"),
        (r#"{"resultType":"input_required","inputRequests":{"a":{"method":7}}}"#, "`method`"),
        (r#"{"resultType":"input_required","requestState":{"a":1}}"#, "`requestState` is no string"),
        (r#"{"resultType":"input_required","requestState":"a","x":[1,}"#, "result.x"),
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}}"#,
            "same name",
        ),
    ] {
        let mut pair = open(&[wish.to_owned()]);
        let ticket = call(&mut pair, &RequestOptions::new());
        let error = pair.error(ticket);
        assert!(matches!(error, CallError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(says), "{wish}: {error}");
        assert!(pair.events.is_empty() && pair.engine.is_idle());
    }
}

#[test]
fn other_types_of_results_are_errors_of_their_calls_unless_they_are_raw() {
    let mut pair = open(&vec![r#"{"resultType":"vendor/x","tools":[],"content":[]}"#.to_owned(); 4]);
    let ticket = call(&mut pair, &RequestOptions::new());
    assert!(pair.error(ticket).to_string().contains("a result of type \"vendor/x\""));
    let list: Ticket<mcpwire_core::ListTools> =
        pair.engine.request(&(), &RequestOptions::new(), pair.now()).expect("it is sent");
    let (raw, unrelated) = (pair.raw("tools/call", None).unwrap(), pair.raw("vendor/x", None).unwrap());
    pair.drive();
    assert!(pair.error(list).to_string().contains("vendor/x"));
    assert!(pair.take(raw).unwrap().is_ok() && pair.take(unrelated).unwrap().is_ok());
}

#[test]
fn other_methods_and_legacy_servers_have_no_rounds() {
    let wish = wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#);
    let mut pair = open(&[wish.clone(), wish.clone()]);
    let list: Ticket<mcpwire_core::ListTools> =
        pair.engine.request(&(), &RequestOptions::new(), pair.now()).expect("it is sent");
    let raw = pair.raw("vendor/x", None).unwrap();
    pair.drive();
    assert!(pair.error(list).to_string().contains("input_required"));
    assert_eq!(pair.take(raw).unwrap().unwrap().get(), wish);

    let mut pair = Pair::open(answering(), legacy(move |sent, peer| peer.answer(sent, &wish)));
    let ticket = call(&mut pair, &RequestOptions::new());
    assert!(pair.error(ticket).to_string().contains("input_required"));
    assert!(pair.events.is_empty());
}

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
    let limit = Config::default().max_rounds;
    assert_eq!(input_error(pair.take(ticket)), InputError::TooManyRounds { limit });
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
    config.max_kept = 1000;
    let round = |state: usize| wants(&format!(r#"{{"r":{ROOTS}}}"#), &format!("{:?}", "x".repeat(state)));

    let mut pair = Pair::open(config.clone(), scripted(vec![round(2000), round(10)]));
    let ticket = call(&mut pair, &RequestOptions::new());
    assert_eq!(input_error(pair.take(ticket)), InputError::TooMuchToKeep { limit: 1000 }, "a state that is too long");
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(2000));
    let raw = pair.raw("tools/call", Some(&long)).unwrap();
    pair.drive();
    assert_eq!(input_error(pair.take(raw)), InputError::TooMuchToKeep { limit: 1000 }, "parameters that are too long");
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
    assert!(pair.engine.cancel(ticket.key(), None));
    assert!(!pair.engine.cancel(ticket.key(), None));
    pair.drive();
    assert_eq!(pair.happened(), [&Event::AskCancelled(ask.key)]);
    assert_eq!(pair.error(ticket), CallError::Cancelled { method: "tools/call".into() });
    assert!(!answer(&mut pair, &ask, &json!({})));
    assert!(!pair.engine.refuse(ask.key, &RpcError::new(0, ""), pair.now()));
    assert_eq!(pair.sent.len(), 1, "the server is not told of what it does not have");
    assert!(pair.engine.is_idle() && pair.engine.poll_timeout().is_none());
}

#[test]
fn a_call_that_is_given_up_in_its_second_round() {
    let mut first = true;
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            if core::mem::take(&mut first) {
                peer.answer(sent, &wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#));
            }
        })
    });
    let (ticket, ask) = asked(&mut pair);
    assert!(answer(&mut pair, &ask, &json!({})));
    assert!(pair.engine.is_waiting(ticket.key()));
    assert!(pair.engine.cancel(ticket.key(), None));
    pair.drive();
    assert_eq!(pair.sent[2].method(), "notifications/cancelled");
    assert_eq!(pair.sent[2].params()["requestId"], pair.sent[1].message["id"], "under its id of this round");
    assert!(!pair.engine.is_waiting(ticket.key()));
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
        assert!(matches!(pair.happened()[..], [Event::AskCancelled(key), Event::Closed(_)] if *key == ask.key));
        assert!(matches!(pair.error(ticket), CallError::Closed { .. }));
        assert!(!answer(&mut pair, &ask, &json!({})));
    }
}

#[test]
fn only_the_total_deadline_runs_while_a_person_thinks() {
    let mut pair = open(&[wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#)]);
    let (ticket, ask) = asked(&mut pair);
    pair.pass(Duration::from_secs(3599));
    assert!(pair.engine.is_waiting(ticket.key()), "the idle deadline of 30 s does not run");
    pair.pass(Duration::from_secs(1));
    let error = pair.error(ticket);
    assert!(matches!(error, CallError::Timeout { deadline: Deadline::Total, .. }), "{error:?}");
    assert_eq!(pair.happened(), [&Event::AskCancelled(ask.key)]);
    assert_eq!(pair.sent.len(), 1, "there is nothing to cancel");
}

#[test]
fn each_round_has_the_idle_deadline_anew() {
    let mut first = true;
    let mut pair = Pair::open(answering(), {
        modern(move |sent, peer| {
            if core::mem::take(&mut first) {
                peer.answer(sent, &wants(&format!(r#"{{"r":{ROOTS}}}"#), r#""s""#));
            }
        })
    });
    let (ticket, ask) = asked(&mut pair);
    pair.pass(Duration::from_secs(100));
    assert!(answer(&mut pair, &ask, &json!({})));
    pair.pass(Duration::from_secs(29));
    assert!(pair.engine.is_waiting(ticket.key()));
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
    assert!(pair.engine.is_waiting(ticket.key()), "one is open still");
    assert!(answer(&mut pair, &asks[1], &json!({})));
    pair.pass(Duration::from_secs(29));
    assert!(pair.engine.is_waiting(ticket.key()));
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
    assert_eq!(pair.engine.in_flight(), 100);
    let by_key =
        |pair: &Pair, key| asks.iter().position(|ask| ask.during == Some(key)).map(|at| pair.sent[100 + at].id());
    for ticket in &tickets {
        let id = by_key(&pair, ticket.key()).flatten().expect("it was sent");
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{DONE}}}"#));
        assert_eq!(pair.text(*ticket), "done");
    }
    for ticket in plain {
        assert!(pair.engine.is_waiting(ticket.key()) && pair.engine.cancel(ticket.key(), None));
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
    assert!(!pair.engine.cancel(ticket.key(), None) && pair.engine.is_idle());
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
    let Some(spec) = std::env::var_os("MCPWIRE_SPEC") else {
        return println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    };
    let example = |path: &str| -> Value {
        let file = std::path::Path::new(&spec).join("2026-07-28/examples").join(path);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        serde_json::from_str(&text).expect("it is JSON")
    };
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
            assert_eq!(pair.engine.answer(ask.key, &responses[name], pair.now()), Ok(true));
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
