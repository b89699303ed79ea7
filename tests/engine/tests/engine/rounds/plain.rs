//! Rounds that come to a result, and those that cannot.

use std::sync::Arc;

use mcpwire_core::{
    CallError, CallToolRaw, Event, GetPrompt, GetPromptParams, InputError, Json, Notification, ReadResource,
    ReadResourceParams, RequestOptions, RpcError, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::json;

use super::{DONE, ROOTS, answer, answering, asked, asks, call, input_error, open, wants};

#[test]
fn a_call_of_two_rounds() {
    let two = r#"{"who":{"method":"elicitation/create","params":{"message": "?"}},"where":{"method":"roots/list"}}"#;
    let mut pair = open(&[wants(two, r#""one""#), wants(r#"{"a\"ö":{"method":"roots/list","params":null}}"#, "null")]);
    let ticket = call(&mut pair, &RequestOptions::new());
    let first = asks(&mut pair);
    let shown: Vec<_> = first.iter().map(|ask| (ask.method.as_str(), ask.params.as_ref().map(Json::get))).collect();
    assert_eq!(shown, [("elicitation/create", Some(r#"{"message": "?"}"#)), ("roots/list", None)]);
    for ask in &first {
        let during = ask.during.as_ref().expect("the server names the request");
        assert_eq!((during.key, during.tool()), (ticket.key(), Some("tool")));
    }
    assert!(answer(&mut pair, &first[1], &json!({"roots": []})));
    assert_eq!(pair.sent.len(), 1, "one answer is missing");
    assert!(
        pair.engine.session().is_waiting(ticket.key())
            && pair.engine.session().in_flight() == 1
            && !pair.engine.is_idle()
    );
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
    let prompt: Ticket<GetPrompt> = pair.engine.calls().request(&prompt, &options, pair.now).unwrap();
    let resource: Ticket<ReadResource> =
        pair.engine.calls().request(&ReadResourceParams { uri: "a:b" }, &options, pair.now).unwrap();
    let raw = pair.raw("tools/call", Some(r#"{"name":"t","requestState":"mine","_meta":{"a":1}}"#)).unwrap();
    let untyped: Ticket<CallToolRaw> = {
        let params = mcpwire_core::CallToolParams { name: "t", arguments: &arguments };
        pair.engine.calls().request(&params, &options, pair.now).unwrap()
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
    assert!(pair.engine.calls().refuse(asks[1].key, &no, pair.now));
    pair.drive();
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(asks[0].key)]);
    assert!(!answer(&mut pair, &asks[0], &json!({})));
    let error = pair.error(ticket);
    let says = error.to_string();
    assert!(says.contains("elicitation/create") && says.contains("`b`") && says.contains("nobody is here"), "{says}");
    assert_eq!(
        error,
        CallError::Input {
            method: "tools/call".into(),
            error: Arc::new(InputError::Refused { name: "b".into(), asked: "elicitation/create".into(), error: no })
        }
    );
    assert_eq!(pair.sent.len(), 1, "the server does not wait, and is not told");
}

#[test]
fn an_input_whose_handler_panics_fails_the_call_with_the_message() {
    let both = wants(&format!(r#"{{"a":{ROOTS},"b":{{"method":"elicitation/create"}}}}"#), "null");
    let mut pair = open(&[both]);
    let ticket = call(&mut pair, &RequestOptions::new());
    let asks = asks(&mut pair);
    assert!(pair.engine.calls().report_handler_panic(asks[1].key, "at the \x1b[31mdisco", pair.now));
    assert!(!pair.engine.calls().report_handler_panic(asks[1].key, "once more", pair.now));
    pair.drive();
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(asks[0].key)]);
    let error = pair.error(ticket);
    assert_eq!(
        error.to_string(),
        "`tools/call` failed: the server did not get the input that it requested: the handler of `elicitation/create` for \
         the input `b` panicked: at the disco"
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
        pair.engine.calls().request(&(), &RequestOptions::new(), pair.now).expect("it is sent");
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
        pair.engine.calls().request(&(), &RequestOptions::new(), pair.now).expect("it is sent");
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
fn a_question_is_a_question_whatever_is_nested_in_it() {
    let reserved = r#"{"resultType":"complete","content":[]}"#;
    let long = "x".repeat(1000);
    let members = [
        r#""resultType":"input_required""#.to_owned(),
        format!(r#""inputRequests":{{"r":{{"method":"roots/list","params":{{"_meta":{reserved}}}}}}}"#),
        format!(r#""_meta":{{"gateway/result":{reserved},"pad":"{long}","last":{reserved}}}"#),
        r#""requestState":"s""#.to_owned(),
    ];
    // Each member stands at each place once.
    for first in 0..members.len() {
        let round: Vec<_> = (0..members.len()).map(|at| &*members[(first + at) % members.len()]).collect();
        for round in [round.join(","), round.join(",").replace("resultType\":\"input", "result\\u0054ype\":\"input")] {
            let round = format!("{{{round}}}");
            let mut pair = open(&[round.clone(), round.clone()]);
            let ticket = call(&mut pair, &RequestOptions::new());
            let params = mcpwire_core::CallToolParams { name: "t", arguments: &Json::parse("{}").unwrap() };
            let raw: Ticket<CallToolRaw> =
                pair.engine.calls().request(&params, &RequestOptions::new(), pair.now).unwrap();
            pair.drive();
            let asks = asks(&mut pair);
            assert_eq!(asks.len(), 2, "{round}");
            for ask in asks {
                assert!(answer(&mut pair, &ask, &json!({"roots": []})), "{round}");
            }
            assert_eq!(pair.text(ticket), "done", "{round}");
            let Some(Ok(raw)) = pair.take(raw) else { panic!("{round}") };
            assert!(raw.get().contains("done"), "{round}");
        }
    }
}
