//! A revision as its schema has it, and a connection that speaks it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use mcpwire_core::{Config, Negotiate, ProtocolVersion};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use mcpwire_engine_tests::spec::{self, Schema};
use serde_json::Value;

/// The definitions of a revision, each ready to be checked against.
pub(crate) struct Revision {
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
    pub(crate) fn other(&self, names: &[&str], value: &Value) -> Option<String> {
        let mut known = names.iter().filter_map(|name| self.others.get(name)).peekable();
        assert!(known.peek().is_some(), "{} has none of {names:?}", self.version);
        known.find_map(|validator| fault(validator, value, self.version))
    }
}

/// What is wrong with what was sent.
pub(crate) fn faults(revision: &Revision, pair: &Pair) -> Vec<String> {
    let told = pair.sent.iter().filter(|sent| !sent.method().is_empty());
    told.filter_map(|sent| revision.message_fault(&sent.message)).collect()
}

fn fault(validator: &Validator, value: &Value, version: ProtocolVersion) -> Option<String> {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    (!errors.is_empty()).then(|| format!("{version}: {}: {value}", errors.join("; ")))
}

/// All five; `None` where the specification is not at hand.
pub(crate) fn revisions() -> Option<&'static [Revision]> {
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
pub(crate) fn revision(version: ProtocolVersion) -> Option<&'static Revision> {
    revisions()?.iter().find(|revision| revision.version == version)
}

/// A connection that speaks this revision with a server that says of itself what `says` has, and does the rest as `rest`
/// says. What was sent to open it is still there.
pub(crate) fn open(
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
