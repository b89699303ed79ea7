//! Everything that is sent is what the schema of the revision in use asks for: requests with any parameters, notifications,
//! the opening, and answers to what servers ask.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use mcpwire_core::{
    CallTool, CallToolParams, Complete, CompleteParams, CompletionContext, CompletionReference, Config, Event,
    GetPrompt, GetPromptParams, Icon, Implementation, Json, ListParams, ListPrompts, ListResourceTemplates,
    ListResources, ListRootsResult, ListTools, LoggingLevel, Method, Negotiate, Params, Ping, PingParams,
    ProtocolVersion, ReadResource, ReadResourceParams, RequestOptions, Root, RootsListChanged, RpcError, SendError,
    SetLevel, SetLevelParams, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams,
};
use mcpwire_tests::sim::{Pair, Sent, table};
use mcpwire_tests::spec::{self, Schema};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The definitions of a revision, each ready to be checked against.
struct Revision {
    version: ProtocolVersion,
    /// By the method of the message.
    messages: BTreeMap<String, Validator>,
    others: BTreeMap<&'static str, Validator>,
}

/// What is checked beside requests and notifications, as far as a revision has it.
const OTHERS: [&str; 6] = [
    "JSONRPCResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCResultResponse",
    "EmptyResult",
    "ListRootsResult",
];

