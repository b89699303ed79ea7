//! Everything that is sent is what the schema of the revision in use asks for: requests with any parameters, notifications,
//! the opening, answers to what servers ask, requests that are sent again with input, and what is said of tasks.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use mcpwire_core::internal::{
    Subscribe, SubscribeParams, SubscriptionsListen, SubscriptionsListenParams, Unsubscribe, UnsubscribeParams,
};
use mcpwire_core::{
    CallTool, CallToolParams, Complete, CompleteParams, CompletionReference, Config, GetPrompt, GetPromptParams,
    Implementation, Json, ListParams, ListPrompts, ListResourceTemplates, ListResources, ListTools, LoggingLevel,
    Method, Negotiate, Params, Ping, ProtocolVersion, ReadResource, ReadResourceParams, RequestOptions,
    RootsListChanged, SendError, SetLevel, SetLevelParams, SubscribeOptions, SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use mcpwire_engine_tests::spec::{self, Schema};
use mcpwire_testkit::strategies as generate;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

mod answers;
mod tasks;

fn send<M: Method>(pair: &mut Pair, words: &Words, params: &impl Params<M>) {
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

// What messages are made of.

/// Text of any kind, often short.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z/:.]{1,12}", any::<String>()]
}

fn level() -> impl Strategy<Value = LoggingLevel> {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    select(vec![Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency])
}

fn value() -> impl Strategy<Value = Value> {
    generate::json().prop_map(|json| json.decode().expect("it is JSON"))
}

fn object() -> impl Strategy<Value = Value> {
    btree_map(text(), value(), 0..4).prop_map(|members| members.into_iter().collect())
}

fn uri() -> impl Strategy<Value = String> {
    "file:///[a-z]{0,8}"
}

/// Who the client is and what it can do.
fn config() -> impl Strategy<Value = Config> {
    let told = (text(), text(), option::of(text()), option::of(text()), option::of(uri()), vec(generate::icon(), 0..2));
    let declared = (any::<[bool; 4]>(), option::of(level()));
    (told, declared).prop_map(|((name, version, title, description, website, icons), (declared, level))| {
        let mut info = Implementation::new(name, version);
        (info.title, info.description, info.website_url, info.icons) = (title, description, website, icons);
        let mut config = Config::default();
        config.client_info = info;
        let parse = |text: &str| Json::parse(text).expect("it is JSON");
        let [roots, sampling, elicitation, extensions] = declared;
        config.answer("roots/list");
        config.answer("x");
        config.capabilities.roots = roots.then(|| parse(r#"{"listChanged":true}"#));
        config.capabilities.sampling = sampling.then(|| parse("{}"));
        config.capabilities.elicitation = elicitation.then(|| parse("{}"));
        config.capabilities.extensions = extensions.then(|| parse(r#"{"com.example/x":{"a":1}}"#));
        config.log_level = level;
        config
    })
}

/// What requests are made of.
#[derive(Clone, Debug)]
struct Words {
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) cursor: Option<String>,
    pub(crate) arguments: Value,
    pub(crate) strings: BTreeMap<String, String>,
    pub(crate) level: LoggingLevel,
    pub(crate) meta: Option<Value>,
    pub(crate) progress: bool,
}

fn words() -> impl Strategy<Value = Words> {
    let maps = (
        object(),
        btree_map(text(), text(), 0..4),
        option::of(generate::meta().prop_map(|meta| meta.decode().expect("it is JSON"))),
    );
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

// A revision as its schema has it, and a connection that speaks it.

/// The definitions of a revision, each ready to be checked against.
struct Revision {
    pub(crate) version: ProtocolVersion,
    /// By the method of the message.
    messages: BTreeMap<String, Validator>,
    others: BTreeMap<&'static str, Validator>,
}

/// What is checked beside requests and notifications, as far as a revision has it.
const OTHERS: [&str; 9] = [
    "JSONRPCResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCResultResponse",
    "EmptyResult",
    "ElicitResult",
    "CreateMessageResult",
    "ListRootsResult",
    "InputResponses",
];

impl Revision {
    /// What the extensions add, as far as the revision does not have it, comes after.
    fn new(version: ProtocolVersion, schema: &Schema, extensions: &[&Schema]) -> Self {
        let compile = |schema: &Schema, name: &str| {
            jsonschema::options().build(&schema.only(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let mut messages = BTreeMap::new();
        for schema in [schema].iter().chain(extensions) {
            for (name, definition) in schema.definitions() {
                let method = schema.member(definition, "method").and_then(|method| method["const"].as_str());
                if let Some(method) = method.filter(|_| name.ends_with("Request") || name.ends_with("Notification")) {
                    messages.entry(method.to_owned()).or_insert_with(|| compile(schema, name));
                }
            }
        }
        let others = OTHERS.into_iter().filter(|name| schema.definition(name).is_some());
        Revision { version, messages, others: others.map(|name| (name, compile(schema, name))).collect() }
    }

    /// What is wrong with a request or notification.
    fn message_fault(&self, message: &Value) -> Option<String> {
        let method = message["method"].as_str().unwrap_or_default();
        match self.messages.get(method) {
            Some(validator) => fault(validator, message, self.version),
            None => Some(format!("{} has no {method}: {message}", self.version)),
        }
    }

    /// What is wrong with a value of the first of these definitions that the revision has.
    fn other(&self, names: &[&str], value: &Value) -> Option<String> {
        let mut known = names.iter().filter_map(|name| self.others.get(name)).peekable();
        assert!(known.peek().is_some(), "{} has none of {names:?}", self.version);
        known.find_map(|validator| fault(validator, value, self.version))
    }
}

/// What is wrong with what was sent.
fn faults(revision: &Revision, pair: &Pair) -> Vec<String> {
    let told = pair.sent.iter().filter(|sent| !sent.method().is_empty());
    told.filter_map(|sent| revision.message_fault(&sent.message)).collect()
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
            // The extension for tasks goes with the latest revision.
            let is_extension = |schema: &&Schema| schema.name.starts_with("ext-");
            let extensions: Vec<&Schema> =
                schemas.iter().filter(|_| version == ProtocolVersion::LATEST).filter(is_extension).collect();
            Revision::new(version, schema, &extensions)
        };
        Some(ProtocolVersion::ALL.into_iter().map(of).collect())
    });
    revisions.as_deref()
}

/// The revision of this version.
fn revision(version: ProtocolVersion) -> Option<&'static Revision> {
    revisions()?.iter().find(|revision| revision.version == version)
}

/// A connection that speaks this revision with a server that says of itself what `says` has, and does the rest as `rest`
/// says. What was sent to open it is still there.
fn open(
    version: ProtocolVersion,
    mut config: Config,
    says: &str,
    mut rest: impl FnMut(&Sent, &mut Peer) + 'static,
) -> Pair {
    config.negotiate = Negotiate::Version(version);
    let discover = format!(r#"{{"resultType":"complete","supportedVersions":["{version}"]{says}}}"#);
    let initialize = format!(r#"{{"protocolVersion":"{version}"{says}}}"#);
    let pair = Pair::opening(config, move |sent, peer| match sent.method() {
        "server/discover" => peer.answer(sent, &discover),
        "initialize" => peer.answer(sent, &initialize),
        _ => rest(sent, peer),
    });
    assert!(pair.engine.session().server().is_some(), "{:?}", pair.events);
    pair
}
