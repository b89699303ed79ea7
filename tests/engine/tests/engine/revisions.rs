//! What the negotiated revision does not have, and what the server did not declare, is not sent; and the other differences
//! between the revisions that a caller need not know of.

use std::collections::BTreeMap;
use std::fmt::Debug;

use mcpwire_core::internal::{
    Discover, Prepared, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams, client_methods,
};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Complete, CompleteParams, CompletionReference, Config, GetPrompt,
    GetPromptParams, Json, ListParams, ListPrompts, ListResourceTemplates, ListResources, ListTools, LoggingLevel,
    Method, NameIssue, Negotiate, Params, Ping, ProtocolVersion, ReadResource, ReadResourceParams, RequestOptions,
    Requirement, RootsListChanged, SendError, SetLevel, SetLevelParams, Tool,
};
use mcpwire_engine_tests::sim::{Pair, configured, table};

const EVERYTHING: &str = r#"{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}"#;

/// A connection to a server that speaks this revision and declares these capabilities; nothing else is answered.
fn open(version: ProtocolVersion, capabilities: Option<&str>) -> Pair {
    let capabilities = capabilities.map(|text| format!(r#","capabilities":{text}"#)).unwrap_or_default();
    let discover = format!(r#""result":{{"resultType":"complete","supportedVersions":["{version}"]{capabilities}}}"#);
    let initialize = format!(r#""result":{{"protocolVersion":"{version}"{capabilities}}}"#);
    Pair::open(
        configured(|config| config.negotiate = Negotiate::Version(version)),
        table(&[("server/discover", &discover), ("initialize", &initialize)]),
    )
}

fn request<M: Method>(pair: &mut Pair, params: &impl Params<M>) -> Result<(), SendError> {
    let direct = pair.engine.calls().request::<M>(params, &RequestOptions::new(), pair.now).map(drop);
    let prepared = Prepared::<M>::new(params).expect("they are an object");
    let prepared = pair.engine.calls().request_prepared(&prepared, &RequestOptions::new(), pair.now).map(drop);
    assert_eq!(direct, prepared);
    direct
}

/// Sends each method of the table that is typed; what came of it, by name.
fn send_all(pair: &mut Pair) -> BTreeMap<&'static str, Result<(), SendError>> {
    let list = ListParams::default();
    let prompt = CompletionReference::Prompt { name: "p" };
    let none = Json::parse("{}").expect("an object");
    BTreeMap::from([
        ("server/discover", request::<Discover>(pair, &())),
        ("ping", request::<Ping>(pair, &())),
        ("tools/list", request::<ListTools>(pair, &list)),
        ("tools/call", request::<CallTool>(pair, &CallToolParams { name: "t", arguments: &none })),
        ("resources/list", request::<ListResources>(pair, &list)),
        ("resources/templates/list", request::<ListResourceTemplates>(pair, &list)),
        ("resources/read", request::<ReadResource>(pair, &ReadResourceParams { uri: "a:1" })),
        ("resources/subscribe", request::<Subscribe>(pair, &SubscribeParams { uri: "a:1" })),
        ("resources/unsubscribe", request::<Unsubscribe>(pair, &UnsubscribeParams { uri: "a:1" })),
        ("prompts/list", request::<ListPrompts>(pair, &list)),
        ("prompts/get", request::<GetPrompt>(pair, &GetPromptParams { name: "p", arguments: &none })),
        ("completion/complete", request::<Complete>(pair, &CompleteParams::new(prompt, "a", ""))),
        ("logging/setLevel", request::<SetLevel>(pair, &SetLevelParams { level: &LoggingLevel::Info })),
        ("notifications/roots/list_changed", pair.engine.calls().notify::<RootsListChanged>(&(), pair.now)),
    ])
}

#[test]
fn each_revision_is_sent_what_it_has() {
    for version in ProtocolVersion::ALL {
        for capabilities in [Some(EVERYTHING), None] {
            let mut pair = open(version, capabilities);
            let sent = send_all(&mut pair);
            pair.drive();
            let methods = pair.methods();
            for (name, outcome) in sent {
                let entry = client_methods().iter().find(|entry| entry.name == name).expect("it is in the table");
                let expected = if entry.is_in(version) {
                    Ok(())
                } else {
                    Err(SendError::NotInRevision { method: entry.name, version, instead: entry.instead })
                };
                assert_eq!(outcome, expected, "{name} in {version}");
                assert_eq!(methods.contains(&name), expected.is_ok(), "{name} in {version}");
            }
        }
    }
}

#[test]
fn what_a_server_does_not_declare_is_not_asked() {
    for (declared, need) in [
        (r#"{"tools":{"listChanged":true}}"#, Requirement::Tools),
        (r#"{"resources":{}}"#, Requirement::Resources),
        (r#"{"prompts":{}}"#, Requirement::Prompts),
        (r#"{"completions":{}}"#, Requirement::Completions),
        (r#"{"logging":{}}"#, Requirement::Logging),
        (r#"{"tools":null,"experimental":{"tools":{}}}"#, Requirement::Nothing),
    ] {
        for version in ProtocolVersion::ALL {
            let mut pair = open(version, Some(declared));
            for (name, outcome) in send_all(&mut pair) {
                let entry = client_methods().iter().find(|entry| entry.name == name).expect("it is in the table");
                if !entry.is_in(version) {
                    continue;
                }
                let unasked = entry.requires == Requirement::Completions && version == ProtocolVersion::V2024_11_05;
                let expected = if entry.requires == need || entry.requires == Requirement::Nothing || unasked {
                    Ok(())
                } else {
                    Err(SendError::NotOffered { method: entry.name, requires: entry.requires })
                };
                assert_eq!(outcome, expected, "{name} in {version} at {declared}");
            }
        }
    }
}

#[test]
fn what_is_not_sent_says_why_and_what_to_do() {
    let mut pair = open(ProtocolVersion::V2026_07_28, Some("{}"));
    let error = request::<Subscribe>(&mut pair, &SubscribeParams { uri: "a:1" }).expect_err("it is gone");
    for word in ["2026-07-28", "`resources/subscribe`", "`subscriptions/listen`"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    let error = request::<ListPrompts>(&mut pair, &ListParams::default()).expect_err("it has none");
    for word in ["`prompts/list`", "capability `prompts`", "raw request"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    // What is closed is closed, whatever it could do.
    pair.engine.close();
    assert_eq!(request::<Ping>(&mut pair, &()), Err(SendError::Closed));
}

#[test]
fn raw_requests_and_vendors_methods_pass() {
    enum Reindex {}
    impl Method for Reindex {
        const NAME: &'static str = "acme/reindex";
        type Result = Json;
    }
    for version in ProtocolVersion::ALL {
        let mut pair = open(version, Some("{}"));
        assert_eq!(request::<Reindex>(&mut pair, &()), Ok(()));
        for entry in client_methods() {
            assert!(pair.raw(entry.name, None).is_ok(), "{}", entry.name);
            assert!(pair.engine.calls().notify_raw(entry.name, None, pair.now).is_ok(), "{}", entry.name);
        }
    }
}

#[test]
fn the_level_of_logs_is_set_in_both_eras() {
    let choose = |pair: &mut Pair, level: &LoggingLevel| {
        pair.engine.calls().set_log_level(level, &RequestOptions::new(), pair.now)
    };
    let mut pair = open(ProtocolVersion::V2025_11_25, Some(EVERYTHING));
    assert!(choose(&mut pair, &LoggingLevel::Error).expect("it is sent").is_some());
    pair.drive();
    assert_eq!((pair.sent[0].method(), &pair.sent[0].params()["level"]), ("logging/setLevel", &"error".into()));

    let mut pair = open(ProtocolVersion::V2026_07_28, Some(EVERYTHING));
    let level = |pair: &mut Pair| {
        let _ = pair.call("t", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        let sent = pair.sent.pop().expect("it was sent");
        assert_eq!(sent.meta()["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        sent.meta().get("io.modelcontextprotocol/logLevel").cloned()
    };
    assert_eq!(level(&mut pair), None);
    for (name, wanted) in [("debug", LoggingLevel::Debug), ("emergency", LoggingLevel::Emergency)] {
        assert!(choose(&mut pair, &wanted).expect("it is set").is_none(), "no request is sent for it");
        assert_eq!(level(&mut pair), Some(name.into()));
    }
    let unknown = LoggingLevel::Other("loud\u{1b}".into());
    let error = choose(&mut pair, &unknown).expect_err("servers would refuse all requests");
    assert!(matches!(&error, SendError::UnknownLogLevel { .. }) && !error.to_string().contains('\u{1b}'), "{error}");
    assert!(!error.to_string().contains("logging/setLevel"), "the revision has no such method: {error}");
    assert_eq!(level(&mut pair), Some("emergency".into()), "it stays as it was");

    // A server without the capability sends no log messages. Only a legacy server has a method that it does not offer.
    let not_offered = SendError::NotOffered { method: "logging/setLevel", requires: Requirement::Logging };
    for (version, expected) in
        [(ProtocolVersion::V2025_11_25, not_offered), (ProtocolVersion::V2026_07_28, SendError::NoLogging)]
    {
        let mut pair = open(version, Some(r#"{"tools":{}}"#));
        assert_eq!(choose(&mut pair, &LoggingLevel::Info).map(drop), Err(expected));
    }
    assert_eq!(
        SendError::NoLogging.to_string(),
        "the server sends no log messages: it does not declare the capability `logging`"
    );
    let mut pair = Pair::new(Config::default(), |_, _| {});
    assert_eq!(choose(&mut pair, &LoggingLevel::Info).map(drop), Err(SendError::NotInitialized));
}

#[test]
fn the_context_of_a_completion_is_sent_where_it_exists() {
    let mut params = CompleteParams::new(CompletionReference::Prompt { name: "p" }, "a", "");
    params.context = &[("b", "1")];
    for version in ProtocolVersion::ALL {
        let sent = Json::from_value(&params.for_version(version)).expect("it serialises");
        assert_eq!(sent.get().contains("context"), version >= ProtocolVersion::V2025_06_18, "{version}");
    }
}

#[test]
fn a_missing_resource_is_told_by_the_code_of_the_revision() {
    fn refused<M: Method<Result: Debug>>(version: ProtocolVersion, code: i64, params: &impl Params<M>) -> bool {
        let mut pair = open(version, Some(EVERYTHING));
        let ticket = pair.engine.calls().request::<M>(params, &RequestOptions::new(), pair.now).expect("it is sent");
        pair.drive();
        let id = pair.sent[0].id().expect("it is a request");
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#));
        pair.error(ticket).is_resource_not_found(version)
    }
    let none = Json::parse("{}").expect("an object");
    let call = CallToolParams { name: "t", arguments: &none };
    let read = ReadResourceParams { uri: "a:1" };
    for version in ProtocolVersion::ALL {
        assert!(refused::<ReadResource>(version, -32002, &read));
        assert!(!refused::<ReadResource>(version, -32603, &read));
        assert!(!refused::<CallTool>(version, -32602, &call));
    }
    assert!(refused::<ReadResource>(ProtocolVersion::V2026_07_28, -32602, &read));
    assert!(
        !refused::<ReadResource>(ProtocolVersion::V2024_11_05, -32602, &read)
            && !refused::<ReadResource>(ProtocolVersion::V2025_11_25, -32602, &read)
    );
    let closed = CallError::Cancelled { method: "resources/read".into() };
    assert!(!closed.is_resource_not_found(ProtocolVersion::V2026_07_28));
}

#[test]
fn unusual_names_of_tools_are_told() {
    let issue = |name: &str| {
        let mut tool = Tool::default();
        tool.name = name.into();
        tool.name_issue()
    };
    for name in ["getUser", "DATA_EXPORT_v2", "admin.tools-list", &"x".repeat(128)] {
        assert_eq!(issue(name), None, "{name}");
    }
    for name in ["two words", "a,b", "grüße", "a/b", "\u{1b}[0m"] {
        assert_eq!(issue(name), Some(NameIssue::Characters), "{name}");
    }
    assert_eq!(issue(&"x".repeat(129)), Some(NameIssue::TooLong));
}