impl Revision {
    fn new(version: ProtocolVersion, schema: &Schema) -> Self {
        let compile = |name: &str| {
            jsonschema::options().build(&schema.only(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let mut messages = BTreeMap::new();
        for (name, definition) in schema.definitions() {
            let method = schema.member(definition, "method").and_then(|method| method["const"].as_str());
            if let Some(method) = method.filter(|_| name.ends_with("Request") || name.ends_with("Notification")) {
                messages.entry(method.to_owned()).or_insert_with(|| compile(name));
            }
        }
        let others = OTHERS.into_iter().filter(|name| schema.definition(name).is_some());
        Revision { version, messages, others: others.map(|name| (name, compile(name))).collect() }
    }

    /// What is wrong with a request or notification.
    fn fault(&self, message: &Value) -> Option<String> {
        let method = message["method"].as_str().unwrap_or_default();
        match self.messages.get(method) {
            Some(validator) => fault(validator, message, self.version),
            None => Some(format!("{} has no {method}: {message}", self.version)),
        }
    }

    fn other(&self, names: &[&str], value: &Value) -> Option<String> {
        let mut known = names.iter().filter_map(|name| self.others.get(name)).peekable();
        assert!(known.peek().is_some(), "{} has none of {names:?}", self.version);
        known.find_map(|validator| fault(validator, value, self.version))
    }
}

fn fault(validator: &Validator, value: &Value, version: ProtocolVersion) -> Option<String> {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    (!errors.is_empty()).then(|| format!("{version}: {}: {value}", errors.join("; ")))
}

/// All five; `None` where the specification is not at hand.
fn revisions() -> Option<&'static [Revision]> {
    static REVISIONS: OnceLock<Option<Vec<Revision>>> = OnceLock::new();
    let revisions = REVISIONS.get_or_init(|| {
        let schemas = spec::schemas(&spec::folder()?);
        let of = |version: ProtocolVersion| {
            let schema = schemas.iter().find(|schema| schema.name == version.as_str()).expect("each has one");
            Revision::new(version, schema)
        };
        Some(ProtocolVersion::ALL.into_iter().map(of).collect())
    });
    revisions.as_deref()
}

/// A connection that speaks this revision; what was sent to open it is still there.
fn open(version: ProtocolVersion, mut config: Config) -> Pair {
    config.negotiate = Negotiate::Version(version);
    let discover = format!(r#""result":{{"resultType":"complete","supportedVersions":["{version}"]}}"#);
    let initialize = format!(r#""result":{{"protocolVersion":"{version}"}}"#);
    let pair = Pair::opening(config, table(&[("server/discover", &discover), ("initialize", &initialize)]));
    assert!(pair.engine.server().is_some(), "{:?}", pair.events);
    pair
}

/// Text of any kind, often short.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z/:.]{1,12}", any::<String>()]
}

fn level() -> impl Strategy<Value = LoggingLevel> {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    select(vec![Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency])
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e9..1e9).prop_map(|n: f64| n.into()),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Into::into),
            btree_map(text(), inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    btree_map(text(), value(), 0..4).prop_map(|members| members.into_iter().collect())
}

fn uri() -> impl Strategy<Value = String> {
    "file:///[a-z]{0,8}"
}

/// Who the client is and what it can do.
fn config() -> impl Strategy<Value = Config> {
    let told = (text(), text(), option::of(text()), option::of(text()), option::of(uri()), vec(icon(), 0..2));
    let declared = (any::<[bool; 4]>(), option::of(level()));
    (told, declared).prop_map(|((name, version, title, description, website, icons), (declared, level))| {
        let mut info = Implementation::new(name, version);
        (info.title, info.description, info.website_url, info.icons) = (title, description, website, icons);
        let mut config = Config::default();
        config.client_info = info;
        let parse = |text: &str| Json::parse(text).expect("it is JSON");
        let [roots, sampling, elicitation, extensions] = declared;
        config.capabilities.roots = roots.then(|| parse(r#"{"listChanged":true}"#));
        config.capabilities.sampling = sampling.then(|| parse("{}"));
        config.capabilities.elicitation = elicitation.then(|| parse("{}"));
        config.capabilities.extensions = extensions.then(|| parse(r#"{"com.example/x":{"a":1}}"#));
        config.log_level = level;
        config.answers = vec!["roots/list".into(), "x".into()];
        config
    })
}

fn icon() -> impl Strategy<Value = Icon> {
    (uri(), option::of(text()), vec(text(), 0..2), option::of(select(vec!["light", "dark"]))).prop_map(
        |(src, mime_type, sizes, theme)| {
            let mut icon = Icon::default();
            (icon.src, icon.mime_type, icon.sizes, icon.theme) = (src, mime_type, sizes, theme.map(Into::into));
            icon
        },
    )
}

/// What requests are made of.
#[derive(Clone, Debug)]
struct Words {
    name: String,
    uri: String,
    cursor: Option<String>,
    arguments: Value,
    strings: BTreeMap<String, String>,
    level: LoggingLevel,
    meta: Option<Value>,
    progress: bool,
}

fn words() -> impl Strategy<Value = Words> {
    let maps = (object(), btree_map(text(), text(), 0..4), option::of(object_without_reserved()));
    (text(), uri(), option::of(text()), maps, level(), any::<bool>()).prop_map(
        |(name, uri, cursor, (arguments, strings, meta), level, progress)| Words {
            name,
            uri,
            cursor,
            arguments,
            strings,
            level,
            meta,
            progress,
        },
    )
}

/// Metadata of the caller's: names that are not the protocol's.
fn object_without_reserved() -> impl Strategy<Value = Value> {
    btree_map("com\\.example/[a-z]{1,5}", value(), 0..3).prop_map(|members| members.into_iter().collect())
}

fn send<M: Method>(pair: &mut Pair, words: &Words, params: &impl Params<M>) {
    let mut options = RequestOptions::new();
    options.progress = words.progress;
    options.meta = words.meta.as_ref().map(|meta| Json::from_value(meta).expect("it is JSON"));
    match pair.engine.request::<M>(params, &options, pair.now()) {
        Ok(_) | Err(SendError::NotInRevision { .. }) => {}
        Err(error) => panic!("{}: {error}", M::NAME),
    }
}

/// Sends every request and notification that the revision has.
fn send_all(pair: &mut Pair, version: ProtocolVersion, words: &Words) {
    let Words { name, uri, cursor, arguments, strings, level, .. } = words;
    let list = ListParams { cursor: cursor.as_deref() };
    let context: Vec<(&str, &str)> = strings.iter().map(|(name, value)| (&**name, &**value)).collect();
    for reference in [CompletionReference::Prompt { name }, CompletionReference::ResourceTemplate { uri }] {
        let mut params = CompleteParams::new(reference, name, uri);
        params.context = CompletionContext { arguments: &context };
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
    send::<Ping>(pair, words, &PingParams {});
    let _ = pair.engine.notify::<RootsListChanged>(&());
    let given_up = pair.call("t", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.cancel(given_up.key(), Some(name)));
    pair.drive();
}

fn faults(revision: &Revision, pair: &Pair) -> Vec<String> {
    pair.sent.iter().filter_map(|sent| revision.fault(&sent.message)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_and_notifications_are_what_the_revision_asks_for(config in config(), words in words()) {
        for revision in revisions().into_iter().flatten() {
            let mut pair = open(revision.version, config.clone());
            prop_assert!(!pair.sent.is_empty());
            send_all(&mut pair, revision.version, &words);
            prop_assert!(pair.sent.len() > 10);
            let faults = faults(revision, &pair);
            prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    }

    #[test]
    fn answers_are_what_the_revision_asks_for(names in vec((uri(), option::of(text())), 0..4), code: i32, message in text()) {
        for revision in revisions().into_iter().flatten().filter(|revision| revision.version < ProtocolVersion::LATEST) {
            let mut config = Config::default();
            config.capabilities.roots = Json::parse("{}").ok();
            config.answers = vec!["roots/list".into(), "x".into()];
            let mut pair = open(revision.version, config);
            pair.sent.clear();
            pair.events.clear();
            for (id, method) in [(json!("a"), "ping"), (json!(7), "roots/list"), (json!("b"), "x"), (json!(9), "y")] {
                pair.say(json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string());
            }
            let asked: Vec<_> = pair.happened().into_iter().filter_map(|event| match event {
                Event::Ask(ask) => Some(ask.key),
                _ => None,
            }).collect();
            let roots = names.iter().map(|(uri, name)| {
                let mut root = Root::new(uri);
                root.name.clone_from(name);
                root
            });
            let now = pair.now();
            prop_assert_eq!(pair.engine.answer(asked[0], &ListRootsResult::new(roots), now), Ok(true));
            prop_assert!(pair.engine.refuse(asked[1], &RpcError::new(code.into(), message.clone()), now));
            pair.drive();
            let answer = |id: Value| pair.sent.iter().find(|sent| sent.message["id"] == id).expect("it is answered");
            let checks: [(&Sent, &[&str], Option<&str>); 4] = [
                (answer(json!("a")), &["JSONRPCResultResponse", "JSONRPCResponse"], Some("EmptyResult")),
                (answer(json!(7)), &["JSONRPCResultResponse", "JSONRPCResponse"], Some("ListRootsResult")),
                (answer(json!("b")), &["JSONRPCErrorResponse", "JSONRPCError"], None),
                (answer(json!(9)), &["JSONRPCErrorResponse", "JSONRPCError"], None),
            ];
            for (sent, envelope, result) in checks {
                prop_assert_eq!(revision.other(envelope, &sent.message), None);
                if let Some(result) = result {
                    prop_assert_eq!(revision.other(&[result], &sent.message["result"]), None);
                }
            }
        }
    }
}

/// The validators do find what is wrong: the promise above is not empty.
#[test]
fn a_wrong_message_is_noticed() {
    for revision in revisions().into_iter().flatten() {
        let mut pair = open(revision.version, Config::default());
        let _ = pair.raw("tools/call", Some(r#"{"arguments":{}}"#)).expect("it is sent");
        let _ = pair.raw("prompts/get", Some(r#"{"name":"p","arguments":{"a":1}}"#)).expect("it is sent");
        let _ = pair.raw("acme/unknown", None).expect("it is sent");
        pair.drive();
        assert_eq!(faults(revision, &pair).len(), 3, "{}", revision.version);
    }
}
