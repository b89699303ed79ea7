//! A server may lay out its messages as it likes: what a result is depends only on the result's own `resultType`.

use mcpwire_core::{CallToolParams, CallToolRaw, Event, Json, RequestOptions, Ticket};
use mcpwire_engine_tests::sim::{Pair, modern, web};
use proptest::prelude::*;
use proptest::sample::select;

use super::{answering, asks, wants};

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
    let mut pair = Pair::open(
        answering(),
        modern(move |sent, peer| peer.say(response(sent.id().unwrap_or(0), &result, &order, &space))),
    );
    let (params, options) = typed_and_raw();
    let now = pair.now;
    let _: Ticket<mcpwire_core::CallTool> = pair.engine.calls().request(&params, &options, now).unwrap();
    let _: Ticket<CallToolRaw> = pair.engine.calls().request(&params, &options, now).unwrap();
    pair.drive();
    asks(&mut pair).len()
}

/// Returns how many of a typed call and a raw call are asked for input.
fn asked_over_http(result: &str, order: &[usize], space: &str) -> usize {
    let (result, order, space) = (result.to_string(), order.to_vec(), space.to_string());
    let mut web = web::Web::ready(
        answering(),
        web::modern(move |asked, says| {
            let id = asked.message["id"].as_u64().unwrap_or(0);
            says.json(200, response(id, &result, &order, &space));
        }),
    );
    let (params, options) = typed_and_raw();
    let now = web.now;
    let _: Ticket<mcpwire_core::CallTool> = web.engine.calls().request(&params, &options, now).unwrap();
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
