//! Parameters that were prepared beforehand are sent as if they had not been.

use std::collections::BTreeMap;

use mcpwire_core::internal::Prepared;
use mcpwire_core::{
    CallTool, CallToolParams, CallToolRaw, Config, Json, ListParams, ListTools, Method, Params, RequestOptions,
    SendError,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde::Serialize;

/// A method that both eras have.
enum Nothing {}

impl Method for Nothing {
    const NAME: &'static str = "acme/nothing";
    type Result = Json;
}

#[derive(Serialize)]
struct NoParams {}

impl Params<Nothing> for NoParams {}

fn pairs() -> [Pair; 2] {
    let config = || Config::new("me", "3");
    [Pair::open(config(), legacy(|_, _| {})), Pair::open(config(), modern(|_, _| {}))]
}

/// What one request becomes on the wire, sent as it is and prepared.
fn both_ways<M: Method>(params: &impl Params<M>, options: &RequestOptions) {
    for (mut one, mut other) in pairs().into_iter().zip(pairs()) {
        let now = one.now;
        let prepared = Prepared::<M>::new(params).expect("it is good");
        let _ticket = one.engine.calls().request(params, options, now).expect("it is sent");
        let _ticket = other.engine.calls().request_prepared(&prepared.clone(), options, now).expect("it is sent");
        let (one, other) = (one.engine.transmit(), other.engine.transmit());
        assert_eq!(String::from_utf8_lossy(one), String::from_utf8_lossy(other));
        assert!(!one.is_empty());
    }
}

#[test]
fn the_bytes_are_the_same() {
    #[derive(Serialize)]
    struct Arguments {
        text: &'static str,
    }
    let laid_out = Json::parse("{\n \"a\": 1\r\n}").expect("it is JSON");
    let meta = Json::parse("{\"trace\":1}").expect("it is JSON");
    for options in
        [RequestOptions::new(), RequestOptions::new().progress(), RequestOptions::new().progress().meta(meta)]
    {
        both_ways::<CallTool>(&CallToolParams { name: "x", arguments: &Arguments { text: "a\"b\n" } }, &options);
        both_ways::<CallToolRaw>(&CallToolParams { name: "x", arguments: &laid_out }, &options);
        both_ways::<CallTool>(&CallToolParams { name: "x", arguments: &() }, &options);
        both_ways::<ListTools>(&ListParams { cursor: Some("c") }, &options);
        both_ways::<ListTools>(&ListParams { cursor: None }, &options);
        both_ways::<Nothing>(&NoParams {}, &options);
        both_ways::<Nothing>(&(), &options);
    }
}

#[test]
fn the_same_answer_comes_back() {
    let mut pair = Pair::open(Config::default(), legacy(|sent, peer| peer.answer(sent, r#"{"content":[]}"#)));
    let prepared = Prepared::<CallTool>::new(&CallToolParams { name: "x", arguments: &() }).expect("it is good");
    for _ in 0..2 {
        let ticket =
            pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).expect("it is sent");
        pair.drive();
        assert!(pair.take(ticket).expect("it has ended").is_ok());
    }
}

#[test]
fn what_cannot_be_sent_cannot_be_prepared() {
    fn alike<M: Method>(params: &impl Params<M>) -> SendError {
        let [mut pair, _] = pairs();
        let now = pair.now;
        let sent = pair.engine.calls().request(params, &RequestOptions::new(), now).expect_err("it cannot be sent");
        assert!(pair.engine.transmit().is_empty(), "nothing of it is left");
        let prepared = Prepared::<M>::new(params).expect_err("it cannot be prepared");
        assert_eq!(sent, prepared);
        prepared
    }
    let no_object = alike::<CallTool>(&CallToolParams { name: "x", arguments: &[1] });
    assert_eq!(no_object, SendError::NotAnObject { method: "tools/call".into() });
    let arguments = BTreeMap::from([((), 1)]);
    let no_json = alike::<CallTool>(&CallToolParams { name: "x", arguments: &arguments });
    assert!(matches!(no_json, SendError::Params { method, .. } if method == "tools/call"));
}

#[test]
fn limits_are_those_of_the_moment_when_it_is_sent() {
    let mut config = Config::default();
    config.max_in_flight = 1;
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    let prepared = Prepared::<Nothing>::new(&()).expect("it is good");
    let mut send = || pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).map(drop);
    assert_eq!(send(), Ok(()));
    assert_eq!(send(), Err(SendError::TooManyInFlight { limit: 1 }));
    pair.engine.close();
    let ended = pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).map(drop);
    assert_eq!(ended, Err(SendError::Closed));
}

#[test]
fn it_shows_what_it_holds_in_short() {
    let text = "x".repeat(100_000);
    let prepared = Prepared::<CallTool>::new(&CallToolParams { name: &text, arguments: &() }).expect("it is good");
    let shown = format!("{prepared:?}");
    assert!(shown.contains("tools/call") && shown.len() < 1000, "{shown}");
}
