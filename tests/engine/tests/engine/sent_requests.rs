//! The engine reports the requests that it sends, if the embedder wants that.

use mcpwire_core::{
    Config, Event, GetPrompt, GetPromptParams, Json, ReadResource, ReadResourceParams, RequestOptions, Tag,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};

/// The method, the target, the tag and the trace context of a request.
type Reported = (String, Option<String>, Option<u64>, Option<String>);

fn sent(pair: &Pair) -> Vec<Reported> {
    let events = pair.events.iter().filter_map(|(_, event)| match event {
        Event::RequestSent(sent) => Some(sent),
        _ => None,
    });
    events
        .map(|sent| {
            let tag = sent.tag.as_ref().and_then(Tag::get).copied();
            (sent.request.method.to_string(), sent.request.target.clone(), tag, sent.trace_parent.clone())
        })
        .collect()
}

fn ask(config: Config) -> Pair {
    let mut pair = Pair::open(config, modern(|_, _| {}));
    let mut options = RequestOptions::new().meta(Json::parse(r#"{"traceparent":"00-a\u0062-cd-01"}"#).unwrap());
    options.tag = Some(Tag::new(7_u64));
    let _ = pair.call("a \"tool\"", &options).expect("it is sent");
    let options = RequestOptions::new();
    let mut calls = pair.engine.calls();
    let uri = ReadResourceParams { uri: "file:///a" };
    let _ = calls.request::<ReadResource>(&uri, &options, pair.now).expect("it is sent");
    let prompt = GetPromptParams { name: "hi", arguments: &() };
    let _ = calls.request::<GetPrompt>(&prompt, &options, pair.now).expect("it is sent");
    let params = Json::parse(r#"{"name":"of another kind"}"#).unwrap();
    let _ = calls.request_raw("vendor/x", Some(&params), &options, pair.now).expect("it is sent");
    pair.drive();
    pair
}

#[test]
fn each_is_reported_with_its_target() {
    let mut config = Config::default();
    config.report_requests();
    let pair = ask(config);
    let of = |method: &str, target: Option<&str>, tag: Option<u64>, parent: Option<&str>| {
        (method.to_owned(), target.map(ToOwned::to_owned), tag, parent.map(ToOwned::to_owned))
    };
    assert_eq!(
        sent(&pair),
        [
            of("tools/call", Some("a \"tool\""), Some(7), Some("00-ab-cd-01")),
            of("resources/read", Some("file:///a"), None, None),
            of("prompts/get", Some("hi"), None, None),
            of("vendor/x", None, None, None),
        ]
    );
    let ids: Vec<_> = pair.sent.iter().map(mcpwire_engine_tests::sim::Sent::id).collect();
    let reported = pair.events.iter().filter_map(|(_, event)| match event {
        Event::RequestSent(sent) => Some(sent.id),
        _ => None,
    });
    assert_eq!(format!("{:?}", reported.map(Some).collect::<Vec<_>>()), format!("{ids:?}"));
}

#[test]
fn a_legacy_request_without_parameters_is_reported() {
    let mut config = Config::default();
    config.report_requests();
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    let _ = pair.engine.calls().request_raw("tools/call", None, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.drive();
    assert_eq!(sent(&pair), [("tools/call".to_owned(), None, None, None)]);
}

#[test]
fn nothing_is_reported_by_default() {
    assert_eq!(sent(&ask(Config::default())), []);
}
