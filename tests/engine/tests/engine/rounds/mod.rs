//! Requests that take more than one round: a modern server wants input before it answers (2026-07-28, basic/patterns/mrtr).

mod endless;

use std::sync::Arc;

use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolRaw, Config, Event, GetPrompt, GetPromptParams, InputError, Json,
    Notification, ReadResource, ReadResourceParams, RequestOptions, RpcError, ServerRequest, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, legacy, modern, web};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const DONE: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;

fn answering() -> Config {
    let mut config = Config::default();
    for method in ["roots/list", "elicitation/create", "sampling/createMessage"] {
        config.answer(method);
    }
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

fn asks(pair: &mut Pair) -> Vec<ServerRequest> {
    let asks = pair.events.iter().filter_map(|(_, event)| match event {
        Event::ServerRequest(ask) => Some(ask.clone()),
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
fn asked(pair: &mut Pair) -> (Ticket<CallTool>, ServerRequest) {
    let ticket = call(pair, &RequestOptions::new());
    let ask = asks(pair).pop().expect("a question");
    (ticket, ask)
}

fn answer(pair: &mut Pair, ask: &ServerRequest, answer: &Value) -> bool {
    let answered = pair.engine.calls().answer(ask.key, answer, pair.now).expect("it is an object");
    pair.drive();
    answered
}

fn input_error<T: std::fmt::Debug>(result: Option<Result<T, CallError>>) -> InputError {
    match result.expect("it has ended") {
        Err(CallError::Input { error, .. }) => Arc::unwrap_or_clone(error),
        other => panic!("{other:?}"),
    }
}

// Rounds that come to a result, and those that cannot.

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
        let params = CallToolParams { name: "t", arguments: &arguments };
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
            let params = CallToolParams { name: "t", arguments: &Json::parse("{}").unwrap() };
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

// A server may lay out its messages as it likes: what a result is depends only on the result's own `resultType`.

/// An `input_required` result from its members, in this order.
fn result(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

/// A response with its members in the order `order`, and with `space` around each token between them.
fn response(id: u64, result: &str, order: &[usize], space: &str) -> String {
    let members = [r#""jsonrpc":"2.0""#.to_string(), format!("\"id\":{id}"), format!("\"result\":{space}{result}")];
    let members: Vec<_> = order.iter().map(|at| format!("{space}{}{space}", members[*at])).collect();
    format!("{{{}}}", members.join(","))
}

fn members() -> impl Strategy<Value = Vec<String>> {
    const COMPLETE: &str = r#""resultType":"complete""#;
    let key = select(
        &[
            r#""resultType":"input_required""#,
            r#""resultT\u0079pe":"input_required""#,
            r#""resultType" : "input\u005frequired""#,
        ][..],
    );
    let nested = prop_oneof![
        Just(format!("\"_meta\":{{{COMPLETE}}}")),
        Just(format!("\"_meta\":{{\"result\":{{\"a\":1,{COMPLETE}}}}}")),
        Just(format!("\"results\":[{{{COMPLETE}}},{{\"content\":[],{COMPLETE}}}]")),
        Just(r#""text":"\"resultType\":\"complete\"""#.to_string()),
        Just(r#""id":7,"jsonrpc":"2.0""#.to_string()),
    ];
    let inputs = select(
        &[
            r#""inputRequests":{"r":{"method":"roots/list"}}"#,
            r#""inputRequests":{"r":{"method":"roots/list","params":{"_meta":{"resultType":"complete"}}}}"#,
            r#""inputRequests":{"r":{"params":{"result":{"resultType":"complete"}},"method":"roots/list"}}"#,
        ][..],
    );
    let filler = (0..600usize).prop_map(|length| format!("\"filler\":\"{}\"", "x".repeat(length)));
    (key, prop::collection::vec(nested, 0..3), inputs, filler)
        .prop_map(|(key, nested, inputs, filler)| {
            let mut members = vec![key.to_string(), inputs.to_string(), filler, "\"requestState\":\"s\"".to_string()];
            members.extend(nested);
            members
        })
        .prop_shuffle()
}

fn typed_and_raw() -> (CallToolParams<'static, Json>, RequestOptions) {
    static EMPTY: std::sync::LazyLock<Json> = std::sync::LazyLock::new(|| Json::parse("{}").unwrap());
    (CallToolParams { name: "t", arguments: &EMPTY }, RequestOptions::new())
}

/// Returns how many of a typed call and a raw call are asked for input.
fn asked_over_stdio(result: &str, order: &[usize], space: &str) -> usize {
    let (result, order, space) = (result.to_string(), order.to_vec(), space.to_string());
    let mut pair = Pair::modern_with(answering(), move |sent, peer| {
        peer.say(response(sent.id().unwrap_or(0), &result, &order, &space));
    });
    let (params, options) = typed_and_raw();
    let now = pair.now;
    let _: Ticket<CallTool> = pair.engine.calls().request(&params, &options, now).unwrap();
    let _: Ticket<CallToolRaw> = pair.engine.calls().request(&params, &options, now).unwrap();
    pair.drive();
    asks(&mut pair).len()
}

/// Returns how many of a typed call and a raw call are asked for input.
fn asked_over_http(result: &str, order: &[usize], space: &str) -> usize {
    let (result, order, space) = (result.to_string(), order.to_vec(), space.to_string());
    let mut web = web::Web::modern_with(answering(), move |asked, says| {
        let id = asked.message["id"].as_u64().unwrap_or(0);
        says.json(200, response(id, &result, &order, &space));
    });
    let (params, options) = typed_and_raw();
    let now = web.now;
    let _: Ticket<CallTool> = web.engine.calls().request(&params, &options, now).unwrap();
    let _: Ticket<CallToolRaw> = web.engine.calls().request(&params, &options, now).unwrap();
    web.drive();
    web.happened().into_iter().filter(|event| matches!(event, Event::ServerRequest(_))).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_request_for_input_is_known_in_every_layout(
        members in members(),
        order in Just(vec![0, 1, 2]).prop_shuffle(),
        space in select(&["", " "][..]),
    ) {
        let result = result(&members);
        prop_assert_eq!(asked_over_stdio(&result, &order, space), 2, "{} {:?}", result, order);
        prop_assert_eq!(asked_over_http(&result, &order, space), 2, "{} {:?}", result, order);
    }
}

/// The last of several members with one name counts, as in the result that a program reads.
#[test]
fn the_last_of_two_types_counts() {
    let asks = wants(r#"{"r":{"method":"roots/list"}}"#, "\"s\"");
    let first_complete = asks.replacen('{', r#"{"resultType":"complete","#, 1);
    let mut last_complete = asks.clone();
    last_complete.truncate(asks.len() - 1);
    last_complete.push_str(r#","content":[],"resultType":"complete"}"#);
    for order in [[0, 1, 2], [2, 0, 1]] {
        assert_eq!(asked_over_stdio(&first_complete, &order, ""), 2);
        assert_eq!(asked_over_stdio(&last_complete, &order, ""), 0);
    }
}
