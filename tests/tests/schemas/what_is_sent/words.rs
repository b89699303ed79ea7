//! What messages are made of.

use std::collections::BTreeMap;

use mcpwire_core::{Config, Implementation, Json, LoggingLevel};
use mcpwire_testkit::strategies as generate;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

/// Text of any kind, often short.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z/:.]{1,12}", any::<String>()]
}

fn level() -> impl Strategy<Value = LoggingLevel> {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    select(vec![Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency])
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    generate::json().prop_map(|json| json.decode().expect("it is JSON"))
}

pub(crate) fn object() -> impl Strategy<Value = Value> {
    btree_map(text(), value(), 0..4).prop_map(|members| members.into_iter().collect())
}

pub(crate) fn uri() -> impl Strategy<Value = String> {
    "file:///[a-z]{0,8}"
}

/// Who the client is and what it can do.
pub(crate) fn config() -> impl Strategy<Value = Config> {
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
pub(crate) struct Words {
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) cursor: Option<String>,
    pub(crate) arguments: Value,
    pub(crate) strings: BTreeMap<String, String>,
    pub(crate) level: LoggingLevel,
    pub(crate) meta: Option<Value>,
    pub(crate) progress: bool,
}

pub(crate) fn words() -> impl Strategy<Value = Words> {
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
