//! Everything that is sent is what the schema of the revision in use asks for: requests with any parameters, notifications,
//! the opening, answers to what servers ask, requests that are sent again with input, and what is said of tasks.

mod answers;
mod revision;
mod tasks;
mod words;

use mcpwire_core::internal::{
    Subscribe, SubscribeParams, SubscriptionsListen, SubscriptionsListenParams, Unsubscribe, UnsubscribeParams,
};
use mcpwire_core::{
    CallTool, CallToolParams, Complete, CompleteParams, CompletionReference, Config, GetPrompt, GetPromptParams, Json,
    ListParams, ListPrompts, ListResourceTemplates, ListResources, ListTools, Method, Params, Ping, ProtocolVersion,
    ReadResource, ReadResourceParams, RequestOptions, RootsListChanged, SendError, SetLevel, SetLevelParams,
    SubscribeOptions, SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use proptest::prelude::*;
use serde_json::json;

use revision::{faults, open, revisions};
use words::{Words, config, words};

pub(crate) fn send<M: Method>(pair: &mut Pair, words: &Words, params: &impl Params<M>) {
    let options = RequestOptions::new();
    let mut options = if words.progress { options.progress() } else { options };
    options.meta = words.meta.as_ref().map(|meta| Json::from_value(meta).expect("it is JSON"));
    match pair.engine.calls().request::<M>(params, &options, pair.now) {
        Ok(_) | Err(SendError::NotInRevision { .. }) => {}
        Err(error) => panic!("{}: {error}", M::NAME),
    }
}

/// Agrees to every subscription; meets all else with silence.
fn answering(sent: &Sent, peer: &mut Peer) {
    match sent.method() {
        "subscriptions/listen" => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": sent.message["id"]});
            let params = json!({"notifications": sent.params()["notifications"], "_meta": meta});
            let method = "notifications/subscriptions/acknowledged";
            peer.say(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
        }
        "resources/subscribe" | "resources/unsubscribe" => peer.answer(sent, "{}"),
        _ => {}
    }
}

/// Sends every request and notification that the revision has.
fn send_all(pair: &mut Pair, version: ProtocolVersion, words: &Words) {
    let Words { name, uri, cursor, arguments, strings, level, .. } = words;
    let list = ListParams { cursor: cursor.as_deref() };
    let context: Vec<(&str, &str)> = strings.iter().map(|(name, value)| (&**name, &**value)).collect();
    for reference in [CompletionReference::Prompt { name }, CompletionReference::ResourceTemplate { uri }] {
        let mut params = CompleteParams::new(reference, name, uri);
        params.context = &context;
        send::<Complete>(pair, words, &params.for_version(version));
    }
    send::<ListTools>(pair, words, &list);
    send::<CallTool>(pair, words, &CallToolParams { name, arguments });
    send::<CallTool>(pair, words, &CallToolParams { name, arguments: &() });
    send::<ListResources>(pair, words, &list);
    send::<ListResourceTemplates>(pair, words, &list);
    send::<ReadResource>(pair, words, &ReadResourceParams { uri });
    send::<Subscribe>(pair, words, &SubscribeParams { uri });
    send::<Unsubscribe>(pair, words, &UnsubscribeParams { uri });
    send::<ListPrompts>(pair, words, &list);
    send::<GetPrompt>(pair, words, &GetPromptParams { name, arguments: strings });
    send::<SetLevel>(pair, words, &SetLevelParams { level });
    send::<Ping>(pair, words, &());
    let _ = pair.engine.calls().notify::<RootsListChanged>(&(), pair.now);
    let mut wanted = SubscriptionFilter::new().prompts().resource(uri).resource(format!("{uri}/more"));
    wanted.tools_list_changed = words.progress;
    send::<SubscriptionsListen>(pair, words, &SubscriptionsListenParams { notifications: &wanted });
    let listened = pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), pair.now).expect("it is sent");
    pair.drive();
    assert!(pair.engine.calls().poll_subscription(listened).is_some(), "it is open");
    assert!(pair.engine.calls().unsubscribe(listened, pair.now));
    let given_up = pair.call("t", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.calls().cancel(given_up.key(), Some(name), pair.now));
    pair.drive();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_and_notifications_are_what_the_revision_asks_for(config in config(), words in words()) {
        for revision in revisions().into_iter().flatten() {
            let mut pair = open(revision.version, config.clone(), "", answering);
            prop_assert!(!pair.sent.is_empty());
            send_all(&mut pair, revision.version, &words);
            prop_assert!(pair.sent.len() > 10);
            let faults = faults(revision, &pair);
            prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    }
}

/// The validators do find what is wrong: the promise above is not empty.
#[test]
fn a_wrong_message_is_noticed() {
    for revision in revisions().into_iter().flatten() {
        let mut pair = open(revision.version, Config::default(), "", |_, _| {});
        let _ = pair.raw("tools/call", Some(r#"{"arguments":{}}"#)).expect("it is sent");
        let _ = pair.raw("prompts/get", Some(r#"{"name":"p","arguments":{"a":1}}"#)).expect("it is sent");
        let _ = pair.raw("acme/unknown", None).expect("it is sent");
        let _ = pair.raw("tasks/get", Some(r#"{"taskId":5}"#)).expect("it is sent");
        pair.drive();
        assert_eq!(faults(revision, &pair).len(), 4, "{}", revision.version);
        let maybe = json!({"action": "maybe"});
        let has = revision.version >= ProtocolVersion::V2025_06_18;
        assert!(!has || revision.other(&["ElicitResult"], &maybe).is_some(), "{}", revision.version);
        let said = json!({"role": "assistant", "content": "text", "model": "m"});
        assert!(revision.other(&["CreateMessageResult"], &said).is_some(), "{}", revision.version);
        assert!(revision.other(&["ListRootsResult"], &json!({"roots": [{}]})).is_some(), "{}", revision.version);
    }
}
